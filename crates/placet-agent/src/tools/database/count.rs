//! The `SELECT COUNT(*)` for the rows that one plain `UPDATE` or `DELETE` would touch.

use placet_core::analysis::{Analysis, FactKind};
use placet_core::tool::{Category, Risk, SqlAccess, SqlDialect};
use placet_inspect::sql;
use sqlparser::ast::{Expr, FromTable, SetExpr, Statement, TableFactor, TableWithJoins};
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::{Parser, ParserOptions};

/// The query for a statement that was judged to be a write. `None` when there is no such query, or none that surely means the same:
/// several tables, `LIMIT`, `RETURNING`, functions that are not known.
pub(super) fn query(sql: &str, dialect: SqlDialect) -> Option<String> {
    // What is printed must read back as what was parsed, and backslashes are where printing and reading part.
    if sql.contains('\\') {
        return None;
    }
    let statement = parsed(sql, dialect)?;
    let (plain, table, condition) = plain_change(&statement)?;
    let filter = condition.map_or_else(String::new, |condition| format!(" WHERE {condition}"));
    // Whatever else is in the statement is printed too: then they differ.
    if statement.to_string() != plain + &filter {
        return None;
    }
    let count = format!("SELECT COUNT(*) FROM {table}{filter}");
    let mut found = Analysis::nothing();
    sql::analyse(&count, Some(dialect), SqlAccess::ReadOnly, &mut found);
    let is_read =
        |kind: &FactKind| matches!(kind, FactKind::Statement { category, .. } if *category == Category::Read);
    let harmless = found.risk() == Risk::Low && found.facts.iter().all(|fact| is_read(&fact.kind));
    let faithful = match parsed(&count, dialect)? {
        Statement::Query(query) => match *query.body {
            SetExpr::Select(select) => {
                select.from == std::slice::from_ref(table) && select.selection.as_ref() == condition
            }
            _ => false,
        },
        _ => false,
    };
    (faithful && harmless).then_some(count)
}

fn parsed(sql: &str, dialect: SqlDialect) -> Option<Statement> {
    let grammar: &dyn Dialect = match dialect {
        SqlDialect::Sqlite => &SQLiteDialect {},
        SqlDialect::Postgresql => &PostgreSqlDialect {},
        SqlDialect::Mysql => &MySqlDialect {},
    };
    // Strings stay as written, so that what is printed is what was sent.
    let options = ParserOptions::new().with_unescape(false);
    let mut parser = Parser::new(grammar)
        .with_options(options)
        .try_with_sql(sql)
        .ok()?;
    let mut statements = parser.parse_statements().ok()?;
    let statement = statements.pop()?;
    statements.is_empty().then_some(statement)
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

#[cfg(test)]
mod tests;
