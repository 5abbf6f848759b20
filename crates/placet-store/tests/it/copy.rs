//! An installation moved from one kind of store to the other, and back.

use std::path::Path;

use placet_core::ids::{ChannelName, ChatId};
use placet_core::journal::Event;
use placet_core::outgoing::{Change, OutKind, Outgoing};
use placet_core::policy::Mode;
use placet_store::{CopyError, Location, Options, Store, copy};

use crate::server;
use crate::world::*;

fn message(key: &str) -> Change {
    Change::Enqueue(Outgoing {
        key: key.to_owned(),
        channel: ChannelName::new("ops").unwrap(),
        chat: ChatId::new("room").unwrap(),
        interaction: None,
        kind: OutKind::Message,
        body: "hello".into(),
    })
}

/// A store with a little of everything, and more rows than are copied at once.
async fn used(path: &Path) {
    let db = Store::open(path, Options::default()).unwrap();
    store(&db, asking("int_1", &call("c1", "ls"))).await.unwrap();
    store(&db, approving("int_1", &call("c1", "ls"))).await.unwrap();
    store(&db, vec![claimed("c1", 1), finished("c1", 1)])
        .await
        .unwrap();
    store(&db, asking("int_2", &call("c2", "rm"))).await.unwrap();
    for number in 0..600 {
        let event = Event::ModeSet {
            mode: Mode::Yolo,
            by: person("ana"),
        };
        let commit = commit_in(&format!("s{number}"), db.now(), vec![event, answered_nothing()]);
        db.commit(commit).await.unwrap();
    }
    let commit = changing(db.now(), vec![message("a"), message("b")]);
    db.commit(commit).await.unwrap();
    db.close().await.unwrap();
}

fn answered_nothing() -> Event {
    Event::ToolAllowed {
        tool: placet_core::ids::ToolName::new("bash").unwrap(),
        by: person("ana"),
    }
}

#[tokio::test]
async fn a_store_moves_to_a_server_and_back_and_goes_on_there() {
    let folder = tempfile::tempdir().unwrap();
    let (here, again) = (folder.path().join("here.db"), folder.path().join("again.db"));
    used(&here).await;
    let url = server::database();
    let (from, to) = (Location::from(here.as_path()), Location::parse(&url).unwrap());
    let moved = copy(from.clone(), to.clone()).await.unwrap();
    assert_eq!((moved.rows, moved.sessions), (1208, 601));

    // The open question is answered there, and new items get numbers of their own.
    let db = Store::open_at(&to, Options::default()).await.unwrap();
    let no = vec![
        answered("int_2", placet_core::interaction::Action::RejectWithReason),
        settled("c2", rejected("no"), None),
    ];
    store(&db, no).await.unwrap();
    db.commit(changing(db.now(), vec![message("c")])).await.unwrap();
    assert_eq!(db.verify(Some(moved.anchor)).await.unwrap().findings, []);
    db.close().await.unwrap();

    let back = copy(to, Location::from(again.as_path())).await.unwrap();
    assert_eq!((back.rows, back.sessions), (1210, 601));
    let db = Store::open(&again, Options::default()).unwrap();
    db.commit(changing(db.now(), vec![message("d")])).await.unwrap();
    let counts = db.look(|stored| stored.counts(&()).copied()).await.unwrap();
    assert_eq!((counts.pending, counts.outbox_waiting), (0, 4));
    assert_eq!(db.verify(Some(moved.anchor)).await.unwrap().findings, []);
}

#[tokio::test]
async fn a_store_is_not_copied_over_another_nor_when_it_is_damaged_missing_or_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("here.db");
    let from = Location::from(path.as_path());
    let missing = copy(from.clone(), Location::parse(&server::database()).unwrap()).await;
    assert!(matches!(missing, Err(CopyError::From { .. })), "{missing:?}");
    assert!(!path.exists());

    used(&path).await;
    let to = Location::parse(&server::database()).unwrap();
    copy(from.clone(), to.clone()).await.unwrap();
    let twice = copy(from.clone(), to.clone()).await;
    assert!(matches!(twice, Err(CopyError::NotEmpty(_))), "{twice:?}");

    let running = Store::open(&path, Options::default()).unwrap();
    let in_use = copy(from.clone(), Location::parse(&server::database()).unwrap()).await;
    assert!(matches!(in_use, Err(CopyError::From { .. })), "{in_use:?}");
    running.close().await.unwrap();

    rusqlite::Connection::open(&path)
        .unwrap()
        .execute("UPDATE calls SET state = 'refused'", [])
        .unwrap();
    let damaged = copy(from, Location::parse(&server::database()).unwrap()).await;
    assert!(matches!(damaged, Err(CopyError::Damaged(_))), "{damaged:?}");
}
