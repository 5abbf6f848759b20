//! Command lines that run in the background. A job belongs to the session that started it; no other session can see or end it. It
//! ends with its session, and with the process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use placet_core::ids::SessionId;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::process::{Group, Leash};

/// How many may run at once in a session.
const RUNNING_MAX: usize = 8;
/// How many that have ended are remembered in a session.
const ENDED_MAX: usize = 16;
/// How much of a job's output waits to be read. Beyond that the oldest is lost.
const WAITING_BYTES_MAX: usize = 256 * 1024;
/// How much is read at once.
pub(super) const READ_BYTES_MAX: usize = 32 * 1024;

/// The jobs of all sessions. Cheap to clone.
#[derive(Clone, Default)]
pub struct Jobs(Arc<Mutex<BTreeMap<SessionId, Vec<Job>>>>);

struct Job {
    id: String,
    line: String,
    leash: Leash,
    log: Arc<Mutex<Log>>,
    /// How often something happened.
    news: watch::Receiver<u64>,
}

/// What a job printed and was not read yet.
#[derive(Default)]
struct Log {
    waiting: VecDeque<u8>,
    lost_bytes: usize,
    end: Option<String>,
}

impl Log {
    fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend(bytes);
        let over = self.waiting.len().saturating_sub(WAITING_BYTES_MAX);
        self.waiting.drain(..over);
        self.lost_bytes += over;
    }

    fn has_news(&self) -> bool {
        !self.waiting.is_empty() || self.end.is_some()
    }

    fn read(&mut self) -> Reading {
        let bytes = self.waiting.len().min(READ_BYTES_MAX);
        let read: Vec<u8> = self.waiting.drain(..bytes).collect();
        Reading {
            text: String::from_utf8_lossy(&read).into_owned(),
            lost_bytes: std::mem::take(&mut self.lost_bytes),
            waiting_bytes: self.waiting.len(),
            end: self.end.clone(),
        }
    }
}

/// What a job printed since it was last read.
pub(super) struct Reading {
    pub(super) text: String,
    /// Before `text`.
    pub(super) lost_bytes: usize,
    /// After `text`.
    pub(super) waiting_bytes: usize,
    /// How it ended, if it has.
    pub(super) end: Option<String>,
}

/// The schema of the argument that names a job.
pub(super) fn id_schema() -> Value {
    json!({ "type": "string", "minLength": 1, "description": "The job's name." })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    /// Lets a group run on in the background of a session. Returns its name.
    pub(super) fn add(
        &self,
        session: &SessionId,
        line: &str,
        start: impl FnOnce() -> Result<Group, String>,
        time: Option<Duration>,
    ) -> Result<String, String> {
        let mut sessions = locked(&self.0);
        let jobs = sessions.entry(session.clone()).or_default();
        let running = jobs.iter().filter(|job| locked(&job.log).end.is_none()).count();
        if running >= RUNNING_MAX {
            return Err(format!(
                "{running} jobs are running already; end one with `kill_bash`"
            ));
        }
        if let Some(oldest) = (jobs.len() - running >= ENDED_MAX)
            .then(|| jobs.iter().position(|job| locked(&job.log).end.is_some()))
            .flatten()
        {
            jobs.remove(oldest);
        }
        let group = start()?;
        let (log, (tell, news)) = (Arc::new(Mutex::new(Log::default())), watch::channel(0));
        // By chance, so that a name from before a restart is unknown.
        let id = format!("job-{:06x}", rand::random_range(0..0x0100_0000_u32));
        jobs.push(Job {
            id: id.clone(),
            line: line.to_owned(),
            leash: group.leash(),
            log: Arc::clone(&log),
            news,
        });
        drop(sessions);
        tokio::spawn(async move {
            let end = group.follow(time, |bytes| {
                locked(&log).push(bytes);
                tell.send_modify(|times| *times += 1);
            });
            let ended = end.await;
            if let Some(note) = ended.note() {
                locked(&log).push(format!("{note}\n").as_bytes());
            }
            locked(&log).end = Some(ended.end.to_string());
            tell.send_modify(|times| *times += 1);
        });
        Ok(id)
    }

    /// Whether a session has this job.
    pub(super) fn knows(&self, session: &SessionId, id: &str) -> bool {
        let sessions = locked(&self.0);
        sessions
            .get(session)
            .is_some_and(|jobs| jobs.iter().any(|job| job.id == id))
    }

    fn find<T>(&self, session: &SessionId, id: &str, of: impl FnOnce(&Job) -> T) -> Result<T, String> {
        let sessions = locked(&self.0);
        let jobs = sessions.get(session).map_or(&[][..], Vec::as_slice);
        if let Some(job) = jobs.iter().find(|job| job.id == id) {
            return Ok(of(job));
        }
        let known: Vec<String> = jobs
            .iter()
            .map(|job| format!("`{}` ({})", job.id, job.line))
            .collect();
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        Err(format!(
            "there is no job `{id}` in this session; there are: {known}. Jobs end with the process that runs them"
        ))
    }

    /// What a job printed since it was last read. Waits for something to happen, but not for long.
    pub(super) async fn read(
        &self,
        session: &SessionId,
        id: &str,
        patience: Duration,
    ) -> Result<Reading, String> {
        let (log, mut news) = self.find(session, id, |job| (Arc::clone(&job.log), job.news.clone()))?;
        let happened = news.wait_for(|_| locked(&log).has_news());
        // Nothing new within the time, or nothing ever again, is an answer too.
        let _ = tokio::time::timeout(patience, happened).await;
        let reading = locked(&log).read();
        Ok(reading)
    }

    /// Ends a job and everything it started; returns what it printed last.
    pub(super) async fn kill(&self, session: &SessionId, id: &str) -> Result<Reading, String> {
        let (leash, log, mut news) = self.find(session, id, |job| {
            (job.leash.clone(), Arc::clone(&job.log), job.news.clone())
        })?;
        leash.pull();
        // A job whose task is gone has ended as well.
        let _ = news.wait_for(|_| locked(&log).end.is_some()).await;
        let reading = locked(&log).read();
        Ok(reading)
    }

    /// Ends the jobs of a session.
    pub(super) fn end_session(&self, session: &SessionId) {
        for job in locked(&self.0).remove(session).unwrap_or_default() {
            job.leash.pull();
        }
    }

    /// Ends all jobs.
    pub(super) fn end_all(&self) {
        for job in std::mem::take(&mut *locked(&self.0)).into_values().flatten() {
            job.leash.pull();
        }
    }
}
