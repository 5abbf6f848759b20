//! Stopping and starting: live time, locks, files.

use std::path::Path;
use std::sync::Arc;

use placet_core::ids::{ChannelName, ChatId};
use placet_core::journal::Event;
use placet_core::outgoing::{Change, OutKind, Outgoing};
use placet_core::run::{Limits, RunStarted};
use placet_core::time::Millis;
use placet_core::verdict::Decision;
use placet_store::{FindingKind, OpenError, Options, ReadOnly, Store, StoreError, verify_file};

use crate::world::*;

async fn remaining(db: &Store) -> Millis {
    let page = db.read(|view, _| view.pending_page(None, 9)).await.unwrap();
    page.rows[0].deadline.remaining_from(db.now().live)
}

#[tokio::test]
async fn a_pending_question_keeps_the_time_it_had_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/placet.db");
    let clock = Arc::new(HandClock::default());
    let db = Store::open(&path, options(&clock)).unwrap();
    store(&db, asking("int_1", &call("c1", "ls"))).await.unwrap();
    clock.pass(20_000);
    assert_eq!(remaining(&db).await, Millis::from_secs(40));
    db.heartbeat().await.unwrap();
    drop(db);

    // Down for an hour by the wall clock; the machine was rebooted, so its monotonic clock started again.
    clock.jump(3_600_000);
    let rebooted = Arc::new(HandClock::default());
    rebooted.jump(3_620_000);
    let db = Store::open(&path, options(&rebooted)).unwrap();
    assert_eq!(db.down_for(), Millis::from_secs(3600));
    assert_eq!(remaining(&db).await, Millis::from_secs(40));
    // Somebody sets the clock a day ahead: that is nobody's time either.
    rebooted.jump(86_400_000);
    assert_eq!(remaining(&db).await, Millis::from_secs(40));
    rebooted.pass(41_000);
    assert_eq!(remaining(&db).await, Millis::ZERO);
    let due = db.read(|view, now| view.due(now.live, 9)).await.unwrap();
    assert_eq!(due, [question("int_1")]);
}

/// What a guest commits, and the checkpoint it leaves, must not count as a sign of life.
#[tokio::test]
async fn no_time_passes_while_only_guests_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let clock = Arc::new(HandClock::default());
    let owner = Store::open(&path, options(&clock)).unwrap();
    store(&owner, asking("int_1", &call("c1", "ls"))).await.unwrap();
    clock.pass(20_000);
    drop(owner);

    let guest = Store::join(&path, options(&clock)).unwrap();
    clock.pass(70_000);
    guest.look_around().await.unwrap();
    assert_eq!(remaining(&guest).await, Millis::from_secs(40));
    let allowed = vec![received(&call("c2", "ls"), Decision::Allow)];
    store(&guest, allowed).await.unwrap();
    guest.heartbeat().await.unwrap();
    guest.close().await.unwrap();

    let owner = Store::open(&path, options(&clock)).unwrap();
    assert_eq!(owner.down_for(), Millis::from_secs(70));
    assert_eq!(remaining(&owner).await, Millis::from_secs(40));
}

#[tokio::test]
async fn a_guest_follows_the_owners_time_also_across_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let clock = Arc::new(HandClock::default());
    let owner = Store::open(&path, options(&clock)).unwrap();
    store(&owner, asking("int_1", &call("c1", "ls"))).await.unwrap();
    clock.pass(3_000);
    let guest = Store::join(&path, options(&clock)).unwrap();
    assert_eq!(remaining(&guest).await, Millis::from_secs(57));
    clock.pass(5_000);
    guest.look_around().await.unwrap();
    assert_eq!(remaining(&guest).await, Millis::from_secs(52));
    // A clock that is set meanwhile is nobody's time.
    clock.jump(86_400_000);
    owner.heartbeat().await.unwrap();
    guest.look_around().await.unwrap();
    assert_eq!(remaining(&guest).await, Millis::from_secs(52));

    drop(owner);
    guest.look_around().await.unwrap();
    clock.pass(100_000);
    guest.look_around().await.unwrap();
    assert_eq!(remaining(&guest).await, Millis::from_secs(52), "it stands still");

    let owner = Store::open(&path, options(&clock)).unwrap();
    guest.look_around().await.unwrap();
    clock.pass(2_000);
    owner.heartbeat().await.unwrap();
    clock.pass(1_000);
    guest.look_around().await.unwrap();
    assert_eq!(remaining(&guest).await, Millis::from_secs(49));
    assert_eq!(remaining(&guest).await, remaining(&owner).await);
}

/// As in a folder that cannot be written, or beside a program that holds the database.
#[tokio::test]
async fn a_guest_that_only_looks_needs_no_right_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let clock = Arc::new(HandClock::default());
    let owner = Store::open(&path, options(&clock)).unwrap();
    store(&owner, asking("int_1", &call("c1", "ls"))).await.unwrap();
    drop(owner);
    let lock = path.with_extension("db.lock");
    std::fs::remove_file(&lock).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let guest = Store::join(&path, options(&clock)).unwrap();
    assert_eq!(remaining(&guest).await, Millis::from_secs(60));
    guest.checkpoint().await.unwrap();
    guest.close().await.unwrap();
    assert!(!lock.exists());
}

#[tokio::test]
async fn everything_acknowledged_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let db = Store::open(&path, Options::default()).unwrap();
    for number in 0..20 {
        let ls = call(&format!("c{number}"), &format!("ls {number}"));
        store(&db, asking(&format!("int_{number}"), &ls)).await.unwrap();
    }
    drop(db);
    let verified = verify_file(&path, None).unwrap();
    assert_eq!((verified.rows, verified.checkpoints), (40, 1));
    assert_eq!(verified.findings, []);
    let db = Store::open(&path, Options::default()).unwrap();
    assert_eq!(db.read(|view, _| view.counts()).await.unwrap().pending, 20);
    store(&db, approving("int_7", &call("c7", "ls 7"))).await.unwrap();
    db.close().await.unwrap();
    assert!(verify_file(&path, Some(&verified.anchor)).unwrap().is_sound());
}

#[tokio::test]
async fn a_second_opener_is_told_that_the_store_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let db = Store::open(&path, Options::default()).unwrap();
    assert!(matches!(
        Store::open(&path, Options::default()),
        Err(OpenError::InUse(_))
    ));
    db.close().await.unwrap();
    Store::open(&path, Options::default()).unwrap();
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/placet.db");
    let _db = Store::open(&path, Options::default()).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&path.with_extension("db-wal")), 0o600);
}

#[tokio::test]
async fn checkpoints_come_by_count_on_request_and_on_closing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let db = Store::open(
        &path,
        Options {
            checkpoint_rows: 4,
            ..Options::default()
        },
    )
    .unwrap();
    let allow = |id: &str| vec![received(&call(id, "ls"), Decision::Allow)];
    let checkpoints = async || db.read(|view, _| view.counts()).await.unwrap().checkpoints;
    for id in ["1", "2", "3"] {
        store(&db, allow(id)).await.unwrap();
    }
    assert_eq!(checkpoints().await, 0);
    store(&db, allow("4")).await.unwrap();
    assert_eq!(checkpoints().await, 1);
    db.checkpoint().await.unwrap();
    assert_eq!(checkpoints().await, 1);
    store(&db, allow("5")).await.unwrap();
    db.checkpoint().await.unwrap();
    assert_eq!(checkpoints().await, 2);
    store(&db, allow("6")).await.unwrap();
    db.close().await.unwrap();
    let verified = verify_file(&path, None).unwrap();
    assert_eq!((verified.checkpoints, verified.findings), (3, Vec::new()));
}

/// Makes the file what version 3 wrote: it knew neither whose a session is nor that a run was stopped.
fn age_to_version_3(path: &Path) {
    let old = "DROP TABLE members; DROP TABLE room; DROP TABLE asks; DROP INDEX pending_by_agent; ALTER TABLE pending DROP COLUMN agent; ALTER TABLE service DROP COLUMN queued; ALTER TABLE sessions DROP COLUMN agent; ALTER TABLE sessions DROP COLUMN version; ALTER TABLE runs DROP COLUMN interrupted; PRAGMA user_version = 3;";
    let file = rusqlite::Connection::open(path).unwrap();
    file.execute_batch(old).unwrap();
}

/// A file of version 3, with a question, and a run that was stopped.
async fn of_version_3(path: &Path) {
    let db = Store::open(path, Options::default()).unwrap();
    store(&db, asking("int_1", &call("c1", "ls"))).await.unwrap();
    let started = RunStarted {
        task: "tidy up".into(),
        model: "main".into(),
        limits: Limits::USUAL,
        origin: call("c1", "ls").origin,
        workspace: None,
        parent: None,
        until: None,
        workflow: None,
    };
    let stopped = Event::RunInterrupted { by: person("ana") };
    let run = vec![Event::RunStarted(Box::new(started)), stopped];
    store(&db, run).await.unwrap();
    db.close().await.unwrap();
    age_to_version_3(path);
}

#[tokio::test]
async fn a_database_of_version_3_learns_whose_its_sessions_are_and_which_runs_were_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    of_version_3(&path).await;
    let db = Store::open(&path, Options::default()).unwrap();
    let read = db.read(|view, _| Ok((view.session(&session("s"))?, view.run(&session("s"))?)));
    let (record, run) = read.await.unwrap();
    assert_eq!(record.agent, Some(key("c1").agent));
    assert!(run.unwrap().interrupted.is_some());
    let verified = db.verify(None).await.unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}

#[tokio::test]
async fn one_damaged_row_keeps_no_database_of_version_3_from_being_opened() {
    for damaged in 1..=4 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("placet.db");
        of_version_3(&path).await;
        let file = rusqlite::Connection::open(&path).unwrap();
        let cut = "UPDATE journal SET body = substr(body, 1, 20) WHERE id = ?1";
        assert_eq!(file.execute(cut, [damaged]).unwrap(), 1);
        drop(file);
        let db = Store::open(&path, Options::default()).unwrap();
        let read = db.read(|view, _| Ok((view.session(&session("s"))?, view.run(&session("s"))?)));
        let (record, run) = read.await.unwrap();
        assert_eq!(record.agent, Some(key("c1").agent), "row {damaged}");
        assert_eq!(run.unwrap().interrupted.is_some(), damaged != 4);
        let found = db.verify(None).await.unwrap().findings;
        assert_eq!(found[0].row, Some(damaged), "{found:?}");
    }
}

#[tokio::test]
async fn an_untouched_file_of_an_older_version_is_called_older_and_not_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    of_version_3(&path).await;
    let verified = verify_file(&path, None);
    assert!(
        matches!(verified, Err(OpenError::Older { found: 3, .. })),
        "{verified:?}"
    );
    let file = ReadOnly::open(&path).unwrap();
    let rows: Result<_, StoreError> = file.read(|view| view.journal(0, 9, None));
    assert_eq!(rows.unwrap().len(), 4, "looking at it needs nothing new");
}

/// The store with one more item in its outbox, closed again.
async fn queue(path: &Path, key: &str) {
    let db = Store::open(path, Options::default()).unwrap();
    let item = Change::Enqueue(Outgoing {
        key: key.to_owned(),
        channel: ChannelName::new("ops").unwrap(),
        chat: ChatId::new("room").unwrap(),
        interaction: None,
        kind: OutKind::Message,
        body: "hello".into(),
    });
    db.commit(changing(db.now(), vec![item])).await.unwrap();
    db.close().await.unwrap();
}

fn tamper(path: &Path, sql: &str) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(sql)
        .unwrap();
}

const REMOVE_ONE: &str = "DELETE FROM outbox WHERE key = 'a'; UPDATE service SET queued = queued - 1";

#[tokio::test]
async fn an_item_removed_from_the_outbox_with_its_count_is_found_after_more_were_queued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    queue(&path, "a").await;
    assert_eq!(verify_file(&path, None).unwrap().findings, []);
    tamper(&path, REMOVE_ONE);
    for key in ["b", "c"] {
        queue(&path, key).await;
        let findings = verify_file(&path, None).unwrap().findings;
        assert_eq!(findings[0].kind, FindingKind::OutboxDiffers, "{findings:?}");
    }
}

/// Version 6 lowered the count when it cleaned up, and its checkpoints did not cover the outbox.
#[tokio::test]
async fn a_database_of_version_6_counts_its_outbox_from_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    queue(&path, "a").await;
    queue(&path, "b").await;
    tamper(
        &path,
        "DELETE FROM outbox WHERE key = 'b'; DELETE FROM checkpoints;
         ALTER TABLE service RENAME COLUMN queued TO outbox; UPDATE service SET outbox = 1, checkpoints = 0;
         ALTER TABLE sessions DROP COLUMN version;
         PRAGMA user_version = 6;",
    );
    queue(&path, "c").await;
    assert_eq!(verify_file(&path, None).unwrap().findings, []);
    tamper(&path, REMOVE_ONE);
    let findings = verify_file(&path, None).unwrap().findings;
    assert_eq!(findings[0].kind, FindingKind::OutboxDiffers, "{findings:?}");
}
