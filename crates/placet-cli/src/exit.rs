//! What the exit status of `placet` means.

use std::process::ExitCode;

use placet_core::verdict::Decision;

/// How a command ended. The numbers are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; for `check`: the call may run.
    Success,
    /// `audit verify` or `policy test` found something wrong; `policy replay`: a call that a person refused would be allowed;
    /// `run` could not go on.
    Findings,
    /// The input, the configuration or a file could not be used; nothing was decided.
    BadInput,
    /// `check`: a person must agree.
    Ask,
    /// `policy replay`: some past calls would be decided differently.
    Changes,
    /// `inbox answer`: another approver, or the deadline, was faster.
    TooLate,
    /// `check`: the call must not run.
    Deny,
    /// `run`: it waits for people.
    Parked,
    /// `run`: a person ended it.
    Terminated,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Findings => 1,
            Self::BadInput => 2,
            Self::Ask | Self::Changes | Self::TooLate => 3,
            Self::Deny => 4,
            Self::Parked => 5,
            Self::Terminated => 6,
        }
    }
}

impl From<&Decision> for Exit {
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::Allow => Self::Success,
            Decision::Ask(_) => Self::Ask,
            Decision::Deny => Self::Deny,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
