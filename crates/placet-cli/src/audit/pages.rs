//! Walking the journal page by page, so that its length never decides how much memory is used.

use placet_core::ids::SessionId;
use placet_store::{Committed, StoreError, View};

/// Rows read at once. A row holds at most a few megabytes.
const PAGE_ROWS: u64 = 64;

/// Calls `each` for every row of one session or of all, oldest first.
pub(super) fn forwards(
    view: &View<'_>,
    session: Option<&SessionId>,
    mut each: impl FnMut(Committed) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut after = 0;
    loop {
        let page = view.journal(after, page_rows(), session)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.id;
        page.into_iter().try_for_each(&mut each)?;
    }
}

/// The newest `limit` rows that `wanted` accepts, oldest first.
pub(super) fn newest(
    view: &View<'_>,
    limit: usize,
    wanted: impl Fn(&Committed) -> bool,
) -> Result<Vec<Committed>, StoreError> {
    let mut found = Vec::new();
    let mut upto = view.head()?;
    while upto > 0 && found.len() < limit {
        let after = upto.saturating_sub(PAGE_ROWS);
        let page = view.journal(after, page_rows(), None)?;
        let rows = page.into_iter().rev().filter(|row| row.id <= upto && wanted(row));
        found.extend(rows.take(limit.saturating_sub(found.len())));
        upto = after;
    }
    found.reverse();
    Ok(found)
}

fn page_rows() -> usize {
    usize::try_from(PAGE_ROWS).unwrap_or(usize::MAX)
}
