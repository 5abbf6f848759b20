//! Where a call would work: the folder, the repository and its branch, the database, the environment.

use placet_core::analysis::{Analysis, FactKind, Location};
use placet_core::call::Args;
use placet_core::tool::{Lens, Risk, Tool};

use crate::Site;

/// Names of arguments in lowercase, without separators.
const FOLDERS: [&str; 5] = [
    "cwd",
    "workdir",
    "workingdir",
    "workingdirectory",
    "currentdirectory",
];
const DATABASES: [&str; 3] = ["database", "databasename", "db"];
const HOSTS: [&str; 3] = ["host", "hostname", "server"];
const ENVIRONMENTS: [&str; 3] = ["environment", "env", "stage"];
/// Longer texts are no names.
const NAME_CHARS_MAX: usize = 64;

/// Where the call works, as far as its arguments and the workspace say.
pub(crate) fn of(tool: &Tool, args: &Args, found: &Analysis, places: Site<'_>) -> Location {
    let has = |is: fn(&FactKind) -> bool| found.facts.iter().any(|fact| is(&fact.kind));
    // Variables alone are facts of a command without words.
    let is_line = has(|kind| matches!(kind, FactKind::Command { argv, .. } if !argv.is_empty()));
    let is_sql = has(|kind| matches!(kind, FactKind::Statement { .. }));
    let given = named(args, &FOLDERS);
    let in_workspace = given.is_none() && is_line;
    let is_git = in_workspace && found.risk() > Risk::Low && runs_git(found);
    let (repository, branch) = if is_git { repository(places) } else { (None, None) };
    let of_lens = tool.lenses.iter().find_map(|lens| match lens {
        Lens::SqlOf { database, .. } => args.text(database).map(str::to_owned),
        _ => None,
    });
    Location {
        folder: given.or_else(|| in_workspace.then(|| places.workspace().to_owned())),
        repository,
        branch,
        database: of_lens.or_else(|| named(args, &DATABASES).filter(|_| is_sql)),
        host: named(args, &HOSTS),
        environment: named(args, &ENVIRONMENTS),
    }
}

fn runs_git(found: &Analysis) -> bool {
    found.facts.iter().any(|fact| match &fact.kind {
        FactKind::Command { argv, .. } => argv.first().is_some_and(|name| name == "git"),
        _ => false,
    })
}

/// The remote `origin` of the workspace's repository, and the branch that is checked out.
fn repository(places: Site<'_>) -> (Option<String>, Option<String>) {
    let workspace = places.workspace();
    let head = places.text(&format!("{workspace}/.git/HEAD"));
    let branch = head.and_then(|head| Some(head.trim().strip_prefix("ref: refs/heads/")?.to_owned()));
    let config = places.text(&format!("{workspace}/.git/config"));
    (config.as_deref().and_then(origin), branch)
}

/// The URL of `[remote "origin"]`.
fn origin(config: &str) -> Option<String> {
    let mut is_origin = false;
    config.lines().map(str::trim).find_map(|line| {
        if line.starts_with('[') {
            is_origin = line == "[remote \"origin\"]";
            return None;
        }
        let (key, value) = line.split_once('=').filter(|_| is_origin)?;
        (key.trim() == "url").then(|| value.trim().to_owned())
    })
}

/// The short text of the first such argument.
fn named(args: &Args, names: &[&str]) -> Option<String> {
    let is_own = |own: &str| {
        let own: String = own.chars().filter(char::is_ascii_alphanumeric).collect();
        names.iter().any(|name| own.eq_ignore_ascii_case(name))
    };
    let mut texts = args.iter().filter(|(name, _)| is_own(name));
    let text = texts.find_map(|(_, value)| value.as_str())?.trim();
    let is_name = !text.is_empty() && text.chars().count() <= NAME_CHARS_MAX;
    (is_name && !text.contains(['=', '\n'])).then(|| text.to_owned())
}
