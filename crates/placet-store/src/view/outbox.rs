//! Looking at the outbox, at messages seen, and at the queue.

use std::collections::BTreeSet;

use placet_core::ids::{ChannelName, ChatId, InteractionId, SessionId};
use placet_core::journal::{Event, InboundMessage};
use placet_core::listing::{Member, Sendable, ToSend};
use placet_core::outgoing::{OutKind, OutState, OutboxItem};
use placet_core::time::Timestamp;

use super::{View, channel, stored, unexpected};
use crate::error::StoreError;
use crate::sql::{OptionalExtension, Params, Row};

impl View<'_> {
    /// What is to be sent.
    pub(crate) fn sendable(&self, wanted: &ToSend) -> Result<Sendable, StoreError> {
        let due = format!(
            "SELECT outbox.id, key, channel, chat, interactions.id, kind, body, attempts, receipt, outbox.state,
                   last_error FROM outbox LEFT JOIN interactions ON interactions.row = question
                   WHERE outbox.state = 'waiting' AND next <= ?1 AND channel NOT IN ({})
                   ORDER BY next, outbox.id LIMIT ?2",
            self.conn.members_of("?3")
        );
        let first = format!(
            "SELECT next FROM outbox WHERE state = 'waiting' AND channel NOT IN ({}) ORDER BY next LIMIT 1",
            self.conn.members_of("?1")
        );
        let busy = names(&wanted.busy)?;
        let mut statement = self.conn.prepare_cached(&first)?;
        let shift = self.shift()?;
        let next: Option<i64> = statement.query_row([&busy], |row| row.get(0)).optional()?;
        Ok(Sendable {
            items: self.items(&due, (self.unshifted(wanted.at)?, wanted.limit, &busy))?,
            next: next.map(|next| Timestamp::from_millis(next) + shift),
        })
    }

    /// All copies of a question, and of what became of it.
    pub(crate) fn outbox_items(&self, id: &InteractionId) -> Result<Vec<OutboxItem>, StoreError> {
        let sql = "SELECT outbox.id, key, channel, chat, interactions.id, kind, body, attempts, receipt, outbox.state,
                   last_error FROM outbox JOIN interactions ON interactions.row = question
                   WHERE interactions.id = ?1 AND question IS NOT NULL ORDER BY outbox.id";
        self.items(sql, [id.as_str()])
    }

    /// Whether a message has come in before.
    pub(crate) fn seen_inbound(&self, channel: &ChannelName, message: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM inbound WHERE channel = ?1 AND message = ?2";
        self.conn.prepare_cached(sql)?.exists((channel.as_str(), message))
    }

    /// Whether an account wrote in a chat, by a message the platform vouched for.
    pub(crate) fn wrote_in(&self, member: &Member) -> Result<bool, StoreError> {
        let chat = &member.chat;
        let sql = "SELECT 1 FROM members WHERE channel = ?1 AND chat = ?2 AND account = ?3";
        self.conn
            .prepare_cached(sql)?
            .exists((chat.channel.as_str(), chat.id.as_str(), &member.account))
    }

    /// The oldest message that waits for the agent of a session.
    pub(crate) fn next_queued(
        &self,
        session: &SessionId,
    ) -> Result<Option<(u64, InboundMessage)>, StoreError> {
        let sql = "SELECT row FROM queue WHERE session = (SELECT id FROM sessions WHERE name = ?1)
                   ORDER BY row LIMIT 1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let row: Option<u64> = statement
            .query_row([session.as_str()], |row| row.get(0))
            .optional()?;
        let Some(row) = row else { return Ok(None) };
        match self.event(row)?.1 {
            Event::MessageQueued(message) => Ok(Some((row, *message))),
            other => Err(unexpected(row, "messageQueued", &other)),
        }
    }

    /// The sessions in which messages wait.
    pub(crate) fn queued_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        let sql =
            "SELECT DISTINCT name FROM queue JOIN sessions ON sessions.id = queue.session ORDER BY name";
        self.names(sql, [])
    }

    fn items(&self, sql: &str, params: impl Params) -> Result<Vec<OutboxItem>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut items = Vec::new();
        while let Some(row) = rows.next()? {
            items.push(item(&row)?);
        }
        Ok(items)
    }
}

/// As a list the database can look into.
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
        chat: stored(ChatId::new(row.get::<String>(3)?))?,
        interaction: interaction.map(InteractionId::new).map(stored).transpose()?,
        kind: OutKind::parse(row.text(5)?).ok_or_else(torn)?,
        body: row.get(6)?,
        attempts: row.get(7)?,
        receipt: row.get(8)?,
        state: OutState::parse(row.text(9)?).ok_or_else(torn)?,
        last_error: row.get(10)?,
    })
}
