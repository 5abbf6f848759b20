//! The store: one writer thread, a few reader threads, and a cheap handle to both.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use placet_core::lease::Fence;
use placet_core::listing::Committed;
use placet_core::snapshot::{Need, Snapshot, Undecided};
use placet_core::step::Commit;
use placet_core::time::{Outage, Timestamp};
use tokio::sync::mpsc::WeakSender;
use tokio::sync::{mpsc, oneshot};

use crate::clock::{Clock, SteadyClock, SystemClock};
use crate::database::Database;
use crate::error::{OpenError, StoreError};
use crate::load::Purpose;
use crate::postgres;
use crate::sql::Connection;
use crate::sqlite::{self, schema};
use crate::verify::{Anchor, Verified};
use crate::view::View;
use crate::writer::{Ending, Writer};

mod reader;
mod worker;

use reader::{Look, Readers};
use worker::{Message, Reply, Worker};

/// How many commits may wait for the writer before callers wait too.
const QUEUE_COMMITS_MAX: usize = 4096;

/// What is told about rows once they are durable. Runs on the writer thread: it must be quick.
pub type OnCommit = Box<dyn Fn(&[Committed]) + Send + Sync>;

/// What is told that another process may have committed something.
pub type OnLook = Box<dyn Fn() + Send + Sync>;

/// How a store is opened.
pub struct Options {
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Told about rows once they are durable, before those who wrote them.
    pub on_commit: Option<OnCommit>,
    /// Told that another process may have committed something, with or without rows. Runs on the writer thread.
    pub on_look: Option<OnLook>,
    /// How many rows may wait for a checkpoint.
    pub checkpoint_rows: u32,
    /// How long to wait for another program that holds the database.
    pub busy: Duration,
    /// How many threads read.
    pub readers: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            on_commit: None,
            on_look: None,
            checkpoint_rows: 1024,
            busy: Duration::from_secs(5),
            readers: 2,
        }
    }
}

/// A handle to an open store. Cheap to clone; the last one to go closes the store.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    steps: Option<mpsc::Sender<Message>>,
    /// Absent in memory, where only the writer's connection sees the data.
    readers: Option<Readers>,
    writer: Mutex<Option<JoinHandle<()>>>,
    clock: Arc<SteadyClock>,
    outage_before: Option<Outage>,
}

impl Store {
    /// Opens the store in a file, and creates the file when missing. One process at a time.
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        let lock = sqlite::lock(path)?;
        let conn = schema::open_writer(path, options.busy)?;
        let readers = Readers::start(&file(path, options.busy), options.readers)?;
        Self::start(conn, options, Some(lock), Some(readers))
    }

    /// Opens the store in a database of a PostgreSQL server, and makes its tables when there are none. Any number of processes
    /// may have it open; each is told of what the others commit like of its own rows.
    pub async fn connect(url: &str, options: Options) -> Result<Self, OpenError> {
        let server = postgres::Server::new(url, options.busy)?;
        elsewhere(move || {
            let conn = server.writer()?;
            let readers = Readers::start(&Database::Server(Box::new(server.clone())), options.readers)?;
            let store = Self::start(conn, options, None, Some(readers))?;
            store.listen(server)?;
            Ok(store)
        })
        .await
    }

    /// Opens the store of a server to look at it. Changes nothing.
    pub async fn connect_read_only(url: &str) -> Result<Self, OpenError> {
        let options = Options::default();
        let server = postgres::Server::new(url, options.busy)?;
        elsewhere(move || {
            let readers = Readers::start(&Database::Server(Box::new(server)), 1)?;
            Ok(Self::reading(readers, options.clock))
        })
        .await
    }

    /// Has the writer look around whenever another process commits.
    fn listen(&self, server: postgres::Server) -> Result<(), OpenError> {
        let Some(queue) = self.inner.steps.as_ref().map(mpsc::Sender::downgrade) else {
            return Ok(());
        };
        let look = move || look_around(queue.clone());
        thread::Builder::new()
            .name("placet-listener".into())
            .spawn(move || postgres::listen(&server, look))
            .map_err(|error| StoreError::Io(error.to_string()))?;
        Ok(())
    }

    /// Opens an empty store in memory.
    pub fn open_in_memory(options: Options) -> Result<Self, OpenError> {
        Self::start(schema::open_in_memory()?, options, None, None)
    }

    /// Opens the store in a file to look at it. Takes no lock and changes nothing.
    pub fn open_read_only(path: &Path) -> Result<Self, OpenError> {
        let options = Options::default();
        schema::check_existing(path, options.busy)?;
        let readers = Readers::start(&file(path, options.busy), 1)?;
        Ok(Self::reading(readers, options.clock))
    }

    fn reading(readers: Readers, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner: Arc::new(Inner {
                steps: None,
                readers: Some(readers),
                writer: Mutex::new(None),
                clock: Arc::new(SteadyClock::new(clock, 0)),
                outage_before: None,
            }),
        }
    }

    fn start(
        conn: Connection,
        options: Options,
        lock: Option<sqlite::Lock>,
        readers: Option<Readers>,
    ) -> Result<Self, OpenError> {
        let writer = Writer::new(conn, options.checkpoint_rows)?;
        let after = View::new(&writer.conn).epoch()?.row;
        let clock = Arc::new(SteadyClock::new(options.clock, after));
        let until = clock.now().0;
        let outage_before = writer.last_alive()?.map(|from| Outage { from, until, after });
        let (steps, queue) = mpsc::channel(QUEUE_COMMITS_MAX);
        let worker = Worker {
            writer,
            queue,
            clock: Arc::clone(&clock),
            on_commit: options.on_commit,
            on_look: options.on_look,
            _lock: lock,
        };
        let thread = thread::Builder::new()
            .name("placet-writer".into())
            .spawn(move || worker.run())
            .map_err(|error| StoreError::Io(error.to_string()))?;
        Ok(Self {
            inner: Arc::new(Inner {
                steps: Some(steps),
                readers,
                writer: Mutex::new(Some(thread)),
                clock,
                outage_before,
            }),
        })
    }

    /// The store's clock. Does not jump: see [`Store::clock_jump`].
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now().0
    }

    /// The time to decide on a snapshot by. Nothing if an outage has set the clock since it was loaded.
    pub fn now_for(&self, snapshot: &Snapshot) -> Option<Timestamp> {
        let (now, epoch) = self.inner.clock.now();
        let current = snapshot.epoch().is_none_or(|loaded| loaded.row == epoch);
        current.then_some(now)
    }

    /// From when until when Placet did not run before this store was opened.
    pub fn outage_before(&self) -> Option<Outage> {
        self.inner.outage_before
    }

    /// The outage that a jump of the wall clock makes, if it has jumped. The store's clock follows when it is committed.
    pub fn clock_jump(&self) -> Option<Outage> {
        self.inner.clock.jump()
    }

    /// Loads what a decision asks for, all of one moment. Sees everything that was acknowledged before.
    pub async fn load(&self, needs: BTreeSet<Need>) -> Result<Snapshot, StoreError> {
        let snapshot = self
            .see(|reply| Look::Load(needs, Purpose::Deciding, reply))
            .await?;
        // Another process may have recorded an outage that this one has not heard of.
        if let Some(epoch) = snapshot.epoch() {
            self.inner.clock.adopt(epoch);
        }
        Ok(snapshot)
    }

    /// Looks at what is stored. `read` runs once more for each load, so it must be a function of its argument.
    pub async fn look<T>(&self, read: impl Fn(&Snapshot) -> Result<T, Undecided>) -> Result<T, StoreError> {
        let mut snapshot = Snapshot::default();
        loop {
            let seen = read(&snapshot);
            match snapshot.wanting() {
                Some(needs) => {
                    snapshot = self
                        .see(|reply| Look::Load(needs, Purpose::Looking, reply))
                        .await?;
                }
                None => return Ok(seen?),
            }
        }
    }

    /// Makes a step durable, or says that it was decided on an old state ([`StoreError::Conflict`]). Answers after the commit.
    pub async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        self.ask(|reply| Message::Commit(commit, reply)).await
    }

    /// Covers all rows by a checkpoint, under the leases of these fences: one process does this for all.
    pub async fn checkpoint(&self, fences: Vec<Fence>) -> Result<(), StoreError> {
        self.ask(|reply| Message::Checkpoint(fences, reply)).await
    }

    /// Looks for rows that other processes wrote to the database; they are told like what this store writes.
    pub async fn look_around(&self) -> Result<(), StoreError> {
        self.ask(Message::LookAround).await
    }

    /// Stores that Placet runs: where the outage begins if it is killed.
    pub async fn heartbeat(&self) -> Result<(), StoreError> {
        self.ask(Message::Heartbeat).await
    }

    /// Whether the store can be written: commits a write larger than most steps. On a full disk a small change in place may
    /// still succeed where a step would not.
    pub async fn prove_room(&self) -> Result<(), StoreError> {
        self.ask(Message::ProveRoom).await
    }

    /// Checks everything stored: every chain, and the projections against the journal.
    pub async fn verify(&self, expected: Option<Anchor>) -> Result<Verified, StoreError> {
        self.see(|reply| Look::Verify(expected, reply)).await
    }

    /// Commits what is waiting and closes the store, a file with a last checkpoint. Other handles get
    /// [`StoreError::Closed`] from then on.
    pub async fn close(self) -> Result<(), StoreError> {
        self.end(Ending::Stopping).await
    }

    /// The same, but the time until the next start is no outage: approvers can answer through other processes meanwhile.
    pub async fn leave(self) -> Result<(), StoreError> {
        self.end(Ending::Leaving).await
    }

    async fn end(self, ending: Ending) -> Result<(), StoreError> {
        let closed = self.ask(|reply| Message::Close(ending, reply)).await;
        // The writer has answered, so it is about to end; until it has, the file is locked.
        self.inner.join();
        closed
    }

    async fn ask(
        &self,
        message: impl FnOnce(oneshot::Sender<Result<(), StoreError>>) -> Message,
    ) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(message(reply)).await?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    async fn see<T>(&self, look: impl FnOnce(Reply<T>) -> Look) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        match &self.inner.readers {
            Some(readers) => readers.send(look(reply)).await?,
            None => self.send(Message::Look(look(reply))).await?,
        }
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    async fn send(&self, message: Message) -> Result<(), StoreError> {
        let steps = self.inner.steps.as_ref().ok_or(StoreError::Closed)?;
        steps.send(message).await.map_err(|_| StoreError::Closed)
    }
}

impl Inner {
    fn join(&self) {
        let thread = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last handle may be dropped by a step, on the writer thread itself, which cannot wait for itself.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
            // A writer that panicked has nothing to say that its callers have not heard.
            let _ = thread.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Readers first: the last connection to close folds the write-ahead log back, and only the writer's can.
        self.readers = None;
        self.steps = None;
        self.join();
    }
}

async fn look_around(queue: WeakSender<Message>) -> postgres::Open {
    let (reply, looked) = oneshot::channel();
    // Not held while the look is waited for: the last handle to go closes the store.
    let sent = match queue.upgrade() {
        Some(queue) => queue.send(Message::LookAround(reply)).await.is_ok(),
        None => false,
    };
    // What goes wrong is told to the callers that need an answer.
    if sent && looked.await.is_ok() {
        postgres::Open::Yes
    } else {
        postgres::Open::No
    }
}

/// Runs `work` on a thread of its own: connections to a server wait for it, which tasks must not.
async fn elsewhere<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    let (reply, answer) = oneshot::channel();
    thread::Builder::new()
        .name("placet-opener".into())
        // A caller that has gone away closes what was opened.
        .spawn(move || drop(reply.send(work())))
        .map_err(|error| StoreError::Io(error.to_string()))?;
    answer.await.unwrap_or(Err(OpenError::Store(StoreError::Closed)))
}

fn file(path: &Path, busy: Duration) -> Database {
    Database::File(sqlite::File {
        path: path.to_owned(),
        busy,
    })
}
