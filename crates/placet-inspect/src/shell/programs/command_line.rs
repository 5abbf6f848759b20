//! The words of one command, compared with the record of its program.

use placet_core::analysis::{Act, Deed};

use super::record::{Banned, Does, Input, Kind, Operands, Record, Style, Tail, Takes, Trigger};
use crate::shell::word::{Known, Word};

/// Of more words than these no sentence is made.
const OF_MAX: usize = 20;

/// A word, or the part of one that is an option's value, and what it is to the program.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Slot<'w, 's> {
    pub(in super::super) kind: Kind,
    pub(in super::super) text: &'w str,
    pub(in super::super) word: &'w Word<'s>,
    /// It is the value of an option.
    pub(in super::super) of_option: bool,
}

impl Slot<'_, '_> {
    /// Whether it is the whole word, so that what the shell expands at its start counts.
    pub(in super::super) fn is_whole(&self) -> bool {
        self.text.len() == self.word.value.len()
    }

    /// Whether it names the program's own input.
    pub(in super::super) fn is_input(&self) -> bool {
        matches!(self.text, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
    }
}

/// What a command comes to by the record of its program.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something else about the words"
)]
pub(in super::super) struct Parsed<'w, 's, 'p> {
    root: &'p Record,
    /// The record of the program, or of the subcommand that was found.
    pub(in super::super) record: &'p Record,
    operands: &'p Operands,
    words: &'w [Word<'s>],
    at: usize,
    /// Where the words of the subcommand begin.
    from: usize,
    /// Options that the record knows, with their values.
    pub(in super::super) given: Vec<(&'p str, Option<&'w str>)>,
    /// Words that are not options.
    plain: Vec<&'w Word<'s>>,
    pub(in super::super) slots: Vec<Slot<'w, 's>>,
    /// The words from which on another command, a line or a script's own words follow.
    pub(in super::super) tail: Option<(Tail, &'w [Word<'s>])>,
    /// Commands that options give (`find -exec`).
    pub(in super::super) commands: Vec<&'w [Word<'s>]>,
    /// Something is not in the record, so nothing after it is certain either.
    pub(in super::super) unknown: bool,
    /// The unknown option stands before the subcommand, which may be its value.
    astray: bool,
    /// Some words are only known when it runs.
    later: bool,
    /// Something HIGH that the record names.
    pub(in super::super) deed: Option<Deed>,
    /// Something HIGH that it may be, once all words are known.
    pub(in super::super) maybe: Option<Deed>,
    /// An option of `unless` turns it into one that only reads.
    pub(in super::super) tame: bool,
}

impl<'w, 's, 'p> Parsed<'w, 's, 'p> {
    /// Compares `words` with `record`; `open` says that more words are added when the command runs.
    pub(in super::super) fn of(record: &'p Record, words: &'w [Word<'s>], open: bool) -> Self {
        let mut parsed = Self {
            root: record,
            record,
            operands: &record.args,
            words,
            at: 0,
            from: 0,
            given: Vec::new(),
            plain: Vec::new(),
            slots: Vec::with_capacity(words.len()),
            tail: None,
            commands: Vec::new(),
            unknown: false,
            astray: false,
            later: open,
            deed: None,
            maybe: None,
            tame: false,
        };
        parsed.run();
        parsed.finish();
        parsed
    }

    /// What it does in a code with parameters, where the record has one and every word is known.
    pub(in super::super) fn act(&self, program: &str) -> Option<Act> {
        if self.unknown || self.later || self.plain.len() > OF_MAX {
            return None;
        }
        let before = self.from.checked_sub(1).and_then(|at| self.words.get(at));
        let written = before.map_or(program, |word| &*word.value);
        let act = self.record.title.iter().find_map(|title| {
            let is_written = title.written.is_empty() || title.written.iter().any(|own| **own == *written);
            let is_met = is_written && title.when.iter().any(|trigger| self.meets(trigger));
            is_met.then_some(title.act)
        });
        let act = act.flatten()?;
        let of: Option<Vec<String>> = self
            .plain
            .iter()
            .map(|word| word.fixed().map(str::to_owned))
            .collect();
        let of = of.filter(|of| of.len() >= act.of_min())?;
        Some(Act {
            act,
            of,
            to: None,
            with: Some(program.to_owned()),
            more: 0,
        })
    }

    /// What the program does, as far as the record says; `None` when something is unknown.
    pub(in super::super) fn does(&self) -> Option<Does> {
        match self.record.does {
            _ if self.unknown => None,
            Some(_) if self.tame => Some(Does::Reads),
            does => does,
        }
    }

    /// What it does with its input. A shell or an interpreter that is given a script or code leaves it alone.
    pub(in super::super) fn input(&self) -> Input {
        let is_code = |slot: &Slot<'_, '_>| {
            let runs = matches!(slot.kind, Kind::Script | Kind::Code | Kind::Line | Kind::Unpacks);
            runs && slot.text != "-"
        };
        // An option replaced the usual operands (`python -m`).
        let is_switched = !std::ptr::eq(self.operands, &raw const self.record.args);
        let has_code = || is_switched || self.tail.is_some() || self.slots.iter().any(is_code);
        match self.record.stdin {
            Input::Shell | Input::Code if has_code() || self.tame => Input::Text,
            input => input,
        }
    }

    /// Whether an unknown option stands before the command that the program runs.
    pub(in super::super) fn is_unclear(&self) -> bool {
        self.unknown && self.operands.runs_words()
    }

    pub(in super::super) fn has_option(&self, name: &str) -> bool {
        self.given.iter().any(|(own, _)| *own == name)
    }

    /// Whether it reads everything below the folders it is given.
    pub(in super::super) fn is_deep(&self) -> bool {
        self.record.deep.iter().any(|trigger| self.meets(trigger))
    }

    /// What no approver can allow, if the words come to that.
    pub(in super::super) fn banned(&self) -> Option<Banned> {
        let record = if self.astray { self.root } else { self.record };
        let mut banned = record.banned.iter();
        let is_met = |trigger: &Trigger| self.astray || self.meets(trigger);
        let (banned, _) = banned.find(|(_, triggers)| triggers.iter().any(is_met))?;
        // Which subcommand it is may only be known when it runs.
        let is_sure = || !self.tame && self.plain.first().is_none_or(|word| word.fixed().is_some());
        (*banned != Banned::AnswersForPeople || is_sure()).then_some(*banned)
    }

    fn run(&mut self) {
        let mut only_operands = self.record.style == Style::Unknown;
        while let Some(word) = self.words.get(self.at) {
            let (before, style) = (self.at, self.record.style);
            self.at += 1;
            let text = &*word.value;
            let is_signed =
                text.len() > 1 && (text.starts_with('-') || (style == Style::Shell && text.starts_with('+')));
            if only_operands {
                self.operand(word, before);
            } else if text == "--" {
                only_operands = true;
                self.given.extend(self.lookup("--").map(|(name, _)| (name, None)));
                self.dashes();
            } else {
                self.later |= may_be_option(word);
                if let Some((name, takes)) = self.lookup(text) {
                    self.option(name, takes, None, word);
                } else if is_signed {
                    self.dashed(word, text);
                } else if style == Style::Tar && before == 0 && self.is_bundle(text) {
                    self.letters(word, text);
                } else {
                    self.operand(word, before);
                }
            }
            if self.tail.is_some() {
                break;
            }
        }
    }

    /// What follows `--` may be the command, right away.
    fn dashes(&mut self) {
        let is_next = self.plain.len() >= self.operands.before.len() && self.operands.many.is_none();
        if self.operands.tail.is_some() && is_next {
            self.begin_tail(self.at);
        }
    }

    fn lookup(&self, name: &str) -> Option<(&'p str, Takes)> {
        let options = &self.record.options.0;
        let number = || name.strip_prefix('-').is_some_and(is_number);
        let special = || match name.as_bytes().first() {
            Some(b'-') if number() => options.get_key_value("-#"),
            Some(b'+') => options.get_key_value("+"),
            _ => None,
        };
        let found = options.get_key_value(name).or_else(special);
        found.map(|(name, takes)| (&**name, *takes))
    }

    fn is_bundle(&self, text: &str) -> bool {
        let known = |letter: char| self.record.options.0.contains_key(&*format!("-{letter}"));
        !text.is_empty() && text.chars().all(known)
    }

    /// One option, by its name in the record.
    fn option(&mut self, name: &'p str, takes: Takes, attached: Option<&'w str>, word: &'w Word<'s>) {
        let is_named = |names: &str| names.split_whitespace().any(|own| own == name);
        if let Some((_, operands)) = self.record.with.iter().find(|(names, _)| is_named(names)) {
            self.operands = operands;
        }
        let mut value = attached.map(|text| (text, word));
        if let (Takes::Value(kind), None) = (takes, value) {
            if kind == Kind::Exec {
                self.exec(word);
            } else {
                value = self.words.get(self.at).map(|word| (&*word.value, word));
                self.later |= value.is_none();
                self.at += usize::from(value.is_some());
            }
        }
        self.given.push((name, value.map(|(text, _)| text)));
        match (takes, value) {
            (_, None) => {}
            (Takes::Nothing, Some((text, _))) => self.unknown(word, text),
            (Takes::Attached(kind) | Takes::Value(kind), Some((text, word))) => self.slot(kind, text, word),
        }
        // What follows `python -m module` is for the module.
        let operands = self.operands;
        if operands.tail == Some(Tail::Rest) && operands.before.is_empty() && operands.many.is_none() {
            self.begin_tail(self.at);
        }
    }

    /// `-exec command… ;`, or `+` right after `{}`.
    fn exec(&mut self, word: &'w Word<'s>) {
        let rest = self.words.get(self.at..).unwrap_or_default();
        let ends = |pair: &[Word<'_>]| match pair {
            [before, word] => word.value == ";" || (word.value == "+" && before.value == "{}"),
            _ => false,
        };
        if let Some(end) = rest.windows(2).position(ends) {
            self.commands.extend(rest.get(..=end));
            self.at += end + 2;
        } else {
            self.unknown(word, "");
            self.deed = self.deed.or(Some(Deed::RunsCommands));
        }
    }

    /// A word that begins with a dash and is not in the record as a whole.
    fn dashed(&mut self, word: &'w Word<'s>, text: &'w str) {
        let is_dash = self.record.style == Style::Dash;
        let is_long = text.starts_with("--");
        if let Some((name, value)) = text.split_once('=')
            && let Some((name, takes)) = self.lookup(name)
            && (is_long || is_dash || name.len() > 2)
        {
            return self.option(name, takes, Some(value), word);
        }
        // `-I/usr/include`, also where options have one dash.
        let letter = text.get(..2).filter(|_| !is_long && is_dash);
        if let Some((name, takes @ Takes::Value(_))) = letter.and_then(|letter| self.lookup(letter)) {
            return self.option(name, takes, text.get(2..), word);
        }
        if is_long || is_dash {
            return self.unknown(word, text.split_once('=').map_or(text, |(_, value)| value));
        }
        self.letters(word, text.get(1..).unwrap_or_default());
    }

    fn letters(&mut self, word: &'w Word<'s>, letters: &'w str) {
        // The letters of an old bundle and of a shell take their values from the words behind it.
        let bundle = !word.value.starts_with('-') || self.record.style == Style::Shell;
        let mut left = letters.chars();
        while let Some(letter) = left.next() {
            let rest = left.as_str();
            let mut name = [0_u8; 5];
            let Some((name, takes)) = dash(letter, &mut name).and_then(|name| self.lookup(name)) else {
                return self.unknown(word, rest);
            };
            match takes {
                Takes::Nothing => self.option(name, takes, None, word),
                Takes::Value(_) if bundle || rest.is_empty() => self.option(name, takes, None, word),
                Takes::Attached(_) if rest.is_empty() => self.option(name, takes, None, word),
                _ => return self.option(name, takes, Some(rest.strip_prefix('=').unwrap_or(rest)), word),
            }
        }
    }

    /// An option that is not in the record, and what may be its value.
    fn unknown(&mut self, word: &'w Word<'s>, value: &'w str) {
        self.unknown = true;
        if !value.is_empty() {
            self.slot(Kind::Any, value, word);
        }
    }

    fn slot(&mut self, kind: Kind, text: &'w str, word: &'w Word<'s>) {
        self.slots.push(Slot {
            kind,
            text,
            word,
            of_option: true,
        });
    }

    fn operand(&mut self, word: &'w Word<'s>, at: usize) {
        if self.plain.is_empty() && !self.record.sub.is_empty() {
            if let Some(sub) = word.fixed().and_then(|text| self.record.sub.get(text)) {
                return self.subcommand(sub);
            }
            if self.record.needs_sub() {
                self.unknown = true;
                self.later |= word.fixed().is_none();
            }
        }
        let is_variable = self.operands.many == Some(Kind::Variable) && word.value.contains('=');
        if self.operands.tail.is_some() && self.plain.len() >= self.operands.before.len() && !is_variable {
            return self.begin_tail(at);
        }
        self.plain.push(word);
        // What follows a script is for the script.
        let is_script = self.operands.before.get(self.plain.len() - 1) == Some(&Kind::Script);
        if is_script && self.operands.tail == Some(Tail::Rest) {
            self.begin_tail(self.at);
        }
        self.values();
    }

    fn subcommand(&mut self, sub: &'p Record) {
        // What an option before the subcommand does counts behind it too.
        let by_option = |trigger: &Trigger| trigger.is_option() && self.meets(trigger);
        self.deed = self.deed.or_else(|| self.first_high(by_option));
        self.record = sub;
        self.operands = &sub.args;
        self.astray |= self.unknown;
        self.from = self.at;
        self.given.clear();
        self.values();
    }

    /// Behind the name of a setting every word is its value, also one with a dash.
    fn values(&mut self) {
        if self.operands.tail == Some(Tail::Values) && self.plain.len() >= self.operands.before.len() {
            self.begin_tail(self.at);
        }
    }

    fn first_high(&self, is_met: impl Fn(&Trigger) -> bool) -> Option<Deed> {
        let mut high = self.record.high.iter();
        let found = high.find(|(_, triggers)| triggers.iter().any(&is_met));
        found.map(|(deed, _)| *deed)
    }

    fn begin_tail(&mut self, at: usize) {
        let rest = self.words.get(at..).unwrap_or_default();
        self.tail = self
            .operands
            .tail
            .map(|tail| (tail, rest))
            .filter(|_| !rest.is_empty());
        self.at = at;
    }

    fn finish(&mut self) {
        let record = self.record;
        let is_given = |names: &[Box<str>]| names.iter().any(|name| self.has_option(name));
        let rewrites = is_given(&record.rewrites);
        let is_tame = is_given(&record.unless);
        let operand = |kind, word: &'w Word<'s>| Slot {
            kind,
            text: &word.value,
            word,
            of_option: false,
        };
        for (at, word) in self.plain.iter().enumerate() {
            let kind = match self.operands.kind(at, self.plain.len()) {
                // Behind an option that is not known a value cannot be told from an operand.
                Some(kind @ (Kind::Code | Kind::Line)) => kind,
                _ if self.unknown => Kind::Any,
                Some(Kind::Reads) if rewrites => Kind::Writes,
                Some(kind) => kind,
                None => {
                    self.unknown = true;
                    Kind::Any
                }
            };
            self.slots.push(operand(kind, word));
        }
        let of_tail = match self.tail {
            Some((Tail::Rest, words)) => Some((Kind::Any, words)),
            Some((Tail::Values, words)) => Some((Kind::Code, words)),
            _ => None,
        };
        if let Some((kind, words)) = of_tail {
            self.slots.extend(words.iter().map(|word| operand(kind, word)));
        }
        self.tame = is_tame && !self.unknown && !self.later;
        if !self.tame {
            self.deed = self
                .deed
                .or_else(|| self.first_high(|trigger| self.meets(trigger)));
        }
        if self.later && self.deed.is_none() {
            let is_lost = !self.plain.is_empty() && self.record.needs_sub();
            self.maybe = if is_lost {
                self.root.first_deed()
            } else {
                self.first_high(|trigger| *trigger != Trigger::NoOperand)
            };
        }
    }

    fn meets(&self, trigger: &Trigger) -> bool {
        let words = self.words.get(self.from..self.at).unwrap_or_default();
        let signed = || words.iter().filter(|word| word.value.starts_with(['-', '+']));
        let has =
            |name: &str| self.has_option(name) || signed().any(|word| self.is_spelled(&word.value, name));
        match trigger {
            Trigger::Always => true,
            Trigger::NoOperand => self.plain.is_empty() && self.tail.is_none(),
            Trigger::Option(name) => has(name),
            Trigger::All(triggers) => triggers.iter().all(|trigger| self.meets(trigger)),
            Trigger::OptionValue(name, wild) => self
                .given
                .iter()
                .any(|(own, value)| *own == &**name && value.is_some_and(|value| wild.matches(value))),
            Trigger::Operand(wild) => self.plain.iter().any(|word| wild.matches(&word.value)),
        }
    }

    /// Whether `word` gives the option `name` in a way the record does not list: abbreviated, or in a cluster with unknown letters.
    fn is_spelled(&self, word: &str, name: &str) -> bool {
        let start = word.split('=').next().unwrap_or(word);
        if name.starts_with("--") {
            let is_start = start.len() > 2 && start.starts_with("--") && name.starts_with(start);
            return is_start && self.lookup(start).is_none();
        }
        let letter = name
            .strip_prefix('-')
            .filter(|letter| letter.chars().count() == 1);
        match letter {
            Some(letter) if self.record.style != Style::Dash => {
                self.unknown && !word.starts_with("--") && word.contains(letter)
            }
            _ => start == name,
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `-x`, without allocating.
fn dash(letter: char, buffer: &mut [u8; 5]) -> Option<&str> {
    let (first, rest) = buffer.split_first_mut()?;
    *first = b'-';
    let length = letter.encode_utf8(rest).len();
    std::str::from_utf8(buffer.get(..=length)?).ok()
}

/// Whether a word that is not known yet could turn out to be an option.
fn may_be_option(word: &Word<'_>) -> bool {
    match word.known {
        Known::Fully => false,
        Known::Shape => word.value.starts_with(['-', '[']),
        Known::Later => {
            // Both `"a $b"` and `NAME="$value"` stay one word, and how that begins is known.
            let (name, value) = word.raw.split_once('=').unwrap_or(("", &word.raw));
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let stays = is_one_string(&word.raw) || (is_name && is_one_string(value));
            !stays || word.value.starts_with(['$', '`', '-'])
        }
    }
}

/// Whether it is one string in double quotes, which stays one word whatever is in it; `"$@"` and `"${a[@]}"` are several.
pub(in super::super) fn is_one_string(raw: &str) -> bool {
    let inside = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
    inside.is_some_and(|inside| !inside.contains(['"', '@']))
}
