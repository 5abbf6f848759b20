//! Looking at calls and their grants.

use std::collections::BTreeSet;

use placet_core::call::{CallDigest, ToolCall};
use placet_core::digest::Digest;
use placet_core::findings::StoredFindings;
use placet_core::ids::{AgentId, CallId, InteractionId, SessionId, ToolName};
use placet_core::interaction::{Asked, CallKey};
use placet_core::journal::CallResult;
use placet_core::listing::{CallsSince, DueBy};
use placet_core::outcome::Outcome;
use placet_core::record::{Begins, CallHead, CallRecord, CallState, Grant, GrantState};
use placet_core::time::{Shift, Timestamp};
use placet_core::verdict::Verdict;
use serde::Deserialize;

use super::{RunHead, View, before, digest_at, stored};
use crate::error::StoreError;
use crate::sql::{OptionalExtension, Params, Row};

/// A row of `calls`, with the names of the questions it points at.
struct Stored {
    received: u64,
    state: String,
    parked_on: Option<String>,
    same_as: Option<u64>,
    settled: Option<u64>,
    question: Option<String>,
    grant: Option<StoredGrant>,
    session: String,
    session_over: bool,
    digest: Digest,
    memorable: bool,
    /// Whether its question is settled and the asker does not know yet.
    untold: bool,
}

struct StoredGrant {
    number: u32,
    state: String,
    lease: Option<i64>,
    process: Option<String>,
    result: Option<u64>,
}

/// The fields of `callReceived` that a record holds.
#[derive(Deserialize)]
struct Received {
    call: ToolCall,
    digest: CallDigest,
    verdict: Verdict,
    #[serde(default)]
    findings: Option<StoredFindings>,
    #[serde(default)]
    outcome: Option<Outcome>,
}

/// The field of `settled` that a record holds.
#[derive(Deserialize)]
struct Settled {
    outcome: Outcome,
}

/// The field of `finished` that a record holds.
#[derive(Deserialize)]
struct Finished {
    result: CallResult,
}

impl Stored {
    fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        let number: Option<u32> = row.get(6)?;
        let grant = match number {
            Some(number) => Some(StoredGrant {
                number,
                state: row.get(7)?,
                lease: row.get(8)?,
                process: row.get(15)?,
                result: row.get(9)?,
            }),
            None => None,
        };
        Ok(Self {
            received: row.get(0)?,
            state: row.get(1)?,
            parked_on: row.get(2)?,
            same_as: row.get(3)?,
            settled: row.get(4)?,
            question: row.get(5)?,
            grant,
            session: row.get(10)?,
            digest: digest_at(row, 11)?,
            memorable: row.get(12)?,
            session_over: row.get(13)?,
            untold: row.get(14)?,
        })
    }
}

impl View<'_> {
    /// The tools that calls have named.
    pub(crate) fn tools_used(&self) -> Result<BTreeSet<ToolName>, StoreError> {
        let mut statement = self.conn.prepare_cached("SELECT DISTINCT tool FROM calls")?;
        let names = statement.query_map([], |row| row.get::<String>(0))?;
        names
            .into_iter()
            .map(|name| stored(ToolName::new(name)))
            .collect()
    }

    /// A page of the calls received since a moment, newest first, each with its journal row and when it was received. The
    /// next page begins before the last row.
    pub(crate) fn calls_since(
        &self,
        wanted: &CallsSince,
    ) -> Result<Vec<(u64, Timestamp, CallRecord)>, StoreError> {
        let sql = "SELECT agent, call, calls.id, journal.at FROM calls JOIN journal ON journal.id = calls.id
                   WHERE calls.id < ?1 AND journal.at >= ?2 ORDER BY calls.id DESC LIMIT ?3";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows =
            statement.query((before(&wanted.part), wanted.since.as_millis(), wanted.part.limit))?;
        let mut page = Vec::new();
        while let Some(row) = rows.next()? {
            if let Some(record) = self.call(&key(&row)?)? {
                page.push((row.get(2)?, Timestamp::from_millis(row.get(3)?), record));
            }
        }
        Ok(page)
    }

    /// A call, as far as it has come.
    pub(crate) fn call(&self, key: &CallKey) -> Result<Option<CallRecord>, StoreError> {
        let Some(found) = self.stored_call(key)? else {
            return Ok(None);
        };
        let received: Received = self.fields(found.received, "callReceived")?;
        let grants = found.grant.as_ref().map_or(0, |grant| grant.number);
        let state = self.state_of(key, found, received.outcome)?;
        Ok(Some(CallRecord {
            call: received.call,
            digest: received.digest,
            verdict: received.verdict,
            findings: received.findings,
            grants,
            state,
        }))
    }

    /// How far a call has come, without the call itself.
    pub(crate) fn call_head(&self, key: &CallKey) -> Result<Option<CallHead>, StoreError> {
        let Some(found) = self.stored_call(key)? else {
            return Ok(None);
        };
        let settled_at_once =
            found.settled.is_none() && matches!(found.state.as_str(), "granted" | "refused");
        let at_once = if settled_at_once {
            self.settled_at_once(found.received)?
        } else {
            None
        };
        let session = stored(SessionId::new(found.session.as_str()))?;
        let stopped = |run: RunHead| run.ended.is_none() && run.interrupted.is_some();
        let begins = if found.session_over {
            Begins::SessionOver
        } else if self.run(&session)?.is_some_and(stopped) {
            Begins::RunStopped
        } else {
            Begins::Yes
        };
        Ok(Some(CallHead {
            key: key.clone(),
            session,
            begins,
            untold: found.untold,
            digest: CallDigest(found.digest),
            memorable: found.memorable,
            grants: found.grant.as_ref().map_or(0, |grant| grant.number),
            state: self.state_of(key, found, at_once)?,
        }))
    }

    /// Grants whose claim is bound to a process that is gone, or to one that is not known.
    pub(crate) fn claimed_by_process(&self, now: Timestamp) -> Result<Vec<CallKey>, StoreError> {
        let sql = "SELECT agent, call FROM calls WHERE grant_state = 'claimed' AND lease IS NULL
                       AND NOT EXISTS (SELECT 1 FROM leases WHERE name = 'process/' || process AND until > ?1)
                   ORDER BY id";
        self.keys(sql, [self.unshifted(now)?])
    }

    /// Grants whose claimant promised a result and did not give it in time, or whose process is gone.
    pub(crate) fn claims_lost(&self, by: &DueBy) -> Result<Vec<CallKey>, StoreError> {
        let now = self.unshifted(by.at)?;
        let sql = "SELECT agent, call FROM calls WHERE grant_state = 'claimed' AND lease <= ?1
                   ORDER BY lease LIMIT ?2";
        let mut lost = self.keys(sql, (now, by.limit))?;
        let sql =
            "SELECT agent, call FROM calls WHERE grant_state = 'claimed' AND lease IS NULL AND process <> ?3
                       AND NOT EXISTS (SELECT 1 FROM leases WHERE name = 'process/' || process AND until > ?1)
                   ORDER BY id LIMIT ?2";
        lost.extend(self.keys(sql, (now, by.limit, &by.process))?);
        Ok(lost)
    }

    /// The calls that agents named this.
    pub(crate) fn calls_named(&self, id: &CallId) -> Result<Vec<CallKey>, StoreError> {
        let sql = "SELECT agent, call FROM calls WHERE call = ?1 ORDER BY agent";
        self.keys(sql, [id.as_str()])
    }

    fn keys(&self, sql: &str, params: impl Params) -> Result<Vec<CallKey>, StoreError> {
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut keys = Vec::new();
        while let Some(row) = rows.next()? {
            keys.push(key(&row)?);
        }
        Ok(keys)
    }

    fn stored_call(&self, key: &CallKey) -> Result<Option<Stored>, StoreError> {
        let sql = "SELECT calls.id, calls.state, open.id, same_as, settled, asked.id, grant_number, grant_state, lease, result,
                       name, digest, memorable, ended, coalesce(asked.state NOT IN ('pending', 'processed'), FALSE), process
                   FROM calls JOIN sessions ON sessions.id = calls.session
                       LEFT JOIN interactions AS open ON open.row = parked_on
                       LEFT JOIN interactions AS asked ON asked.row = question
                   WHERE calls.agent = ?1 AND call = ?2";
        let mut statement = self.conn.prepare_cached(sql)?;
        let found = statement.query_row((key.agent.as_str(), key.call.as_str()), Stored::read);
        found.optional()
    }

    fn state_of(
        &self,
        key: &CallKey,
        found: Stored,
        at_once: Option<Outcome>,
    ) -> Result<CallState, StoreError> {
        let torn = || StoreError::corrupt(format!("call `{}` of `{}` is half recorded", key.call, key.agent));
        let question = found.question.map(InteractionId::new).map(stored).transpose()?;
        match found.state.as_str() {
            "parked" => Ok(CallState::Parked {
                on: stored(InteractionId::new(found.parked_on.ok_or_else(torn)?))?,
            }),
            "same" => Ok(CallState::SameAs(self.call_key(found.same_as.ok_or_else(torn)?)?)),
            "granted" => Ok(CallState::Granted {
                outcome: self.outcome(found.settled, at_once)?.ok_or_else(torn)?,
                grant: self.read_grant(key, &found.grant.ok_or_else(torn)?)?,
                question,
            }),
            "refused" => Ok(CallState::Refused {
                outcome: self.outcome(found.settled, at_once)?.ok_or_else(torn)?,
                question,
            }),
            _ => Err(torn()),
        }
    }

    /// The outcome a call was received with.
    fn settled_at_once(&self, received: u64) -> Result<Option<Outcome>, StoreError> {
        #[derive(Deserialize)]
        struct Received {
            #[serde(default)]
            outcome: Option<Outcome>,
        }
        Ok(self.fields::<Received>(received, "callReceived")?.outcome)
    }

    /// The outcome a later row settled, or the one the call was received with.
    fn outcome(&self, settled: Option<u64>, at_once: Option<Outcome>) -> Result<Option<Outcome>, StoreError> {
        let Some(row) = settled else { return Ok(at_once) };
        let settled: Settled = self.fields(row, "settled")?;
        Ok(Some(settled.outcome))
    }

    fn read_grant(&self, key: &CallKey, grant: &StoredGrant) -> Result<Grant, StoreError> {
        let state = match (grant.state.as_str(), grant.result) {
            ("issued", None) => GrantState::Issued,
            ("claimed", None) => GrantState::Claimed {
                lease: match grant.lease {
                    Some(lease) => Some(Timestamp::from_millis(lease) + self.shift()?),
                    None => None,
                },
                process: grant.process.clone(),
            },
            ("unknown", None) => GrantState::Unknown,
            ("done", Some(row)) => {
                let finished: Finished = self.fields(row, "finished")?;
                GrantState::Done(finished.result)
            }
            _ => {
                return Err(StoreError::corrupt(format!(
                    "grant {} of call `{}` of `{}` is half recorded",
                    grant.number, key.call, key.agent
                )));
            }
        };
        Ok(Grant {
            number: grant.number,
            state,
        })
    }

    fn call_key(&self, row: u64) -> Result<CallKey, StoreError> {
        let sql = "SELECT agent, call FROM calls WHERE id = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query([row])?;
        match rows.next()? {
            Some(found) => key(&found),
            None => Err(StoreError::corrupt(format!(
                "the call of journal row {row} is missing"
            ))),
        }
    }

    /// A question as it was asked. Outages have moved its times while it is open.
    pub(super) fn asked(&self, row: u64) -> Result<Asked, StoreError> {
        let asked: Asked = self.fields(row, "asked")?;
        let sql = "SELECT deadline FROM pending WHERE row = ?1";
        let deadline = self
            .conn
            .prepare_cached(sql)?
            .query_row([row], |row| row.get(0))
            .optional()?;
        let Some(deadline) = deadline else {
            return Ok(asked);
        };
        let deadline = Timestamp::from_millis(deadline) + self.shift()?;
        let moved = Shift::between(asked.deadline, deadline);
        Ok(asked.moved(moved))
    }
}

fn key(row: &Row<'_>) -> Result<CallKey, StoreError> {
    Ok(CallKey {
        agent: stored(AgentId::new(row.get::<String>(0)?))?,
        call: stored(CallId::new(row.get::<String>(1)?))?,
    })
}
