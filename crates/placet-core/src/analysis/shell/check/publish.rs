//! Publishing: handing something out to everybody, or the right to do so.

use super::super::judge::{Args, Hit};
use super::super::word::Word;
use super::yes_if;

/// Programs that publish. A script that is one of them publishes too.
#[rustfmt::skip]
pub(in super::super) const PUBLISHERS: &[&str] = &[
    "npm", "yarn", "pnpm", "bun", "cargo", "pip", "pip3", "twine", "gem", "poetry", "uv", "flit", "hatch", "mvn", "gradle", "dotnet",
    "nuget", "composer", "lerna", "vsce", "ovsx", "docker", "podman", "skopeo", "crane", "goreleaser", "fastlane",
];

const VERBS: &[&str] = &[
    "publish",
    "upload",
    "unpublish",
    "yank",
    "deploy",
    "owner",
    "login",
    "adduser",
    "token",
    "deprecate",
    "dist-tag",
    "push",
];

/// Subcommands whose words are names of others' packages, of tests or of files.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "add", "audit", "bench", "b", "build", "c", "check", "ci", "clippy", "doc", "fmt", "fetch", "freeze", "i", "images", "info", "init",
    "inspect", "install", "list", "lock", "logs", "ls", "new", "nextest", "outdated", "ps", "pull", "remove", "restore", "search", "show",
    "sync", "t", "test", "tree", "uninstall", "update", "upgrade", "view", "why",
];

/// Options that take no value, so that a word after one is no value either.
#[rustfmt::skip]
const FLAGS: &[&str] = &[
    "-q", "--quiet", "-v", "--verbose", "-s", "--silent", "-y", "--yes", "-r", "--recursive", "-g", "--global", "--offline", "--locked",
    "--frozen", "--release", "--no-progress",
];

/// Options that take a value.
const TAKES: &[&str] = &[
    "--bin",
    "--example",
    "--package",
    "--features",
    "--manifest-path",
    "--target-dir",
];

/// Whether the program publishes. What follows a subcommand that is known to publish nothing counts for nothing; as long as that
/// cannot be told, any word that begins like it counts.
pub(in super::super) fn publishes(args: &Args<'_, '_>) -> Hit {
    let any = || args.sub(|word| VERBS.iter().any(|verb| word.starts_with(verb)));
    let mut words = args.words.iter();
    match (next_plain(&mut words), next_plain(&mut words)) {
        (Plain::Word("run"), Plain::Word(script)) if !PUBLISHERS.contains(&script) => {
            yes_if(is_script(script))
        }
        (Plain::Word("run"), Plain::NoMore) => Hit::No,
        (Plain::Word(sub), _) if HARMLESS.contains(&sub) => Hit::No,
        _ => any(),
    }
}

/// The next word that is no option.
enum Plain<'w> {
    Word(&'w str),
    NoMore,
    /// An option may have it as its value, or it is only known when it runs.
    Unclear,
}

fn next_plain<'w>(words: &mut std::slice::Iter<'w, Word<'_>>) -> Plain<'w> {
    while let Some(word) = words.next() {
        let Some(text) = word.fixed() else {
            return Plain::Unclear;
        };
        let is_whole = text.starts_with('+') || (text.starts_with("--") && text.contains('='));
        if TAKES.contains(&text) {
            words.next();
        } else if !text.starts_with('-') && !is_whole {
            return Plain::Word(text);
        } else if !is_whole && !FLAGS.contains(&text) {
            return Plain::Unclear;
        }
    }
    Plain::NoMore
}

/// `deploy`, `deploy:prod`, `publish-beta`.
fn is_script(name: &str) -> bool {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with([':', '-', '_', '.']);
    VERBS.iter().any(|verb| name.strip_prefix(verb).is_some_and(ends))
}
