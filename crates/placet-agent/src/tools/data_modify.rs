//! `data_modify`: one statement that changes a database. People see how many rows it would touch, and that is what it touches.
//! A statement that was judged to only read was allowed as a read, so it runs as one: in a read-only transaction.

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::Value;

use super::Tool;
use super::database::Databases;

/// Changes databases.
#[derive(Debug, Clone)]
pub struct DataModify {
    databases: Databases,
    description: String,
}

impl DataModify {
    /// Changes these.
    pub fn new(databases: Databases) -> Self {
        let what = "Runs one SQL statement that changes rows or structure, in a transaction of its own, and returns how many rows \
                    it touched.";
        Self {
            description: databases.described(what),
            databases,
        }
    }
}

#[async_trait]
impl Tool for DataModify {
    fn name(&self) -> &'static str {
        "data_modify"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn category(&self) -> Category {
        Category::Write
    }

    fn schema(&self) -> Value {
        self.databases.schema()
    }

    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        let (database, sql) = self.databases.of(&call.args)?;
        Ok(vec![Evidence::Rows {
            statement: sql.to_owned(),
            count: database.preview(sql).await?,
        }])
    }

    async fn run(&self, call: &ToolCall, shown: &[Evidence]) -> Result<String, String> {
        let (database, sql) = self.databases.of(&call.args)?;
        if database.judge(sql)? == Category::Read {
            return Ok(database.query(sql).await?.text());
        }
        let agreed = shown.iter().find_map(|evidence| match evidence {
            Evidence::Rows { statement, count } if statement == sql => Some(*count),
            _ => None,
        });
        let touched = database.modify(sql, agreed).await?;
        Ok(format!("{touched} rows"))
    }
}
