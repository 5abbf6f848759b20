//! Looking at everything that bears on a call at the moment it is proposed, at once.

use placet_core::record::SessionRecord;
use placet_core::snapshot::{ProposedCall, Surroundings};
use placet_core::time::Timestamp;

use super::memory::Stored;
use super::{View, digest_bytes};
use crate::error::StoreError;
use crate::sql::params;

impl View<'_> {
    /// What is stored around a call. Most calls are new, in a session without lists, and nothing was ever granted for them:
    /// one look says so.
    pub(crate) fn surroundings(&self, proposed: &ProposedCall) -> Result<Surroundings, StoreError> {
        let sql = "SELECT s.id, s.name, s.ended, s.rejections, (SELECT count(*) FROM pending WHERE session = s.id), s.mode, s.agent,
                       EXISTS (SELECT 1 FROM allow_list WHERE session = s.id),
                       EXISTS (SELECT 1 FROM standing WHERE tool = ?2 AND revoked IS NULL),
                       (SELECT until FROM memory WHERE place = ?3 AND tool = ?2 AND digest = ?4),
                       EXISTS (SELECT 1 FROM calls WHERE agent = ?5 AND call = ?6),
                       EXISTS (SELECT 1 FROM rejected WHERE session = s.id AND digest = ?4),
                       EXISTS (SELECT 1 FROM pending WHERE session = s.id AND digest = ?4), s.head_seq
                   FROM (SELECT 1) AS call LEFT JOIN sessions AS s ON s.name = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params![
            proposed.session.as_str(),
            proposed.tool.as_str(),
            proposed.place,
            digest_bytes(&proposed.digest),
            proposed.key.agent.as_str(),
            proposed.key.call.as_str(),
        ])?;
        let row = rows
            .next()?
            .ok_or_else(|| StoreError::corrupt("a look at nothing found nothing"))?;
        let session = match row.get::<Option<u64>>(0)? {
            Some(_) => Some(Stored::read_at(&row, 13)?),
            None => None,
        };
        let (listed, granted, known): (bool, bool, bool) = (row.get(7)?, row.get(8)?, row.get(10)?);
        let until: Option<i64> = row.get(9)?;
        let (rejected, pending): (bool, bool) = (row.get(11)?, row.get(12)?);
        Ok(Surroundings {
            known: if known { self.call(&proposed.key)? } else { None },
            session: match session {
                Some(found) if listed => self.session_record(found)?,
                Some(found) => found.without_list()?,
                None => SessionRecord::new(proposed.session.clone()),
            },
            standing: if granted {
                self.standing(&proposed.tool)?
            } else {
                Vec::new()
            },
            remembered_until: until.map(Timestamp::from_millis),
            rejected: if rejected {
                self.rejected(&proposed.session, proposed.digest)?
            } else {
                None
            },
            pending_same: if pending {
                self.pending_same(&proposed.session, proposed.digest)?
            } else {
                None
            },
        })
    }
}
