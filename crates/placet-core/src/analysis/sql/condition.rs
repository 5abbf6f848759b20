//! Whether a condition is proved to pick out rows. What is not proved counts as no condition at all.
//!
//! The proof is one comparison between a column of the changed table and something that does not mention that column. Negations
//! exclude rows instead of picking them, and regular expressions may fit every text, so neither proves anything.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, FromTable, Ident, Statement, Value, Visit, visit_expressions};

use super::names;

/// Whether the condition of `statement` picks out rows of the table that the statement changes.
pub(super) fn picks_rows(condition: &Expr, statement: &Statement) -> bool {
    let changed = match statement {
        Statement::Delete(delete) if delete.using.is_some() => {
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
            Changed::Beside(from.first().and_then(|table| names::called(&table.relation)))
        }
        Statement::Update(update) if update.from.is_some() => {
            Changed::Beside(names::called(&update.table.relation))
        }
        _ => Changed::Alone,
    };
    changed.is_limited_by(condition)
}

/// The table that a statement changes.
enum Changed {
    /// The statement names no other table beside it, so every column counts.
    Alone,
    /// Other tables are read beside it; only columns with its name before them count.
    Beside(Option<String>),
}

impl Changed {
    fn is_limited_by(&self, condition: &Expr) -> bool {
        use BinaryOperator::{And, Eq, Gt, GtEq, Lt, LtEq, Or, Spaceship};
        match condition {
            Expr::Nested(inner) => self.is_limited_by(inner),
            Expr::BinaryOp { left, op: And, right } => self.is_limited_by(left) || self.is_limited_by(right),
            Expr::BinaryOp { left, op: Or, right } => self.is_limited_by(left) && self.is_limited_by(right),
            Expr::BinaryOp {
                left,
                op: Eq | Gt | GtEq | Lt | LtEq | Spaceship,
                right,
            } => self.compares(left, right) || self.compares(right, left),
            Expr::AnyOp {
                left,
                compare_op: Eq,
                right,
                ..
            } => self.compares(left, right),
            Expr::InList {
                expr,
                list,
                negated: false,
            } => self.compares(expr, list),
            Expr::InSubquery {
                expr,
                subquery,
                negated: false,
            } => self.compares(expr, subquery),
            Expr::Between {
                expr,
                negated: false,
                low,
                high,
            } => self.compares(expr, low) && self.compares(expr, high),
            Expr::Like {
                expr,
                negated: false,
                pattern,
                ..
            }
            | Expr::ILike {
                expr,
                negated: false,
                pattern,
                ..
            } => has_letters(pattern) && self.compares(expr, pattern),
            Expr::IsNull(expr) => self.compares(expr, &None::<Expr>),
            _ => false,
        }
    }

    /// Whether `column` is a column of the table, and `other` does not mention it.
    fn compares(&self, column: &Expr, other: &impl Visit) -> bool {
        if let Expr::Nested(inner) = column {
            return self.compares(inner, other);
        }
        let column = names::column(column);
        let is_own = match (self, column) {
            (_, []) => false,
            (Self::Alone, _) => true,
            (Self::Beside(Some(table)), [.., qualifier, _]) => qualifier.value.to_lowercase() == *table,
            _ => false,
        };
        let mentioned = visit_expressions(other, |expr| match names::column(expr) {
            name if !name.is_empty() && is_same(column, name) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        is_own && mentioned.is_continue()
    }
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
