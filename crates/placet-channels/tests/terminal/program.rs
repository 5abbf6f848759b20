//! The program at the terminal. Plays the scene it is given and writes down what came of each call.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use placet_channels::terminal::{self, Colours, Terminal, TerminalUser};
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::ids::{AgentId, PersonId, ToolName};
use placet_core::interaction::{Answer, InteractionRequest, Locale, Shown};
use placet_core::listing::StandingRow;
use placet_core::principal::{Principal, Via};
use placet_core::tool::Tool;
use placet_engine::toolbox::Toolbox;
use placet_engine::{Engine, Finished};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Where the scene is, in the program's environment.
pub(crate) const SCENE: &str = "PLACET_TEST_SCENE";

/// What happens at the terminal.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Scene {
    folder: PathBuf,
    #[serde(default)]
    config: String,
    #[serde(default)]
    calls: Vec<Value>,
    #[serde(default)]
    requests: Vec<Value>,
    #[serde(default)]
    evidence: Vec<Evidence>,
    #[serde(default)]
    schema: Option<Value>,
    locale: Locale,
    /// Calls are made one after the other instead of at once.
    #[serde(default)]
    one_by_one: bool,
    /// The program waits for this file before it asks anything.
    #[serde(default)]
    starts_with: Option<PathBuf>,
    /// The program stops, with questions open, when this file appears.
    #[serde(default)]
    stops_with: Option<PathBuf>,
}

struct Tools {
    evidence: Vec<Evidence>,
    schema: Option<Value>,
}

#[async_trait]
impl Toolbox for Tools {
    /// They are stand-ins for the built-in tools of the same names.
    fn tool(&self, config: &Config, name: &ToolName) -> Option<Tool> {
        Some(config.builtin_tool(name))
    }

    fn schema(&self, _: &str) -> Option<Value> {
        self.schema.clone()
    }

    async fn evidence(&self, _: &ToolCall) -> Result<Vec<Evidence>, String> {
        Ok(self.evidence.clone())
    }
}

/// Not a test: what the tests start on their pty.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_at_the_terminal() {
    let Ok(path) = std::env::var(SCENE) else {
        return;
    };
    let scene: Scene = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    terminal::restore_on_signals().unwrap();
    let results = play(&scene).await;
    std::fs::write(scene.folder.join("results.json"), results.to_string()).unwrap();
    println!("the program is done");
}

async fn play(scene: &Scene) -> Value {
    let config = Config::parse(
        &scene.config,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let seat = TerminalUser::of(&config.people, "kim").unwrap();
    let tools = Tools {
        evidence: scene.evidence.clone(),
        schema: scene.schema.clone(),
    };
    let builder = Engine::builder(config)
        .workspace(&scene.folder)
        .toolbox(AgentId::new("helper").unwrap(), tools);
    let store = scene.folder.join("placet.db");
    let (terminal, attendant) = match terminal::open(seat, scene.locale, Colours::Auto) {
        Ok(halves) => halves,
        // The terminal is not interactive: calls from it have no approver.
        Err(none) => {
            let engine = builder.start(&store).await.unwrap();
            let call = call(&json!({"tool": "deploy", "args": {}}), 0, None);
            let outcome = finished(&engine, call).await;
            return json!({ "noTerminal": none.to_string(), "calls": [outcome] });
        }
    };
    let engine = builder.channel(terminal.clone()).start(&store).await.unwrap();
    if let Some(file) = &scene.starts_with {
        println!("type ahead now");
        appears(file).await;
    }
    let stop = CancellationToken::new();
    let attending = tokio::spawn(attendant.run(engine.clone(), stop.clone()));
    let deciding = tokio::spawn(somebody_else(engine.clone(), scene.folder.join("elsewhere.json")));
    let results = match &scene.stops_with {
        None => everything(scene, &engine, &terminal).await,
        Some(file) => tokio::select! {
            results = everything(scene, &engine, &terminal) => results,
            () = appears(file) => json!({ "stopped": true }),
        },
    };
    deciding.abort();
    stop.cancel();
    attending.await.unwrap().unwrap();
    engine.shutdown().await.unwrap();
    results
}

async fn everything(scene: &Scene, engine: &Engine, terminal: &Arc<Terminal>) -> Value {
    let mut calls = Vec::new();
    let mut running = Vec::new();
    for (index, given) in scene.calls.iter().enumerate() {
        let call = call(given, index, Some(terminal));
        if scene.one_by_one {
            calls.push(finished(engine, call).await);
        } else {
            let engine = engine.clone();
            running.push(tokio::spawn(async move { finished(&engine, call).await }));
        }
    }
    for run in running {
        calls.push(run.await.unwrap());
    }
    let mut requests = Vec::new();
    for given in &scene.requests {
        let request: InteractionRequest = serde_json::from_value(given.clone()).unwrap();
        let origin = terminal.origin(AgentId::new("helper").unwrap());
        let asked = engine.broker().ask(request, origin).await.unwrap();
        let resolution = engine.broker().wait(&asked.id).await.unwrap();
        requests.push(serde_json::to_value(resolution).unwrap());
    }
    let standing: Vec<_> = engine.broker().standing().await.unwrap();
    let standing: Vec<_> = standing
        .iter()
        .map(|StandingRow { grant, .. }| {
            let lasts = (grant.ends_at.as_millis() - grant.given_at.as_millis()) / 1000;
            json!({ "covers": grant.scope.describe(), "seconds": lasts })
        })
        .collect();
    json!({ "calls": calls, "requests": requests, "standing": standing })
}

fn call(given: &Value, index: usize, terminal: Option<&Arc<Terminal>>) -> ToolCall {
    let agent = AgentId::new("helper").unwrap();
    let origin = match terminal {
        Some(terminal) => serde_json::to_value(terminal.origin(agent)).unwrap(),
        None => json!({ "agent": agent, "chat": { "channel": "terminal", "id": "kim" }, "user": "kim" }),
    };
    let mut call = json!({ "id": format!("call_{index}"), "session": "terminal:kim", "origin": origin });
    for (name, value) in given.as_object().unwrap() {
        call[name] = value.clone();
    }
    serde_json::from_value(call).unwrap()
}

async fn finished(engine: &Engine, call: ToolCall) -> Value {
    let run = async |call: ToolCall| Ok(format!("ran {}", call.args.canonical()));
    match engine.gate().call(call, run).await.unwrap() {
        Finished::Ran { result, .. } => json!({ "output": result.output }),
        Finished::NotRun(outcome) => serde_json::to_value(outcome).unwrap(),
    }
}

/// A person answers in the inbox as soon as the story says so.
async fn somebody_else(engine: Engine, says: PathBuf) {
    appears(&says).await;
    let said: Value = serde_json::from_str(&std::fs::read_to_string(&says).unwrap()).unwrap();
    let pending = engine.broker().pending(None, 1).await.unwrap();
    let answer = Answer {
        by: Principal::Person {
            person: PersonId::new(said["by"].as_str().unwrap()).unwrap(),
            via: Via::Inbox,
        },
        option: said["option"].as_str().unwrap().to_owned(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Program,
    };
    engine.broker().answer(&pending[0].id, answer).await.unwrap();
}

async fn appears(file: &Path) {
    while !file.exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
