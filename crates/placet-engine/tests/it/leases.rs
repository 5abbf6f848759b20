//! Leases: what a process holds, what it loses to another one, and what becomes of a dead process's claims.

use std::collections::BTreeMap;

use placet_core::interaction::Subject;
use placet_core::journal::Event;
use placet_core::lease::{Fence, LeaseName};
use placet_core::outgoing::Change;
use placet_core::step::{Commit, Step};
use placet_core::time::Millis;
use placet_engine::Engine;
use placet_store::{StepError, StoreError};

use crate::support::*;

fn commit(engine: &Engine, events: Vec<Event>, changes: Vec<Change>) -> Commit {
    Commit {
        now: engine.store().now(),
        versions: BTreeMap::new(),
        epoch: None,
        fences: Vec::new(),
        events: events.into_iter().map(|event| (session("s"), event)).collect(),
        changes,
    }
}

#[tokio::test]
async fn a_process_whose_lease_was_taken_by_another_stores_nothing_under_it() {
    let house = House::new();
    let engine = house.open("").await;
    let lease = LeaseName::stored("connection/ops".into());
    let held = engine.hold(&lease).await.unwrap().unwrap();
    let again = engine.hold(&lease).await.unwrap().unwrap();
    assert_eq!(again.fence(), held.fence());

    // This process was paused past its lease; another one took it.
    let taken = Change::TakeLease {
        fence: Fence {
            lease: lease.clone(),
            number: held.fence().number + 1,
        },
        owner: "another".into(),
        until: engine.store().now() + Millis::from_secs(3600),
    };
    let other = commit(&engine, Vec::new(), vec![taken]);
    engine.store().commit(other).await.unwrap();

    let ended = Event::SessionEnded { by: "lin".into() };
    let stale = engine.transact_under::<(), std::convert::Infallible>(Some(&held), |_, _| {
        Ok(Step::new(()).event(session("s"), ended.clone()))
    });
    assert!(matches!(
        stale.await,
        Err(StepError::Store(StoreError::Fenced { .. }))
    ));
    soon(held.lost()).await;
    assert!(engine.hold(&lease).await.unwrap().is_none());
    verify(&engine).await;
}

#[tokio::test]
async fn a_call_claimed_by_a_process_that_is_gone_is_asked_back_while_others_run() {
    let house = House::new();
    let engine = house.open("").await;
    decide(&engine, deploy("c", "production"), choice("lin", "approve")).await;
    let claimed = Event::Claimed {
        call: key("c"),
        grant: 1,
        lease: None,
        process: Some("gone".into()),
        child: None,
    };
    let session = engine
        .gate()
        .record(&key("c"))
        .await
        .unwrap()
        .unwrap()
        .call
        .session;
    let mut elsewhere = commit(&engine, vec![claimed], Vec::new());
    elsewhere
        .events
        .iter_mut()
        .for_each(|(name, _)| *name = session.clone());
    let mut events = engine.subscribe(engine.head().await.unwrap(), None);
    engine.store().commit(elsewhere).await.unwrap();
    engine.look_at_the_clock();
    let asked = loop {
        if let Event::Asked(asked) = soon(events.next()).await.unwrap().event {
            break asked;
        }
    };
    assert!(matches!(asked.subject, Subject::UnknownOutcome { .. }));
    verify(&engine).await;
}
