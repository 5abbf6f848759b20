//! The reader threads: each has a read-only connection of its own and sees one commit at a time.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use placet_core::snapshot::{Need, Snapshot};
use tokio::sync::mpsc;

use crate::database::Database;
use crate::error::{OpenError, StoreError};
use crate::load;
use crate::load::Purpose;
use crate::sql::Connection;
use crate::verify::{Anchor, Verified, verify};
use crate::view::View;

use super::worker::Reply;

/// How many reads may wait before callers wait too.
const QUEUE_READS_MAX: usize = 1024;

/// Something to look at, and whom to tell.
pub(super) enum Look {
    Load(BTreeSet<Need>, Purpose, Reply<Snapshot>),
    Verify(Option<Anchor>, Reply<Verified>),
}

pub(super) struct Readers {
    looks: Option<mpsc::Sender<Look>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(database: &Database, count: usize) -> Result<Self, OpenError> {
        let (looks, queue) = mpsc::channel(QUEUE_READS_MAX);
        let queue = Arc::new(Mutex::new(queue));
        let mut readers = Self {
            looks: Some(looks),
            threads: Vec::new(),
        };
        for number in 1..=count.max(1) {
            let conn = database.reader()?;
            let (database, queue) = (database.clone(), Arc::clone(&queue));
            let thread = thread::Builder::new()
                .name(format!("placet-reader-{number}"))
                .spawn(move || run(&database, &conn, &queue))
                .map_err(|error| StoreError::Io(error.to_string()))?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    pub(super) async fn send(&self, look: Look) -> Result<(), StoreError> {
        let looks = self.looks.as_ref().ok_or(StoreError::Closed)?;
        looks.send(look).await.map_err(|_| StoreError::Closed)
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.looks = None;
        for thread in self.threads.drain(..) {
            if thread.thread().id() != thread::current().id() {
                // A reader that panicked has nothing to say that its caller has not heard.
                let _ = thread.join();
            }
        }
    }
}

fn run(database: &Database, conn: &Connection, queue: &Mutex<mpsc::Receiver<Look>>) {
    loop {
        // Readers take turns waiting; the guard is gone before the look begins.
        let look = queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .blocking_recv();
        // The caller may have gone away meanwhile.
        match look {
            Some(Look::Load(needs, purpose, reply)) => drop(reply.send(load_at_once(conn, needs, purpose))),
            Some(Look::Verify(expected, reply)) => {
                drop(reply.send(verify_at_once(database, expected.as_ref())));
            }
            None => return,
        }
    }
}

/// Verifies on a connection of its own: the others' statements are for other tables.
fn verify_at_once(database: &Database, expected: Option<&Anchor>) -> Result<Verified, StoreError> {
    let conn = database.verifier().map_err(|error| match error {
        OpenError::Store(error) => error,
        other => StoreError::Io(other.to_string()),
    })?;
    verify(&conn, expected)
}

/// Loads in a transaction, so that everything is of one moment. A connection that is found to be lost is made again once.
fn load_at_once(conn: &Connection, needs: BTreeSet<Need>, purpose: Purpose) -> Result<Snapshot, StoreError> {
    match try_load(conn, needs.clone(), purpose) {
        Err(StoreError::Unreachable(_)) => try_load(conn, needs, purpose),
        loaded => loaded,
    }
}

fn try_load(conn: &Connection, needs: BTreeSet<Need>, purpose: Purpose) -> Result<Snapshot, StoreError> {
    conn.begin_reading()?;
    let loaded = guarded(conn, needs, purpose);
    conn.roll_back();
    loaded
}

/// Loads, and turns a panic into an error: one bad look must not take the thread from the others.
pub(super) fn guarded(
    conn: &Connection,
    needs: BTreeSet<Need>,
    purpose: Purpose,
) -> Result<Snapshot, StoreError> {
    let load = || load::load(&View::new(conn), needs, purpose);
    catch_unwind(AssertUnwindSafe(load)).unwrap_or(Err(StoreError::Panicked))
}
