//! The outbox: what must be shown is stored with what caused it, and delivered at least once.
//!
//! Items of one channel go in order, channels side by side, and none waits for another. A failure is tried again with growing pauses; what can
//! never arrive ends the question it belongs to, if no other surface shows it: a call without a reachable approver is denied, not parked.
//!
//! What is to be shown on a channel that another process connects to waits for that process.
//!
//! That a question leaves is stored before it does. Whatever becomes of the attempt, of its acknowledgement or of this
//! process, a copy that may be there is brought up to date once the question is decided.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use placet_core::ids::ChannelName;
use placet_core::interaction::{Cancellation, Interaction, Shown};
use placet_core::journal::Event;
use placet_core::lease::LeaseName;
use placet_core::listing::{Sendable, ToSend};
use placet_core::outcome::{Denial, Nobody, Outcome};
use placet_core::outgoing::{Change, OutKind, OutState, OutboxItem};
use placet_core::render::{self, Document, Extent, Surface, to_text};
use placet_core::step::Step;
use placet_core::time::{Millis, Timestamp};
use placet_store::{StepError, StoreError};
use tokio::task::{self, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::channel::{Channel, ChannelFault, Content, Delivery, DeliveryError, Receipt};
use crate::engine::Engine;
use crate::leases::Held;
use crate::timers::backoff;

const BATCH: usize = 64;
const IDLE: Duration = Duration::from_secs(5);
/// How long to wait after the store failed in the middle of a round.
const FAILED_ROUND: Duration = Duration::from_millis(500);
/// A platform that does not answer within this time has failed this attempt.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(30);
/// After this many attempts an item counts as undeliverable.
const ATTEMPTS_MAX: u32 = 12;

pub(crate) async fn run(engine: Engine, stop: CancellationToken) {
    let mut rounds = Rounds::default();
    // Cut short at the end: what a platform has not confirmed by then is shown again, under the same key.
    while let Some(begun) = stop.run_until_cancelled(rounds.begin(&engine)).await {
        let pause = match begun {
            Ok(pause) => pause,
            Err(error) => {
                tracing::error!(%error, "the outbox could not do its work; trying again");
                IDLE
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = rounds.end() => {}
            () = engine.inner.outbox_work.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// The rounds under way, at most one per channel: a slow platform holds up its own messages and no others.
#[derive(Default)]
struct Rounds {
    tasks: JoinSet<Result<Flow, StoreError>>,
    channels: HashMap<task::Id, ChannelName>,
    /// Until when platforms asked for nothing more to be sent.
    paused: BTreeMap<ChannelName, Timestamp>,
}

/// How a channel goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// With the next item.
    On,
    /// After a pause that its platform asked for.
    Paused(Timestamp),
}

impl Rounds {
    /// Sends what is due on idle channels, and says how long until more is.
    async fn begin(&mut self, engine: &Engine) -> Result<Duration, StoreError> {
        // Channels that another process delivers to.
        let mut elsewhere: BTreeSet<ChannelName> = BTreeSet::new();
        loop {
            let left = engine.inner.left_to_others();
            let now = engine.store().now();
            self.paused.retain(|_, until| now < *until);
            let busy = self.channels.values().chain(left).chain(&elsewhere);
            let busy = busy.chain(self.paused.keys());
            let busy: BTreeSet<ChannelName> = busy.cloned().collect();
            let wanted = ToSend {
                at: now,
                busy,
                limit: BATCH,
            };
            let look = engine.store().look(|stored| stored.sendable(&wanted).cloned());
            let Sendable { items, next } = look.await?;
            if items.is_empty() {
                let next = next.into_iter().chain(self.paused.values().copied()).min();
                let pause = next.map(|next| Duration::from_millis(next.remaining_from(now).get()));
                return Ok(pause.map_or(IDLE, |pause| pause.min(IDLE)));
            }
            let mut by_channel: BTreeMap<ChannelName, Vec<OutboxItem>> = BTreeMap::new();
            for item in items {
                by_channel.entry(item.channel.clone()).or_default().push(item);
            }
            for (channel, items) in by_channel {
                let name = LeaseName::outbox(&channel);
                let was_held = engine.held(&name).is_some();
                let Some(lease) = engine.hold(&name).await? else {
                    elsewhere.insert(channel);
                    continue;
                };
                if !was_held {
                    // The process that had the lease may have sent some of these items since they were read: read them again.
                    continue;
                }
                let round = Round {
                    engine: engine.clone(),
                    lease,
                };
                let round = self.tasks.spawn(deliver_all(round, items));
                self.channels.insert(round.id(), channel);
            }
        }
    }

    /// Waits for one to come back; forever when none is out.
    async fn end(&mut self) {
        let (id, delivered) = match self.tasks.join_next_with_id().await {
            None => return pending().await,
            Some(Ok((id, delivered))) => (id, delivered),
            Some(Err(error)) => (error.id(), Err(StoreError::Io(error.to_string()))),
        };
        let channel = self.channels.remove(&id);
        match (delivered, channel) {
            (Ok(Flow::Paused(until)), Some(channel)) => {
                self.paused.insert(channel, until);
            }
            // When it is fenced, another process delivers to the channel by now.
            (Ok(_) | Err(StoreError::Fenced { .. }), _) => {}
            (Err(error), channel) => {
                let channel = channel.map(|channel| channel.to_string());
                tracing::error!(%error, channel, "a round of the outbox failed; trying again");
                // What failed is due at once; without a pause, a store that is gone would be asked without end.
                tokio::time::sleep(FAILED_ROUND).await;
            }
        }
    }
}

/// Items of one channel on their way. Only the process that has the channel's lease delivers to it.
#[derive(Clone)]
struct Round {
    engine: Engine,
    lease: Held,
}

impl Round {
    async fn store(&self, change: Change) -> Result<(), StoreError> {
        self.engine.store_change_under(Some(&self.lease), change).await
    }
}

async fn deliver_all(round: Round, items: Vec<OutboxItem>) -> Result<Flow, StoreError> {
    for item in items {
        if let paused @ Flow::Paused(_) = deliver(&round, item).await? {
            return Ok(paused);
        }
    }
    Ok(Flow::On)
}

async fn deliver(round: &Round, item: OutboxItem) -> Result<Flow, StoreError> {
    let engine = &round.engine;
    let healths = &engine.inner.healths;
    let result = match engine.inner.channels.get(&item.channel) {
        Some(channel) => match attempt(round, channel.as_ref(), &item).await {
            // What cannot be read cannot be shown, and must not hold up what is behind it.
            Err(error @ StoreError::Corrupt { .. }) => {
                Attempt::Failed(DeliveryError::Impossible(error.to_string()))
            }
            attempted => attempted?,
        },
        None => Attempt::Failed(DeliveryError::Impossible(format!(
            "no channel named `{}` is connected",
            item.channel
        ))),
    };
    let now = engine.store().now();
    match &result {
        Attempt::Shown(_) => healths.delivered(&item.channel, now),
        Attempt::Failed(error) => {
            let error = error.to_string();
            healths.failed(&item.channel, ChannelFault { at: now, error });
        }
        Attempt::Moot => {}
    }
    let flow = match &result {
        Attempt::Failed(DeliveryError::Throttled { pause, .. }) => Flow::Paused(now + *pause),
        _ => Flow::On,
    };
    match result {
        Attempt::Shown(receipt) => {
            // In a task of its own, which a shutdown waits for: what was shown is recorded, and not shown again.
            let recording = engine
                .inner
                .tasks
                .spawn(record_shown(round.clone(), item, receipt));
            recording.await.map_err(|_| StoreError::Panicked)??;
        }
        Attempt::Moot => {
            let error = "no longer needed".into();
            round.store(Change::Dead { id: item.id, error }).await?;
        }
        Attempt::Failed(DeliveryError::Later(error)) => try_later(round, item, error, Millis::ZERO).await?,
        Attempt::Failed(DeliveryError::Busy { error, pause } | DeliveryError::Throttled { error, pause }) => {
            try_later(round, item, error, pause).await?;
        }
        Attempt::Failed(DeliveryError::Impossible(error)) => {
            let given_up = match item.receipt {
                // An earlier attempt was never heard of again.
                Some(_) => Change::Dead {
                    id: item.id,
                    error: error.clone(),
                },
                None => Change::Refused {
                    id: item.id,
                    error: error.clone(),
                },
            };
            give_up(round, item, given_up, error).await?;
        }
    }
    Ok(flow)
}

async fn try_later(round: &Round, item: OutboxItem, error: String, pause: Millis) -> Result<(), StoreError> {
    if item.attempts + 1 >= ATTEMPTS_MAX {
        let given_up = Change::Dead {
            id: item.id,
            error: error.clone(),
        };
        return give_up(round, item, given_up, error).await;
    }
    let next = round.engine.store().now() + backoff(item.attempts).max(pause);
    let failed = Change::Failed {
        id: item.id,
        error,
        next,
    };
    round.store(failed).await
}

enum Attempt {
    Shown(Receipt),
    Moot,
    Failed(DeliveryError),
}

async fn attempt(round: &Round, channel: &dyn Channel, item: &OutboxItem) -> Result<Attempt, StoreError> {
    let engine = &round.engine;
    let locale = engine.in_force().config.locale(Some(&item.channel));
    match (&item.interaction, item.kind) {
        (_, OutKind::Message) | (None, _) => {
            Ok(send(engine, channel, item, Content::Message { text: &item.body }).await)
        }
        (Some(id), OutKind::Question) => {
            let Some(question) = engine.broker().question(id).await? else {
                return Ok(Attempt::Moot);
            };
            // Decided before it could be shown: showing it now would only mislead.
            let Interaction::Pending(pending) = &question.interaction else {
                return Ok(Attempt::Moot);
            };
            let document = question.document(locale);
            let options = pending.asked.options(locale);
            let content = Content::Question {
                asked: &pending.asked,
                document: &document,
                options: &options,
            };
            if item.receipt.is_none() {
                let receipt = stored(&Receipt::unacknowledged())?;
                round.store(Change::Leaving { id: item.id, receipt }).await?;
            }
            Ok(match send(engine, channel, item, content).await {
                Attempt::Shown(receipt) => Attempt::Shown(Receipt {
                    shown: at_most(receipt.shown, &document, &channel.surface()),
                    ..receipt
                }),
                attempt => attempt,
            })
        }
        (Some(id), OutKind::Decided) => {
            let look = engine
                .store()
                .look(|stored| Ok((stored.interaction(id)?.clone(), stored.copies(id)?.clone())));
            let (interaction, copies) = look.await?;
            let copy = copies.iter().find(|copy| {
                copy.kind == OutKind::Question && copy.channel == item.channel && copy.chat == item.chat
            });
            let (Some(Interaction::Resolved(resolved) | Interaction::Processed(resolved)), Some(copy)) =
                (&interaction, copy)
            else {
                return Ok(Attempt::Moot);
            };
            // It never left, and now that it is decided it never will.
            let Some(receipt) = copy.receipt.as_deref().and_then(Receipt::parse) else {
                return Ok(Attempt::Moot);
            };
            let question = engine.broker().question(id).await?;
            let whole = question.and_then(|question| question.decided(locale));
            let document = whole.unwrap_or_else(|| render::decided(resolved, None, locale));
            let content = Content::Decided {
                asked: &resolved.asked,
                resolution: &resolved.resolution,
                document: &document,
                copy: &receipt,
            };
            Ok(send(engine, channel, item, content).await)
        }
    }
}

/// What people can have seen of a document, whatever the channel says it showed: a surface that is too small for all of it cannot have
/// shown all of it.
fn at_most(shown: Shown, document: &Document, surface: &Surface) -> Shown {
    match shown {
        Shown::Whole(digest) if to_text(document, surface).extent == Extent::Part => Shown::Part(digest),
        shown => shown,
    }
}

async fn send(engine: &Engine, channel: &dyn Channel, item: &OutboxItem, content: Content<'_>) -> Attempt {
    let inbox = engine.inner.inbox_url.as_ref().zip(item.interaction.as_ref());
    let inbox = inbox.map(|(url, question)| format!("{url}/q/{question}"));
    let delivery = Delivery {
        idempotency_key: &item.key,
        chat: &item.chat,
        inbox: inbox.as_deref(),
        content,
    };
    let mut delivering = pin!(channel.deliver(delivery));
    // A channel that panics has failed this attempt, and no other channel with it.
    let guarded = poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| delivering.as_mut().poll(cx)))
            .unwrap_or_else(|_| Poll::Ready(Err(DeliveryError::Later("the channel panicked".into()))))
    });
    match tokio::time::timeout(DELIVERY_TIMEOUT, guarded).await {
        Ok(Ok(receipt)) => Attempt::Shown(receipt),
        Ok(Err(error)) => Attempt::Failed(error),
        Err(_) => Attempt::Failed(DeliveryError::Later("the channel did not answer in time".into())),
    }
}

async fn record_shown(round: Round, item: OutboxItem, receipt: Receipt) -> Result<(), StoreError> {
    let receipt = stored(&receipt)?;
    let record = round.engine.transact_under(Some(&round.lease), |snapshot, _| {
        let mut step = Step::nothing(());
        if let Some(id) = &item.interaction
            && let Some(interaction) = snapshot.interaction(id)?
        {
            let event = Event::Delivered {
                interaction: id.clone(),
                channel: item.channel.clone(),
                chat: item.chat.clone(),
                receipt: Some(receipt.clone()),
            };
            step.events.push((interaction.asked().session.clone(), event));
        }
        step.changes.push(Change::Sent {
            id: item.id,
            receipt: Some(receipt.clone()),
        });
        Ok(step)
    });
    record.await.map_err(StepError::into_store_error)
}

fn stored(receipt: &Receipt) -> Result<String, StoreError> {
    serde_json::to_string(receipt).map_err(|error| StoreError::Corrupt {
        what: error.to_string(),
    })
}

/// It will never arrive. If that leaves a question without a surface, the call is refused at once, saying so.
async fn give_up(round: &Round, item: OutboxItem, given_up: Change, error: String) -> Result<(), StoreError> {
    let engine = &round.engine;
    round.store(given_up).await?;
    let (Some(id), OutKind::Question) = (item.interaction, item.kind) else {
        return Ok(());
    };
    let copies = engine.store().look(|stored| stored.copies(&id).cloned()).await?;
    let seen = copies
        .iter()
        .any(|copy| copy.kind == OutKind::Question && copy.state != OutState::Dead);
    if !seen {
        let denial = Denial::NobodyToAsk {
            why: Nobody::Undeliverable { error: error.clone() },
        };
        let outcome = Outcome::Denied { denial };
        let broker = engine.broker();
        let cancelled = broker.cancel(&id, Cancellation::Undeliverable { error }, outcome);
        match cancelled.await {
            // It stays as it is: it cannot be answered, and nothing runs because of it.
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(%error, question = %id, "a question that cannot be delivered cannot be read either");
            }
            cancelled => drop(cancelled?),
        }
    }
    Ok(())
}
