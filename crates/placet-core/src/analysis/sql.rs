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
//! What the text does not show: views that call functions, triggers, overloads of built-in names and casts. Nor does it show that
//! `t.f` is a column: PostgreSQL calls `f(t)` where `t` has no column `f`. Where such a call could write, a qualified name is a column
//! only if the text proves it (`columns`); a server that takes no writes refuses what the call would change.

mod columns;
mod condition;
mod effect;
mod known;
mod names;
mod preview;
mod prove;
mod reading;

use self::effect::Judged;
use self::known::Dialect;
use self::reading::Reading;
use super::why::{SqlConcern, Why};
use super::{Analysis, Fact, FactKind};
use crate::tool::{Risk, SqlAccess, SqlDialect};

pub use self::preview::preview_count_query;

/// The one verb of two words that analysis gives.
const SELECT_INTO: &str = "SELECT INTO";

/// Whether a statement can have this verb, so that a rule about `DELTE` is found before it is relied on.
pub(crate) fn is_verb(text: &str) -> bool {
    text.eq_ignore_ascii_case(SELECT_INTO) || reading::begins_statement(text)
}

/// Adds what a text that may be anything does, if it reads as statements about tables. "Use tabs" reads as one about a database.
///
/// Most prose is told from SQL without parsing it: such a statement begins with a word of `[begin]` and has one of the
/// words that belong to it, or comes after another statement. A text that begins with a comment is parsed.
pub(crate) fn analyse_if_sql(text: &str, found: &mut Analysis) {
    let lower = |word: &str| word.to_ascii_lowercase();
    let may_be = reading::first_word(text).is_none_or(|first| match known::list("begin", &lower(first)) {
        Some(needed) => {
            let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
            needed.is_empty() || words.any(|word| needed.contains(&lower(word)))
        }
        None => text.contains(';'),
    });
    if !may_be {
        return;
    }
    let judged = reading::check(text).and_then(|()| strictest(text, None, SqlAccess::Unrestricted));
    let is_about = |one: &Judged| known::lists("statements", "about_tables", one.verb());
    if let Ok(judged) = judged
        && judged.iter().any(is_about)
    {
        found.facts.extend(judged.into_iter().map(Judged::into_fact));
    }
}

/// The dialects a text is read in: the one it is known to be in, or all of them.
fn dialects(named: Option<SqlDialect>, access: SqlAccess) -> Vec<Dialect> {
    let certain = named.is_some();
    SqlDialect::ALL
        .into_iter()
        .filter(|grammar| named.is_none_or(|named| named == *grammar))
        .map(|grammar| Dialect {
            grammar,
            certain,
            access,
        })
        .collect()
}

/// Analyses SQL text: one fact per statement, or one that says why the text could not be read.
pub fn analyse(sql: &str, dialect: Option<SqlDialect>, access: SqlAccess, found: &mut Analysis) {
    match reading::check(sql).and_then(|()| strictest(sql, dialect, access)) {
        Ok(judged) => found.facts.extend(judged.into_iter().map(Judged::into_fact)),
        Err(unread) => found.facts.push(unreadable(unread)),
    }
}

/// What all possible dialects together make of the text.
fn strictest(sql: &str, dialect: Option<SqlDialect>, access: SqlAccess) -> Result<Vec<Judged>, SqlConcern> {
    let readings = dialects(dialect, access)
        .into_iter()
        .map(|dialect| reading::read(sql, dialect));
    let readings: Vec<Reading> = readings.collect::<Result<_, _>>()?;
    // A bare backtick is no part of PostgreSQL: that server refuses the text as a whole, so it cannot be the one meant.
    let readings: Vec<Reading> = readings
        .into_iter()
        .filter(|reading| dialect.is_some() || !reading.stray_backtick)
        .collect();
    let first = readings.first().map(|first| first.live.clone());
    // Whether strings and comments begin and end at the same places for all of them.
    let same_tokens = readings
        .iter()
        .all(|reading| first.as_ref() == Some(&reading.live));
    let (followed, refused): (Vec<_>, Vec<_>) = readings
        .into_iter()
        .map(|reading| reading.text)
        .partition(Result::is_ok);
    let mut refused = refused.into_iter().filter_map(Result::err);
    match (followed.is_empty(), refused.next()) {
        (true, refused) => Err(refused.unwrap_or(SqlConcern::Ambiguous)),
        (false, Some(_)) if !same_tokens => Err(SqlConcern::Ambiguous),
        (false, _) => merge(followed.iter().flatten().map(effect::judge_all)),
    }
}

/// Statement by statement the stricter of what the dialects say; they must agree on what the statements are.
fn merge(mut readings: impl Iterator<Item = Vec<Judged>>) -> Result<Vec<Judged>, SqlConcern> {
    let first = readings.next().ok_or(SqlConcern::Empty)?;
    readings.try_fold(first, |left, right| {
        let agree = left.len() == right.len() && left.iter().zip(&right).all(|(l, r)| l.verb() == r.verb());
        if !agree {
            return Err(SqlConcern::Ambiguous);
        }
        Ok(left.into_iter().zip(right).map(|(l, r)| l.stricter(r)).collect())
    })
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
                verb: self.verb().to_owned(),
                also: self.also().into_iter().collect(),
                category: self.category,
                tables: self.tables.into_iter().collect(),
                text: self.text,
            },
            risk: self.risk,
            why: self.why.map(Why::Sql),
        }
    }
}

#[cfg(test)]
mod tests;
