//! Whether a condition is proved to pick out rows. What is not proved counts as no condition at all.
//!
//! The proof is one comparison between a column of the changed table and something that does not mention that column. Negations
//! exclude rows instead of picking them, and regular expressions may fit every text, so neither proves anything.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, FromTable, Ident, Statement, Value, Visit, visit_expressions};

use super::names;

/// Whether the condition of `statement` picks out rows of the table that the statement changes.
pub(super) fn picks_rows(condition: &Expr, statement: &Statement) -> bool {
    // Beside other tables a condition may only be about theirs.
    let is_alone = match statement {
        Statement::Delete(delete) => {
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
            let is_one = matches!(from.as_slice(), [table] if table.joins.is_empty());
            is_one && delete.tables.is_empty() && delete.using.is_none()
        }
        Statement::Update(update) => update.table.joins.is_empty() && update.from.is_none(),
        _ => true,
    };
    is_alone && limits(condition)
}

fn limits(condition: &Expr) -> bool {
    use BinaryOperator::{And, Eq, Gt, GtEq, Lt, LtEq, Or, Spaceship};
    match condition {
        Expr::Nested(inner) => limits(inner),
        Expr::BinaryOp { left, op: And, right } => limits(left) || limits(right),
        Expr::BinaryOp { left, op: Or, right } => limits(left) && limits(right),
        Expr::BinaryOp {
            left,
            op: Eq | Gt | GtEq | Lt | LtEq | Spaceship,
            right,
        } => compares(left, right) || compares(right, left),
        Expr::AnyOp {
            left,
            compare_op: Eq,
            right,
            ..
        } => compares(left, right),
        Expr::InList {
            expr,
            list,
            negated: false,
        } => compares(expr, list),
        Expr::InSubquery {
            expr,
            subquery,
            negated: false,
        } => compares(expr, subquery),
        Expr::Between {
            expr,
            negated: false,
            low,
            high,
        } => compares(expr, low) && compares(expr, high),
        Expr::Like {
            expr,
            negated: false,
            pattern,
            ..
        } => has_letters(pattern) && compares(expr, pattern),
        Expr::IsNull(expr) => compares(expr, &None::<Expr>),
        _ => false,
    }
}

/// Whether `column` is a column, and `other` does not mention it.
fn compares(column: &Expr, other: &impl Visit) -> bool {
    if let Expr::Nested(inner) = column {
        return compares(inner, other);
    }
    let column = names::column(column);
    let mentioned = visit_expressions(other, |expr| match names::column(expr) {
        name if !name.is_empty() && is_same(column, name) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    !column.is_empty() && mentioned.is_continue()
}

/// Whether two names may mean the same column: `t.id` and `id` may.
fn is_same(left: &[Ident], right: &[Ident]) -> bool {
    let mut pairs = left.iter().rev().zip(right.iter().rev());
    pairs.all(|(left, right)| left.value.to_lowercase() == right.value.to_lowercase())
}

/// Whether a `LIKE` pattern is a text of more than wildcards.
fn has_letters(pattern: &Expr) -> bool {
    use Value::{DoubleQuotedString, SingleQuotedString};
    let Expr::Value(value) = pattern else { return false };
    matches!(&value.value, SingleQuotedString(text) | DoubleQuotedString(text) if text.chars().any(|c| !"%_".contains(c)))
}
