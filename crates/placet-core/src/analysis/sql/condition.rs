//! Whether a condition picks out rows, or is true of all of them.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, FromTable, Ident, ObjectNamePart, SetExpr, Statement, TableFactor, TableWithJoins,
    UnaryOperator, UpdateTableFromKind, Value, Visit, Visitor,
};

/// Whether the condition can tell one row from another. `1 = 1`, `true`, `id = id`, `name LIKE '%'`, `x OR true` and every
/// other condition that looks at no column cannot. Columns of `others`, tables that are only read, do not count.
pub(super) fn limits(condition: &Expr, others: &[String]) -> bool {
    Limits { others }.of(condition, Sense::AsSaid)
}

/// Tables that an `UPDATE` or a `DELETE` only reads, by the names its condition calls them.
pub(super) fn only_read(statement: &Statement) -> Vec<String> {
    let (own, read): (&[TableWithJoins], &[TableWithJoins]) = match statement {
        Statement::Delete(delete) => {
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
            (from, delete.using.as_deref().unwrap_or_default())
        }
        Statement::Update(update) => match &update.from {
            Some(UpdateTableFromKind::AfterSet(from)) => (std::slice::from_ref(&update.table), from),
            _ => (&[], &[]),
        },
        _ => (&[], &[]),
    };
    let own = called(own);
    let mut read = called(read);
    read.retain(|name| !own.contains(name));
    read
}

fn called(tables: &[TableWithJoins]) -> Vec<String> {
    let factors = tables.iter().flat_map(|table| {
        let joined = table.joins.iter().map(|join| &join.relation);
        std::iter::once(&table.relation).chain(joined)
    });
    let name = |factor: &TableFactor| match factor {
        TableFactor::Table {
            alias: Some(alias), ..
        }
        | TableFactor::Derived {
            alias: Some(alias), ..
        } => Some(lower(&alias.name)),
        TableFactor::Table { name, .. } => match name.0.last() {
            Some(ObjectNamePart::Identifier(ident)) => Some(lower(ident)),
            _ => None,
        },
        _ => None,
    };
    factors.filter_map(name).collect()
}

fn lower(ident: &Ident) -> String {
    ident.value.to_lowercase()
}

/// Whether a condition is meant as it is said, or the other way round: `NOT (a AND b)` is `NOT a OR NOT b`.
#[derive(Clone, Copy, PartialEq)]
enum Sense {
    AsSaid,
    Negated,
}

impl Sense {
    fn turned(self) -> Self {
        match self {
            Self::AsSaid => Self::Negated,
            Self::Negated => Self::AsSaid,
        }
    }
}

struct Limits<'a> {
    others: &'a [String],
}

impl Limits<'_> {
    fn of(&self, condition: &Expr, sense: Sense) -> bool {
        match condition {
            Expr::Nested(inner) | Expr::IsTrue(inner) | Expr::IsNotFalse(inner) | Expr::IsNotNull(inner) => {
                self.of(inner, sense)
            }
            Expr::IsFalse(inner) | Expr::IsNotTrue(inner) => self.of(inner, sense.turned()),
            Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            } => self.of(expr, sense.turned()),
            Expr::BinaryOp { left, op, right } => match (op, sense) {
                (BinaryOperator::Or, Sense::AsSaid) | (BinaryOperator::And, Sense::Negated) => {
                    self.of(left, sense) && self.of(right, sense)
                }
                (BinaryOperator::And, Sense::AsSaid) | (BinaryOperator::Or, Sense::Negated) => {
                    self.of(left, sense) || self.of(right, sense)
                }
                _ => !same(left, right) && !matches_by(op, right) && self.looks_at_a_column(condition),
            },
            Expr::IsNotDistinctFrom(left, right) => !same(left, right) && self.looks_at_a_column(condition),
            Expr::Like { pattern, .. } | Expr::ILike { pattern, .. } => {
                !text_of(pattern).is_some_and(is_all_wildcards) && self.looks_at_a_column(condition)
            }
            Expr::RLike { pattern, .. } | Expr::SimilarTo { pattern, .. } => {
                !text_of(pattern).is_some_and(fits_nothing_too) && self.looks_at_a_column(condition)
            }
            Expr::Exists { subquery, .. } => match subquery.body.as_ref() {
                SetExpr::Select(select) => select
                    .selection
                    .as_ref()
                    .is_some_and(|inner| self.of(inner, sense)),
                _ => false,
            },
            other => self.looks_at_a_column(other),
        }
    }

    fn looks_at_a_column(&self, expr: &Expr) -> bool {
        struct Column<'a>(&'a [String]);
        impl Visitor for Column<'_> {
            type Break = ();
            fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
                let is_own = match expr {
                    Expr::Identifier(_) | Expr::MatchAgainst { .. } => true,
                    Expr::CompoundIdentifier(names) => {
                        let table = names.iter().rev().nth(1).map(lower);
                        table.is_none_or(|table| !self.0.contains(&table))
                    }
                    _ => false,
                };
                if is_own {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            }
        }
        expr.visit(&mut Column(self.others)).is_break()
    }
}

/// Whether both sides are the same, so that the comparison says nothing: also `t.id = id`.
fn same(left: &Expr, right: &Expr) -> bool {
    let (left, right) = (bare(left), bare(right));
    let names = |expr: &Expr| -> Option<Vec<String>> {
        match expr {
            Expr::Identifier(name) => Some(vec![lower(name)]),
            Expr::CompoundIdentifier(names) => Some(names.iter().map(lower).collect()),
            _ => None,
        }
    };
    match (names(left), names(right)) {
        (Some(left), Some(right)) => left.iter().rev().zip(right.iter().rev()).all(|(a, b)| a == b),
        _ => left == right,
    }
}

fn bare(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// Whether a text is compared with a pattern that fits every text.
fn matches_by(op: &BinaryOperator, pattern: &Expr) -> bool {
    let text = text_of(pattern);
    match op {
        BinaryOperator::Regexp | BinaryOperator::PGRegexMatch | BinaryOperator::PGRegexIMatch => {
            text.is_some_and(fits_nothing_too)
        }
        BinaryOperator::Glob => {
            text.is_some_and(|text| !text.is_empty() && text.chars().all(|c| matches!(c, '*' | '?')))
        }
        BinaryOperator::PGLikeMatch | BinaryOperator::PGILikeMatch => text.is_some_and(is_all_wildcards),
        _ => false,
    }
}

fn text_of(pattern: &Expr) -> Option<&str> {
    match bare(pattern) {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn is_all_wildcards(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.chars().all(|c| matches!(c, '%' | '_'))
}

/// Whether a regular expression may fit the empty text, and with it every text, or fits any character: nothing in it must be
/// there. Read generously; what fits too much is only asked about.
fn fits_nothing_too(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    let mut must = false;
    while let Some(c) = chars.next() {
        let is_optional = matches!(chars.peek(), Some('*' | '?' | '{'));
        match c {
            '|' => return true,
            '.' | '^' | '$' | '*' | '+' | '?' | '(' | ')' | '%' | '_' => {}
            _ => must |= !is_optional,
        }
    }
    !must
}
