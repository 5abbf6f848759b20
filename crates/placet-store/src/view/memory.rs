//! Looking at what is remembered: sessions, rejections, recent approvals, standing grants.

use std::collections::BTreeSet;

use placet_core::call::CallDigest;
use placet_core::ids::{AgentId, PersonId, SessionId, StandingGrantId, ToolName};
use placet_core::journal::{Event, SYSTEM_SESSION};
use placet_core::listing::{Before, SessionSpan, StandingRow};
use placet_core::outcome::Outcome;
use placet_core::policy::Mode;
use placet_core::record::SessionRecord;
use placet_core::standing::StandingGrant;
use placet_core::time::Timestamp;

use super::{View, before, digest_bytes, stored, unexpected};
use crate::error::StoreError;
use crate::sql::{OptionalExtension, Row};

/// A row of `sessions`, without its chain.
pub(super) struct Stored {
    id: u64,
    name: String,
    ended: bool,
    rejections: u32,
    open_questions: u32,
    mode: Option<String>,
    agent: Option<String>,
    rows: u64,
}

impl Stored {
    fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        Self::read_at(row, 7)
    }

    /// The same where the number of rows is in another column.
    pub(super) fn read_at(row: &Row<'_>, rows: usize) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.get(0)?,
            name: row.get(1)?,
            ended: row.get(2)?,
            rejections: row.get(3)?,
            open_questions: row.get(4)?,
            mode: row.get(5)?,
            agent: row.get(6)?,
            rows: row.get(rows)?,
        })
    }

    /// The session, when nothing is on its allow-list.
    pub(super) fn without_list(self) -> Result<SessionRecord, StoreError> {
        Ok(SessionRecord {
            id: stored(SessionId::new(self.name))?,
            ended: self.ended,
            rejections: self.rejections,
            open_questions: self.open_questions,
            allow_list: BTreeSet::new(),
            mode: self.mode.as_deref().map(parse_mode).transpose()?,
            agent: self.agent.map(AgentId::new).map(stored).transpose()?,
            rows: self.rows,
        })
    }
}

impl View<'_> {
    /// A session, as far as it has come; a new one when nothing has happened in it.
    pub(crate) fn session(&self, id: &SessionId) -> Result<SessionRecord, StoreError> {
        let sql = "SELECT id, name, ended, rejections, (SELECT count(*) FROM pending WHERE session = sessions.id), mode, agent, head_seq
                   FROM sessions WHERE name = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        match statement.query_row([id.as_str()], Stored::read).optional()? {
            Some(found) => self.session_record(found),
            None => Ok(SessionRecord::new(id.clone())),
        }
    }

    /// How often a session was changed; see [`placet_core::journal::Event::changes_session`].
    pub(crate) fn session_version(&self, id: &SessionId) -> Result<u64, StoreError> {
        let sql = "SELECT version FROM sessions WHERE name = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let version = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
        Ok(version.unwrap_or(0))
    }

    /// Sessions, each with its cursor. The system's own is left out.
    pub(crate) fn sessions_before(&self, part: &Before) -> Result<Vec<(u64, SessionId)>, StoreError> {
        let sql = "SELECT id, name FROM sessions WHERE id < ?1 AND name <> ?2 ORDER BY id DESC LIMIT ?3";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query((before(part), SYSTEM_SESSION, part.limit))?;
        let mut page = Vec::new();
        while let Some(row) = rows.next()? {
            page.push((row.get(0)?, stored(SessionId::new(row.get::<String>(1)?))?));
        }
        Ok(page)
    }

    /// When a session began and last moved, and how many calls were made in it; `None` when nothing has happened in it. Reads
    /// keys, no bodies.
    pub(crate) fn session_span(&self, id: &SessionId) -> Result<Option<SessionSpan>, StoreError> {
        let sql = "SELECT (SELECT at FROM journal WHERE journal.session = sessions.id ORDER BY id LIMIT 1),
                   (SELECT at FROM journal WHERE journal.session = sessions.id ORDER BY id DESC LIMIT 1),
                   (SELECT count(*) FROM journal JOIN calls ON calls.id = journal.id WHERE journal.session = sessions.id)
                   FROM sessions WHERE name = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query([id.as_str()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (Some(began), Some(last)) = (row.get::<Option<i64>>(0)?, row.get::<Option<i64>>(1)?) else {
            return Ok(None);
        };
        Ok(Some(SessionSpan {
            began_at: Timestamp::from_millis(began),
            last_at: Timestamp::from_millis(last),
            calls: row.get(2)?,
        }))
    }

    /// Who rejected exactly this call in this session, and why.
    pub(crate) fn rejected(
        &self,
        session: &SessionId,
        digest: CallDigest,
    ) -> Result<Option<(PersonId, Option<String>)>, StoreError> {
        let sql = "SELECT row FROM rejected WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND digest = ?2";
        let mut statement = self.conn.prepare_cached(sql)?;
        let row: Option<u64> = statement
            .query_row((session.as_str(), digest_bytes(&digest)), |row| row.get(0))
            .optional()?;
        let Some(row) = row else { return Ok(None) };
        match self.event(row)?.1 {
            Event::Settled { outcome, .. } => match *outcome {
                Outcome::Rejected { by, reason, .. } => Ok(Some((by, reason))),
                _ => Err(StoreError::corrupt(format!("journal row {row} rejects nothing"))),
            },
            other => Err(unexpected(row, "settled", &other)),
        }
    }

    /// The standing grants for a tool that were neither revoked nor used up. Some may have ended.
    pub(super) fn standing(&self, tool: &ToolName) -> Result<Vec<StandingGrant>, StoreError> {
        let sql = "SELECT row FROM standing WHERE tool = ?1 AND revoked IS NULL
                   AND (uses_max IS NULL OR uses < uses_max) ORDER BY row";
        let mut statement = self.conn.prepare_cached(sql)?;
        let rows = statement.query_map([tool.as_str()], |row| row.get(0))?;
        rows.into_iter().map(|row| self.standing_grant(row)).collect()
    }

    /// A standing grant that was not revoked.
    pub(crate) fn standing_unrevoked(
        &self,
        id: &StandingGrantId,
    ) -> Result<Option<StandingGrant>, StoreError> {
        let sql = "SELECT row FROM standing WHERE id = ?1 AND revoked IS NULL";
        let mut statement = self.conn.prepare_cached(sql)?;
        let row: Option<u64> = statement.query_row([id.as_str()], |row| row.get(0)).optional()?;
        row.map(|row| self.standing_grant(row)).transpose()
    }

    /// The standing grants that have not ended.
    pub(crate) fn all_standing(&self, now: Timestamp) -> Result<Vec<StandingRow>, StoreError> {
        let sql = "SELECT row, uses, revoked IS NOT NULL FROM standing WHERE ends_at > ?1 ORDER BY row";
        let mut statement = self.conn.prepare_cached(sql)?;
        let rows = statement.query_map([now.as_millis()], |row| {
            Ok((row.get::<u64>(0)?, row.get(1)?, row.get(2)?))
        })?;
        rows.into_iter()
            .map(|(row, uses, revoked)| {
                Ok(StandingRow {
                    grant: self.standing_grant(row)?,
                    uses,
                    revoked,
                })
            })
            .collect()
    }

    pub(super) fn session_record(&self, found: Stored) -> Result<SessionRecord, StoreError> {
        let sql = "SELECT tool FROM allow_list WHERE session = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let tools = statement.query_map([found.id], |row| row.get::<String>(0))?;
        let allow_list = tools
            .into_iter()
            .map(|tool| stored(ToolName::new(tool)))
            .collect::<Result<BTreeSet<_>, _>>()?;
        Ok(SessionRecord {
            allow_list,
            ..found.without_list()?
        })
    }

    fn standing_grant(&self, row: u64) -> Result<StandingGrant, StoreError> {
        match self.event(row)?.1 {
            Event::StandingGiven(grant) => Ok(*grant),
            other => Err(unexpected(row, "standingGiven", &other)),
        }
    }
}

fn parse_mode(text: &str) -> Result<Mode, StoreError> {
    [Mode::Default, Mode::AutoEdit, Mode::Yolo]
        .into_iter()
        .find(|mode| mode_name(*mode) == text)
        .ok_or_else(|| StoreError::corrupt(format!("`{text}` is not a mode")))
}

pub(crate) const fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AutoEdit => "autoEdit",
        Mode::Yolo => "yolo",
    }
}
