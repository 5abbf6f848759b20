//! The writer thread: takes all queued commits, writes them as one group, wakes all callers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use placet_core::journal::Event;
use placet_core::lease::Fence;
use placet_core::snapshot::Epoch;
use placet_core::step::Commit;
use placet_core::time::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::reader::{Look, guarded};
use super::{OnCommit, OnLook};
use crate::clock::SteadyClock;
use crate::error::StoreError;
use crate::sqlite::Lock;
use crate::sqlite::inline::CommitFault;
use crate::verify;
use crate::writer::{Ending, Job, Writer};
use placet_core::listing::Committed;

/// The most commits of one group. While a group is written, the rest of the machine works on the answers of the one before;
/// a larger group would only make callers wait for each other.
const GROUP_COMMITS_MAX: usize = 256;

pub(super) type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// What the writer can be asked for.
pub(super) enum Message {
    Commit(Commit, Reply<()>),
    /// In memory there are no readers.
    Look(Look),
    Checkpoint(Vec<Fence>, Reply<()>),
    Heartbeat(Reply<()>),
    ProveRoom(Reply<()>),
    LookAround(Reply<()>),
    Close(Ending, Reply<()>),
}

pub(super) struct Worker {
    pub(super) writer: Writer,
    pub(super) queue: mpsc::Receiver<Message>,
    pub(super) clock: Arc<SteadyClock>,
    pub(super) on_commit: Option<OnCommit>,
    pub(super) on_look: Option<OnLook>,
    /// Has the lock until the connection is closed; fields are dropped in order.
    pub(super) _lock: Option<Lock>,
}

impl Worker {
    pub(super) fn run(mut self) {
        let mut messages = Vec::new();
        while self.queue.blocking_recv_many(&mut messages, GROUP_COMMITS_MAX) > 0 {
            let mut commits = Vec::with_capacity(messages.len());
            let mut others = Vec::new();
            for message in messages.drain(..) {
                match message {
                    Message::Commit(commit, reply) => commits.push((commit, reply)),
                    other => others.push(other),
                }
            }
            self.group(commits);
            for message in others {
                if let Message::Close(ending, reply) = message {
                    self.queue.close();
                    // Told only after everything that was sent before the queue closed.
                    self.drain();
                    let _ = reply.send(self.writer.close(self.now(), ending));
                    return;
                }
                self.serve(message);
            }
        }
        // Every handle is gone, so no caller can be told; the next opening finds the same rows, only not covered yet.
        let _ = self.writer.close(self.now(), Ending::Stopping);
    }

    /// Does what was sent before the queue was closed.
    fn drain(&mut self) {
        while let Some(message) = self.queue.blocking_recv() {
            self.serve(message);
        }
    }

    fn group(&self, commits: Vec<(Commit, Reply<()>)>) {
        if commits.is_empty() {
            return;
        }
        let (commits, replies): (Vec<_>, Vec<_>) = commits.into_iter().unzip();
        let mut jobs: Vec<Job> = commits.into_iter().map(Job::new).collect();
        let rows = self.writer.group(&mut jobs, self.now(), CommitFault::None);
        self.tell(&rows);
        for (job, reply) in jobs.into_iter().zip(replies) {
            // A caller that has gone away does not undo what it asked for.
            let _ = reply.send(job.result);
        }
    }

    fn tell(&self, rows: &[Committed]) {
        for row in rows {
            if let Event::Outage { until, .. } = row.event {
                self.clock.adopt(Epoch { row: row.id, until });
            }
        }
        if let Some(on_commit) = self.on_commit.as_ref().filter(|_| !rows.is_empty()) {
            // What a listener does wrong must not stop the writer: the rows are durable.
            let _ = catch_unwind(AssertUnwindSafe(|| on_commit(rows)));
        }
    }

    fn serve(&self, message: Message) {
        match message {
            Message::Commit(commit, reply) => self.group(vec![(commit, reply)]),
            Message::Look(Look::Load(needs, purpose, reply)) => {
                drop(reply.send(guarded(&self.writer.conn, needs, purpose)));
            }
            Message::Look(Look::Verify(expected, reply)) => {
                let _ = reply.send(verify::verify(&self.writer.conn, expected.as_ref()));
            }
            Message::Checkpoint(fences, reply) => {
                let _ = reply.send(self.writer.checkpoint(self.now(), &fences));
            }
            Message::Heartbeat(reply) => {
                let _ = reply.send(self.writer.heartbeat(self.now()));
            }
            Message::ProveRoom(reply) => {
                let _ = reply.send(self.writer.prove_room(self.now()));
            }
            Message::LookAround(reply) => {
                let others = self.writer.others();
                let looked = others.map(|rows| {
                    self.tell(&rows);
                    if let Some(on_look) = &self.on_look {
                        let _ = catch_unwind(AssertUnwindSafe(on_look));
                    }
                });
                let _ = reply.send(looked);
            }
            // A second close finds the first one done.
            Message::Close(_, reply) => {
                let _ = reply.send(Ok(()));
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.now().0
    }
}
