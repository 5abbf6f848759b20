//! Looking at everything that bears on a call at the moment it is proposed, at once.

use placet_core::call::{CallDigest, ToolCall};
use placet_core::interaction::CallKey;
use placet_core::record::{CallRecord, SessionRecord};
use placet_core::standing::StandingGrant;
use placet_core::time::Timestamp;
use rusqlite::params;

use super::memory::Stored;
use super::{View, digest_bytes};
use crate::error::StoreError;
use crate::project::place;

/// What is stored around a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// The call itself, when it was proposed before.
    pub known: Option<CallRecord>,
    /// Its session; a new one when nothing has happened in it.
    pub session: SessionRecord,
    /// The standing grants for its tool that have neither ended nor been revoked nor been used up.
    pub standing: Vec<StandingGrant>,
    /// Until when an approval of exactly this call is remembered in its place (see [`crate::place`]). May have passed.
    pub remembered_until: Option<Timestamp>,
}

impl View<'_> {
    /// What is stored around a call. Most calls are new, in a session without lists, and nothing was ever granted for them:
    /// one look says so.
    pub fn surroundings(
        &self,
        key: &CallKey,
        call: &ToolCall,
        digest: CallDigest,
        now: Timestamp,
    ) -> Result<Surroundings, StoreError> {
        let sql = "SELECT s.id, s.name, s.ended, s.rejections, (SELECT count(*) FROM pending WHERE session = s.id), s.mode, s.agent,
                       EXISTS (SELECT 1 FROM allow_list WHERE session = s.id),
                       EXISTS (SELECT 1 FROM standing WHERE tool = ?2 AND revoked IS NULL),
                       (SELECT until FROM memory WHERE place = ?3 AND tool = ?2 AND digest = ?4),
                       EXISTS (SELECT 1 FROM calls WHERE agent = ?5 AND call = ?6)
                   FROM (SELECT 1) LEFT JOIN sessions AS s ON s.name = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params![
            call.session.as_str(),
            call.tool.as_str(),
            place(call),
            digest_bytes(&digest),
            key.agent.as_str(),
            key.call.as_str(),
        ])?;
        let row = rows
            .next()?
            .ok_or_else(|| StoreError::corrupt("a look at nothing found nothing"))?;
        let session = match row.get::<_, Option<u64>>(0)? {
            Some(_) => Some(Stored::read(row)?),
            None => None,
        };
        let (listed, granted, known): (bool, bool, bool) = (row.get(7)?, row.get(8)?, row.get(10)?);
        let until: Option<i64> = row.get(9)?;
        Ok(Surroundings {
            known: if known { self.call(key)? } else { None },
            session: match session {
                Some(found) if listed => self.session_record(found)?,
                Some(found) => found.without_list()?,
                None => SessionRecord::new(call.session.clone()),
            },
            standing: if granted {
                self.standing(&call.tool, now)?
            } else {
                Vec::new()
            },
            remembered_until: until.map(Timestamp::from_millis),
        })
    }
}
