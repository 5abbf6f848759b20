//! A journal row on the wire: the same fields in lists, exports and `show`.

use placet_core::listing::Committed;
use serde::Serialize;

/// A journal row as JSON. `at` is exact to the millisecond, as the hash covers it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RowJson<'r> {
    id: u64,
    at: String,
    session: &'r str,
    seq: u64,
    r#type: &'static str,
    hash: String,
    event: &'r placet_core::journal::Event,
}

impl<'r> From<&'r Committed> for RowJson<'r> {
    fn from(row: &'r Committed) -> Self {
        Self {
            id: row.id,
            at: row.at.to_string(),
            session: row.session.as_str(),
            seq: row.seq,
            r#type: row.event.name(),
            hash: row.hash.to_string(),
            event: &row.event,
        }
    }
}
