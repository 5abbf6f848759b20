//! Uses that only look, of programs that are otherwise worth a question.

use super::super::judge::Args;
use super::super::word::Word;

/// Programs; options before the subcommand that take a value; the first words of what only looks.
type Row = (
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static [&'static str]],
);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    (&["kubectl", "oc"], &["-n", "--namespace", "--context"],
     &[&["rollout", "status"], &["rollout", "history"], &["auth", "can-i"], &["auth", "whoami"]]),
    (&["gh"], &["-R", "--repo"],
     &[&["run", "list"], &["run", "view"], &["release", "list"], &["release", "view"], &["auth", "status"], &["workflow", "list"],
       &["workflow", "view"], &["secret", "list"], &["variable", "list"]]),
    (&["terraform", "tofu"], &[], &[&["state", "list"], &["workspace", "show"], &["workspace", "list"]]),
    (&["aws"], &["--profile", "--region", "--output"], &[&["sts", "get-caller-identity"]]),
    (&["az"], &[], &[&["vm", "show"], &["vm", "list"], &["account", "show"], &["account", "list"], &["group", "show"], &["group", "list"]]),
    (&["systemctl"], &[],
     &[&["status"], &["is-active"], &["is-enabled"], &["is-failed"], &["list-units"], &["list-timers"]]),
];

/// Options that take no value.
const FLAGS: &[&str] = &["--no-pager", "--user", "--system", "-q", "--quiet"];

/// Whether the command `name` certainly only looks, whatever else it is given.
pub(in super::super) fn only_looks(name: &str, args: &Args<'_, '_>) -> bool {
    let words = args.words;
    if args.open || words.is_empty() || words.iter().any(Word::is_later) {
        return false;
    }
    let is_plain = |word: &Word<'_>| !word.value.starts_with('-');
    match name {
        "crontab" => matches!(words, [only] if only.value == "-l"),
        "dpkg" => words.split_first().is_some_and(|(first, rest)| {
            matches!(
                first.value.as_str(),
                "-S" | "-L" | "-l" | "-s" | "--search" | "--listfiles" | "--list" | "--status"
            ) && rest.iter().all(is_plain)
        }),
        _ => ROWS
            .iter()
            .find(|(names, ..)| names.contains(&name))
            .is_some_and(|(_, takes, phrases)| phrases.iter().any(|phrase| starts(words, takes, phrase))),
    }
}

/// Whether the words begin with `phrase`, apart from options that are known.
fn starts(words: &[Word<'_>], takes: &[&str], phrase: &[&str]) -> bool {
    let mut words = words.iter();
    let mut next = || loop {
        let text = words.next()?.value.as_str();
        if takes.contains(&text) {
            words.next()?;
        } else if !FLAGS.contains(&text) {
            return Some(text);
        }
    };
    phrase.iter().all(|word| next() == Some(*word))
}
