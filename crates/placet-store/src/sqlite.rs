//! The store in a SQLite file: how files are opened, locked and migrated, and how statements run there.

mod connection;
mod file;
pub mod inline;
pub(crate) mod schema;

pub(crate) use connection::{Connection, Row, Rows, Statement};
pub(crate) use file::{File, Lock, lock};
