//! The outbox: what must be shown is stored with what caused it, and delivered at least once.
//!
//! One task, items of one channel in order and channels side by side. A failure is tried again with growing pauses; what can
//! never arrive ends the question it belongs to, if nobody else can see it: nobody to ask is a refusal, not a wait.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use placet_core::ids::ChannelName;
use placet_core::interaction::{Cancellation, Interaction};
use placet_core::journal::Event;
use placet_core::outcome::{Denial, Outcome};
use placet_core::render;
use placet_store::{Change, OutKind, OutState, OutboxItem, Step, StepError, StoreError};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::channel::{Channel, Content, Delivery, DeliveryError, Receipt};
use crate::engine::Engine;
use crate::timers::backoff;

const BATCH: usize = 64;
const IDLE: Duration = Duration::from_secs(5);
/// A platform that does not answer within this time has failed this attempt.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(30);
/// After this many attempts an item counts as undeliverable.
const ATTEMPTS_MAX: u32 = 12;

pub(crate) async fn run(engine: Engine, stop: CancellationToken) {
    loop {
        // Cut short at the end: what was shown and not recorded is shown again, under the same key.
        let Some(turned) = stop.run_until_cancelled(turn(&engine)).await else {
            return;
        };
        let pause = match turned {
            Ok(Some(pause)) => pause,
            Ok(None) => IDLE,
            Err(error) => {
                tracing::error!(%error, "the outbox could not do its work; trying again");
                IDLE
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = engine.inner.outbox_work.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Delivers what is due, and says how long until more is.
async fn turn(engine: &Engine) -> Result<Option<Duration>, StoreError> {
    loop {
        let items = engine
            .store()
            .read(|view, now| view.outbox_due(now.live, BATCH))
            .await?;
        if items.is_empty() {
            break;
        }
        let mut by_channel: BTreeMap<ChannelName, Vec<OutboxItem>> = BTreeMap::new();
        for item in items {
            by_channel.entry(item.channel.clone()).or_default().push(item);
        }
        let mut channels: JoinSet<_> = by_channel
            .into_values()
            .map(|items| deliver_all(engine.clone(), items))
            .collect();
        while let Some(delivered) = channels.join_next().await {
            delivered.map_err(|error| StoreError::Io(error.to_string()))??;
        }
    }
    let (next, now) = engine
        .store()
        .read(|view, now| Ok((view.outbox_next()?, now.live)))
        .await?;
    Ok(next.map(|next| Duration::from_millis(next.remaining_from(now).get()).min(IDLE)))
}

async fn deliver_all(engine: Engine, items: Vec<OutboxItem>) -> Result<(), StoreError> {
    for item in items {
        deliver(&engine, item).await?;
    }
    Ok(())
}

async fn deliver(engine: &Engine, item: OutboxItem) -> Result<(), StoreError> {
    let result = match engine.inner.channels.get(&item.channel) {
        Some(channel) => attempt(engine, channel.as_ref(), &item).await?,
        None => Attempt::Failed(DeliveryError::Impossible(format!(
            "no channel named `{}` is connected",
            item.channel
        ))),
    };
    match result {
        Attempt::Shown(receipt) => record_shown(engine, item, receipt).await,
        Attempt::Moot => {
            change(
                engine,
                Change::Dead {
                    id: item.id,
                    error: "no longer needed".into(),
                },
            )
            .await
        }
        Attempt::Failed(DeliveryError::Later(error)) if item.attempts + 1 < ATTEMPTS_MAX => {
            let next = engine.store().now().live + backoff(item.attempts);
            change(
                engine,
                Change::Failed {
                    id: item.id,
                    error,
                    next,
                },
            )
            .await
        }
        Attempt::Failed(DeliveryError::Later(error) | DeliveryError::Impossible(error)) => {
            give_up(engine, item, error).await
        }
    }
}

enum Attempt {
    Shown(Receipt),
    Moot,
    Failed(DeliveryError),
}

async fn attempt(engine: &Engine, channel: &dyn Channel, item: &OutboxItem) -> Result<Attempt, StoreError> {
    let locale = engine.in_force().config.locale(Some(&item.channel));
    match (&item.interaction, item.kind) {
        (_, OutKind::Message) | (None, _) => {
            Ok(send(channel, item, Content::Message { text: &item.body }).await)
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
            Ok(send(channel, item, content).await)
        }
        (Some(id), OutKind::Decided) => {
            let id = id.clone();
            let read = engine
                .store()
                .read(move |view, _| Ok((view.interaction(&id)?, view.outbox_items(&id)?)));
            let (interaction, copies) = read.await?;
            let copy = copies.iter().find(|copy| {
                copy.kind == OutKind::Question && copy.channel == item.channel && copy.chat == item.chat
            });
            let (Some(Interaction::Resolved(resolved) | Interaction::Processed(resolved)), Some(copy)) =
                (interaction, copy)
            else {
                return Ok(Attempt::Moot);
            };
            match (copy.state, copy.receipt.as_deref().and_then(Receipt::parse)) {
                (OutState::Sent, Some(receipt)) => {
                    let document =
                        render::decided(&resolved.asked, &resolved.resolution, resolved.at, locale);
                    let content = Content::Decided {
                        asked: &resolved.asked,
                        resolution: &resolved.resolution,
                        document: &document,
                        copy: &receipt,
                    };
                    Ok(send(channel, item, content).await)
                }
                (OutState::Waiting, _) => Ok(Attempt::Failed(DeliveryError::Later(
                    "the question itself is still on its way".into(),
                ))),
                _ => Ok(Attempt::Moot),
            }
        }
    }
}

async fn send(channel: &dyn Channel, item: &OutboxItem, content: Content<'_>) -> Attempt {
    let delivery = Delivery {
        idempotency_key: &item.key,
        chat: &item.chat,
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

async fn record_shown(engine: &Engine, item: OutboxItem, receipt: Receipt) -> Result<(), StoreError> {
    let receipt = serde_json::to_string(&receipt).map_err(|error| StoreError::Corrupt {
        what: error.to_string(),
    })?;
    let step = move |view: &placet_store::View<'_>, _| {
        let mut step = Step::nothing(());
        if let Some(id) = &item.interaction
            && let Some(interaction) = view.interaction(id)?
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
            receipt: Some(receipt),
        });
        Ok::<_, StoreError>(step)
    };
    engine.store().step(step).await.map_err(StepError::flatten)
}

/// It will never arrive. If that leaves a question nobody can see, the call is refused at once, saying so.
async fn give_up(engine: &Engine, item: OutboxItem, error: String) -> Result<(), StoreError> {
    change(
        engine,
        Change::Dead {
            id: item.id,
            error: error.clone(),
        },
    )
    .await?;
    let (Some(id), OutKind::Question) = (item.interaction, item.kind) else {
        return Ok(());
    };
    let looked = id.clone();
    let copies = engine
        .store()
        .read(move |view, _| view.outbox_items(&looked))
        .await?;
    let seen = copies
        .iter()
        .any(|copy| copy.kind == OutKind::Question && copy.state != OutState::Dead);
    if !seen {
        let denial = Denial::NobodyToAsk { why: error.clone() };
        let outcome = Outcome::Denied { denial };
        engine
            .broker()
            .cancel(&id, Cancellation::Undeliverable { error }, outcome)
            .await?;
    }
    Ok(())
}

async fn change(engine: &Engine, change: Change) -> Result<(), StoreError> {
    let step = move |_: &placet_store::View<'_>, _| {
        Ok::<_, StoreError>(Step {
            events: Vec::new(),
            changes: vec![change],
            value: (),
        })
    };
    engine.store().step(step).await.map_err(StepError::flatten)
}
