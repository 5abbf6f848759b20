//! The writer thread: takes whatever waits, commits it as one group, tells everybody.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use placet_core::step::Commit;
use placet_core::time::Now;
use tokio::sync::{mpsc, oneshot};

use super::reader::Look;
use super::{OnCommit, Presence, owner_of};
use crate::clock::{Clock, LiveClock};
use crate::error::StoreError;
use crate::inline::CommitFault;
use crate::rows::Committed;
use crate::verify::{self, Anchor, Verified};
use crate::view::View;
use crate::writer::{Job, Writer};

/// The most commits of one group. While a group is written, the rest of the machine works on the answers of the one before;
/// a larger group would only make everybody wait for each other.
const GROUP_COMMITS_MAX: usize = 256;

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// What the writer can be asked for.
pub(super) enum Message {
    Commit(Commit, Reply<()>),
    /// In memory there are no readers.
    Look(Look),
    Checkpoint(Reply<()>),
    Heartbeat(Reply<()>),
    ProveRoom(Reply<()>),
    LookAround(Reply<()>),
    Verify(Option<Anchor>, Reply<Verified>),
    Close(Reply<()>),
}

pub(super) struct Worker {
    pub(super) writer: Writer,
    pub(super) queue: mpsc::Receiver<Message>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) live: Arc<LiveClock>,
    pub(super) on_commit: Option<OnCommit>,
    /// Has the lock until the connection is closed; fields are dropped in order.
    pub(super) presence: Presence,
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
                if let Message::Close(reply) = message {
                    self.queue.close();
                    // Told only after everything that was sent before the queue closed.
                    self.drain();
                    let _ = reply.send(self.writer.close(self.now()));
                    return;
                }
                self.serve(message);
            }
        }
        // Every handle is gone, so nobody can be told; the next opening finds the same rows, only not covered yet.
        let _ = self.writer.close(self.now());
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
        match self.look_at_owner() {
            Ok(()) => {
                let rows = self.writer.group(&mut jobs, self.now(), CommitFault::None);
                self.tell(&rows);
            }
            Err(error) => jobs.iter_mut().for_each(|job| job.result = Err(error.clone())),
        }
        for (job, reply) in jobs.into_iter().zip(replies) {
            // A caller that has gone away does not undo what it asked for.
            let _ = reply.send(job.result);
        }
    }

    fn tell(&self, rows: &[Committed]) {
        if let Some(on_commit) = self.on_commit.as_ref().filter(|_| !rows.is_empty()) {
            // What a listener does wrong must not stop the writer: the rows are durable.
            let _ = catch_unwind(AssertUnwindSafe(|| on_commit(rows)));
        }
    }

    fn serve(&self, message: Message) {
        match message {
            Message::Commit(commit, reply) => self.group(vec![(commit, reply)]),
            Message::Look(look) => look(Ok(&View::new(&self.writer.conn))),
            Message::Checkpoint(reply) => {
                let _ = reply.send(self.writer.checkpoint(self.now()));
            }
            Message::Heartbeat(reply) => {
                let _ = reply.send(self.writer.heartbeat(self.now()));
            }
            Message::ProveRoom(reply) => {
                let _ = reply.send(self.writer.prove_room(self.now()));
            }
            Message::LookAround(reply) => {
                let others = self.look_at_owner().and_then(|()| self.writer.others());
                let _ = reply.send(others.map(|rows| self.tell(&rows)));
            }
            Message::Verify(expected, reply) => {
                let _ = reply.send(verify::verify(&self.writer.conn, expected.as_ref()));
            }
            // A second close finds the first one done.
            Message::Close(reply) => {
                let _ = reply.send(Ok(()));
            }
        }
    }

    /// A guest's time is the owner's, who may have come or gone.
    pub(super) fn look_at_owner(&self) -> Result<(), StoreError> {
        if let (LiveClock::Followed(following), Presence::Guest(path)) = (&*self.live, &self.presence) {
            let (owner, written) = (owner_of(path), self.writer.last_alive()?);
            let mut following = following.lock().unwrap_or_else(PoisonError::into_inner);
            following.look(written, owner, &*self.clock);
        }
        Ok(())
    }

    fn now(&self) -> Now {
        self.live.now(&*self.clock)
    }
}
