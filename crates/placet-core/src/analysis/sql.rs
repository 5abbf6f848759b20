//! SQL: what each statement would do, read from its parsed form.
//!
//! Effects map onto categories so that the strongest wins by order: looking is `Read`; changing rows is `Write`;
//! everything that changes structure, rights, settings or files, calls unknown code, or is not known here is
//! `Command`. A statement counts by the strongest thing anywhere inside it: a `DELETE` in a common table expression is a
//! `DELETE`.
//!
//! When the dialect is unknown all three read the text and the strictest reading counts. The same bytes can be a harmless
//! string in one dialect and a live statement in another (backslashes, `#`, `$$`, brackets), so a dialect that cannot
//! follow the text is ignored only if it at least sees the same tokens as one that can.
//!
//! A read is proven, not assumed: `prove` accepts the expressions, clauses and tables it lists, with the names in `known.toml`.
//! The rest is a command of at least MEDIUM risk.
//!
//! What the text does not show: views that call functions, triggers, overloads of built-in names, and that PostgreSQL calls
//! `f(t)` for `t.f` where `t` has no column `f`. A qualified name counts as a column, because a gate that asks about every join is
//! switched off; the built-in tools run judged reads in a read-only transaction, which refuses what such a call would change.

mod condition;
mod effect;
mod known;
mod names;
mod preview;
mod prove;
mod reading;
mod verb;

use self::effect::Judged;
use self::known::Dialect;
use self::reading::Reading;
use super::why::{SqlConcern, Why};
use super::{Analysis, Fact, FactKind};
use crate::tool::{Category, Risk, SqlDialect};

pub use self::preview::preview_count_query;
pub(crate) use self::verb::is_verb;

/// The dialects a text is read in: the one it is known to be in, or all of them.
fn dialects(named: Option<SqlDialect>) -> Vec<Dialect> {
    let all = [SqlDialect::Sqlite, SqlDialect::Postgresql, SqlDialect::Mysql];
    let certain = named.is_some();
    all.into_iter()
        .filter(|grammar| named.is_none_or(|named| named == *grammar))
        .map(|grammar| Dialect { grammar, certain })
        .collect()
}

/// Analyses SQL text: one fact per statement, or one that says why the text could not be read.
pub fn analyse(sql: &str, dialect: Option<SqlDialect>, found: &mut Analysis) {
    match reading::check(sql).and_then(|()| strictest(sql, dialect)) {
        Ok(judged) => found.facts.extend(judged.into_iter().map(Judged::into_fact)),
        Err(unread) => found.facts.push(unreadable(unread)),
    }
}

/// What all possible dialects together make of the text.
fn strictest(sql: &str, dialect: Option<SqlDialect>) -> Result<Vec<Judged>, SqlConcern> {
    let readings = dialects(dialect)
        .into_iter()
        .map(|dialect| reading::read(sql, dialect));
    let readings: Vec<Reading> = readings.collect::<Result<_, _>>()?;
    // A bare backtick is no part of PostgreSQL: that server refuses the text as a whole, so it cannot be the one meant.
    let readings: Vec<Reading> = readings
        .into_iter()
        .filter(|reading| dialect.is_some() || !reading.has_stray_backtick())
        .collect();
    let same_tokens = readings.windows(2).all(|pair| match pair {
        [left, right] => left.tokens_match(right),
        _ => true,
    });
    let mut followed = Vec::new();
    let mut refused = None;
    for reading in readings {
        match reading.text {
            Ok(text) => followed.push(effect::judge_all(&text)),
            Err(unread) => refused = refused.or(Some(unread)),
        }
    }
    match (followed.is_empty(), refused) {
        (true, refused) => Err(refused.unwrap_or(SqlConcern::Ambiguous)),
        (false, Some(_)) if !same_tokens => Err(SqlConcern::Ambiguous),
        (false, _) => merge(followed),
    }
}

/// Statement by statement the stricter of what the dialects say; they must agree on what the statements are.
fn merge(readings: Vec<Vec<Judged>>) -> Result<Vec<Judged>, SqlConcern> {
    readings
        .into_iter()
        .map(Ok)
        .reduce(|left, right| {
            let (left, right) = (left?, right?);
            let agree = left.len() == right.len() && left.iter().zip(&right).all(|(l, r)| l.verb == r.verb);
            if !agree {
                return Err(SqlConcern::Ambiguous);
            }
            Ok(left.into_iter().zip(right).map(|(l, r)| l.stricter(r)).collect())
        })
        .unwrap_or(Err(SqlConcern::Empty))
}

fn unreadable(unread: SqlConcern) -> Fact {
    Fact {
        kind: FactKind::Unreadable { what: "SQL".into() },
        risk: Risk::High,
        why: Some(Why::Sql(unread)),
    }
}

impl Judged {
    fn into_fact(self) -> Fact {
        Fact {
            kind: FactKind::Statement {
                verb: self.verb,
                also: self.also.into_iter().collect(),
                category: self.category,
                tables: self.tables.into_iter().collect(),
                text: self.text,
            },
            risk: self.risk,
            why: self.why.map(Why::Sql),
        }
    }

    fn stricter(self, other: Self) -> Self {
        let category: Category = self.category.max(other.category);
        let tables = self.tables.union(&other.tables).cloned().collect();
        let also = self.also.union(&other.also).cloned().collect();
        let worse = if other.risk > self.risk { other } else { self };
        Self {
            also,
            category,
            tables,
            ..worse
        }
    }
}

#[cfg(test)]
mod tests;
