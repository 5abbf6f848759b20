//! The journal and its projections, on SQLite.
//!
//! One writer thread takes all waiting steps, runs each against what the steps before it left behind, and commits them
//! as a group. A *step* looks through a [`View`] and returns events; the store appends them to the journal and applies
//! them to the projections in the same transaction. Nothing is acknowledged before its commit succeeded.
//!
//! Invariants:
//! - The journal is the only place that holds bodies. Projections point at its rows and can be built again from them.
//! - Every projection of an event is a compare-and-set: an event that cannot have happened writes nothing.
//! - Deciding happens outside (`placet-core`, `placet-engine`); applying never decides.

mod change;
mod checkpoint;
mod clock;
mod error;
pub mod inline;
mod project;
mod read_only;
mod schema;
mod step;
mod store;
mod tail;
mod verify;
mod view;
mod writer;

pub use change::{Change, OutKind, OutState, OutboxItem, Outgoing};
pub use clock::{Clock, SystemClock};
pub use error::{OpenError, StepError, StoreError};
pub use project::place;
pub use read_only::ReadOnly;
pub use step::{Committed, RawRow, Step};
pub use store::{OnCommit, Options, Store};
pub use verify::{Anchor, AnchorError, Finding, FindingKind, Verified, verify_file};
pub use view::{
    Counts, DamagedRow, PendingHere, PendingPage, PendingRow, RunHead, SessionSpan, Surroundings, View,
};
