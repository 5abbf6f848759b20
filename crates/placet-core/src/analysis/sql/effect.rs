//! What a statement would do: the strongest effect found anywhere inside it.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    CopyTarget, Expr, MergeAction, ObjectName, OnConflictAction, OnInsert, Query, Select, SqliteOnConflict,
    Statement, TableFactor, Visit, Visitor,
};

use super::super::why::SqlConcern;
use super::known::{self, Dialect, Explain, Pragma};
use super::reading::Text;
use super::{condition, names, prove};
use crate::tool::{Category, Risk};

/// One statement, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) verb: String,
    /// The other verbs inside it.
    pub(super) also: BTreeSet<String>,
    pub(super) category: Category,
    pub(super) risk: Risk,
    pub(super) why: Option<SqlConcern>,
    pub(super) tables: BTreeSet<String>,
    pub(super) text: String,
}

/// One effect inside a statement.
struct Effect {
    category: Category,
    risk: Risk,
    why: Option<SqlConcern>,
}

/// Judges the statements of one text together: a write that is one of several is HIGH.
pub(super) fn judge_all(text: &Text) -> Vec<Judged> {
    let statements = &text.statements;
    let mut judged: Vec<Judged> = statements
        .iter()
        .map(|statement| judge(statement, text))
        .collect();
    // Transaction control around reads changes nothing; beside a write it decides what becomes of it.
    let changes = judged
        .iter()
        .zip(statements)
        .any(|(one, statement)| one.category > Category::Read && !is_transaction_control(statement));
    if changes && judged.len() > 1 {
        for one in judged
            .iter_mut()
            .filter(|one| one.category > Category::Read && one.risk < Risk::High)
        {
            one.risk = Risk::High;
            one.why = Some(SqlConcern::OneOfSeveral);
        }
    }
    judged
}

fn judge(statement: &Statement, text: &Text) -> Judged {
    let mut effects = Effects {
        found: Vec::new(),
        verbs: Vec::new(),
        tables: BTreeSet::new(),
        executes: Execution::Real,
        dialect: text.dialect,
    };
    effects.explain(statement);
    effects.unproven(text.unknown_operator.as_ref().map(prove::unproven));
    // The visitor never breaks; its result carries nothing.
    let _ = statement.visit(&mut effects);
    let Effects {
        found, verbs, tables, ..
    } = effects;
    let text = statement.to_string();
    let category = found
        .iter()
        .map(|effect| effect.category)
        .max()
        .unwrap_or(Category::Command);
    let risk = found.iter().map(|effect| effect.risk).max().unwrap_or(Risk::High);
    let mut reasons = found
        .into_iter()
        .filter(|effect| effect.risk == risk)
        .map(|effect| effect.why);
    let why = reasons.find_map(|why| why);
    let strongest = verbs.iter().map(|(category, _)| *category).max();
    let verb = verbs
        .iter()
        .find(|(category, _)| Some(*category) == strongest)
        .map_or_else(|| first_word(&text), |(_, verb)| verb.clone());
    let also = verbs.into_iter().map(|(_, other)| other);
    Judged {
        also: also.filter(|other| *other != verb).collect(),
        verb,
        category,
        risk,
        why,
        tables,
        text,
    }
}

/// Whether the statements inside an `EXPLAIN` would run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Execution {
    Real,
    PlanOnly,
}

struct Effects {
    found: Vec<Effect>,
    /// The verb of each statement inside, with its category; the strongest names the whole.
    verbs: Vec<(Category, String)>,
    tables: BTreeSet<String>,
    executes: Execution,
    dialect: Dialect,
}

impl Effects {
    /// Settles whether the statement inside an `EXPLAIN` runs. Any mention of an option counts: `ANALYZE false` is spelled
    /// in many ways.
    fn explain(&mut self, statement: &Statement) {
        let Statement::Explain {
            analyze: false,
            options,
            ..
        } = statement
        else {
            return;
        };
        self.executes = Execution::PlanOnly;
        for option in options.iter().flatten() {
            match known::explain_option(&option.name.value) {
                Explain::Plans => {}
                Explain::Runs => self.executes = Execution::Real,
                Explain::Unknown => {
                    self.executes = Execution::Real;
                    self.unproven(Some(prove::unproven(&option.name)));
                }
            }
        }
    }

    /// What is not known to only read may do anything.
    fn unproven(&mut self, found: Option<(Risk, SqlConcern)>) {
        if let Some((risk, why)) = found {
            self.add(Category::Command, risk, why);
        }
    }

    fn add(&mut self, category: Category, risk: Risk, why: SqlConcern) {
        self.found.push(Effect {
            category,
            risk,
            why: Some(why),
        });
    }

    fn touch(&mut self, table: &ObjectName) {
        if known::holds_credentials(table) {
            let table = table.to_string();
            self.add(Category::Read, Risk::High, SqlConcern::HoldsCredentials { table });
        }
        self.tables.insert(names::plain(table));
    }
}

impl Visitor for Effects {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        let is_explain = matches!(statement, Statement::Explain { .. });
        if self.executes == Execution::Real || is_explain {
            let (verb, effect) = of_statement(statement);
            let category = effect.category;
            self.verbs.push((category, verb));
            let further = further_verbs(statement).into_iter();
            self.verbs.extend(further.map(|verb| (category, verb.to_owned())));
            self.found.push(effect);
        }
        for name in names::not_visited(statement) {
            self.touch(&name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.unproven(prove::query(query));
        if !query.locks.is_empty() {
            self.add(Category::Write, Risk::Medium, SqlConcern::LocksRows);
        }
        for name in names::tables_as_queries(&query.body) {
            self.touch(&name);
            // The parser passes over the two words after it.
            let what = "TABLE".to_owned();
            self.add(Category::Command, Risk::High, SqlConcern::Unproven { what });
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.unproven(prove::select(select, self.dialect));
        if select.into.is_some() {
            self.verbs.push((Category::Command, "SELECT INTO".into()));
            self.add(Category::Command, Risk::High, SqlConcern::StoresElsewhere);
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

/// The verb and the effect of the statement itself, without what is nested in it. What is not named here is HIGH.
fn of_statement(statement: &Statement) -> (String, Effect) {
    let read = |verb: &str| {
        (
            verb.to_owned(),
            Effect {
                category: Category::Read,
                risk: Risk::Low,
                why: None,
            },
        )
    };
    match statement {
        Statement::Query(_) => read("SELECT"),
        Statement::Insert(insert) => {
            let replaces = insert.replace_into || insert.or == Some(SqliteOnConflict::Replace);
            let effect = Effect {
                category: Category::Write,
                risk: Risk::Medium,
                why: None,
            };
            (if replaces { "REPLACE" } else { "INSERT" }.into(), effect)
        }
        Statement::Update(update) => rows("UPDATE", update.selection.as_ref(), statement),
        Statement::Delete(delete) => rows("DELETE", delete.selection.as_ref(), statement),
        Statement::Merge(merge) => rows("MERGE", Some(&merge.on), statement),
        Statement::Explain { .. } | Statement::ExplainTable { .. } => read("EXPLAIN"),
        Statement::Pragma { name, value, is_eq } => {
            let reads = match known::pragma(name) {
                Pragma::Tells => value.is_none() || !is_eq,
                Pragma::Setting => value.is_none(),
                Pragma::Unknown => false,
            };
            let name = known::words(name).pop().unwrap_or_default();
            let (category, risk, why) = if reads {
                (Category::Read, Risk::Low, None)
            } else {
                (Category::Command, Risk::High, Some(SqlConcern::Pragma { name }))
            };
            ("PRAGMA".into(), Effect { category, risk, why })
        }
        Statement::Copy {
            target: CopyTarget::Stdout,
            to: true,
            ..
        } => read("COPY"),
        Statement::ShowFunctions { .. }
        | Statement::ShowVariable { .. }
        | Statement::ShowStatus { .. }
        | Statement::ShowVariables { .. }
        | Statement::ShowCreate { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowDatabases { .. }
        | Statement::ShowProcessList { .. }
        | Statement::ShowSchemas { .. }
        | Statement::ShowCharset(_)
        | Statement::ShowTables { .. }
        | Statement::ShowViews { .. }
        | Statement::ShowCollation { .. } => read("SHOW"),
        other => {
            let verb = first_word(&other.to_string());
            let (risk, why) = if is_transaction_control(other) {
                (Risk::Medium, SqlConcern::Transaction)
            } else {
                (Risk::High, SqlConcern::MoreThanRows { verb: verb.clone() })
            };
            (
                verb,
                Effect {
                    category: Category::Command,
                    risk,
                    why: Some(why),
                },
            )
        }
    }
}

fn rows(verb: &str, condition: Option<&Expr>, statement: &Statement) -> (String, Effect) {
    let others = condition::only_read(statement);
    let (risk, why) = if condition.is_some_and(|condition| condition::limits(condition, &others)) {
        (Risk::Medium, None)
    } else {
        (
            Risk::High,
            Some(SqlConcern::NoCondition {
                verb: verb.to_owned(),
            }),
        )
    };
    (
        verb.into(),
        Effect {
            category: Category::Write,
            risk,
            why,
        },
    )
}

/// What a statement does besides what its first word says, in the words of other statements.
fn further_verbs(statement: &Statement) -> Vec<&'static str> {
    match statement {
        Statement::Insert(insert) => {
            let replaces = insert.replace_into || insert.or == Some(SqliteOnConflict::Replace);
            let updates = match &insert.on {
                Some(OnInsert::OnConflict(conflict)) => {
                    matches!(conflict.action, OnConflictAction::DoUpdate(_))
                }
                Some(_) => true,
                None => false,
            };
            let inserts = replaces.then_some("INSERT");
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

fn is_transaction_control(statement: &Statement) -> bool {
    match statement {
        Statement::StartTransaction {
            statements,
            exception,
            ..
        } => statements.is_empty() && exception.is_none(),
        Statement::Commit { .. }
        | Statement::Rollback { .. }
        | Statement::Savepoint { .. }
        | Statement::ReleaseSavepoint { .. } => true,
        _ => false,
    }
}

fn first_word(text: &str) -> String {
    text.split_whitespace()
        .next()
        .unwrap_or_default()
        .to_ascii_uppercase()
}
