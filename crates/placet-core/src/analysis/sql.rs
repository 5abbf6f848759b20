//! SQL.
use super::Analysis;
use crate::tool::SqlDialect;
/// Analyses SQL text.
pub fn analyse(_sql: &str, _dialect: Option<SqlDialect>, _found: &mut Analysis) {}
