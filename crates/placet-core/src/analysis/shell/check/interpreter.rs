//! Interpreters: whether they run a script from the workspace, or code that nobody can see.

use super::super::super::why::Deed;
use super::super::judge::{Args, Hit, without_version};
use super::super::word::Word;

/// Interpreters whose options end at the script: what follows it belongs to the script. Their names without a version.
struct Form {
    names: &'static [&'static str],
    /// Letters of options that carry code.
    code: &'static str,
    /// Letters of options with another value, attached or in the next word.
    takes: &'static str,
    /// Letters of options without a value.
    flags: &'static str,
    /// Long options that carry code.
    long_code: &'static [&'static str],
    /// Long options without a value.
    long_flags: &'static [&'static str],
}

#[rustfmt::skip]
const FORMS: &[Form] = &[
    Form { names: &["python", "pypy"], code: "c", takes: "WX", flags: "bBdEhiIOPqRsSuvVx", long_code: &[],
      long_flags: &["--version", "--help"] },
    Form { names: &["perl"], code: "eEnpMm", takes: "I", flags: "wWtTcsSaXUu", long_code: &[], long_flags: &[] },
    Form { names: &["ruby", "jruby"], code: "er", takes: "IC", flags: "aclnpsSvwyUh", long_code: &[], long_flags: &["--version"] },
    Form { names: &["node", "nodejs", "bun", "deno", "ts-node", "tsx"], code: "epr", takes: "", flags: "Acivh",
      long_code: &["--eval", "--print", "--require", "--import", "--loader"],
      long_flags: &["--test", "--watch", "--inspect", "--inspect-brk", "--enable-source-maps", "--no-warnings", "--trace-warnings",
        "--trace-deprecation", "--no-deprecation", "--experimental-strip-types", "--experimental-vm-modules", "--hot", "--bun"] },
    Form { names: &["php"], code: "rBER", takes: "d", flags: "nqsvh", long_code: &[], long_flags: &[] },
    Form { names: &["lua", "luajit", "texlua"], code: "el", takes: "", flags: "iEvW", long_code: &[], long_flags: &[] },
    Form { names: &["julia", "rscript"], code: "eEcr", takes: "", flags: "qivh", long_code: &["--eval", "--print"], long_flags: &[] },
];

/// Interpreters that may find their options behind the script too, and options of theirs that carry code.
#[rustfmt::skip]
const ANYWHERE: &[&str] = &[
    "ipython", "jython", "irb", "r", "elixir", "groovy", "scala", "swift", "ghc", "guile", "racket", "sbcl", "clojure", "octave",
    "tclsh", "wish", "erl", "jshell", "raku", "crystal", "ocaml",
];
const ANYWHERE_CODE: &[&str] = &["-e", "-E", "--eval", "-c", "--eval-file", "-r"];

/// Modules of Python that run what they are given, or what they are told next.
const PYTHON_CODE: &[&str] = &[
    "asyncio", "bpython", "code", "idlelib", "ipython", "pdb", "ptpython", "sqlite3", "timeit",
];

/// What comes of the words before the script.
enum Leading<'w, 's> {
    /// An option carries code.
    Code,
    /// A module, as Python calls it.
    Module(&'w str),
    /// A module that is only known when it runs.
    ModuleLater,
    /// The script, or none.
    Script(Option<&'w Word<'s>>),
    /// An option may or may not have a value, so where the script is cannot be told.
    Unclear,
}

/// Why this command runs code that nobody can see, if it is an interpreter that does.
pub(in super::super) fn interpreter(name: &str, args: &Args<'_, '_>) -> Option<Deed> {
    let plain = without_version(name);
    let is = |names: &[&str]| names.contains(&plain) || names.contains(&name);
    let form = FORMS.iter().find(|form| is(form.names));
    if form.is_none() && !is(ANYWHERE) {
        return None;
    }
    let only = |words: &[&str]| args.words.iter().all(|word| words.contains(&word.value.as_str()));
    if !args.words.is_empty() && only(&["--version", "-V", "-v", "--help", "-h"]) {
        return None;
    }
    let Some(form) = form else {
        return anywhere(plain, args);
    };
    match leading(form, args.words) {
        Leading::Code => Some(Deed::CodeOnLine),
        Leading::Module(module) if PYTHON_CODE.contains(&module.to_ascii_lowercase().as_str()) => {
            Some(Deed::CodeOnLine)
        }
        Leading::Module(_) => None,
        Leading::ModuleLater => Some(Deed::CodeLater),
        Leading::Script(None) if is(&["node", "nodejs"]) && has(args, "--test") => None,
        Leading::Script(script) => of_script(script),
        Leading::Unclear if carries_code(form, args) => Some(Deed::CodeOnLine),
        Leading::Unclear => of_script(first_plain(args.words)),
    }
}

/// Whether `name` is an interpreter.
pub(super) fn is_one(name: &str) -> bool {
    let plain = without_version(name);
    FORMS.iter().any(|form| form.names.contains(&plain)) || ANYWHERE.contains(&plain)
}

fn has(args: &Args<'_, '_>, option: &str) -> bool {
    args.words.iter().any(|word| word.value == option)
}

fn anywhere(name: &str, args: &Args<'_, '_>) -> Option<Deed> {
    // Building takes options of its own: `swift build -c release`.
    let first = args.words.first().and_then(Word::fixed);
    if name == "swift" && matches!(first, Some("build" | "test" | "run" | "package")) {
        return None;
    }
    if args.flag(ANYWHERE_CODE) == Hit::Yes {
        return Some(Deed::CodeOnLine);
    }
    of_script(first_plain(args.words))
}

fn first_plain<'w, 's>(words: &'w [Word<'s>]) -> Option<&'w Word<'s>> {
    words
        .iter()
        .find(|word| !word.value.starts_with('-') || word.value == "-")
}

fn of_script(script: Option<&Word<'_>>) -> Option<Deed> {
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

/// Whether any word, before or behind the script, looks like an option that carries code.
fn carries_code(form: &Form, args: &Args<'_, '_>) -> bool {
    let letters: Vec<String> = form.code.chars().map(|letter| format!("-{letter}")).collect();
    let all: Vec<&str> = letters
        .iter()
        .map(String::as_str)
        .chain(form.long_code.iter().copied())
        .collect();
    args.flag(&all) == Hit::Yes
}

fn leading<'w, 's>(form: &Form, words: &'w [Word<'s>]) -> Leading<'w, 's> {
    let is_python = form.names.contains(&"python");
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.value.as_str();
        if word.fixed().is_none() {
            return Leading::Script(Some(word));
        }
        match text.strip_prefix('-') {
            // `bun run`, `deno run`: the script comes next.
            None if text == "run" && form.long_flags.contains(&"--bun") => {}
            None | Some("") => return Leading::Script(Some(word)),
            Some("-") => return Leading::Script(rest.next()),
            Some(long) if long.starts_with('-') => {
                let (name, value) = text
                    .split_once('=')
                    .map_or((text, None), |(name, value)| (name, Some(value)));
                let is_code = |code: &&str| name.len() > 2 && code.starts_with(name);
                if form.long_code.iter().any(is_code) {
                    return Leading::Code;
                }
                if value.is_none() && !form.long_flags.contains(&name) {
                    return Leading::Unclear;
                }
            }
            Some(letters) => match cluster(form, letters) {
                Cluster::Code => return Leading::Code,
                Cluster::Module(attached) if is_python => {
                    let module = attached.or_else(|| rest.next().and_then(Word::fixed));
                    return module.map_or(Leading::ModuleLater, Leading::Module);
                }
                Cluster::Flags => {}
                Cluster::TakesNext => drop(rest.next()),
                Cluster::Module(_) | Cluster::Unclear => return Leading::Unclear,
            },
        }
    }
    Leading::Script(None)
}

/// What a cluster of short options comes to.
enum Cluster<'w> {
    Code,
    /// `-m`, with what is attached to it.
    Module(Option<&'w str>),
    Flags,
    TakesNext,
    Unclear,
}

fn cluster<'w>(form: &Form, letters: &'w str) -> Cluster<'w> {
    let mut left = letters.chars();
    while let Some(letter) = left.next() {
        if form.code.contains(letter) {
            return Cluster::Code;
        }
        if form.takes.contains(letter) {
            let is_attached = !left.as_str().is_empty();
            return if is_attached {
                Cluster::Flags
            } else {
                Cluster::TakesNext
            };
        }
        if letter == 'm' {
            return Cluster::Module(Some(left.as_str()).filter(|module| !module.is_empty()));
        }
        if !form.flags.contains(letter) {
            return Cluster::Unclear;
        }
    }
    Cluster::Flags
}
