//! Files inside the workspace that are not ordinary: they hold secrets, or they decide what runs next.

use super::super::why::PathConcern;
use super::super::{lowercase, secret};

/// Why a file is not ordinary. The larger counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sensitive {
    /// Writing it changes what runs later, or what is asked; the reason says which.
    Guarded(PathConcern),
    /// Reading it gives away credentials.
    Secret,
}

/// What is special about a path below the workspace, if anything. Letter case is ignored, because some disks ignore it.
pub(super) fn of(path: &str) -> Option<Sensitive> {
    let path = lowercase(path);
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    let (file, folders) = names.split_last()?;
    let is_secret = |(at, name): (usize, &&str)| {
        let is_below = |folder: &str| names.iter().take(at).any(|above| *above == folder);
        secret::is_name(name, is_below)
    };
    if secret::is_key_file(file) || names.iter().enumerate().any(is_secret) {
        return Some(Sensitive::Secret);
    }
    let guarded_folder = names.iter().find_map(|name| guard_of_folder(name));
    guarded_folder
        .or_else(|| guard_of_file(file, folders))
        .map(Sensitive::Guarded)
}

fn guard_of_folder(name: &str) -> Option<PathConcern> {
    match name {
        ".git" | ".husky" | ".githooks" => Some(PathConcern::RunsInGit),
        ".placet" | ".claude" | ".cursor" | ".codex" | ".gemini" | ".windsurf" | ".continue" | ".vscode"
        | ".idea" | ".devcontainer" => Some(PathConcern::SteersAgents),
        _ => None,
    }
}

fn guard_of_file(file: &str, folders: &[&str]) -> Option<PathConcern> {
    match file {
        ".gitconfig" | ".gitmodules" => Some(PathConcern::RunsInGit),
        ".bashrc" | ".bash_profile" | ".bash_login" | ".bash_logout" | ".bash_aliases" | ".profile"
        | ".zshrc" | ".zshenv" | ".zprofile" | ".zlogin" | ".zlogout" | ".kshrc" | ".cshrc" | ".tcshrc"
        | ".login" | ".inputrc" | ".envrc" | ".vimrc" | ".exrc" | ".tmux.conf" | ".screenrc"
        | ".xprofile" | ".xinitrc" | "config.fish" => Some(PathConcern::RunsAtStart),
        "placet.toml" | "workflow.toml" | ".mcp.json" | "mcp.json" | ".claude.json" | ".aider.conf.yml"
        | ".cursorrules" | ".windsurfrules" => Some(PathConcern::SteersAgents),
        _ if file.ends_with(".code-workspace") || file.ends_with(".workflow.toml") => {
            Some(PathConcern::SteersAgents)
        }
        _ if folders.contains(&"fish") || folders.contains(&"autostart") => Some(PathConcern::RunsAtStart),
        _ => None,
    }
}
