//! `[databases.NAME]`: what `sql_query` and `data_modify` may use.

use std::collections::BTreeMap;

use serde_spanned::Spanned;

use super::Secret;
use super::error::Checker;
use super::file::DatabaseFile;
use crate::tool::{Lens, SqlDialect, Tool};

/// A database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// What it speaks. Statements for it are judged as that.
    pub dialect: SqlDialect,
    /// Where it is.
    pub url: DatabaseUrl,
}

/// Where a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// As written; there is no password in it.
    Plain(String),
    /// Kept elsewhere, because it holds a password.
    Kept(Secret),
}

pub(super) fn database(
    name: &Spanned<String>,
    file: &DatabaseFile,
    checker: &mut Checker<'_>,
) -> Option<(String, Database)> {
    let url = file.url.get_ref();
    let (found, at) = if let Some(secret) = Secret::parse(url) {
        (None, DatabaseUrl::Kept(secret))
    } else {
        let scheme = url.split_once(':').map(|(scheme, _)| scheme);
        let Some(dialect) = scheme.and_then(dialect_of) else {
            // Not shown: it may hold a password.
            let help = "write `sqlite:PATH`, or `env:NAME` or `file:PATH` and a `type`".to_owned();
            checker.refuse(file.url.span(), "this is no address of a database", Some(help));
            return None;
        };
        if url::Url::parse(url).is_ok_and(|url| url.password().is_some()) {
            let help = "keep the address in a variable or a file: `env:NAME` or `file:PATH`".to_owned();
            checker.refuse(file.url.span(), "there is a password in this address", Some(help));
            return None;
        }
        (Some(dialect), DatabaseUrl::Plain(url.clone()))
    };
    let said = file.kind.as_ref().map(|kind| *kind.get_ref());
    let dialect = match (said, found) {
        (Some(said), Some(found)) if said != found => {
            let span = file.kind.as_ref().map_or(0..0, Spanned::span);
            checker.refuse(span, "this is not what the address says", None);
            return None;
        }
        (Some(dialect), _) | (None, Some(dialect)) => dialect,
        (None, None) => {
            let help = "statements are judged as \"sqlite\", \"postgresql\" or \"mysql\"".to_owned();
            let message = format!("the database `{}` needs a `type`", name.get_ref());
            checker.refuse(name.span(), message, Some(help));
            return None;
        }
    };
    Some((name.get_ref().clone(), Database { dialect, url: at }))
}

/// What an address speaks, by its scheme.
pub fn dialect_of(scheme: &str) -> Option<SqlDialect> {
    match scheme {
        "sqlite" => Some(SqlDialect::Sqlite),
        "postgres" | "postgresql" => Some(SqlDialect::Postgresql),
        "mysql" | "mariadb" => Some(SqlDialect::Mysql),
        _ => None,
    }
}

/// Judges a built-in tool's statements in the dialect of the database they are for. A dialect the operator gave stays.
pub(super) fn judged_by_name(databases: &BTreeMap<String, Database>, mut tool: Tool) -> Tool {
    if databases.is_empty() {
        return tool;
    }
    let dialects: BTreeMap<String, SqlDialect> = databases
        .iter()
        .map(|(name, database)| (name.clone(), database.dialect))
        .collect();
    for lens in &mut tool.lenses {
        if let Lens::Sql {
            arg, dialect: None, ..
        } = lens
        {
            *lens = Lens::SqlOf {
                arg: std::mem::take(arg),
                database: "database".into(),
                dialects: dialects.clone(),
            };
        }
    }
    tool
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Config;
    use crate::analysis::{Analysis, FixedPlaces, analyse};
    use crate::call::Args;
    use crate::ids::ToolName;
    use crate::tool::Risk;

    fn load(text: &str) -> Result<Config, String> {
        Config::parse(text, "placet.toml", std::iter::empty()).map_err(|error| error.to_string())
    }

    fn judged(config: &Config, database: &str, sql: &str) -> Analysis {
        let tool = config.builtin_tool(&ToolName::new("sql_query").unwrap());
        let args = Args::from_value(json!({ "database": database, "sql": sql })).unwrap();
        analyse(&tool, &args, &FixedPlaces::of_examples())
    }

    #[test]
    fn a_statement_is_judged_in_the_dialect_of_the_database_it_is_for() {
        let config = load(
            "[databases.notes]\nurl = 'postgresql://app@db/notes'\n[databases.shop]\nurl = 'env:SHOP'\ntype = 'mysql'",
        )
        .unwrap();
        let sql = "SELECT $$it's$$ FROM notes";
        assert_eq!(judged(&config, "notes", sql).risk(), Risk::Low);
        for other in ["shop", "unknown"] {
            assert_eq!(judged(&config, other, sql).risk(), Risk::High, "{other}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        for url in ["postgresql://app:hunter2@db/x", "hunter2"] {
            let refused = load(&format!("[databases.x]\nurl = '{url}'")).unwrap_err();
            let (message, _) = refused.split_once('\n').unwrap_or((&refused, ""));
            assert!(!message.contains("hunter2"), "{refused}");
        }
        assert!(load("[databases.x]\nurl = 'postgresql://app@db/x'").is_ok());
    }

    #[test]
    fn an_address_kept_elsewhere_needs_a_type_and_a_type_must_fit_its_address() {
        assert!(
            load("[databases.x]\nurl = 'env:X'")
                .unwrap_err()
                .contains("needs a `type`")
        );
        assert!(
            load("[databases.x]\nurl = 'sqlite:x.db'\ntype = 'mysql'")
                .unwrap_err()
                .contains("not what the address says")
        );
    }

    #[test]
    fn what_must_be_confirmed_is_asked_about_even_where_it_was_said_never_to_be() {
        use crate::policy::Override;
        let config =
            load("[approval.tool_overrides]\ndata_modify = false\n[safety]\nrequire_confirmation = true")
                .unwrap();
        let word = config
            .policy
            .settings()
            .tool_overrides
            .get(&ToolName::new("data_modify").unwrap());
        assert_eq!(word, Some(&Override::Ask));
    }
}
