//! Load, decide, commit: what becomes of steps that race each other.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use placet_core::ids::{PersonId, ToolName};
use placet_core::journal::Event;
use placet_core::policy::Mode;
use placet_core::snapshot::Snapshot;
use placet_core::step::{Decided, Step};
use placet_engine::Engine;

use crate::support::*;

/// Long enough for any machine; a step that hangs is seen by it.
const FOREVER: Duration = Duration::from_mins(1);

fn ana() -> PersonId {
    PersonId::new("ana").unwrap()
}

/// A step that loses its race as often as it says: while it is decided, another thread changes its session.
struct Loser<'e> {
    engine: &'e Engine,
    loses: u32,
    decided: Cell<u32>,
}

impl<'e> Loser<'e> {
    fn new(engine: &'e Engine, loses: u32) -> Self {
        Self {
            engine,
            loses,
            decided: Cell::new(0),
        }
    }

    fn decide(&self, snapshot: &Snapshot) -> Decided<usize> {
        let allowed = snapshot.session(&session("s"))?.allow_list.len();
        self.decided.set(self.decided.get() + 1);
        if self.decided.get() <= self.loses {
            self.interfere();
        }
        let event = Event::ModeSet {
            mode: Mode::Yolo,
            by: ana(),
        };
        Ok(Step::new(allowed).event(session("s"), event))
    }

    fn interfere(&self) {
        let engine = self.engine.clone();
        let other = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let head = engine.head().await.unwrap();
                let tool = ToolName::new(format!("tool-{head}")).unwrap();
                let allow = engine.broker().allow_tool(&session("s"), &tool, &ana()).await;
                allow.unwrap();
            });
        });
        other.join().unwrap();
    }
}

#[tokio::test]
async fn a_step_that_loses_a_race_is_decided_again_on_what_won() {
    let house = House::new();
    let engine = house.open("").await;
    let loser = Loser::new(&engine, 3);
    let allowed = engine.transact(|snapshot, _| loser.decide(snapshot)).await;
    assert_eq!(allowed.unwrap(), 3, "it saw every change that came before it");
    assert_eq!(loser.decided.get(), 4);
}

#[tokio::test]
async fn a_step_whose_caller_stopped_polling_holds_up_no_other_of_its_session() {
    let house = House::new();
    let engine = house.open("").await;
    let paused = Loser::new(&engine, u32::MAX);
    let mut pausing = pin!(engine.transact(|snapshot, _| paused.decide(snapshot)));
    // Until it has lost races and holds its place in the queue.
    while paused.decided.get() < 3 {
        let polled = pausing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        thread::yield_now();
    }
    let other = Loser::new(&engine, 2);
    let going_on = engine.transact(|snapshot, _| other.decide(snapshot));
    let allowed = tokio::time::timeout(FOREVER, going_on).await;
    allowed.expect("it does not wait for the paused one").unwrap();
}
