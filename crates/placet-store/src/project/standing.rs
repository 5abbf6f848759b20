//! What events change about standing grants.

use placet_core::ids::StandingGrantId;
use placet_core::standing::StandingGrant;

use super::At;
use crate::change::one;
use crate::error::StoreError;
use crate::sql::{Connection, params};

pub(super) fn given(conn: &Connection, at: At<'_>, grant: &StandingGrant) -> Result<(), StoreError> {
    let sql = "INSERT INTO standing (row, id, tool, ends_at, uses_max) VALUES (?1, ?2, ?3, ?4, ?5)";
    conn.prepare_cached(sql)?.execute(params![
        at.row,
        grant.id.as_str(),
        grant.scope.tool.as_str(),
        grant.ends_at.as_millis(),
        grant.uses_max,
    ])?;
    Ok(())
}

pub(super) fn used(conn: &Connection, at: At<'_>, id: &StandingGrantId) -> Result<(), StoreError> {
    let sql = "UPDATE standing SET uses = uses + 1
               WHERE id = ?1 AND revoked IS NULL AND ends_at > ?2 AND (uses_max IS NULL OR uses < uses_max)";
    let used = conn.prepare_cached(sql)?.execute((id.as_str(), at.wall))?;
    one(used, || {
        format!("{id} cannot be used: it has ended, was revoked, or is used up")
    })
}

pub(super) fn revoked(conn: &Connection, at: At<'_>, id: &StandingGrantId) -> Result<(), StoreError> {
    let sql = "UPDATE standing SET revoked = ?2 WHERE id = ?1 AND revoked IS NULL";
    let revoked = conn.prepare_cached(sql)?.execute((id.as_str(), at.row))?;
    one(revoked, || {
        format!("{id} cannot be revoked: it is unknown, or was revoked before")
    })
}
