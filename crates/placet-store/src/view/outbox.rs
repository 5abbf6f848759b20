//! Looking at the outbox, at messages seen, and at the queue.

use std::collections::BTreeSet;

use placet_core::call::Chat;
use placet_core::ids::{ChannelName, ChatId, InteractionId, SessionId};
use placet_core::journal::{Event, InboundMessage};
use placet_core::outgoing::{OutKind, OutState, OutboxItem};
use placet_core::time::LiveTime;
use rusqlite::{OptionalExtension, Params, Row};

use super::{View, channel, stored, unexpected};
use crate::error::StoreError;

impl View<'_> {
    /// Items to be sent by now, longest waiting first; not those of channels that are `busy`.
    pub fn outbox_due(
        &self,
        now: LiveTime,
        busy: &BTreeSet<ChannelName>,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, StoreError> {
        let sql = "SELECT outbox.id, key, channel, chat, interactions.id, kind, body, attempts, receipt, outbox.state,
                   last_error FROM outbox LEFT JOIN interactions ON interactions.row = question
                   WHERE outbox.state = 'waiting' AND next <= ?1 AND channel NOT IN (SELECT value FROM json_each(?3))
                   ORDER BY next, outbox.id LIMIT ?2";
        self.items(sql, (now.as_millis(), limit, names(busy)?))
    }

    /// When the next item is to be sent; not one of a channel that is `busy`.
    pub fn outbox_next(&self, busy: &BTreeSet<ChannelName>) -> Result<Option<LiveTime>, StoreError> {
        let sql = "SELECT next FROM outbox WHERE state = 'waiting'
                   AND channel NOT IN (SELECT value FROM json_each(?1)) ORDER BY next LIMIT 1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let next: Option<i64> = statement.query_row([names(busy)?], |row| row.get(0)).optional()?;
        Ok(next.map(LiveTime::from_millis))
    }

    /// All copies of a question, and of what became of it.
    pub fn outbox_items(&self, id: &InteractionId) -> Result<Vec<OutboxItem>, StoreError> {
        let sql = "SELECT outbox.id, key, channel, chat, interactions.id, kind, body, attempts, receipt, outbox.state,
                   last_error FROM outbox JOIN interactions ON interactions.row = question
                   WHERE interactions.id = ?1 AND question IS NOT NULL ORDER BY outbox.id";
        self.items(sql, [id.as_str()])
    }

    /// Whether a message has come in before.
    pub fn seen_inbound(&self, channel: &ChannelName, message: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM inbound WHERE channel = ?1 AND message = ?2";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .exists((channel.as_str(), message))?)
    }

    /// Whether an account wrote in a chat, by a message the platform vouched for.
    pub fn wrote_in(&self, chat: &Chat, account: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM members WHERE channel = ?1 AND chat = ?2 AND account = ?3";
        Ok(self
            .conn
            .prepare_cached(sql)?
            .exists((chat.channel.as_str(), chat.id.as_str(), account))?)
    }

    /// Messages that wait for the agent of a session, oldest first.
    pub fn queued(
        &self,
        session: &SessionId,
        limit: usize,
    ) -> Result<Vec<(u64, InboundMessage)>, StoreError> {
        let sql = "SELECT row FROM queue WHERE session = (SELECT id FROM sessions WHERE name = ?1)
                   ORDER BY row LIMIT ?2";
        let mut statement = self.conn.prepare_cached(sql)?;
        let rows = statement
            .query_map((session.as_str(), limit), |row| row.get(0))?
            .collect::<Result<Vec<u64>, _>>()?;
        rows.into_iter()
            .map(|row| match self.event(row)?.1 {
                Event::MessageQueued(message) => Ok((row, *message)),
                other => Err(unexpected(row, "messageQueued", &other)),
            })
            .collect()
    }

    /// The sessions in which messages wait.
    pub fn queued_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT DISTINCT name FROM queue JOIN sessions ON sessions.id = queue.session";
        self.names(sql, [])
    }

    fn items(&self, sql: &str, params: impl Params) -> Result<Vec<OutboxItem>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut items = Vec::new();
        while let Some(row) = rows.next()? {
            items.push(item(row)?);
        }
        Ok(items)
    }
}

/// As a list SQLite can look into.
fn names(channels: &BTreeSet<ChannelName>) -> Result<String, StoreError> {
    serde_json::to_string(channels).map_err(|error| StoreError::corrupt(error.to_string()))
}

fn item(row: &Row<'_>) -> Result<OutboxItem, StoreError> {
    let id: u64 = row.get(0)?;
    let torn = || StoreError::corrupt(format!("outbox item {id} is not readable"));
    let interaction: Option<String> = row.get(4)?;
    Ok(OutboxItem {
        id,
        key: row.get(1)?,
        channel: channel(row.get(2)?)?,
        chat: stored(ChatId::new(row.get::<_, String>(3)?))?,
        interaction: interaction.map(InteractionId::new).map(stored).transpose()?,
        kind: OutKind::parse(row.get_ref(5)?.as_str().unwrap_or_default()).ok_or_else(torn)?,
        body: row.get(6)?,
        attempts: row.get(7)?,
        receipt: row.get(8)?,
        state: OutState::parse(row.get_ref(9)?.as_str().unwrap_or_default()).ok_or_else(torn)?,
        last_error: row.get(10)?,
    })
}
