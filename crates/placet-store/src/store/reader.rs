//! The reader threads: each has a read-only connection of its own and sees one commit at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::mpsc;

use crate::error::{OpenError, StoreError};
use crate::schema;
use crate::view::View;

/// How many reads may wait before callers wait too.
const QUEUE_READS_MAX: usize = 1024;

/// Something to look at. Gets the error when there is nothing to be looked at.
pub(super) type Look = Box<dyn FnOnce(Result<&View<'_>, StoreError>) + Send>;

pub(super) struct Readers {
    path: PathBuf,
    looks: Option<mpsc::Sender<Look>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(path: &Path, count: usize, busy: Duration) -> Result<Self, OpenError> {
        let (looks, queue) = mpsc::channel(QUEUE_READS_MAX);
        let queue = Arc::new(Mutex::new(queue));
        let mut readers = Self {
            path: path.to_owned(),
            looks: Some(looks),
            threads: Vec::new(),
        };
        for number in 1..=count.max(1) {
            let conn = schema::open_reader(path, busy)?;
            let queue = Arc::clone(&queue);
            let thread = thread::Builder::new()
                .name(format!("placet-reader-{number}"))
                .spawn(move || run(&conn, &queue))
                .map_err(|error| StoreError::Io(error.to_string()))?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
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

fn run(conn: &Connection, queue: &Mutex<mpsc::Receiver<Look>>) {
    loop {
        // Readers take turns waiting; the guard is gone before the look begins.
        let look = queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .blocking_recv();
        let Some(look) = look else { return };
        match conn.execute_batch("BEGIN") {
            Ok(()) => {
                look(Ok(&View::new(conn)));
                // A transaction that only reads has nothing to lose by ending.
                let _ = conn.execute_batch("COMMIT");
            }
            Err(error) => look(Err(error.into())),
        }
    }
}

/// Looks, and turns a panic into an error: one bad look must not take the thread from the others.
pub(super) fn guarded<T>(
    view: Result<&View<'_>, StoreError>,
    look: impl FnOnce(&View<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let view = view?;
    catch_unwind(AssertUnwindSafe(|| look(view))).unwrap_or(Err(StoreError::Panicked))
}
