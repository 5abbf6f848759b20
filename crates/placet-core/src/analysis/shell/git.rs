//! Git: whether reading a repository runs nothing.
//!
//! Git runs programs that its configuration names (a pager, a file-system monitor, drivers for diffs and filters) and hooks of the
//! repository. So a command that only reads counts as harmless only where every setting is one that is known to run nothing.

use std::sync::LazyLock;

use regex::Regex;

use super::super::Places;
use super::target::Standing;

/// Settings that run nothing when a repository is only read. A credential helper or an editor runs for commands that are not reads.
static HARMLESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)^(?:
        core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|compression|untrackedcache|whitespace|preloadindex|longpaths|fscache|protecthfs|protectntfs|commentchar|splitindex|checkstat|trustctime)
        |user\..*|author\..*|committer\..*|init\..*|color\..*|advice\..*|column\..*|pull\..*|push\..*|fetch\..*|rebase\..*|merge\.(?:conflictstyle|ff|log|stat|renames)
        |branch\..*\.(?:remote|merge|rebase|description)|remote\..*\.(?:url|fetch|pushurl|tagopt|prune)
        |log\.(?:date|abbrevcommit|decorate|follow|mailmap)|status\..*|diff\.(?:algorithm|renames|colormoved|colormovedws|mnemonicprefix|context|noprefix|indentheuristic|submodule|relative|statgraphwidth|wserrorhighlight|renamelimit)
        |extensions\.(?:objectformat|refstorage|partialclone|compatobjectformat|relativeworktrees)
        |commit\.(?:verbose|status)|tag\.sort|gc\..*|pack\..*|index\..*|feature\..*|help\.autocorrect|rerere\..*|safe\.directory|http\..*|credential\..*|url\..*|core\.(?:editor|excludesfile)|sequence\.editor|format\..*|transfer\..*|submodule\..*\.active|filter\.lfs\.required
        )$",
    )
    .ok()
});

/// What `git lfs install` writes: its own program, by name.
const LFS: &[(&str, &str)] = &[
    ("filter.lfs.clean", "git-lfs clean -- %f"),
    ("filter.lfs.smudge", "git-lfs smudge -- %f"),
    ("filter.lfs.process", "git-lfs filter-process"),
];

/// Hooks that a reading command may run: it writes the index it has refreshed.
const HOOK: &str = "post-index-change";

/// Whether commands that read the workspace's repository run no program but git, from wherever the shell stands.
pub(super) fn runs_nothing(standing: &Standing, places: &dyn Places) -> bool {
    let Standing::In(folders) = standing else {
        return false;
    };
    folders.iter().all(|folder| is_in_own_repository(folder, places)) && is_quiet_repository(places)
}

/// Whether git finds the workspace's repository from `folder`, and none in between: a folder with a `.git`, or one that looks like the
/// inside of a repository.
fn is_in_own_repository(folder: &str, places: &dyn Places) -> bool {
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

fn is_quiet_repository(places: &dyn Places) -> bool {
    let workspace = places.workspace();
    let is_quiet = |path: String| match places.text(&path) {
        Some(text) => settings(&text)
            .is_some_and(|settings| settings.iter().all(|(key, value)| is_harmless(key, value))),
        None => places.is_absent(&path),
    };
    let home = places.home().unwrap_or(workspace);
    let own = format!("{workspace}/.git/config");
    // The repository is the workspace's own: its configuration is there, and nothing points elsewhere.
    places.text(&own).is_some()
        && is_quiet(own)
        && is_quiet(format!("{workspace}/.git/config.worktree"))
        && is_quiet(format!("{home}/.gitconfig"))
        && is_quiet(format!("{home}/.config/git/config"))
        && is_quiet("/etc/gitconfig".to_owned())
        && places.is_absent(&format!("{workspace}/.gitmodules"))
        && places.is_absent(&format!("{workspace}/.git/hooks/{HOOK}"))
}

fn is_harmless(key: &str, value: &str) -> bool {
    HARMLESS.as_ref().is_some_and(|regex| regex.is_match(key))
        || LFS.iter().any(|(own, known)| *own == key && *known == value)
}

/// The settings of a configuration file as `section.sub.key` and value; `None` when a line is anything but plain.
fn settings(text: &str) -> Option<Vec<(String, String)>> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(head) = line.strip_prefix('[') {
            let head = head.strip_suffix(']')?;
            section = match head.split_once(' ') {
                Some((name, sub)) => {
                    let sub = sub.trim().strip_prefix('"')?.strip_suffix('"')?;
                    format!("{}.{sub}", name.to_ascii_lowercase())
                }
                None => head.to_ascii_lowercase(),
            };
            if head.contains([']', '[', '\\']) {
                return None;
            }
            continue;
        }
        if line.ends_with('\\') || section.is_empty() {
            return None;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        settings.push((
            format!("{section}.{}", key.trim().to_ascii_lowercase()),
            value.trim().to_owned(),
        ));
    }
    Some(settings)
}
