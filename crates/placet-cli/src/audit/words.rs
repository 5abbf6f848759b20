//! A journal row in words: who did what to which call.

use std::collections::BTreeSet;

use placet_core::call::ToolCall;
use placet_core::canonical;
use placet_core::ids::{InteractionId, PersonId};
use placet_core::interaction::{Action, Asked, Audience, Ballot, CallKey, Cancellation, Resolution, Subject};
use placet_core::journal::Event;
use placet_core::outcome::Outcome;
use placet_core::render::{SafeText, mask};
use placet_core::run::{ModelCall, ModelTurn};
use placet_store::View;
use serde_json::Value;

/// Longer arguments are cut in a line of a list; `show` has them all.
const CHARS_MAX: usize = 100;

/// The event in one safe line, secrets masked.
pub(super) fn sentence(view: &View<'_>, event: &Event) -> SafeText {
    SafeText::line(&words(view, event))
}

fn words(view: &View<'_>, event: &Event) -> String {
    let call_of = |key: &CallKey| call(view, key);
    match event {
        Event::CallReceived {
            call,
            verdict,
            outcome,
            ..
        } => {
            let agent = &call.origin.agent;
            let decision = verdict.decision.as_str();
            let fate = outcome
                .as_deref()
                .map_or(String::new(), |outcome| format!(", {}", fate(outcome)));
            format!(
                "agent {agent} wants {} ({}): {decision} by step {}{fate}",
                brief(call),
                call.id,
                verdict.step
            )
        }
        Event::Asked(asked) => format!(
            "{} asked about {}: {}, {} risk",
            audience(asked),
            subject(view, asked),
            asked.id,
            asked.risk.as_str()
        ),
        Event::Joined {
            call,
            same_as,
            interaction,
        } => {
            format!(
                "{} joins {}: the same call, one question {interaction}",
                call.call, same_as.call
            )
        }
        Event::Escalated { interaction, to } => {
            format!("{} also asked about {}", names(to), question(view, interaction))
        }
        Event::Voted { interaction, ballot } => {
            format!(
                "{} votes to approve {}{}",
                ballot.by,
                question(view, interaction),
                because(ballot)
            )
        }
        Event::Resolved {
            interaction,
            resolution,
        } => resolved(view, interaction, resolution),
        Event::Processed { interaction } => format!("the asker of {interaction} has been told"),
        Event::Settled { call, outcome, grant } => {
            let grant = grant.map_or(String::new(), |grant| format!(", grant {grant} issued"));
            format!("{}: {}{grant}", call_of(call), fate(outcome))
        }
        Event::Claimed { call, grant, .. } => format!("{} is about to run on grant {grant}", call_of(call)),
        Event::Finished { call, grant, result } => {
            let how = if result.ok { "ran" } else { "failed" };
            format!(
                "{} {how} on grant {grant}, {} bytes of output",
                call_of(call),
                result.bytes
            )
        }
        Event::LostTrack { call, grant } => format!(
            "{} may have run on grant {grant}: its process is gone",
            call_of(call)
        ),
        Event::StandingGiven(grant) => {
            format!(
                "{} says not to ask again until {}: {} ({})",
                grant.by,
                grant.ends_at,
                grant.scope.describe(),
                grant.id
            )
        }
        Event::StandingUsed { id, call } => format!("{} allowed by standing grant {id}", call_of(call)),
        Event::StandingRevoked { id, by } => format!("{by} revokes standing grant {id}"),
        Event::ToolAllowed { tool, by } => format!("{by} allows {tool} in this session"),
        Event::ModeSet { mode, by } => {
            let mode = serde_json::to_value(mode).unwrap_or_default();
            format!("{by} sets mode {}", mode.as_str().unwrap_or_default())
        }
        Event::SessionEnded { by } => format!("{by} ends the session"),
        Event::MessageQueued(message) => format!("a message of {} waits for the agent", message.sender_id),
        Event::RunStarted(run) => format!("the agent begins with {}: {}", run.model, brief_text(&run.task)),
        Event::UserSaid { text, by } => {
            let who = by.as_ref().map_or("somebody", PersonId::as_str);
            format!("{who} says to the agent: {}", brief_text(text))
        }
        Event::ModelTurn(turn) => model_turn(turn),
        Event::RunEnded { how } => how.to_string(),
        Event::Delivered {
            interaction,
            channel,
            chat,
            ..
        } => format!("{interaction} shown in {channel}:{chat}"),
        Event::Started { down_for, .. } => format!("placet started after {down_for}"),
    }
}

fn model_turn(turn: &ModelTurn) -> String {
    let calls: Vec<&str> = turn.calls.iter().map(ModelCall::tool).collect();
    match (brief_text(turn.text.trim()).as_str(), calls.is_empty()) {
        (text, true) => format!("the agent says: {text}"),
        ("", false) => format!("the agent wants {}", calls.join(", ")),
        (text, false) => format!("the agent wants {}: {text}", calls.join(", ")),
    }
}

fn resolved(view: &View<'_>, id: &InteractionId, resolution: &Resolution) -> String {
    let what = question(view, id);
    match resolution {
        Resolution::Answered { ballot, action, by } => {
            let everybody: BTreeSet<PersonId> = by.iter().chain([&ballot.by]).cloned().collect();
            let who = if *action == Action::ApproveAndExecute {
                names(&everybody)
            } else {
                ballot.by.to_string()
            };
            format!("{who} {} {what}{}", verb(*action), because(ballot))
        }
        Resolution::Expired { .. } => format!("nobody decided {what} in time"),
        Resolution::Cancelled { why } => match why {
            Cancellation::Withdrawn { by } => format!("{by} withdrew the question about {what}"),
            Cancellation::Terminated => format!("the question about {what} ended with the run"),
            Cancellation::Undeliverable { error } => format!("nobody could be asked about {what}: {error}"),
            Cancellation::ResultArrived => format!("the result of {what} arrived after all"),
        },
        Resolution::Superseded { by } => format!("{by} took the place of the question about {what}"),
    }
}

const fn verb(action: Action) -> &'static str {
    match action {
        Action::ApproveAndExecute => "approved",
        Action::RetryWithFeedback => "wants another try at",
        Action::RejectWithReason => "rejected",
        Action::Terminate => "ended the run at",
        Action::ProvideInfo => "gave information for",
        Action::Skip => "skipped",
        Action::Custom => "answered",
    }
}

fn because(ballot: &Ballot) -> String {
    ballot.feedback.as_deref().map_or(String::new(), |feedback| {
        format!(": {}", cut(&mask::text(feedback)))
    })
}

fn fate(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Approved { by, edited, .. } => {
            let by = names(&by.iter().cloned().collect());
            match edited {
                Some(args) => format!("approved by {by} as {}", args.canonical()),
                None => format!("approved by {by}"),
            }
        }
        Outcome::MayHaveRun { then } => format!("may have run; {}", fate(then)),
        Outcome::Rejected { by, .. } => format!("rejected by {by}"),
        Outcome::Terminated { by, .. } => format!("run ended by {by}"),
        Outcome::Denied { denial } => format!(
            "denied ({})",
            serde_json::to_value(denial)
                .ok()
                .and_then(|denial| Some(denial.get("because")?.as_str()?.to_owned()))
                .unwrap_or_default()
        ),
        other => other.status().as_str().to_owned(),
    }
}

fn audience(asked: &Asked) -> String {
    let who = match &asked.audience {
        Audience::Inbox => "the inbox is".to_owned(),
        Audience::People(people) if people.len() == 1 => format!("{} is", names(people)),
        Audience::People(people) => format!("{} are", names(people)),
    };
    if asked.quorum > 1 {
        format!("{who} (any {})", asked.quorum)
    } else {
        who
    }
}

/// What a question is about. A question that cannot be read is still named.
fn question(view: &View<'_>, id: &InteractionId) -> String {
    match view.interaction(id) {
        Ok(Some(interaction)) => subject(view, interaction.asked()),
        Ok(None) | Err(_) => id.to_string(),
    }
}

fn subject(view: &View<'_>, asked: &Asked) -> String {
    match &asked.subject {
        Subject::Call { call: key, .. } => call(view, key),
        Subject::UnknownOutcome { call: key, .. } => format!("the unknown outcome of {}", call(view, key)),
        Subject::Breaker { rejections, .. } => format!("going on after {rejections} rejections"),
        Subject::Request { agent, .. } => format!("the question {} of agent {agent}", asked.id),
    }
}

fn call(view: &View<'_>, key: &CallKey) -> String {
    match view.call(key) {
        Ok(Some(record)) => format!("{} ({})", brief(&record.call), key.call),
        Ok(None) | Err(_) => format!("call {} of agent {}", key.call, key.agent),
    }
}

/// The tool and its arguments: the only one as it is, several as JSON.
fn brief(call: &ToolCall) -> String {
    let masked = mask::json(call.args.as_value());
    let only = masked
        .as_object()
        .filter(|fields| fields.len() == 1)
        .and_then(|fields| fields.values().next()?.as_str());
    let text = only.map_or_else(|| canonical::to_string(&masked), str::to_owned);
    format!("{} `{}`", call.tool, cut(&text))
}

fn brief_text(text: &str) -> String {
    cut(&mask::text(text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!(
            "{}… ({} characters)",
            text.get(..end).unwrap_or_default(),
            text.chars().count()
        ),
    }
}

fn names(people: &BTreeSet<PersonId>) -> String {
    people.iter().map(PersonId::as_str).collect::<Vec<_>>().join(", ")
}

/// Every field of an event on a line of its own: `verdict.reason: …`. Safe, secrets masked.
pub(super) fn details(event: &Event) -> Vec<(SafeText, SafeText)> {
    let mut lines = Vec::new();
    let value = mask::json(&serde_json::to_value(event).unwrap_or_default());
    flatten("", &value, &mut lines);
    lines.retain(|(name, _)| name.as_str() != "type");
    lines
}

fn flatten(name: &str, value: &Value, lines: &mut Vec<(SafeText, SafeText)>) {
    let below = |key: &str| {
        if name.is_empty() {
            key.to_owned()
        } else {
            format!("{name}.{key}")
        }
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                flatten(&below(key), value, lines);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&below(&index.to_string()), item, lines);
            }
        }
        Value::String(text) => lines.push((SafeText::line(name), SafeText::code_line(text))),
        other => lines.push((SafeText::line(name), SafeText::code_line(&other.to_string()))),
    }
}
