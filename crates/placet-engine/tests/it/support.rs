//! What the stories share: a house that survives restarts, a clock moved by hand, calls and answers in a few words.

use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use placet_core::call::{Args, Chat, Origin, ToolCall};
use placet_core::config::Config;
use placet_core::digest::Digest;
use placet_core::ids::{AgentId, CallId, ChannelName, ChatId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::{Answer, Asked, CallKey, Interaction, Shown};
use placet_core::listing::JournalPage;
use placet_core::outcome::Outcome;
use placet_core::principal::{Principal, Via};
use placet_core::steps::AnswerRefusal;
use placet_core::time::{Millis, Timestamp};
use placet_engine::{Answered, Builder, Engine, Proposed};
use placet_store::{Clock, Location, StepError};
use serde_json::Value;
use tempfile::TempDir;

/// 2026-01-01, when every story begins.
pub(crate) const BEGINNING: i64 = 1_767_225_600_000;

/// Two clocks that stand still until they are moved.
pub(crate) struct ManualClock {
    wall: AtomicI64,
    monotonic: AtomicU64,
    moving: Mutex<()>,
}

impl Clock for ManualClock {
    fn wall(&self) -> Timestamp {
        Timestamp::from_millis(self.wall.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Millis {
        Millis::new(self.monotonic.load(Ordering::SeqCst))
    }

    fn both(&self) -> (Timestamp, Millis) {
        let _still = self.moves();
        (self.wall(), self.monotonic())
    }
}

impl ManualClock {
    /// Time passes as it should.
    pub(crate) fn pass(&self, seconds: u64) {
        let _moving = self.moves();
        self.monotonic.fetch_add(seconds * 1000, Ordering::SeqCst);
        self.jump(i64::try_from(seconds).unwrap());
    }

    /// Both clocks move together.
    fn moves(&self) -> MutexGuard<'_, ()> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only what people read changes.
    pub(crate) fn jump(&self, seconds: i64) {
        self.wall.fetch_add(seconds * 1000, Ordering::SeqCst);
    }

    /// The machine's own clock is set back, which it never should be.
    pub(crate) fn set_back(&self) {
        self.monotonic.store(0, Ordering::SeqCst);
    }
}

/// A disk and a clock.
pub(crate) struct House {
    folder: TempDir,
    pub(crate) store: Location,
    pub(crate) clock: Arc<ManualClock>,
}

impl House {
    pub(crate) fn new() -> Self {
        let clock = ManualClock {
            wall: AtomicI64::new(BEGINNING),
            monotonic: AtomicU64::new(7_000_000),
            moving: Mutex::default(),
        };
        let folder = tempfile::tempdir().unwrap();
        Self {
            store: crate::store_in(folder.path()),
            folder,
            clock: Arc::new(clock),
        }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("placet.db")
    }

    pub(crate) fn builder(&self, config: &str) -> Builder {
        let clock: Arc<dyn Clock> = self.clock.clone();
        // What the stories know of the agent's tools.
        let config = format!("{config}\n[tools.read]\ncategory = 'read'\n");
        let mut config = config_of(&config);
        // The stories tell of a minute.
        config.approval.timeout.get_or_insert(Millis::from_secs(60));
        Engine::builder(config).clock(clock).workspace(self.folder.path())
    }

    pub(crate) async fn open(&self, config: &str) -> Engine {
        self.start(self.builder(config)).await
    }

    pub(crate) async fn start(&self, builder: Builder) -> Engine {
        builder.start_at(&self.store).await.unwrap()
    }

    /// Time passes, and the engine looks.
    pub(crate) fn pass(&self, engine: &Engine, seconds: u64) {
        self.clock.pass(seconds);
        engine.look_at_the_clock();
    }
}

pub(crate) fn config_of(text: &str) -> Config {
    Config::parse(text, "placet.toml", std::iter::empty(), placet_inspect::builtin())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A safety net: what takes this long will never come.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), future)
        .await
        .unwrap_or_else(|_| panic!("it never came"))
}

pub(crate) fn args(json: Value) -> Args {
    Args::from_value(json).unwrap()
}

/// A call by the agent `coder` in the session `s`, without a chat.
pub(crate) fn call(id: &str, tool: &str, json: Value) -> ToolCall {
    ToolCall {
        id: CallId::new(id).unwrap(),
        tool: ToolName::new(tool).unwrap(),
        args: args(json),
        session: session("s"),
        origin: Origin {
            agent: AgentId::new("coder").unwrap(),
            agent_path: Vec::new(),
            chat: None,
            user: None,
        },
        group: None,
        description: None,
    }
}

/// A call of MEDIUM risk that needs approval.
pub(crate) fn deploy(id: &str, to: &str) -> ToolCall {
    call(id, "deploy", serde_json::json!({ "to": to }))
}

pub(crate) fn in_session(mut call: ToolCall, name: &str) -> ToolCall {
    call.session = session(name);
    call
}

pub(crate) fn in_chat(mut call: ToolCall, chat: &Chat, user: Option<&str>) -> ToolCall {
    call.session = SessionId::of_chat(&chat.channel, &chat.id).unwrap();
    call.origin.chat = Some(chat.clone());
    call.origin.user = user.map(person);
    call
}

pub(crate) fn for_user(mut call: ToolCall, user: &str) -> ToolCall {
    call.origin.user = Some(person(user));
    call
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub(crate) fn person(name: &str) -> PersonId {
    PersonId::new(name).unwrap()
}

pub(crate) fn chat(channel: &str, id: &str) -> Chat {
    Chat {
        channel: ChannelName::new(channel).unwrap(),
        id: ChatId::new(id).unwrap(),
    }
}

pub(crate) fn key(id: &str) -> CallKey {
    CallKey {
        agent: AgentId::new("coder").unwrap(),
        call: CallId::new(id).unwrap(),
    }
}

pub(crate) fn inbox(name: &str) -> Principal {
    Principal::Person {
        person: person(name),
        via: Via::Inbox,
    }
}

/// An answer from a person who saw everything.
pub(crate) fn choice(by: &str, option: &str) -> Answer {
    Answer {
        by: inbox(by),
        option: option.to_owned(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Whole(Digest::of("test", &[b"everything"])),
    }
}

pub(crate) fn because(by: &str, option: &str, feedback: &str) -> Answer {
    Answer {
        feedback: Some(feedback.to_owned()),
        ..choice(by, option)
    }
}

pub(crate) fn edit(by: &str, json: Value) -> Answer {
    Answer {
        edited_args: Some(args(json)),
        ..choice(by, "approve")
    }
}

/// Proposes a call that needs approval, and says which question it waits for.
pub(crate) async fn park(engine: &Engine, call: ToolCall) -> InteractionId {
    match engine.gate().propose(call).await.unwrap() {
        Proposed::Parked { on, .. } => on,
        other => panic!("expected a question, got {other:?}"),
    }
}

/// Proposes a call that must be settled at once.
pub(crate) async fn settle(engine: &Engine, call: ToolCall) -> Outcome {
    match engine.gate().propose(call).await.unwrap() {
        Proposed::Settled { outcome, .. } => outcome,
        other => panic!("expected an outcome, got {other:?}"),
    }
}

pub(crate) async fn say(
    engine: &Engine,
    id: &InteractionId,
    answer: Answer,
) -> Result<Answered, StepError<AnswerRefusal>> {
    engine.broker().answer(id, answer).await
}

/// Asks about a call, answers, and says what became of it.
pub(crate) async fn decide(engine: &Engine, call: ToolCall, answer: Answer) -> Outcome {
    let key = CallKey {
        agent: call.origin.agent.clone(),
        call: call.id.clone(),
    };
    let id = park(engine, call).await;
    say(engine, &id, answer).await.unwrap();
    soon(engine.gate().wait(&key)).await.unwrap()
}

pub(crate) async fn outcome(engine: &Engine, id: &str) -> Outcome {
    soon(engine.gate().wait(&key(id))).await.unwrap()
}

pub(crate) async fn interaction(engine: &Engine, id: &InteractionId) -> Interaction {
    engine.broker().question(id).await.unwrap().unwrap().interaction
}

pub(crate) async fn asked(engine: &Engine, id: &InteractionId) -> Asked {
    interaction(engine, id).await.asked().clone()
}

pub(crate) async fn is_open(engine: &Engine, id: &InteractionId) -> bool {
    matches!(interaction(engine, id).await, Interaction::Pending(_))
}

/// Every open question.
pub(crate) async fn open(engine: &Engine) -> Vec<InteractionId> {
    let page = engine.broker().pending(None, 1000).await.unwrap();
    page.into_iter().map(|row| row.id).collect()
}

/// The names of a session's events so far.
pub(crate) async fn story(engine: &Engine, name: &str) -> Vec<&'static str> {
    let name = session(name);
    let rows = engine
        .store()
        .look(|stored| stored.journal(&JournalPage::of(&name, 0, 10_000)).cloned())
        .await
        .unwrap();
    rows.iter().map(|row| row.event.name()).collect()
}

/// Everything stored fits together.
pub(crate) async fn verify(engine: &Engine) {
    let verified = engine.store().verify(None).await.unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}

/// How long Placet was not running before this start.
pub(crate) fn down_for(engine: &Engine) -> Millis {
    let outage = engine.store().outage_before().unwrap();
    outage.until.remaining_from(outage.from)
}
