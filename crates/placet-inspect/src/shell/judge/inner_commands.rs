//! What a command runs in turn: where the inner command begins, and what cannot be told about it.

use std::borrow::Cow;

use placet_core::analysis::{Deed, Doubt};

use super::super::programs::{Input, Kind, Style, Tail};
use super::super::word::{Known, Word};
use super::super::working_folder::WorkingFolder;
use super::{Case, Fed, base_name};

/// One inner command.
pub(in super::super) enum Inner<'w, 's> {
    /// Given as words.
    Words {
        /// The words.
        words: Cow<'w, [Word<'s>]>,
        /// More are added when it runs.
        open: bool,
    },
    /// Given as a text that a shell will parse again.
    Line(String),
}

impl<'w, 's> Case<'_, 'w, 's> {
    /// Adds what the command runs.
    pub(super) fn find_inner(&mut self) {
        if self.parsed.record.style != Style::Unknown {
            self.by_record();
        } else if let Some(sub) = self.name.strip_prefix("git-") {
            self.stands_for(["git", sub], self.words);
        } else {
            self.guess();
        }
        if self.parsed.record.stdin == Input::Shell {
            self.shell();
        }
        if self.name == "cargo" {
            self.placet();
        }
        if let (Some(folder), false) = (&self.judged.folder, self.judged.inner.is_empty())
            && matches!(
                self.working_folder.clone().go(Some(folder), self.places),
                WorkingFolder::Lost
            )
        {
            self.high(self.name, Deed::TouchesOutside);
        }
    }

    fn doubt(&mut self, doubt: Doubt) {
        self.judged.why.get_or_insert_with(|| doubt.into());
    }

    fn by_record(&mut self) {
        let parsed = self.parsed;
        if parsed.is_unclear() {
            return self.doubt(Doubt::InnerUnclear);
        }
        for words in &parsed.commands {
            self.run(*words, true);
        }
        for slot in &parsed.slots {
            match slot.kind {
                Kind::Line => self.line(&[Word {
                    raw: slot.word.raw.clone(),
                    value: slot.text.into(),
                    known: slot.word.known,
                }]),
                // `strace -o '|COMMAND'`.
                Kind::Writes => {
                    let line = slot.text.strip_prefix(['|', '!']);
                    let line = line.map(|line| Inner::Line(line.to_owned()));
                    self.judged.inner.extend(line);
                }
                _ => {}
            }
        }
        match parsed.tail {
            Some((Tail::Command, words)) => self.command(words),
            Some((Tail::Lines, words)) => self.line(words),
            None if parsed.record.wraps() && self.open => self.doubt(Doubt::InnerLater),
            Some((Tail::Rest | Tail::Words | Tail::Values, _)) | None => {}
        }
    }

    fn command(&mut self, words: &'w [Word<'s>]) {
        let mut slots = self.parsed.slots.iter();
        if slots.any(|slot| slot.kind == Kind::Text && slot.is_whole() && slot.word.known != Known::Fully) {
            return self.doubt(Doubt::InnerUnclear);
        }
        match self.fed {
            _ if self.parsed.record.stdin != Input::Words => self.run(words, self.open),
            Fed::Text(text) => {
                let more = text.split_whitespace();
                let more = more.map(|word| Word::made(word.to_owned(), Known::Fully));
                let words: Vec<Word<'s>> = words.iter().cloned().chain(more).collect();
                self.run(words, true);
            }
            _ => self.run(words, true),
        }
    }

    fn run(&mut self, words: impl Into<Cow<'w, [Word<'s>]>>, open: bool) {
        let words = words.into();
        self.judged.inner.push(Inner::Words { words, open });
    }

    /// Words that are put together with spaces and parsed again.
    fn line(&mut self, words: &[Word<'_>]) {
        let fixed: Option<Vec<&str>> = words.iter().map(Word::fixed).collect();
        let is_whole = fixed.is_some() && !self.open;
        self.judged
            .inner
            .extend(fixed.map(|parts| Inner::Line(parts.join(" "))));
        if !is_whole {
            self.doubt(Doubt::InnerLater);
        }
    }

    /// Another way to write a command: `git-push` is `git push`.
    fn stands_for<const N: usize>(&mut self, start: [&str; N], rest: &[Word<'s>]) {
        let start = start.map(|word| Word::made(word.to_owned(), Known::Fully));
        let words: Vec<Word<'s>> = start.into_iter().chain(rest.iter().cloned()).collect();
        self.run(words, self.open);
    }

    /// A shell: a line behind `-c`, a script, or whatever is written to its input.
    fn shell(&mut self) {
        let parsed = self.parsed;
        if parsed.tame {
            return;
        }
        // With `dotglob` a star also finds what begins with a dot.
        if parsed.unknown || parsed.given.iter().any(|(_, value)| *value == Some("dotglob")) {
            self.doubt(Doubt::InnerUnclear);
        }
        let mut slots = parsed.slots.iter();
        let runs = slots.find(|slot| matches!(slot.kind, Kind::Line | Kind::Script));
        if runs.is_none_or(|slot| slot.kind == Kind::Script && slot.is_input()) || parsed.has_option("-s") {
            self.judged.runs_input = true;
            return self.doubt(Doubt::InnerInput);
        }
        // Other options change what the shell does besides.
        let is_plain = |(name, value): &(&str, Option<&str>)| match *name {
            "-o" => *value == Some("pipefail"),
            name => matches!(name, "-c" | "-e" | "-u" | "-x" | "-l"),
        };
        self.judged.only_line = parsed.tail.is_none()
            && !self.open
            && runs.is_some_and(|slot| slot.kind == Kind::Line)
            && parsed.given.iter().all(is_plain);
    }

    /// `cargo run … -- inbox answer …` may be Placet.
    fn placet(&mut self) {
        let mut parts = self.words.splitn(2, |word| word.value == "--");
        let (Some(before), Some(after)) = (parts.next(), parts.next()) else {
            return;
        };
        let is_named = before.iter().any(|word| word.value.contains("placet"));
        let is_own = |word: &Word<'_>| matches!(&*word.value, "inbox" | "grants");
        if is_named || after.iter().any(is_own) {
            self.stands_for(["placet"], after);
        }
    }

    /// A program without a record may run what it is given: what can hardly be anything but a dangerous command is taken for one.
    fn guess(&mut self) {
        let words = self.words;
        let starts = |at: &usize| {
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let word = words.get(*at).and_then(Word::fixed);
            let next = words.get(at + 1);
            word.zip(next)
                .is_some_and(|(word, next)| self.starts_command(word, before, &next.value))
        };
        let at = (0..words.len()).find(starts);
        if let Some(tail) = at.and_then(|at| words.get(at..)) {
            self.run(tail, self.open);
        }
        // `'rm -r x'` as one word.
        for word in words {
            let mut parts = word.value.split_ascii_whitespace();
            let start = parts.next().zip(parts.next());
            if start.is_some_and(|(first, next)| self.starts_command(first, None, next)) {
                self.judged.inner.push(Inner::Line(word.value.to_string()));
            }
        }
    }

    /// Whether `word next` between other words can hardly be anything but a command that needs approval.
    fn starts_command(&self, word: &str, before: Option<&Word<'_>>, next: &str) -> bool {
        let record = self.places.programs().record(base_name(word));
        let anywhere = record.map(|record| &record.anywhere);
        let after_dashes = before.is_some_and(|before| before.value == "--");
        anywhere
            .is_some_and(|next_words| next_words.matches(next) || (after_dashes && !next_words.is_empty()))
    }
}
