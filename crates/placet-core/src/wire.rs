//! Shapes of the HTTP contract that the server and the client share, so that neither holds a copy.
//!
//! The server makes `/openapi.json` from them (feature `schema`). [`local`] is not part of the published contract: it is
//! spoken only on the socket of a data folder.

pub mod answer;
pub mod local;
pub mod run;
