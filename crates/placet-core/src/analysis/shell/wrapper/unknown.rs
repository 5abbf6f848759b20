//! Programs that nobody here knows may run what they are given: what can hardly be anything but a dangerous command is taken
//! for one.

use super::super::judge::{self, Args};
use super::super::{looks, table};
use super::{Inner, Unwrapped, given, is_shell};

/// Finds the commands among the words of a program that is no wrapper we know.
pub(super) fn unwrap<'w, 's>(name: &str, args: &Args<'w, 's>) -> Unwrapped<'w, 's> {
    let mut before = "";
    let at = args.words.windows(2).position(|pair| match pair {
        [word, next] => {
            let starts = word
                .fixed()
                .is_some_and(|word| starts_command(word, before, &next.value));
            before = &word.value;
            starts
        }
        _ => false,
    });
    let tail = at.and_then(|at| args.words.get(at..));
    let mut lines = args.words.iter().filter(|word| is_line(&word.value)).peekable();
    if (tail.is_none() && lines.peek().is_none()) || is_known(name) {
        return Unwrapped::default();
    }
    let lines = lines.map(|word| Inner::Line(word.value.clone()));
    let tail = tail.map(|words| Inner::Words {
        words: words.into(),
        given: given(args),
    });
    Unwrapped {
        inner: tail.into_iter().chain(lines).collect(),
        ..Unwrapped::default()
    }
}

/// Whether enough is known of a program to say that it runs none of its words, or where it would.
fn is_known(name: &str) -> bool {
    !table::rows(name).is_empty()
        || looks::only_talks(name)
        || looks::shows_files(name)
        || looks::first_is_pattern(name)
}

/// `'rm -r x'` as one word.
fn is_line(word: &str) -> bool {
    let mut parts = word.split_ascii_whitespace();
    match (parts.next(), parts.next()) {
        (Some(first), Some(next)) => starts_command(first, "", next),
        _ => false,
    }
}

/// Whether `word next` between other words can hardly be anything but a command that would be asked about.
fn starts_command(word: &str, before: &str, next: &str) -> bool {
    let name = judge::base_name(word);
    let option = next.starts_with('-') && !next.starts_with("--");
    match name {
        "rm" => next.starts_with('-') || before == "--",
        "sudo" | "doas" | "shred" | "wipefs" => true,
        "dd" => next.contains('='),
        "chmod" | "chown" | "chgrp" => next.starts_with("-R") || next.starts_with("--recursive"),
        _ if name.starts_with("mkfs") => true,
        _ if option && next.contains('c') && is_shell(name) => true,
        _ => {
            matches!(next, "-c" | "-e" | "-E" | "-r")
                && matches!(
                    judge::without_version(name),
                    "python" | "perl" | "ruby" | "node" | "php"
                )
        }
    }
}
