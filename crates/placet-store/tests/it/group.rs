//! Steps that are committed as a group, and threads.

use std::sync::{Arc, Mutex};

use placet_core::time::Now;
use placet_core::verdict::Decision;
use placet_store::inline::{BoxedDecide, CommitFault, InlineStore};
use placet_store::{Options, Step, StepError, Store, StoreError, View};

use crate::world::*;

fn allow(id: &'static str) -> BoxedDecide<'static, usize, &'static str> {
    Box::new(move |view: &View<'_>, _: Now| {
        let seen = usize::try_from(view.counts().unwrap().rows).unwrap();
        Ok(Step::new(seen).event(session("s"), received(&call(id, "ls"), Decision::Allow)))
    })
}

fn refuse() -> BoxedDecide<'static, usize, &'static str> {
    Box::new(|_: &View<'_>, _: Now| Err("no"))
}

#[test]
fn a_refused_step_in_the_middle_of_a_group_leaves_the_others_intact() {
    let mut store = InlineStore::new().unwrap();
    let results = store.group(at(0), vec![allow("c1"), refuse(), allow("c2")]);
    assert_eq!(results, [Ok(0), Err(StepError::Refused("no")), Ok(1)]);
    assert_eq!(store.view().counts().unwrap().rows, 2);
    assert!(store.verify(None).unwrap().is_sound());
}

#[test]
fn a_step_that_contradicts_the_store_leaves_the_others_of_its_group_intact() {
    let mut store = InlineStore::new().unwrap();
    let results = store.group(at(0), vec![allow("c1"), allow("c1"), allow("c2")]);
    assert_eq!(results[0], Ok(0));
    assert!(matches!(
        results[1],
        Err(StepError::Store(StoreError::Corrupt { .. }))
    ));
    assert_eq!(results[2], Ok(1));
    let rows = store.take_committed();
    assert_eq!(
        rows.iter().map(|row| (row.id, row.seq)).collect::<Vec<_>>(),
        [(1, 1), (2, 2)]
    );
    assert_eq!(store.view().journal(0, 9, None).unwrap(), rows);
    assert!(store.verify(None).unwrap().is_sound());
}

#[test]
fn a_commit_that_fails_fails_everybody_also_those_who_only_looked() {
    let mut store = InlineStore::new().unwrap();
    store.fail_next_commit(CommitFault::LoseBeforeCommit);
    let results = store.group(at(0), vec![allow("c1"), refuse(), allow("c2")]);
    assert!(
        results
            .iter()
            .all(|result| matches!(result, Err(StepError::Store(StoreError::Io(_)))))
    );
    assert_eq!(store.view().counts().unwrap().rows, 0);
    assert_eq!(store.take_committed(), []);

    store.fail_next_commit(CommitFault::CommitButLoseAck);
    store.step(at(0), allow("c1")).unwrap_err();
    assert_eq!(store.view().counts().unwrap().rows, 1);
    assert_eq!(store.step(at(0), allow("c2")), Ok(1));
}

#[test]
fn a_snapshot_brings_back_what_was_there() {
    let mut store = InlineStore::new().unwrap();
    store.step(at(0), allow("c1")).unwrap();
    let snapshot = store.snapshot().unwrap();
    store.step(at(5), allow("c2")).unwrap();
    store.restore(&snapshot).unwrap();
    assert_eq!(store.view().counts().unwrap().rows, 1);
    assert_eq!(store.last_live().unwrap(), live(0));
    assert_eq!(store.step(at(9), allow("c2")), Ok(1));
}

#[test]
fn a_step_that_panics_stores_nothing_and_stops_nothing() {
    let mut store = InlineStore::new().unwrap();
    let panics: BoxedDecide<'_, usize, &str> = Box::new(|_: &View<'_>, _: Now| panic!("as planned"));
    let results = store.group(at(0), vec![allow("c1"), panics, allow("c2")]);
    assert_eq!(
        results,
        [Ok(0), Err(StepError::Store(StoreError::Panicked)), Ok(1)]
    );
}

#[tokio::test]
async fn rows_are_told_in_order_before_their_writers_are() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let options = Options {
        on_commit: Some(Box::new(move |rows| {
            tell.lock().unwrap().extend(rows.iter().map(|row| row.id));
        })),
        ..Options::default()
    };
    let db = Store::open_in_memory(options).unwrap();
    let mut writers = Vec::new();
    for number in 0..100 {
        let (db, told) = (db.clone(), Arc::clone(&told));
        writers.push(tokio::spawn(async move {
            let ls = call(&format!("c{number}"), "ls");
            store(&db, vec![received(&ls, Decision::Allow)]).await.unwrap();
            let row = db
                .read(move |view, _| view.call(&key(&format!("c{number}"))))
                .await
                .unwrap();
            assert!(row.is_some());
            told.lock().unwrap().len()
        }));
    }
    for writer in writers {
        assert!(writer.await.unwrap() > 0);
    }
    assert_eq!(*told.lock().unwrap(), (1..=100).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let db = Store::open_in_memory(Options::default()).unwrap();
    db.clone().close().await.unwrap();
    assert_eq!(store(&db, Vec::new()).await, Err(StoreError::Closed));
    assert_eq!(db.close().await, Err(StoreError::Closed));
}

#[tokio::test]
async fn a_listener_that_panics_does_not_stop_the_writer() {
    let options = Options {
        on_commit: Some(Box::new(|_| panic!("as planned"))),
        ..Options::default()
    };
    let db = Store::open_in_memory(options).unwrap();
    store(&db, vec![received(&call("c1", "ls"), Decision::Allow)])
        .await
        .unwrap();
    store(&db, vec![received(&call("c2", "ls"), Decision::Allow)])
        .await
        .unwrap();
}
