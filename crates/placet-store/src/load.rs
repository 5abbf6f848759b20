//! Loads a snapshot: what decisions look at, all of one moment.

use std::collections::{BTreeMap, BTreeSet};

use placet_core::ids::SessionId;
use placet_core::journal::Event;
use placet_core::listing::JournalPage;
use placet_core::record::RunRecord;
use placet_core::snapshot::{Activity, Found, Need, Snapshot};

use crate::error::StoreError;
use crate::view::View;

/// What values are loaded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A decision: a commit will name the versions of their sessions.
    Deciding,
    /// No decision depends on them.
    Looking,
}

/// Loads the values of `needs`. One that cannot be read spoils no other: it is loaded as damaged, and the decision that looks
/// at it says what becomes of that.
pub(crate) fn load(view: &View<'_>, needs: BTreeSet<Need>, purpose: Purpose) -> Result<Snapshot, StoreError> {
    let mut snapshot = Snapshot::default();
    let mut versions = BTreeMap::new();
    for need in needs {
        let found = match value(view, &need) {
            Ok(found) => Ok(found),
            Err(StoreError::Corrupt { what }) => Err(what),
            Err(error) => return Err(error),
        };
        let of_value = found.as_ref().map_or(Vec::new(), Found::sessions);
        let sessions = need.session().into_iter().chain(of_value);
        for session in sessions.filter(|_| purpose == Purpose::Deciding) {
            if !versions.contains_key(session) {
                versions.insert(session.clone(), view.session_version(session)?);
            }
        }
        snapshot.insert(need, found);
    }
    for (session, version) in versions {
        snapshot.insert_version(session, version);
    }
    if purpose == Purpose::Deciding {
        snapshot.set_epoch(view.epoch()?);
    }
    Ok(snapshot)
}

fn value(view: &View<'_>, need: &Need) -> Result<Found, StoreError> {
    Ok(match need {
        Need::Session(id) => Found::Session(view.session(id)?),
        Need::Run(id) => Found::Run(run(view, id)?),
        Need::RunOwner(id) => Found::RunOwner(view.run_owner(id)?),
        Need::Descendants(id) => Found::Descendants(view.descendants(id)?),
        Need::RootOf(id) => Found::RootOf(view.root_of(id)?),
        Need::Activity(id) => Found::Activity(activity(view, id)?),
        Need::NextQueued(id) => Found::NextQueued(view.next_queued(id)?),
        Need::Call(key) => Found::Call(view.call(key)?),
        Need::CallHead(key) => Found::CallHead(view.call_head(key)?),
        Need::Surroundings(proposed) => Found::Surroundings(view.surroundings(proposed)?),
        Need::Interaction(id) => Found::Interaction(view.interaction(id)?),
        Need::PendingInSession(id) => Found::PendingInSession(view.pending_in_session(id)?),
        Need::PendingInChat(chat) => Found::PendingInChat(view.pending_in_chat(chat)?),
        Need::Copies(id) => Found::Copies(view.outbox_items(id)?),
        Need::OpenOfAgent(agent) => Found::OpenOfAgent(view.open_of_agent(agent)?),
        Need::OpenFor(person) => Found::OpenFor(view.open_for(person)?),
        Need::Seen(message) => Found::Seen(view.seen_inbound(&message.channel, &message.message_id)?),
        Need::Standing(id) => Found::Standing(view.standing_unrevoked(id)?),
        Need::Checkpoints(()) => Found::Checkpoints(view.checkpoints()?),
        Need::Counts(()) => Found::Counts(view.counts()?),
        Need::Head(()) => Found::Head(view.head()?),
        Need::Journal(page) => Found::Journal(view.journal(page)?),
        Need::JournalRaw(page) => Found::JournalRaw(view.journal_raw(page)?),
        Need::Workspace(()) => Found::Workspace(view.workspace()?),
        Need::SessionsBefore(part) => Found::SessionsBefore(view.sessions_before(part)?),
        Need::Span(id) => Found::Span(view.session_span(id)?),
        Need::CallsNamed(id) => Found::CallsNamed(view.calls_named(id)?),
        Need::CallsSince(wanted) => Found::CallsSince(view.calls_since(wanted)?),
        Need::ToolsUsed(()) => Found::ToolsUsed(view.tools_used()?),
        Need::ClaimedByProcess(now) => Found::ClaimedByProcess(view.claimed_by_process(*now)?),
        Need::Lease(name) => Found::Lease(view.lease(name)?),
        Need::LeasesOf(owner) => Found::LeasesOf(view.leases_of(&owner.0)?),
        Need::Shared(key) => Found::Shared(view.shared(key)?),
        Need::SharedOf(kind) => Found::SharedOf(view.shared_of(*kind)?),
        Need::AskedAt(id) => Found::AskedAt(view.asked_at(id)?),
        Need::QuestionsBefore(part) => Found::QuestionsBefore(view.questions_before(part)?),
        Need::History(page) => Found::History(view.history(page)?),
        Need::Insights(of) => Found::Insights(view.insights(of)?),
        Need::Comments(id) => Found::Comments(view.comments(id)?),
        Need::Devices(()) => Found::Devices(view.devices()?),
        Need::PushKey(()) => Found::PushKey(view.push_key()?),
        Need::QuestionLabels(id) => Found::QuestionLabels(view.question_labels(id)?),
        Need::QuestionsOf(wanted) => Found::QuestionsOf(view.questions_of(wanted)?),
        Need::SettledWithCode(code) => Found::SettledWithCode(view.settled_with_code(*code)?),
        Need::Pending(part) => Found::Pending(view.pending(part)?),
        Need::Due(by) => Found::Due(view.due(by)?),
        Need::NextDue(now) => Found::NextDue(view.next_due(*now)?),
        Need::Sendable(wanted) => Found::Sendable(view.sendable(wanted)?),
        Need::QueuedSessions(()) => Found::QueuedSessions(view.queued_sessions()?),
        Need::WroteIn(member) => Found::WroteIn(view.wrote_in(member)?),
        Need::AllStanding(now) => Found::AllStanding(view.all_standing(*now)?),
        Need::OpenRuns(()) => Found::OpenRuns(view.open_runs()?),
        Need::NewestRunOf(person) => Found::NewestRunOf(view.newest_run_of(person)?),
    })
}

fn run(view: &View<'_>, session: &SessionId) -> Result<Option<RunRecord>, StoreError> {
    let Some(head) = view.run(session)? else {
        return Ok(None);
    };
    let started = view.run_started(&head)?;
    Ok(Some(RunRecord {
        row: head.row,
        turns: head.turns,
        said: head.said,
        ended: head.ended.is_some(),
        interrupted: head.interrupted.is_some(),
        variables: view.run_variables(&head, &started)?,
        started,
    }))
}

/// How many rows of a session are looked at at once.
const PAGE: usize = 256;

/// Reads a session from its first row until it is clear that it was used; most are at their first call.
fn activity(view: &View<'_>, session: &SessionId) -> Result<Activity, StoreError> {
    let mut activity = Activity::None;
    let mut after = 0;
    loop {
        let page = view.journal(&JournalPage::of(session, after, PAGE))?;
        let Some(last) = page.last() else {
            return Ok(activity);
        };
        after = last.id;
        for row in page {
            let shows = match row.event {
                Event::MessageQueued(_) => Activity::Messages,
                Event::ModeSet { by, .. } | Event::ToolAllowed { by, .. } => Activity::SetUpBy(by),
                _ => Activity::Used,
            };
            if shows == Activity::Used || (activity != Activity::None && activity != shows) {
                return Ok(Activity::Used);
            }
            activity = shows;
        }
    }
}
