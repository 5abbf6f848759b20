//! What time does: expiry, escalation, lost leases, heartbeats and checkpoints. One task for all questions together.

use std::time::Duration;

use placet_core::time::{LiveTime, Millis};
use placet_store::{StepError, StoreError};
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::steps;

/// How often live time is written down while nothing else is: what a crash can add to a question's time.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How many due questions are handled before looking at the clock again.
const BATCH: usize = 256;

pub(crate) async fn run(engine: Engine, stop: CancellationToken) {
    // Commits of other steps write live time down too; a beat of its own is only for quiet times.
    let mut beat = tokio::time::interval(HEARTBEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let pause = match turn(&engine).await {
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
            () = engine.inner.timer_work.notified() => {}
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
        for id in due {
            store
                .step(move |view, now| steps::expire(view, now, &id))
                .await
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
