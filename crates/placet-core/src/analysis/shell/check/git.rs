//! Git: what it is told to do, and what it is told to read.

use super::super::super::path::Globs;
use super::super::judge::{Args, Hit};
use super::super::options::{Part, Spec, parts};
use super::super::word::Word;
use super::yes_if;

/// Options of git itself with a value in the next word, and without one.
const TAKES: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
];
const FLAGS: &[&str] = &[
    "-p",
    "-P",
    "--paginate",
    "--no-pager",
    "--bare",
    "--no-replace-objects",
    "--literal-pathspecs",
    "--no-optional-locks",
    "--no-advice",
];

/// The subcommand and what follows it, when it can be told.
fn subcommand<'w, 's>(words: &'w [Word<'s>]) -> Option<(&'w str, &'w [Word<'s>])> {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let text = word.fixed()?;
        rest = match text {
            _ if !text.starts_with('-') => return Some((text, after)),
            _ if TAKES.contains(&text) => after.get(1..)?,
            _ if FLAGS.contains(&text) || (text.starts_with("--") && text.contains('=')) => after,
            _ => return None,
        };
    }
    None
}

/// `git -c NAME=VALUE`: some names hold commands, and new ones are added every year.
pub(in super::super) fn config_option(args: &Args<'_, '_>) -> Hit {
    let pairs = args.words.windows(2).any(|pair| match pair {
        [flag, value] => flag.value == "-c" && (value.value.contains('=') || value.fixed().is_none()),
        _ => false,
    });
    let attached = args
        .words
        .iter()
        .any(|word| word.value.starts_with("-c") && word.value.contains('='));
    yes_if(pairs || attached)
}

/// `git remote add`, `git config core.pager …`; listing them is harmless.
pub(in super::super) fn settings(args: &Args<'_, '_>) -> Hit {
    let has = |words: &[&str]| args.words.iter().any(|word| words.contains(&word.value.as_str()));
    let remote = has(&["remote"])
        && has(&[
            "add",
            "set-url",
            "remove",
            "rm",
            "rename",
            "update",
            "set-head",
            "set-branches",
        ]);
    let config = match subcommand(args.words) {
        Some(("config", rest)) => !only_reads_config(rest),
        Some(_) => false,
        None => has(&["config"]),
    };
    yes_if(remote || config)
}

/// Whether `git config rest…` says what is set and sets nothing. Options count only before the key: what follows it is a value.
fn only_reads_config(rest: &[Word<'_>]) -> bool {
    const READS: &[&str] = &[
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "-l",
    ];
    const PLAIN: &[&str] = &[
        "--global",
        "--system",
        "--local",
        "--worktree",
        "--show-origin",
        "--show-scope",
        "--name-only",
        "--null",
        "-z",
        "--includes",
        "--bool",
        "--int",
        "--path",
    ];
    for (at, word) in rest.iter().enumerate() {
        let Some(text) = word.fixed() else { return false };
        let after = rest.get(at + 1..).unwrap_or_default();
        match text {
            _ if READS.contains(&text) => return true,
            _ if PLAIN.contains(&text) => {}
            "get" | "list" => return at == 0,
            // A key alone asks for its value.
            _ => return !text.starts_with('-') && text.contains('.') && after.is_empty(),
        }
    }
    false
}

/// `git push origin +main` forces, `git push origin :main` deletes.
pub(in super::super) fn refspec(args: &Args<'_, '_>) -> Hit {
    let pushes = args.words.iter().any(|word| word.value == "push");
    let forces = args.words.iter().any(|word| word.value.starts_with(['+', ':']));
    yes_if(pushes && forces)
}

/// `git clean`, unless it only says what it would do.
pub(in super::super) fn clean(args: &Args<'_, '_>) -> Hit {
    const CLEAN: Spec = Spec {
        short: "e",
        long: &["exclude"],
    };
    if let Some(("clean", rest)) = subcommand(args.words) {
        let parts = parts(rest, &CLEAN);
        let dry = |part: &Part<'_>| matches!(part, Part::Short('n', _) | Part::Long("dry-run", None));
        let undone = |part: &Part<'_>| matches!(part, Part::Long(name, _) if name.starts_with("no"));
        if parts.iter().any(dry)
            && !parts.iter().any(undone)
            && rest.iter().all(|word| word.fixed().is_some())
        {
            return Hit::No;
        }
    }
    let cleans = args.words.iter().any(|word| word.value == "clean");
    let forces = args.flag(&["-f", "--force", "-d", "-x", "-X", "-i"]);
    if cleans { forces } else { Hit::No }
}

/// `git restore`, unless it only takes files out of the next commit.
pub(in super::super) fn restore(args: &Args<'_, '_>) -> Hit {
    const RESTORE: Spec = Spec {
        short: "sU",
        long: &[
            "source",
            "conflict",
            "pathspec-from-file",
            "unified",
            "inter-hunk-context",
        ],
    };
    if let Some(("restore", rest)) = subcommand(args.words) {
        let parts = parts(rest, &RESTORE);
        let staged = |part: &Part<'_>| matches!(part, Part::Short('S', _) | Part::Long("staged", None));
        let worktree = |part: &Part<'_>| match part {
            Part::Short(letter, _) => *letter == 'W',
            Part::Long(name, _) => name.starts_with('w') || name.starts_with("no"),
            Part::Plain(_) => false,
        };
        if parts.iter().any(staged)
            && !parts.iter().any(worktree)
            && rest.iter().all(|word| word.fixed().is_some())
        {
            return Hit::No;
        }
    }
    yes_if(args.words.iter().any(|word| word.value == "restore"))
}

/// Subcommands that leave the files they are given as they are, unless told where to write.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "add", "annotate", "blame", "cat-file", "check-attr", "check-ignore", "commit", "diff", "diff-files", "diff-index", "diff-tree",
    "grep", "hash-object", "log", "ls-files", "ls-tree", "rev-list", "rev-parse", "shortlog", "show", "status", "whatchanged",
];

/// `git mv x placet.toml`, `git checkout HEAD~1 placet.toml`, `git log --output=placet.toml`.
pub(in super::super) fn changes_guarded(args: &Args<'_, '_>) -> Hit {
    let any = |words: &[Word<'_>]| words.iter().any(|word| args.is_guarded(word, Globs::Telling));
    let looks = |sub: &str| LOOKING.contains(&sub);
    match subcommand(args.words) {
        Some((sub, rest)) if looks(sub) => yes_if(writes_guarded_output(rest, args)),
        Some((_, rest)) => yes_if(any(rest) || writes_guarded_output(rest, args)),
        None => yes_if(any(args.words) || writes_guarded_output(args.words, args)),
    }
}

/// `-o FILE`, `-oFILE`, `--output FILE`, `--output=FILE`; git takes any abbreviation.
fn writes_guarded_output(words: &[Word<'_>], args: &Args<'_, '_>) -> bool {
    let guards = |text: &str| !text.is_empty() && args.standing.guards(text, args.places);
    let mut before = "";
    words.iter().any(|word| {
        let text = word.value.as_str();
        let names_it =
            |option: &str| option == "-o" || (option.len() > 3 && "--output-directory".starts_with(option));
        let attached = text.strip_prefix("-o").or_else(|| {
            let (option, value) = text.split_once('=')?;
            names_it(option).then_some(value)
        });
        let next = std::mem::replace(&mut before, text);
        (names_it(next) && guards(text)) || attached.is_some_and(guards)
    })
}
