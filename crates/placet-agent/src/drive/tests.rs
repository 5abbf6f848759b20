//! A driver taken through its run step by step, so that other things happen exactly in between.

use placet_core::config::Config;
use placet_core::ids::{AgentId, PersonId};
use placet_core::steps::{MessageOutcome, RunHost};
use placet_engine::Engine;
use serde_json::{Value, json};

use super::*;
use crate::agent::Agent;
use crate::model::{Script, Scripted};
use crate::user_message::user_message;

/// An agent in memory, with a model that says this.
async fn agent(folder: &tempfile::TempDir, turns: &Value) -> Agent {
    let tools = Tools::builtin(folder.path());
    let engine = Engine::builder(Config::builtin(placet_inspect::builtin()))
        .workspace(folder.path())
        .toolbox(AgentId::built_in(), tools.clone())
        .start_in_memory()
        .await
        .unwrap();
    let script = Script::from_json(json!({ "turns": turns })).unwrap();
    let builder = Agent::builder(engine, tools).model(Arc::new(Scripted::new("scripted", script)));
    builder.start().await.unwrap()
}

/// Says something to a run that the agent itself leaves alone, since it works elsewhere.
async fn says(agent: &Agent, text: &str) -> MessageOutcome {
    let message = user_message(&session(), text, &PersonId::new("lin").unwrap(), None);
    let host = RunHost {
        workspace: "elsewhere".into(),
        ..agent.inner.host.clone()
    };
    let tell = agent
        .engine()
        .transact(|snapshot, now| steps::tell(snapshot, now, &host, &message));
    tell.await.unwrap()
}

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

#[tokio::test]
async fn what_is_said_between_the_last_word_and_the_end_is_acted_upon() {
    let folder = tempfile::tempdir().unwrap();
    let look = json!({ "on": "look", "calls": [{ "tool": "ls", "args": {} }] });
    let turns = json!([look, { "text": "Seen." }, { "text": "Seen twice." }]);
    let agent = agent(&folder, &turns).await;
    assert_eq!(says(&agent, "look").await, MessageOutcome::Started);
    let mut journal = agent.engine().subscribe(0, Some(session()));
    let lease = agent
        .inner
        .engine
        .hold(&LeaseName::run(&session()))
        .await
        .unwrap()
        .unwrap();
    let mut driver = Driver::new(Arc::clone(&agent.inner), session(), Arc::default(), lease).await;
    driver.catch_up().await.unwrap();
    driver.ask_model().await.unwrap();
    driver.catch_up().await.unwrap();
    driver.propose().await.unwrap();
    driver.catch_up().await.unwrap();
    for effect in driver.run.effects() {
        driver.carry_out(effect).await.unwrap();
    }
    while !matches!(journal.next().await.unwrap().event, Event::Finished { .. }) {}
    driver.catch_up().await.unwrap();
    driver.ask_model().await.unwrap();
    driver.catch_up().await.unwrap();
    let end = RunEffect::End(RunEnd::Completed);
    assert_eq!(driver.run.effects(), std::slice::from_ref(&end));
    assert_eq!(driver.jobs.len(), 1, "the call is over, and nobody has noticed");

    driver.carry_out(end).await.unwrap();
    assert_eq!(says(&agent, "look again").await, MessageOutcome::Queued);
    let went = tokio::time::timeout(Duration::from_mins(1), driver.go()).await;
    went.expect("the second call never ran").unwrap();
    assert_eq!(driver.run.last_words(), "Seen twice.");
    agent.shutdown().await;
}
