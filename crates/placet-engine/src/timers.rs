//! What time does: expiry, escalation, lost leases, heartbeats and checkpoints. One task for all questions together.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use placet_core::journal::Event;
use placet_core::time::{LiveTime, Millis};
use placet_store::{Committed, StepError, StoreError};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::steps;

/// How often live time is written down while nothing else is: what a crash can add to a question's time.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How many due questions are handled before looking at the clock again.
const BATCH: usize = 256;

/// Until when the timers sleep. Most questions are due after those before them, so most commits need not wake anybody.
#[derive(Debug)]
pub(crate) struct Alarm {
    /// In live time. While the timers are awake, or before they looked, everything is early.
    set_to: AtomicI64,
    ring: Notify,
}

impl Default for Alarm {
    fn default() -> Self {
        Self {
            set_to: AtomicI64::new(i64::MAX),
            ring: Notify::new(),
        }
    }
}

impl Alarm {
    /// Wakes the timers when something in the committed rows is due before they would look again.
    pub(crate) fn heed(&self, rows: &[Committed]) {
        let earliest = rows.iter().filter_map(|row| due(&row.event)).min();
        if earliest.is_some_and(|due| due.as_millis() < self.set_to.load(Ordering::SeqCst)) {
            self.ring.notify_one();
        }
    }

    /// Wakes the timers: the clock was changed, or something else they cannot see.
    pub(crate) fn ring(&self) {
        self.ring.notify_one();
    }

    /// What is committed from here on rings, however late it is due: nobody has looked at it yet.
    fn unset(&self) {
        self.set_to.store(i64::MAX, Ordering::SeqCst);
    }

    fn set(&self, next: Option<LiveTime>) {
        // Nothing is due: whatever comes is the earliest.
        self.set_to
            .store(next.map_or(i64::MAX, LiveTime::as_millis), Ordering::SeqCst);
    }
}

/// When an event makes something due.
fn due(event: &Event) -> Option<LiveTime> {
    match event {
        Event::Asked(asked) => {
            let escalation = asked.escalation.as_ref().map(|escalation| escalation.at);
            Some(escalation.map_or(asked.deadline, |at| at.min(asked.deadline)))
        }
        Event::Claimed { lease, .. } => *lease,
        _ => None,
    }
}

pub(crate) async fn run(engine: Engine, stop: CancellationToken) {
    let alarm = &engine.inner.alarm;
    // Commits of other steps write live time down too; a beat of its own is only for quiet times.
    let mut beat = tokio::time::interval(HEARTBEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        alarm.unset();
        let turn = turn(&engine).await;
        alarm.set(turn.as_ref().ok().copied().flatten());
        let pause = match turn {
            Ok(Some(next)) => HEARTBEAT.min(until(next, engine.store().now().live)),
            Ok(None) => HEARTBEAT,
            Err(error) => {
                // Nothing runs because of this: a question that is not expired in time refuses late answers itself.
                tracing::error!(%error, "the timers could not do their work; trying again");
                HEARTBEAT
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = alarm.ring.notified() => {}
            () = tokio::time::sleep(pause) => {}
            _ = beat.tick() => {
                if let Err(error) = write_down(&engine).await {
                    tracing::error!(%error, "live time could not be written down; trying again");
                }
            }
        }
    }
}

/// Live time and a checkpoint, for as long as nothing else is written.
async fn write_down(engine: &Engine) -> Result<(), StoreError> {
    engine.store().heartbeat().await?;
    engine.store().checkpoint().await
}

fn until(next: LiveTime, now: LiveTime) -> Duration {
    Duration::from_millis(next.remaining_from(now).get())
}

/// Does everything that is due, and says when something is due next.
async fn turn(engine: &Engine) -> Result<Option<LiveTime>, StoreError> {
    let store = engine.store();
    loop {
        let (due, escalations, leases) = store
            .read(|view, now| {
                Ok((
                    view.due(now.live, BATCH)?,
                    view.due_escalations(now.live, BATCH)?,
                    view.lease_expired(now.live, BATCH)?,
                ))
            })
            .await?;
        if due.is_empty() && escalations.is_empty() && leases.is_empty() {
            break;
        }
        // Together, so that they are committed together: a morning after may find thousands due at once.
        let mut expiring = JoinSet::new();
        for id in due {
            let store = store.clone();
            expiring.spawn(async move { store.step(move |view, now| steps::expire(view, now, &id)).await });
        }
        while let Some(expired) = expiring.join_next().await {
            expired
                .map_err(|_| StoreError::Panicked)?
                .map_err(StepError::flatten)?;
        }
        for id in escalations {
            let in_force = engine.in_force();
            let step = store.step(move |view, now| steps::escalate(&in_force.rules(), view, now, &id));
            step.await.map_err(StepError::flatten)?;
        }
        for (key, _) in leases {
            let in_force = engine.in_force();
            let fresh = Engine::fresh().map_err(|error| StoreError::Corrupt {
                what: error.to_string(),
            })?;
            let step =
                store.step(move |view, now| steps::lose_lease(&in_force.rules(), view, now, &key, &fresh));
            step.await.map_err(StepError::flatten)?;
        }
    }
    store.read(|view, _| view.next_due()).await
}

/// How long to wait before another try at something that failed `attempts` times.
pub(crate) fn backoff(attempts: u32) -> Millis {
    let doubled = 1_u64.checked_shl(attempts.min(10)).unwrap_or(1024);
    Millis::new(doubled.saturating_mul(500).min(300_000))
}
