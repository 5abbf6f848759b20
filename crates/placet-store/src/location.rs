//! Where a store is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::OpenError;
use crate::postgres::Server;
use crate::sql::Connection;
use crate::sqlite::{self, schema};
use crate::store::{Options, Store};

/// Where a store is. Shown without a password.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// In a SQLite file.
    File(PathBuf),
    /// In a database of a PostgreSQL server, by its URL.
    Server(String),
}

impl Location {
    /// The server of a URL with the scheme `postgres` or `postgresql`, or the file of a path. What begins like a URL is no path:
    /// servers with a mistyped address would otherwise each make a store of their own.
    pub fn parse(text: &str) -> Result<Self, OpenError> {
        match scheme(text) {
            None if text.is_empty() => Err(OpenError::Address("it is empty".to_owned())),
            None => Ok(Self::File(PathBuf::from(text))),
            Some("postgres" | "postgresql") => {
                Server::new(text, Duration::ZERO)?;
                Ok(Self::Server(text.to_owned()))
            }
            // Nothing else of it is shown: it may hold a password.
            Some(other) => Err(OpenError::Address(format!(
                "`{other}` is no kind of store; a file with a colon in its name is written `./{other}:…`"
            ))),
        }
    }

    /// Opens a connection that writes, and keeps others from it: a file is locked, a server's writers wait.
    pub(crate) fn writer(&self, busy: Duration) -> Result<(Connection, Option<sqlite::Lock>), OpenError> {
        match self {
            Self::File(path) => {
                let lock = sqlite::lock(path)?;
                Ok((schema::open_writer(path, busy)?, Some(lock)))
            }
            Self::Server(url) => Ok((Server::new(url, busy)?.writer()?, None)),
        }
    }

    /// Opens a connection for [`crate::verify`].
    pub(crate) fn verifier(&self, busy: Duration) -> Result<Connection, OpenError> {
        match self {
            Self::File(path) => schema::open_verifier(path, busy),
            Self::Server(url) => Server::new(url, busy)?.verifier(),
        }
    }
}

impl Store {
    /// Opens the store; see [`Store::open`] and [`Store::connect`].
    pub async fn open_at(location: &Location, options: Options) -> Result<Self, OpenError> {
        match location {
            Location::File(path) => Self::open(path, options),
            Location::Server(url) => Self::connect(url, options).await,
        }
    }

    /// Opens the store to look at it. Changes nothing and takes no lock.
    pub async fn look_at(location: &Location) -> Result<Self, OpenError> {
        match location {
            Location::File(path) => Self::open_read_only(path),
            Location::Server(url) => Self::connect_read_only(url).await,
        }
    }
}

/// What stands before the first colon, if a URL could begin like that.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let could_be = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_one = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(could_be);
    is_one.then_some(scheme)
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Server(url) => match Server::new(url, Duration::ZERO) {
                Ok(server) => write!(f, "{server}"),
                Err(_) => f.write_str("postgres://…"),
            },
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_server_by_its_scheme_and_shows_no_password() {
        let file = Location::parse("data/placet.db").unwrap();
        assert_eq!(file, Location::File(PathBuf::from("data/placet.db")));
        let url = "postgresql://lin:hunter2@db.example.com:5433/placet?sslmode=require";
        let server = Location::parse(url).unwrap();
        assert_eq!(server.to_string(), "postgres://lin@db.example.com:5433/placet");
        assert!(!format!("{server:?}").contains("hunter2"));
    }

    #[test]
    fn an_address_with_another_scheme_is_no_file() {
        for text in [
            "mysql://a:hunter2@db/placet",
            "postgress://a:hunter2@db/placet",
            "Postgres://a:hunter2@db/placet",
            "postgres:/a:hunter2@db/placet",
            "postgres://a:hunter2@db:notaport/placet",
            "sqlite:placet.db",
            "",
        ] {
            let error = Location::parse(text).unwrap_err();
            assert!(matches!(error, OpenError::Address(_)), "{text}: {error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
        for path in ["./mysql:x", "/srv/a:b/placet.db", "placet.db", "2024:05.db"] {
            assert_eq!(Location::parse(path).unwrap(), Location::File(path.into()));
        }
    }
}
