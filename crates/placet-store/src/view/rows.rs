//! Looking at the journal itself.

use placet_core::ids::SessionId;
use placet_core::journal::{Checkpoints, Event, SYSTEM_SESSION};
use placet_core::time::Timestamp;
use rusqlite::Row;

use super::{View, digest_at, parse_body, stored};
use crate::checkpoint::Last;
use crate::error::StoreError;
use crate::rows::{Committed, RawRow};

impl View<'_> {
    /// The checkpoints so far.
    pub fn checkpoints(&self) -> Result<Checkpoints, StoreError> {
        let last = Last::read(self.conn)?;
        Ok(Checkpoints {
            count: last.id,
            head: last.hash,
        })
    }

    /// Journal rows after row `after`, of one session or of all, in order.
    pub fn journal(
        &self,
        after: u64,
        limit: usize,
        session: Option<&SessionId>,
    ) -> Result<Vec<Committed>, StoreError> {
        match session {
            None => {
                let sql = "SELECT journal.id, name, seq, at, hash, body FROM journal
                           JOIN sessions ON sessions.id = journal.session
                           WHERE journal.id > ?1 ORDER BY journal.id LIMIT ?2";
                self.committed(sql, (after, limit))
            }
            Some(session) => {
                let sql = "SELECT journal.id, name, seq, at, hash, body FROM journal
                           JOIN sessions ON sessions.id = journal.session
                           WHERE journal.session = (SELECT id FROM sessions WHERE name = ?1) AND journal.id > ?2
                           ORDER BY journal.id LIMIT ?3";
                self.committed(sql, (session.as_str(), after, limit))
            }
        }
    }

    /// The same, as stored: for those who pass rows on without looking into each.
    pub fn journal_raw(
        &self,
        after: u64,
        limit: usize,
        session: Option<&SessionId>,
    ) -> Result<Vec<RawRow>, StoreError> {
        let of_all = "SELECT journal.id, name, seq, at, body FROM journal
                      JOIN sessions ON sessions.id = journal.session
                      WHERE journal.id > ?1 ORDER BY journal.id LIMIT ?2";
        let of_one = "SELECT journal.id, name, seq, at, body FROM journal
                      JOIN sessions ON sessions.id = journal.session
                      WHERE journal.session = (SELECT id FROM sessions WHERE name = ?3) AND journal.id > ?1
                      ORDER BY journal.id LIMIT ?2";
        let mut statement = self
            .conn
            .prepare_cached(if session.is_some() { of_one } else { of_all })?;
        let mut rows = match session {
            Some(session) => statement.query((after, limit, session.as_str()))?,
            None => statement.query((after, limit))?,
        };
        let mut list = Vec::new();
        while let Some(row) = rows.next()? {
            list.push(RawRow {
                id: row.get(0)?,
                session: stored(SessionId::new(row.get::<_, String>(1)?))?,
                seq: row.get(2)?,
                at: Timestamp::from_millis(row.get(3)?),
                body: row.get(4)?,
            });
        }
        Ok(list)
    }

    /// The folder agents work in, as the last process that owned the store said when it started.
    pub fn workspace(&self) -> Result<Option<String>, StoreError> {
        let sql = "SELECT id, body FROM journal WHERE session = (SELECT id FROM sessions WHERE name = ?1)
                   ORDER BY id DESC";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query([SYSTEM_SESSION])?;
        while let Some(row) = rows.next()? {
            if let Event::Started { workspace, .. } = parse_body(row, 1, row.get(0)?)? {
                return Ok(workspace);
            }
        }
        Ok(None)
    }

    fn committed(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<Committed>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut list = Vec::new();
        while let Some(row) = rows.next()? {
            list.push(committed(row)?);
        }
        Ok(list)
    }
}

fn committed(row: &Row<'_>) -> Result<Committed, StoreError> {
    let id = row.get(0)?;
    Ok(Committed {
        id,
        session: stored(SessionId::new(row.get::<_, String>(1)?))?,
        seq: row.get(2)?,
        at: Timestamp::from_millis(row.get(3)?),
        hash: digest_at(row, 4)?,
        event: parse_body(row, 5, id)?,
    })
}
