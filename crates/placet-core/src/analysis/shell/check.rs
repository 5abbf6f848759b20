//! What a row of the table cannot say: checks of their own for some commands.

use super::super::path::Globs;
use super::super::why::Deed;
use super::judge::{Args, Hit, changes_others, without_version};
use super::looks;
use super::options::{CURL, Part, parts};
use super::word::{Known, Word};

/// Interpreters: their names without a version, the options that carry code, the options that take another value.
#[rustfmt::skip]
const INTERPRETERS: &[(&[&str], &[&str], &[&str])] = &[
    (&["python", "pypy", "ipython", "jython"], &["-c"], &["-W", "-X"]),
    (&["perl"], &["-e", "-E", "-n", "-p", "-M", "-m"], &["-I"]),
    (&["ruby", "irb", "jruby"], &["-e", "-r"], &["-I"]),
    (&["node", "nodejs", "bun", "deno", "ts-node", "tsx"], &["-e", "-p", "--eval", "--print", "-r",
      "--require", "--import", "--loader"], &[]),
    (&["php"], &["-r", "-B", "-E", "-R"], &["-d"]),
    (&["lua", "luajit", "texlua"], &["-e", "-l"], &[]),
    (&["r", "rscript", "julia", "elixir", "groovy", "scala", "swift", "ghc", "guile", "racket", "sbcl",
      "clojure", "octave", "tclsh", "wish", "erl",
       "jshell", "raku", "crystal", "ocaml"], &["-e", "-E", "--eval", "-c", "--eval-file", "-r"], &[]),
];

/// Why this command runs code that nobody can see, if it is an interpreter that does.
pub(super) fn interpreter(name: &str, args: &Args<'_, '_>) -> Option<Deed> {
    let plain = without_version(name);
    let (_, code, takes) = INTERPRETERS
        .iter()
        .find(|(names, ..)| names.contains(&plain) || names.contains(&name))?;
    let only = |words: &[&str]| args.words.iter().all(|word| words.contains(&word.value.as_str()));
    if !args.words.is_empty() && only(&["--version", "-V", "-v", "--help", "-h"]) {
        return None;
    }
    if plain == "python" && args.words.first().is_some_and(|word| word.value == "-m") {
        return args
            .words
            .get(1)
            .is_none_or(Word::is_later)
            .then_some(Deed::CodeLater);
    }
    if args.flag(code) == Hit::Yes {
        return Some(Deed::CodeOnLine);
    }
    let mut words = args.words.iter();
    let script = loop {
        match words.next() {
            Some(word) if takes.contains(&word.value.as_str()) => drop(words.next()),
            Some(word) if word.value.starts_with('-') && word.value != "-" => {}
            script => break script,
        }
    };
    match script {
        Some(word) if word.fixed().is_none() => Some(Deed::CodeLater),
        Some(word)
            if matches!(
                word.value.as_str(),
                "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "eval" | "repl"
            ) =>
        {
            Some(Deed::RunsGiven)
        }
        Some(_) => None,
        None => Some(Deed::RunsInput),
    }
}

/// `-v /:/x`, `--mount source=/…`, or the socket that commands the container engine.
pub(super) fn mounts_the_machine(args: &Args<'_, '_>) -> Hit {
    let system = |path: &str| {
        path == "/"
            || [
                "/etc", "/root", "/home", "/var", "/usr", "/proc", "/sys", "/dev", "~",
            ]
            .iter()
            .any(|root| path.starts_with(root))
    };
    let mounts = |value: &str| {
        let plain = value.trim_start_matches("--volume=").trim_start_matches("-v");
        let volume = plain.split_once(':').is_some_and(|(from, _)| system(from));
        volume
            || value.split(',').any(|part| {
                part.split_once('=')
                    .is_some_and(|(key, from)| matches!(key, "source" | "src") && system(from))
            })
    };
    if args
        .words
        .iter()
        .any(|word| mounts(&word.value) || word.value.contains("docker.sock"))
    {
        Hit::Yes
    } else {
        Hit::No
    }
}

/// `git -c NAME=VALUE`: some names hold commands, and new ones are added every year.
pub(super) fn git_config(args: &Args<'_, '_>) -> Hit {
    let pairs = args.words.windows(2).any(|pair| match pair {
        [flag, value] => flag.value == "-c" && (value.value.contains('=') || value.fixed().is_none()),
        _ => false,
    });
    let attached = args
        .words
        .iter()
        .any(|word| word.value.starts_with("-c") && word.value.contains('='));
    if pairs || attached { Hit::Yes } else { Hit::No }
}

/// `git remote add`, `git config core.pager …`; listing them is harmless.
pub(super) fn git_settings(args: &Args<'_, '_>) -> Hit {
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
    let reads = [
        "--get",
        "--get-all",
        "--get-regexp",
        "--list",
        "-l",
        "get",
        "list",
    ];
    if remote || has(&["config"]) && !has(&reads) {
        Hit::Yes
    } else {
        Hit::No
    }
}

/// `git push origin +main` forces, `git push origin :main` deletes.
pub(super) fn git_refspec(args: &Args<'_, '_>) -> Hit {
    let pushes = args.words.iter().any(|word| word.value == "push");
    let forces = args.words.iter().any(|word| word.value.starts_with(['+', ':']));
    if pushes && forces { Hit::Yes } else { Hit::No }
}

/// `sed -i` on files outside.
pub(super) fn sed_in_place_outside(args: &Args<'_, '_>) -> Hit {
    let outside = |word: &Word<'_>| !args.standing.contains(word, args.places);
    sed_in_place(args, outside)
}

/// `sed -i` on files that decide what runs or what is asked.
pub(super) fn sed_in_place_guarded(args: &Args<'_, '_>) -> Hit {
    sed_in_place(args, |word| args.is_guarded(word, Globs::Any))
}

fn sed_in_place(args: &Args<'_, '_>, is: impl Fn(&Word<'_>) -> bool) -> Hit {
    if args.flag(&["-i", "--in-place"]) != Hit::Yes {
        return Hit::No;
    }
    yes_if(looks::files_of_sed(args.words).into_iter().any(is))
}

/// `tee *.toml` writes whatever it finds, where other programs may only mean to read.
pub(super) fn writes_guarded(args: &Args<'_, '_>) -> Hit {
    let could_be = |word: &Word<'_>| word.known == Known::Shape && args.is_guarded(word, Globs::Any);
    yes_if(args.words.iter().any(could_be))
}

/// `git mv x placet.toml`, `git rm placet.toml`, `git checkout HEAD~1 placet.toml`.
pub(super) fn git_changes_guarded(args: &Args<'_, '_>) -> Hit {
    let changes = args
        .words
        .iter()
        .any(|word| matches!(word.value.as_str(), "mv" | "rm" | "checkout"));
    yes_if(
        changes
            && args
                .words
                .iter()
                .any(|word| args.is_guarded(word, Globs::Telling)),
    )
}

/// `read PATH`: the shell sets the variable.
pub(super) fn reads_into_variable(args: &Args<'_, '_>) -> Hit {
    yes_if(args.words.iter().any(changes_what_runs))
}

/// `printf -v PATH`.
pub(super) fn prints_into_variable(args: &Args<'_, '_>) -> Hit {
    let into =
        |pair: &[Word<'_>]| matches!(pair, [option, name] if option.value == "-v" && changes_what_runs(name));
    yes_if(args.words.windows(2).any(into))
}

fn changes_what_runs(word: &Word<'_>) -> bool {
    word.fixed().is_some_and(changes_others)
}

/// `-K FILE`, `-T FILE`.
pub(super) fn curl_obeys_file(args: &Args<'_, '_>) -> Hit {
    let parts = parts(args.words, &CURL);
    let obeys = |part: &Part<'_>| {
        matches!(part, Part::Short('K' | 'T', _)) || part.is_long(&["config", "upload-file"])
    };
    yes_if(parts.iter().any(obeys)).max(args.flag(&["--config", "--upload-file"]))
}

/// `-d @FILE`, `--data-urlencode name@FILE`, `-F name=@FILE`.
pub(super) fn curl_sends_file(args: &Args<'_, '_>) -> Hit {
    const DATA: &[&str] = &["data", "data-ascii", "data-binary", "json", "url-query"];
    let sends = |part: &Part<'_>| match part {
        Part::Short('d', Some(value)) => value.text.starts_with('@'),
        Part::Short('F', Some(value)) => value.text.contains("=@") || value.text.contains("=<"),
        Part::Long(_, Some(value)) if part.is_long(DATA) && value.text.starts_with('@') => true,
        Part::Long(_, Some(value)) if part.is_long(&["data-urlencode", "url-query", "variable"]) => value
            .text
            .split('=')
            .next()
            .is_some_and(|name| name.contains('@')),
        _ => false,
    };
    yes_if(parts(args.words, &CURL).iter().any(sends))
}

fn yes_if(is: bool) -> Hit {
    if is { Hit::Yes } else { Hit::No }
}
