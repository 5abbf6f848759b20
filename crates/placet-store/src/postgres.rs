//! The store on a PostgreSQL server: how connections are made, checked and migrated, and how statements run there.
//!
//! Any number of processes use one database. Writers take turns: each holds one lock from the first statement of a group of
//! commits to its end. So rows get their numbers in the order of their commits and without gaps, a reader that has seen row 7
//! never finds a row 6 later, and writers cannot deadlock. A group costs a few round trips, however many commits it has.

mod connection;
mod listen;
pub(crate) mod schema;
mod server;

pub(crate) use connection::{Connection, Row, Rows, Statement};
pub(crate) use listen::{Open, listen};
pub(crate) use schema::SCHEMA;
pub(crate) use server::Server;
