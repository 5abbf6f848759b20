//! Snapshots for tests of single steps, and what a step came to as text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::call::Origin;
use crate::ids::{AgentId, ChannelName, PersonId, SessionId};
use crate::journal::Event;
use crate::outgoing::Change;
use crate::record::{RunRecord, SessionRecord};
use crate::run::{Limits, RunStarted};
use crate::snapshot::{Activity, Found, Need, Snapshot};
use crate::step::{Decided, Stop};
use crate::time::Timestamp;

use super::RunHost;

pub(super) fn now() -> Timestamp {
    Timestamp::from_millis(1_000)
}

pub(super) fn person(name: &str) -> PersonId {
    PersonId::new(name).unwrap()
}

/// The session of the chat `room` on the channel `ops`.
pub(super) fn room() -> SessionId {
    SessionId::new("ops:room").unwrap()
}

/// A host in `/work` with the models `large` (the usual one) and `small`, which listens on `ops`.
pub(super) fn host() -> RunHost {
    RunHost {
        agent: AgentId::built_in(),
        workspace: "/work".into(),
        models: BTreeSet::from(["large".into(), "small".into()]),
        usual_model: "large".into(),
        limits: Limits::USUAL,
        channels: BTreeSet::from([ChannelName::new("ops").unwrap()]),
    }
}

/// A session in which nothing has happened.
pub(super) fn fresh() -> Snapshot {
    let mut snapshot = Snapshot::default();
    for (need, found) in [
        (Need::Session(room()), Found::Session(SessionRecord::new(room()))),
        (Need::Run(room()), Found::Run(None)),
        (Need::RunOwner(room()), Found::RunOwner(None)),
        (Need::Activity(room()), Found::Activity(Activity::None)),
        (Need::Descendants(room()), Found::Descendants(Vec::new())),
        (
            Need::PendingInSession(room()),
            Found::PendingInSession(Vec::new()),
        ),
    ] {
        snapshot.insert(need, Ok(found));
    }
    snapshot
}

/// A session with an open run that lin began in `/work` with the model `large`; `differs` changes how it began.
pub(super) fn running(differs: impl FnOnce(&mut RunStarted)) -> Snapshot {
    let mut started = RunStarted {
        task: "tidy up".into(),
        model: "large".into(),
        limits: Limits::USUAL,
        origin: Origin {
            agent: AgentId::built_in(),
            agent_path: Vec::new(),
            chat: None,
            user: Some(person("lin")),
        },
        workspace: Some("/work".into()),
        parent: None,
        until: None,
        workflow: None,
    };
    differs(&mut started);
    let run = RunRecord {
        row: 1,
        turns: 0,
        said: 0,
        ended: false,
        interrupted: false,
        started,
        variables: crate::variables::Variables::new(),
    };
    let mut snapshot = fresh();
    for (need, found) in [
        (Need::Run(room()), Found::Run(Some(run))),
        (Need::RunOwner(room()), Found::RunOwner(Some(person("lin")))),
        (Need::Activity(room()), Found::Activity(Activity::Used)),
    ] {
        snapshot.insert(need, Ok(found));
    }
    snapshot
}

/// The same session, changed.
pub(super) fn session(mut snapshot: Snapshot, change: impl FnOnce(&mut SessionRecord)) -> Snapshot {
    let mut record = SessionRecord::new(room());
    change(&mut record);
    snapshot.insert(Need::Session(room()), Ok(Found::Session(record)));
    snapshot
}

/// What a step came to: a line for its answer or refusal, one per event and one per change.
pub(super) fn outcome<T: std::fmt::Debug, E: std::fmt::Debug>(decided: Decided<T, E>) -> String {
    let step = match decided {
        Ok(step) => step,
        Err(Stop::Refused(refusal)) => return format!("refused: {refusal:?}\n"),
        Err(Stop::Undecided(undecided)) => return format!("undecided: {undecided:?}\n"),
    };
    let mut lines = format!("{:?}\n", step.value);
    for (_, event) in &step.events {
        let _ = match event {
            Event::RunStarted(run) => writeln!(
                lines,
                "RunStarted {} with {} in {:?}, {} turns",
                run.task, run.model, run.workspace, run.limits.turns_max
            ),
            event => writeln!(lines, "{event:?}"),
        };
    }
    for change in &step.changes {
        let _ = match change {
            Change::Enqueue(message) => writeln!(lines, "says: {}", message.body),
            change => writeln!(lines, "{change:?}"),
        };
    }
    lines
}
