//! The store: one writer thread, a few reader threads, and a cheap handle to both.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use placet_core::snapshot::{Need, Snapshot};
use placet_core::step::Commit;
use placet_core::time::{Millis, Now};
use tokio::sync::{mpsc, oneshot};

use crate::clock::{Clock, LiveClock, Owner, SystemClock};
use crate::error::{OpenError, StoreError};
use crate::load;
use crate::rows::Committed;
use crate::schema;
use crate::verify::{Anchor, Verified};
use crate::view::View;
use crate::writer::{Role, Writer};

mod reader;
mod worker;

use reader::{Look, Readers};
use worker::{Message, Worker};

/// How many commits may wait for the writer before callers wait too.
const QUEUE_COMMITS_MAX: usize = 4096;

/// How often the lock is tried before somebody else really has it.
const LOCK_TRIES: u32 = 25;
/// How long to wait in between.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// What this process is to the file.
enum Presence {
    /// The only one that keeps live time, as long as it has the lock; in memory there is none.
    Owner { _lock: Option<Lock> },
    /// One that writes beside the owner of this file, or while there is none.
    Guest(PathBuf),
}

/// What is told about rows once they are durable. Runs on the writer thread: it must be quick.
pub type OnCommit = Box<dyn Fn(&[Committed]) + Send + Sync>;

/// How a store is opened.
pub struct Options {
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// Told about rows once they are durable, before those who wrote them.
    pub on_commit: Option<OnCommit>,
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
    clock: Arc<dyn Clock>,
    live: Arc<LiveClock>,
    down_for: Millis,
}

impl Store {
    /// Opens the store in a file, and makes the file when there is none. One process at a time.
    pub fn open(path: &Path, options: Options) -> Result<Self, OpenError> {
        let lock = make_files(path)?;
        let conn = schema::open_writer(path, options.busy)?;
        let readers = Readers::start(path, options.readers, options.busy)?;
        let owner = Presence::Owner { _lock: Some(lock) };
        Self::start(conn, options, owner, Some(readers))
    }

    /// Opens the store in a file that another process may own, to write beside it. Each sees what the other commits; the
    /// owner is told of it like of its own rows. Live time is the owner's, and stands still when there is none; who only
    /// looks needs no right to write, and leaves no trace.
    pub fn join(path: &Path, options: Options) -> Result<Self, OpenError> {
        // SQLite reports a missing file as "unable to open", which says little.
        std::fs::metadata(path).map_err(|source| OpenError::File {
            path: path.to_owned(),
            source,
        })?;
        let conn = schema::open_guest(path, options.busy)?;
        let readers = Readers::start(path, options.readers, options.busy)?;
        let guest = Presence::Guest(path.to_owned());
        Self::start(conn, options, guest, Some(readers))
    }

    /// Opens an empty store in memory.
    pub fn open_in_memory(options: Options) -> Result<Self, OpenError> {
        let owner = Presence::Owner { _lock: None };
        Self::start(schema::open_in_memory()?, options, owner, None)
    }

    fn start(
        conn: rusqlite::Connection,
        options: Options,
        presence: Presence,
        readers: Option<Readers>,
    ) -> Result<Self, OpenError> {
        let clock = options.clock;
        let role = match &presence {
            Presence::Owner { .. } => Role::Owner,
            Presence::Guest(_) => Role::Guest,
        };
        let writer = Writer::new(conn, options.checkpoint_rows, role)?;
        let written = writer.last_alive()?;
        let down_for = written.ago(&*clock);
        let live = Arc::new(match role {
            Role::Owner => LiveClock::kept(written.live, &*clock),
            Role::Guest => LiveClock::Followed(Mutex::default()),
        });
        let (steps, queue) = mpsc::channel(QUEUE_COMMITS_MAX);
        let worker = Worker {
            writer,
            queue,
            clock: Arc::clone(&clock),
            live: Arc::clone(&live),
            on_commit: options.on_commit,
            presence,
        };
        worker.look_at_owner()?;
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
                live,
                down_for,
            }),
        })
    }

    /// Both clocks.
    pub fn now(&self) -> Now {
        self.inner.live.now(&*self.inner.clock)
    }

    /// How long nothing was running before this store was opened, by the wall clock.
    pub fn down_for(&self) -> Millis {
        self.inner.down_for
    }

    /// Loads what a decision asks for, all of one moment. Sees everything that was acknowledged before.
    pub async fn load(&self, needs: BTreeSet<Need>) -> Result<Snapshot, StoreError> {
        self.read(move |view, _| load::load(view, needs)).await
    }

    /// Makes a step durable, or says that it was decided on an old state ([`StoreError::Conflict`]). Answers after the commit.
    pub async fn commit(&self, commit: Commit) -> Result<(), StoreError> {
        self.ask(|reply| Message::Commit(commit, reply)).await
    }

    /// Looks at the newest state. Sees everything that was acknowledged before.
    pub async fn read<T, F>(&self, look: F) -> Result<T, StoreError>
    where
        F: FnOnce(&View<'_>, Now) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let now = self.now();
        let job: Look = Box::new(move |view| {
            // The caller may have gone away meanwhile.
            let _ = reply.send(reader::guarded(view, |view| look(view, now)));
        });
        match &self.inner.readers {
            Some(readers) => readers.send(job).await?,
            None => self.send(Message::Look(job)).await?,
        }
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Covers all rows by a checkpoint.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        self.ask(Message::Checkpoint).await
    }

    /// Looks whether somebody else wrote to the file; what they wrote is told like what this store writes.
    pub async fn look_around(&self) -> Result<(), StoreError> {
        self.ask(Message::LookAround).await
    }

    /// Stores how far live time has come, so that a crash gives no question more than that back.
    pub async fn heartbeat(&self) -> Result<(), StoreError> {
        self.ask(Message::Heartbeat).await
    }

    /// Whether the store can be written: commits a write larger than most steps. On a full disk a small change in place may
    /// still succeed where a step would not.
    pub async fn prove_room(&self) -> Result<(), StoreError> {
        self.ask(Message::ProveRoom).await
    }

    /// Checks everything stored; see [`crate::verify_file`].
    pub async fn verify(&self, expected: Option<Anchor>) -> Result<Verified, StoreError> {
        let (reply, answer) = oneshot::channel();
        match &self.inner.readers {
            Some(readers) => {
                let path = readers.path().to_owned();
                let job: Look = Box::new(move |_| {
                    let verified = crate::verify::verify_file(&path, expected.as_ref());
                    let _ = reply.send(verified.map_err(|error| match error {
                        OpenError::Store(error) => error,
                        other => StoreError::Io(other.to_string()),
                    }));
                });
                readers.send(job).await?;
            }
            None => self.send(Message::Verify(expected, reply)).await?,
        }
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Commits what is waiting, writes a last checkpoint and closes the file. Other handles get
    /// [`StoreError::Closed`] from then on.
    pub async fn close(self) -> Result<(), StoreError> {
        let closed = self.ask(Message::Close).await;
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

/// The lock on a store's file, as long as this lives.
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone is not enough: a child process that is just being started still has a copy of the descriptor.
        let _ = self.0.unlock();
    }
}

/// Makes the folder and the file, readable by nobody else, and takes the lock.
fn make_files(path: &Path) -> Result<Lock, OpenError> {
    let file = |path: &Path, source| OpenError::File {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(|error| file(folder, error))?;
    }
    let lock = lock_file(path)?;
    match patiently(&lock) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => return Err(file(path, error)),
    }
    private(path).map_err(|error| file(path, error))?;
    Ok(Lock(lock))
}

/// Takes the lock. A process that was killed while it started another one leaves that with a copy of the lock until it has
/// begun, and a guest has it while it looks for an owner: moments, and no owners.
fn patiently(lock: &File) -> Result<(), TryLockError> {
    for _ in 0..LOCK_TRIES {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            decided => return decided,
        }
    }
    lock.try_lock()
}

/// Whether a process owns the store. Where that cannot be found out, one does: then questions still close in time.
fn owner_of(path: &Path) -> Owner {
    match File::open(lock_path(path)) {
        Ok(lock) => match lock.try_lock_shared() {
            Ok(()) => {
                drop(Lock(lock));
                Owner::Away
            }
            Err(_) => Owner::Here,
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Owner::Away,
        Err(_) => Owner::Here,
    }
}

fn lock_path(path: &Path) -> PathBuf {
    let mut lock_path = path.as_os_str().to_owned();
    lock_path.push(".lock");
    PathBuf::from(lock_path)
}

fn lock_file(path: &Path) -> Result<File, OpenError> {
    let lock_path = lock_path(path);
    private(&lock_path).map_err(|source| OpenError::File {
        path: lock_path,
        source,
    })
}

fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
