//! What time does: expiry, escalation, lost leases, outages, heartbeats, checkpoints and forgetting. One task for all
//! questions together.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use placet_core::ids::InteractionId;
use placet_core::interaction::CallKey;
use placet_core::journal::Event;
use placet_core::lease::LeaseName;
use placet_core::listing::{Committed, Due, DueBy};
use placet_core::outgoing::Change;
use placet_core::steps;
use placet_core::time::{Millis, Timestamp};
use placet_store::{StepError, StoreError};
use std::convert::Infallible;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::leases::Held;

/// How often it is stored that Placet runs while nothing else is: what a crash can add to a question's time.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How many due questions are handled before looking at the clock again.
const BATCH: usize = 256;

/// How long it is remembered what was sent and which messages came in: longer than any platform repeats itself, and far
/// longer than a signature counts.
const REMEMBERED: Millis = Millis::from_secs(30 * 24 * 3600);
/// How often what is older is forgotten.
const FORGETTING: Millis = Millis::from_secs(3600);
/// How often shared values that have ended are removed: used proofs of browsers are many and end within minutes.
const SWEEPING: Millis = Millis::from_secs(120);

/// Until when the timers sleep. Most questions are due after those before them, so most commits wake no timer.
#[derive(Debug)]
pub(crate) struct Alarm {
    /// While the timers are awake, or before they looked, everything is early.
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

    /// What is committed from here on rings, however late it is due: the timer has not seen it yet.
    fn unset(&self) {
        self.set_to.store(i64::MAX, Ordering::SeqCst);
    }

    fn set(&self, next: Option<Timestamp>) {
        // Nothing is due: whatever comes is the earliest.
        self.set_to
            .store(next.map_or(i64::MAX, Timestamp::as_millis), Ordering::SeqCst);
    }
}

/// When an event makes something due.
fn due(event: &Event) -> Option<Timestamp> {
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
    // Commits of other steps say that Placet runs too; a beat of its own is only for quiet times.
    let mut beat = tokio::time::interval(HEARTBEAT);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut damaged = Damaged::default();
    let mut clean_up = CleanUp::default();
    loop {
        alarm.unset();
        // One process does this for all. The others look whether it still does.
        let timers = engine.hold(&LeaseName::timers()).await;
        let turn = match &timers {
            Ok(Some(timers)) => turn(&engine, timers, &mut damaged).await,
            Ok(None) => Ok(None),
            Err(error) => Err(error.clone()),
        };
        if let Ok(Some(timers)) = &timers {
            clean_up.turn(&engine, timers).await;
        }
        alarm.set(turn.as_ref().ok().copied().flatten());
        // The process that keeps the time may be gone by then.
        let beat_after = HEARTBEAT.min(engine.lease_renewal());
        let pause = match turn {
            Ok(Some(next)) => beat_after.min(until(next, engine.store().now())),
            Ok(None) => beat_after,
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
                    tracing::error!(%error, "the heartbeat could not be stored; trying again");
                }
            }
        }
    }
}

/// A heartbeat and a checkpoint, for as long as nothing else is written.
async fn write_down(engine: &Engine) -> Result<(), StoreError> {
    engine.store().heartbeat().await?;
    match engine.held(&LeaseName::timers()) {
        Some(timers) => engine.checkpoint_under(timers).await,
        None => Ok(()),
    }
}

/// Removes what is not needed any more, now and then.
#[derive(Default)]
struct CleanUp {
    forgot: Option<Timestamp>,
    swept: Option<Timestamp>,
}

impl CleanUp {
    async fn turn(&mut self, engine: &Engine, timers: &Held) {
        let now = engine.store().now();
        if self.forgot.is_none_or(|at| at + FORGETTING <= now) {
            match forget(engine, timers).await {
                Ok(()) => self.forgot = Some(now),
                Err(error) => {
                    tracing::error!(%error, "old deliveries and messages could not be removed; trying again");
                }
            }
        }
        if self.swept.is_none_or(|at| at + SWEEPING <= now) {
            let sweep = Change::ForgetShared { before: now };
            match engine.store_change_under(Some(timers), sweep).await {
                Ok(()) => self.swept = Some(now),
                Err(error) => {
                    tracing::error!(%error, "shared values that have ended could not be removed; trying again");
                }
            }
        }
    }
}

/// Forgets how things of long ago were delivered. What was decided stays in the journal.
async fn forget(engine: &Engine, timers: &Held) -> Result<(), StoreError> {
    let age = i64::try_from(REMEMBERED.get()).unwrap_or(i64::MAX);
    let now = engine.store().now();
    let before = Timestamp::from_millis(now.as_millis().saturating_sub(age));
    for forget in [
        Change::ForgetOutbox { before },
        Change::ForgetLeases { before },
        Change::ForgetInbound { before },
    ] {
        engine.store_change_under(Some(timers), forget).await?;
    }
    Ok(())
}

fn until(next: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(next.remaining_from(now).get())
}

/// Questions and calls whose rows are damaged: nothing can be done about them, and they block no others. Each is told
/// once, and tried again in the next turn.
#[derive(Default)]
struct Damaged {
    told: BTreeSet<String>,
    /// Of this turn.
    passed_over: BTreeSet<String>,
}

impl Damaged {
    fn is_new(&self, what: &str) -> bool {
        !self.passed_over.contains(what)
    }

    /// Takes what became of one; any other failure concerns all.
    fn take(&mut self, what: String, done: Result<(), StepError<Infallible>>) -> Result<(), StoreError> {
        match done.map_err(StepError::into_store_error) {
            Err(error @ (StoreError::Corrupt { .. } | StoreError::Panicked)) => {
                if self.told.insert(what.clone()) {
                    tracing::error!(%error, what, "it is due and cannot be read; it is left as it is");
                }
                self.passed_over.insert(what);
                Ok(())
            }
            done => done,
        }
    }
}

/// What is due at a moment, without what is passed over.
async fn due_by(engine: &Engine, at: Timestamp, damaged: &Damaged) -> Result<Due, StoreError> {
    // What is passed over comes first again, and must not fill the batch.
    let limit = BATCH.saturating_add(damaged.passed_over.len());
    let by = DueBy {
        at,
        limit,
        process: engine.inner.leases.owner().to_owned(),
    };
    let mut due = engine.store().look(|stored| stored.due(&by).cloned()).await?;
    due.questions.retain(|id| damaged.is_new(id.as_str()));
    due.escalations.retain(|id| damaged.is_new(id.as_str()));
    due.claims.retain(|key| damaged.is_new(&named(key)));
    Ok(due)
}

fn named(key: &CallKey) -> String {
    format!("call `{}` of `{}`", key.call, key.agent)
}

/// Does everything that is due, and says when something is due next.
async fn turn(
    engine: &Engine,
    timers: &Held,
    damaged: &mut Damaged,
) -> Result<Option<Timestamp>, StoreError> {
    let store = engine.store();
    damaged.passed_over.clear();
    engine.heed_clock().await?;
    loop {
        let now = store.now();
        let due = due_by(engine, now, damaged).await?;
        if due == Due::default() {
            return store.look(|stored| stored.next_due(&now).copied()).await;
        }
        expire(engine, timers, due.questions, damaged).await?;
        for id in due.escalations {
            let (in_force, what) = (engine.in_force(), id.to_string());
            let step = engine.transact_under(Some(timers), |snapshot, now| {
                steps::escalate(&in_force.rules(), snapshot, now, &id)
            });
            damaged.take(what, step.await)?;
        }
        for key in due.claims {
            let (in_force, what) = (engine.in_force(), named(&key));
            let fresh = Engine::fresh().map_err(|error| StoreError::Corrupt {
                what: error.to_string(),
            })?;
            let step = engine.transact_under(Some(timers), |snapshot, now| {
                steps::lose_lease(&in_force.rules(), snapshot, now, &key, &fresh)
            });
            damaged.take(what, step.await)?;
        }
    }
}

/// Together, so that they are committed together: a morning after may find thousands due at once.
async fn expire(
    engine: &Engine,
    timers: &Held,
    due: Vec<InteractionId>,
    damaged: &mut Damaged,
) -> Result<(), StoreError> {
    let mut expiring = JoinSet::new();
    for id in due {
        let (engine, timers) = (engine.clone(), timers.clone());
        expiring.spawn(async move {
            let expire =
                engine.transact_under(Some(&timers), |snapshot, now| steps::expire(snapshot, now, &id));
            (id.to_string(), expire.await)
        });
    }
    while let Some(expired) = expiring.join_next().await {
        let (what, done) = expired.map_err(|_| StoreError::Panicked)?;
        damaged.take(what, done)?;
    }
    Ok(())
}

/// How long to wait before another try at something that failed `attempts` times.
pub(crate) fn backoff(attempts: u32) -> Millis {
    let doubled = 1_u64.checked_shl(attempts.min(10)).unwrap_or(1024);
    Millis::new(doubled.saturating_mul(500).min(300_000))
}
