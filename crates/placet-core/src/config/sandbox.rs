//! `[agent.sandbox]`: what confines the commands of the built-in agent.

use serde_spanned::Spanned;

use super::error::Checker;
use super::file::{SandboxFile, SandboxMode};
use crate::confine::Level;

/// `[agent.sandbox]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// How tightly commands are confined; `None` when they are not.
    pub level: Option<Level>,
    /// Folders that confined commands and servers may read besides the workspace and the system's. Absolute, or from `~/`.
    pub read: Vec<String>,
    /// Folders they may write besides the workspace. Absolute, or from `~/`.
    pub write: Vec<String>,
}

impl SandboxMode {
    pub(super) const fn level(self) -> Option<Level> {
        match self {
            Self::Workspace => Some(Level::Workspace),
            Self::ReadOnly => Some(Level::ReadOnly),
            Self::Off => None,
        }
    }
}

pub(super) fn sandbox(file: &SandboxFile, checker: &mut Checker<'_>) -> Sandbox {
    let mut folders = |given: &[Spanned<String>]| {
        for folder in given {
            let text = folder.get_ref();
            if !text.starts_with('/') && !text.starts_with("~/") {
                let message = format!("`{text}` is not an absolute path");
                let help = "begin it with `/`, or with `~/` for the home folder";
                checker.refuse(folder.span(), message, Some(help.into()));
            }
        }
        given.iter().map(|folder| folder.get_ref().clone()).collect()
    };
    Sandbox {
        level: file.mode.unwrap_or(SandboxMode::Workspace).level(),
        read: folders(&file.read),
        write: folders(&file.write),
    }
}
