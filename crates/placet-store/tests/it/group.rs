//! Commits: as a group, on what was decided, and by threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use placet_core::journal::Event;
use placet_core::listing::JournalPage;
use placet_core::policy::Mode;
use placet_core::snapshot::Need;
use placet_core::step::Commit;
use placet_core::verdict::Decision;
use placet_store::inline::{CommitFault, InlineStore};
use placet_store::{Options, Store, StoreError};

use crate::world::*;

fn allow(id: &str) -> Commit {
    commit_in("s", at(0), vec![received(&call(id, "ls"), Decision::Allow)])
}

/// The same, decided on this version of its session.
fn on_version(version: u64, commit: Commit) -> Commit {
    Commit {
        versions: BTreeMap::from([(session("s"), version)]),
        ..commit
    }
}

fn set_mode() -> Event {
    Event::ModeSet {
        mode: Mode::Yolo,
        by: person("ana"),
    }
}

fn rows(store: &InlineStore) -> u64 {
    store.look(|stored| stored.counts(&()).copied()).unwrap().rows
}

#[test]
fn a_commit_that_was_decided_on_an_old_version_stores_nothing_and_leaves_its_group_intact() {
    let mut store = InlineStore::new().unwrap();
    let results = store.group(vec![
        on_version(0, commit_in("s", at(0), vec![set_mode()])),
        on_version(0, allow("c1")),
        on_version(1, allow("c2")),
    ]);
    assert_eq!(results[0], Ok(()));
    assert!(matches!(results[1], Err(StoreError::Conflict { .. })));
    assert_eq!(results[2], Ok(()));
    assert_eq!(rows(&store), 2);
    assert!(store.verify(None).unwrap().is_sound());
}

/// Only the first call gives the session to its agent; the others do not hold each other up.
#[test]
fn calls_that_are_allowed_at_once_do_not_conflict_with_each_other() {
    let mut store = InlineStore::new().unwrap();
    store.commit(on_version(0, allow("c1"))).unwrap();
    let results = store.group(vec![on_version(1, allow("c2")), on_version(1, allow("c3"))]);
    assert_eq!(results, [Ok(()), Ok(())]);
    let claims = vec![
        on_version(1, commit_in("s", at(1), vec![claimed("c2", 1)])),
        on_version(1, commit_in("s", at(1), vec![claimed("c2", 1)])),
        on_version(1, commit_in("s", at(1), vec![claimed("c3", 1)])),
    ];
    let results = store.group(claims);
    assert_eq!((&results[0], &results[2]), (&Ok(()), &Ok(())));
    assert!(matches!(results[1], Err(StoreError::Conflict { .. })));
    assert!(store.verify(None).unwrap().is_sound());
}

#[test]
fn a_snapshot_names_the_version_of_each_session_that_its_values_belong_to() {
    let mut store = InlineStore::new().unwrap();
    put(&mut store, 0, asking("int_1", &call("c1", "ls"))).unwrap();
    let needs = [Need::Interaction(question("int_1")), Need::Session(session("t"))];
    let snapshot = store.load(needs.into()).unwrap();
    // The call takes the session, and its question is asked.
    let versions = BTreeMap::from([(session("s"), 2), (session("t"), 0)]);
    assert_eq!(*snapshot.versions(), versions);
    assert!(snapshot.interaction(&question("int_1")).unwrap().is_some());
}

#[test]
fn a_commit_that_contradicts_the_store_leaves_the_others_of_its_group_intact() {
    let mut store = InlineStore::new().unwrap();
    let results = store.group(vec![allow("c1"), allow("c1"), allow("c2")]);
    assert_eq!(results[0], Ok(()));
    assert!(matches!(results[1], Err(StoreError::Conflict { .. })));
    assert_eq!(results[2], Ok(()));
    let rows = store.take_committed();
    assert_eq!(
        rows.iter().map(|row| (row.id, row.seq)).collect::<Vec<_>>(),
        [(1, 1), (2, 2)]
    );
    let all = JournalPage::of_all(0, 9);
    assert_eq!(store.look(|stored| stored.journal(&all).cloned()), Ok(rows));
    assert!(store.verify(None).unwrap().is_sound());
}

#[test]
fn a_commit_that_fails_fails_the_whole_group() {
    let mut store = InlineStore::new().unwrap();
    store.fail_next_commit(CommitFault::LoseBeforeCommit);
    let results = store.group(vec![allow("c1"), allow("c2")]);
    let lost = |result: &Result<(), StoreError>| matches!(result, Err(StoreError::Io(_)));
    assert!(results.iter().all(lost));
    assert_eq!(rows(&store), 0);
    assert_eq!(store.take_committed(), []);

    store.fail_next_commit(CommitFault::CommitButLoseAck);
    store.commit(allow("c1")).unwrap_err();
    assert_eq!(rows(&store), 1);
    store.commit(allow("c2")).unwrap();
}

#[test]
fn an_image_brings_back_what_was_there() {
    let mut store = InlineStore::new().unwrap();
    store.commit(allow("c1")).unwrap();
    let image = store.image().unwrap();
    let later = Commit {
        now: at(5),
        ..allow("c2")
    };
    store.commit(later).unwrap();
    store.restore(&image).unwrap();
    assert_eq!(rows(&store), 1);
    assert_eq!(store.last_alive().unwrap(), Some(wall(0)));
    store.commit(allow("c2")).unwrap();
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
                .look(|stored| stored.call(&key(&format!("c{number}"))).cloned())
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
