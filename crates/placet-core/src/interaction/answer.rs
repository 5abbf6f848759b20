//! Answering: whether one person's choice counts, and whether it completes the question.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Action, InteractionOption, Locale, Pending, Subject};
use crate::call::Args;
use crate::digest::Digest;
use crate::ids::{InteractionId, PersonId};
use crate::messages::{Explain, Message, refusal};
use crate::principal::{Principal, Via};
use crate::sealed;
use crate::standing::Scope;
use crate::time::{Millis, Timestamp};
use crate::tool::Risk;
use crate::verdict::AnswerKind;

/// The longest text a person may add to an answer, in bytes.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// One person's choice on one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Who. Set by the transport.
    pub by: Principal,
    /// Which option.
    pub option: String,
    /// A reason, or feedback.
    pub feedback: Option<String>,
    /// Information asked for.
    pub data: Option<Map<String, Value>>,
    /// Other arguments for the call.
    pub edited_args: Option<Args>,
    /// Something to tell the agent after the results.
    pub instruction: Option<String>,
    /// "Don't ask again", on these terms.
    pub remember: Option<Remember>,
    /// What they were looking at.
    pub shown: Shown,
}

/// "Don't ask again", on these terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Remember {
    /// Exactly what it covers.
    pub scope: Scope,
    /// For how long.
    pub lasts: Millis,
    /// How often at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses_max: Option<u32>,
}

/// What a person was looking at when they answered: the digest of the rendering, and whether it held everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "extent", content = "digest", rename_all = "camelCase")]
pub enum Shown {
    /// Everything.
    Whole(Digest),
    /// A part, with a pointer to the rest.
    Part(Digest),
    /// Nothing we rendered: a program decided.
    Program,
}

/// An answer that counted, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ballot {
    /// Who.
    pub by: PersonId,
    /// How they were recognised.
    pub via: Via,
    /// Which option.
    pub option: String,
    /// A reason, or feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Information asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    /// Something to tell the agent after the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// What they were looking at.
    pub shown: Shown,
}

/// What an answer that counts amounts to.
#[derive(Debug, Clone, PartialEq)]
pub enum Accepted {
    /// One approval more; others are still needed.
    Vote(Ballot),
    /// The question is settled.
    Decides {
        /// The completing ballot.
        ballot: Ballot,
        /// What it means.
        action: Action,
        /// All whose approval it took.
        by: Vec<PersonId>,
    },
}

/// Why an answer does not count. Variants differ in what the person is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// Agents and bots never answer.
    NotAPerson {
        /// Who tried.
        by: String,
    },
    /// The question is not assigned to them. Shown as "not found", so as not to leak that it exists.
    NotAsked {
        /// Which question.
        id: InteractionId,
        /// Who tried.
        by: PersonId,
    },
    /// They asked for it themselves, and the rule requires another approver.
    OwnRequest {
        /// Who tried.
        by: PersonId,
    },
    /// They answered, but time had run out.
    TooLate {
        /// Which question.
        id: InteractionId,
        /// How long before.
        late_by: Millis,
    },
    /// They have approved already; one person counts once.
    VotedBefore {
        /// Who.
        by: PersonId,
        /// How many others are needed.
        needed: u32,
    },
    /// No such option.
    NoSuchOption {
        /// What they chose.
        option: String,
        /// What there is.
        offered: String,
    },
    /// The option needs a text.
    InputMissing {
        /// Which option.
        option: String,
        /// What is asked for.
        prompt: String,
    },
    /// Their surface showed only a part, and the risk is high.
    NotShownWhole,
    /// The risk is high, and the operator has not linked their account to a person.
    Unlinked {
        /// Who tried.
        by: PersonId,
    },
    /// A chat keeps what people type into it.
    SecretInChat {
        /// Which option.
        option: String,
    },
    /// The transport did not seal the secret. Nothing of it is stored.
    NotSealed {
        /// Which option.
        option: String,
    },
    /// Arguments cannot be edited in this question, or with this option.
    EditNotOffered {
        /// Which option.
        option: String,
    },
    /// "Don't ask again" cannot be said here.
    RememberNotOffered,
    /// More text than an agent should read.
    TooLong {
        /// How long it was.
        bytes: usize,
    },
}

impl Explain for AnswerError {
    fn message(&self) -> Message {
        match self {
            Self::NotAPerson { by } => refusal::not_a_person(by),
            Self::NotAsked { id, by } => refusal::not_assigned(id, by),
            Self::OwnRequest { by } => refusal::own_request(by),
            Self::TooLate { id, late_by } => refusal::too_late(id, *late_by),
            Self::VotedBefore { by, needed } => refusal::voted_before(by, *needed),
            Self::NoSuchOption { option, offered } => refusal::no_such_option(offered, option),
            Self::InputMissing { option, prompt } => refusal::input_missing(option, prompt),
            Self::NotShownWhole => refusal::not_shown_whole(),
            Self::Unlinked { by } => refusal::unlinked(by),
            Self::SecretInChat { option } => refusal::secret_in_chat(option),
            Self::NotSealed { option } => refusal::secret_not_sealed(option),
            Self::EditNotOffered { option } => refusal::edit_not_offered(option),
            Self::RememberNotOffered => refusal::remember_not_offered(),
            Self::TooLong { bytes } => refusal::too_long(*bytes, TEXT_BYTES_MAX),
        }
    }
}

crate::display_in_english!(AnswerError);

impl Pending {
    /// Decides whether `answer` counts at `now`; changes nothing.
    ///
    /// Edited arguments are checked for being allowed here at all; whether the new call is valid and permitted is the
    /// caller's question to schema and policy, before or after.
    pub fn answer(&self, answer: &Answer, now: Timestamp) -> Result<Accepted, AnswerError> {
        let (person, via) = self.admit(&answer.by, now)?;
        let option = self.chosen(&answer.option)?;
        self.check_content(answer, &option)?;
        let ballot = Ballot {
            by: person.clone(),
            via: via.clone(),
            option: option.option_id,
            feedback: answer.feedback.clone().filter(|text| !text.trim().is_empty()),
            data: answer.data.clone(),
            instruction: answer.instruction.clone().filter(|text| !text.trim().is_empty()),
            shown: answer.shown,
        };
        if option.action != Action::ApproveAndExecute {
            // One "no" is enough: a quorum is for running something, not for stopping it.
            return Ok(Accepted::Decides {
                by: vec![person.clone()],
                ballot,
                action: option.action,
            });
        }
        self.approve(ballot)
    }

    /// Who comes before when: a stranger learns nothing, not even that they are late.
    fn admit<'a>(&self, by: &'a Principal, now: Timestamp) -> Result<(&'a PersonId, &'a Via), AnswerError> {
        let Principal::Person { person, via } = by else {
            return Err(AnswerError::NotAPerson { by: by.to_string() });
        };
        if !self.asks(by) {
            return Err(AnswerError::NotAsked {
                id: self.asked.id.clone(),
                by: person.clone(),
            });
        }
        if self.is_due(now) {
            return Err(AnswerError::TooLate {
                id: self.asked.id.clone(),
                late_by: now.remaining_from(self.asked.deadline),
            });
        }
        Ok((person, via))
    }

    fn chosen(&self, option: &str) -> Result<InteractionOption, AnswerError> {
        let options = self.asked.options(Locale::English);
        let offered = || {
            options
                .iter()
                .map(|o| format!("`{}`", o.option_id))
                .collect::<Vec<_>>()
                .join(", ")
        };
        match options.iter().find(|offered| offered.option_id == option) {
            Some(found) => Ok(found.clone()),
            None => Err(AnswerError::NoSuchOption {
                option: option.to_owned(),
                offered: offered(),
            }),
        }
    }

    fn check_content(&self, answer: &Answer, option: &InteractionOption) -> Result<(), AnswerError> {
        for text in [&answer.feedback, &answer.instruction].into_iter().flatten() {
            if text.len() > TEXT_BYTES_MAX {
                return Err(AnswerError::TooLong { bytes: text.len() });
            }
        }
        let has_text = answer
            .feedback
            .as_ref()
            .is_some_and(|text| !text.trim().is_empty());
        let has_data = answer.data.as_ref().is_some_and(|data| !data.is_empty());
        if option.needs_text() && !has_text && !has_data {
            let prompt = option
                .input_prompt
                .clone()
                .unwrap_or_else(|| option.label.clone());
            return Err(AnswerError::InputMissing {
                option: option.option_id.clone(),
                prompt,
            });
        }
        if option.input_secret && (answer.feedback.is_some() || answer.data.is_some()) {
            check_secret(answer, option)?;
        }
        let approves = option.action == Action::ApproveAndExecute;
        if approves && self.asked.risk == Risk::High && matches!(answer.shown, Shown::Part(_)) {
            return Err(AnswerError::NotShownWhole);
        }
        let edits_offered =
            matches!(&self.asked.subject, Subject::Call { answers, .. } if answers.offers(AnswerKind::Edit));
        if answer.edited_args.is_some() && !(approves && edits_offered) {
            return Err(AnswerError::EditNotOffered {
                option: option.option_id.clone(),
            });
        }
        let may_remember =
            approves && self.asked.risk < Risk::High && matches!(self.asked.subject, Subject::Call { .. });
        if answer.remember.is_some() && !may_remember {
            return Err(AnswerError::RememberNotOffered);
        }
        Ok(())
    }

    fn approve(&self, ballot: Ballot) -> Result<Accepted, AnswerError> {
        if self.asked.risk == Risk::High && !ballot.by.is_configured() {
            return Err(AnswerError::Unlinked { by: ballot.by });
        }
        if self.asked.not_requester && self.asked.requester.as_ref() == Some(&ballot.by) {
            return Err(AnswerError::OwnRequest { by: ballot.by });
        }
        let have = u32::try_from(self.votes.len()).unwrap_or(u32::MAX);
        if self.votes.contains_key(&ballot.by) {
            let needed = self.asked.quorum.saturating_sub(have);
            return Err(AnswerError::VotedBefore {
                by: ballot.by,
                needed,
            });
        }
        if have.saturating_add(1) < self.asked.quorum {
            return Ok(Accepted::Vote(ballot));
        }
        let mut by: Vec<_> = self.votes.keys().cloned().collect();
        by.push(ballot.by.clone());
        by.sort_unstable();
        Ok(Accepted::Decides {
            ballot,
            action: Action::ApproveAndExecute,
            by,
        })
    }
}

/// A secret is taken where nothing else keeps it, and only sealed.
fn check_secret(answer: &Answer, option: &InteractionOption) -> Result<(), AnswerError> {
    let option_id = || option.option_id.clone();
    if let Principal::Person {
        via: Via::Chat(_), ..
    } = &answer.by
    {
        return Err(AnswerError::SecretInChat { option: option_id() });
    }
    let text = answer.feedback.as_deref().is_none_or(sealed::is_sealed);
    let data = answer.data.as_ref().is_none_or(sealed::is_all_sealed);
    if text && data {
        return Ok(());
    }
    Err(AnswerError::NotSealed { option: option_id() })
}
