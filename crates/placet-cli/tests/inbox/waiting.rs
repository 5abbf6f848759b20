//! A store in which things wait, and what became of them afterwards.

use std::path::PathBuf;

use placet_client::socket::{self, Bound};
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::ids::{AgentId, CallId, InteractionId};
use placet_core::interaction::CallKey;
use placet_core::outcome::Outcome;
use placet_engine::{Engine, Proposed};
use placet_server::{Listen, Listener, Parts, Server};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// People, and time enough.
pub(crate) const CONFIG: &str = r#"
[approval]
timeout = "30m"
[[people]]
name = "lin"
terminal = "l.wang"
[[people]]
name = "wei"
[[rules]]
name = "deployments are for wei"
tool = "deploy"
effect = "ask"
approvers = ["wei"]
"#;

/// A world whose store holds these calls.
pub(crate) struct Waiting {
    pub(crate) world: World,
    pub(crate) ids: Vec<InteractionId>,
    runtime: tokio::runtime::Runtime,
}

/// A shell call.
pub(crate) fn bash(command: &str) -> Value {
    json!({ "tool": "bash", "args": { "command": command } })
}

fn call(index: usize, given: &Value) -> ToolCall {
    let mut call =
        json!({ "id": format!("call_{index}"), "session": "job-1", "origin": { "agent": "tester" } });
    for (name, value) in given.as_object().unwrap() {
        call[name] = value.clone();
    }
    serde_json::from_value(call).unwrap()
}

impl Waiting {
    pub(crate) fn of(calls: &[Value]) -> Self {
        Self::with(CONFIG, calls)
    }

    pub(crate) fn with(config: &str, calls: &[Value]) -> Self {
        let world = World::new();
        world.write("placet.toml", config);
        let mut waiting = Self {
            world,
            ids: Vec::new(),
            runtime: tokio::runtime::Runtime::new().unwrap(),
        };
        waiting.ids = waiting.engine(async |engine| {
            let mut ids = Vec::new();
            for (index, given) in calls.iter().enumerate() {
                match engine.gate().propose(call(index, given)).await.unwrap() {
                    Proposed::Parked { on, .. } => ids.push(on),
                    other => panic!("expected a question, got {other:?}"),
                }
            }
            ids
        });
        waiting
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.world.path("placet.db")
    }

    /// Does something with the engine of an owner that offers its socket, and closes it again.
    pub(crate) fn engine<T>(&self, work: impl AsyncFnOnce(&Engine) -> T) -> T {
        let text = std::fs::read_to_string(self.world.path("placet.toml")).unwrap();
        let mut config = Config::parse(
            &text,
            "placet.toml",
            std::iter::empty(),
            placet_inspect::builtin(),
        )
        .unwrap();
        config.workspace.root = self.world.path("").display().to_string();
        self.runtime.block_on(async {
            let data = self.world.path("");
            let listener = Listener::bind(&config, &data, Listen::Nowhere).await.unwrap();
            let engine = Engine::builder(config.clone()).start(&self.db()).await.unwrap();
            let parts = Parts {
                engine: engine.clone(),
                agent: None,
                config,
                source: "test".into(),
                data,
                web: None,
                push: None,
            };
            let mut server = Server::new(listener, parts).await.unwrap();
            let (_bound, socket) = Bound::bind(&socket::path(&self.db())).unwrap();
            server.offer(socket);
            let stop = CancellationToken::new();
            let running = tokio::spawn(server.run(stop.clone()));
            let done = work(&engine).await;
            stop.cancel();
            running.await.unwrap().unwrap();
            done
        })
    }

    /// Whether one more call, of this number, runs without a question.
    pub(crate) fn is_allowed(&self, index: usize, given: &Value) -> bool {
        let call = call(index, given);
        let proposed = self.engine(async |engine| engine.gate().propose(call).await.unwrap());
        matches!(
            proposed,
            Proposed::Settled {
                outcome: Outcome::Allowed,
                ..
            }
        )
    }

    /// What came of a call.
    pub(crate) fn outcome(&self, index: usize) -> String {
        let key = CallKey {
            agent: AgentId::new("tester").unwrap(),
            call: CallId::new(format!("call_{index}")).unwrap(),
        };
        self.engine(async |engine| {
            let record = engine
                .store()
                .look(|stored| stored.call(&key).cloned())
                .await
                .unwrap()
                .unwrap();
            format!("{:?}", record.state)
        })
    }

    /// `placet inbox …` on this store, as a person.
    pub(crate) fn inbox(&self, who: &str, args: &[&str], status: i32) -> (String, String) {
        let db = self.db();
        let mut all = vec!["inbox", "--db", db.to_str().unwrap(), "--as", who];
        all.extend(args);
        self.world.said(&all, status)
    }

    /// The code of a question.
    pub(crate) fn code(&self, index: usize) -> String {
        let (out, _) = self.inbox("lin", &["list", "--json"], 0);
        let id = self.ids[index].as_str();
        let rows = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut found = rows.filter(|row| row["requestId"] == id);
        found.next().unwrap()["code"].as_str().unwrap().to_owned()
    }
}
