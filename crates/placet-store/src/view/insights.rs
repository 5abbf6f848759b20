//! Counting closed questions, in the database: no body is read, and no row leaves it.

use std::fmt::Write as _;

use placet_core::history::{HASTY, Insights, InsightsOf, TOOK_MAX, Tally};
use placet_core::time::Millis;

use super::View;
use super::history::ending_of;
use crate::error::StoreError;
use crate::sql::{OptionalExtension as _, Row, params};

/// Questions closed in a time.
const CLOSED: &str = "outcome IS NOT NULL AND settled_at >= ?1 AND settled_at < ?2";
/// Outcomes that are no decision of a person.
const DECIDED: &str = "outcome NOT IN ('expired', 'cancelled', 'superseded')";
const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

impl View<'_> {
    /// What was asked and decided in a time.
    pub(crate) fn insights(&self, of: &InsightsOf) -> Result<Insights, StoreError> {
        let mut all = self.tallies(of, "NULL", "interactions")?;
        Ok(Insights {
            days: self.days(of)?,
            took: self.classes(of)?,
            median: self.took_at(of, 50)?,
            ninetieth: self.took_at(of, 90)?,
            all: all.pop().map_or(Tally::NONE, |(_, tally)| tally),
            tools: self.tallies(of, "tool", "interactions")?,
            rules: self.tallies(of, "rule", "interactions")?,
            people: self.tallies(of, "person", "interactions JOIN deciders ON question = row")?,
        })
    }

    fn days(&self, of: &InsightsOf) -> Result<Vec<(i64, placet_core::history::Ending, u64)>, StoreError> {
        let sql = format!(
            "SELECT (settled_at + ?3) / {DAY}, outcome, count(*) FROM interactions WHERE {CLOSED} GROUP BY 1, 2 ORDER BY 1, 2"
        );
        let (since, until) = (of.since.as_millis(), of.until.as_millis());
        let ahead = i64::from(of.ahead_minutes) * MINUTE;
        self.conn
            .prepare_cached(&sql)?
            .query_map((since, until, ahead), |row| {
                Ok((row.get(0)?, ending_of(row.text(1)?)?, row.get(2)?))
            })
    }

    /// How many decisions took how long, by class.
    fn classes(&self, of: &InsightsOf) -> Result<Vec<u64>, StoreError> {
        let mut class = String::new();
        for (number, bound) in TOOK_MAX.iter().enumerate() {
            let _ = write!(
                class,
                "WHEN settled_at - asked_at < {} THEN {number} ",
                bound.get()
            );
        }
        let sql = format!(
            "SELECT CASE {class}ELSE {} END, count(*) FROM interactions WHERE {CLOSED} AND {DECIDED} GROUP BY 1",
            TOOK_MAX.len()
        );
        let found = self
            .conn
            .prepare_cached(&sql)?
            .query_map((of.since.as_millis(), of.until.as_millis()), |row| {
                Ok((row.get::<u64>(0)?, row.get::<u64>(1)?))
            })?;
        let count = |class| found.iter().find(|(number, _)| *number == class);
        let classes = 0..=u64::try_from(TOOK_MAX.len()).unwrap_or(0);
        Ok(classes
            .map(|class| count(class).map_or(0, |(_, count)| *count))
            .collect())
    }

    /// What a share of all decisions took at most.
    fn took_at(&self, of: &InsightsOf, percent: u64) -> Result<Option<Millis>, StoreError> {
        let sql = format!(
            "SELECT settled_at - asked_at FROM interactions WHERE {CLOSED} AND {DECIDED} ORDER BY 1
             LIMIT 1 OFFSET (SELECT count(*) * ?3 / 100 FROM interactions WHERE {CLOSED} AND {DECIDED})"
        );
        let mut statement = self.conn.prepare_cached(&sql)?;
        let took = statement.query_row((of.since.as_millis(), of.until.as_millis(), percent), |row| {
            row.get::<i64>(0)
        });
        Ok(took.optional()?.map(millis))
    }

    /// How many there were of each `key`, most first.
    fn tallies(
        &self,
        of: &InsightsOf,
        key: &str,
        table: &str,
    ) -> Result<Vec<(Option<String>, Tally)>, StoreError> {
        let count = |condition: &str| format!("sum(CASE WHEN {condition} THEN 1 ELSE 0 END)");
        let hasty = format!("{DECIDED} AND settled_at - asked_at < {}", HASTY.get());
        let sql = format!(
            "SELECT CAST({key} AS TEXT), count(*), {}, {}, {}, {}, {}, {},
                 CAST(sum(CASE WHEN {DECIDED} THEN settled_at - asked_at ELSE 0 END) AS BIGINT)
             FROM {table} WHERE {CLOSED} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?3",
            count(DECIDED),
            count("outcome = 'approved'"),
            count("outcome = 'rejected'"),
            count("outcome = 'expired'"),
            count("edited = 1"),
            count(&hasty),
        );
        self.conn.prepare_cached(&sql)?.query_map(
            params![of.since.as_millis(), of.until.as_millis(), of.names_max],
            |row| Ok((row.get(0)?, tally(row)?)),
        )
    }
}

fn tally(row: &Row<'_>) -> Result<Tally, StoreError> {
    Ok(Tally {
        requests: row.get(1)?,
        decided: row.get(2)?,
        approved: row.get(3)?,
        rejected: row.get(4)?,
        expired: row.get(5)?,
        edited: row.get(6)?,
        hasty: row.get(7)?,
        took: millis(row.get(8)?),
    })
}

/// A clock that was set back makes no negative lengths.
fn millis(length: i64) -> Millis {
    Millis::new(u64::try_from(length).unwrap_or(0))
}
