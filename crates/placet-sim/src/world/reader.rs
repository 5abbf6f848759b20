//! A reader of the stream of events: it reads on from its cursor at any moment, also while other processes write.

use placet_core::listing::JournalPage;

use super::{Check, World};
use crate::sabotage::Sabotage;

/// How many rows it reads at once.
const PAGE: usize = 16;

/// Where it is.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Where it reads on.
    cursor: u64,
    /// The last row it has truly seen.
    seen: u64,
}

impl World {
    /// Reads on. No row may come later with a number that the reader has passed.
    pub(super) fn read_on(&mut self) -> Check {
        let page = JournalPage::of_all(self.reader.cursor, PAGE);
        for row in self.look(|stored| stored.journal(&page).cloned())? {
            if row.id != self.reader.seen + 1 {
                let (seen, id) = (self.reader.seen, row.id);
                return Err(format!(
                    "promise 3: a reader that had seen row {seen} was shown row {id} next"
                ));
            }
            self.reader.seen = row.id;
            self.reader.cursor = row.id;
        }
        if self.sabotage == Sabotage::CursorSkipsLateRow && self.interfering {
            // A number that was handed out counts as seen, although its row is committed later.
            self.reader.cursor = self.reader.cursor.max(self.head()? + 1);
        }
        Ok(())
    }

    /// Reads to the end.
    pub(super) fn read_all(&mut self) -> Check {
        while self.reader.seen < self.head()? {
            let before = self.reader.seen;
            self.read_on()?;
            if self.reader.seen == before {
                return Err(format!(
                    "promise 3: a reader never sees what comes after row {before}"
                ));
            }
        }
        Ok(())
    }

    /// After a crash the journal may be shorter than what was read.
    pub(super) fn rewind_reader(&mut self, head: u64) {
        self.reader.seen = self.reader.seen.min(head);
        self.reader.cursor = self.reader.cursor.min(head);
    }
}
