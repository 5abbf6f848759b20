//! The journal in words: who did what to which call, one safe sentence a row.

use std::collections::BTreeSet;

use placet_core::call::{Args, ToolCall};
use placet_core::canonical;
use placet_core::findings::Findings;
use placet_core::ids::{InteractionId, PersonId, ToolName};
use placet_core::interaction::{Asked, Audience, Ballot, CallKey, Locale, Subject};
use placet_core::journal::Event;
use placet_core::messages::{self, Explain as _, Message, audit, workflow};
use placet_core::outcome::Outcome;
use placet_core::record::{CallRecord, CallState};
use placet_core::render::{SafeText, mask};
use placet_core::run::ModelCall;
use placet_core::snapshot::Snapshot;
use placet_core::steps;
use placet_core::time::Timestamp;
use placet_core::verdict::{Decision, Verdict};

mod endings;
mod gist;

/// 2020: an outage that begins before is the clock of an older version, which did not read wall time.
const FIRST_WALL_TIME: Timestamp = Timestamp::from_millis(1_577_836_800_000);

/// The event in one safe line, secrets masked.
pub fn sentence(stored: &Snapshot, event: &Event, locale: Locale) -> SafeText {
    let message = Teller { stored, locale }.message(event);
    SafeText::line(&message.map_or_else(String::new, |message| message.say(locale)))
}

/// The arguments that approvers changed a call to, in the row that says so; secrets masked.
pub fn edited(event: &Event) -> Option<String> {
    let Event::Settled { outcome, .. } = event else {
        return None;
    };
    let mut outcome = outcome.as_ref();
    while let Outcome::MayHaveRun { then } = outcome {
        outcome = then.as_ref();
    }
    match outcome {
        Outcome::Approved {
            edited: Some(args), ..
        } => Some(canonical::to_string(&mask::json(args.as_value()))),
        _ => None,
    }
}

/// A call in a few words, secrets masked.
pub fn call(tool: &ToolName, args: &Args) -> String {
    gist::call(tool, args, None, Locale::English)
}

struct Teller<'s> {
    stored: &'s Snapshot,
    locale: Locale,
}

impl Teller<'_> {
    fn message(&self, event: &Event) -> Option<Message> {
        let message = match event {
            Event::CallReceived {
                call,
                verdict,
                findings,
                outcome,
                ..
            } => {
                let findings = findings.as_ref().and_then(|stored| stored.read(&call.args).ok());
                self.received(call, verdict, findings.as_ref(), outcome.as_deref())
            }
            Event::Asked(asked) => self.asked(asked),
            Event::Joined {
                call,
                same_as,
                interaction,
            } => audit::joined(&call.call, &same_as.call, interaction),
            Event::Escalated { interaction, to } => {
                audit::escalated(self.question(interaction), self.names(to))
            }
            Event::Voted { interaction, ballot } => match note(ballot) {
                Some(note) => audit::voted_because(&ballot.by, note, self.question(interaction)),
                None => audit::voted(&ballot.by, self.question(interaction)),
            },
            Event::Commented {
                interaction,
                by,
                text,
            } => audit::commented(by, gist::text(text), self.question(interaction)),
            Event::Resolved {
                interaction,
                resolution,
            } => self.resolved(interaction, resolution),
            Event::Processed { interaction } => audit::processed(interaction),
            Event::Delivered {
                interaction,
                channel,
                chat,
                ..
            } => audit::delivered(channel, chat, interaction),
            Event::Settled { .. }
            | Event::Claimed { .. }
            | Event::Finished { .. }
            | Event::LostTrack { .. } => return self.run(event),
            Event::StandingGiven(_) | Event::StandingUsed { .. } | Event::StandingRevoked { .. } => {
                return self.standing(event);
            }
            Event::ToolAllowed { .. }
            | Event::ModeSet { .. }
            | Event::SessionEnded { .. }
            | Event::MessageQueued(_)
            | Event::Outage { .. }
            | Event::Started { .. } => return around(event),
            Event::RunStarted(_)
            | Event::UserSaid { .. }
            | Event::ModelTurn(_)
            | Event::RunInterrupted { .. }
            | Event::VariablesChanged { .. }
            | Event::RunEnded { .. } => return self.conversation(event),
        };
        Some(message)
    }

    fn received(
        &self,
        call: &ToolCall,
        verdict: &Verdict,
        findings: Option<&Findings>,
        outcome: Option<&Outcome>,
    ) -> Message {
        let gist = gist::call(&call.tool, &call.args, findings, self.locale);
        let what = audit::call(gist, &call.id).say(self.locale);
        let step = verdict.step.message();
        let judged = match verdict.decision {
            Decision::Allow => audit::allowed(step),
            Decision::Ask(_) => audit::needs_approval(step),
            Decision::Deny => audit::denied(step),
        };
        let agent = &call.origin.agent;
        match outcome {
            Some(outcome) => audit::received_and(agent, self.fate(&call.tool, outcome), judged, what),
            None => audit::received(agent, judged, what),
        }
    }

    fn asked(&self, asked: &Asked) -> Message {
        let who = match &asked.audience {
            Audience::Inbox => audit::the_inbox().say(self.locale),
            Audience::People(people) => self.names(people),
        };
        let (id, risk, what) = (&asked.id, asked.risk.label(self.locale), self.subject(asked));
        match asked.quorum {
            0 | 1 => audit::asked(id, risk, what, who),
            quorum => audit::asked_several(id, quorum, risk, what, who),
        }
    }

    /// From the outcome of a call to its result.
    fn run(&self, event: &Event) -> Option<Message> {
        Some(match event {
            Event::Settled { call, outcome, .. } => {
                let record = self.stored.call(call).ok().and_then(Option::as_ref);
                let tool = record.map(|record| &record.call.tool);
                audit::settled(
                    tool.map_or_else(|| endings::outcome(outcome), |tool| self.fate(tool, outcome)),
                    self.call(call),
                )
            }
            Event::Claimed { call, .. } => audit::claimed(self.granted(call)),
            Event::Finished { call, result, .. } if result.ok => audit::ran(result.bytes, self.granted(call)),
            Event::Finished { call, result, .. } => audit::failed(result.bytes, self.granted(call)),
            Event::LostTrack { call, .. } => audit::lost_track(self.granted(call)),
            _ => return None,
        })
    }

    fn standing(&self, event: &Event) -> Option<Message> {
        Some(match event {
            Event::StandingGiven(grant) => {
                let what = grant.scope.describe_in(self.locale);
                audit::standing_given(&grant.by, &grant.id, grant.ends_at, what)
            }
            Event::StandingUsed { id, call } => audit::standing_used(id, self.call(call)),
            Event::StandingRevoked { id, by } => audit::standing_revoked(by, id),
            _ => return None,
        })
    }

    /// What the built-in agent and its people say.
    fn conversation(&self, event: &Event) -> Option<Message> {
        Some(match event {
            Event::RunStarted(run) => audit::run_started(&run.model, gist::text(&run.task)),
            Event::UserSaid { text, by } => {
                let unknown = || audit::unknown_person().say(self.locale);
                let who = by.as_ref().map_or_else(unknown, ToString::to_string);
                audit::user_said(gist::text(text), who)
            }
            Event::ModelTurn(turn) => {
                let calls: Vec<&str> = turn.calls.iter().map(ModelCall::tool).collect();
                let (text, calls) = (gist::text(turn.text.trim()), calls.join(", "));
                match (text.is_empty(), calls.is_empty()) {
                    (_, true) => audit::model_said(text),
                    (true, false) => audit::model_wants(calls),
                    (false, false) => audit::model_says_and_wants(calls, text),
                }
            }
            Event::RunInterrupted { by } => audit::interrupted(by),
            Event::VariablesChanged {
                by, before, after, ..
            } => workflow::variables_changed(by, gist::changes(before, after)),
            Event::RunEnded { how } => how.message(),
            _ => return None,
        })
    }

    /// What a question is about. A question that cannot be read is still named.
    fn question(&self, id: &InteractionId) -> String {
        match self.stored.interaction(id) {
            Ok(Some(interaction)) => self.subject(interaction.asked()),
            Ok(None) | Err(_) => id.to_string(),
        }
    }

    fn subject(&self, asked: &Asked) -> String {
        match &asked.subject {
            Subject::Call { call, edited, .. } => {
                self.as_changed(call, edited.as_ref().map(|edited| &edited.args))
            }
            Subject::UnknownOutcome { call, edited, .. } => {
                audit::unknown_outcome(self.as_changed(call, edited.as_deref())).say(self.locale)
            }
            Subject::Breaker { rejections, .. } => audit::breaker(*rejections).say(self.locale),
            Subject::Request { agent, .. } => audit::agent_question(agent, &asked.id).say(self.locale),
        }
    }

    /// A call as its agent proposed it.
    fn call(&self, key: &CallKey) -> String {
        self.as_changed(key, None)
    }

    /// A call as an approver changed it, if one did.
    fn as_changed(&self, key: &CallKey, changed: Option<&Args>) -> String {
        match self.stored.call(key) {
            Ok(Some(record)) => self.told(record, changed),
            Ok(None) | Err(_) => self.unread(key),
        }
    }

    /// A call as it was granted: what ran, or may have run, is what people agreed to.
    fn granted(&self, key: &CallKey) -> String {
        match self.stored.call(key) {
            Ok(Some(record)) => self.told(record, self.granted_args(record).as_ref()),
            Ok(None) | Err(_) => self.unread(key),
        }
    }

    /// What people changed the arguments to before they agreed. They no longer change once a call may have run, so
    /// the question about that still has them.
    fn granted_args(&self, record: &CallRecord) -> Option<Args> {
        let asked_back = match &record.state {
            CallState::Granted {
                outcome: Outcome::Approved { edited, .. },
                ..
            } => return edited.clone(),
            CallState::Parked { on } => on,
            CallState::Refused {
                question: Some(question),
                ..
            } => question,
            CallState::Granted { .. } | CallState::Refused { .. } | CallState::SameAs(_) => return None,
        };
        match &self
            .stored
            .interaction(asked_back)
            .ok()?
            .as_ref()?
            .asked()
            .subject
        {
            Subject::UnknownOutcome { edited, .. } => edited.as_deref().cloned(),
            Subject::Call { .. } | Subject::Breaker { .. } | Subject::Request { .. } => None,
        }
    }

    fn unread(&self, key: &CallKey) -> String {
        audit::unread_call(&key.agent, &key.call).say(self.locale)
    }

    fn told(&self, record: &CallRecord, changed: Option<&Args>) -> String {
        let findings = match changed {
            Some(_) => None,
            None => steps::findings(record).ok().flatten(),
        };
        let args = changed.unwrap_or(&record.call.args);
        let gist = gist::call(&record.call.tool, args, findings.as_ref(), self.locale);
        audit::call(gist, &record.call.id).say(self.locale)
    }

    fn names(&self, people: &BTreeSet<PersonId>) -> String {
        let names: Vec<String> = people.iter().map(ToString::to_string).collect();
        messages::all_of(self.locale, &names)
    }
}

/// What concerns a whole session, or Placet itself.
fn around(event: &Event) -> Option<Message> {
    Some(match event {
        Event::ToolAllowed { tool, by } => audit::tool_allowed(by, tool),
        Event::ModeSet { mode, by } => {
            let mode = serde_json::to_value(mode).unwrap_or_default();
            audit::mode_set(by, mode.as_str().unwrap_or_default())
        }
        Event::SessionEnded { by } => audit::session_ended(by),
        Event::MessageQueued(message) => audit::message_queued(&message.sender_id),
        Event::Outage { from, .. } if *from < FIRST_WALL_TIME => audit::wall_time(),
        Event::Outage { from, until } if until < from => audit::clock_set_back(from.remaining_from(*until)),
        Event::Outage { from, until } => audit::outage(from, until.remaining_from(*from), until),
        Event::Started {
            down_for: Some(down_for),
            ..
        } => audit::started_after(*down_for),
        Event::Started { down_for: None, .. } => audit::started(),
        _ => return None,
    })
}

fn note(ballot: &Ballot) -> Option<String> {
    ballot.feedback.as_deref().map(gist::text)
}
