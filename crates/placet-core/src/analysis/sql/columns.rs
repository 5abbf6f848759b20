//! Which qualified names are proved to be columns.
//!
//! PostgreSQL calls `f(t)` for `t.f` where `t` has no column `f`. Only the text can prove that it has one: `t` names its columns
//! (`AS t(f)`), or is a subquery or a common table expression that selects `f`. Scopes are not followed: everything that goes by
//! the name `t`, anywhere in the statement, must have the column.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Ident, ObjectName, Query, SelectItem, SetExpr, Statement, TableAlias, TableFactor, Visit, Visitor,
    With, visit_relations,
};

use super::known::folded;
use super::names;

type Names = BTreeSet<String>;

/// The columns that a statement itself shows.
pub(super) struct Columns {
    /// By the name of what they are columns of, in lower case.
    shown: BTreeMap<String, Names>,
    /// The common table expressions of the outermost query.
    expressions: BTreeMap<String, Names>,
    withs: usize,
    changes: bool,
}

impl Columns {
    pub(super) fn of(statement: &Statement) -> Self {
        let with = outermost(statement).and_then(|query| query.with.as_ref());
        let mut columns = Self {
            shown: BTreeMap::new(),
            expressions: with.map(expressions).unwrap_or_default(),
            withs: 0,
            changes: false,
        };
        // The visitor never breaks; its result carries nothing.
        let _ = statement.visit(&mut columns);
        columns
    }

    /// Whether the name is surely that of a column. A second `WITH` may give a name of the first another meaning, and a changed
    /// table goes by names that are not seen here: both prove nothing.
    pub(super) fn prove(&self, name: &[&Ident]) -> bool {
        let [table, column] = name else { return false };
        let shown = self.shown.get(&table.value.to_lowercase());
        self.withs <= 1 && !self.changes && shown.is_some_and(|shown| shown.contains(&folded(column)))
    }

    fn of_table(&self, table: &TableFactor) -> Names {
        if let Some(alias) = names::alias(table).filter(|alias| !alias.columns.is_empty()) {
            return listed(alias);
        }
        match table {
            TableFactor::Derived { subquery, .. } => selected(&subquery.body),
            TableFactor::Table { name, args: None, .. } => single(name)
                .and_then(|name| self.expressions.get(&name).cloned())
                .unwrap_or_default(),
            _ => Names::new(),
        }
    }
}

impl Visitor for Columns {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        self.changes |= !matches!(statement, Statement::Query(_) | Statement::Explain { .. });
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.withs += usize::from(query.with.is_some());
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        if let Some(name) = names::called(table) {
            let columns = self.of_table(table);
            let shown = self.shown.entry(name).or_insert_with(|| columns.clone());
            shown.retain(|column| columns.contains(column));
        }
        ControlFlow::Continue(())
    }
}

fn outermost(statement: &Statement) -> Option<&Query> {
    match statement {
        Statement::Query(query) => Some(query),
        Statement::Explain { statement, .. } => outermost(statement),
        _ => None,
    }
}

/// The columns of common table expressions. Without `RECURSIVE` an expression does not see itself or later ones: a table of that name
/// in it is another, so the name proves nothing.
fn expressions(with: &With) -> BTreeMap<String, Names> {
    let mut read_before = Names::new();
    let mut expressions = BTreeMap::new();
    for expression in &with.cte_tables {
        let _: ControlFlow<()> = visit_relations(&expression.query, |name| {
            read_before.extend(single(name));
            ControlFlow::Continue(())
        });
        let alias = &expression.alias;
        let name = folded(&alias.name);
        if with.recursive || !read_before.contains(&name) {
            let columns = if alias.columns.is_empty() {
                selected(&expression.query.body)
            } else {
                listed(alias)
            };
            expressions.insert(name, columns);
        }
    }
    expressions
}

fn single(name: &ObjectName) -> Option<String> {
    match name.0.as_slice() {
        [only] => only.as_ident().map(folded),
        _ => None,
    }
}

fn listed(alias: &TableAlias) -> Names {
    alias.columns.iter().map(|column| folded(&column.name)).collect()
}

/// The columns that a query gives names to.
fn selected(body: &SetExpr) -> Names {
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(folded(alias)),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(folded(name)),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => names.last().map(folded),
        _ => None,
    };
    match body {
        SetExpr::Select(select) => select.projection.iter().filter_map(name).collect(),
        SetExpr::Query(query) => selected(&query.body),
        SetExpr::SetOperation { left, .. } => selected(left),
        _ => Names::new(),
    }
}
