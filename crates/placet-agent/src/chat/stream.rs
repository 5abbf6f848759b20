//! A conversation as it happens. Reads from the journal, so a slow viewer loses nothing and blocks no other.

use std::collections::VecDeque;

use futures_core::Stream;
use placet_core::ids::SessionId;
use placet_core::interaction::{Asked, InteractionRequest, Locale, Subject};
use placet_core::journal::Event;
use placet_core::listing::{Committed, JournalPage};
use placet_core::render::SafeText;
use placet_core::run::RunEnd;
use placet_engine::events::Subscription;
use placet_store::StoreError;
use serde_json::json;
use tokio::sync::broadcast;

use super::event::of_row;
use super::{ChatError, ChatEvent, EventId, What};
use crate::agent::{Agent, LiveDelta};
use crate::model::Delta;

/// The events of a conversation, one after the other. Ends with the run.
pub struct ChatStream {
    agent: Agent,
    session: SessionId,
    after: EventId,
    journal: Subscription,
    live: broadcast::Receiver<LiveDelta>,
    ready: VecDeque<ChatEvent>,
    /// The last row that was told.
    told: u64,
    /// Pieces of speech that came before the rows they follow.
    early: VecDeque<LiveDelta>,
    so_far: SoFar,
    ended: bool,
}

/// What a run has come to, as far as later events depend on it.
#[derive(Default)]
struct SoFar {
    /// What the model said last, for the end of the run.
    last_words: String,
    /// The turn that is stored already: pieces of it are old news.
    turn: u32,
    interruption: Interruption,
}

/// Whether the run was interrupted. What is said after that begins another run when this one ends, and that is part of the
/// conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Interruption {
    #[default]
    None,
    Silent,
    Followed,
}

impl SoFar {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::RunStarted(_) => *self = Self::default(),
            Event::ModelTurn(turn) => {
                self.last_words.clone_from(&turn.text);
                self.turn = turn.turn;
            }
            Event::RunInterrupted { .. } if self.interruption == Interruption::None => {
                self.interruption = Interruption::Silent;
            }
            Event::UserSaid { .. } if self.interruption == Interruption::Silent => {
                self.interruption = Interruption::Followed;
            }
            _ => {}
        }
    }

    /// Whether the conversation goes on after its run has ended like this.
    fn is_followed(&self, how: &RunEnd) -> bool {
        self.interruption == Interruption::Followed && !how.ends_the_session()
    }
}

impl ChatStream {
    pub(super) async fn open(agent: &Agent, session: SessionId, after: EventId) -> Result<Self, ChatError> {
        let live = agent.inner.live.subscribe();
        // The row itself is read again: only some of its events may have been seen.
        let from = after.row().saturating_sub(1);
        let store = agent.engine().store();
        let so_far = store.look(|stored| {
            let mut so_far = SoFar::default();
            let Some(run) = stored.run(&session)?.as_ref().filter(|run| run.row <= from) else {
                return Ok(so_far);
            };
            // Only what happened in the run itself is needed, and a run is short.
            let of_run = JournalPage::of(&session, run.row.saturating_sub(1), usize::MAX >> 1);
            let rows = stored.journal(&of_run)?;
            for row in rows.iter().filter(|row| row.id <= from) {
                so_far.hear(&row.event);
            }
            Ok(so_far)
        });
        let so_far = so_far.await?;
        let mut journal = agent.engine().subscribe(from, Some(session.clone()));
        for child in store.look(|stored| stored.descendants(&session).cloned()).await? {
            journal.follow(child);
        }
        Ok(Self {
            agent: agent.clone(),
            journal,
            session,
            after,
            live,
            ready: VecDeque::new(),
            told: from,
            early: VecDeque::new(),
            so_far,
            ended: false,
        })
    }

    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The event after which it begins.
    pub const fn begins_after(&self) -> EventId {
        self.after
    }

    /// The next event; waits for one. `None` after the run has ended, and when the agent stops.
    pub async fn next(&mut self) -> Result<Option<ChatEvent>, StoreError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.ended = match &event.what {
                    What::Completed { how, .. } | What::Error { how } => !self.so_far.is_followed(how),
                    _ => false,
                };
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            let stop = self.agent.inner.stop.clone();
            tokio::select! {
                biased;
                // A watcher comes back after the next start, and continues after the last event it saw.
                () = stop.cancelled() => return Ok(None),
                row = self.journal.next() => {
                    let row = row?;
                    self.unfold(&row).await?;
                    self.told = row.id;
                    self.overhear();
                }
                heard = self.live.recv() => match heard {
                    Ok(heard) if heard.session == self.session => {
                        self.early.push_back(heard);
                        self.overhear();
                    }
                    // Another conversation's; or pieces were missed, and the whole follows.
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    // The agent has stopped: the journal says the rest.
                    Err(broadcast::error::RecvError::Closed) => return Ok(None),
                },
            }
        }
    }

    /// The same as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<ChatEvent, StoreError>> + Send {
        futures_util::stream::unfold(Some(self), |stream| async {
            let mut stream = stream?;
            match stream.next().await {
                Ok(Some(event)) => Some((Ok(event), Some(stream))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    async fn unfold(&mut self, row: &Committed) -> Result<(), StoreError> {
        if let Event::Claimed {
            child: Some(child), ..
        } = &row.event
        {
            self.journal.follow(child.clone());
        }
        // Of the runs it handed work to, only what people are asked is part of the conversation.
        if row.session != self.session && !matches!(row.event, Event::Asked(_) | Event::Resolved { .. }) {
            return Ok(());
        }
        self.so_far.hear(&row.event);
        let what = match &row.event {
            Event::Asked(asked) => vec![What::Interaction {
                request: Box::new(self.request(asked).await?),
            }],
            _ => of_row(row, self.agent.inner.host.agent.as_str(), &self.so_far.last_words),
        };
        for (part, what) in (0..).zip(what) {
            let id = EventId::new(row.id, part);
            if id > self.after {
                self.ready.push_back(ChatEvent {
                    id: Some(id),
                    session: self.session.clone(),
                    at: row.at,
                    what,
                });
            }
        }
        Ok(())
    }

    /// Passes on what the model is saying, after everything it speaks of.
    fn overhear(&mut self) {
        while let Some(heard) = self.early.pop_front_if(|heard| heard.row <= self.told) {
            if heard.turn <= self.so_far.turn {
                continue;
            }
            let (iteration, thought) = (heard.turn, matches!(heard.delta, Delta::Thinking(_)));
            let what = match heard.delta {
                Delta::Text(delta) | Delta::Thinking(delta) => What::Saying {
                    iteration,
                    delta,
                    thought,
                },
                Delta::Again(why) => What::BeginsAgain { iteration, why },
            };
            self.ready.push_back(ChatEvent {
                id: None,
                session: self.session.clone(),
                at: self.agent.engine().store().now(),
                what,
            });
        }
    }

    /// The question in the words of the document.
    async fn request(&self, asked: &Asked) -> Result<InteractionRequest, StoreError> {
        let locale = Locale::English;
        let question = self.agent.engine().broker().question(&asked.id).await?;
        let words = question.map(|question| question.words(locale));
        let (required, default_option_id) = match &asked.subject {
            Subject::Request { request, .. } => (request.required, request.default_option_id.clone()),
            Subject::Call { .. } | Subject::UnknownOutcome { .. } | Subject::Breaker { .. } => (true, None),
        };
        let text = |text: &SafeText| text.as_str().to_owned();
        let mut context = words
            .as_ref()
            .map(|words| words.context.clone())
            .unwrap_or_default();
        context.extend(asked.stated_risk().map(|risk| ("risk".to_owned(), json!(risk))));
        if let Some(key) = asked.call() {
            context.insert("callId".into(), json!(key.call));
        }
        if let Some(group) = &asked.group {
            context.insert("group".into(), json!(group));
        }
        Ok(InteractionRequest {
            request_id: Some(asked.id.clone()),
            session_id: asked.session.clone(),
            kind: asked.kind(),
            title: words.as_ref().map(|words| text(&words.title)).unwrap_or_default(),
            message: words
                .as_ref()
                .map(|words| text(&words.message))
                .unwrap_or_default(),
            details: words.and_then(|words| words.details.as_ref().map(text)),
            context,
            options: asked.options(locale),
            required,
            timeout_seconds: Some(asked.allowance().get().div_ceil(1000)),
            default_option_id,
            risk: asked.stated_risk(),
            allow_other: false,
        })
    }
}
