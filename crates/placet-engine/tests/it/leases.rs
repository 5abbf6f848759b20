//! Leases: what a process holds, what it loses to another one, and what becomes of a dead process's claims.

use std::collections::BTreeMap;

use placet_core::interaction::Subject;
use placet_core::journal::{CallResult, Event};
use placet_core::lease::{Fence, LeaseName};
use placet_core::outgoing::Change;
use placet_core::record::{CallState, GrantState};
use placet_core::step::{Commit, Step};
use placet_core::steps::FinishRefusal;
use placet_core::time::Millis;
use placet_engine::{Engine, GateError, Held};
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
    take_from(&engine, &held).await;

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

/// Takes a lease as another process would that found it over.
async fn take_from(engine: &Engine, held: &Held) {
    let Fence { lease, number } = held.fence().clone();
    let taken = Change::TakeLease {
        fence: Fence {
            lease,
            number: number + 1,
        },
        owner: "another".into(),
        until: engine.store().now() + Millis::from_secs(3600),
    };
    let other = commit(engine, Vec::new(), vec![taken]);
    engine.store().commit(other).await.unwrap();
}

fn is_fenced<T: std::fmt::Debug>(stored: &Result<T, GateError>) -> bool {
    matches!(stored, Err(GateError::Store(StoreError::Fenced { .. })))
}

#[tokio::test]
async fn a_process_that_lost_a_run_neither_proposes_nor_claims_calls_of_it() {
    let house = House::new();
    let engine = house.open("").await;
    for id in ["one", "two"] {
        decide(&engine, deploy(id, id), choice("lin", "approve")).await;
    }
    let held = engine.hold(&LeaseName::run(&session("s"))).await.unwrap();
    let held = held.unwrap();
    let gate = engine.gate().under([&held]);
    let _runs = gate.claim(&key("one"), None).await.unwrap();
    take_from(&engine, &held).await;

    let before = engine.head().await.unwrap();
    assert!(is_fenced(&gate.propose(deploy("three", "three")).await));
    assert!(is_fenced(
        &gate
            .propose_claiming(call("four", "read", serde_json::json!({})), None)
            .await
    ));
    assert!(is_fenced(&gate.claim(&key("two"), None).await));
    assert_eq!(engine.head().await.unwrap(), before, "nothing was stored");
    assert!(held.is_lost());

    // What it ran before that has run all the same.
    let result = CallResult::new(true, "deployed");
    gate.finish(&key("one"), result).await.unwrap();
    // The process that drives the run by now claims what this one could not.
    let _runs = engine.gate().claim(&key("two"), None).await.unwrap();
    verify(&engine).await;
}

#[tokio::test]
async fn a_process_that_was_paused_past_its_lease_is_alive_again_before_it_claims() {
    let house = House::new();
    let engine = house.open("").await;
    decide(&engine, deploy("c", "production"), choice("lin", "approve")).await;
    house.clock.pass(3600);
    let _runs = engine.gate().claim(&key("c"), None).await.unwrap();
    let record = engine.gate().record(&key("c")).await.unwrap().unwrap();
    let CallState::Granted { grant, .. } = record.state else {
        panic!("{:?}", record.state)
    };
    let GrantState::Claimed {
        process: Some(process),
        ..
    } = grant.state
    else {
        panic!("{:?}", grant.state)
    };
    let alive = LeaseName::process(&process);
    let lease = engine
        .store()
        .look(|stored| stored.lease(&alive).cloned())
        .await
        .unwrap();
    assert_eq!(
        lease.unwrap().holder(engine.store().now()),
        Some(process.as_str())
    );
    verify(&engine).await;
}

#[tokio::test]
async fn the_result_of_a_run_that_people_had_repeated_is_not_taken_for_the_second_one() {
    let house = House::new();
    let engine = house.open("").await;
    decide(&engine, deploy("c", "production"), choice("lin", "approve")).await;
    let late = engine
        .gate()
        .claim(&key("c"), Some(Millis::from_secs(1)))
        .await
        .unwrap();
    let mut events = engine.subscribe(engine.head().await.unwrap(), None);
    house.pass(&engine, 2);
    let asked = loop {
        if let Event::Asked(asked) = soon(events.next()).await.unwrap().event {
            break asked;
        }
    };
    say(&engine, &asked.id, choice("lin", "run_again")).await.unwrap();
    let second = engine.gate().claim(&key("c"), None).await.unwrap();
    let result = |text| CallResult::new(true, text);
    let stale = engine.gate().finish_claimed(&late, result("first")).await;
    assert!(
        matches!(stale, Err(GateError::Finish(FinishRefusal::Superseded(_)))),
        "{stale:?}"
    );
    engine
        .gate()
        .finish_claimed(&second, result("second"))
        .await
        .unwrap();
    let record = engine.gate().record(&key("c")).await.unwrap().unwrap();
    assert!(
        matches!(&record.state, CallState::Granted { grant, .. } if grant.state == GrantState::Done(result("second"))),
        "{:?}",
        record.state
    );
    verify(&engine).await;
}
