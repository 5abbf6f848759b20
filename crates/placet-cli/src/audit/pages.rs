//! Walking the journal page by page, so that its length never decides how much memory is used.

use placet_core::ids::SessionId;
use placet_core::listing::{Committed, JournalPage};
use placet_store::{Store, StoreError};

/// Rows read at once. A row holds at most a few megabytes.
const PAGE_ROWS: u64 = 64;

/// The rows of one session or of all, oldest first, up to the newest one there was at the beginning.
pub(super) struct Forwards<'a> {
    store: &'a Store,
    page: JournalPage,
    head: u64,
}

impl<'a> Forwards<'a> {
    pub(super) async fn new(store: &'a Store, session: Option<&SessionId>) -> Result<Self, StoreError> {
        Ok(Self {
            store,
            page: JournalPage {
                session: session.cloned(),
                ..JournalPage::of_all(0, page_rows())
            },
            head: head(store).await?,
        })
    }

    /// The next rows; nothing at the end.
    pub(super) async fn next(&mut self) -> Result<Vec<Committed>, StoreError> {
        let mut rows = read(self.store, &self.page).await?;
        rows.retain(|row| row.id <= self.head);
        self.page.after = rows.last().map_or(self.page.after, |row| row.id);
        Ok(rows)
    }
}

/// The newest `limit` rows that `wanted` accepts, oldest first.
pub(super) async fn newest(
    store: &Store,
    limit: usize,
    wanted: impl Fn(&Committed) -> bool,
) -> Result<Vec<Committed>, StoreError> {
    let mut found = Vec::new();
    let mut upto = head(store).await?;
    while upto > 0 && found.len() < limit {
        let after = upto.saturating_sub(PAGE_ROWS);
        let page = read(store, &JournalPage::of_all(after, page_rows())).await?;
        let rows = page.into_iter().rev().filter(|row| row.id <= upto && wanted(row));
        found.extend(rows.take(limit.saturating_sub(found.len())));
        upto = after;
    }
    found.reverse();
    Ok(found)
}

async fn head(store: &Store) -> Result<u64, StoreError> {
    store.look(|stored| stored.head(&()).copied()).await
}

async fn read(store: &Store, page: &JournalPage) -> Result<Vec<Committed>, StoreError> {
    store.look(|stored| stored.journal(page).cloned()).await
}

fn page_rows() -> usize {
    usize::try_from(PAGE_ROWS).unwrap_or(usize::MAX)
}
