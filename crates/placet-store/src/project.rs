//! Projections: what each event changes in the tables beside the journal. One function per kind of event.
//!
//! This is *evolving*: it applies what happened and never decides. Each change is a compare-and-set, so an event that
//! cannot have happened (a second claim, an answer to a settled question) is an error and writes nothing.

use placet_core::ids::{AgentId, SessionId};
use placet_core::interaction::Subject;
use placet_core::journal::{Author, Event};
use placet_core::time::{Shift, Timestamp};

use crate::change::one;
use crate::error::StoreError;
use crate::sql::{Connection, params};
use crate::view::mode_name;

mod calls;
mod questions;
mod runs;
mod standing;

/// Where an event was stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    /// The journal row.
    pub(crate) row: u64,
    /// The number of its session.
    pub(crate) session: u64,
    /// The name of its session.
    pub(crate) name: &'a SessionId,
    /// The wall clock, in milliseconds.
    pub(crate) wall: i64,
    /// How far outages have moved what is pending.
    pub(crate) shift: Shift,
}

impl At<'_> {
    /// A pending time as its column holds it.
    fn unshifted(&self, at: Timestamp) -> i64 {
        (at - self.shift).as_millis()
    }
}

/// The agent that a session belongs to after an event, if it belonged to none before.
pub(crate) fn owner(event: &Event) -> Option<&AgentId> {
    match event {
        Event::CallReceived { call, .. } => Some(&call.origin.agent),
        Event::Asked(asked) => match &asked.subject {
            Subject::Request { agent, .. } => Some(agent),
            _ => None,
        },
        Event::RunStarted(run) => Some(&run.origin.agent),
        _ => None,
    }
}

/// Applies one event to the projections. Answers how far outages have moved what is pending after it.
pub(crate) fn apply(conn: &Connection, at: At<'_>, event: &Event) -> Result<Shift, StoreError> {
    change(conn, at, event)?;
    owner(event).map_or(Ok(()), |agent| belongs(conn, at, agent))?;
    Ok(match event {
        Event::Outage { from, until } => at.shift + Shift::between(*from, *until),
        _ => at.shift,
    })
}

fn change(conn: &Connection, at: At<'_>, event: &Event) -> Result<(), StoreError> {
    match event {
        Event::CallReceived {
            call,
            digest,
            verdict,
            outcome,
            ..
        } => calls::received(conn, at, call, *digest, verdict, outcome.as_deref()),
        Event::Joined {
            call,
            same_as,
            interaction,
        } => calls::joined(conn, at, call, same_as, interaction),
        Event::Settled { call, outcome, grant } => calls::settled(conn, at, call, outcome, *grant),
        Event::Claimed {
            call,
            grant,
            lease,
            process,
            ..
        } => calls::claimed(conn, at, call, *grant, (*lease, process.as_deref())),
        Event::Finished { call, grant, .. } => calls::finished(conn, at, call, *grant),
        Event::LostTrack { call, grant } => calls::lost_track(conn, at, call, *grant),
        Event::Asked(asked) => questions::asked(conn, at, asked),
        Event::Escalated { interaction, .. } | Event::Voted { interaction, .. } => {
            questions::progressed(conn, at, interaction, event)
        }
        Event::Commented { interaction, .. } => questions::commented(conn, at, interaction),
        Event::Resolved {
            interaction,
            resolution,
        } => questions::resolved(conn, at, interaction, resolution),
        Event::Processed { interaction } => questions::processed(conn, interaction),
        Event::StandingGiven(grant) => standing::given(conn, at, grant),
        Event::StandingUsed { id, .. } => standing::used(conn, at, id),
        Event::StandingRevoked { id, .. } => standing::revoked(conn, at, id),
        Event::ToolAllowed { tool, .. } => {
            let sql = "INSERT INTO allow_list VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            conn.prepare_cached(sql)?.execute((at.session, tool.as_str()))?;
            Ok(())
        }
        Event::ModeSet { mode, .. } => {
            let sql = "UPDATE sessions SET mode = ?2 WHERE id = ?1";
            conn.prepare_cached(sql)?
                .execute((at.session, mode_name(*mode)))?;
            Ok(())
        }
        Event::SessionEnded { .. } => {
            let sql = "UPDATE sessions SET ended = 1 WHERE id = ?1 AND ended = 0";
            let ended = conn.prepare_cached(sql)?.execute([at.session])?;
            one(ended, || format!("session `{}` has been ended before", at.name))
        }
        Event::MessageQueued(message) => {
            let sql = "INSERT INTO queue VALUES (?1, ?2)";
            conn.prepare_cached(sql)?.execute((at.row, at.session))?;
            if message.author == Author::Human {
                let sql = "INSERT INTO members VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
                conn.prepare_cached(sql)?.execute((
                    message.channel.as_str(),
                    message.chat_id.as_str(),
                    message.sender_id.as_str(),
                ))?;
            }
            Ok(())
        }
        Event::RunStarted(run) => runs::started(conn, at, run),
        Event::UserSaid { .. } => runs::said(conn, at),
        Event::ModelTurn(turn) => runs::spoke(conn, at, turn),
        Event::RunEnded { .. } => runs::ended(conn, at),
        Event::RunInterrupted { .. } => runs::interrupted(conn, at),
        Event::VariablesChanged { .. } => runs::variables_changed(conn, at),
        Event::Outage { from, until } => {
            let shift = at.shift + Shift::between(*from, *until);
            let sql = "INSERT INTO outages VALUES (?1, ?2, ?3)";
            conn.prepare_cached(sql)?
                .execute(params![at.row, until.as_millis(), shift.as_millis()])?;
            Ok(())
        }
        Event::Delivered { .. } | Event::Started { .. } => Ok(()),
    }
}

/// A session belongs to the agent that acts in it first.
fn belongs(conn: &Connection, at: At<'_>, agent: &AgentId) -> Result<(), StoreError> {
    let sql = "UPDATE sessions SET agent = ?2 WHERE id = ?1 AND agent IS NULL";
    conn.prepare_cached(sql)?.execute((at.session, agent.as_str()))?;
    Ok(())
}
