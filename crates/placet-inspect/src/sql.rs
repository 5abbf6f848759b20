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
//! `t.f` is a column: PostgreSQL calls `f(t)` where `t` has no column `f`. Where such a call could write, a qualified name counts as
//! a call; a server that takes no writes refuses what the call would change.

mod condition;
mod effect;
mod known;
mod names;
mod parse;
mod prove;

use placet_core::analysis::{Analysis, Fact, FactKind, SqlConcern, Why};
use placet_core::tool::{Risk, SqlAccess, SqlDialect};

use self::effect::Judged;
use self::known::Dialect;
use self::parse::Reading;

/// The one verb of two words that analysis gives.
const SELECT_INTO: &str = "SELECT INTO";

/// Whether a statement can have this verb, so that a rule about `DELTE` is found before it is relied on.
pub(crate) fn is_verb(text: &str) -> bool {
    text.eq_ignore_ascii_case(SELECT_INTO) || parse::begins_statement(text)
}

/// Adds what a text that may be anything does, if it reads as statements about tables. "Use tabs" reads as one about a database.
pub(crate) fn analyse_if_sql(text: &str, found: &mut Analysis) {
    if parse::check(text).is_err() || parse::is_prose(text) {
        return;
    }
    let is_about = |one: &Judged| known::lists("statements", "about_tables", one.verb());
    if let Ok(judged) = strictest(text, None, SqlAccess::Unrestricted)
        && judged.iter().any(is_about)
    {
        found.facts.extend(judged.into_iter().map(Judged::into_fact));
    }
}

/// Analyses SQL text: one fact per statement, or one that says why the text could not be read.
pub fn analyse(sql: &str, dialect: Option<SqlDialect>, access: SqlAccess, found: &mut Analysis) {
    match parse::check(sql).and_then(|()| strictest(sql, dialect, access)) {
        Ok(judged) => found.facts.extend(judged.into_iter().map(Judged::into_fact)),
        Err(unread) => found.facts.push(unreadable(unread)),
    }
}

/// What all possible dialects together make of the text.
fn strictest(sql: &str, dialect: Option<SqlDialect>, access: SqlAccess) -> Result<Vec<Judged>, SqlConcern> {
    let mut readings: Vec<Reading> = Vec::new();
    for dialect in Dialect::possible(dialect, access) {
        readings.extend(parse::read(sql, dialect)?);
    }
    // Whether strings and comments begin and end at the same places for all of them.
    let mut spans = readings.iter().map(|reading| &reading.live);
    let first = spans.next();
    let same_tokens = spans.all(|other| first == Some(other));
    let (followed, refused): (Vec<_>, Vec<_>) = readings
        .into_iter()
        .map(|reading| reading.text)
        .partition(Result::is_ok);
    match refused.into_iter().find_map(Result::err) {
        Some(refused) if followed.is_empty() => Err(refused),
        Some(_) if !same_tokens => Err(SqlConcern::Ambiguous),
        _ => merge(followed.iter().flatten().map(effect::judge_all)),
    }
}

/// Statement by statement the stricter of what the dialects say; they must agree on what the statements are.
fn merge(mut readings: impl Iterator<Item = Vec<Judged>>) -> Result<Vec<Judged>, SqlConcern> {
    let first = readings.next().ok_or(SqlConcern::Empty)?;
    readings.try_fold(first, |left, right| {
        if !left.iter().map(Judged::verb).eq(right.iter().map(Judged::verb)) {
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
