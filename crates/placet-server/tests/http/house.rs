//! A house with a server in it, and a client that can say anything.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use placet_agent::configured::Setup;
use placet_core::config::Config;
use placet_engine::{Builder, Engine};
use placet_server::{Listen, Listener, Parts, Push, Server, State};
use placet_store::Location;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Two people with tokens, of whom one is an admin, and a second agent.
pub(crate) const PEOPLE: &str = r#"
[approval]
timeout = "5m"
[[people]]
name = "lin"
token = "file:LIN"
[[people]]
name = "wei"
token = "file:WEI"
[server]
admins = ["wei"]
[server.agents]
other = "file:OTHER"
[[rules]]
name = "deploying needs two"
tool = "deploy"
effect = "ask"
approvers = ["lin", "wei"]
quorum = 2
[[rules]]
name = "only lin pays"
tool = "pay"
effect = "ask"
approvers = ["lin"]
"#;

pub(crate) const LIN: &str = "token-of-lin-0123456789";
pub(crate) const WEI: &str = "token-of-wei-0123456789";
pub(crate) const OTHER: &str = "token-of-other-0123456789";

/// The sealing key of all replicas.
pub(crate) const SEAL_KEY: &str = "5ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea15ea1";

/// A running server.
pub(crate) struct House {
    pub(crate) address: SocketAddr,
    pub(crate) data: TempDir,
    pub(crate) state: State,
    pub(crate) link: String,
    stop: CancellationToken,
    running: JoinHandle<()>,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The body of a success.
    pub(crate) fn ok(&self) -> Value {
        assert!(matches!(self.status, 200 | 201), "{} {}", self.status, self.text);
        self.json()
    }

    /// The status and the code of a problem.
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(
            self.headers["content-type"], "application/problem+json",
            "{}",
            self.text
        );
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        let code = problem["code"].as_str().unwrap().to_owned();
        assert_eq!(problem["type"], format!("/errors/{code}"));
        (self.status, code)
    }
}

impl House {
    /// Without a configuration: the tokens are those of the data folder.
    pub(crate) async fn plain() -> Self {
        Self::open(tempfile::tempdir().unwrap(), "").await
    }

    /// With people.
    pub(crate) async fn with_people() -> Self {
        Self::open(tempfile::tempdir().unwrap(), PEOPLE).await
    }

    /// One of several on the same database, with people and a folder of its own.
    pub(crate) async fn replica(url: &str) -> Self {
        Self::replica_with(url, PEOPLE).await
    }

    /// The same with another configuration, and the sealing key of all others.
    pub(crate) async fn replica_with(url: &str, config: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(data.path().join("seal.key"), SEAL_KEY).unwrap();
        Self::open_on(data, config, Location::parse(url).unwrap()).await
    }

    pub(crate) async fn open(data: TempDir, config: &str) -> Self {
        let store = Location::from(data.path().join("placet.db").as_path());
        Self::open_on(data, config, store).await
    }

    pub(crate) async fn open_on(data: TempDir, config: &str, store: Location) -> Self {
        let config = Config::parse(
            &placed(&data, config),
            "placet.toml",
            std::iter::empty(),
            placet_inspect::builtin(),
        )
        .unwrap();
        let server = server(&data, config, &store).await;
        let (address, state) = (server.address().unwrap(), server.state().clone());
        let link = server.sign_in_link().await.unwrap().unwrap();
        let stop = CancellationToken::new();
        let running = tokio::spawn({
            let stop = stop.clone();
            async move { server.run(stop).await.unwrap() }
        });
        Self {
            address,
            data,
            state,
            link,
            stop,
            running,
        }
    }

    /// Puts another configuration in force, as SIGHUP does.
    pub(crate) fn reload(&self, config: &str) {
        let config = Config::parse(
            &placed(&self.data, config),
            "placet.toml",
            std::iter::empty(),
            placet_inspect::builtin(),
        )
        .unwrap();
        self.state.reload(config, "again".into()).unwrap();
    }

    /// Stops the server; the data stays.
    pub(crate) async fn close(self) -> TempDir {
        self.stop.cancel();
        self.running.await.unwrap();
        self.data
    }

    pub(crate) fn token(&self, role: &str) -> String {
        let text = std::fs::read_to_string(self.data.path().join("tokens.toml")).unwrap();
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{role} = ")))
            .unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    }

    pub(crate) async fn connect(&self) -> SendRequest<Full<Bytes>> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender
    }

    /// A request with a token.
    pub(crate) async fn send(&self, token: &str, method: &str, path: &str, body: Option<Value>) -> Answer {
        let bearer = format!("Bearer {token}");
        self.say(method, path, &[("authorization", &bearer)], body).await
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Answer {
        self.send(token, "GET", path, None).await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: Value) -> Answer {
        self.send(token, "POST", path, Some(body)).await
    }

    /// A request with any headers.
    pub(crate) async fn say(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Answer {
        let mut headers = headers.to_vec();
        if body.is_some() && !headers.iter().any(|(name, _)| *name == "content-type") {
            headers.push(("content-type", "application/json"));
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let response = self.raw(method, path, &headers, body.into()).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    pub(crate) async fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Response<Incoming> {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", self.address.to_string());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).unwrap();
        self.connect().await.send_request(request).await.unwrap()
    }

    /// Proposes a call.
    pub(crate) async fn propose(&self, token: &str, id: &str, tool: &str, args: Value) -> Value {
        let call = json!({"sessionId": "job", "callId": id, "tool": tool, "args": args});
        self.post(token, "/v1/calls", call).await.ok()
    }

    /// Proposes a call that needs approval; the question's id.
    pub(crate) async fn ask(&self, token: &str, id: &str, tool: &str, args: Value) -> String {
        let call = self.propose(token, id, tool, args).await;
        assert_eq!(call["status"], "pending", "{call}");
        call["requestId"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn answer(&self, token: &str, id: &str, body: Value) -> Answer {
        self.post(token, &format!("/v1/interactions/{id}/answer"), body)
            .await
    }
}

async fn server(data: &TempDir, config: Config, store: &Location) -> Server {
    let listen = Listen::At("127.0.0.1:0".parse().unwrap());
    let listener = Listener::bind(&config, data.path(), listen).await.unwrap();
    let channels = placet_channels::configured(&config).unwrap();
    let setup = Setup::of(&config, data.path(), None).await.unwrap();
    let engine = Engine::builder(config.clone()).data(data.path());
    let push = Arc::new(Push::new(&config).unwrap());
    let engine = channels.into_iter().fold(engine, Builder::channel);
    let engine = engine.channel(push.channel());
    let engine = setup.iter().fold(engine, |engine, setup| setup.known_to(engine));
    let engine = engine.start_at(store).await.unwrap();
    let agent = match setup {
        Some(setup) => Some(setup.agent(engine.clone()).start().await.unwrap()),
        None => None,
    };
    let parts = Parts {
        engine,
        agent,
        config,
        source: "test".into(),
        data: data.path().to_owned(),
        web: None,
        push: Some(push),
    };
    Server::new(listener, parts).await.unwrap()
}

/// The configuration with a tool that only reads, and with the tokens of people in files of the data folder.
fn placed(data: &TempDir, config: &str) -> String {
    let mut config = format!("{config}\n[tools.read]\ncategory = 'read'\n");
    for (name, token) in [("LIN", LIN), ("WEI", WEI), ("OTHER", OTHER)] {
        let path: PathBuf = data.path().join(name);
        std::fs::write(&path, token).unwrap();
        config = config.replace(&format!("file:{name}"), &format!("file:{}", path.display()));
    }
    config
}

/// Whether a status says that something succeeded.
pub(crate) fn succeeded(status: u16) -> bool {
    StatusCode::from_u16(status).unwrap().is_success()
}
