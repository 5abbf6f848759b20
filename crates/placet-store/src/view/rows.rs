//! Looking at the journal itself.

use placet_core::digest::Digest;
use placet_core::ids::SessionId;
use placet_core::journal::{Checkpoints, Event, SYSTEM_SESSION};
use placet_core::listing::{Committed, JournalPage, RawRow};
use placet_core::time::Timestamp;

use super::{View, digest_at, parse_body, stored};
use crate::checkpoint::Last;
use crate::error::StoreError;
use crate::sql::{OptionalExtension as _, Row};

impl View<'_> {
    /// The hash of a journal row; nothing when there is no such row.
    pub(crate) fn row_hash(&self, row: u64) -> Result<Option<Digest>, StoreError> {
        let sql = "SELECT hash FROM journal WHERE id = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        statement.query_row([row], |row| digest_at(row, 0)).optional()
    }

    /// The checkpoints so far.
    pub(crate) fn checkpoints(&self) -> Result<Checkpoints, StoreError> {
        let last = Last::read(self.conn)?;
        Ok(Checkpoints {
            count: last.id,
            head: last.hash,
        })
    }

    /// Journal rows.
    pub(crate) fn journal(&self, page: &JournalPage) -> Result<Vec<Committed>, StoreError> {
        self.journal_rows(page, |row| {
            let id = row.get(0)?;
            Ok(Committed {
                id,
                session: stored(SessionId::new(row.get::<String>(1)?))?,
                seq: row.get(2)?,
                at: Timestamp::from_millis(row.get(3)?),
                hash: digest_at(row, 4)?,
                event: parse_body(row, 5, id)?,
            })
        })
    }

    /// The same as stored.
    pub(crate) fn journal_raw(&self, page: &JournalPage) -> Result<Vec<RawRow>, StoreError> {
        self.journal_rows(page, |row| {
            Ok(RawRow {
                id: row.get(0)?,
                session: stored(SessionId::new(row.get::<String>(1)?))?,
                seq: row.get(2)?,
                at: Timestamp::from_millis(row.get(3)?),
                body: row.get(5)?,
            })
        })
    }

    fn journal_rows<T>(
        &self,
        page: &JournalPage,
        read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let of_all = "SELECT journal.id, name, seq, at, hash, body FROM journal
                      JOIN sessions ON sessions.id = journal.session
                      WHERE journal.id > ?1 ORDER BY journal.id LIMIT ?2";
        let of_one = "SELECT journal.id, name, seq, at, hash, body FROM journal
                      JOIN sessions ON sessions.id = journal.session
                      WHERE journal.session = (SELECT id FROM sessions WHERE name = ?3) AND journal.id > ?1
                      ORDER BY journal.id LIMIT ?2";
        let (sql, session) = match &page.session {
            Some(session) => (of_one, Some(session.as_str())),
            None => (of_all, None),
        };
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = match session {
            Some(session) => statement.query((page.after, page.limit, session))?,
            None => statement.query((page.after, page.limit))?,
        };
        let mut list = Vec::new();
        while let Some(row) = rows.next()? {
            list.push(read(&row)?);
        }
        Ok(list)
    }

    /// The folder agents work in, as the last process that owned the store said when it started.
    pub(crate) fn workspace(&self) -> Result<Option<String>, StoreError> {
        let sql = "SELECT id, body FROM journal WHERE session = (SELECT id FROM sessions WHERE name = ?1)
                   ORDER BY id DESC";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query([SYSTEM_SESSION])?;
        while let Some(row) = rows.next()? {
            if let Event::Started { workspace, .. } = parse_body(&row, 1, row.get(0)?)? {
                return Ok(workspace);
            }
        }
        Ok(None)
    }
}
