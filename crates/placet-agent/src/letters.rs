//! What people write in chats, and answers no question: it is told to the agent, and the run's last words go back to the chat.
//!
//! The chat's session is `channel:chatId`. A message leaves the queue in the step that tells the agent, so it is heard once,
//! whatever happens to this process. Where a run is going on that cannot go on here, nobody is left waiting for it: it gives way
//! to another one if only its model is gone, and else whoever writes is told why nothing happens.

use std::sync::Arc;

use placet_core::call::Chat;
use placet_core::ids::{PersonId, SessionId};
use placet_core::interaction::Locale;
use placet_core::journal::{Author, InboundMessage};
use placet_core::outgoing::{Change, OutKind, Outgoing};
use placet_core::snapshot::{Activity, Snapshot, Undecided};
use placet_core::step::{Decided, Step, Stop};
use placet_core::steps::{self, RunRefusal, Saying};
use placet_core::time::Now;
use placet_store::{StepError, StoreError};

use crate::agent::{Inner, ResumeError};

/// Takes whatever waits in a chat, oldest first. Does nothing in chats that are another agent's.
pub(crate) async fn take(agent: &Arc<Inner>, session: &SessionId) -> Result<(), StoreError> {
    let looked = session.clone();
    let store = agent.engine.store();
    loop {
        let next = looked.clone();
        let waiting = store.read(move |view, _| Ok(view.queued(&next, 1)?.into_iter().next()));
        let Some((row, message)) = waiting.await? else {
            return Ok(());
        };
        let letter = Letter::read(agent, session, row, message);
        let take = agent.engine.transact(|snapshot, now| letter.taken(snapshot, now));
        if take.await.map_err(StepError::into_store_error)? == Taken::Left {
            return Ok(());
        }
    }
}

/// What became of a message.
#[derive(PartialEq, Eq)]
enum Taken {
    /// It was taken, by this step or by another one.
    Gone,
    /// It is for somebody else.
    Left,
}

/// A message, and what the configuration says about its sender.
struct Letter {
    agent: Arc<Inner>,
    row: u64,
    message: InboundMessage,
    chat: Chat,
    saying: Saying,
    sender: Sender,
    locale: Locale,
}

enum Sender {
    Known(PersonId),
    /// An account that nobody has linked to a person.
    Unknown,
    Bot,
}

impl Letter {
    fn read(agent: &Arc<Inner>, session: &SessionId, row: u64, message: InboundMessage) -> Self {
        let chat = Chat {
            channel: message.channel.clone(),
            id: message.chat_id.clone(),
        };
        let (person, locale) = agent.engine.with_config(|config| {
            let person = config.people.person_for(&chat.channel, &message.sender_id);
            (person.ok(), config.locale(Some(&chat.channel)))
        });
        let mut saying = agent.saying(session, &message.content, Some(chat.clone()));
        let sender = match (message.author, person) {
            (Author::Bot, _) => Sender::Bot,
            (Author::Human, Some(person)) if person.is_configured() => Sender::Known(person),
            (Author::Human, _) => Sender::Unknown,
        };
        if let Sender::Known(person) = &sender {
            saying.origin.user = Some(person.clone());
        }
        Self {
            agent: Arc::clone(agent),
            row,
            message,
            chat,
            saying,
            sender,
            locale,
        }
    }

    fn taken(&self, snapshot: &Snapshot, now: Now) -> Decided<Taken> {
        let session = &self.saying.session;
        let next = snapshot.next_queued(session)?.as_ref();
        if next.is_none_or(|(row, _)| *row != self.row) {
            return Ok(Step::nothing(Taken::Gone));
        }
        if !snapshot.session(session)?.is_open_to(&self.agent.agent) {
            return Ok(Step::nothing(Taken::Left));
        }
        let owner = snapshot.run_owner(session)?.as_ref();
        // Whether the agent begins conversations on this channel.
        let listens = self.agent.channels.contains(&self.chat.channel);
        // Once another agent made calls in this session, its messages are for that agent.
        let untouched = matches!(snapshot.activity(session)?, Activity::None | Activity::Messages);
        if owner.is_none() && !(listens && untouched) {
            return Ok(Step::nothing(Taken::Left));
        }
        let mut step = match (&self.sender, owner) {
            // Two of them would never stop.
            (Sender::Bot, _) => Step::nothing(Taken::Gone),
            (Sender::Unknown, _) => self.answered(self.stranger()),
            (Sender::Known(person), Some(owner)) if owner != person => self.answered(self.not_theirs()),
            (Sender::Known(_), _) => self.told(snapshot, now)?,
        };
        step.changes.push(Change::Took { queue_id: self.row });
        Ok(step)
    }

    fn told(&self, snapshot: &Snapshot, now: Now) -> Decided<Taken> {
        let told = match self.left_alone(snapshot)? {
            None => steps::tell(snapshot, now, &self.saying),
            // Nobody in a chat can bring a model back.
            Some(gone @ ResumeError::NoModel { .. }) => {
                steps::tell_instead(snapshot, now, &self.saying, &gone.to_string())
            }
            Some(why) => return Ok(self.answered(&self.cannot_go_on(&why))),
        };
        match told {
            Ok(told) => Ok(Step {
                events: told.events,
                changes: told.changes,
                value: Taken::Gone,
            }),
            Err(Stop::Undecided(undecided)) => Err(undecided.into()),
            Err(Stop::Refused(
                RunRefusal::SessionOver(_)
                | RunRefusal::Stale(_)
                | RunRefusal::GoingOn(_)
                | RunRefusal::Elsewhere { .. },
            )) => Ok(self.answered(self.over())),
        }
    }

    /// Why the run that is going on is left alone here, if one is and cannot go on.
    fn left_alone(&self, snapshot: &Snapshot) -> Result<Option<ResumeError>, Undecided> {
        let session = &self.saying.session;
        let run = snapshot.run(session)?.as_ref().filter(|run| !run.ended);
        Ok(run.and_then(|run| self.agent.drives(session, &run.started).err()))
    }

    /// Says something back, and nothing else happens.
    fn answered(&self, text: &str) -> Step<Taken> {
        let mut step = Step::nothing(Taken::Gone);
        step.changes.push(Change::Enqueue(Outgoing {
            key: format!("letter:{}:{}", self.message.channel, self.message.message_id),
            channel: self.chat.channel.clone(),
            chat: self.chat.id.clone(),
            interaction: None,
            kind: OutKind::Message,
            body: text.to_owned(),
        }));
        step
    }

    fn stranger(&self) -> &'static str {
        self.locale.pick(
            "I do not know you yet, so I cannot work for you. Whoever runs me can add your account to `[[people]]`.",
            "我还不认识您，因此不能为您工作。请管理员将您的账号加入 `[[people]]`。",
        )
    }

    fn not_theirs(&self) -> &'static str {
        self.locale.pick(
            "I work for somebody else in this chat. Write to me in one of your own.",
            "我在这个聊天中为另一个人工作。请在您自己的聊天中给我写消息。",
        )
    }

    fn cannot_go_on(&self, why: &ResumeError) -> String {
        match (self.locale, why) {
            (Locale::Chinese, ResumeError::Elsewhere { workspace, .. }) => {
                format!(
                    "这里的任务在文件夹 `{workspace}` 中进行，我在此处无法继续，也没有把您的消息转给它。请让管理员从那里启动 Placet。"
                )
            }
            (Locale::Chinese, _) => "这里有一个我无法继续的任务，您的消息没有转给它。".to_owned(),
            (Locale::English, ResumeError::Elsewhere { workspace, .. }) => format!(
                "I cannot go on here, and did not pass on what you wrote: the work in this chat is done in the folder `{workspace}`. \
                 Whoever runs me can start me there."
            ),
            (Locale::English, why) => format!("I did not pass on what you wrote: {why}."),
        }
    }

    fn over(&self) -> &'static str {
        self.locale.pick(
            "This conversation has been ended; nothing happens in it any more.",
            "这个对话已经结束，不再执行任何操作。",
        )
    }
}
