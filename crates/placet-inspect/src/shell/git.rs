//! Git: whether reading a repository runs nothing.
//!
//! Git runs programs that its configuration names (a pager, a file-system monitor, drivers for diffs and filters) and hooks of the
//! repository. So a command that only reads counts as harmless only where every setting is one that is known to run nothing.

use super::programs::Git;
use super::working_folder::WorkingFolder;
use crate::Site;

/// Whether commands that read the workspace's repository run no program but git, from wherever the shell stands.
pub(super) fn runs_nothing(working_folder: &WorkingFolder, places: Site<'_>) -> bool {
    let WorkingFolder::In(folders) = working_folder else {
        return false;
    };
    folders.iter().all(|folder| is_in_own_repository(folder, places)) && is_quiet_repository(places)
}

/// Whether git finds the workspace's repository from `folder`, and none in between: a folder with a `.git`, or one that looks like the
/// inside of a repository.
fn is_in_own_repository(folder: &str, places: Site<'_>) -> bool {
    let Some(below) = folder.strip_prefix(places.workspace()) else {
        return false;
    };
    let mut path = places.workspace().to_owned();
    below.split('/').filter(|name| !name.is_empty()).all(|name| {
        path.push('/');
        path.push_str(name);
        places.is_absent(&format!("{path}/.git")) && places.is_absent(&format!("{path}/HEAD"))
    })
}

fn is_quiet_repository(places: Site<'_>) -> bool {
    let known = &places.programs().facts().git;
    let workspace = places.workspace();
    let home = places.home().unwrap_or(workspace);
    let is_quiet = |path: String| match places.text(&path) {
        Some(text) => are_harmless(&text, known),
        None => places.is_absent(&path),
    };
    // The repository is the workspace's own: its configuration is there, and nothing points elsewhere.
    let own = places.text(&format!("{workspace}/.git/config"));
    own.is_some_and(|own| are_harmless(&own, known))
        && is_quiet(format!("{workspace}/.git/config.worktree"))
        && is_quiet(format!("{home}/.gitconfig"))
        && is_quiet(format!("{home}/.config/git/config"))
        && is_quiet("/etc/gitconfig".to_owned())
        && places.is_absent(&format!("{workspace}/.gitmodules"))
        && places.is_absent(&format!("{workspace}/.git/hooks/{}", known.hook))
}

/// Whether every line of a configuration file is a plain setting that is known to run nothing.
fn are_harmless(text: &str, known: &Git) -> bool {
    let mut section = None;
    text.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(head) = line.strip_prefix('[') {
            section = head.strip_suffix(']').and_then(section_of);
            return section.is_some();
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        section.as_ref().is_some_and(|section| {
            let key = format!("{section}.{}", key.trim().to_ascii_lowercase());
            let is_own = |own: &String| own == value.trim();
            !line.ends_with('\\')
                && (known.harmless.matches(&key) || known.values.get(&key).is_some_and(is_own))
        })
    })
}

/// `section` or `section.sub` of `[section "sub"]`.
fn section_of(head: &str) -> Option<String> {
    let (name, sub) = head.split_once(' ').unwrap_or((head, "\"\""));
    let sub = sub.trim().strip_prefix('"')?.strip_suffix('"')?;
    let dot = if sub.is_empty() { "" } else { "." };
    (!head.contains([']', '[', '\\'])).then(|| format!("{}{dot}{sub}", name.to_ascii_lowercase()))
}
