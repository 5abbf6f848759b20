//! How many rows would be touched: the question a tool can ask its database before a person is asked.

use placet_core::tool::{Category, Risk, SqlAccess, SqlDialect};
use sqlparser::ast::{Expr, FromTable, SetExpr, Statement, TableFactor, TableWithJoins};

use super::known::Dialect;
use super::{effect, parse};

/// The `SELECT COUNT(*)` for the rows one plain `UPDATE` or `DELETE` would touch, to be run read-only. `None` when there is no
/// such query, or none that surely means the same: several tables, `LIMIT`, `RETURNING`, subqueries or functions with effects,
/// dialects that differ.
pub fn preview_count_query(sql: &str, dialect: Option<SqlDialect>) -> Option<String> {
    // What is printed must read back as what was parsed, and backslashes are where printing and reading part.
    if parse::check(sql).is_err() || sql.contains('\\') {
        return None;
    }
    let mut counts = Dialect::possible(dialect, SqlAccess::ReadOnly).filter_map(|dialect| {
        let text = parse::read(sql, dialect).ok()??.text.ok()?;
        Some(count_of(&text.statements, dialect))
    });
    let first = counts.next()??;
    counts
        .all(|other| other.as_ref() == Some(&first))
        .then_some(first)
}

fn count_of(statements: &[Statement], dialect: Dialect) -> Option<String> {
    let [statement] = statements else { return None };
    let (plain, table, condition) = plain_change(statement)?;
    let filter = condition.map_or_else(String::new, |condition| format!(" WHERE {condition}"));
    // Whatever else is in the statement is printed too: then they differ.
    if statement.to_string() != plain + &filter {
        return None;
    }
    let count = format!("SELECT COUNT(*) FROM {table}{filter}");
    let reread = parse::read(&count, dialect).ok()??.text.ok()?;
    let harmless = effect::judge_all(&reread)
        .iter()
        .all(|one| one.category == Category::Read && one.risk == Risk::Low);
    let faithful = match reread.statements.as_slice() {
        [Statement::Query(query)] => match query.body.as_ref() {
            SetExpr::Select(select) => {
                select.from == std::slice::from_ref(table) && select.selection.as_ref() == condition
            }
            _ => false,
        },
        _ => false,
    };
    (faithful && harmless).then_some(count)
}

/// How a change of one table is printed up to its condition, with the table and the condition.
fn plain_change(statement: &Statement) -> Option<(String, &TableWithJoins, Option<&Expr>)> {
    let (plain, table, condition) = match statement {
        Statement::Update(update) => {
            let set: Vec<String> = update.assignments.iter().map(ToString::to_string).collect();
            let plain = format!("UPDATE {} SET {}", update.table, set.join(", "));
            (plain, &update.table, update.selection.as_ref())
        }
        Statement::Delete(delete) => match &delete.from {
            FromTable::WithFromKeyword(from) if from.len() == 1 => {
                let table = from.first()?;
                (format!("DELETE FROM {table}"), table, delete.selection.as_ref())
            }
            _ => return None,
        },
        _ => return None,
    };
    let is_one = table.joins.is_empty() && matches!(table.relation, TableFactor::Table { args: None, .. });
    is_one.then_some((plain, table, condition))
}
