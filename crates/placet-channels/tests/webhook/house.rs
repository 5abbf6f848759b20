//! What the stories share: a file, a clock, a platform and an engine; calls and replies in a few words.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::{Method, Request};
use placet_channels::webhook::{SIGNATURE_HEADER, Webhook};
use placet_core::call::{Args, Chat, Origin, ToolCall};
use placet_core::config::{ChannelKind, Config};
use placet_core::ids::{AgentId, CallId, ChannelName, ChatId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::{CallKey, Interaction};
use placet_core::journal::Event;
use placet_core::outcome::Outcome;
use placet_core::outgoing::OutboxItem;
use placet_core::time::{Millis, Timestamp};
use placet_engine::channel::{INBOUND, RouteError};
use placet_engine::{Builder, Engine, Proposed};
use placet_store::Clock;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::platform::{Platform, soon};

/// 2026-01-01, when every story begins.
const BEGINNING: i64 = 1_767_225_600_000;
/// Where the inbox of every house is.
pub(crate) const INBOX: &str = "https://inbox.example";
pub(crate) const SECRET: &str = "the platform and placet know this";

/// A clock that stands still until it is moved.
pub(crate) struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn wall(&self) -> Timestamp {
        Timestamp::from_millis(BEGINNING + self.0.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Millis {
        Millis::new(7_000_000 + self.0.load(Ordering::SeqCst).unsigned_abs())
    }
}

/// A house with one platform, known as the channel `ops`, and whatever else is configured.
pub(crate) struct House {
    folder: TempDir,
    config: String,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) platform: Platform,
    /// As the platforms know them: they sign what they post.
    pub(crate) hooks: BTreeMap<ChannelName, Webhook>,
    pub(crate) engine: Engine,
}

/// What a platform is told.
#[derive(Debug, Deserialize)]
pub(crate) struct Received {
    pub(crate) consumed: bool,
}

impl House {
    pub(crate) async fn new(config: &str) -> Self {
        Self::with(Platform::new().await, config).await
    }

    /// The same with a platform of another kind.
    pub(crate) async fn with(platform: Platform, config: &str) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), platform, config).await
    }

    async fn in_folder(folder: TempDir, platform: Platform, config: &str) -> Self {
        let clock = Arc::new(ManualClock(AtomicI64::new(0)));
        let config = format!("{}\n{config}", channel(&folder, "ops", SECRET, &platform));
        Self::open(folder, clock, platform, config).await
    }

    async fn open(folder: TempDir, clock: Arc<ManualClock>, platform: Platform, config: String) -> Self {
        let (engine, hooks) = start(&folder, &clock, &config).await;
        Self {
            folder,
            config,
            clock,
            platform,
            hooks,
            engine,
        }
    }

    /// The same with a second channel, `dev`, on a platform of its own.
    pub(crate) async fn with_two_platforms(config: &str) -> (Self, Platform) {
        let (folder, other) = (tempfile::tempdir().unwrap(), Platform::new().await);
        let config = format!("{}\n{config}", channel(&folder, "dev", "another secret", &other));
        (
            Self::in_folder(folder, Platform::new().await, &config).await,
            other,
        )
    }

    /// The process ends, and another one begins with the same file.
    pub(crate) async fn restart(self) -> Self {
        self.restart_with("").await
    }

    /// The same after something was added to the configuration.
    pub(crate) async fn restart_with(self, more: &str) -> Self {
        let Self {
            folder,
            config,
            clock,
            platform,
            engine,
            ..
        } = self;
        engine.shutdown().await.unwrap();
        Self::open(folder, clock, platform, config + more).await
    }

    /// Time passes, and the engine looks.
    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds * 1000, Ordering::SeqCst);
        self.engine.look_at_the_clock();
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.wall()
    }

    /// A signed message from `sender` in the chat `c1` of `ops`; whether it was consumed.
    pub(crate) async fn hear(&self, sender: &str, id: &str, content: &str) -> bool {
        self.hear_in("c1", sender, id, content).await
    }

    pub(crate) async fn hear_in(&self, chat: &str, sender: &str, id: &str, content: &str) -> bool {
        let body = message(chat, sender, id, content);
        self.receive(&body).await.unwrap().consumed
    }

    /// A body, signed by the platform of `ops`.
    pub(crate) async fn receive(&self, body: &Value) -> Result<Received, RouteError> {
        self.receive_from("ops", body).await
    }

    /// A body, signed by the platform of a channel.
    pub(crate) async fn receive_from(&self, channel: &str, body: &Value) -> Result<Received, RouteError> {
        let body = body.to_string();
        let signature = self.hooks[&name(channel)].sign(body.as_bytes(), self.now());
        self.receive_at(channel, &signature, body.as_bytes()).await
    }

    /// A body with any signature, posted to the route of `ops`.
    pub(crate) async fn receive_raw(&self, signature: &str, body: &[u8]) -> Result<Received, RouteError> {
        self.receive_at("ops", signature, body).await
    }

    pub(crate) async fn receive_at(
        &self,
        channel: &str,
        signature: &str,
        body: &[u8],
    ) -> Result<Received, RouteError> {
        let channel = name(channel);
        let route = self.engine.route(&channel, &Method::POST, INBOUND).unwrap();
        let request = Request::builder().header(SIGNATURE_HEADER, signature);
        let request = request.body(body.to_vec().into()).unwrap();
        let response = self.engine.answer_route(&channel, route, request).await?;
        Ok(serde_json::from_slice(response.body()).unwrap())
    }

    pub(crate) fn sign(&self, body: &[u8]) -> String {
        self.hooks[&name("ops")].sign(body, self.now())
    }

    /// Proposes a call that needs approval.
    pub(crate) async fn park(&self, call: ToolCall) -> InteractionId {
        match self.engine.gate().propose(call).await.unwrap() {
            Proposed::Parked { on, .. } => on,
            other => panic!("expected a question, got {other:?}"),
        }
    }

    /// Proposes a call that needs approval, and waits until the platform has the question.
    pub(crate) async fn ask(&self, call: ToolCall) -> InteractionId {
        let id = self.park(call).await;
        self.shown(&id).await;
        id
    }

    /// The platform has the question, and the engine knows it.
    pub(crate) async fn shown(&self, id: &InteractionId) {
        self.shown_in(id, 1).await;
    }

    /// So many copies of the question have arrived, and the engine knows it.
    pub(crate) async fn shown_in(&self, id: &InteractionId, chats: usize) {
        let mut events = self.engine.subscribe(0, None);
        soon(async {
            let mut seen = 0;
            while seen < chats {
                if let Event::Delivered { interaction, .. } = events.next().await.unwrap().event {
                    seen += usize::from(interaction == *id);
                }
            }
        })
        .await;
    }

    /// The first copy of a question, once it has been tried to be sent so often.
    pub(crate) async fn tried(&self, id: &InteractionId, tries: u32) -> OutboxItem {
        soon(async {
            loop {
                let looked = id.clone();
                let read = self.engine.store().look(|stored| stored.copies(&looked).cloned());
                let copy = read.await.unwrap().swap_remove(0);
                if copy.attempts >= tries {
                    return copy;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }

    /// Proposes a call that must be settled at once.
    pub(crate) async fn settle(&self, call: ToolCall) -> Outcome {
        match self.engine.gate().propose(call).await.unwrap() {
            Proposed::Settled { outcome, .. } => outcome,
            other => panic!("expected an outcome, got {other:?}"),
        }
    }

    pub(crate) async fn outcome(&self, call: &str) -> Outcome {
        let key = CallKey {
            agent: AgentId::new("coder").unwrap(),
            call: CallId::new(call).unwrap(),
        };
        soon(self.engine.gate().wait(&key)).await.unwrap()
    }

    pub(crate) async fn is_open(&self, id: &InteractionId) -> bool {
        let question = self.engine.broker().question(id).await.unwrap().unwrap();
        matches!(question.interaction, Interaction::Pending(_))
    }

    pub(crate) async fn code(&self, id: &InteractionId) -> String {
        let question = self.engine.broker().question(id).await.unwrap().unwrap();
        question.interaction.asked().code.to_string()
    }

    /// The next message that reached the agent in the chat `c1`.
    pub(crate) async fn queued(&self) -> String {
        let session = SessionId::new("ops:c1").unwrap();
        soon(self.engine.bus().consume_inbound(&session))
            .await
            .unwrap()
            .content
    }

    /// Everything stored fits together.
    pub(crate) async fn verify(&self) {
        let verified = self.engine.store().verify(None).await.unwrap();
        assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    }
}

fn channel(folder: &TempDir, name: &str, secret: &str, platform: &Platform) -> String {
    let kept: PathBuf = folder.path().join(format!("{name}.secret"));
    std::fs::write(&kept, format!("{secret}\n")).unwrap();
    format!(
        "[channels.{name}]\ntype = \"webhook\"\nurl = \"{}\"\nsecret = \"file:{}\"\n",
        platform.url(),
        kept.display()
    )
}

async fn start(
    folder: &TempDir,
    clock: &Arc<ManualClock>,
    config: &str,
) -> (Engine, BTreeMap<ChannelName, Webhook>) {
    let config = Config::parse(
        config,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let hooks = config.channels.iter().map(|(name, channel)| {
        let ChannelKind::Webhook { url, secret, ca } = &channel.kind;
        let webhook = Webhook::from_config(name, url, secret, ca.as_ref()).unwrap();
        (name.clone(), webhook)
    });
    let hooks = hooks.collect();
    let channels = placet_channels::configured(&config).unwrap();
    let clock: Arc<dyn Clock> = clock.clone();
    let builder = Engine::builder(config)
        .clock(clock)
        .workspace(folder.path())
        .inbox_at(INBOX);
    let builder = channels.into_iter().fold(builder, Builder::channel);
    let engine = builder.start(&folder.path().join("placet.db")).await.unwrap();
    (engine, hooks)
}

pub(crate) fn name(channel: &str) -> ChannelName {
    ChannelName::new(channel).unwrap()
}

/// A message as the platform of `ops` sends it.
pub(crate) fn message(chat: &str, sender: &str, id: &str, content: &str) -> Value {
    json!({ "channel": "ops", "chatId": chat, "senderId": sender, "messageId": id, "content": content })
}

/// A call by the agent `coder` for `user`, in a chat of a channel.
pub(crate) fn call_on(channel: &str, chat: &str, user: &str, id: &str, tool: &str, args: Value) -> ToolCall {
    let chat = Chat {
        channel: name(channel),
        id: ChatId::new(chat).unwrap(),
    };
    ToolCall {
        id: CallId::new(id).unwrap(),
        tool: ToolName::new(tool).unwrap(),
        args: Args::from_value(args).unwrap(),
        session: SessionId::of_chat(&chat.channel, &chat.id).unwrap(),
        origin: Origin {
            agent: AgentId::new("coder").unwrap(),
            agent_path: Vec::new(),
            chat: Some(chat),
            user: Some(PersonId::new(user).unwrap()),
        },
        group: None,
        description: None,
    }
}

/// A call for Zoe in the chat `c1` of `ops`.
pub(crate) fn call(id: &str, tool: &str, args: Value) -> ToolCall {
    call_on("ops", "c1", "ops:zoe", id, tool, args)
}

/// A person of the operator's, who may approve HIGH.
pub(crate) const KIM: &str = "[[people]]\nname = \"kim\"\nops = \"kim\"\n";

/// A call for Kim in their own chat on `ops`.
pub(crate) fn call_for_kim(id: &str, tool: &str, args: Value) -> ToolCall {
    call_on("ops", "kim", "kim", id, tool, args)
}

/// A call of MEDIUM risk that needs approval.
pub(crate) fn deploy(id: &str, to: &str) -> ToolCall {
    call(id, "deploy", json!({ "to": to }))
}
