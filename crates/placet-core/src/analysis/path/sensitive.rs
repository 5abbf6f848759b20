//! Files inside the workspace that are not ordinary: they hold secrets, or they decide what runs next.

use super::super::shell::glob;
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

/// Whether a glob could become a file that is guarded.
pub(in super::super) fn could_be_guarded(glob: &str) -> bool {
    let glob = lowercase(glob);
    let folder = |part: &str| FOLDERS.iter().any(|(name, _)| glob::could_be(part, name));
    let (above, file) = glob.rsplit_once('/').unwrap_or(("", &glob));
    glob.split('/').any(folder)
        || FILES.iter().any(|(name, _)| glob::could_be(file, name))
        || (!glob::is_glob(file) && guard_of_file(file, &above.split('/').collect::<Vec<_>>()).is_some())
}

fn guard_of_folder(name: &str) -> Option<PathConcern> {
    named(FOLDERS, name)
}

fn named(list: &[(&str, PathConcern)], name: &str) -> Option<PathConcern> {
    let found = list.iter().find(|(own, _)| *own == name);
    found.map(|(_, concern)| *concern)
}

fn guard_of_file(file: &str, folders: &[&str]) -> Option<PathConcern> {
    match file {
        _ if file.ends_with(".code-workspace") || file.ends_with(".workflow.toml") => {
            Some(PathConcern::SteersAgents)
        }
        _ if folders.windows(2).any(|pair| *pair == [".github", "workflows"]) => Some(PathConcern::RunsInCi),
        _ if folders.contains(&"fish") || folders.contains(&"autostart") => Some(PathConcern::RunsAtStart),
        _ => placed(PLACED, file, folders).or_else(|| named(FILES, file)),
    }
}

/// What a file, or a folder above it, is guarded for below a certain folder.
fn placed(list: &[(&str, &str, PathConcern)], file: &str, folders: &[&str]) -> Option<PathConcern> {
    let below = |above: &str, name: &str| {
        let mut names = folders
            .iter()
            .chain(std::iter::once(&file))
            .skip_while(|own| **own != above)
            .skip(1);
        names.next().is_some_and(|own| name == "*" || *own == name)
    };
    let found = list.iter().find(|(above, name, _)| below(above, name));
    found.map(|(.., concern)| *concern)
}

#[rustfmt::skip]
const PLACED: &[(&str, &str, PathConcern)] = &[
    (".github", "actions", RunsInCi), (".github", "copilot-instructions.md", SteersAgents), (".github", "instructions", SteersAgents),
    (".cargo", "config", RunsInBuild), (".cargo", "config.toml", RunsInBuild), ("node_modules", ".bin", RunsInBuild),
    (".circleci", "*", RunsInCi), (".buildkite", "*", RunsInCi), (".gitea", "workflows", RunsInCi), (".forgejo", "workflows", RunsInCi),
];

use PathConcern::{RunsAtStart, RunsInBuild, RunsInCi, RunsInGit, SteersAgents};

#[rustfmt::skip]
const FOLDERS: &[(&str, PathConcern)] = &[
    (".git", RunsInGit), (".husky", RunsInGit), (".githooks", RunsInGit), (".placet", SteersAgents), (".claude", SteersAgents),
    (".cursor", SteersAgents), (".codex", SteersAgents), (".gemini", SteersAgents), (".windsurf", SteersAgents),
    (".continue", SteersAgents), (".vscode", SteersAgents), (".idea", SteersAgents), (".devcontainer", SteersAgents),
];

#[rustfmt::skip]
const FILES: &[(&str, PathConcern)] = &[
    (".gitconfig", RunsInGit), (".gitmodules", RunsInGit), (".bashrc", RunsAtStart), (".bash_profile", RunsAtStart),
    (".bash_login", RunsAtStart), (".bash_logout", RunsAtStart), (".bash_aliases", RunsAtStart), (".profile", RunsAtStart),
    (".zshrc", RunsAtStart), (".zshenv", RunsAtStart), (".zprofile", RunsAtStart), (".zlogin", RunsAtStart),
    (".zlogout", RunsAtStart), (".kshrc", RunsAtStart), (".cshrc", RunsAtStart), (".tcshrc", RunsAtStart), (".login", RunsAtStart),
    (".inputrc", RunsAtStart), (".envrc", RunsAtStart), (".vimrc", RunsAtStart), (".exrc", RunsAtStart),
    (".tmux.conf", RunsAtStart), (".screenrc", RunsAtStart), (".xprofile", RunsAtStart), (".xinitrc", RunsAtStart),
    ("config.fish", RunsAtStart), ("placet.toml", SteersAgents), ("workflow.toml", SteersAgents), (".mcp.json", SteersAgents),
    ("mcp.json", SteersAgents), (".claude.json", SteersAgents), (".aider.conf.yml", SteersAgents), (".cursorrules", SteersAgents),
    (".windsurfrules", SteersAgents), (".clinerules", SteersAgents), ("agents.md", SteersAgents), ("claude.md", SteersAgents),
    ("gemini.md", SteersAgents), (".gitattributes", RunsInGit), (".gitlab-ci.yml", RunsInCi), (".travis.yml", RunsInCi),
    (".drone.yml", RunsInCi), ("jenkinsfile", RunsInCi), ("azure-pipelines.yml", RunsInCi), ("bitbucket-pipelines.yml", RunsInCi),
    (".pre-commit-config.yaml", RunsInGit),
];
