//! What a call does in a code with parameters: the title of its question. `messages/*/codes.toml` has the sentences.

use serde::{Deserialize, Serialize};

/// What a call does, and to what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Act {
    /// The code.
    pub act: ActCode,
    /// What it is done to, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
    /// Where to, where the sentence says so: an environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The program that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    /// How many other commands of the line do more than read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
}

/// What is done. Records in `programs.toml` name it.
#[expect(missing_docs, reason = "`messages/en/codes.toml` says each variant in words")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActCode {
    Push,
    PushCurrent,
    ForcePush,
    ForcePushCurrent,
    DeleteRemote,
    Commit,
    Amend,
    DiscardTo,
    DiscardAll,
    DiscardFiles,
    Clean,
    Merge,
    Rebase,
    Clone,
    Delete,
    CreateFolder,
    Copy,
    Move,
    ChangeMode,
    ChangeOwner,
    Install,
    InstallAll,
    Uninstall,
    Update,
    UpdateAll,
    Publish,
    SendMail,
    Deploy,
    DeployTo,
}

impl ActCode {
    /// How many things it must be done to for the sentence to be whole.
    pub const fn of_min(self) -> usize {
        match self {
            Self::PushCurrent
            | Self::ForcePushCurrent
            | Self::Commit
            | Self::Amend
            | Self::DiscardAll
            | Self::Clean
            | Self::InstallAll
            | Self::UpdateAll
            | Self::Publish => 0,
            Self::Copy | Self::Move | Self::ChangeMode | Self::ChangeOwner | Self::DeleteRemote => 2,
            Self::Push
            | Self::ForcePush
            | Self::DiscardTo
            | Self::DiscardFiles
            | Self::Merge
            | Self::Rebase
            | Self::Clone
            | Self::Delete
            | Self::CreateFolder
            | Self::Install
            | Self::Uninstall
            | Self::Update
            | Self::SendMail
            | Self::Deploy
            | Self::DeployTo => 1,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}
