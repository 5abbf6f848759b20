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
        let Ok(plain) = DatabaseUrl::parse(url) else {
            checker.refuse(file.url.span(), PASSWORD, Some(KEEP_IT.to_owned()));
            return None;
        };
        (Some(dialect), plain)
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

/// `[store] url`.
pub(super) fn store_url(url: &Spanned<String>, checker: &mut Checker<'_>) -> Option<DatabaseUrl> {
    match DatabaseUrl::parse(url.get_ref()) {
        Ok(at) if at.may_be(SqlDialect::Postgresql) => Some(at),
        Ok(_) => {
            let help =
                "write `postgres://user@host:5432/database`, or `env:NAME` or `file:PATH` where that is kept"
                    .to_owned();
            checker.refuse(
                url.span(),
                "this is not the address of a PostgreSQL database",
                Some(help),
            );
            None
        }
        Err(PasswordInUrl) => {
            checker.refuse(url.span(), PASSWORD, Some(KEEP_IT.to_owned()));
            None
        }
    }
}

const PASSWORD: &str = "there is a password in this address";
const KEEP_IT: &str = "keep the address in a variable or a file: `env:NAME` or `file:PATH`";

/// An address with a password in it, which others could read where it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{PASSWORD}; {KEEP_IT}")]
pub struct PasswordInUrl;

impl DatabaseUrl {
    /// An address as people write it, or where it is kept.
    pub fn parse(text: &str) -> Result<Self, PasswordInUrl> {
        if let Some(secret) = Secret::parse(text) {
            return Ok(Self::Kept(secret));
        }
        if url::Url::parse(text).is_ok_and(|url| url.password().is_some()) {
            return Err(PasswordInUrl);
        }
        Ok(Self::Plain(text.to_owned()))
    }

    /// Whether the database speaks this, as far as is known without looking.
    fn may_be(&self, dialect: SqlDialect) -> bool {
        match self {
            Self::Plain(url) => {
                let scheme = url.split_once(':').map(|(scheme, _)| scheme);
                scheme.and_then(dialect_of) == Some(dialect)
            }
            Self::Kept(_) => true,
        }
    }
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
    use super::super::{Config, DatabaseUrl, Secret};
    use crate::analysis::tests::uninspected;

    fn load(text: &str) -> Result<Config, String> {
        Config::parse(text, "placet.toml", std::iter::empty(), uninspected())
            .map_err(|error| error.to_string())
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
    fn the_store_is_on_a_server_when_its_address_is_given_without_a_password() {
        let plain = load("[store]\nurl = 'postgres://placet@db:5432/placet'").unwrap();
        let at = DatabaseUrl::Plain("postgres://placet@db:5432/placet".into());
        assert_eq!(plain.store.url, Some(at));
        let kept = load("[store]\nurl = 'env:STORE'").unwrap();
        assert_eq!(
            kept.store.url,
            Some(DatabaseUrl::Kept(Secret::Env("STORE".into())))
        );
        assert!(kept.secrets().contains(&&Secret::Env("STORE".into())));
        for url in [
            "postgres://placet:pw@db/placet",
            "mysql://placet@db/placet",
            "placet.db",
        ] {
            let refused = load(&format!("[store]\nurl = '{url}'")).unwrap_err();
            assert!(!refused.contains("pw@"), "{refused}");
        }
    }
}
