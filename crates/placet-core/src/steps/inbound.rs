//! A message from a chat: an answer to an open question, or something for the agent.
//!
//! The broker looks first. What answers a question is consumed and never reaches the agent; what does not is queued for it.

use serde_json::{Map, Value};

use crate::call::{Args, Chat};
use crate::config::OtherReply;
use crate::ids::{InteractionId, PersonId, SessionId};
use crate::interaction::{Action, Answer, AnswerError, Asked, Code, Locale, Pending, Shown};
use crate::journal::{Event, InboundMessage, genesis};
use crate::messages::{Explain as _, Message, chat};
use crate::outgoing::{Change, OutKind, OutState, Receipt};
use crate::principal::{Principal, Via};
use crate::reply::{self, Meant, OpenQuestion, Reading};
use crate::snapshot::{MessageKey, Snapshot, Undecided};
use crate::step::{Decided, Step, Stop};
use crate::time::Timestamp;
use crate::tool::Risk;

use super::answer::{AnswerRefusal, Edit, Reply, answer};
use super::ask::Fresh;
use super::remember::Authority;
use super::{Draft, Rules, pending, say, words};

/// A message, and who sent it as far as the channel can tell.
#[derive(Debug, Clone)]
pub struct Inbound {
    /// The message.
    pub message: InboundMessage,
    /// Who sent it.
    pub sender: Principal,
    /// The platform's name of the message that a text replies to.
    pub reply_to: Option<String>,
    /// The option they pressed, when it is a button's callback and no text.
    pub choice: Option<Choice>,
    /// About the choice's edited arguments, if it has any.
    pub edit: Option<Edit>,
    /// Where what is said back goes.
    pub said_to: SaidTo,
    /// What to do about a question whose delivery is under way.
    pub patience: Patience,
    /// For a question that follows.
    pub fresh: Fresh,
}

/// What to do about an answer that needs to know what was shown, while the copy's delivery is not recorded yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Wait for the record: nothing is stored, and the message is received again.
    Wait,
    /// Go by what is recorded.
    Over,
}

/// Where the sender reads what Placet says about their message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidTo {
    /// In the chat, through the outbox.
    Chat,
    /// Wherever the channel shows it: beside the button, or in a form.
    Channel,
}

/// A button that was pressed: which question, which option.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Which question.
    pub request: InteractionId,
    /// Which option.
    pub option: String,
    /// A reason, or feedback.
    pub feedback: Option<String>,
    /// Information asked for.
    pub data: Option<Map<String, Value>>,
    /// The arguments as they were changed in a form; absent when they were not.
    pub edited_args: Option<Args>,
}

/// What Placet makes of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// What became of it.
    pub outcome: InboundOutcome,
    /// What was said to the sender.
    pub said: Vec<String>,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InboundOutcome {
    /// It answered, or tried to answer, these questions. The agent never sees it.
    Consumed(Vec<InteractionId>),
    /// It waits for the agent.
    Queued,
    /// It was received before.
    Duplicate,
}

/// Receives a message. `None` when it answers a question whose delivery is under way and not yet recorded, and the sender has [`Patience::Wait`].
pub fn receive(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    inbound: &Inbound,
) -> Decided<Option<Reaction>> {
    let message = &inbound.message;
    let key = MessageKey {
        channel: message.channel.clone(),
        message_id: message.message_id.clone(),
    };
    if *snapshot.is_seen(&key)? {
        return Ok(Step::nothing(Some(Reaction {
            outcome: InboundOutcome::Duplicate,
            said: Vec::new(),
        })));
    }
    let chat = Chat {
        channel: message.channel.clone(),
        id: message.chat_id.clone(),
    };
    let session = SessionId::of_chat(&chat.channel, &chat.id).map_err(|error| Undecided::Corrupt {
        what: error.to_string(),
    })?;
    let mut desk = Desk {
        rules,
        snapshot,
        now,
        inbound,
        chat,
        draft: Draft::new(&session),
        touched: Vec::new(),
        said: Vec::new(),
        early: false,
    };
    desk.draft.change(Change::SeenInbound {
        channel: message.channel.clone(),
        message_id: message.message_id.clone(),
        at: now,
    });
    let consumed = desk.read()?;
    let Desk {
        mut draft,
        touched,
        said,
        early,
        ..
    } = desk;
    if early {
        return Ok(Step::nothing(None));
    }
    let outcome = if consumed {
        InboundOutcome::Consumed(touched)
    } else {
        draft.event(Event::MessageQueued(Box::new(message.clone())));
        InboundOutcome::Queued
    };
    Ok(draft.finish(Some(Reaction { outcome, said })))
}

struct Desk<'a> {
    rules: &'a Rules<'a>,
    snapshot: &'a Snapshot,
    now: Timestamp,
    inbound: &'a Inbound,
    chat: Chat,
    draft: Draft,
    touched: Vec<InteractionId>,
    said: Vec<String>,
    /// It came before the record of what was shown.
    early: bool,
}

/// What a message says about one question.
struct Given<'a> {
    option: &'a str,
    feedback: Option<String>,
    data: Option<Map<String, Value>>,
    edited_args: Option<Args>,
}

impl<'a> Given<'a> {
    fn typed(option: &'a str, feedback: Option<String>) -> Self {
        Self {
            option,
            feedback,
            data: None,
            edited_args: None,
        }
    }
}

/// What is open in the chat a message came from.
#[derive(Default)]
struct Here {
    /// What the sender may answer.
    mine: Vec<Pending>,
    /// What others may.
    others: Vec<Pending>,
    /// Whether the message may be about a question that is not among these: one that cannot be read, or a message that no open
    /// question was shown in.
    may_mean_another: bool,
}

impl Desk<'_> {
    /// Whether the message was consumed.
    fn read(&mut self) -> Result<bool, Undecided> {
        // A bot answers nothing and is answered nothing: two of them would never stop.
        if matches!(
            self.inbound.sender,
            Principal::Bot { .. } | Principal::Agent { .. }
        ) {
            return Ok(self.inbound.choice.is_some());
        }
        if let Some(choice) = &self.inbound.choice {
            self.press(choice)?;
            return Ok(true);
        }
        let Here {
            mine,
            others,
            may_mean_another,
        } = self.open_here()?;
        if mine.is_empty() {
            return Ok(self.hear_bystander(&self.understand(&others)));
        }
        match self.understand(&mine) {
            Reading::Choose {
                meant: Meant::OnlyOne,
                ..
            } if may_mean_another => self.ask_which(&mine),
            Reading::NothingOpen | Reading::ToAnother => return Ok(false),
            Reading::Choose {
                code,
                option_id,
                feedback,
                ..
            } => self.choose(&mine, code, &option_id, feedback)?,
            Reading::ChooseAll {
                action,
                choices,
                feedback,
            } => {
                self.choose_all(&mine, action, &choices, feedback.as_deref())?;
            }
            Reading::WhichOne { codes } => self.say(&words::which_one(&codes)),
            Reading::UnknownCode { given } => self.say(&chat::unknown_code(given)),
            Reading::Other { text } => match (self.rules.config.approval.on_other_reply, mine.as_slice()) {
                (OtherReply::Queue, _) => return Ok(false),
                (OtherReply::Refuse, [only]) if !may_mean_another => self.refuse(only, text)?,
                (OtherReply::Refuse, several) => self.ask_which(several),
            },
        }
        Ok(true)
    }

    /// A bystander who tries to answer is told so; a bystander who just talks is left alone.
    fn hear_bystander(&mut self, reading: &Reading) -> bool {
        match reading {
            Reading::Other { .. } | Reading::NothingOpen | Reading::ToAnother => return false,
            Reading::UnknownCode { given } => self.say(&chat::unknown_code(given)),
            Reading::Choose { .. } | Reading::ChooseAll { .. } | Reading::WhichOne { .. } => {
                self.say(&chat::not_an_approver());
            }
        }
        true
    }

    /// Questions open in this chat, and those of which a copy was sent here. A reply to the copy of one is about that one.
    fn open_here(&self) -> Result<Here, Undecided> {
        let found = self.snapshot.pending_in_chat(&self.chat)?;
        let mut here = Here {
            may_mean_another: found.unreadable > 0,
            ..Here::default()
        };
        if let Some(reference) = &self.inbound.reply_to {
            for asked in &found.asked {
                if self.is_shown_as(&asked.id, reference)? {
                    self.open_one(&asked.id, &mut here)?;
                    return Ok(here);
                }
            }
            here.may_mean_another = true;
        }
        for asked in &found.asked {
            self.open_one(&asked.id, &mut here)?;
        }
        Ok(here)
    }

    fn open_one(&self, id: &InteractionId, here: &mut Here) -> Result<(), Undecided> {
        match pending(self.snapshot, id) {
            Ok(Some(question)) if question.asks(&self.inbound.sender) => here.mine.push(question.clone()),
            Ok(Some(question)) => here.others.push(question.clone()),
            Ok(None) => {}
            // Its votes cannot be read; it holds up the others as little as one that cannot be read at all.
            Err(Undecided::Corrupt { .. }) => here.may_mean_another = true,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether this chat's copy of a question is the message with that name.
    fn is_shown_as(&self, id: &InteractionId, reference: &str) -> Result<bool, Undecided> {
        let receipt = self.receipt(id)?;
        Ok(receipt.is_some_and(|receipt| receipt.reference.as_deref() == Some(reference)))
    }

    fn ask_which(&mut self, questions: &[Pending]) {
        let codes: Vec<Code> = questions.iter().map(|question| question.asked.code).collect();
        self.say(&words::which_one(&codes));
    }

    fn open(&self, questions: &[Pending]) -> Vec<OpenQuestion> {
        questions
            .iter()
            .map(|question| OpenQuestion::of(&question.asked, self.locale()))
            .collect()
    }

    /// In a chat we go by our own name, and by the channel's.
    fn understand(&self, questions: &[Pending]) -> Reading {
        let own_names = ["placet", self.chat.channel.as_str()];
        reply::read(&self.inbound.message.content, &self.open(questions), &own_names)
    }

    fn locale(&self) -> Locale {
        self.rules.config.locale(Some(&self.chat.channel))
    }

    fn say(&mut self, message: &Message) {
        let text = message.say(self.locale());
        let message = &self.inbound.message;
        let key = format!(
            "reply:{}:{}:{}",
            message.channel,
            message.message_id,
            self.draft_size()
        );
        if self.inbound.said_to == SaidTo::Chat {
            say(&mut self.draft, key, &self.chat, text.clone());
        }
        self.said.push(text);
    }

    fn draft_size(&self) -> usize {
        self.draft.changes.len()
    }

    /// A button names its question, so there is nothing to read. It counts where the question was shown, for those it asks.
    fn press(&mut self, choice: &Choice) -> Result<(), Undecided> {
        let Some(interaction) = self.snapshot.interaction(&choice.request)?.as_ref() else {
            self.say(&chat::no_such_request());
            return Ok(());
        };
        let asked = interaction.asked();
        let copies = self.snapshot.copies(&choice.request)?;
        let shown_here = copies
            .iter()
            .any(|copy| copy.channel == self.chat.channel && copy.chat == self.chat.id);
        if !shown_here && asked.chat.as_ref() != Some(&self.chat) {
            self.say(&chat::no_such_request());
            return Ok(());
        }
        if !asked.concerns(&self.inbound.sender, true) {
            self.say(&chat::not_an_approver());
            return Ok(());
        }
        let given = Given {
            option: &choice.option,
            feedback: choice.feedback.clone(),
            data: choice.data.clone(),
            edited_args: choice.edited_args.clone(),
        };
        self.answer(asked, given)
    }

    fn choose(
        &mut self,
        mine: &[Pending],
        code: Code,
        option: &str,
        feedback: Option<String>,
    ) -> Result<(), Undecided> {
        let Some(question) = mine.iter().find(|question| question.asked.code == code) else {
            self.say(&chat::unknown_code(code));
            return Ok(());
        };
        self.answer(&question.asked, Given::typed(option, feedback))
    }

    /// "All of them" never approves HIGH: what could be worst is looked at one by one.
    fn choose_all(
        &mut self,
        mine: &[Pending],
        action: Action,
        choices: &[(Code, String)],
        feedback: Option<&str>,
    ) -> Result<(), Undecided> {
        let mut one_by_one = Vec::new();
        for (code, option) in choices {
            let Some(question) = mine.iter().find(|question| question.asked.code == *code) else {
                continue;
            };
            if action == Action::ApproveAndExecute && question.asked.risk == Risk::High {
                one_by_one.push(*code);
            } else {
                self.answer(&question.asked, Given::typed(option, feedback.map(str::to_owned)))?;
            }
        }
        if !one_by_one.is_empty() {
            self.say(&chat::one_by_one(&one_by_one));
        }
        Ok(())
    }

    /// Any other text is a "no" with that text as the reason.
    fn refuse(&mut self, question: &Pending, text: String) -> Result<(), Undecided> {
        let options = question.asked.options(Locale::English);
        let no = [
            Action::RejectWithReason,
            Action::RetryWithFeedback,
            Action::Skip,
            Action::Terminate,
        ]
        .into_iter()
        .find_map(|action| options.iter().find(|option| option.action == action));
        let Some(option) = no else {
            self.say(&words::which_one(&[question.asked.code]));
            return Ok(());
        };
        self.answer(&question.asked, Given::typed(&option.option_id, Some(text)))
    }

    fn answer(&mut self, asked: &Asked, given: Given<'_>) -> Result<(), Undecided> {
        let reply = Reply {
            id: asked.id.clone(),
            answer: Answer {
                by: self.inbound.sender.clone(),
                option: given.option.to_owned(),
                feedback: given.feedback,
                data: given.data,
                edited_args: given.edited_args,
                instruction: None,
                remember: None,
                shown: self.shown(&asked.id)?,
            },
            edit: self.inbound.edit.clone(),
            authority: Authority::Approver,
            refused_before: false,
            fresh: self.inbound.fresh.clone(),
        };
        self.touched.push(asked.id.clone());
        match answer(self.rules, self.snapshot, self.now, &reply) {
            Ok(step) => {
                self.draft.events.extend(step.events);
                self.draft.changes.extend(step.changes);
                self.say(&words::answered(asked.code, &step.value));
            }
            Err(Stop::Undecided(undecided)) => return Err(undecided),
            Err(Stop::Refused(AnswerRefusal::Invalid(AnswerError::NotShownWhole)))
                if self.inbound.patience == Patience::Wait && self.is_leaving(&asked.id)? =>
            {
                self.early = true;
            }
            Err(Stop::Refused(refusal)) => self.say(&chat::not_taken(asked.code, refusal.message())),
        }
        Ok(())
    }

    /// Whether this chat's copy is on its way: sent, and what the surface made of it is not recorded yet.
    fn is_leaving(&self, id: &InteractionId) -> Result<bool, Undecided> {
        let copies = self.snapshot.copies(id)?;
        Ok(copies.iter().any(|copy| {
            let here = copy.channel == self.chat.channel && copy.chat == self.chat.id;
            here && copy.kind == OutKind::Question
                && copy.state == OutState::Waiting
                && copy.receipt.is_some()
        }))
    }

    /// What this chat was shown of a question: its delivered copy, and nothing if none has arrived yet.
    fn shown(&self, id: &InteractionId) -> Result<Shown, Undecided> {
        let receipt = self.receipt(id)?;
        Ok(receipt.map_or(Shown::Part(genesis()), |receipt| receipt.shown))
    }

    /// What is known of this chat's copy.
    fn receipt(&self, id: &InteractionId) -> Result<Option<Receipt>, Undecided> {
        let copies = self.snapshot.copies(id)?;
        let here = copies
            .iter()
            .find(|copy| copy.channel == self.chat.channel && copy.chat == self.chat.id);
        Ok(here
            .and_then(|copy| copy.receipt.as_deref())
            .and_then(Receipt::parse))
    }
}

/// The person behind an account, as a chat member.
pub fn chat_member(person: PersonId, chat: &Chat) -> Principal {
    Principal::Person {
        person,
        via: Via::Chat(chat.channel.clone()),
    }
}
