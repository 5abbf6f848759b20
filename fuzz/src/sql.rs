//! SQL: what changes anything in any dialect's eyes never passes as a read.

use std::ops::ControlFlow;

use placet_core::analysis::Analysis;
use placet_core::tool::{Category, Risk, SqlAccess, SqlDialect};
use placet_inspect::sql as statements;
use sqlparser::ast::{Statement, visit_statements};
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;

use crate::{Broken, must, text};

/// Whether dialects are named or not: a text in which a parser sees a write is not a read, and one that no parser accepts is
/// HIGH.
pub fn sql(data: &[u8]) -> Result<(), Broken> {
    let text = text(data);
    let mut anybody_writes = false;
    let mut anybody_reads = false;
    for (name, dialect) in [
        (SqlDialect::Sqlite, &SQLiteDialect {} as &dyn Dialect),
        (SqlDialect::Postgresql, &PostgreSqlDialect {}),
        (SqlDialect::Mysql, &MySqlDialect {}),
    ] {
        let parsed = Parser::new(dialect)
            .with_recursion_limit(50)
            .try_with_sql(&text)
            .and_then(|mut parser| parser.parse_statements());
        let writes = parsed.as_ref().is_ok_and(|parsed| writes(parsed));
        anybody_writes |= writes;
        anybody_reads |= parsed.is_ok();
        check(&text, Some(name), writes, parsed.is_ok())?;
    }
    check(&text, None, anybody_writes, anybody_reads)
}

fn check(text: &str, dialect: Option<SqlDialect>, writes: bool, parses: bool) -> Result<(), Broken> {
    let mut found = Analysis::nothing();
    statements::analyse(text, dialect, SqlAccess::ReadOnly, &mut found);
    let harmless = found.risk() < Risk::High
        && found
            .sql_category()
            .is_none_or(|category| category == Category::Read);
    must(!(writes && harmless), || {
        format!("{text:?} writes, but passes as a read ({dialect:?}): {found:?}")
    })?;
    // The parser does not take `PRAGMA table_info(t)` as it stands, which the analysis knows how to read.
    let pragma = text
        .trim_start()
        .get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case("pragma"))
        && !text.contains(';');
    must(parses || pragma || found.risk() == Risk::High, || {
        format!("{text:?} does not parse, but is not HIGH ({dialect:?}): {found:?}")
    })
}

/// Whether anything but a query, at whatever depth, is among the statements. Kept short on purpose: it must be right
/// where the analysis it checks may be wrong.
fn writes(statements: &[Statement]) -> bool {
    let mut statements = statements.to_vec();
    // A plan that is only shown runs nothing.
    statements.retain(|statement| {
        !matches!(
            statement,
            Statement::Explain {
                analyze: false,
                options: None,
                ..
            }
        )
    });
    let looked = visit_statements(&statements, |statement| match statement {
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::Merge(_)
        | Statement::Truncate(_)
        | Statement::Drop { .. }
        | Statement::CreateTable(_)
        | Statement::AlterTable(_)
        | Statement::Grant(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    looked.is_break()
}
