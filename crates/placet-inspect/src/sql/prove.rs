//! Whether each part of a statement is known to only read. A part that no arm names is not.

use placet_core::analysis::SqlConcern;
use placet_core::tool::{Risk, SqlDialect};
use sqlparser::ast::{
    AccessExpr, BinaryOperator, DataType, Expr, Function, FunctionArgumentClause, FunctionArguments, Ident,
    Query, Select, SelectFlavor, SelectItem, TableFactor,
};

use super::known::{self, Dialect};
use super::names;

/// Why a part is not known to only read, and how bad that is.
type Unproven = (Risk, SqlConcern);

pub(super) fn unproven(what: &(impl ToString + ?Sized)) -> Unproven {
    let what = what.to_string();
    (Risk::Medium, SqlConcern::Unproven { what })
}

/// The first word of it names it; the rest is shown with the statement.
fn unknown(what: &impl ToString) -> Unproven {
    let what = what.to_string();
    let head = what.split([' ', '(']).next().filter(|head| !head.is_empty());
    unproven(head.unwrap_or(&what))
}

/// An expression without what is nested in it. Its operators were looked at where the text was split into tokens.
pub(super) fn expr(expr: &Expr, dialect: Dialect) -> Option<Unproven> {
    match expr {
        Expr::Function(called) => function(called, dialect),
        Expr::BinaryOp { op, .. } => operator(op, dialect),
        Expr::Cast { data_type, .. }
        | Expr::Convert {
            data_type: Some(data_type),
            ..
        } => cast(data_type, dialect),
        Expr::TypedString(typed) => cast(&typed.data_type, dialect),
        Expr::CompoundIdentifier(_) if dialect.calls_attributes() => {
            let name = expr.to_string();
            Some((Risk::Medium, SqlConcern::MayCall { name }))
        }
        // `t.tags[1]` is a part of a column. `(t).f` is not known to be one.
        Expr::CompoundFieldAccess { root, access_chain } => {
            let of_column = !names::column(root).is_empty() && !dialect.calls_attributes();
            let in_name =
                |access: &&AccessExpr| of_column && matches!(access, AccessExpr::Dot(Expr::Identifier(_)));
            let mut beyond = access_chain.iter().skip_while(in_name);
            beyond
                .find(|access| matches!(access, AccessExpr::Dot(_)))
                .map(unproven)
        }
        Expr::CompoundIdentifier(_)
        | Expr::Identifier(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Between { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::RLike { .. }
        | Expr::AnyOp { .. }
        | Expr::UnaryOp { .. }
        | Expr::Convert { data_type: None, .. }
        | Expr::AtTimeZone { .. }
        | Expr::Extract { .. }
        | Expr::Ceil { .. }
        | Expr::Floor { .. }
        | Expr::Position { .. }
        | Expr::Substring { .. }
        | Expr::Trim { .. }
        | Expr::Collate { .. }
        | Expr::Nested(_)
        | Expr::Value(_)
        | Expr::Case { .. }
        | Expr::Exists { .. }
        | Expr::Subquery(_)
        | Expr::GroupingSets(_)
        | Expr::Cube(_)
        | Expr::Rollup(_)
        | Expr::Tuple(_)
        | Expr::Array(_)
        | Expr::Interval(_)
        | Expr::MatchAgainst { .. }
        | Expr::Wildcard(_)
        | Expr::QualifiedWildcard(..) => None,
        other => Some(unknown(other)),
    }
}

fn function(called: &Function, dialect: Dialect) -> Option<Unproven> {
    let returning = match &called.args {
        FunctionArguments::List(list) => list.clauses.iter().find_map(|clause| match clause {
            FunctionArgumentClause::JsonReturningClause(returning) => cast(&returning.data_type, dialect),
            _ => None,
        }),
        _ => None,
    };
    let foreign = called.uses_odbc_syntax || called.parameters != FunctionArguments::None;
    known::function(&called.name, dialect)
        .or(returning)
        .or_else(|| foreign.then(|| unproven(&called.name)))
}

/// Operators that are more than their characters: `OPERATOR(schema.+)`, and MySQL's assignment to a variable.
fn operator(op: &BinaryOperator, dialect: Dialect) -> Option<Unproven> {
    let is_known = match op {
        BinaryOperator::PGCustomBinaryOperator(parts) => match parts.as_slice() {
            [schema, operator] => schema == "pg_catalog" && known::operator(operator, dialect),
            _ => false,
        },
        BinaryOperator::Assignment => false,
        _ => true,
    };
    (!is_known).then(|| unproven(op))
}

fn cast(data_type: &DataType, dialect: Dialect) -> Option<Unproven> {
    (!known::data_type(data_type, dialect)).then(|| unproven(data_type))
}

/// Something to read from. `AS t(a my_type)` casts as it reads.
pub(super) fn table(table: &TableFactor, dialect: Dialect) -> Option<Unproven> {
    let called = match table {
        TableFactor::Table {
            name, args: Some(_), ..
        }
        | TableFactor::Function { name, .. } => known::function(name, dialect),
        TableFactor::Table { .. }
        | TableFactor::Derived { .. }
        | TableFactor::NestedJoin { .. }
        | TableFactor::UNNEST { .. } => None,
        // MySQL has no types of users.
        TableFactor::JsonTable { .. } if dialect.grammar == SqlDialect::Mysql => None,
        other => Some(unknown(other)),
    };
    let columns = names::alias(table).into_iter().flat_map(|alias| &alias.columns);
    let mut types = columns.filter_map(|column| column.data_type.as_ref());
    called.or_else(|| types.find_map(|data_type| cast(data_type, dialect)))
}

/// The clauses of a query that none of the three databases has.
pub(super) fn query(query: &Query) -> Option<Unproven> {
    let is_foreign = query.for_clause.is_some()
        || query.settings.is_some()
        || query.format_clause.is_some()
        || !query.pipe_operators.is_empty();
    is_foreign.then(|| unproven("SELECT"))
}

/// The clauses of a `SELECT` that none of the three databases has, and what only looks like a label.
pub(super) fn select(select: &Select, dialect: Dialect) -> Option<Unproven> {
    let is_foreign = !select.optimizer_hints.is_empty()
        || select.top.is_some()
        || select.exclude.is_some()
        || !select.lateral_views.is_empty()
        || select.prewhere.is_some()
        || !select.connect_by.is_empty()
        || !select.cluster_by.is_empty()
        || !select.distribute_by.is_empty()
        || !select.sort_by.is_empty()
        || select.qualify.is_some()
        || select.value_table_mode.is_some()
        || select.flavor != SelectFlavor::Standard;
    is_foreign.then(|| unproven("SELECT")).or_else(|| {
        // PostgreSQL has no labels in single quotes: `my_type 'x'` is a cast.
        let is_cast =
            |alias: &Ident| dialect.grammar == SqlDialect::Postgresql && alias.quote_style == Some('\'');
        let mut casts = select.projection.iter().filter_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if is_cast(alias) => Some(unproven(expr)),
            _ => None,
        });
        casts.next()
    })
}
