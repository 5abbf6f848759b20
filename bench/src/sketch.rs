//! The bare sketch to compare with: what an ask, an answer and a resumption cost when nothing is decided, checked or proved.
//!
//! One SQLite writer thread, WAL, `synchronous=FULL`, group commit, 2 KiB rows, three commits a cycle. No policy, no journal,
//! no hashes. It says what is physically there on this disk at this moment.

use std::collections::HashMap;
use std::path::Path;
use std::thread::{self, JoinHandle};

use anyhow::Context;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

const QUEUE_MAX: usize = 4096;

enum Write {
    Ask { id: usize, body: String },
    Answer { id: usize },
    Finish { id: usize },
}

/// A write, who waits until it is durable, and who waits for the answer.
struct Job {
    write: Write,
    done: oneshot::Sender<()>,
    resumed: Option<oneshot::Sender<()>>,
}

pub(crate) struct Sketch {
    jobs: mpsc::Sender<Job>,
    writer: JoinHandle<rusqlite::Result<()>>,
}

impl Sketch {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let conn = Connection::open(path)?;
        conn.pragma_update(None, "journal_mode", "wal")?;
        conn.pragma_update(None, "synchronous", "full")?;
        conn.pragma_update(None, "wal_autocheckpoint", 4096)?;
        conn.execute_batch(
            "CREATE TABLE parked (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, body TEXT NOT NULL)",
        )?;
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let writer = thread::spawn(move || write(&conn, queue));
        Ok(Self { jobs, writer })
    }

    /// Parks a call; what is returned resolves when it is answered.
    pub(crate) async fn ask(&self, id: usize, body: String) -> anyhow::Result<oneshot::Receiver<()>> {
        let (resumed, waiting) = oneshot::channel();
        self.write(Write::Ask { id, body }, Some(resumed)).await?;
        Ok(waiting)
    }

    pub(crate) async fn answer(&self, id: usize) -> anyhow::Result<()> {
        self.write(Write::Answer { id }, None).await
    }

    pub(crate) async fn finish(&self, id: usize) -> anyhow::Result<()> {
        self.write(Write::Finish { id }, None).await
    }

    pub(crate) fn close(self) -> anyhow::Result<()> {
        drop(self.jobs);
        self.writer
            .join()
            .ok()
            .context("the sketch's writer panicked")??;
        Ok(())
    }

    async fn write(&self, write: Write, resumed: Option<oneshot::Sender<()>>) -> anyhow::Result<()> {
        let (done, durable) = oneshot::channel();
        let closed = "the sketch's writer is gone";
        self.jobs
            .send(Job { write, done, resumed })
            .await
            .ok()
            .context(closed)?;
        durable.await.context(closed)
    }
}

fn write(conn: &Connection, mut queue: mpsc::Receiver<Job>) -> rusqlite::Result<()> {
    let mut group = Vec::new();
    let mut waiting = HashMap::new();
    while queue.blocking_recv_many(&mut group, QUEUE_MAX) > 0 {
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for job in &group {
            match &job.write {
                Write::Ask { id, body } => conn
                    .prepare_cached("INSERT INTO parked VALUES (?1, 0, ?2)")?
                    .execute((*id as u64, body))?,
                Write::Answer { id } => conn
                    .prepare_cached("UPDATE parked SET state = 1 WHERE id = ?1 AND state = 0")?
                    .execute([*id as u64])?,
                Write::Finish { id } => conn
                    .prepare_cached("UPDATE parked SET state = 2 WHERE id = ?1 AND state = 1")?
                    .execute([*id as u64])?,
            };
        }
        conn.prepare_cached("COMMIT")?.execute([])?;
        for job in group.drain(..) {
            match (job.write, job.resumed) {
                (Write::Ask { id, .. }, Some(resumed)) => {
                    waiting.insert(id, resumed);
                }
                (Write::Answer { id }, _) => {
                    if let Some(resumed) = waiting.remove(&id) {
                        let _ = resumed.send(());
                    }
                }
                _ => {}
            }
            let _ = job.done.send(());
        }
    }
    Ok(())
}
