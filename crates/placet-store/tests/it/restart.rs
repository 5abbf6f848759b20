//! Stopping and starting: outages, locks, files.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use placet_core::ids::{ChannelName, ChatId};
use placet_core::journal::Event;
use placet_core::listing::{After, DueBy, JournalPage};
use placet_core::outgoing::{Change, OutKind, Outgoing};
use placet_core::run::{Limits, RunStarted};
use placet_core::step::Commit;
use placet_core::time::Millis;
use placet_core::verdict::Decision;
use placet_store::{FindingKind, OpenError, Options, Store, StoreError, verify_file};

use crate::upgrade::UNDO;
use crate::world::*;

async fn remaining(db: &Store) -> Millis {
    let first = After {
        cursor: None,
        limit: 9,
    };
    let page = db.look(|stored| stored.pending(&first).cloned()).await.unwrap();
    page.rows[0].deadline.remaining_from(db.now())
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
    let db = started(&path, &rebooted).await;
    assert_eq!(db.outage_before().unwrap().from, wall(20_000));
    assert_eq!(remaining(&db).await, Millis::from_secs(40));
    // The operator sets the clock a day ahead: that uses up no time either, neither before it is noticed nor after.
    rebooted.jump(86_400_000);
    assert_eq!(remaining(&db).await, Millis::from_secs(40));
    notices_the_jump(&db).await;
    assert_eq!(db.now(), wall(3_620_000 + 86_400_000));
    assert_eq!(remaining(&db).await, Millis::from_secs(40));
    rebooted.jump(-2 * 86_400_000);
    notices_the_jump(&db).await;
    assert_eq!(remaining(&db).await, Millis::from_secs(40));
    assert_eq!(db.clock_jump(), None);
    rebooted.pass(41_000);
    assert_eq!(remaining(&db).await, Millis::ZERO);
    let by = DueBy {
        at: db.now(),
        limit: 9,
        process: String::new(),
    };
    let due = db.look(|stored| stored.due(&by).cloned()).await.unwrap();
    assert_eq!(due.questions, [question("int_1")]);
    assert_eq!(db.verify(None).await.unwrap().findings, []);
}

#[tokio::test]
async fn what_was_decided_before_an_outage_is_decided_again_after_it() {
    for jump in [86_400_000, -86_400_000] {
        let clock = Arc::new(HandClock::default());
        let db = Store::open_in_memory(options(&clock)).unwrap();
        let snapshot = db.load(BTreeSet::new()).await.unwrap();
        let asked = Commit {
            epoch: snapshot.epoch().map(|epoch| epoch.row),
            ..commit_in("s", db.now(), asking("int_1", &call("c1", "ls")))
        };
        clock.jump(jump);
        notices_the_jump(&db).await;
        assert_eq!(db.now_for(&snapshot), None);
        let refused = db.commit(asked).await;
        assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
        let newer = db.load(BTreeSet::new()).await.unwrap();
        assert!(newer != snapshot);
        assert_eq!(db.now_for(&newer), Some(wall(jump)));
    }
}

/// A crash right after the outage must not count it twice.
#[tokio::test]
async fn an_outage_is_not_counted_again_by_a_process_that_starts_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let clock = Arc::new(HandClock::default());
    let db = Store::open(&path, options(&clock)).unwrap();
    store(&db, asking("int_1", &call("c1", "ls"))).await.unwrap();
    clock.jump(86_400_000);
    notices_the_jump(&db).await;
    let image = std::fs::read(&path).unwrap();
    let log = std::fs::read(path.with_extension("db-wal")).unwrap();
    drop(db);
    std::fs::write(&path, image).unwrap();
    std::fs::write(path.with_extension("db-wal"), log).unwrap();
    let db = started(&path, &clock).await;
    assert_eq!(db.outage_before().unwrap().from, wall(86_400_000));
    assert_eq!(remaining(&db).await, Millis::from_secs(60));
}

#[tokio::test]
async fn the_time_of_what_a_process_leaves_open_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let clock = Arc::new(HandClock::default());
    let db = Store::open(&path, options(&clock)).unwrap();
    store(&db, asking("int_1", &call("c1", "ls"))).await.unwrap();
    db.leave().await.unwrap();
    clock.pass(20_000);
    let db = started(&path, &clock).await;
    assert_eq!(db.outage_before(), None);
    assert_eq!(remaining(&db).await, Millis::from_secs(40));
}

/// Makes the file what version 8 wrote: pending times were readings of a clock that only ran while Placet did.
fn age_to_version_8(path: &Path, live: i64) {
    let file = rusqlite::Connection::open(path).unwrap();
    let old = format!(
        "{UNDO} ALTER TABLE runs DROP COLUMN variables; DROP TABLE outages; DROP TABLE leases; ALTER TABLE calls DROP COLUMN process; ALTER TABLE runs DROP COLUMN until; ALTER TABLE service ADD COLUMN live INTEGER NOT NULL DEFAULT {live};
         ALTER TABLE service RENAME COLUMN alive TO wall; PRAGMA user_version = 8;"
    );
    file.execute_batch(&old).unwrap();
}

#[tokio::test]
async fn pending_questions_of_version_8_keep_the_time_they_had_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    // The old clock: 20 seconds of its own were over.
    let clock = Arc::new(HandClock::default());
    let db = Store::open(&path, options(&clock)).unwrap();
    store(&db, asking("int_1", &call("c1", "ls"))).await.unwrap();
    let run = RunStarted {
        until: Some(wall(50_000)),
        ..tidying()
    };
    store(&db, vec![Event::RunStarted(Box::new(run))]).await.unwrap();
    clock.pass(20_000);
    db.close().await.unwrap();
    age_to_version_8(&path, 20_000);

    let now = Arc::new(HandClock::default());
    now.jump(1_767_225_600_000);
    let db = started(&path, &now).await;
    assert_eq!(remaining(&db).await, Millis::from_secs(40));
    let run = db
        .look(|stored| stored.run(&session("s")).cloned())
        .await
        .unwrap();
    let until = run.unwrap().started.until.unwrap();
    assert_eq!(until.remaining_from(db.now()), Millis::from_secs(30));
    assert_eq!(db.verify(None).await.unwrap().findings, []);
    now.pass(41_000);
    assert_eq!(remaining(&db).await, Millis::ZERO);
    // What is asked from now on is on the wall clock at once.
    assert_eq!(db.now(), wall(1_767_225_641_000));
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
    assert_eq!(
        db.look(|stored| stored.counts(&()).copied())
            .await
            .unwrap()
            .pending,
        20
    );
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
    let checkpoints = async || {
        db.look(|stored| stored.counts(&()).copied())
            .await
            .unwrap()
            .checkpoints
    };
    for id in ["1", "2", "3"] {
        store(&db, allow(id)).await.unwrap();
    }
    assert_eq!(checkpoints().await, 0);
    store(&db, allow("4")).await.unwrap();
    assert_eq!(checkpoints().await, 1);
    db.checkpoint(Vec::new()).await.unwrap();
    assert_eq!(checkpoints().await, 1);
    store(&db, allow("5")).await.unwrap();
    db.checkpoint(Vec::new()).await.unwrap();
    assert_eq!(checkpoints().await, 2);
    store(&db, allow("6")).await.unwrap();
    db.close().await.unwrap();
    let verified = verify_file(&path, None).unwrap();
    assert_eq!((verified.checkpoints, verified.findings), (3, Vec::new()));
}

/// Makes the file what version 3 wrote: it knew neither whose a session is nor that a run was stopped.
fn age_to_version_3(path: &Path) {
    age_to_version_8(path, 0);
    let old = "DROP TABLE members; DROP TABLE room; DROP TABLE asks; DROP INDEX pending_by_agent; ALTER TABLE pending DROP COLUMN agent; ALTER TABLE service DROP COLUMN queued; ALTER TABLE sessions DROP COLUMN agent; ALTER TABLE sessions DROP COLUMN version; ALTER TABLE runs DROP COLUMN interrupted; PRAGMA user_version = 3;";
    let file = rusqlite::Connection::open(path).unwrap();
    file.execute_batch(old).unwrap();
}

fn tidying() -> RunStarted {
    RunStarted {
        task: "tidy up".into(),
        model: "main".into(),
        limits: Limits::USUAL,
        origin: call("c1", "ls").origin,
        workspace: None,
        parent: None,
        until: None,
        workflow: None,
    }
}

/// A file of version 3, with a question, and a run that was stopped.
async fn of_version_3(path: &Path) {
    let db = Store::open(path, Options::default()).unwrap();
    store(&db, asking("int_1", &call("c1", "ls"))).await.unwrap();
    let stopped = Event::RunInterrupted { by: person("ana") };
    let run = vec![Event::RunStarted(Box::new(tidying())), stopped];
    store(&db, run).await.unwrap();
    db.close().await.unwrap();
    age_to_version_3(path);
}

/// Whether its one run is stored as stopped by a person; a run whose rows are damaged cannot be read as a whole.
fn was_interrupted(path: &Path) -> bool {
    let file = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT interrupted IS NOT NULL FROM runs";
    file.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_database_of_version_3_learns_whose_its_sessions_are_and_which_runs_were_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    of_version_3(&path).await;
    let db = Store::open(&path, Options::default()).unwrap();
    let record = db
        .look(|stored| stored.session(&session("s")).cloned())
        .await
        .unwrap();
    assert_eq!(record.agent, Some(key("c1").agent));
    assert!(was_interrupted(&path));
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
        let record = db
            .look(|stored| stored.session(&session("s")).cloned())
            .await
            .unwrap();
        assert_eq!(record.agent, Some(key("c1").agent), "row {damaged}");
        assert_eq!(was_interrupted(&path), damaged != 4);
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
    let file = Store::open_read_only(&path).unwrap();
    let all = JournalPage::of_all(0, 9);
    let rows = file.look(|stored| stored.journal(&all).cloned()).await.unwrap();
    assert_eq!(rows.len(), 4, "looking at it needs nothing new");
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
    age_to_version_8(&path, 0);
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
