//! Moments in queries.

use placet_core::time::Timestamp;

use crate::problem::{Code, Problem};

/// A moment as RFC 3339 writes it; nothing when none is given.
pub(super) fn moment(text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let parsed: Result<jiff::Timestamp, _> = text.parse();
    let refused = |_| {
        Problem::new(
            Code::BadRequest,
            format!("`{text}` is not a moment such as `2026-11-03T10:00:00Z`"),
        )
    };
    Ok(Some(Timestamp::from_millis(
        parsed.map_err(refused)?.as_millisecond(),
    )))
}
