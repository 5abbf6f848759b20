//! What a command runs in turn: where the inner command begins, and what cannot be told about it.

use std::borrow::Cow;

use super::super::super::why::{Deed, Doubt};
use super::super::programs::{Input, Kind, Reading, Style, Tail};
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
    reading: &Reading<'w, 's, '_>,
    args: &Args<'w, 's>,
    judged: &mut Judged<'w, 's>,
) {
    let mut found = Found { args, judged };
    if reading.record.style != Style::Unknown {
        found.by_record(reading);
    } else if let Some(sub) = name.strip_prefix("git-") {
        found.stands_for(["git", sub], args.words);
    } else {
        found.guess();
    }
    if reading.record.stdin == Input::Shell {
        found.shell(reading);
    }
    if name == "cargo" {
        found.placet();
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
            self.words(*words, Given::LaterToo);
        }
        for slot in &reading.slots {
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
        match reading.tail {
            Some((Tail::Command, words)) => self.command(reading, words),
            Some((Tail::Lines, words)) => self.line(words),
            None if reading.record.wraps() && self.args.open => self.doubt(Doubt::InnerLater),
            Some((Tail::Rest | Tail::Words, _)) | None => {}
        }
    }

    fn command(&mut self, reading: &Reading<'w, 's, '_>, words: &'w [Word<'s>]) {
        let mut slots = reading.slots.iter();
        if slots.any(|slot| slot.kind == Kind::Text && slot.is_whole() && slot.word.known != Known::Fully) {
            return self.doubt(Doubt::InnerUnclear);
        }
        match self.args.fed {
            _ if reading.record.stdin != Input::Words => self.words(words, self.given()),
            Fed::Text(text) => {
                let more = text.split_whitespace();
                let more = more.map(|word| Word::made(word.to_owned(), Known::Fully));
                let words: Vec<Word<'s>> = words.iter().cloned().chain(more).collect();
                self.words(words, Given::LaterToo);
            }
            _ => self.words(words, Given::LaterToo),
        }
    }

    fn words(&mut self, words: impl Into<Cow<'w, [Word<'s>]>>, given: Given) {
        let words = words.into();
        self.judged.inner.push(Inner::Words { words, given });
    }

    /// Words that are put together with spaces and parsed again.
    fn line(&mut self, words: &[Word<'_>]) {
        let fixed: Option<Vec<&str>> = words.iter().map(Word::fixed).collect();
        let is_whole = fixed.is_some() && !self.args.open;
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
        self.words(words, self.given());
    }

    /// A shell: a line behind `-c`, a script, or whatever is written to its input.
    fn shell(&mut self, reading: &Reading<'w, 's, '_>) {
        if reading.tame {
            return;
        }
        // With `dotglob` a star also finds what begins with a dot.
        if reading.unknown || reading.values.iter().any(|(_, value)| *value == "dotglob") {
            self.doubt(Doubt::InnerUnclear);
        }
        let mut slots = reading.slots.iter();
        let runs = slots.find(|slot| matches!(slot.kind, Kind::Line | Kind::Script));
        if runs.is_none_or(|slot| slot.kind == Kind::Script && slot.is_input())
            || reading.given.contains(&"-s")
        {
            self.judged.runs_input = true;
            return self.doubt(Doubt::InnerInput);
        }
        // Other options change what the shell does besides.
        let is_plain = |option: &&str| matches!(*option, "-c" | "-e" | "-u" | "-x" | "-o" | "-l");
        self.judged.only_line = reading.tail.is_none()
            && !self.args.open
            && runs.is_some_and(|slot| slot.kind == Kind::Line)
            && reading.given.iter().all(is_plain)
            && reading.values.iter().all(|(_, value)| *value == "pipefail");
    }

    /// `cargo run … -- inbox answer …` is Placet, when it says so or when no other program has such commands.
    fn placet(&mut self) {
        let mut parts = self.args.words.splitn(2, |word| word.value == "--");
        let (Some(before), Some(after)) = (parts.next(), parts.next()) else {
            return;
        };
        let is_own = |word: &Word<'_>| matches!(&*word.value, "inbox" | "grants");
        let is_placet = match after.first() {
            _ if before.iter().any(|word| word.value.contains("placet")) => true,
            // An option of Placet may stand before its command.
            Some(first) if first.value.starts_with("--") => after.iter().any(is_own),
            first => first.is_some_and(is_own),
        };
        let runs = |word: &Word<'_>| matches!(&*word.value, "run" | "r");
        if is_placet && before.iter().any(runs) {
            self.stands_for(["placet"], after);
        }
    }

    /// A program without a record may run what it is given: what can hardly be anything but a dangerous command is taken for one.
    fn guess(&mut self) {
        let words = self.args.words;
        let starts = |at: &usize| {
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let word = words.get(*at).and_then(Word::fixed);
            let next = words.get(at + 1);
            word.zip(next)
                .is_some_and(|(word, next)| self.starts_command(word, before, &next.value))
        };
        let at = (0..words.len()).find(starts);
        if let Some(tail) = at.and_then(|at| words.get(at..)) {
            self.words(tail, self.given());
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

    /// Whether `word next` between other words can hardly be anything but a command that would be asked about.
    fn starts_command(&self, word: &str, before: Option<&Word<'_>>, next: &str) -> bool {
        let record = self.args.places.programs().record(base_name(word));
        let anywhere = record.map(|record| &record.anywhere);
        let after_dashes = before.is_some_and(|before| before.value == "--");
        anywhere
            .is_some_and(|next_words| next_words.matches(next) || (after_dashes && !next_words.is_empty()))
    }
}
