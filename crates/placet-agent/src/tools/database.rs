//! A database the agent may use, by its name. Every call has a connection of its own: nothing stays open, or locked, between two.
//!
//! The server, too, is made to hold what was judged: it takes one statement at a time, reads are read-only for it, and a change
//! that touches other rows than people were shown is rolled back.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use placet_core::analysis::{Analysis, FactKind};
use placet_core::call::Args;
use placet_core::config::dialect_of;
use placet_core::tool::{Category, SqlAccess, SqlDialect};
use placet_inspect::sql;
use serde_json::{Value, json};

use super::{object, text};

mod count;
mod mysql;
mod postgres;
mod sqlite;
mod table;

pub(super) use table::Table;

/// How long a statement may take.
const TIME_MAX: Duration = Duration::from_mins(1);
/// How long a look at what would happen may take: a person waits for the question.
const PREVIEW_TIME_MAX: Duration = Duration::from_secs(5);

/// A database.
#[derive(Debug, Clone)]
pub struct Database {
    name: String,
    dialect: SqlDialect,
    at: At,
}

#[derive(Debug, Clone)]
enum At {
    Sqlite(sqlite::Sqlite),
    Postgres(Box<postgres::Postgres>),
    Mysql(mysql::Mysql),
    /// The caller is told why.
    Nowhere(String),
}

/// Why an address leads to no database. The address is not repeated: it may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// Nothing here speaks that.
    #[error("the address does not begin with `sqlite:`, `postgresql:` or `mysql:`")]
    Scheme,
    /// It speaks something else than was said.
    #[error("the address is not one of the configured `type`")]
    Dialect,
    /// It cannot be read.
    #[error("the address cannot be read: {0}")]
    Address(String),
}

impl Database {
    /// The database at an address, which must speak `dialect`. Files are relative to the workspace.
    pub fn new(name: &str, dialect: SqlDialect, url: &str, workspace: &Path) -> Result<Self, DatabaseError> {
        let (scheme, rest) = url.split_once(':').ok_or(DatabaseError::Scheme)?;
        if dialect_of(scheme).ok_or(DatabaseError::Scheme)? != dialect {
            return Err(DatabaseError::Dialect);
        }
        let at = match dialect {
            SqlDialect::Sqlite => At::Sqlite(sqlite::Sqlite::new(
                &workspace.join(rest.trim_start_matches("//")),
            )),
            SqlDialect::Postgresql => At::Postgres(Box::new(postgres::Postgres::new(url)?)),
            SqlDialect::Mysql => At::Mysql(mysql::Mysql::new(&format!("mysql:{rest}"))?),
        };
        Ok(Self {
            name: name.to_owned(),
            dialect,
            at,
        })
    }

    /// A database that cannot be used, and why: the caller is told.
    pub fn unusable(name: &str, dialect: SqlDialect, why: impl std::fmt::Display) -> Self {
        Self {
            name: name.to_owned(),
            dialect,
            at: At::Nowhere(format!("the database `{name}` cannot be used: {why}")),
        }
    }

    /// Reads; the database itself refuses everything else. A view, or `t.f` where `f` is a function, may call code that writes.
    pub(super) async fn query(&self, sql: &str) -> Result<Table, String> {
        let read = self.query_within(TIME_MAX, sql).await;
        read.map_err(|error| {
            let said = error.to_lowercase().replace(['-', ' '], "");
            if said.contains("readonly") {
                let hint = "statements that are judged to only read run read-only; write the change itself, and a person is asked";
                format!("{error}\n[nothing was changed: {hint}]")
            } else {
                error
            }
        })
    }

    async fn query_within(&self, time: Duration, sql: &str) -> Result<Table, String> {
        within(time, async {
            match &self.at {
                At::Sqlite(at) => at.query(sql).await,
                At::Postgres(at) => at.query(sql, time).await,
                At::Mysql(at) => at.query(sql, time).await,
                At::Nowhere(why) => Err(why.clone()),
            }
        })
        .await
    }

    /// Changes rows; rolls back when others are touched than people were shown. Returns how many.
    pub(super) async fn modify(&self, sql: &str, shown: Option<u64>) -> Result<u64, String> {
        let agreed = Agreed { rows: shown };
        within(TIME_MAX, async {
            match &self.at {
                At::Sqlite(at) => at.modify(sql, agreed).await,
                At::Postgres(at) => at.modify(sql, agreed, TIME_MAX).await,
                At::Mysql(at) => at.modify(sql, agreed, TIME_MAX).await,
                At::Nowhere(why) => Err(why.clone()),
            }
        })
        .await
        .map_err(|error| format!("{error}\n[nothing was changed, unless this says that it is not known]"))
    }

    /// How many rows a statement would touch, measured in a transaction that is rolled back.
    pub(super) async fn preview(&self, sql: &str) -> Result<u64, String> {
        let no_count = || "how many rows it would touch cannot be counted beforehand".to_owned();
        match self.judge(sql)? {
            Category::Write => {}
            Category::Read => return Ok(0),
            // What else it does may not be possible to roll back.
            Category::Command | Category::Network | Category::Ask => return Err(no_count()),
        }
        if let Some(count) = count::query(sql, self.dialect) {
            let counted = self.query_within(PREVIEW_TIME_MAX, &count).await?;
            return counted.number().ok_or_else(no_count);
        }
        within(PREVIEW_TIME_MAX, async {
            match &self.at {
                At::Sqlite(at) => at.rehearse(sql).await,
                At::Postgres(at) => at.rehearse(sql, PREVIEW_TIME_MAX).await,
                // Not every table there can take a change back.
                At::Mysql(_) => Err(no_count()),
                At::Nowhere(why) => Err(why.clone()),
            }
        })
        .await
    }

    /// What kind of effect one statement has. The error says why it has none, or more than one.
    pub(super) fn judge(&self, sql: &str) -> Result<Category, String> {
        let mut found = Analysis::nothing();
        sql::analyse(sql, Some(self.dialect), SqlAccess::ReadOnly, &mut found);
        match found.facts.as_slice() {
            [fact] => match &fact.kind {
                FactKind::Statement { category, .. } => Ok(*category),
                _ => Err(fact.why.as_ref().map_or_else(
                    || "the statement cannot be read".to_owned(),
                    |why| format!("the statement cannot be read: {why}"),
                )),
            },
            facts => Err(format!(
                "these are {} statements; give one at a time",
                facts.len()
            )),
        }
    }
}

/// What people agreed to, where they were shown a number.
#[derive(Debug, Clone, Copy)]
struct Agreed {
    rows: Option<u64>,
}

impl Agreed {
    /// Refuses a change of other rows.
    fn check(self, touched: u64) -> Result<(), String> {
        match self.rows {
            Some(shown) if shown != touched => Err(format!(
                "rolled back: it touches {touched} rows now, and a person was shown {shown}"
            )),
            _ => Ok(()),
        }
    }
}

async fn within<T>(time: Duration, work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let done = tokio::time::timeout(time, work).await;
    done.unwrap_or_else(|_| {
        Err(format!(
            "stopped after {} seconds; what became of it is not known",
            time.as_secs()
        ))
    })
}

/// The databases of an agent. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Databases(Arc<BTreeMap<String, Database>>);

impl Databases {
    /// These.
    pub fn new(databases: impl IntoIterator<Item = Database>) -> Self {
        let named = databases
            .into_iter()
            .map(|database| (database.name.clone(), database));
        Self(Arc::new(named.collect()))
    }

    /// The database and the statement of a call.
    pub(super) fn of<'a>(&'a self, args: &'a Args) -> Result<(&'a Database, &'a str), String> {
        let name = text(args, "database")?;
        let database = self
            .0
            .get(name)
            .ok_or_else(|| format!("there is no database `{name}`"))?;
        Ok((database, text(args, "sql")?))
    }

    /// The schema of a call.
    pub(super) fn schema(&self) -> Value {
        let names: Vec<&String> = self.0.keys().collect();
        let properties = json!({
            "database": { "enum": names },
            "sql": { "type": "string", "minLength": 1, "description": "One statement, in the database's dialect." },
        });
        object(&["database", "sql"], properties)
    }

    /// What a model is told of a tool for them.
    pub(super) fn described(&self, what: &str) -> String {
        let each = self.0.values().map(|database| {
            let dialect = match database.dialect {
                SqlDialect::Sqlite => "SQLite",
                SqlDialect::Postgresql => "PostgreSQL",
                SqlDialect::Mysql => "MySQL or MariaDB",
            };
            format!("`{}` ({dialect})", database.name)
        });
        format!("{what} Databases: {}.", each.collect::<Vec<_>>().join(", "))
    }
}
