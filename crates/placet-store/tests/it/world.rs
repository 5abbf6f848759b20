//! A small world: an agent `bot`, the people `ana` and `bo`, and what they do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use placet_core::call::{Args, ToolCall};
use placet_core::digest::Digest;
use placet_core::findings::Findings;
use placet_core::ids::{AgentId, CallId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::{Action, Asked, Audience, Ballot, CallKey, Code, Resolution, Shown, Subject};
use placet_core::journal::{CallResult, Event, SYSTEM_SESSION};
use placet_core::outcome::{Denial, Outcome};
use placet_core::outgoing::Change;
use placet_core::principal::Via;
use placet_core::step::Commit;
use placet_core::time::{Millis, Outage, Timestamp};
use placet_core::tool::{Category, Risk};
use placet_core::verdict::{Answers, AskTerms, Decision, Reason, Step as PolicyStep, Verdict};
use placet_store::inline::InlineStore;
use placet_store::{Clock, Options, Store, StoreError};

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub(crate) fn person(name: &str) -> PersonId {
    PersonId::new(name).unwrap()
}

pub(crate) fn question(id: &str) -> InteractionId {
    InteractionId::new(id).unwrap()
}

pub(crate) fn key(call: &str) -> CallKey {
    CallKey {
        agent: AgentId::new("bot").unwrap(),
        call: CallId::new(call).unwrap(),
    }
}

pub(crate) fn wall(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn at(millis: i64) -> Timestamp {
    wall(millis)
}

/// The call `id` of `bot` in session `s`.
pub(crate) fn call(id: &str, command: &str) -> ToolCall {
    ToolCall {
        id: CallId::new(id).unwrap(),
        tool: ToolName::new("bash").unwrap(),
        args: Args::parse(format!("{{\"command\":\"{command}\"}}").as_bytes()).unwrap(),
        session: session("s"),
        origin: placet_core::call::Origin {
            agent: AgentId::new("bot").unwrap(),
            agent_path: Vec::new(),
            chat: None,
            user: None,
        },
        group: None,
        description: None,
    }
}

pub(crate) fn received(call: &ToolCall, decision: Decision) -> Event {
    let outcome = match &decision {
        Decision::Allow => Some(Outcome::Allowed),
        Decision::Deny => Some(Outcome::Denied {
            denial: Denial::Policy {
                reason: Reason::Written("because".into()),
            },
        }),
        Decision::Ask(_) => None,
    };
    Event::CallReceived {
        outcome: outcome.map(Box::new),
        digest: call.digest(),
        call: Box::new(call.clone()),
        verdict: Box::new(Verdict {
            decision,
            step: PolicyStep::Ask,
            rule: None,
            reason: Reason::NothingAllows {
                category: Category::Command,
            },
            risk: Risk::Medium,
            category: Category::Command,
            confinement: None,
        }),
        findings: Some(Findings::nothing().stored(&call.args)),
        policy: Digest::of("policy", &[]),
    }
}

pub(crate) fn ask() -> Decision {
    Decision::Ask(AskTerms::plain())
}

pub(crate) fn about(id: &str, subject: Subject) -> Asked {
    Asked {
        id: question(id),
        session: session("s"),
        subject,
        admins: false,
        audience: Audience::People(BTreeSet::from([person("ana"), person("bo")])),
        quorum: 1,
        requester: None,
        not_requester: false,
        since: wall(0),
        deadline: wall(60_000),
        escalation: None,
        code: Code::parse("K7QP").unwrap(),
        risk: Risk::Medium,
        group: None,
        chat: None,
        evidence: Vec::new(),
        tool_description: None,
    }
}

pub(crate) fn asked(id: &str, call: &ToolCall) -> Asked {
    let subject = Subject::Call {
        call: key(call.id.as_str()),
        digest: call.digest(),
        answers: Answers::for_approval(),
        edited: None,
    };
    about(id, subject)
}

pub(crate) fn ballot(by: &str) -> Ballot {
    Ballot {
        by: person(by),
        via: Via::Inbox,
        option: "approve".into(),
        feedback: None,
        data: None,
        instruction: None,
        shown: Shown::Program,
    }
}

pub(crate) fn answered(id: &str, action: Action) -> Event {
    Event::Resolved {
        interaction: question(id),
        resolution: Resolution::Answered {
            ballot: Box::new(ballot("ana")),
            action,
            by: vec![person("ana")],
        },
    }
}

pub(crate) fn approved(call: &ToolCall, remembered_until: Option<Timestamp>) -> Outcome {
    Outcome::Approved {
        by: vec![person("ana")],
        digest: call.digest(),
        edited: None,
        judgement: None,
        instruction: None,
        remembered_until,
    }
}

pub(crate) fn rejected(reason: &str) -> Outcome {
    Outcome::Rejected {
        by: person("ana"),
        reason: Some(reason.into()),
        instruction: None,
    }
}

pub(crate) fn settled(call: &str, outcome: Outcome, grant: Option<u32>) -> Event {
    Event::Settled {
        call: key(call),
        outcome: Box::new(outcome),
        grant,
    }
}

pub(crate) fn claimed(call: &str, grant: u32) -> Event {
    Event::Claimed {
        call: key(call),
        grant,
        lease: None,
        process: None,
        child: None,
    }
}

pub(crate) fn finished(call: &str, grant: u32) -> Event {
    Event::Finished {
        call: key(call),
        grant,
        result: CallResult::new(true, "out"),
    }
}

/// The step that receives a call and asks `question` about it.
pub(crate) fn asking(question: &str, call: &ToolCall) -> Vec<Event> {
    vec![
        received(call, ask()),
        Event::Asked(Box::new(asked(question, call))),
    ]
}

/// The step that approves a question and its call.
pub(crate) fn approving(question: &str, call: &ToolCall) -> Vec<Event> {
    vec![
        answered(question, Action::ApproveAndExecute),
        settled(call.id.as_str(), approved(call, None), Some(1)),
    ]
}

/// A commit of these events in a session, decided on nothing.
pub(crate) fn commit_in(name: &str, now: Timestamp, events: Vec<Event>) -> Commit {
    Commit {
        now,
        versions: BTreeMap::new(),
        epoch: None,
        fences: Vec::new(),
        events: events.into_iter().map(|event| (session(name), event)).collect(),
        changes: Vec::new(),
    }
}

/// A commit of one operational change.
pub(crate) fn changing(now: Timestamp, changes: Vec<Change>) -> Commit {
    Commit {
        changes,
        ..commit_in("s", now, Vec::new())
    }
}

pub(crate) async fn store(store: &Store, events: Vec<Event>) -> Result<(), StoreError> {
    store.commit(commit_in("s", store.now(), events)).await
}

pub(crate) fn put(store: &mut InlineStore, millis: i64, events: Vec<Event>) -> Result<(), StoreError> {
    store.commit(commit_in("s", at(millis), events))
}

/// Opens a store and records the outage before it, as the engine does when it starts.
pub(crate) async fn started(path: &Path, clock: &Arc<HandClock>) -> Store {
    let db = Store::open(path, options(clock)).unwrap();
    if let Some(before) = db.outage_before() {
        record(&db, before).await;
    }
    db
}

async fn record(db: &Store, outage: Outage) {
    let Outage { from, until, .. } = outage;
    let outage = vec![Event::Outage { from, until }];
    db.commit(commit_in(SYSTEM_SESSION, db.now(), outage))
        .await
        .unwrap();
}

/// Records that the clock was set, as the timers do when they notice.
pub(crate) async fn notices_the_jump(db: &Store) {
    record(db, db.clock_jump().unwrap()).await;
}

/// A clock that stands still until it is moved.
#[derive(Default)]
pub(crate) struct HandClock {
    wall: AtomicI64,
    monotonic: AtomicU64,
}

impl HandClock {
    /// Time passes on both clocks.
    pub(crate) fn pass(&self, millis: u64) {
        self.monotonic.fetch_add(millis, Ordering::Relaxed);
        self.jump(i64::try_from(millis).unwrap());
    }

    /// The wall clock is set.
    pub(crate) fn jump(&self, millis: i64) {
        self.wall.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for HandClock {
    fn wall(&self) -> Timestamp {
        Timestamp::from_millis(self.wall.load(Ordering::Relaxed))
    }

    fn monotonic(&self) -> Millis {
        Millis::new(self.monotonic.load(Ordering::Relaxed))
    }
}

pub(crate) fn options(clock: &Arc<HandClock>) -> Options {
    Options {
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        busy: std::time::Duration::from_millis(50),
        ..Options::default()
    }
}
