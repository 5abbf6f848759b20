//! `sql_query`: reads a database. Only what is surely a read runs, and the database is told so as well.

use async_trait::async_trait;
use placet_core::call::{Args, ToolCall};
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::Value;

use super::Tool;
use super::database::Databases;

/// Reads databases.
#[derive(Debug, Clone)]
pub struct SqlQuery {
    databases: Databases,
    description: String,
}

impl SqlQuery {
    /// Reads these.
    pub fn new(databases: Databases) -> Self {
        let what = "Runs one reading SQL statement and returns the rows, a line of JSON each; at most 200.";
        Self {
            description: databases.described(what),
            databases,
        }
    }
}

#[async_trait]
impl Tool for SqlQuery {
    fn name(&self) -> &'static str {
        "sql_query"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        self.databases.schema()
    }

    /// Only reads ever run here, so nothing else needs approval.
    fn check(&self, args: &Args) -> Result<(), String> {
        let (database, sql) = self.databases.of(args)?;
        match database.judge(sql)? {
            Category::Read => Ok(()),
            _ => Err("this does more than read; use `data_modify`".into()),
        }
    }

    async fn run(&self, call: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        self.check(&call.args)?;
        let (database, sql) = self.databases.of(&call.args)?;
        Ok(database.query(sql).await?.text())
    }
}
