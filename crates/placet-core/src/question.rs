//! A question as a surface gets it: its state, the call it is about, and what that call was found to do.
//!
//! Everything a person is shown follows from this value alone, so a terminal in another process shows the same page.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::call::Args;
use crate::findings::{Findings, Judgement};
use crate::ids::PersonId;
use crate::interaction::{Asked, Edited, Interaction, Locale, Resolution, Subject};
use crate::messages::request;
use crate::outcome::Outcome;
use crate::record::{CallRecord, CallState};
use crate::render::{self, Block, Document, QuestionView, SafeText, mask};
use crate::snapshot::Undecided;
use crate::steps;
use crate::time::Timestamp;
use crate::tool::Risk;
use crate::verdict::Verdict;

/// A question with everything needed to show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The question and its state.
    pub interaction: Interaction,
    /// The call it is about.
    pub call: Option<CallRecord>,
    /// What that call would do, as it was found when it was proposed. Absent when an older version asked.
    pub findings: Option<Findings>,
    /// When this was looked up.
    pub now: Timestamp,
}

/// A question in the words of the interaction document.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    /// A few words.
    pub title: SafeText,
    /// The question.
    pub message: SafeText,
    /// Everything else a person must see before they answer.
    pub details: Option<SafeText>,
    /// Data beside it, secrets masked.
    pub context: Map<String, Value>,
}

impl Question {
    /// A question as it was read from the store at `now`.
    pub fn new(
        interaction: Interaction,
        call: Option<CallRecord>,
        now: Timestamp,
    ) -> Result<Self, Undecided> {
        let mut question = Self {
            interaction,
            call,
            findings: None,
            now,
        };
        question.findings = match (question.edited(), &question.call) {
            (Some(edited), _) => edited.judgement.map(|judgement| judgement.findings.clone()),
            (None, Some(record)) => steps::findings(record)?,
            (None, None) => None,
        };
        Ok(question)
    }

    /// What a person changed the call to: before this question, or with the answer to it.
    fn edited(&self) -> Option<Change<'_>> {
        let asked = self.interaction.asked();
        if let Some(args) = asked.edited_args() {
            return Some(Change {
                args,
                judgement: asked.judgement(),
                by: None,
            });
        }
        let CallState::Granted {
            outcome: outcome @ Outcome::Approved { edited, .. },
            question: Some(answered),
            ..
        } = &self.call.as_ref()?.state
        else {
            return None;
        };
        let by = match &self.interaction {
            Interaction::Resolved(resolved) | Interaction::Processed(resolved) => {
                match &resolved.resolution {
                    Resolution::Answered { ballot, .. } => Some(&ballot.by),
                    _ => None,
                }
            }
            Interaction::Pending(_) => None,
        };
        let args = edited.as_ref().filter(|_| *answered == asked.id)?;
        Some(Change {
            args,
            judgement: outcome.judgement(),
            by,
        })
    }

    /// The arguments it is about: a person's, when a person changed them.
    pub fn args(&self) -> Option<&Args> {
        let edited = self.edited().map(|edited| edited.args);
        edited.or_else(|| Some(&self.call.as_ref()?.call.args))
    }

    /// What policy said about them.
    pub fn verdict(&self) -> Option<&Verdict> {
        let edited = self.edited().and_then(|edited| edited.judgement);
        let edited = edited.map(|judgement| &judgement.verdict);
        edited.or_else(|| Some(&self.call.as_ref()?.verdict))
    }

    /// The risk to show: of the call; once it is answered, of what may run; of an agent's own question what the agent says.
    pub fn risk(&self) -> Option<Risk> {
        let asked = self.interaction.asked();
        match self.edited() {
            Some(Change {
                judgement: Some(judgement),
                by: Some(_),
                ..
            }) => Some(judgement.verdict.risk),
            _ => asked.stated_risk(),
        }
    }

    /// The question as it is shown: once it is answered with other arguments, those, beside what they were.
    fn shown(&self) -> Cow<'_, Asked> {
        let asked = self.interaction.asked();
        let Some(Change {
            args,
            judgement,
            by: Some(by),
        }) = self.edited()
        else {
            return Cow::Borrowed(asked);
        };
        let mut shown = asked.clone();
        shown.risk = self.risk().unwrap_or(shown.risk);
        if let Subject::Call { edited, .. } = &mut shown.subject {
            *edited = Some(Box::new(Edited {
                by: by.clone(),
                args: args.clone(),
                judgement: judgement.cloned().map(Box::new),
            }));
        }
        Cow::Owned(shown)
    }

    /// What would happen, in one line: the title of the question.
    pub fn gist(&self, locale: Locale) -> SafeText {
        let document = self.document(locale);
        let heading = document.blocks().find_map(|block| match block {
            Block::Heading { text, .. } => Some(text.clone()),
            _ => None,
        });
        heading.unwrap_or_else(|| SafeText::line(""))
    }

    /// What became of it, as a document; nothing while it is pending.
    pub fn decided(&self, locale: Locale) -> Option<Document> {
        let (Interaction::Resolved(resolved) | Interaction::Processed(resolved)) = &self.interaction else {
            return None;
        };
        let before = self.call.as_ref().map(|record| &record.call.args);
        let change = self.edited().zip(before);
        let change = change.map(|(edited, before)| (before, edited.args));
        Some(render::decided(resolved, change, locale))
    }

    /// Everything a person must see, safe to show.
    pub fn document(&self, locale: Locale) -> Document {
        let asked = &self.shown();
        let votes = match &self.interaction {
            Interaction::Pending(pending) => pending.votes.keys().cloned().collect(),
            Interaction::Resolved(_) | Interaction::Processed(_) => Vec::new(),
        };
        // A call that exists to ask is nothing beside its question.
        let asks = matches!(asked.subject, Subject::Request { .. });
        let about = self.call.as_ref().filter(|_| !asks);
        render::question(
            &QuestionView {
                asked,
                call: about.map(|record| &record.call),
                verdict: about.and_then(|_| self.verdict()),
                findings: self.findings.as_ref().filter(|_| about.is_some()),
                remaining: asked.deadline.remaining_from(self.now),
                votes_so_far: &votes,
            },
            locale,
        )
    }

    /// The question in the words of the interaction document. An agent's own question says them itself; for a call they are made from what
    /// people are shown.
    pub fn words(&self, locale: Locale) -> Words {
        let asked = self.interaction.asked();
        let title = match &asked.subject {
            Subject::Request { request, .. } => {
                return Words {
                    title: SafeText::line(&request.title),
                    message: SafeText::block(&request.message),
                    details: request.details.as_deref().map(SafeText::block),
                    context: masked(&Value::Object(request.context.clone())),
                };
            }
            Subject::Call { .. } => request::title_call(),
            Subject::UnknownOutcome { .. } => request::title_unknown(),
            Subject::Breaker { .. } => request::title_breaker(),
        };
        let document = self.document(locale);
        Words {
            title: SafeText::line(&title.say(locale)),
            message: self.gist(locale),
            details: Some(render::details(&document)),
            context: self.context(),
        }
    }

    /// The call as data: the names of the workflow document.
    fn context(&self) -> Map<String, Value> {
        let (Some(record), Some(args)) = (&self.call, self.args()) else {
            return Map::new();
        };
        let call = &record.call;
        masked(&json!({
            "callId": call.id,
            "toolName": call.tool,
            "toolDescription": self.interaction.asked().tool_description,
            "toolParameters": args.as_value(),
            "category": self.verdict().map(|verdict| verdict.category),
            "risk": self.risk(),
            "purpose": call.description,
            "group": call.group,
        }))
    }
}

/// Without what is not known, and with secrets masked.
fn masked(context: &Value) -> Map<String, Value> {
    let mut context = match mask::json(context) {
        Value::Object(context) => context,
        _ => Map::new(),
    };
    context.retain(|_, value| !value.is_null());
    context
}

/// What a person changed a call to.
struct Change<'a> {
    args: &'a Args,
    judgement: Option<&'a Judgement>,
    /// Who, when they did so with the answer to the question at hand.
    by: Option<&'a PersonId>,
}
