//! The words of one command, compared with the record of its program.

use super::form::{Does, Form, Input, Kind, Operands, Style, Tail, Takes, Trigger};
use crate::analysis::shell::word::{Known, Word};
use crate::analysis::why::Deed;

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
}

/// What a command comes to by the record of its program.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something else about the words"
)]
pub(in super::super) struct Reading<'w, 's, 'p> {
    /// The record of the program, or of the subcommand that was found.
    pub(in super::super) form: &'p Form,
    pub(in super::super) slots: Vec<Slot<'w, 's>>,
    /// The words from which on another command, a line or a script's own words follow.
    pub(in super::super) tail: Option<(Tail, &'w [Word<'s>])>,
    /// Commands that options give (`find -exec`).
    pub(in super::super) commands: Vec<&'w [Word<'s>]>,
    /// Something is not in the record, so nothing after it is certain either.
    pub(in super::super) unknown: bool,
    /// The unknown option stands before the command that the program runs.
    pub(in super::super) unclear: bool,
    /// Something HIGH that the record names.
    pub(in super::super) deed: Option<Deed>,
    /// Something HIGH that it may be, once all words are known.
    pub(in super::super) maybe: Option<Deed>,
    /// It reads everything below the folders it is given.
    pub(in super::super) deep: bool,
    /// An option of `unless` turns it into one that only reads.
    pub(in super::super) tame: bool,
    /// An option replaced the usual operands (`python -m`).
    switched: bool,
}

/// Compares `words` with `form`; `open` says that more words are added when the command runs.
pub(in super::super) fn read<'w, 's, 'p>(
    form: &'p Form,
    words: &'w [Word<'s>],
    open: bool,
) -> Reading<'w, 's, 'p> {
    let mut reader = Reader {
        root: form,
        form,
        operands: &form.operands,
        words,
        at: 0,
        given: Vec::new(),
        values: Vec::new(),
        options: Vec::new(),
        plain: Vec::new(),
        slots: Vec::with_capacity(words.len()),
        commands: Vec::new(),
        tail: None,
        unknown: false,
        unclear: false,
        lost_sub: false,
        later: open,
        root_deed: None,
        switched: false,
    };
    reader.run();
    reader.finish()
}

impl Reading<'_, '_, '_> {
    /// What the program does, as far as the record says; `None` when something is unknown.
    pub(in super::super) fn does(&self) -> Option<Does> {
        match self.form.does {
            _ if self.unknown => None,
            Some(_) if self.tame => Some(Does::Reads),
            does => does,
        }
    }

    /// What it does with its input. A shell or an interpreter that is given a script or code leaves it alone.
    pub(in super::super) fn input(&self) -> Input {
        let has_code = || {
            self.switched
                || self.tail.is_some()
                || self.slots.iter().any(|slot| {
                    matches!(slot.kind, Kind::Script | Kind::Code | Kind::Line | Kind::Unpacks)
                        && slot.text != "-"
                })
        };
        match self.form.stdin {
            Input::Shell | Input::Code if has_code() || self.tame => Input::Text,
            input => input,
        }
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something else about the words so far"
)]
struct Reader<'w, 's, 'p> {
    root: &'p Form,
    form: &'p Form,
    operands: &'p Operands,
    words: &'w [Word<'s>],
    at: usize,
    /// Options that the record knows.
    given: Vec<&'p str>,
    values: Vec<(&'p str, &'w str)>,
    /// Words that are options, known or not: where HIGH ones are looked for in any spelling.
    options: Vec<&'w Word<'s>>,
    plain: Vec<&'w Word<'s>>,
    slots: Vec<Slot<'w, 's>>,
    commands: Vec<&'w [Word<'s>]>,
    tail: Option<(Tail, &'w [Word<'s>])>,
    unknown: bool,
    unclear: bool,
    lost_sub: bool,
    later: bool,
    /// Something HIGH that an option before the subcommand does.
    root_deed: Option<Deed>,
    /// An option replaced the usual operands.
    switched: bool,
}

impl<'w, 's, 'p> Reader<'w, 's, 'p> {
    fn run(&mut self) {
        let mut only_operands = false;
        while let Some(word) = self.words.get(self.at) {
            let before = self.at;
            self.at += 1;
            let text = word.value.as_str();
            if may_be_option(word) && !only_operands {
                self.later = true;
            }
            if only_operands {
                self.operand(word, before);
            } else if text == "--" {
                only_operands = true;
                self.given.extend(self.lookup("--").map(|(name, _)| name));
                self.dashes();
            } else if self.form.style == Style::Tar
                && before == 0
                && !text.starts_with('-')
                && self.is_bundle(text)
            {
                self.options.push(word);
                self.letters(word, text);
            } else if let Some((name, takes)) = self.lookup(text) {
                self.options.push(word);
                self.option(name, takes, None, word);
            } else if text.starts_with('-') && text.len() > 1 {
                self.options.push(word);
                self.dashed(word, text);
            } else {
                self.operand(word, before);
            }
            if self.tail.is_some() {
                break;
            }
        }
    }

    /// What follows `--` may be the command, right away.
    fn dashes(&mut self) {
        if self.operands.tail.is_some()
            && self.plain.len() >= self.operands.before.len()
            && self.operands.many.is_none()
        {
            self.begin_tail(self.at);
        }
    }

    fn lookup(&self, name: &str) -> Option<(&'p str, Takes)> {
        let form = self.form;
        if let Some((name, takes)) = form.options.get_key_value(name) {
            return Some((name, *takes));
        }
        let number = name
            .strip_prefix('-')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
        let special = match name.chars().next() {
            _ if number => "-#",
            Some('+') => "+",
            _ => return None,
        };
        form.options
            .get_key_value(special)
            .map(|(name, takes)| (&**name, *takes))
    }

    fn is_bundle(&self, text: &str) -> bool {
        let known = |letter: char| self.form.options.contains_key(&*format!("-{letter}"));
        !text.is_empty() && text.chars().all(known)
    }

    /// One option, by its name in the record.
    fn option(&mut self, name: &'p str, takes: Takes, attached: Option<&'w str>, word: &'w Word<'s>) {
        self.given.push(name);
        if let Some((_, operands)) = self
            .form
            .with
            .iter()
            .find(|(names, _)| names.iter().any(|own| **own == *name))
        {
            self.operands = operands;
            self.switched = true;
        }
        match (takes, attached) {
            (Takes::Nothing | Takes::Attached(_), None) => {}
            (Takes::Nothing, Some(text)) => {
                self.unknown(word);
                self.slot(Kind::Any, text, word);
            }
            (Takes::Attached(kind) | Takes::Value(kind), Some(text)) => {
                self.values.push((name, text));
                self.slot(kind, text, word);
            }
            (Takes::Value(Kind::Exec), None) => self.exec(word),
            (Takes::Value(kind), None) => match self.words.get(self.at) {
                Some(value) => {
                    self.at += 1;
                    self.values.push((name, &value.value));
                    self.slot(kind, &value.value, value);
                }
                None => self.later = true,
            },
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
            self.unknown(word);
            self.unclear = true;
        }
    }

    /// A word that begins with a dash and is not in the record as a whole.
    fn dashed(&mut self, word: &'w Word<'s>, text: &'w str) {
        if let Some((name, value)) = text.split_once('=')
            && let Some((name, takes)) = self.lookup(name)
            && (text.starts_with("--") || self.form.style == Style::Dash || name.len() > 2)
        {
            return self.option(name, takes, Some(value), word);
        }
        // `-I/usr/include`, also where options have one dash.
        let letter = text
            .get(..2)
            .filter(|_| !text.starts_with("--") && self.form.style == Style::Dash);
        if let Some((name, takes @ Takes::Value(_))) = letter.and_then(|letter| self.lookup(letter)) {
            return self.option(name, takes, text.get(2..), word);
        }
        if text.starts_with("--") || self.form.style == Style::Dash {
            self.unknown(word);
            return self.any(word, text.split_once('=').map_or(text, |(_, value)| value));
        }
        self.letters(word, text.get(1..).unwrap_or_default());
    }

    fn letters(&mut self, word: &'w Word<'s>, letters: &'w str) {
        let bundle = !word.value.starts_with('-');
        let mut left = letters.chars();
        while let Some(letter) = left.next() {
            let rest = left.as_str();
            let mut name = [0_u8; 5];
            let Some((name, takes)) = dash(letter, &mut name).and_then(|name| self.lookup(name)) else {
                self.unknown(word);
                return self.any(word, rest);
            };
            match takes {
                Takes::Nothing => self.option(name, takes, None, word),
                // The letters of an old bundle take their values from the words behind it.
                Takes::Value(_) if bundle || rest.is_empty() => self.option(name, takes, None, word),
                Takes::Attached(_) if rest.is_empty() => self.option(name, takes, None, word),
                _ => return self.option(name, takes, Some(rest.strip_prefix('=').unwrap_or(rest)), word),
            }
        }
    }

    fn unknown(&mut self, _word: &Word<'_>) {
        self.unknown = true;
        self.unclear |= self.operands.runs_words();
    }

    fn any(&mut self, word: &'w Word<'s>, text: &'w str) {
        if !text.is_empty() {
            self.slot(Kind::Any, text, word);
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
        if self.plain.is_empty() && !self.form.subs.is_empty() {
            match word.fixed().and_then(|text| self.form.subs.get(text)) {
                Some(sub) => {
                    self.root_deed = self.root_deed.or_else(|| self.option_deed());
                    self.form = sub;
                    self.operands = &sub.operands;
                    self.switched = false;
                    self.unclear |= self.unknown && self.operands.runs_words();
                    self.given.clear();
                    self.options.clear();
                    return;
                }
                None if self.form.operands.before.is_empty() && self.form.operands.many.is_none() => {
                    self.unknown = true;
                    self.lost_sub = true;
                    self.later |= word.fixed().is_none();
                }
                None => {}
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
    }

    /// What an option at hand does that is HIGH.
    fn option_deed(&self) -> Option<Deed> {
        let by_option = |trigger: &Trigger| {
            let is_option = matches!(
                trigger,
                Trigger::Option(_) | Trigger::OptionValue(..) | Trigger::All(_)
            );
            is_option && self.meets(trigger)
        };
        let high = self.form.high.iter();
        let mut found = high.filter(|(_, triggers)| triggers.iter().any(by_option));
        found.next().map(|(deed, _)| *deed)
    }

    fn begin_tail(&mut self, at: usize) {
        let rest = self.words.get(at..).unwrap_or_default();
        self.tail = self
            .operands
            .tail
            .map(|tail| (tail, rest))
            .filter(|_| !rest.is_empty());
        self.at = self.words.len();
    }

    fn finish(mut self) -> Reading<'w, 's, 'p> {
        let form = self.form;
        let is_given = |names: &[Box<str>]| names.iter().any(|name| self.given.contains(&&**name));
        let rewrites = is_given(&form.rewrites);
        let is_tame = is_given(&form.unless);
        let count = self.plain.len();
        for (at, word) in std::mem::take(&mut self.plain).into_iter().enumerate() {
            let kind = match self.operands.kind(at, count) {
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
            self.slots.push(Slot {
                kind,
                text: &word.value,
                word,
                of_option: false,
            });
            self.plain.push(word);
        }
        if let Some((Tail::Rest, words)) = self.tail {
            self.slots.extend(words.iter().map(|word| Slot {
                kind: Kind::Any,
                text: &word.value,
                word,
                of_option: false,
            }));
        }
        let tame = is_tame && !self.unknown && !self.later;
        let by_words = |form: &Form| {
            form.high
                .iter()
                .find(|(_, triggers)| triggers.iter().any(|trigger| self.meets(trigger)))
                .map(|(deed, _)| *deed)
        };
        let hit = self
            .root_deed
            .or_else(|| if tame { None } else { by_words(form) });
        let may = || {
            let may_be = |trigger: &Trigger| !matches!(trigger, Trigger::NoOperand);
            let mut high = form.high.iter();
            let named = high
                .find(|(_, triggers)| triggers.iter().any(may_be))
                .map(|(deed, _)| *deed);
            if self.lost_sub {
                self.root.first_deed()
            } else {
                named
            }
        };
        let maybe = if self.later && hit.is_none() { may() } else { None };
        let switched = self.switched;
        let deep = form.deep.iter().any(|trigger| self.meets(trigger));
        let Self {
            slots,
            commands,
            tail,
            unknown,
            unclear,
            ..
        } = self;
        Reading {
            form,
            slots,
            tail,
            commands,
            unknown,
            unclear,
            deed: hit,
            maybe,
            deep,
            tame,
            switched,
        }
    }

    fn meets(&self, trigger: &Trigger) -> bool {
        let has = |name: &str| {
            self.given.contains(&name) || self.options.iter().any(|word| self.is_spelled(&word.value, name))
        };
        match trigger {
            Trigger::Always => true,
            Trigger::NoOperand => self.plain.is_empty() && self.tail.is_none(),
            Trigger::Option(name) => has(name),
            Trigger::All(names) => names.iter().all(|name| has(name)),
            Trigger::OptionValue(name, wild) => self
                .values
                .iter()
                .any(|(own, value)| *own == &**name && wild.matches(value)),
            Trigger::Operand(wild) => self.plain.iter().any(|word| wild.matches(&word.value)),
        }
    }

    /// Whether `word` gives the option `name` in a way the record does not list: abbreviated, or in a cluster with unknown letters.
    fn is_spelled(&self, word: &str, name: &str) -> bool {
        let start = word.split('=').next().unwrap_or(word);
        if name.starts_with("--") {
            return start.len() > 2
                && start.starts_with("--")
                && name.starts_with(start)
                && self.lookup(start).is_none();
        }
        let letter = name
            .strip_prefix('-')
            .filter(|letter| letter.chars().count() == 1);
        match letter {
            Some(letter) if self.form.style != Style::Dash => {
                self.unknown && !word.starts_with("--") && word.contains(letter)
            }
            _ => start == name,
        }
    }
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
        Known::LaterAsOne => word.value.starts_with(['$', '`', '-']),
        Known::Later => !is_quoted_assignment(word),
    }
}

/// `NAME="$value"` stays one word, and begins with a name.
fn is_quoted_assignment(word: &Word<'_>) -> bool {
    word.raw.split_once('=').is_some_and(|(name, value)| {
        let inside = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name && !name.is_empty() && inside.is_some_and(|inside| !inside.contains(['"', '@']))
    })
}
