//! Git: whether reading a repository runs nothing.
//!
//! Git runs programs that its configuration names (a pager, a file-system monitor, drivers for diffs and filters) and hooks of the
//! repository. So a command that only reads counts as harmless only where every setting is one that is known to run nothing.

use super::super::Places;
use super::programs::Git;
use super::target::Standing;

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
    let known = &places.programs().facts().git;
    let workspace = places.workspace();
    let home = places.home().unwrap_or(workspace);
    let is_quiet = |path: &String| match places.text(path) {
        Some(text) => settings(&text)
            .is_some_and(|settings| settings.iter().all(|(key, value)| is_harmless(key, value, known))),
        None => places.is_absent(path),
    };
    // The repository is the workspace's own: its configuration is there, and nothing points elsewhere.
    let own = format!("{workspace}/.git/config");
    let read = [
        format!("{workspace}/.git/config.worktree"),
        format!("{home}/.gitconfig"),
        format!("{home}/.config/git/config"),
        "/etc/gitconfig".to_owned(),
    ];
    places.text(&own).is_some()
        && is_quiet(&own)
        && read.iter().all(is_quiet)
        && places.is_absent(&format!("{workspace}/.gitmodules"))
        && places.is_absent(&format!("{workspace}/.git/hooks/{}", known.hook))
}

fn is_harmless(key: &str, value: &str, known: &Git) -> bool {
    known.harmless.matches(key) || known.values.get(key).is_some_and(|own| own == value)
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
