//! What can go wrong, by what the caller can do about it.

use std::convert::Infallible;
use std::path::PathBuf;

use placet_core::lease::LeaseName;
use placet_core::snapshot::Undecided;

/// Why the store could not do what it was asked. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the database. Trying again may work.
    #[error("the database is locked by another program; close that program or try again")]
    Busy,
    /// The file or its folder cannot be written.
    #[error("the database cannot be written; check the permissions of its file and folder")]
    ReadOnly,
    /// No space is left. Works again once there is.
    #[error("the disk is full; nothing was stored; free some space and try again")]
    Full,
    /// What a step was decided on has changed, or its events contradict what is stored. Loading and deciding again settles a
    /// lost race; a conflict on an unchanged snapshot is damage.
    #[error("a step was decided on an old state: {what}")]
    Conflict {
        /// What does not fit.
        what: String,
    },
    /// Another process has taken the lease that a commit was made under. The caller stops what it did under it.
    #[error("another process has taken the lease `{lease}`")]
    Fenced {
        /// Which lease.
        lease: LeaseName,
    },
    /// The database contradicts itself.
    #[error(
        "the database does not fit together: {what}; run `placet audit verify` and keep a copy of the file"
    )]
    Corrupt {
        /// What does not fit.
        what: String,
    },
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
    /// A read panicked. The store goes on.
    #[error("reading the database panicked")]
    Panicked,
    /// The database server does not answer. If that happened during a commit and the server does not come back soon, the step may
    /// be stored.
    #[error("the database server cannot be reached: {0}")]
    Unreachable(String),
    /// Something else in the machine.
    #[error("the database could not be read or written: {0}")]
    Io(String),
}

/// Why a step had no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepError<E> {
    /// The step itself said no.
    #[error(transparent)]
    Refused(E),
    /// It could not be stored.
    #[error("{0}")]
    Store(StoreError),
}

impl StepError<Infallible> {
    /// For a step that never refuses.
    pub fn into_store_error(self) -> StoreError {
        match self {
            Self::Refused(never) => match never {},
            Self::Store(error) => error,
        }
    }
}

impl<E> From<StoreError> for StepError<E> {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Why the store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("`{0}` is in use by another placet; stop that one first")]
    InUse(PathBuf),
    /// The file was written by a newer Placet.
    #[error("the database has format {found}, and this placet knows up to {known}; use a newer placet")]
    Newer {
        /// The file's format.
        found: u32,
        /// The newest known format.
        known: u32,
    },
    /// The file was written by an older Placet, and only its owner may change its format.
    #[error("the database has format {found}, and this placet needs {known}; start placet on it once")]
    Older {
        /// The file's format.
        found: u32,
        /// The format needed.
        known: u32,
    },
    /// Not ours.
    #[error("`{0}` is not a placet database; move it away or name another file")]
    NotADatabase(PathBuf),
    /// An address that is not one.
    #[error("the store's address cannot be used: {0}; it looks like `postgres://user@host:5432/database`")]
    Address(String),
    /// No server answers.
    #[error(
        "the database server `{server}` cannot be reached: {why}; check that it runs, its address, and `sslmode`"
    )]
    Unreachable {
        /// Its address, without the password.
        server: String,
        /// What the system says.
        why: String,
    },
    /// The server does not let us in.
    #[error("the database server `{server}` refused the connection: {why}")]
    Refused {
        /// Its address, without the password.
        server: String,
        /// What it says.
        why: String,
    },
    /// The server is too old.
    #[error("the database server is PostgreSQL {0}, and placet needs 14 or newer")]
    OldServer(String),
    /// There is a schema of our name with something else in it.
    #[error("the schema `placet` of `{0}` was not made by placet; rename it or name another database")]
    ForeignSchema(String),
    /// There is nothing to look at.
    #[error("`{0}` holds no placet store; start placet on it once")]
    EmptyDatabase(String),
    /// The file or its folder cannot be made or opened.
    #[error("`{path}` cannot be opened: {source}")]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It was opened, but could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StoreError {
    /// Whether the same may work later: the machine or the server is to blame, and not what is stored.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Busy | Self::ReadOnly | Self::Full | Self::Unreachable(_) | Self::Io(_) => true,
            Self::Conflict { .. }
            | Self::Fenced { .. }
            | Self::Corrupt { .. }
            | Self::Closed
            | Self::Panicked => false,
        }
    }

    pub(crate) fn corrupt(what: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into() }
    }

    /// Whether it says that a commit does not fit what is stored. Any other error is not about the commit.
    pub(crate) fn refuses_a_commit(&self) -> bool {
        matches!(
            self,
            Self::Conflict { .. } | Self::Corrupt { .. } | Self::Fenced { .. }
        )
    }

    /// The same as a conflict, where it is about a commit: events that do not fit may have lost a race.
    pub(crate) fn in_commit(self) -> Self {
        match self {
            Self::Corrupt { what } => Self::Conflict { what },
            other => other,
        }
    }
}

impl From<Undecided> for StoreError {
    fn from(undecided: Undecided) -> Self {
        Self::corrupt(undecided.to_string())
    }
}
