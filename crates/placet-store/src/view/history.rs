//! Looking at closed questions: those that a search wants.

use placet_core::history::{Edits, Ending, HistoryPage, Labels};
use placet_core::ids::{InteractionId, PersonId, ToolName};
use placet_core::time::Timestamp;
use placet_core::tool::Risk;

use super::{View, before, stored};
use crate::error::StoreError;
use crate::sql::{OptionalExtension as _, params};

impl View<'_> {
    /// A page of the closed questions that a filter admits, newest first, each with its cursor.
    pub(crate) fn history(&self, page: &HistoryPage) -> Result<Vec<(u64, InteractionId)>, StoreError> {
        let sql = "SELECT row, id FROM interactions
                   WHERE row < ?1 AND outcome IS NOT NULL AND (?2 IS NULL OR tool = ?2) AND (?3 IS NULL OR rule = ?3)
                       AND (?4 IS NULL OR risk = ?4) AND (?5 IS NULL OR outcome = ?5) AND edited >= ?6
                       AND settled_at >= ?7 AND settled_at < ?8
                       AND (?9 IS NULL OR EXISTS (SELECT 1 FROM deciders WHERE question = interactions.row AND person = ?9))
                   ORDER BY row DESC LIMIT ?10";
        let filter = &page.filter;
        let mut statement = self.conn.prepare_cached(sql)?;
        let found = statement.query_map(
            params![
                before(&page.part),
                filter.tool.as_ref().map(ToolName::as_str),
                filter.rule,
                filter.risk.map(Risk::as_str),
                filter.outcome.map(Ending::as_str),
                filter.edited == Edits::Only,
                filter.from.map_or(i64::MIN, Timestamp::as_millis),
                filter.to.map_or(i64::MAX, Timestamp::as_millis),
                filter.person.as_ref().map(PersonId::as_str),
                page.part.limit,
            ],
            |row| Ok((row.get(0)?, row.get::<String>(1)?)),
        )?;
        let read = |(cursor, id)| Ok((cursor, stored(InteractionId::new(id))?));
        found.into_iter().map(read).collect()
    }

    /// The tool and the rule of a question.
    pub(crate) fn question_labels(&self, id: &InteractionId) -> Result<Option<Labels>, StoreError> {
        let sql = "SELECT tool, rule FROM interactions WHERE id = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let labels = statement.query_row([id.as_str()], |row| {
            Ok(Labels {
                tool: row.get(0)?,
                rule: row.get(1)?,
            })
        });
        labels.optional()
    }
}

pub(super) fn ending_of(text: &str) -> Result<Ending, StoreError> {
    Ending::parse(text).ok_or_else(|| StoreError::corrupt(format!("`{text}` is not an outcome")))
}
