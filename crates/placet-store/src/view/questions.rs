//! Looking at questions.

use placet_core::call::{CallDigest, Chat};
use placet_core::comment::Comment;
use placet_core::ids::{AgentId, InteractionId, PersonId, SessionId};
use placet_core::interaction::{Asked, CallKey, Code, EvolveError, Interaction};
use placet_core::journal::Event;
use placet_core::listing::{After, Before, DamagedRow, Due, DueBy, PendingPage, PendingRow, QuestionsOf};
use placet_core::snapshot::PendingInChat;
use placet_core::time::{Shift, Timestamp};

use super::{View, before, digest_bytes, parse_body, stored, unexpected};
use crate::error::StoreError;
use crate::sql::{OptionalExtension, Params, Row};

impl View<'_> {
    /// How many questions of an agent are open.
    pub(crate) fn open_of_agent(&self, agent: &AgentId) -> Result<u32, StoreError> {
        let sql = "SELECT count(*) FROM pending WHERE agent = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        Ok(statement.query_row([agent.as_str()], |row| row.get(0))?)
    }

    /// How many open questions name a person as approver.
    pub(crate) fn open_for(&self, person: &PersonId) -> Result<u32, StoreError> {
        let sql = "SELECT count(*) FROM asks WHERE person = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        Ok(statement.query_row([person.as_str()], |row| row.get(0))?)
    }

    /// A question, with its votes: the journal's rows about it, evolved.
    pub(crate) fn interaction(&self, id: &InteractionId) -> Result<Option<Interaction>, StoreError> {
        let sql = "SELECT row, state, resolved FROM interactions WHERE id = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let found = statement
            .query_row([id.as_str()], |row| {
                Ok((
                    row.get::<u64>(0)?,
                    row.get::<String>(1)?,
                    row.get::<Option<u64>>(2)?,
                ))
            })
            .optional()?;
        let Some((row, state, resolved)) = found else {
            return Ok(None);
        };
        let mut interaction = Interaction::new(self.asked(row)?);
        for row in self.progress(row)?.into_iter().chain(resolved) {
            let (at, event) = self.event(row)?;
            interaction = interaction.evolve(&event, at).map_err(|error| corrupt(&error))?;
        }
        if state == "processed" {
            let processed = Event::Processed {
                interaction: id.clone(),
            };
            // The moment of this event is not kept anywhere in the interaction.
            interaction = interaction
                .evolve(&processed, Timestamp::from_millis(0))
                .map_err(|error| corrupt(&error))?;
        }
        if interaction.state_name() == state {
            Ok(Some(interaction))
        } else {
            Err(StoreError::corrupt(format!(
                "{id} is `{state}` by its row and `{}` by the journal",
                interaction.state_name()
            )))
        }
    }

    /// The comments on a question, in order.
    pub(crate) fn comments(&self, id: &InteractionId) -> Result<Vec<Comment>, StoreError> {
        let sql = "SELECT comments.row FROM comments JOIN interactions ON interactions.row = question
                   WHERE interactions.id = ?1 ORDER BY comments.row";
        let mut statement = self.conn.prepare_cached(sql)?;
        let rows = statement.query_map([id.as_str()], |row| row.get(0))?;
        let comment = |row| match self.event(row)? {
            (at, Event::Commented { by, text, .. }) => Ok(Comment { at, by, text }),
            (_, event) => Err(unexpected(row, "commented", &event)),
        };
        rows.into_iter().map(comment).collect()
    }

    /// When a question was asked.
    pub(crate) fn asked_at(&self, id: &InteractionId) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT at FROM interactions JOIN journal ON journal.id = row WHERE interactions.id = ?1";
        let at = self
            .conn
            .prepare_cached(sql)?
            .query_row([id.as_str()], |row| row.get(0))
            .optional()?;
        Ok(at.map(Timestamp::from_millis))
    }

    /// All questions, each with its cursor.
    pub(crate) fn questions_before(&self, part: &Before) -> Result<Vec<(u64, InteractionId)>, StoreError> {
        let sql = "SELECT row, id FROM interactions WHERE row < ?1 ORDER BY row DESC LIMIT ?2";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query((before(part), part.limit))?;
        let mut page = Vec::new();
        while let Some(row) = rows.next()? {
            page.push((row.get(0)?, stored(InteractionId::new(row.get::<String>(1)?))?));
        }
        Ok(page)
    }

    /// The open question about exactly this call in this session, and the call it was asked for.
    pub(crate) fn pending_same(
        &self,
        session: &SessionId,
        digest: CallDigest,
    ) -> Result<Option<(InteractionId, CallKey)>, StoreError> {
        let sql = "SELECT row FROM pending WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND digest = ?2
                   ORDER BY row LIMIT 1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let row: Option<u64> = statement
            .query_row((session.as_str(), digest_bytes(&digest)), |row| row.get(0))
            .optional()?;
        let Some(row) = row else { return Ok(None) };
        let asked = self.asked(row)?;
        let call = asked.call().cloned();
        Ok(call.map(|call| (asked.id, call)))
    }

    /// The open questions of a chat, oldest first: asked there, or with a copy sent there.
    pub(crate) fn pending_in_chat(&self, chat: &Chat) -> Result<PendingInChat, StoreError> {
        let sql = "SELECT row FROM pending WHERE channel = ?1 AND chat = ?2
                   UNION SELECT question FROM copies JOIN pending ON pending.row = question
                       WHERE copies.channel = ?1 AND copies.chat = ?2 ORDER BY 1";
        self.asked_by(sql, (chat.channel.as_str(), chat.id.as_str()))
    }

    /// The open questions of a session that can be read, oldest first.
    pub(crate) fn pending_in_session(&self, session: &SessionId) -> Result<Vec<Asked>, StoreError> {
        let sql =
            "SELECT row FROM pending WHERE session = (SELECT id FROM sessions WHERE name = ?1) ORDER BY row";
        Ok(self.asked_by(sql, [session.as_str()])?.asked)
    }

    /// The questions of a session, open or not, each with its cursor.
    pub(crate) fn questions_of(&self, wanted: &QuestionsOf) -> Result<Vec<(u64, Option<Asked>)>, StoreError> {
        // Both sides are walked by row number: the session's index, and the table itself.
        let sql = "SELECT journal.id FROM journal JOIN interactions ON interactions.row = journal.id
                   WHERE journal.session = (SELECT id FROM sessions WHERE name = ?1) AND journal.id < ?2
                   ORDER BY journal.id DESC LIMIT ?3";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query((wanted.session.as_str(), before(&wanted.part), wanted.part.limit))?;
        let mut page = Vec::new();
        while let Some(row) = rows.next()? {
            let cursor = row.get(0)?;
            page.push((cursor, readable(self.asked(cursor))?));
        }
        Ok(page)
    }

    /// The newest settled question with this code. What cannot be read has no code.
    pub(crate) fn settled_with_code(&self, code: Code) -> Result<Option<InteractionId>, StoreError> {
        let sql = "SELECT row FROM interactions WHERE state <> 'pending' ORDER BY row DESC";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let asked = readable(self.asked(row.get(0)?))?;
            if let Some(asked) = asked.filter(|asked| asked.code == code) {
                return Ok(Some(asked.id));
            }
        }
        Ok(None)
    }

    /// A page of all open questions, oldest first. One that cannot be read hides none of the others.
    pub(crate) fn pending(&self, part: &After) -> Result<PendingPage, StoreError> {
        let sql = "SELECT pending.row, at, body, interactions.id, deadline FROM pending JOIN journal ON journal.id = pending.row
                   JOIN interactions ON interactions.row = pending.row
                   WHERE pending.row > ?1 ORDER BY pending.row LIMIT ?2";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query((part.cursor.unwrap_or(0), part.limit))?;
        let mut page = PendingPage::default();
        let shift = self.shift()?;
        while let Some(row) = rows.next()? {
            match pending_row(&row, shift) {
                Ok(pending) => page.rows.push(pending),
                Err(StoreError::Corrupt { what }) => page.damaged.push(DamagedRow {
                    cursor: row.get(0)?,
                    id: stored(InteractionId::new(row.get::<String>(3)?))?,
                    why: what,
                }),
                Err(error) => return Err(error),
            }
        }
        Ok(page)
    }

    /// What time has come for.
    pub(crate) fn due(&self, by: &DueBy) -> Result<Due, StoreError> {
        let (now, limit) = (self.unshifted(by.at)?, by.limit);
        let questions = "SELECT id FROM pending JOIN interactions USING (row) WHERE deadline <= ?1
                         ORDER BY deadline LIMIT ?2";
        let escalations = "SELECT id FROM pending JOIN interactions USING (row) WHERE escalate_at <= ?1
                           ORDER BY escalate_at LIMIT ?2";
        Ok(Due {
            questions: self.ids(questions, (now, limit))?,
            escalations: self.ids(escalations, (now, limit))?,
            claims: self.claims_lost(by)?,
        })
    }

    /// The next moment after `now` at which a question closes or escalates, or a lease ends.
    pub(crate) fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        // Each minimum is one step into an index; one over the union would read them all.
        let sql = "SELECT min(at) FROM (SELECT min(deadline) AS at FROM pending WHERE deadline > ?1
                   UNION ALL SELECT min(escalate_at) FROM pending WHERE escalate_at > ?1
                   UNION ALL SELECT min(lease) FROM calls WHERE grant_state = 'claimed' AND lease > ?1) AS moments";
        let next: Option<i64> = self
            .conn
            .prepare_cached(sql)?
            .query_row([self.unshifted(now)?], |row| row.get(0))?;
        let shift = self.shift()?;
        Ok(next.map(|next| Timestamp::from_millis(next) + shift))
    }

    /// The rows of votes and escalations of a question, in order.
    fn progress(&self, question: u64) -> Result<Vec<u64>, StoreError> {
        let sql = "SELECT row FROM progress WHERE question = ?1 ORDER BY row";
        let mut statement = self.conn.prepare_cached(sql)?;
        statement.query_map([question], |row| row.get(0))
    }

    /// One that cannot be read hides none of the others.
    fn asked_by(&self, sql: &str, params: impl Params) -> Result<PendingInChat, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let rows = statement.query_map(params, |row| row.get(0))?;
        let mut here = PendingInChat::default();
        for row in rows {
            match readable(self.asked(row))? {
                Some(asked) => here.asked.push(asked),
                None => here.unreadable += 1,
            }
        }
        Ok(here)
    }

    fn ids(&self, sql: &str, params: impl Params) -> Result<Vec<InteractionId>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut ids = Vec::new();
        while let Some(row) = rows.next()? {
            ids.push(stored(InteractionId::new(row.get::<String>(0)?))?);
        }
        Ok(ids)
    }
}

fn pending_row(row: &Row<'_>, shift: Shift) -> Result<PendingRow, StoreError> {
    let cursor = row.get(0)?;
    let Event::Asked(asked) = parse_body(row, 2, cursor)? else {
        return Err(StoreError::corrupt(format!("journal row {cursor} asks nothing")));
    };
    Ok(PendingRow {
        cursor,
        asked_at: Timestamp::from_millis(row.get(1)?),
        call: asked.call().cloned(),
        id: asked.id,
        session: asked.session,
        deadline: Timestamp::from_millis(row.get(4)?) + shift,
        risk: asked.risk,
        chat: asked.chat,
        group: asked.group,
        code: asked.code,
    })
}

/// Nothing in place of what cannot be read.
fn readable(asked: Result<Asked, StoreError>) -> Result<Option<Asked>, StoreError> {
    match asked {
        Ok(asked) => Ok(Some(asked)),
        Err(StoreError::Corrupt { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn corrupt(error: &EvolveError) -> StoreError {
    StoreError::corrupt(error.to_string())
}
