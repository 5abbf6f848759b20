//! Whether a condition picks out rows, or is true of all of them.

use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, SetExpr, UnaryOperator, Value, Visit, Visitor};

/// Whether the condition can tell one row from another. `1 = 1`, `true`, `id = id`, `name LIKE '%'`, `x OR true` and every
/// other condition that looks at no column cannot.
pub(super) fn limits(condition: &Expr) -> bool {
    match condition {
        Expr::Nested(inner) | Expr::IsTrue(inner) | Expr::IsNotFalse(inner) | Expr::IsNotNull(inner) => {
            limits(inner)
        }
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => limits(expr),
        Expr::BinaryOp { left, op, right } => match op {
            BinaryOperator::Or => limits(left) && limits(right),
            BinaryOperator::And => limits(left) || limits(right),
            _ => bare(left) != bare(right) && looks_at_a_column(condition),
        },
        Expr::IsNotDistinctFrom(left, right) => bare(left) != bare(right) && looks_at_a_column(condition),
        Expr::Like { pattern, .. } | Expr::ILike { pattern, .. } => {
            !matches_everything(pattern) && looks_at_a_column(condition)
        }
        Expr::Exists { subquery, .. } => match subquery.body.as_ref() {
            SetExpr::Select(select) => select.selection.as_ref().is_some_and(limits),
            _ => false,
        },
        other => looks_at_a_column(other),
    }
}

fn bare(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

fn matches_everything(pattern: &Expr) -> bool {
    match bare(pattern) {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => {
                !text.is_empty() && text.chars().all(|c| c == '%')
            }
            _ => false,
        },
        _ => false,
    }
}

fn looks_at_a_column(expr: &Expr) -> bool {
    struct Column;
    impl Visitor for Column {
        type Break = ();
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::MatchAgainst { .. } => {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    expr.visit(&mut Column).is_break()
}
