//! What people do, and what is done to them: answer, write, be shown things, end sessions.

use std::collections::BTreeSet;

use placet_core::analysis::FixedPlaces;
use placet_core::call::{Args, Chat};
use placet_core::digest::Digest;
use placet_core::interaction::{Answer, Asked, Locale, Shown};
use placet_core::journal::{Author, InboundMessage};
use placet_core::listing::ToSend;
use placet_core::messages::{self, say};
use placet_core::outgoing::{Change, Receipt};
use placet_core::principal::{Principal, Via};
use placet_core::step::{Decided, Step};
use placet_core::steps::{self, Answered, Authority, Edit, Inbound, Patience, Reply, SaidTo};
use placet_core::time::Timestamp;
use placet_store::StepError;

use super::cast::{inbox, place_of, session_of};
use super::{Check, SESSIONS, World};
use crate::oracle::{Acknowledged, Attempt};
use crate::sabotage::Sabotage;
use crate::scene;

impl World {
    pub(super) fn answer(&mut self) -> Check {
        let Some(asked) = self.some_question()? else {
            return Ok(());
        };
        let (truly, mut said) = self.somebody();
        let options = asked.options(Locale::English);
        let option = self.dice.choose(&options).clone();
        let option_id = if self.roll(20) == 0 {
            "nonsense".to_owned()
        } else {
            option.option_id.clone()
        };
        let approves = option.action == placet_core::interaction::Action::ApproveAndExecute;
        let edited = match (approves, self.roll(4)) {
            (true, 0) => {
                Some(Args::from_value(scene::args(self.dice.byte())).map_err(|error| error.to_string())?)
            }
            _ => None,
        };
        let saw_everything = self.roll(4) > 0;
        let digest = Digest::of("sim", &[]);
        let shown = if saw_everything {
            Shown::Whole(digest)
        } else {
            Shown::Part(digest)
        };
        let mut now = self.now();
        if let Principal::Person { person, via } = &truly {
            self.oracle.attempts(Attempt {
                by: person.clone(),
                via: via.clone(),
                question: Some(asked.id.clone()),
                says_yes: approves,
                edited: edited.clone(),
                live: self.live,
                saw_everything,
            });
        }
        match self.sabotage {
            Sabotage::LateAnswerCounts => now = Timestamp::from_millis(self.clock - 1),
            Sabotage::StrangerCounts => said = inbox("ana"),
            Sabotage::VotesCountTwice => {
                let somebody = *self.dice.choose(&["ana", "bo", "cy"]);
                said = inbox(somebody);
            }
            _ => {}
        }
        self.tell(|_| {
            format!(
                "{truly} answers {} with {option_id} (edited: {}, whole: {saw_everything})",
                asked.id,
                edited.is_some()
            )
        });
        let reply = self.reply(&asked, said, option_id, edited, shown)?;
        let rows = self.own_rows()?;
        let answered = self.step_at(now, |rules, snapshot, now| {
            steps::answer(rules, snapshot, now, &reply)
        });
        match (&answered, truly.person()) {
            (Ok(Answered::Voted { .. }), Some(person)) if self.sabotage == Sabotage::None => {
                self.oracle
                    .acknowledge(Acknowledged::Voted(asked.id.clone(), person.clone()));
            }
            (Ok(Answered::Decided { .. } | Answered::AskedAnew { .. }), _) => {
                self.tally.decided += 1;
                self.oracle.acknowledge(Acknowledged::Settled(asked.id.clone()));
            }
            (Err(StepError::Refused(_)), _) if self.own_rows()? != rows => {
                return Err("promise 5: a refused answer changed something".into());
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn reply(
        &mut self,
        asked: &Asked,
        by: Principal,
        option: String,
        edited_args: Option<Args>,
        shown: Shown,
    ) -> Result<Reply, String> {
        let edit = match (&edited_args, asked.call()) {
            (Some(args), Some(key)) => {
                let record = self.look(|stored| stored.call(key).cloned())?;
                record.map(|record| {
                    let tool = self.config.tool(&record.call.tool);
                    let findings = self
                        .config
                        .inspect
                        .inspect(&tool, args, &FixedPlaces::of_examples());
                    Edit {
                        evidence: Vec::new(),
                        tool,
                        findings,
                        fits: Ok(()),
                    }
                })
            }
            _ => None,
        };
        let answer = Answer {
            by,
            option,
            feedback: (self.roll(4) > 0).then(|| "because".to_owned()),
            data: None,
            edited_args,
            instruction: None,
            remember: None,
            shown,
        };
        Ok(Reply {
            id: asked.id.clone(),
            answer,
            edit,
            authority: Authority::Approver,
            refused_before: false,
            fresh: self.fresh(),
        })
    }

    pub(super) fn write_in_chat(&mut self) -> Check {
        let chat = self.some_chat();
        let sender = *self.dice.choose(&["u-ana", "u-bo", "u-cy", "u-x", "u-eve"]);
        let code = self
            .some_question()?
            .map_or_else(|| "K7QP".to_owned(), |asked| asked.code.to_string());
        let (text, says_yes) = match self.roll(11) {
            0 => ("yes".to_owned(), true),
            1 => (format!("yes {code}"), true),
            2 => (format!("{code} {}", say::approve().say(Locale::Chinese)), true),
            3 => (chinese("reply.approve_all"), true),
            4 => (with_a_yes_inside(), false),
            5 => ("not ok".to_owned(), false),
            6 => (format!("no {code}"), false),
            7 => ("why?".to_owned(), false),
            8 => ("yes, but wait".to_owned(), false),
            9 => (chinese("reply.reject"), false),
            _ => ("hello there".to_owned(), false),
        };
        let person = self
            .config
            .people
            .person_for(&chat.channel, sender)
            .map_err(|error| error.to_string())?;
        self.messages += 1;
        let via = Via::Chat(chat.channel.clone());
        let seen = self
            .delivered_whole
            .iter()
            .any(|(_, place)| *place == place_of(&chat));
        self.oracle.attempts(Attempt {
            by: person.clone(),
            via: via.clone(),
            question: None,
            says_yes,
            edited: None,
            live: self.live,
            saw_everything: seen,
        });
        self.tell(|_| format!("{person} writes in {}: {text}", chat.id));
        let inbound = Inbound {
            message: InboundMessage {
                channel: chat.channel.clone(),
                chat_id: chat.id.clone(),
                sender_id: sender.to_owned(),
                message_id: format!("m{}", self.messages),
                content: text,
                author: Author::Human,
            },
            sender: Principal::Person { person, via },
            reply_to: None,
            choice: None,
            edit: None,
            said_to: SaidTo::Chat,
            patience: Patience::Over,
            fresh: self.fresh(),
        };
        let first = self.step(|rules, snapshot, now| steps::receive(rules, snapshot, now, &inbound));
        if first.is_ok() && self.roll(3) == 0 {
            let head = self.head()?;
            let _ = self.step(|rules, snapshot, now| steps::receive(rules, snapshot, now, &inbound));
            if self.head()? != head {
                return Err("promise 3: the same message counted twice".into());
            }
        }
        Ok(())
    }

    /// The outbox shows things, all of it or a part.
    pub(super) fn deliver(&mut self) -> Check {
        let wanted = ToSend {
            at: self.now(),
            busy: BTreeSet::new(),
            limit: 4,
        };
        let due = self.look(|stored| stored.sendable(&wanted).cloned())?;
        for item in due.items {
            let whole = self.roll(3) > 0;
            let digest = Digest::of("sim", &[item.key.as_bytes()]);
            let shown = if whole {
                Shown::Whole(digest)
            } else {
                Shown::Part(digest)
            };
            let receipt = serde_json::to_string(&Receipt {
                reference: None,
                shown,
            })
            .map_err(|error| error.to_string())?;
            let change = Change::Sent {
                id: item.id,
                receipt: Some(receipt),
            };
            let sent = self.step(|_, _, _| -> Decided<()> { Ok(Step::nothing(()).change(change.clone())) });
            if let (Ok(()), true, Some(id)) = (sent, whole, item.interaction) {
                let chat = Chat {
                    channel: item.channel,
                    id: item.chat,
                };
                self.delivered_whole.insert((id, place_of(&chat)));
            }
        }
        Ok(())
    }

    pub(super) fn end_session(&mut self) -> Check {
        if self.roll(3) > 0 {
            return Ok(());
        }
        let session = session_of(self.dice.pick(SESSIONS))?.0;
        self.tell(|_| format!("{session} is ended"));
        let _ = self.step(|_, snapshot, _| steps::end_session(snapshot, &session, "operator"));
        Ok(())
    }
}

/// The first word of a list that is not English.
fn chinese(list: &str) -> String {
    let word = messages::words(list).find(|word| !word.is_ascii());
    word.unwrap_or_default().to_owned()
}

/// A refusal that contains a word for yes: read by keyword, it would approve.
fn with_a_yes_inside() -> String {
    let is_yes =
        |word: &str| messages::words("reply.approve").any(|yes| !yes.is_ascii() && word.contains(yes));
    let word = messages::words("reply.reject").find(|word| is_yes(word));
    word.unwrap_or_default().to_owned()
}
