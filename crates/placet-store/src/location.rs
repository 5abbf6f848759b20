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
    /// The server of a URL with the scheme `postgres` or `postgresql`, else the file of that path.
    pub fn parse(text: &str) -> Self {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            Self::Server(text.to_owned())
        } else {
            Self::File(PathBuf::from(text))
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

    /// Opens the store to look at it. Changes nothing and disturbs nobody.
    pub async fn look_at(location: &Location) -> Result<Self, OpenError> {
        match location {
            Location::File(path) => Self::open_read_only(path),
            Location::Server(url) => Self::connect_read_only(url).await,
        }
    }
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
        let file = Location::parse("data/placet.db");
        assert_eq!(file, Location::File(PathBuf::from("data/placet.db")));
        let server = Location::parse("postgresql://lin:hunter2@db.example.com:5433/placet?sslmode=require");
        assert_eq!(server.to_string(), "postgres://lin@db.example.com:5433/placet");
        assert!(!format!("{server:?}").contains("hunter2"));
        assert_eq!(
            Location::parse("postgres://a:hunter2@:x/").to_string(),
            "postgres://…"
        );
    }
}
