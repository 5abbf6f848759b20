//! What only a server can do: several processes on one database, and connections that are lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use placet_core::journal::Event;
use placet_core::listing::JournalPage;
use placet_core::policy::Mode;
use placet_core::step::Commit;
use placet_core::verdict::Decision;
use placet_store::{FindingKind, OpenError, Options, Store, StoreError};

use crate::line::{Line, Lost};
use crate::server::{self, Server};
use crate::world::*;

async fn open(url: &str) -> Store {
    Store::connect(url, Options::default()).await.unwrap()
}

fn set_mode() -> Event {
    Event::ModeSet {
        mode: Mode::Yolo,
        by: person("ana"),
    }
}

async fn version(db: &Store, name: &str) -> u64 {
    let needs = BTreeSet::from([placet_core::snapshot::Need::Session(session(name))]);
    let snapshot = db.load(needs).await.unwrap();
    snapshot.versions().get(&session(name)).copied().unwrap()
}

async fn rows(db: &Store) -> u64 {
    db.look(|stored| stored.counts(&()).copied()).await.unwrap().rows
}

/// Three processes raise one session's version a hundred times each, deciding again after every lost race.
#[tokio::test]
async fn races_between_processes_are_conflicts_and_nothing_is_lost_or_doubled() {
    let url = server::database();
    let mut writers = Vec::new();
    for _ in 0..3 {
        let db = open(&url).await;
        writers.push(tokio::spawn(async move {
            let mut lost = 0;
            for _ in 0..30 {
                loop {
                    let decided_on = BTreeMap::from([(session("s"), version(&db, "s").await)]);
                    let commit = Commit {
                        versions: decided_on,
                        ..commit_in("s", db.now(), vec![set_mode()])
                    };
                    match db.commit(commit).await {
                        Ok(()) => break,
                        Err(StoreError::Conflict { .. }) => lost += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
            }
            db.close().await.unwrap();
            lost
        }));
    }
    let mut lost = 0;
    for writer in writers {
        lost += writer.await.unwrap();
    }
    let db = open(&url).await;
    assert_eq!((version(&db, "s").await, rows(&db).await), (90, 90));
    assert!(lost > 0, "three writers on one session never met");
    assert_eq!(db.verify(None).await.unwrap().findings, []);
}

#[tokio::test]
async fn a_grant_is_claimed_once_however_many_processes_try() {
    let url = server::database();
    let first = open(&url).await;
    let ls = call("c1", "ls");
    store(&first, vec![received(&ls, Decision::Allow)]).await.unwrap();
    let mut claims = Vec::new();
    for _ in 0..4 {
        let db = open(&url).await;
        for _ in 0..8 {
            let db = db.clone();
            claims.push(tokio::spawn(
                async move { store(&db, vec![claimed("c1", 1)]).await },
            ));
        }
    }
    let mut won = 0;
    for claim in claims {
        match claim.await.unwrap() {
            Ok(()) => won += 1,
            Err(error) => assert!(matches!(error, StoreError::Conflict { .. }), "{error}"),
        }
    }
    assert_eq!((won, rows(&first).await), (1, 2));
    assert_eq!(first.verify(None).await.unwrap().findings, []);
}

/// Each process sees every row once, in one order, while all of them write.
#[tokio::test]
async fn every_process_is_told_of_every_row_once_and_in_order() {
    let url = server::database();
    let mut processes = Vec::new();
    for number in 0..3 {
        let told = Arc::new(Mutex::new(Vec::new()));
        let (more, changed) = tokio::sync::watch::channel(0);
        let tell = Arc::clone(&told);
        let options = Options {
            on_commit: Some(Box::new(move |rows| {
                let mut told = tell.lock().unwrap();
                told.extend(rows.iter().map(|row| row.id));
                more.send_replace(told.len());
            })),
            ..Options::default()
        };
        processes.push((
            number,
            Store::connect(&url, options).await.unwrap(),
            told,
            changed,
        ));
    }
    let mut writers = Vec::new();
    for (number, db, ..) in &processes {
        for at in 0..20 {
            let (db, name) = (db.clone(), format!("s{number}-{at}"));
            writers.push(tokio::spawn(async move {
                let commit = commit_in(&name, db.now(), vec![set_mode(), set_mode()]);
                db.commit(commit).await.unwrap();
            }));
        }
    }
    for writer in writers {
        writer.await.unwrap();
    }
    for (_, _, told, changed) in &mut processes {
        // Woken by the server alone: nothing here looks around.
        changed.wait_for(|told| *told >= 120).await.unwrap();
        assert_eq!(*told.lock().unwrap(), (1..=120).collect::<Vec<u64>>());
    }
}

/// A commit that another one of its group contradicts takes none of the others with it.
#[tokio::test]
async fn a_group_survives_the_commits_in_it_that_contradict_the_store() {
    let db = open(&server::database()).await;
    let mut commits = Vec::new();
    for number in 0..40 {
        let db = db.clone();
        commits.push(tokio::spawn(async move {
            let name = format!("c{}", number % 20);
            store(&db, vec![received(&call(&name, "ls"), Decision::Allow)]).await
        }));
    }
    let mut stored = 0;
    for commit in commits {
        match commit.await.unwrap() {
            Ok(()) => stored += 1,
            Err(error) => assert!(matches!(error, StoreError::Conflict { .. }), "{error}"),
        }
    }
    assert_eq!((stored, rows(&db).await), (20, 20));
    assert_eq!(db.verify(None).await.unwrap().findings, []);
}

#[tokio::test]
async fn a_connection_that_the_server_ends_is_made_again() {
    let url = server::database();
    let db = open(&url).await;
    store(&db, vec![set_mode()]).await.unwrap();
    server::tamper(
        &url,
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    // The server has said so to every connection, so none is used again.
    store(&db, vec![set_mode()]).await.unwrap();
    let all = JournalPage::of_all(0, 9);
    for _ in 0..3 {
        let seen = db.look(|stored| stored.journal(&all).cloned()).await.unwrap();
        assert_eq!(seen.len(), 2);
    }
    assert_eq!(db.verify(None).await.unwrap().findings, []);
}

/// A history of three sessions with two checkpoints and a tail: rows 1–6, 7–9, 10–11.
async fn history(url: &str) {
    let db = open(url).await;
    let put = |events| store(&db, events);
    put(asking("int_1", &call("c1", "ls"))).await.unwrap();
    put(approving("int_1", &call("c1", "ls"))).await.unwrap();
    put(vec![claimed("c1", 1), finished("c1", 1)]).await.unwrap();
    db.checkpoint(Vec::new()).await.unwrap();
    for name in ["other", "third", "other"] {
        db.commit(commit_in(name, db.now(), vec![set_mode()]))
            .await
            .unwrap();
    }
    db.checkpoint(Vec::new()).await.unwrap();
    put(asking("int_2", &call("c2", "rm"))).await.unwrap();
}

#[tokio::test]
async fn whatever_another_program_changes_on_the_server_is_found() {
    let edits = [
        (
            "UPDATE journal SET body = replace(body, 'ls', 'rm') WHERE id = 1",
            FindingKind::Changed,
        ),
        (
            "UPDATE journal SET at = at + 1 WHERE id = 5",
            FindingKind::Changed,
        ),
        (
            "UPDATE journal SET hash = decode(repeat('00', 32), 'hex') WHERE id = 10",
            FindingKind::Changed,
        ),
        ("DELETE FROM journal WHERE id = 4", FindingKind::Removed),
        ("DELETE FROM journal WHERE id = 11", FindingKind::SessionCut),
        (
            "UPDATE journal SET id = 100 WHERE id = 7; UPDATE journal SET id = 7 WHERE id = 8;
             UPDATE journal SET id = 8 WHERE id = 100",
            FindingKind::Reordered,
        ),
        (
            "DELETE FROM journal WHERE session = (SELECT id FROM sessions WHERE name = 'third');
             DELETE FROM sessions WHERE name = 'third'",
            FindingKind::SessionRemoved,
        ),
        (
            "DELETE FROM checkpoints WHERE id = 2",
            FindingKind::CheckpointBroken,
        ),
        (
            "UPDATE calls SET grant_state = 'issued', result = NULL WHERE call = 'c1'",
            FindingKind::ProjectionDiffers,
        ),
        ("DELETE FROM pending", FindingKind::ProjectionDiffers),
        (
            "UPDATE sessions SET rejections = 7",
            FindingKind::ProjectionDiffers,
        ),
        (
            "INSERT INTO allow_list VALUES (1, 'bash')",
            FindingKind::ProjectionDiffers,
        ),
        (
            "INSERT INTO standing (row, id, tool, ends_at) VALUES (7, 'sg_1', 'bash', 9999999999999)",
            FindingKind::ProjectionDiffers,
        ),
    ];
    for (edit, kind) in edits {
        let url = server::database();
        history(&url).await;
        let reader = Store::connect_read_only(&url).await.unwrap();
        assert_eq!(reader.verify(None).await.unwrap().findings, []);
        server::tamper(&url, edit);
        let findings = reader.verify(None).await.unwrap().findings;
        assert!(
            findings.iter().any(|finding| finding.kind == kind),
            "{edit}: {findings:?}"
        );
    }
}

#[tokio::test]
async fn an_anchor_of_a_server_finds_a_history_that_was_written_anew() {
    let url = server::database();
    history(&url).await;
    let anchor = open(&url).await.verify(None).await.unwrap().anchor;
    let other = server::database();
    let forged = open(&other).await;
    for _ in 0..11 {
        store(&forged, vec![set_mode()]).await.unwrap();
    }
    let findings = forged.verify(Some(anchor)).await.unwrap().findings;
    assert_eq!(findings[0].kind, FindingKind::AnchorDiffers);
    assert_eq!(open(&url).await.verify(Some(anchor)).await.unwrap().findings, []);
}

#[tokio::test]
async fn a_server_that_cannot_be_used_is_refused_with_the_reason() {
    let refused = async |url: &str| match Store::connect(url, Options::default()).await {
        Ok(_) => panic!("{url} was taken"),
        Err(error) => error,
    };
    // A port that was just free.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let error = refused(&format!("postgres://u:secret@127.0.0.1:{port}/x")).await;
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");

    let error = refused("postgres://u@127.0.0.1:notaport/x").await;
    assert!(matches!(error, OpenError::Address(_)), "{error}");

    let url = server::database();
    let error = refused(&format!("{url}_that_is_missing")).await;
    assert!(matches!(error, OpenError::Refused { .. }), "{error}");

    server::tamper(
        &url,
        "CREATE SCHEMA placet; CREATE TABLE placet.sessions (id INT)",
    );
    let error = refused(&url).await;
    assert!(matches!(error, OpenError::ForeignSchema(_)), "{error}");

    for made_elsewhere in [
        "CREATE TABLE placet.format (version INT); INSERT INTO placet.format VALUES (1)",
        "CREATE TABLE placet.format (version BIGINT)",
        "CREATE TABLE placet.format (version TEXT); INSERT INTO placet.format VALUES ('x')",
        "CREATE TABLE placet.format (name TEXT)",
    ] {
        let url = server::database();
        server::tamper(&url, &format!("CREATE SCHEMA placet; {made_elsewhere}"));
        let error = refused(&url).await;
        assert!(
            matches!(error, OpenError::ForeignSchema(_)),
            "{made_elsewhere}: {error}"
        );
    }

    let url = server::database();
    let error = Store::connect_read_only(&url).await.err().unwrap();
    assert!(matches!(error, OpenError::EmptyDatabase(_)), "{error}");
    open(&url).await.close().await.unwrap();
    server::tamper(&url, "UPDATE format SET version = version + 1");
    let error = refused(&url).await;
    assert!(matches!(error, OpenError::Newer { .. }), "{error}");
}

#[tokio::test]
async fn a_store_outlives_restarts_and_crashes_of_its_server() {
    let server = Server::start("-c fsync=on", &[]);
    let url = server.database();
    let (one, two) = (open(&url).await, open(&url).await);
    for (how, row) in [("fast", 1), ("immediate", 2)] {
        store(&one, vec![set_mode()]).await.unwrap();
        server.stop(how);
        let down = store(&one, vec![set_mode()]).await.unwrap_err();
        assert!(matches!(down, StoreError::Unreachable(_)), "{down}");
        let all = JournalPage::of_all(0, 9);
        let down = two
            .look(|stored| stored.journal(&all).cloned())
            .await
            .unwrap_err();
        assert!(matches!(down, StoreError::Unreachable(_)), "{down}");
        server.start_again();
        assert_eq!((rows(&one).await, rows(&two).await), (row, row));
    }
    store(&two, vec![set_mode()]).await.unwrap();
    assert_eq!(one.verify(None).await.unwrap().findings, []);
}

/// A commit whose connection is lost is stored once, and its caller knows.
#[tokio::test]
async fn a_commit_in_doubt_is_found_out() {
    let url = server::database();
    let line = Line::to(Server::shared().port());
    let (told, _) = tokio::sync::watch::channel(Vec::new());
    let options = Options {
        on_commit: Some(Box::new({
            let told = told.clone();
            move |rows| told.send_modify(|told| told.extend(rows.iter().map(|row| row.id)))
        })),
        ..Options::default()
    };
    let db = Store::connect(&line.url(&url), options).await.unwrap();
    for (row, lost) in [(1, Lost::Answer), (2, Lost::Commit), (3, Lost::Answer)] {
        line.lose_commit(lost);
        store(&db, vec![set_mode()]).await.unwrap();
        assert_eq!(rows(&db).await, row, "{lost:?}");
    }
    assert_eq!(*told.borrow(), [1, 2, 3]);
    assert_eq!(db.verify(None).await.unwrap().findings, []);
}

#[tokio::test]
async fn a_server_that_is_too_old_is_refused() {
    let line = Line::to(Server::shared().port());
    let number = server::tamper(&server::database(), "SHOW server_version_num");
    let number: i32 = number.parse().unwrap();
    // What a server of version 13 says when it is asked for its version.
    line.replace(&number.to_be_bytes(), &130_014_i32.to_be_bytes());
    let error = Store::connect(&line.url(&server::database()), Options::default()).await;
    let error = error.err().unwrap();
    assert!(matches!(error, OpenError::OldServer(_)), "{error}");
}

/// A process that hears nothing from the server, and does not know that, is still told of the others' commits.
#[tokio::test]
async fn a_process_whose_listening_connection_is_silent_or_cut_finds_what_others_commit() {
    let url = server::database();
    let (silent, cut) = (
        Line::to(Server::shared().port()),
        Line::to(Server::shared().port()),
    );
    silent.silence_after(b"LISTEN placet");
    let writer = open(&url).await;
    let mut deaf = Vec::new();
    for line in [&silent, &cut] {
        let (tell, told) = tokio::sync::watch::channel(0);
        let options = Options {
            on_commit: Some(Box::new(move |rows| {
                tell.send_replace(rows.last().map_or(0, |row| row.id));
            })),
            ..Options::default()
        };
        deaf.push((Store::connect(&line.url(&url), options).await.unwrap(), told));
    }
    for row in 1..=3 {
        cut.cut();
        store(&writer, vec![set_mode()]).await.unwrap();
        for (_, told) in &mut deaf {
            let hears = told.wait_for(|told| *told == row);
            tokio::time::timeout(Duration::from_mins(1), hears)
                .await
                .unwrap()
                .unwrap();
        }
    }
}

#[tokio::test]
async fn processes_that_start_at_once_make_the_tables_once() {
    let url = server::database();
    let mut starting = Vec::new();
    for _ in 0..6 {
        let url = url.clone();
        starting.push(tokio::spawn(async move { open(&url).await }));
    }
    for started in starting {
        store(&started.await.unwrap(), vec![set_mode()]).await.unwrap();
    }
    assert_eq!(rows(&open(&url).await).await, 6);
}

/// A writer that stopped in the middle of a group holds up the others only until the server ends its transaction.
#[tokio::test]
async fn a_writer_that_waits_for_the_lock_in_vain_says_busy() {
    let url = server::database();
    let options = Options {
        busy: Duration::from_millis(100),
        ..Options::default()
    };
    let db = Store::connect(&url, options).await.unwrap();
    store(&db, vec![set_mode()]).await.unwrap();
    let holder = server::hold(&url, "SELECT pg_advisory_xact_lock(1349280628, 1)");
    assert_eq!(store(&db, vec![set_mode()]).await, Err(StoreError::Busy));
    drop(holder);
    store(&db, vec![set_mode()]).await.unwrap();
    assert_eq!(db.verify(None).await.unwrap().findings, []);
}
