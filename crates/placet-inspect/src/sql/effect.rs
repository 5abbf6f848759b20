//! What a statement would do: the strongest effect found anywhere inside it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use placet_core::analysis::SqlConcern;
use placet_core::tool::{Category, Risk};
use sqlparser::ast::{
    CopyTarget, Expr, Insert, MergeAction, ObjectName, OnConflictAction, OnInsert, Query, Select,
    SqliteOnConflict, Statement, TableFactor, UtilityOption, Visit, Visitor,
};

use super::known::{self, Dialect};
use super::parse::Text;
use super::{condition, names, prove};

/// One statement, judged: the strongest of the effects found in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judged {
    /// The verb of each statement inside, with its category; the strongest names the whole.
    verbs: Vec<(Category, String)>,
    pub(super) category: Category,
    pub(super) risk: Risk,
    pub(super) why: Option<SqlConcern>,
    pub(super) tables: BTreeSet<String>,
    pub(super) text: String,
}

impl Judged {
    fn add(&mut self, category: Category, risk: Risk, why: Option<SqlConcern>) {
        self.category = self.category.max(category);
        if risk > self.risk {
            (self.risk, self.why) = (risk, why);
        } else if risk == self.risk && self.why.is_none() {
            self.why = why;
        }
    }

    /// What the whole is called.
    pub(super) fn verb(&self) -> &str {
        let strongest = self.verbs.iter().map(|(category, _)| *category).max();
        let mut verbs = self.verbs.iter();
        let named = verbs.find(|(category, _)| Some(*category) == strongest);
        named.map_or("", |(_, verb)| verb)
    }

    /// The other verbs inside it.
    pub(super) fn also(&self) -> BTreeSet<String> {
        let verbs = self.verbs.iter().map(|(_, verb)| verb);
        verbs.filter(|other| *other != self.verb()).cloned().collect()
    }

    /// What two dialects together make of a statement.
    pub(super) fn stricter(mut self, other: Self) -> Self {
        self.verbs.extend(other.verbs);
        self.tables.extend(other.tables);
        if other.risk > self.risk {
            self.text = other.text;
        }
        self.add(other.category, other.risk, other.why);
        self
    }
}

/// Judges the statements of one text together: a write that is one of several is HIGH.
pub(super) fn judge_all(text: &Text) -> Vec<Judged> {
    let judge = |statement| judge(statement, text);
    let mut judged: Vec<Judged> = text.statements.iter().map(judge).collect();
    // Transaction control around reads changes nothing; beside a write it decides what becomes of it.
    let changes = judged
        .iter()
        .any(|one| one.category > Category::Read && !is_transaction_control(&one.text));
    if changes && judged.len() > 1 {
        for one in judged.iter_mut().filter(|one| one.category > Category::Read) {
            one.add(one.category, Risk::High, Some(SqlConcern::OneOfSeveral));
        }
    }
    judged
}

fn judge(statement: &Statement, text: &Text) -> Judged {
    let mut effects = Effects {
        judged: Judged {
            verbs: Vec::new(),
            category: Category::Read,
            risk: Risk::Low,
            why: None,
            tables: BTreeSet::new(),
            text: statement.to_string(),
        },
        plans_only: false,
        dialect: text.dialect,
    };
    effects.explain(statement);
    effects.unproven(text.unknown_operator.as_ref().map(prove::unproven));
    // The visitor never breaks; its result carries nothing.
    let _ = statement.visit(&mut effects);
    effects.judged
}

struct Effects {
    judged: Judged,
    /// Whether an `EXPLAIN` only plans the statements in it.
    plans_only: bool,
    dialect: Dialect,
}

impl Effects {
    /// Settles whether the statement inside an `EXPLAIN` runs: with any option it may, and with an unknown one something else may.
    fn explain(&mut self, statement: &Statement) {
        let Statement::Explain { analyze, options, .. } = statement else {
            return;
        };
        self.plans_only = !analyze && options.is_none();
        let is_known = |option: &&UtilityOption| {
            known::lists("explain", "options", &option.name.value.to_ascii_lowercase())
        };
        let unknown = options.iter().flatten().find(|option| !is_known(option));
        self.unproven(unknown.map(|option| prove::unproven(&option.name)));
    }

    /// What is not known to only read may do anything.
    fn unproven(&mut self, found: Option<(Risk, SqlConcern)>) {
        if let Some((risk, why)) = found {
            self.judged.add(Category::Command, risk, Some(why));
        }
    }

    fn touch(&mut self, table: &ObjectName) {
        if known::holds_credentials(table) {
            let table = table.to_string();
            let why = SqlConcern::HoldsCredentials { table };
            self.judged.add(Category::Read, Risk::High, Some(why));
        }
        self.judged.tables.insert(names::plain(table));
    }
}

impl Visitor for Effects {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        if !self.plans_only || matches!(statement, Statement::Explain { .. }) {
            let (verb, category, risk, why) = of_statement(statement);
            self.judged.add(category, risk, why);
            let further = further_verbs(statement).into_iter().map(str::to_owned);
            let verbs = std::iter::once(verb).chain(further);
            self.judged.verbs.extend(verbs.map(|verb| (category, verb)));
        }
        for name in names::not_visited(statement) {
            self.touch(&name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.unproven(prove::query(query));
        if !query.locks.is_empty() {
            let why = SqlConcern::LocksRows;
            self.judged.add(Category::Write, Risk::Medium, Some(why));
        }
        for name in names::tables_as_queries(&query.body) {
            self.touch(&name);
            // The parser passes over the two words after it.
            let (_, why) = prove::unproven("TABLE");
            self.unproven(Some((Risk::High, why)));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.unproven(prove::select(select, self.dialect));
        if select.into.is_some() {
            let verb = super::SELECT_INTO.to_owned();
            self.judged.verbs.push((Category::Command, verb));
            self.unproven(Some((Risk::High, SqlConcern::StoresElsewhere)));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
        self.unproven(prove::table(table, self.dialect));
        for name in names::behind_only(table) {
            self.touch(&name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.touch(relation);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.unproven(prove::expr(expr, self.dialect));
        ControlFlow::Continue(())
    }
}

/// A verb, with what it does.
type VerbEffect = (String, Category, Risk, Option<SqlConcern>);

/// The verb and the effect of the statement itself, without what is nested in it. What is not named here is HIGH.
fn of_statement(statement: &Statement) -> VerbEffect {
    let read = |verb: &str| (verb.to_owned(), Category::Read, Risk::Low, None);
    match statement {
        Statement::Query(_) => read("SELECT"),
        Statement::Insert(insert) => {
            let verb = if replaces(insert) { "REPLACE" } else { "INSERT" };
            (verb.into(), Category::Write, Risk::Medium, None)
        }
        Statement::Update(update) => rows("UPDATE", update.selection.as_ref(), statement),
        Statement::Delete(delete) => rows("DELETE", delete.selection.as_ref(), statement),
        Statement::Merge(merge) => rows("MERGE", Some(&merge.on), statement),
        Statement::Explain { .. } | Statement::ExplainTable { .. } => read("EXPLAIN"),
        Statement::Pragma { name, value, is_eq } => {
            let tells = known::pragma_tells(name) && !(*is_eq && value.is_some());
            let name = known::pragma_name(name);
            if tells || (known::lists("pragmas", "settings", &name) && value.is_none()) {
                return read("PRAGMA");
            }
            let why = SqlConcern::Pragma { name };
            ("PRAGMA".into(), Category::Command, Risk::High, Some(why))
        }
        Statement::Copy {
            target: CopyTarget::Stdout,
            to: true,
            ..
        } => read("COPY"),
        other => {
            let text = other.to_string();
            let verb = first_word(&text).to_ascii_uppercase();
            if verb == "SHOW" {
                return read("SHOW");
            }
            let (risk, why) = if is_transaction_control(&text) {
                (Risk::Medium, SqlConcern::Transaction)
            } else {
                (Risk::High, SqlConcern::MoreThanRows { verb: verb.clone() })
            };
            (verb, Category::Command, risk, Some(why))
        }
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// A block of statements begins like a transaction, and has semicolons.
fn is_transaction_control(text: &str) -> bool {
    known::lists("statements", "transaction", first_word(text)) && !text.contains(';')
}

fn rows(verb: &str, condition: Option<&Expr>, statement: &Statement) -> VerbEffect {
    let limited = condition.is_some_and(|condition| condition::picks_rows(condition, statement));
    let verb = verb.to_owned();
    let (risk, why) = if limited {
        (Risk::Medium, None)
    } else {
        (Risk::High, Some(SqlConcern::NoCondition { verb: verb.clone() }))
    };
    (verb, Category::Write, risk, why)
}

fn replaces(insert: &Insert) -> bool {
    insert.replace_into || insert.or == Some(SqliteOnConflict::Replace)
}

/// What a statement does besides what its first word says, in the words of other statements.
fn further_verbs(statement: &Statement) -> Vec<&'static str> {
    match statement {
        Statement::Insert(insert) => {
            let updates = match &insert.on {
                Some(OnInsert::OnConflict(conflict)) => {
                    matches!(conflict.action, OnConflictAction::DoUpdate(_))
                }
                on => on.is_some(),
            };
            let inserts = replaces(insert).then_some("INSERT");
            inserts.into_iter().chain(updates.then_some("UPDATE")).collect()
        }
        Statement::Merge(merge) => merge
            .clauses
            .iter()
            .map(|clause| match clause.action {
                MergeAction::Insert(_) => "INSERT",
                MergeAction::Update { .. } => "UPDATE",
                MergeAction::Delete { .. } => "DELETE",
                MergeAction::DoNothing { .. } => "MERGE",
            })
            .collect(),
        _ => Vec::new(),
    }
}
