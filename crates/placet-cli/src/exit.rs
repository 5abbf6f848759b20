//! What the exit status of `placet` means.

use std::process::ExitCode;

use placet_core::verdict::Decision;

/// How a command ended. The numbers are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done; for `check`: the call may run.
    Success = 0,
    /// `audit verify` found something wrong.
    Findings = 1,
    /// The input, the configuration or a file could not be used; nothing was decided.
    BadInput = 2,
    /// `check`: a person must agree.
    Ask = 3,
    /// `check`: the call must not run.
    Deny = 4,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        self as u8
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
