//! Restarts: a run goes on where it was, in another process as well as in this one.

use std::path::Path;
use std::sync::Arc;

use placet_agent::chat::Viewer;
use placet_agent::model::{Script, Scripted};
use placet_agent::{Agent, Builder, Rest, ResumeError, Tools};
use placet_core::config::Config;
use placet_core::ids::{AgentId, SessionId};
use placet_core::steps::{MessageOutcome, ResumeRefusal, TellRefusal};
use placet_engine::Engine;
use placet_store::StepError;
use serde_json::json;

use crate::support::{CONFIG, Home, House, calls, last, lin, on, question, rest, says, session, soon};

#[tokio::test]
async fn a_parked_run_is_answered_after_a_restart_and_goes_on() {
    let house = House::new();
    let turns = json!([
        calls(&[("bash", json!({ "command": "echo one >> log.txt" }))]),
        calls(&[("bash", json!({ "command": "echo two >> log.txt" }))]),
        says("Both."),
    ]);
    let home = house.open(turns.clone()).await;
    let mut stream = home.say("Log twice").await;
    let asked = question(&mut stream).await;
    home.close().await;

    let home = house.open(turns.clone()).await;
    home.answer(&asked, "approve", None).await;
    let mut stream = home
        .agent
        .chat()
        .attach(&session("s"), &Viewer::Person(lin()), None)
        .await
        .unwrap();
    question(&mut stream).await;
    let second = question(&mut stream).await;
    home.close().await;

    // Answered while no agent works at all.
    let house_only = house.open(json!([])).await;
    house_only.agent.clone().shutdown().await;
    house_only.answer(&second, "approve", None).await;
    house_only.engine.shutdown().await.unwrap();

    let home = house.open(turns).await;
    let mut stream = home
        .agent
        .chat()
        .attach(&session("s"), &Viewer::Person(lin()), None)
        .await
        .unwrap();
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "Both.");
    assert_eq!(house.file("log.txt").as_deref(), Some("one\ntwo\n"));
    let verified = home.engine.store().verify(None).await.unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    home.close().await;
}

/// A run that waits in a folder, approved while no process works; what it would do there has not happened.
async fn approved_and_waiting(house: &House) {
    let turns = json!([
        calls(&[("bash", json!({ "command": "touch ran" }))]),
        says("Done.")
    ]);
    let home = house.open(turns).await;
    let asked = question(&mut home.say("Touch").await).await;
    home.agent.clone().shutdown().await;
    home.answer(&asked, "approve", None).await;
    home.engine.shutdown().await.unwrap();
}

/// An agent over the same store, somewhere else or as another agent.
async fn another(
    house: &House,
    work: &Path,
    name: &str,
    model: &str,
    how: impl FnOnce(Builder) -> Builder,
) -> Home {
    let config = Config::parse(
        CONFIG,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let tools = Tools::builtin(work);
    let engine = Engine::builder(config)
        .workspace(work)
        .toolbox(AgentId::built_in(), tools.clone())
        .start(&house.store())
        .await
        .unwrap();
    let script = Script::from_json(json!({ "turns": [says("Done.")] })).unwrap();
    let builder = Agent::builder(engine.clone(), tools)
        .named(AgentId::new(name).unwrap())
        .model(Arc::new(Scripted::new(model, script)));
    let agent = how(builder).start().await.unwrap();
    Home { agent, engine }
}

/// Something else is done by it, from beginning to end: whatever it resumed by itself has begun by then.
async fn does_something_else(home: &Home) {
    let other = SessionId::new("other").unwrap();
    home.agent.tell(&other, "Hello", &lin(), None).await.unwrap();
    let rest = soon(home.agent.rest(&other)).await.unwrap();
    assert!(matches!(rest, Rest::Ended { .. }), "{rest:?}");
}

fn refusal(told: Result<MessageOutcome, StepError<TellRefusal>>) -> TellRefusal {
    match told {
        Err(StepError::Refused(refusal)) => refusal,
        told => panic!("{told:?}"),
    }
}

#[tokio::test]
async fn a_run_of_another_folder_is_left_alone_with_its_approval() {
    let house = House::new();
    approved_and_waiting(&house).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let home = another(&house, elsewhere.path(), "placet", "scripted", |builder| builder).await;
    does_something_else(&home).await;
    let resumed = home.agent.resume(&session("s")).await;
    assert!(
        matches!(
            resumed,
            Err(ResumeError::Refused(ResumeRefusal::Elsewhere { .. }))
        ),
        "{resumed:?}"
    );
    let told = home.agent.tell(&session("s"), "Go on", &lin(), None).await;
    assert_eq!(
        refusal(told),
        TellRefusal::LeftAlone(ResumeRefusal::Elsewhere {
            session: session("s"),
            workspace: house.work().to_string_lossy().into_owned(),
        })
    );
    home.close().await;
    assert!(!elsewhere.path().join("ran").exists() && house.file("ran").is_none());

    let home = house.open(json!([says("Done.")])).await;
    let rest = soon(home.agent.rest(&session("s"))).await.unwrap();
    assert!(matches!(rest, Rest::Ended { .. }), "{rest:?}");
    assert!(house.file("ran").is_some());
    home.close().await;
}

/// What a bad sector does to the row that began a run.
#[tokio::test]
async fn a_run_whose_beginning_is_damaged_keeps_no_agent_from_starting_and_never_goes_on() {
    let house = House::new();
    approved_and_waiting(&house).await;
    let file = rusqlite::Connection::open(house.store()).unwrap();
    let cut = "UPDATE journal SET body = substr(body, 1, 40) WHERE id = (SELECT row FROM runs)";
    assert_eq!(file.execute(cut, []).unwrap(), 1);
    drop(file);
    let home = house.open(json!([says("Hello.")])).await;
    does_something_else(&home).await;
    home.close().await;
    assert!(house.file("ran").is_none());
}

#[tokio::test]
async fn a_run_of_another_agent_or_another_model_is_left_alone() {
    let house = House::new();
    approved_and_waiting(&house).await;
    let home = another(&house, &house.work(), "other", "scripted", |builder| builder).await;
    does_something_else(&home).await;
    let resumed = home.agent.resume(&session("s")).await;
    assert!(
        matches!(resumed, Err(ResumeError::Refused(ResumeRefusal::NotYours(_)))),
        "{resumed:?}"
    );
    let told = home.agent.tell(&session("s"), "Go on", &lin(), None).await;
    assert_eq!(refusal(told), TellRefusal::NotYours(session("s")));
    home.close().await;
    let home = another(&house, &house.work(), "placet", "another", |builder| builder).await;
    let resumed = home.agent.resume(&session("s")).await;
    let Err(ResumeError::Refused(why @ ResumeRefusal::NoModel { .. })) = resumed else {
        panic!("{resumed:?}");
    };
    let told = home.agent.tell(&session("s"), "Go on", &lin(), None).await;
    assert_eq!(refusal(told), TellRefusal::LeftAlone(why));
    home.close().await;
    assert!(house.file("ran").is_none());
}

#[tokio::test]
async fn an_agent_for_one_conversation_resumes_that_one_only() {
    let house = House::new();
    approved_and_waiting(&house).await;
    let home = another(
        &house,
        &house.work(),
        "placet",
        "scripted",
        Builder::resuming_nothing,
    )
    .await;
    does_something_else(&home).await;
    assert!(house.file("ran").is_none());
    home.agent.resume(&session("s")).await.unwrap();
    let rest = soon(home.agent.rest(&session("s"))).await.unwrap();
    assert!(matches!(rest, Rest::Ended { .. }), "{rest:?}");
    assert!(house.file("ran").is_some());
    home.close().await;
}

#[tokio::test]
async fn a_call_that_was_stopped_says_whether_its_run_was_or_placet() {
    let house = House::new();
    let sleeps = || calls(&[("bash", json!({ "command": "echo > begun; sleep 600" }))]);
    let begun = async || {
        while house.file("begun").is_none() {
            tokio::task::yield_now().await;
        }
        std::fs::remove_file(house.work().join("begun")).unwrap();
    };
    let home = house.open(json!([sleeps()])).await;
    let mut stream = home.say("Begin").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "approve", None).await;
    soon(begun()).await;
    home.close().await;

    let told = on("Placet was shut down while this ran", sleeps());
    let home = house.open(json!([sleeps(), told])).await;
    let mut stream = home
        .agent
        .chat()
        .attach(&session("s"), &Viewer::Person(lin()), None)
        .await
        .unwrap();
    question(&mut stream).await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "approve", None).await;
    soon(begun()).await;
    home.agent.interrupt(&session("s"), &lin()).await.unwrap();
    let events = rest(&mut stream).await;
    let stopped = last(&events, "OBSERVATION")["output"].to_string();
    assert!(stopped.contains("the run was ended or interrupted"), "{stopped}");
    home.close().await;
}
