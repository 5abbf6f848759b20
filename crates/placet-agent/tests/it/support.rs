//! What the stories share: a house that survives restarts, a script, and a person who answers.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use placet_agent::chat::{ChatEvent, ChatStream, Response, Saying, What};
use placet_agent::model::{Script, Scripted};
use placet_agent::{Agent, Builder, Tools};
use placet_core::config::Config;
use placet_core::ids::{AgentId, InteractionId, PersonId, SessionId};
use placet_core::interaction::InteractionRequest;
use placet_core::principal::{Principal, Via};
use placet_core::run::Limits;
use placet_engine::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Every call of the built-in tools that is not a read needs approval, and nothing is remembered.
pub(crate) const CONFIG: &str =
    "[approval]\ntimeout = '10m'\nmemory = '0s'\n[[people]]\nname = 'lin'\nemail = 'lin@example.com'\n";

/// A disk with a workspace on it.
pub(crate) struct House {
    folder: TempDir,
}

/// An agent at work in a house.
pub(crate) struct Home {
    pub(crate) agent: Agent,
    pub(crate) engine: Engine,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("placet.db")
    }

    pub(crate) fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.work().join(name)).ok()
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        std::fs::write(self.work().join(name), text).unwrap();
    }

    pub(crate) async fn open(&self, turns: Value) -> Home {
        self.open_with(turns, Limits::USUAL).await
    }

    /// With another configuration, and tools of one's own.
    pub(crate) async fn open_as(&self, config: &str, tools: Tools, turns: Value) -> Home {
        let script = Script::from_json(json!({ "turns": turns })).unwrap();
        start_as(config, tools, &self.work(), &self.store(), script, |builder| {
            builder
        })
        .await
    }

    /// With an agent that continues nothing by itself.
    pub(crate) async fn open_idle(&self, turns: Value) -> Home {
        let (script, tools) = (
            Script::from_json(json!({ "turns": turns })).unwrap(),
            Tools::builtin(&self.work()),
        );
        let how = Builder::resuming_nothing;
        start_as(CONFIG, tools, &self.work(), &self.store(), script, how).await
    }

    pub(crate) async fn open_with(&self, turns: Value, limits: Limits) -> Home {
        let script = Script::from_json(json!({ "turns": turns })).unwrap();
        start(&self.work(), &self.store(), script, limits).await
    }
}

pub(crate) async fn start(work: &Path, store: &Path, script: Script, limits: Limits) -> Home {
    let limited = |builder: Builder| builder.limits(limits);
    start_as(CONFIG, Tools::builtin(work), work, store, script, limited).await
}

async fn start_as(
    config: &str,
    tools: Tools,
    work: &Path,
    store: &Path,
    script: Script,
    how: impl FnOnce(Builder) -> Builder,
) -> Home {
    let config = Config::parse(
        config,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let engine = Engine::builder(config)
        .workspace(work)
        .toolbox(AgentId::built_in(), tools.clone())
        .start(store)
        .await
        .unwrap();
    let builder = Agent::builder(engine.clone(), tools).model(Arc::new(Scripted::new("scripted", script)));
    let agent = how(builder).start().await.unwrap();
    Home { agent, engine }
}

impl Home {
    /// Lin says something in the session `s`.
    pub(crate) async fn say(&self, text: &str) -> ChatStream {
        let saying = Saying {
            session: Some(session("s")),
            text: text.into(),
            person: lin(),
            place: None,
        };
        self.agent.chat().send(saying).await.unwrap().1
    }

    /// Lin answers a question of the session `s`.
    pub(crate) async fn answer(&self, request: &InteractionRequest, option: &str, feedback: Option<&str>) {
        let response = Response {
            session: request.session_id.clone(),
            request: id_of(request),
            option: option.into(),
            feedback: feedback.map(str::to_owned),
            data: None,
            shown: None,
        };
        self.agent
            .chat()
            .respond(response, principal("lin"))
            .await
            .unwrap();
    }

    pub(crate) async fn close(self) {
        self.agent.shutdown().await;
        self.engine.shutdown().await.unwrap();
    }
}

pub(crate) fn id_of(request: &InteractionRequest) -> InteractionId {
    request.request_id.clone().unwrap()
}

pub(crate) fn lin() -> PersonId {
    PersonId::new("lin").unwrap()
}

pub(crate) fn principal(name: &str) -> Principal {
    Principal::Person {
        person: PersonId::new(name).unwrap(),
        via: Via::Inbox,
    }
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// A safety net: what takes this long will never come.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), future)
        .await
        .unwrap_or_else(|_| panic!("it never came"))
}

/// The next stored event.
pub(crate) async fn next(stream: &mut ChatStream) -> Option<ChatEvent> {
    loop {
        let event = soon(stream.next()).await.unwrap()?;
        if event.id.is_some() {
            return Some(event);
        }
    }
}

/// Reads on until people are asked.
pub(crate) async fn question(stream: &mut ChatStream) -> InteractionRequest {
    loop {
        match next(stream).await.map(|event| event.what) {
            Some(What::Interaction { request }) => return *request,
            Some(_) => {}
            None => panic!("nobody was asked"),
        }
    }
}

/// Everything a question shows.
pub(crate) fn shown(request: &InteractionRequest) -> String {
    format!(
        "{}\n{}",
        request.message,
        request.details.as_deref().unwrap_or_default()
    )
}

/// Reads on to the end of the run.
pub(crate) async fn rest(stream: &mut ChatStream) -> Vec<ChatEvent> {
    let mut events = Vec::new();
    while let Some(event) = next(stream).await {
        events.push(event);
    }
    events
}

pub(crate) fn names(events: &[ChatEvent]) -> Vec<&'static str> {
    events.iter().map(|event| event.what.name()).collect()
}

/// The data of the last event of a kind.
pub(crate) fn last(events: &[ChatEvent], name: &str) -> Value {
    let found = events.iter().rfind(|event| event.what.name() == name);
    found
        .unwrap_or_else(|| panic!("there is no {name} in {events:?}"))
        .what
        .data()
}

/// A turn that calls tools.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(tool, args)| json!({ "tool": tool, "args": args }))
        .collect();
    json!({ "calls": calls })
}

/// A turn without calls.
pub(crate) fn says(text: &str) -> Value {
    json!({ "text": text })
}

/// A turn that is said whenever `on` is in what the model was told.
pub(crate) fn on(on: &str, mut turn: Value) -> Value {
    turn["on"] = on.into();
    turn
}
