//! The attendant of a terminal: takes questions from the queue one by one, and gives the person's answers to the broker.

use std::io;
use std::sync::Arc;

use placet_core::ids::InteractionId;
use placet_core::interaction::{Audience, Interaction, Locale, Pending};
use placet_core::messages::{self, prompt};
use placet_core::principal::Principal;
use placet_core::render::{Block, Change, Document};
use placet_engine::Engine;
use placet_engine::broker::Broker;
use placet_store::StoreError;
use tokio_util::sync::CancellationToken;

use super::inline::{Held, Inline};
use super::line::{Line, SpanStyle};
use super::prompt::{Ask, Interrupting, Prompt};
use super::questions::{Given, Questions};
use super::queue::Queue;
use super::raw::{Raw, Taken};
use super::scroll::head_lines;

/// Lines of what was asked that stay on the screen above what became of it.
const KEPT_MAX: usize = 8;
/// How many open questions are looked through at once when starting.
const PAGE: usize = 256;

/// Sits between one terminal and the broker. Runs until stopped.
pub struct Attendant {
    pub(super) inline: Inline,
    pub(super) queue: Arc<Queue>,
    pub(super) chat: placet_core::call::Chat,
    pub(super) by: Principal,
}

/// Why the terminal is no longer attended. Questions stay open.
#[derive(Debug, thiserror::Error)]
pub enum AttendError {
    /// The terminal is gone.
    #[error("the terminal cannot be used any more: {0}")]
    Terminal(#[from] io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The owner of the store, in another process, did not answer.
    #[error("{0}")]
    Owner(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Tells an attendant what became of the question on its screen, when no channel delivers that to it.
#[derive(Clone)]
pub struct Settle {
    queue: Arc<Queue>,
}

impl Settle {
    /// The question is settled; `document` says how.
    pub fn decided(&self, id: &InteractionId, document: &Document) {
        self.queue.settle(id, document);
    }
}

/// Something for the person at the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// A question.
    Question(InteractionId),
    /// What they are told, as lines that are safe to print.
    Messages(Vec<Line>),
}

/// What came of showing a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attended {
    /// It was settled while it was on the screen, by them or otherwise.
    Settled,
    /// Others are asked, and it is still open.
    Others,
    /// It was settled before it could be shown.
    Past,
}

impl Attendant {
    /// Shows questions and takes answers until stopped. Questions left open stay open.
    pub async fn run(mut self, engine: Engine, stop: CancellationToken) -> Result<(), AttendError> {
        let queue = Arc::clone(&self.queue);
        let _watch = tokio_util::task::AbortOnDropHandle::new(tokio::spawn({
            let (queue, stop) = (Arc::clone(&queue), stop.clone());
            async move {
                stop.cancelled().await;
                queue.stop();
            }
        }));
        self.catch_up(&engine.broker()).await?;
        while let Some(delivered) = stop.run_until_cancelled(self.delivered()).await {
            match delivered {
                Delivered::Messages(lines) => self.inline.print(&lines)?,
                Delivered::Question(id) => {
                    self.ask(&engine.broker(), &id).await?;
                }
            }
        }
        Ok(())
    }

    /// Tells it what became of the question on the screen.
    pub fn settle(&self) -> Settle {
        Settle {
            queue: Arc::clone(&self.queue),
        }
    }

    /// What was delivered to this terminal and not shown yet; waits for it. For programs that draw on the terminal themselves and
    /// say when [`Attendant::ask`] may.
    pub async fn delivered(&self) -> Delivered {
        loop {
            let messages = self.queue.messages();
            if !messages.is_empty() {
                return Delivered::Messages(messages);
            }
            if let Some(id) = self.queue.next() {
                return Delivered::Question(id);
            }
            self.queue.work().await;
        }
    }

    /// What was shown before the last start is no longer on a screen: it is delivered again.
    pub async fn catch_up(&self, broker: &Broker) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = broker.pending(after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = Some(last.cursor);
            for row in page {
                if row.chat.as_ref() == Some(&self.chat) {
                    self.queue.push(row.id);
                }
            }
        }
    }

    /// Shows a question until it is settled, on a terminal that nothing else draws on or reads from meanwhile.
    pub async fn ask(
        &mut self,
        questions: &dyn Questions,
        id: &InteractionId,
    ) -> Result<Attended, AttendError> {
        self.queue.take(id);
        let Some((question, scopes)) = questions.question(id, &self.by).await? else {
            return Ok(Attended::Past);
        };
        let Interaction::Pending(pending) = &question.interaction else {
            return Ok(Attended::Past);
        };
        let locale = self.inline.locale;
        if !pending.asks(&self.by) {
            let document = question.document(locale);
            let told = told(pending, locale);
            self.close(&document, Line::new(SpanStyle::Caution, told))?;
            return Ok(Attended::Others);
        }
        let ask = Ask {
            scopes,
            question,
            by: self.by.clone(),
            locale,
            interrupting: Interrupting::Refuses,
        };
        let mut prompt = Prompt::new(ask, self.inline.now());
        let raw = Arc::new(Raw::take(self.inline.out, Taken::Inline)?);
        let end = self.until_settled(questions, &raw, &mut prompt).await;
        let document = prompt.sheet().document().clone();
        // Given back first: what is printed now stays.
        let closed = end.and_then(|end| Ok(self.close(&document, end)?));
        drop(raw);
        closed.map(|()| Attended::Settled)
    }

    /// Holds the prompt until the question is no longer this person's, and says what came of it.
    async fn until_settled(
        &mut self,
        questions: &dyn Questions,
        raw: &Arc<Raw>,
        prompt: &mut Prompt,
    ) -> Result<Line, AttendError> {
        let id = prompt.asked().id.clone();
        loop {
            match self.hold(raw, prompt).await? {
                // It may have been settled in the same moment.
                Held::Stopped => return self.came_to(questions, &id).await,
                Held::Decided(document) => return Ok(outcome(&document)),
                Held::Withdrawn => {
                    questions.withdraw(&id, &self.by).await?;
                    return self.came_to(questions, &id).await;
                }
                Held::Previewing(scope) => {
                    let preview = questions.preview(prompt.question(), &scope).await?;
                    prompt.previewed(preview.as_ref());
                }
                Held::Answered(answer) => match questions.answer(&id, *answer, self.inline.locale).await? {
                    Given::Settled => return self.came_to(questions, &id).await,
                    Given::GoesOn(words) => return Ok(Line::new(SpanStyle::Strong, format!("→ {words}"))),
                    Given::Refused(why) => prompt.refused(&why),
                },
            }
        }
    }

    /// Reading keys blocks, so it is done beside the runtime.
    async fn hold(&mut self, raw: &Arc<Raw>, prompt: &mut Prompt) -> Result<Held, AttendError> {
        let (out, palette, locale) = (self.inline.out, self.inline.palette, self.inline.locale);
        let mut inline = std::mem::replace(&mut self.inline, Inline::new(out, palette, locale));
        let mut held_prompt = prompt.clone();
        let (raw, queue) = (Arc::clone(raw), Arc::clone(&self.queue));
        let task = tokio::task::spawn_blocking(move || {
            let held = inline.hold(&raw, &mut held_prompt, &queue);
            (inline, held_prompt, held)
        });
        let (inline, held_prompt, held) = task.await.map_err(io::Error::other)?;
        self.inline = inline;
        *prompt = held_prompt;
        Ok(held?)
    }

    /// What came of a question, in a sentence.
    pub async fn came_to(&self, questions: &dyn Questions, id: &InteractionId) -> Result<Line, AttendError> {
        let locale = self.inline.locale;
        let found = questions.question(id, &self.by).await?;
        let Some((question, _)) = found else {
            return Ok(Line::default());
        };
        let still_open = || {
            let code = question.interaction.asked().code;
            Line::new(SpanStyle::Faint, prompt::still_open(code).say(locale))
        };
        let decided = question.decided(locale);
        Ok(decided.map_or_else(still_open, |document| outcome(&document)))
    }

    /// Leaves on the screen what was asked and what came of it.
    fn close(&mut self, document: &Document, end: Line) -> io::Result<()> {
        let cols = crossterm::terminal::size().map_or(80, |(cols, _)| usize::from(cols));
        let mut lines = head_lines(document, cols);
        if lines.len() > KEPT_MAX {
            let hidden = lines.len() - KEPT_MAX;
            lines.truncate(KEPT_MAX);
            let words = prompt::lines_kept(hidden).say(document.locale);
            lines.push(Line::new(SpanStyle::Faint, words));
        }
        lines.push(end);
        self.inline.print(&lines)
    }
}

/// The sentence of a settled question, and what the person said with it.
fn outcome(document: &Document) -> Line {
    let mut line = Line::default();
    for block in document.blocks() {
        line = match block {
            Block::Heading { text, .. } => line.and(SpanStyle::Strong, format!("→ {text}")),
            // Safe already: what was made visible must not be made visible again.
            Block::Text { text, .. } => {
                let text: Vec<&str> = text.as_str().split('\n').collect();
                line.and(SpanStyle::Plain, format!(" “{}”", text.join(" ")))
            }
            Block::Diff { hunks, .. } => {
                let changed = |wanted: Change| {
                    let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
                    let lines = lines.filter(move |line| line.change == wanted);
                    let lines: Vec<&str> = lines.map(|line| line.text.as_str().trim()).collect();
                    lines.join(" ")
                };
                line.and(SpanStyle::Removed, format!(" {}", changed(Change::Removed)))
                    .and(SpanStyle::Plain, " → ")
                    .and(SpanStyle::Added, changed(Change::Added))
            }
            _ => line,
        };
    }
    line
}

/// What a bystander is told.
fn told(pending: &Pending, locale: Locale) -> String {
    let who = match &pending.asked.audience {
        Audience::Inbox => prompt::the_inbox().say(locale),
        Audience::People(people) => {
            let people: Vec<String> = people.iter().map(ToString::to_string).collect();
            messages::all_of(locale, &people)
        }
    };
    prompt::for_others(pending.asked.code, who).say(locale)
}
