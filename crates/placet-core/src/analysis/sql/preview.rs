//! How many rows would be touched: the question a tool can ask its database before a person is asked.

use sqlparser::ast::{
    Delete, Expr, FromTable, Query, SetExpr, Statement, TableFactor, TableWithJoins, Update,
};

use super::known::Dialect;
use super::{dialects, effect, reading};
use crate::tool::{Category, Risk, SqlDialect};

/// The `SELECT COUNT(*)` for the rows one plain `UPDATE` or `DELETE` would touch. `None` when there is no such query, or
/// none that surely means the same: several tables, `LIMIT`, `RETURNING`, subqueries or functions with effects, dialects
/// that differ.
pub fn preview_count_query(sql: &str, dialect: Option<SqlDialect>) -> Option<String> {
    // What is printed must read back as what was parsed, and backslashes are where printing and reading part.
    if reading::check(sql).is_err() || sql.contains('\\') {
        return None;
    }
    let mut counts = dialects(dialect).into_iter().filter_map(|dialect| {
        let text = reading::read(sql, dialect).ok()?.text.ok()?;
        Some(count_of(&text.statements, dialect))
    });
    let first = counts.next()??;
    counts
        .all(|other| other.as_ref() == Some(&first))
        .then_some(first)
}

fn count_of(statements: &[Statement], dialect: Dialect) -> Option<String> {
    let (table, condition) = match statements {
        [Statement::Update(update)] => plain_update(update)?,
        [Statement::Delete(delete)] => plain_delete(delete)?,
        _ => return None,
    };
    let query = count_query(table, condition, dialect)?;
    let text = query.to_string();
    let reread = reading::read(&text, dialect).ok()?.text.ok()?;
    let harmless = effect::judge_all(&reread)
        .iter()
        .all(|one| one.category == Category::Read && one.risk == Risk::Low);
    let faithful = reread.statements == [Statement::Query(Box::new(query))];
    (faithful && harmless).then_some(text)
}

fn plain_update(update: &Update) -> Option<(&TableWithJoins, Option<&Expr>)> {
    let plain = update.from.is_none()
        && update.returning.is_none()
        && update.output.is_none()
        && update.or.is_none()
        && update.order_by.is_empty()
        && update.limit.is_none();
    (plain && is_one_table(&update.table)).then_some((&update.table, update.selection.as_ref()))
}

fn plain_delete(delete: &Delete) -> Option<(&TableWithJoins, Option<&Expr>)> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let plain = delete.tables.is_empty()
        && delete.using.is_none()
        && delete.returning.is_none()
        && delete.output.is_none()
        && delete.order_by.is_empty()
        && delete.limit.is_none();
    match from.as_slice() {
        [table] if plain && is_one_table(table) => Some((table, delete.selection.as_ref())),
        _ => None,
    }
}

fn is_one_table(table: &TableWithJoins) -> bool {
    table.joins.is_empty() && matches!(table.relation, TableFactor::Table { args: None, .. })
}

/// The counting query with the table and the condition put into its parsed form.
fn count_query(table: &TableWithJoins, condition: Option<&Expr>, dialect: Dialect) -> Option<Query> {
    let template = reading::read("SELECT COUNT(*)", dialect)
        .ok()?
        .text
        .ok()?
        .statements
        .pop()?;
    let Statement::Query(template) = template else {
        return None;
    };
    let mut query = *template;
    let SetExpr::Select(select) = query.body.as_mut() else {
        return None;
    };
    select.from = vec![table.clone()];
    select.selection = condition.cloned();
    Some(query)
}
