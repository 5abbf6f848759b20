//! What can only be tried from inside: another process that commits at the worst moment.

use std::collections::BTreeMap;
use std::time::Duration;

use placet_core::ids::SessionId;
use placet_core::journal::Event;
use placet_core::outgoing::Change;

use super::*;
use crate::postgres;
use crate::sqlite::schema;

#[expect(dead_code, reason = "shared with the tests of the store")]
#[path = "../../tests/it/server.rs"]
mod server;

fn now() -> Timestamp {
    Timestamp::from_millis(0)
}

/// Ends a session, decided on its first version.
fn ending() -> Job {
    let session = SessionId::new("s").unwrap();
    Job::new(Commit {
        now: now(),
        versions: BTreeMap::from([(session.clone(), 0)]),
        epoch: None,
        fences: Vec::new(),
        events: vec![(session, Event::SessionEnded { by: "a test".into() })],
        changes: Vec::new(),
    })
}

#[test]
fn what_was_decided_is_not_written_over_what_another_process_committed_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let open = || {
        std::fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .unwrap();
        schema::open_writer(&path, Duration::ZERO).unwrap()
    };
    let writer = Writer::new(open(), 64).unwrap();
    let neighbour = Writer::new(open(), 64).unwrap();
    let mut first = [ending()];
    neighbour.group(&mut first, now(), CommitFault::None);
    assert_eq!(first[0].result, Ok(()));

    let taken = Commit {
        now: now(),
        versions: BTreeMap::new(),
        epoch: None,
        fences: Vec::new(),
        events: Vec::new(),
        changes: vec![Change::Took { queue_id: 9 }],
    };
    let mut jobs = [ending(), Job::new(taken)];
    let told = writer.group(&mut jobs, now(), CommitFault::None);
    assert_eq!(told, []);
    for job in jobs {
        assert!(matches!(job.result, Err(StoreError::Conflict { .. })));
    }
    assert_eq!(View::new(&writer.conn).head(), Ok(1), "only the neighbour's row");
}

/// As SIGSTOP does it. The others do not even get an error.
#[test]
fn a_writer_that_is_stopped_in_the_middle_of_a_group_stores_nothing_and_holds_up_no_other_for_long() {
    let at = postgres::Server::new(&server::database(), crate::Options::default().busy).unwrap();
    let open = || Writer::new(at.writer().unwrap(), 64).unwrap();
    let (stopped, other) = (open(), open());
    let mut batch = stopped.begin(now()).unwrap();
    batch.append(&ending().commit).unwrap();
    batch.settle().unwrap();

    let mut jobs = [ending()];
    other.group(&mut jobs, now(), CommitFault::None);
    assert_eq!(jobs[0].result, Ok(()));
    // It goes on, and its transaction is gone.
    let lost = batch.commit(64, CommitFault::None);
    assert!(matches!(lost, Err(StoreError::Unreachable(_))), "{lost:?}");
    assert_eq!(View::new(&other.conn).head(), Ok(1), "only the other one's row");
}
