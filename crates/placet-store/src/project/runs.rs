//! What events change about runs of the built-in agent.

use placet_core::run::{ModelTurn, RunStarted};

use super::At;
use crate::change::one;
use crate::error::StoreError;
use crate::sql::{Connection, params};

pub(super) fn started(conn: &Connection, at: At<'_>, run: &RunStarted) -> Result<(), StoreError> {
    let sql = "INSERT INTO runs (row, session, person, parent, until)
               SELECT ?1, ?2, ?3, (SELECT id FROM sessions WHERE name = ?4), ?5 WHERE NOT EXISTS (SELECT 1 FROM runs WHERE session = ?2 AND ended IS NULL)";
    let person = run.origin.user.as_ref().map(placet_core::ids::PersonId::as_str);
    let parent = run.parent.as_ref().map(|parent| parent.session.as_str());
    let until = run.until.map(|until| at.unshifted(until));
    let begun = conn
        .prepare_cached(sql)?
        .execute(params![at.row, at.session, person, parent, until])?;
    one(begun, || {
        format!("a run of session `{}` is still going on", at.name)
    })
}

/// Nothing is begun in it any more; how often that is said does not matter.
pub(super) fn interrupted(conn: &Connection, at: At<'_>) -> Result<(), StoreError> {
    let sql = "UPDATE runs SET interrupted = ?2 WHERE session = ?1 AND ended IS NULL";
    let stopped = conn.prepare_cached(sql)?.execute((at.session, at.row))?;
    one(stopped, || none(at))
}

pub(super) fn said(conn: &Connection, at: At<'_>) -> Result<(), StoreError> {
    let sql = "UPDATE runs SET said = said + 1 WHERE session = ?1 AND ended IS NULL";
    let heard = conn.prepare_cached(sql)?.execute([at.session])?;
    one(heard, || none(at))
}

pub(super) fn spoke(conn: &Connection, at: At<'_>, turn: &ModelTurn) -> Result<(), StoreError> {
    let sql = "UPDATE runs SET turns = turns + 1 WHERE session = ?1 AND ended IS NULL AND turns + 1 = ?2";
    let spoke = conn.prepare_cached(sql)?.execute((at.session, turn.turn))?;
    one(spoke, || {
        format!("turn {} is not the next one of session `{}`", turn.turn, at.name)
    })
}

pub(super) fn variables_changed(conn: &Connection, at: At<'_>) -> Result<(), StoreError> {
    let sql = "UPDATE runs SET variables = ?2 WHERE session = ?1 AND ended IS NULL";
    let changed = conn.prepare_cached(sql)?.execute((at.session, at.row))?;
    one(changed, || none(at))
}

pub(super) fn ended(conn: &Connection, at: At<'_>) -> Result<(), StoreError> {
    let sql = "UPDATE runs SET ended = ?2 WHERE session = ?1 AND ended IS NULL";
    let ended = conn.prepare_cached(sql)?.execute((at.session, at.row))?;
    one(ended, || none(at))
}

fn none(at: At<'_>) -> String {
    format!("no run of session `{}` is going on", at.name)
}
