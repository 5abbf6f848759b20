//! What the machine can do to a store.

use std::time::Duration;

use placet_core::listing::After;
use placet_core::verdict::Decision;
use placet_store::inline::{InlineStore, ReadOnly};
use placet_store::{OpenError, Options, Store, StoreError};
use rusqlite::Connection;

use crate::world::*;

fn quick() -> Options {
    Options {
        busy: Duration::from_millis(20),
        ..Options::default()
    }
}

#[tokio::test]
async fn a_locked_database_is_busy_and_works_again_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let db = Store::open(&path, quick()).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ask = || asking("int_1", &call("c1", "ls"));
    assert_eq!(store(&db, ask()).await, Err(StoreError::Busy));
    assert_eq!(
        db.look(|stored| stored.counts(&()).copied()).await.unwrap().rows,
        0
    );
    other.execute_batch("COMMIT").unwrap();
    store(&db, ask()).await.unwrap();
}

#[test]
fn a_full_disk_stores_nothing_and_the_store_goes_on_once_there_is_space() {
    let mut db = InlineStore::new().unwrap();
    put(&mut db, 0, asking("int_1", &call("c1", "ls"))).unwrap();
    let pages = db.pages().unwrap();
    db.limit_pages(pages).unwrap();
    let long = call("c2", &"x".repeat(100_000));
    assert_eq!(put(&mut db, 1, asking("int_2", &long)), Err(StoreError::Full));
    assert_eq!(db.look(|stored| stored.call(&key("c2")).cloned()).unwrap(), None);
    assert_eq!(db.look(|stored| stored.counts(&()).copied()).unwrap().rows, 2);
    db.limit_pages(pages + 1000).unwrap();
    put(&mut db, 2, asking("int_2", &long)).unwrap();
    assert_eq!(db.verify(None).unwrap().findings, []);
}

/// A heartbeat changes a row in place, so it told nothing about the next step.
#[test]
fn a_full_disk_is_found_although_a_heartbeat_still_fits() {
    let mut db = InlineStore::new().unwrap();
    put(&mut db, 0, asking("int_1", &call("c1", "ls"))).unwrap();
    let pages = db.pages().unwrap();
    db.limit_pages(pages).unwrap();
    db.heartbeat(at(1)).unwrap();
    assert_eq!(db.prove_room(at(1)), Err(StoreError::Full));
    db.limit_pages(pages + 1000).unwrap();
    for second in 2..6 {
        db.prove_room(at(second)).unwrap();
    }
    assert!(
        db.pages().unwrap() < pages + 100,
        "the proof takes no room for good"
    );
    assert_eq!(db.verify(None).unwrap().findings, []);
}

/// SQLite rolls back by itself when the disk is full: the checkpoint is gone, and so must be the memory of it.
#[test]
fn a_checkpoint_that_found_no_space_is_written_whole_once_there_is_some() {
    let mut db = InlineStore::new().unwrap();
    // Every session's head goes into the checkpoint, which needs pages of its own.
    for number in 0..120 {
        let mut ls = call(&format!("c{number}"), "ls");
        ls.session = session(&format!("session-{number}"));
        let events = vec![received(&ls, Decision::Allow)];
        db.commit(commit_in(ls.session.as_str(), at(0), events)).unwrap();
    }
    let before = db.look(|stored| stored.counts(&()).copied()).unwrap().checkpoints;
    db.limit_pages(db.pages().unwrap()).unwrap();
    assert_eq!(db.checkpoint(at(1)), Err(StoreError::Full));
    db.limit_pages(10_000).unwrap();
    put(&mut db, 2, asking("int_1", &call("c", "ls"))).unwrap();
    db.checkpoint(at(3)).unwrap();
    assert_eq!(
        db.look(|stored| stored.counts(&()).copied()).unwrap().checkpoints,
        before + 1
    );
    assert_eq!(db.verify(None).unwrap().findings, []);
}

#[test]
fn a_read_only_database_can_be_looked_at() {
    let mut db = InlineStore::new().unwrap();
    put(&mut db, 0, asking("int_1", &call("c1", "ls"))).unwrap();
    db.set_read_only(ReadOnly::Yes).unwrap();
    let approve = || approving("int_1", &call("c1", "ls"));
    assert_eq!(put(&mut db, 1, approve()), Err(StoreError::ReadOnly));
    assert_eq!(db.look(|stored| stored.counts(&()).copied()).unwrap().pending, 1);
    db.set_read_only(ReadOnly::No).unwrap();
    put(&mut db, 2, approve()).unwrap();
}

#[test]
fn a_row_that_cannot_be_read_is_named_and_hides_nothing_else() {
    let mut db = InlineStore::new().unwrap();
    put(&mut db, 0, asking("int_1", &call("c1", "ls"))).unwrap();
    put(&mut db, 0, asking("int_2", &call("c2", "ls 2"))).unwrap();
    db.tamper("UPDATE journal SET body = CAST(x'7bff' AS TEXT) WHERE id = 1")
        .unwrap();
    let error = db.look(|stored| stored.call(&key("c1")).cloned()).unwrap_err();
    assert!(
        error.to_string().contains("journal row 1 cannot be read"),
        "{error}"
    );
    assert!(
        db.look(|stored| stored.call(&key("c2")).cloned())
            .unwrap()
            .is_some()
    );
    put(&mut db, 1, approving("int_2", &call("c2", "ls 2"))).unwrap();
}

#[test]
fn a_question_that_cannot_be_read_is_named_in_the_list_of_the_others() {
    let mut db = InlineStore::new().unwrap();
    for number in 1..=3 {
        let ls = call(&format!("c{number}"), &format!("ls {number}"));
        put(&mut db, 0, asking(&format!("int_{number}"), &ls)).unwrap();
    }
    db.tamper("UPDATE journal SET body = '{' WHERE id = 4").unwrap();
    let open = |cursor, limit| {
        db.look(|stored| stored.pending(&After { cursor, limit }).cloned())
            .unwrap()
    };
    let page = open(None, 9);
    let readable: Vec<_> = page.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(readable, ["int_1", "int_3"]);
    assert_eq!(page.damaged[0].id, question("int_2"));
    assert!(
        page.damaged[0].why.contains("journal row 4 cannot be read"),
        "{page:?}"
    );
    let second = open(Some(2), 1);
    assert_eq!(
        (second.rows.len(), second.last()),
        (0, Some(4)),
        "the list goes on behind it"
    );
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    std::fs::write(&path, "my diary ".repeat(1000)).unwrap();
    assert!(matches!(
        Store::open(&path, quick()),
        Err(OpenError::NotADatabase(_))
    ));
    assert_eq!(std::fs::read(&path).unwrap().len(), 9000);
}

#[test]
fn a_damaged_header_is_found_on_opening() {
    use std::io::{Seek, Write};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    drop(Store::open(&path, quick()).unwrap());
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.rewind().unwrap();
    file.write_all(b"SQLite formXt 3").unwrap();
    assert!(matches!(
        Store::open(&path, quick()),
        Err(OpenError::NotADatabase(_))
    ));
}

#[test]
fn somebody_elses_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE diary (day TEXT)")
        .unwrap();
    assert!(matches!(
        Store::open(&path, quick()),
        Err(OpenError::NotADatabase(_))
    ));
}

#[test]
fn a_database_of_a_newer_placet_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    drop(Store::open(&path, quick()).unwrap());
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let Err(error) = Store::open(&path, quick()) else {
        panic!("opened")
    };
    assert!(matches!(error, OpenError::Newer { found: 99, .. }));
    assert!(error.to_string().contains("use a newer placet"), "{error}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_way = folder.path().join("file");
    std::fs::write(&in_the_way, "").unwrap();
    let Err(error) = Store::open(&in_the_way.join("placet.db"), quick()) else {
        panic!("opened")
    };
    assert!(
        matches!(&error, OpenError::File { path, .. } if *path == in_the_way),
        "{error}"
    );
}

/// One very large call must not stop the small ones.
#[test]
fn a_call_of_four_megabytes_is_stored_and_read_back() {
    let mut db = InlineStore::new().unwrap();
    let huge = call("c1", &"x".repeat(4 * 1024 * 1024 - 64));
    put(&mut db, 0, vec![received(&huge, Decision::Allow)]).unwrap();
    assert_eq!(
        db.look(|stored| stored.call(&key("c1")).cloned())
            .unwrap()
            .unwrap()
            .call,
        huge
    );
}
