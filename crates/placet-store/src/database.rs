//! What a store runs on: where its connections come from.

use crate::error::OpenError;
use crate::sql::Connection;
use crate::{postgres, sqlite};

/// A database that connections can be opened to.
#[derive(Clone)]
pub(crate) enum Database {
    /// A SQLite file.
    File(sqlite::File),
    /// A database on a PostgreSQL server.
    Server(Box<postgres::Server>),
}

impl Database {
    /// A connection that only reads.
    pub(crate) fn reader(&self) -> Result<Connection, OpenError> {
        match self {
            Self::File(file) => file.reader(),
            Self::Server(server) => server.reader(),
        }
    }

    /// A connection to compare everything with what this version would have written.
    pub(crate) fn verifier(&self) -> Result<Connection, OpenError> {
        match self {
            Self::File(file) => file.verifier(),
            Self::Server(server) => server.verifier(),
        }
    }
}
