//! Parked runs cost rows: thousands of them wait in one process without a task each, and all go on when answered.

use std::sync::Arc;

use placet_agent::model::{Script, Scripted};
use placet_agent::{Agent, Tools};
use placet_core::config::Config;
use placet_core::digest::Digest;
use placet_core::ids::AgentId;
use placet_core::interaction::{Answer, Shown};
use placet_core::journal::Event;
use placet_engine::Engine;
use serde_json::json;

use crate::support::{calls, lin, principal, says, session, soon};

const RUNS: usize = 400;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_parked_runs_hold_no_task_and_all_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::builtin(folder.path());
    let config = "[approval]\nperson_open_questions_max = 1000\n";
    let engine = Engine::builder(
        Config::parse(
            config,
            "placet.toml",
            std::iter::empty(),
            placet_inspect::builtin(),
        )
        .unwrap(),
    )
    .workspace(folder.path())
    .toolbox(AgentId::built_in(), tools.clone())
    .start_in_memory()
    .await
    .unwrap();
    let turns = json!({ "turns": [calls(&[("deploy", json!({})), ("bash", json!({ "command": "touch x" }))]), says("ok")] });
    let script = Scripted::new("scripted", Script::from_json(turns).unwrap());
    let agent = Agent::builder(engine.clone(), tools)
        .model(Arc::new(script))
        .start()
        .await
        .unwrap();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for n in 0..RUNS {
        agent
            .tell(&session(&format!("s{n}")), "go", &lin(), None)
            .await
            .unwrap();
    }
    let mut journal = engine.subscribe(0, None);
    let mut open = Vec::new();
    while open.len() < RUNS {
        if let Event::Asked(asked) = soon(journal.next()).await.unwrap().event {
            open.push(asked.id.clone());
        }
    }
    soon(async {
        while tasks() > before {
            tokio::task::yield_now().await;
        }
    })
    .await;
    for id in open {
        let answer = Answer {
            by: principal("lin"),
            option: "reject".into(),
            feedback: None,
            data: None,
            edited_args: None,
            instruction: None,
            remember: None,
            shown: Shown::Whole(Digest::of("test", &[])),
        };
        engine.broker().answer(&id, answer).await.unwrap();
    }
    let mut ended = 0;
    while ended < RUNS {
        if let Event::RunEnded { .. } = soon(journal.next()).await.unwrap().event {
            ended += 1;
        }
    }
    agent.shutdown().await;
    engine.shutdown().await.unwrap();
}
