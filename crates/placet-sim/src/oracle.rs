//! The oracle: its own books of who truly did what when, and the promises checked against what was stored.
//!
//! It reads the journal's events, but believes none of them: every ballot must match something a person truly did in time,
//! every run must match a grant that the requirements of [`scene`](crate::scene) allow.

use std::collections::{BTreeMap, BTreeSet};

use placet_core::call::Args;
use placet_core::ids::{InteractionId, PersonId, SessionId};
use placet_core::interaction::{Action, Asked, Ballot, CallKey, Interaction, Resolution, Shown, Subject};
use placet_core::journal::Event;
use placet_core::listing::{Committed, JournalPage};
use placet_core::outcome::Outcome;
use placet_core::principal::Via;
use placet_core::record::{CallState, GrantState};
use placet_core::snapshot::{Snapshot, Undecided};
use placet_core::tool::Risk;
use placet_store::inline::InlineStore;

use crate::scene::{Kind, MEMORY, Needs, PAGE_ESCALATES_AFTER};

/// Something that truly happened: the world writes it down before anything else sees it.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Who it truly was.
    pub by: PersonId,
    /// How they came.
    pub via: Via,
    /// The question they meant; any of their chat's when absent.
    pub question: Option<InteractionId>,
    /// Whether what they did can be read as a yes.
    pub says_yes: bool,
    /// The arguments they wanted instead.
    pub edited: Option<Args>,
    /// When it truly was.
    pub live: i64,
    /// Whether they had seen everything.
    pub saw_everything: bool,
}

/// What the world says of a call.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// Its kind.
    pub kind: Kind,
    /// Its session.
    pub session: SessionId,
    /// Its arguments.
    pub args: Args,
    /// The person it works for.
    pub user: Option<PersonId>,
    /// Whether it came from a chat.
    pub in_chat: bool,
}

#[derive(Debug)]
struct Book {
    call: CallKey,
    since: i64,
    votes: BTreeSet<PersonId>,
    escalated: bool,
    resolved: u32,
    /// What an approval of this question lets run.
    args: Args,
    unknown_outcome: bool,
    risk: Risk,
}

/// What an approval let run, and how often.
#[derive(Debug)]
struct Grant {
    args: Args,
    runs: u32,
}

/// The books.
#[derive(Debug, Default)]
pub struct Oracle {
    calls: BTreeMap<CallKey, Proposal>,
    attempts: Vec<Attempt>,
    books: BTreeMap<InteractionId, Book>,
    grants: BTreeMap<(CallKey, u32), Grant>,
    ended: BTreeSet<SessionId>,
    remembered: BTreeMap<(SessionId, String, String), i64>,
    /// What the approval of a call may cover: the arguments asked about, or those the approver wrote.
    approved_now: BTreeMap<CallKey, Vec<Args>>,
    /// Acknowledged to a caller: may never be lost again.
    acknowledged: Vec<Acknowledged>,
    read_up_to: u64,
}

/// Something that was acknowledged.
#[derive(Debug, Clone)]
pub enum Acknowledged {
    /// A call was received.
    Received(CallKey),
    /// A question was put.
    Asked(InteractionId),
    /// A vote was counted.
    Voted(InteractionId, PersonId),
    /// A question was settled.
    Settled(InteractionId),
    /// A grant was claimed.
    Claimed(CallKey, u32),
    /// A result was recorded.
    Finished(CallKey, u32),
}

type Check = Result<(), String>;

macro_rules! promise {
    ($number:literal, $holds:expr, $($said:tt)+) => {
        if !$holds {
            return Err(format!("promise {}: {}", $number, format!($($said)+)));
        }
    };
}

impl Oracle {
    /// An agent truly proposes.
    pub fn proposes(&mut self, key: CallKey, proposal: Proposal) {
        self.calls.entry(key).or_insert(proposal);
    }

    /// The first dispatch was lost with its process, and this is what truly came first.
    pub fn corrects(&mut self, key: CallKey, proposal: Proposal) {
        self.calls.insert(key, proposal);
    }

    /// A person truly does something.
    pub fn attempts(&mut self, attempt: Attempt) {
        self.attempts.push(attempt);
    }

    /// A person was told.
    pub fn acknowledge(&mut self, what: Acknowledged) {
        self.acknowledged.push(what);
    }

    /// A call truly runs.
    pub fn runs(&mut self, key: &CallKey, grant: u32, args: &Args) -> Check {
        let call = self.call(key)?;
        promise!(
            1,
            !self.ended.contains(&call.session),
            "{key:?} ran after its session was ended"
        );
        let read_only = call.kind.read_only;
        let Some(granted) = self.grants.get_mut(&(key.clone(), grant)) else {
            return Err(format!(
                "promise 1: {key:?} ran under grant {grant}, which was never given"
            ));
        };
        granted.runs += 1;
        promise!(
            1,
            granted.args == *args,
            "{key:?} ran with {args:?}, allowed was {:?}",
            granted.args
        );
        promise!(
            2,
            granted.runs == 1,
            "{key:?} ran {} times under grant {grant} (read only: {read_only})",
            granted.runs
        );
        Ok(())
    }

    fn call(&self, key: &CallKey) -> Result<&Proposal, String> {
        self.calls
            .get(key)
            .ok_or_else(|| format!("promise 5: {key:?} was never proposed"))
    }

    /// Reads what is new in the journal.
    pub fn reads(&mut self, store: &InlineStore, live: i64) -> Check {
        loop {
            let page = JournalPage::of_all(self.read_up_to, 256);
            let rows = store
                .look(|stored| stored.journal(&page).cloned())
                .map_err(|error| error.to_string())?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows {
                self.read_up_to = row.id;
                self.read(&row, live)?;
            }
        }
    }

    /// After a crash the journal may be shorter than what was read, but never than what was acknowledged.
    pub fn rewinds(&mut self, head: u64) {
        self.read_up_to = self.read_up_to.min(head);
    }

    fn read(&mut self, row: &Committed, live: i64) -> Check {
        match &row.event {
            Event::CallReceived { call, outcome, .. } => {
                let key = CallKey {
                    agent: call.origin.agent.clone(),
                    call: call.id.clone(),
                };
                let known = self.call(&key)?;
                promise!(
                    1,
                    known.args == call.args,
                    "{key:?} is stored with other arguments than proposed"
                );
                if outcome.as_deref() == Some(&Outcome::Allowed) {
                    self.allowed(&key, row.at.as_millis())?;
                }
                Ok(())
            }
            Event::Asked(asked) => self.asked(asked, live),
            Event::Escalated { interaction, .. } => {
                let book = self.book(interaction)?;
                promise!(
                    4,
                    live - book.since >= PAGE_ESCALATES_AFTER,
                    "{interaction} was escalated too early"
                );
                book.escalated = true;
                Ok(())
            }
            Event::Voted { interaction, ballot } => {
                self.ballot(interaction, ballot, true)?;
                self.book(interaction)?.votes.insert(ballot.by.clone());
                Ok(())
            }
            Event::Resolved {
                interaction,
                resolution,
            } => self.resolved(interaction, resolution, live),
            Event::Settled { call, outcome, grant } => self.settled(row, call, outcome, *grant),
            Event::SessionEnded { .. } => {
                self.ended.insert(row.session.clone());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn book(&mut self, id: &InteractionId) -> Result<&mut Book, String> {
        self.books
            .get_mut(id)
            .ok_or_else(|| format!("promise 3: {id} was never asked"))
    }

    /// Policy allowed it: it needs no approval, or the same was approved here a moment ago.
    fn allowed(&mut self, key: &CallKey, wall: i64) -> Check {
        let call = self.call(key)?.clone();
        let place = (
            call.session.clone(),
            call.kind.tool.to_owned(),
            call.args.canonical(),
        );
        let remembered =
            call.kind.remembered && self.remembered.get(&place).is_some_and(|until| wall < *until);
        promise!(
            1,
            call.kind.needs == Needs::Nothing || remembered,
            "{key:?} ({}) was allowed without a person",
            call.kind.tool
        );
        self.grants.insert(
            (key.clone(), 1),
            Grant {
                args: call.args,
                runs: 0,
            },
        );
        Ok(())
    }

    fn asked(&mut self, asked: &Asked, live: i64) -> Check {
        let (key, unknown_outcome, edited) = match &asked.subject {
            Subject::Call { call, edited, .. } => {
                (call, false, edited.as_ref().map(|edited| edited.args.clone()))
            }
            Subject::UnknownOutcome { call, edited, .. } => (call, true, edited.as_deref().cloned()),
            Subject::Breaker { call, .. } => (call, false, None),
            Subject::Request { .. } => return Ok(()),
        };
        let call = self.call(key)?.clone();
        promise!(
            1,
            call.kind.needs != Needs::Never,
            "{key:?} is forbidden and was asked about"
        );
        if let Some(args) = &edited {
            let by_somebody = self
                .attempts
                .iter()
                .any(|attempt| attempt.edited.as_ref() == Some(args));
            promise!(
                1,
                by_somebody,
                "{} is about arguments that were never written: {args:?}",
                asked.id
            );
        }
        let args = edited.unwrap_or(call.args);
        let book = Book {
            call: key.clone(),
            since: live,
            votes: BTreeSet::new(),
            escalated: false,
            resolved: 0,
            args,
            unknown_outcome,
            risk: asked.risk,
        };
        promise!(
            3,
            self.books.insert(asked.id.clone(), book).is_none(),
            "{} was asked twice",
            asked.id
        );
        Ok(())
    }

    /// A stored ballot must be something an eligible person truly did, in time, and having seen it.
    fn ballot(&mut self, id: &InteractionId, ballot: &Ballot, approves: bool) -> Check {
        let book = self
            .books
            .get(id)
            .ok_or_else(|| format!("promise 3: {id} was never asked"))?;
        let call = self.call(&book.call)?;
        let closes = if book.unknown_outcome {
            24 * 3_600_000
        } else {
            call.kind.timeout
        };
        let truly = self.attempts.iter().filter(|attempt| {
            // An edit answers the question it was made on, and proposes the one that follows from it.
            let meant = attempt.question.as_ref().is_none_or(|question| question == id)
                || attempt.edited.as_ref() == Some(&book.args);
            attempt.by == ballot.by && attempt.via == ballot.via && meant && (!approves || attempt.says_yes)
        });
        let mut in_time = truly
            .filter(|attempt| book.since <= attempt.live && attempt.live < book.since + closes)
            .peekable();
        promise!(
            3,
            in_time.peek().is_some(),
            "{} never gave this answer to {id} in time: {ballot:?}",
            ballot.by
        );
        let eligible = match call.kind.needs {
            Needs::Nothing | Needs::OwnUser => is_own_user(call, book.risk, ballot),
            Needs::TwoOfOps => ["ana", "bo", "cy"].contains(&ballot.by.as_str()),
            Needs::AnaThenBo => ballot.by.as_str() == "ana" || (book.escalated && ballot.by.as_str() == "bo"),
            Needs::Never => false,
        };
        promise!(
            4,
            eligible,
            "{} may not answer {id} about {}",
            ballot.by,
            call.kind.tool
        );
        if approves && (call.kind.tool == "launch" || book.unknown_outcome) {
            promise!(
                4,
                in_time.any(|attempt| attempt.saw_everything),
                "{} approved {id} without having seen it whole",
                ballot.by
            );
            promise!(
                4,
                !matches!(ballot.shown, Shown::Part(_)),
                "{id} is HIGH and was approved from a part"
            );
        }
        Ok(())
    }

    fn resolved(&mut self, id: &InteractionId, resolution: &Resolution, live: i64) -> Check {
        let book = self.book(id)?;
        book.resolved += 1;
        promise!(3, book.resolved == 1, "{id} was settled twice");
        let (key, unknown_outcome, since) = (book.call.clone(), book.unknown_outcome, book.since);
        match resolution {
            Resolution::Answered { ballot, action, by } => {
                let approves = *action == Action::ApproveAndExecute;
                self.ballot(id, ballot, approves)?;
                if approves {
                    self.quorum(id, ballot, by)?;
                }
            }
            Resolution::Expired { .. } => {
                let timeout = if unknown_outcome {
                    24 * 3_600_000
                } else {
                    self.call(&key)?.kind.timeout
                };
                promise!(
                    3,
                    live >= since + timeout,
                    "{id} expired {} ms early",
                    since + timeout - live
                );
            }
            Resolution::Cancelled { .. } | Resolution::Superseded { .. } => {}
        }
        Ok(())
    }

    fn quorum(&mut self, id: &InteractionId, ballot: &Ballot, by: &[PersonId]) -> Check {
        let book = self.books.get(id).ok_or("no book")?;
        let call = self.call(&book.call)?;
        let mut people = book.votes.clone();
        people.insert(ballot.by.clone());
        promise!(
            4,
            book.risk < Risk::High || people.iter().all(PersonId::is_configured),
            "{id} is HIGH, and an account in no `[[people]]` approved it: {people:?}"
        );
        promise!(
            4,
            people == by.iter().cloned().collect(),
            "{id} names {by:?} as deciders, true were {people:?}"
        );
        if call.kind.needs == Needs::TwoOfOps {
            if let Some(user) = &call.user {
                people.remove(user);
            }
            promise!(
                4,
                people.len() >= 2,
                "{id} needs two people who did not ask for it, has {people:?}"
            );
        }
        // What the approval covers: the question's arguments, or those the approver truly wrote. Answers race each other, so
        // every answer that says yes counts, whichever was committed.
        let (key, args) = (book.call.clone(), &book.args);
        let given = self.attempts.iter().filter(|attempt| {
            let meant = attempt.question.as_ref().is_none_or(|question| question == id);
            attempt.by == ballot.by && attempt.via == ballot.via && meant && attempt.says_yes
        });
        let covered = given.map(|attempt| attempt.edited.as_ref().unwrap_or(args).clone());
        self.approved_now.insert(key, covered.collect());
        Ok(())
    }

    fn settled(&mut self, row: &Committed, key: &CallKey, outcome: &Outcome, grant: Option<u32>) -> Check {
        let call = self.call(key)?.clone();
        let number = match (outcome.permits(), grant) {
            (true, Some(number)) => number,
            (false, None) => return Ok(()),
            _ => {
                return Err(format!(
                    "promise 1: {key:?} has outcome {outcome:?} and grant {grant:?}"
                ));
            }
        };
        let args = match outcome {
            Outcome::Allowed => {
                promise!(2, call.kind.read_only, "{key:?} was granted again without asking");
                call.args.clone()
            }
            Outcome::Approved {
                edited,
                remembered_until,
                ..
            } => {
                let approved = self.approved_now.remove(key);
                let args = edited.clone().unwrap_or_else(|| call.args.clone());
                let again = call.kind.read_only && number > 1;
                promise!(
                    1,
                    again || approved.as_ref().is_some_and(|covered| covered.contains(&args)),
                    "{key:?} may run {args:?}, approved was {approved:?}"
                );
                if remembered_until.is_some() {
                    promise!(
                        1,
                        call.kind.remembered,
                        "{key:?} is HIGH or ruled and was remembered"
                    );
                    let place = (call.session.clone(), call.kind.tool.to_owned(), args.canonical());
                    self.remembered.insert(place, row.at.as_millis() + MEMORY);
                }
                args
            }
            _ => return Err(format!("promise 1: {outcome:?} permits nothing")),
        };
        let before = self.grants.insert((key.clone(), number), Grant { args, runs: 0 });
        promise!(2, before.is_none(), "grant {number} of {key:?} was given twice");
        Ok(())
    }

    /// Whatever was acknowledged is still there.
    pub fn remembers(&self, store: &InlineStore) -> Check {
        for what in &self.acknowledged {
            let kept = store
                .look(|stored| still_there(stored, what))
                .map_err(|error| error.to_string())?;
            promise!(3, kept, "acknowledged, and lost: {what:?}");
        }
        Ok(())
    }
}

fn is_own_user(call: &Proposal, risk: Risk, ballot: &Ballot) -> bool {
    let of_inbox = ballot.via == Via::Inbox || ballot.by.is_configured();
    match (&call.user, call.in_chat) {
        // HIGH is not for an account in no `[[people]]`.
        (Some(user), true) if risk == Risk::High && !user.is_configured() => of_inbox,
        (Some(user), true) => ballot.by == *user,
        (None, true) => false,
        (Some(user), false) if user.is_configured() => ballot.by == *user,
        (_, false) => of_inbox,
    }
}

fn still_there(stored: &Snapshot, what: &Acknowledged) -> Result<bool, Undecided> {
    let grant = |key: &CallKey, number: u32, fits: fn(&GrantState) -> bool| {
        Ok::<_, Undecided>(
            stored
                .call(key)?
                .as_ref()
                .is_some_and(|record| match &record.state {
                    CallState::Granted { grant, .. } if grant.number == number => fits(&grant.state),
                    // Asked back, or granted again, since: the earlier grant is history.
                    _ => record.grants >= number,
                }),
        )
    };
    Ok(match what {
        Acknowledged::Received(key) => stored.call(key)?.is_some(),
        Acknowledged::Asked(id) => stored.interaction(id)?.is_some(),
        Acknowledged::Voted(id, person) => match stored.interaction(id)? {
            Some(Interaction::Pending(pending)) => pending.votes.contains_key(person),
            other => other.is_some(),
        },
        Acknowledged::Settled(id) => !matches!(stored.interaction(id)?, None | Some(Interaction::Pending(_))),
        Acknowledged::Claimed(key, number) => grant(key, *number, |state| *state != GrantState::Issued)?,
        Acknowledged::Finished(key, number) => {
            grant(key, *number, |state| matches!(state, GrantState::Done(_)))?
        }
    })
}
