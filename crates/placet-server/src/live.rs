//! The tail of the journal, read once for all listeners.
//!
//! One task follows the journal and keeps the newest rows as they are stored. A listener that is up to date reads from
//! here, without touching the store; one that has fallen behind pages through the journal until it has caught up. Nothing
//! is buffered per listener: a listener is a number, the last row it has seen.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use bytes::Bytes;
use placet_core::ids::{InteractionId, SessionId};
use placet_core::listing::{JournalPage, RawRow};
use placet_core::snapshot::Need;
use placet_engine::Engine;
use placet_store::StoreError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;

mod about;

pub(crate) use about::{About, asker};

/// Rows read at once.
const PAGE: usize = 256;
/// Rows kept, and the bytes they may have together.
const ROWS_MAX: usize = 4096;
const BYTES_MAX: usize = 16 * 1024 * 1024;

/// A journal row, with what was found out about it.
pub(crate) struct Row {
    pub(crate) raw: RawRow,
    about: OnceLock<About>,
    frames: [OnceLock<Bytes>; 2],
}

/// Who a row is written for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reader {
    /// The agent whose call it is: as stored.
    Agent,
    /// People: secrets are masked.
    Person,
}

/// The tail of the journal.
pub(crate) struct LiveRows {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    recent: RwLock<Recent>,
    head: watch::Sender<u64>,
    sessions: Mutex<HashMap<SessionId, watch::Sender<u64>>>,
}

#[derive(Default)]
struct Recent {
    /// The row before the first one kept.
    before: u64,
    rows: VecDeque<Arc<Row>>,
    bytes: usize,
}

/// Tells a listener that there may be something new.
pub(crate) struct Wake(watch::Receiver<u64>);

impl Wake {
    /// Whatever comes after this is told.
    pub(crate) fn listen(&mut self) {
        self.0.mark_unchanged();
    }

    /// Waits for something new; `false` when there never will be.
    pub(crate) async fn wait(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}

impl LiveRows {
    pub(crate) async fn start(
        engine: &Engine,
        metrics: Metrics,
        stop: CancellationToken,
    ) -> Result<Self, StoreError> {
        let head = engine.head().await?;
        let shared = Arc::new(Shared {
            engine: engine.clone(),
            recent: RwLock::new(Recent {
                before: head,
                ..Recent::default()
            }),
            head: watch::Sender::new(head),
            sessions: Mutex::default(),
        });
        let following = Arc::clone(&shared);
        tokio::spawn(async move {
            stop.run_until_cancelled(follow(following, head, metrics)).await;
        });
        Ok(Self { shared })
    }

    /// The newest row that listeners can have seen.
    pub(crate) fn head(&self) -> u64 {
        *self.shared.head.borrow()
    }

    /// Wakes for every new row, or for those of one session.
    pub(crate) fn wake(&self, session: Option<&SessionId>) -> Wake {
        let Some(session) = session else {
            return Wake(self.shared.head.subscribe());
        };
        let mut sessions = self
            .shared
            .sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Listeners that are gone are removed here, so that sessions of the past do not pile up.
        if sessions.len().is_power_of_two() {
            sessions.retain(|_, sender| !sender.is_closed());
        }
        let sender = sessions
            .entry(session.clone())
            .or_insert_with(|| watch::Sender::new(0));
        Wake(sender.subscribe())
    }

    /// The next rows after row `after`, and the row up to which they are complete.
    pub(crate) async fn rows(
        &self,
        after: u64,
        session: Option<&SessionId>,
    ) -> Result<(Vec<Arc<Row>>, u64), StoreError> {
        if let Some(found) = self.recent(after, session) {
            return Ok(found);
        }
        let wanted = JournalPage {
            after,
            limit: PAGE,
            session: session.cloned(),
        };
        let look = self.shared.engine.store().look(|stored| {
            stored.require([Need::JournalRaw(wanted.clone()), Need::Head(())])?;
            Ok((stored.journal_raw(&wanted)?.clone(), *stored.head(&())?))
        });
        let (page, head) = look.await?;
        let complete = page.len() < PAGE;
        let upto = page.last().map_or(after, |row| row.id);
        let rows = page.into_iter().map(|raw| Arc::new(Row::new(raw))).collect();
        Ok((rows, if complete { head.max(upto) } else { upto }))
    }

    /// The same from what is kept; `None` when that does not go back far enough.
    fn recent(&self, after: u64, session: Option<&SessionId>) -> Option<(Vec<Arc<Row>>, u64)> {
        let recent = self.shared.recent.read().unwrap_or_else(PoisonError::into_inner);
        let skip = usize::try_from(after.checked_sub(recent.before)?).ok()?;
        let rows = recent.rows.iter().skip(skip);
        let wanted = rows.filter(|row| session.is_none_or(|session| *session == row.raw.session));
        let page: Vec<_> = wanted.take(PAGE).cloned().collect();
        let head = recent.rows.back().map_or(recent.before, |row| row.raw.id);
        let upto = match page.last() {
            Some(last) if page.len() == PAGE => last.raw.id,
            _ => head.max(after),
        };
        Some((page, upto))
    }

    /// Finds out whom rows are about, once for all listeners.
    pub(crate) async fn look_into(&self, rows: &[Arc<Row>]) -> Result<(), StoreError> {
        let unknown: Vec<_> = rows.iter().filter(|row| row.about.get().is_none()).collect();
        let look = self.shared.engine.store().look(|stored| {
            stored.require(About::needs(unknown.iter().map(|row| &row.raw))?)?;
            for row in &unknown {
                let _ = row.about.set(About::of(stored, &row.raw)?);
            }
            Ok(())
        });
        look.await
    }
}

/// Follows the journal until the store is closed.
async fn follow(shared: Arc<Shared>, mut after: u64, metrics: Metrics) {
    let mut committed = shared.engine.committed();
    loop {
        committed.mark_unchanged();
        let newest = JournalPage::of_all(after, PAGE);
        let look = shared.engine.store().look(|stored| {
            let page = stored.journal_raw(&newest)?;
            Ok((page.clone(), about::closed(stored, page)?))
        });
        let (page, closed) = match look.await {
            Ok(read) => read,
            Err(StoreError::Closed) => return,
            Err(error) => {
                tracing::error!(%error, "the journal could not be followed; trying again");
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                continue;
            }
        };
        if page.is_empty() {
            if committed.changed().await.is_err() {
                return;
            }
            continue;
        }
        metrics.happened(&page, &closed);
        let rows: Vec<_> = page.into_iter().map(|raw| Arc::new(Row::new(raw))).collect();
        after = rows.last().map_or(after, |row| row.raw.id);
        shared.keep(&rows);
        shared.announce(&rows, after);
    }
}

impl Shared {
    fn keep(&self, rows: &[Arc<Row>]) {
        let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            recent.bytes += row.raw.body.len();
            recent.rows.push_back(Arc::clone(row));
        }
        while recent.rows.len() > ROWS_MAX || (recent.bytes > BYTES_MAX && recent.rows.len() > 1) {
            if let Some(row) = recent.rows.pop_front() {
                recent.bytes -= row.raw.body.len();
                recent.before = row.raw.id;
            }
        }
    }

    fn announce(&self, rows: &[Arc<Row>], head: u64) {
        self.head.send_replace(head);
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            if let Some(sender) = sessions.get(&row.raw.session) {
                sender.send_replace(row.raw.id);
            }
        }
    }
}

impl Row {
    fn new(raw: RawRow) -> Self {
        Self {
            raw,
            about: OnceLock::new(),
            frames: [OnceLock::new(), OnceLock::new()],
        }
    }

    /// Its parties; empty until they are looked up.
    pub(crate) fn about(&self) -> &About {
        self.about.get().unwrap_or(&About::NOBODY)
    }

    /// The question that a row of an interaction event is about.
    pub(crate) fn question(&self) -> Result<Option<InteractionId>, StoreError> {
        Ok(about::question(&self.raw)?)
    }

    /// The row as a server-sent event, made once for all listeners of a kind.
    pub(crate) fn frame(&self, reader: Reader) -> Bytes {
        let [agent, person] = &self.frames;
        let (frame, body): (_, fn(&RawRow) -> String) = match reader {
            Reader::Agent => (agent, |raw| raw.body.clone()),
            Reader::Person => (person, about::masked),
        };
        frame.get_or_init(|| self.write(&body(&self.raw))).clone()
    }

    fn write(&self, body: &str) -> Bytes {
        let raw = &self.raw;
        let session = serde_json::Value::from(raw.session.as_str());
        Bytes::from(format!(
            "id: {id}\nevent: {kind}\ndata: {{\"id\":{id},\"sessionId\":{session},\"seq\":{seq},\"at\":\"{at}\",\
             \"type\":\"{kind}\",\"event\":{body}}}\n\n",
            id = raw.id,
            kind = raw.kind(),
            seq = raw.seq,
            at = raw.at,
        ))
    }
}
