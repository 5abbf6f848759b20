//! What a command runs in turn: where the inner command begins, and what cannot be told about it.

use std::borrow::Cow;

use super::super::super::why::{Deed, Doubt};
use super::super::programs::{Form, Input, Kind, Reading, Tail, without_version};
use super::super::target::Standing;
use super::super::walk::Given;
use super::super::word::{Known, Word};
use super::{Args, Fed, Judged, base_name, does};

/// One inner command.
pub(in super::super) enum Inner<'w, 's> {
    /// Given as words.
    Words {
        /// The words.
        words: Cow<'w, [Word<'s>]>,
        /// Whether more are added when it runs.
        given: Given,
    },
    /// Given as a text that a shell will parse again.
    Line(String),
}

/// Adds what the command `name` runs to `judged`.
pub(super) fn find<'w, 's>(
    name: &str,
    form: Option<&Form>,
    reading: Option<&Reading<'w, 's, '_>>,
    args: &Args<'w, 's>,
    judged: &mut Judged<'w, 's>,
) {
    let mut found = Found { args, judged };
    match (form, reading) {
        (Some(form), _) if form.stdin == Input::Shell => found.shell(),
        (Some(_), Some(reading)) => found.by_record(reading),
        _ if name.starts_with("git-") => found.git(name),
        _ => found.guess(),
    }
    let into = judged.folder.clone();
    if let Some(folder) = into.filter(|_| !judged.inner.is_empty()) {
        let reached = args.standing.clone().go(Some(&folder), args.places);
        if matches!(reached, Standing::Lost) {
            judged.why.get_or_insert_with(|| does(name, Deed::TouchesOutside));
        }
    }
}

struct Found<'f, 'w, 's> {
    args: &'f Args<'w, 's>,
    judged: &'f mut Judged<'w, 's>,
}

impl<'w, 's> Found<'_, 'w, 's> {
    fn doubt(&mut self, doubt: Doubt) {
        self.judged.why.get_or_insert_with(|| doubt.into());
    }

    fn given(&self) -> Given {
        if self.args.open {
            Given::LaterToo
        } else {
            Given::OnTheLine
        }
    }

    fn by_record(&mut self, reading: &Reading<'w, 's, '_>) {
        if reading.unclear {
            return self.doubt(Doubt::InnerUnclear);
        }
        for words in &reading.commands {
            self.words(words, Given::LaterToo);
        }
        let is_line = |kind| kind == Kind::Line;
        for slot in reading.slots.iter().filter(|slot| is_line(slot.kind)) {
            self.line(&[Word {
                raw: slot.word.raw.clone(),
                value: slot.text.to_owned(),
                known: slot.word.known,
            }]);
        }
        // `strace -o '|COMMAND'`.
        for slot in reading.slots.iter().filter(|slot| slot.kind == Kind::Writes) {
            if let Some(line) = slot.text.strip_prefix(['|', '!']) {
                self.judged.inner.push(Inner::Line(line.to_owned()));
            }
        }
        let adds_words = reading.form.stdin == Input::Words;
        let given = if adds_words { Given::LaterToo } else { self.given() };
        match reading.tail {
            Some((Tail::Command, words)) => {
                let skipped = reading.slots.iter().any(|slot| {
                    slot.kind == Kind::Text && slot.is_whole() && slot.word.known != Known::Fully
                });
                if skipped {
                    return self.doubt(Doubt::InnerUnclear);
                }
                match self.args.fed {
                    Fed::Text(text) if adds_words => {
                        let more = text
                            .split_whitespace()
                            .map(|word| Word::made(word.to_owned(), Known::Fully));
                        let words: Vec<Word<'s>> = words.iter().cloned().chain(more).collect();
                        self.judged.inner.push(Inner::Words {
                            words: words.into(),
                            given,
                        });
                    }
                    _ => self.words(words, given),
                }
            }
            Some((Tail::Line, words)) => self.line(words),
            None if reading.form.wraps() && self.args.open => self.doubt(Doubt::InnerLater),
            Some((Tail::Rest | Tail::Words, _)) | None => {}
        }
    }

    fn words(&mut self, words: &'w [Word<'s>], given: Given) {
        self.judged.inner.push(Inner::Words {
            words: words.into(),
            given,
        });
    }

    /// Words that are put together with spaces and parsed again.
    fn line(&mut self, words: &[Word<'_>]) {
        let fixed: Option<Vec<&str>> = words.iter().map(Word::fixed).collect();
        match fixed {
            Some(parts) if parts.is_empty() => {}
            Some(parts) => {
                self.judged.inner.push(Inner::Line(parts.join(" ")));
                if self.args.open {
                    self.doubt(Doubt::InnerLater);
                }
            }
            None => self.doubt(Doubt::InnerLater),
        }
    }

    /// `git-push` is `git push`.
    fn git(&mut self, name: &str) {
        let (git, sub) = name.split_at(3);
        let made = |word: &str| Word::made(word.to_owned(), Known::Fully);
        let mut words = vec![made(git), made(sub.trim_start_matches('-'))];
        words.extend_from_slice(self.args.words);
        let given = self.given();
        self.judged.inner.push(Inner::Words {
            words: words.into(),
            given,
        });
    }

    /// A shell: a line behind `-c`, a script, or whatever is written to its input.
    fn shell(&mut self) {
        let mut takes_line = false;
        let mut words = self.args.words.iter();
        while let Some(word) = words.next() {
            let Some(value) = word.fixed() else {
                return self.doubt(Doubt::InnerLater);
            };
            if let Some(long) = value.strip_prefix("--").filter(|long| !long.is_empty()) {
                match long {
                    "version" | "help" => return,
                    "login" | "norc" | "noprofile" | "posix" | "noediting" | "verbose" => continue,
                    _ => return self.doubt(Doubt::InnerUnclear),
                }
            }
            let is_option = value.starts_with(['-', '+']) && value.len() > 1 && value != "--";
            if is_option {
                if value.contains('s') {
                    return self.input();
                }
                takes_line |= value.starts_with('-') && value.contains('c');
                if value.contains(['o', 'O']) {
                    // With this one a star also finds what begins with a dot.
                    match words.next().map(|word| word.value.as_str()) {
                        None | Some("dotglob") => return self.doubt(Doubt::InnerUnclear),
                        Some(_) => {}
                    }
                }
                continue;
            }
            return match value {
                "--" => continue,
                _ if takes_line => {
                    // `-i` and `-v` change what the shell does besides.
                    let is_plain = |word: &Word<'_>| {
                        let letters = word.value.strip_prefix('-').unwrap_or("?");
                        letters == "pipefail"
                            || letters.chars().all(|c| "ceuxol".contains(c))
                            || word.value == "pipefail"
                    };
                    let before = self.args.words.len() - words.len() - 1;
                    let own = self.args.words.get(..before).unwrap_or_default();
                    self.judged.only_line =
                        words.as_slice().is_empty() && own.iter().all(is_plain) && !self.args.open;
                    self.line(std::slice::from_ref(word));
                }
                "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => self.input(),
                _ => {}
            };
        }
        self.input();
    }

    /// It runs what is written to its input.
    fn input(&mut self) {
        self.judged.runs_input = true;
        self.doubt(Doubt::InnerInput);
    }

    /// A program without a record may run what it is given: what can hardly be anything but a dangerous command is taken for one.
    fn guess(&mut self) {
        let words = self.args.words;
        let mut before = "";
        let at = words.windows(2).position(|pair| match pair {
            [word, next] => {
                let starts = word
                    .fixed()
                    .is_some_and(|word| starts_command(word, before, &next.value));
                before = &word.value;
                starts
            }
            _ => false,
        });
        if let Some(tail) = at.and_then(|at| words.get(at..)) {
            let given = self.given();
            self.words(tail, given);
        }
        for word in words.iter().filter(|word| is_line(&word.value)) {
            self.judged.inner.push(Inner::Line(word.value.clone()));
        }
    }
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
    let name = base_name(word);
    let option = next.starts_with('-') && !next.starts_with("--");
    match name {
        "rm" => next.starts_with('-') || before == "--",
        "sudo" | "doas" | "shred" | "wipefs" => true,
        "dd" => next.contains('='),
        "chmod" | "chown" | "chgrp" => next.starts_with("-R") || next.starts_with("--recursive"),
        _ if name.starts_with("mkfs") => true,
        _ if option && next.contains('c') && super::super::is_shell(name) => true,
        _ => {
            matches!(next, "-c" | "-e" | "-E" | "-r")
                && matches!(without_version(name), "python" | "perl" | "ruby" | "node" | "php")
        }
    }
}
