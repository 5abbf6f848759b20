//! One record: what is known about a program, or about one of its subcommands. `docs/policy.md` explains the keys.

use std::collections::BTreeMap;
use std::ops::Deref;

use placet_core::analysis::{ActCode, Deed};
use placet_core::policy::Wild;
use placet_core::tool::Risk;
use regex::Regex;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

/// Why a record does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RecordError {
    /// The file itself.
    #[error("{0}")]
    Unreadable(String),
    /// Two records for one program.
    #[error("`{0}` has a record already")]
    Twice(String),
    /// A set of options that does not exist.
    #[error("`shares`: unknown set of options `{0}`")]
    NoSet(String),
}

/// What a program does besides opening the files it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Does {
    Reads,
    Edits,
    Runs,
    Changes,
}

/// What a program does with its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Input {
    #[default]
    Text,
    Shell,
    Code,
    Words,
    Paths,
    Sends,
}

/// How options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Style {
    /// `-abc`, `--long`, `--long=value`.
    #[default]
    Gnu,
    /// `-name`, `-name=value`: one dash, never several letters in one word.
    Dash,
    /// As `gnu`, and the first word holds letters also without a dash (`tar xzf`).
    Tar,
    /// As `gnu`, also with a plus, and the values of letters are in the words behind them.
    Shell,
    /// A program without a record: every word may be anything.
    #[serde(skip)]
    Unknown,
}

/// What a word is to the program. `docs/policy.md` says what each one means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Kind {
    Text,
    Reads,
    Writes,
    Deletes,
    Folder,
    Url,
    Remote,
    Login,
    Copy,
    Host,
    Image,
    Mount,
    Socket,
    Route,
    Data,
    Line,
    Code,
    Expression,
    Script,
    Link,
    Archive,
    Unpacks,
    Variable,
    Name,
    Exec,
    Any,
}

/// What all the words from some point on are, options among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Tail {
    Command,
    Lines,
    Rest,
    Words,
    Values,
}

/// What no approver can allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum Banned {
    DeletesAll,
    ChangesAll,
    OverwritesDisk,
    ErasesDisk,
    AnswersForPeople,
}

/// Reads one word as a value of an enum.
fn word<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    let word: StrDeserializer<'de, Error> = text.into_deserializer();
    T::deserialize(word)
}

/// Words in a text, each read by itself.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "String", bound = "T: for<'t> From<&'t str>")]
pub(crate) struct List<T>(Vec<T>);

impl<T: for<'t> From<&'t str>> From<String> for List<T> {
    fn from(text: String) -> Self {
        Self(text.split_whitespace().map(T::from).collect())
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl List<Box<str>> {
    pub(crate) fn has(&self, text: &str) -> bool {
        self.iter().any(|own| **own == *text)
    }
}

impl List<Wild> {
    /// Whether one of them matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.iter().any(|wild| wild.matches(text))
    }
}

/// Which words may follow the options, in their order.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Operands {
    pub(super) before: Vec<Kind>,
    pub(super) many: Option<Kind>,
    pub(super) after: Vec<Kind>,
    pub(super) tail: Option<Tail>,
}

impl TryFrom<String> for Operands {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        let mut operands = Self::default();
        for token in text.split_whitespace() {
            if let Ok(tail) = word(token) {
                operands.tail = Some(tail);
            } else if let Some(many) = token.strip_suffix('*') {
                operands.many = Some(word(many)?);
            } else if operands.many.is_none() {
                operands.before.push(word(token)?);
            } else {
                operands.after.push(word(token)?);
            }
        }
        Ok(operands)
    }
}

impl Operands {
    /// Whether the words behind the program's own are run.
    pub(super) fn runs_words(&self) -> bool {
        matches!(self.tail, Some(Tail::Command | Tail::Lines))
    }

    /// What the operand at `at` of `count` is.
    pub(super) fn kind(&self, at: usize, count: usize) -> Option<Kind> {
        if let Some(kind) = self.before.get(at) {
            return Some(*kind);
        }
        let from_end = count.checked_sub(at)?;
        let after = self.after.len().checked_sub(from_end);
        match after.and_then(|nth| self.after.get(nth)) {
            Some(kind) if count > self.before.len() => Some(*kind),
            _ => self.many,
        }
    }
}

/// Whether an option has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// None.
    Nothing,
    /// Attached, or in the next word.
    Value(Kind),
    /// Attached, or none.
    Attached(Kind),
}

/// Options by their names.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Options(pub(super) BTreeMap<Box<str>, Takes>);

impl TryFrom<String> for Options {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        let option = |token: &str| {
            let attached = token.strip_suffix(']').and_then(|token| token.split_once("[="));
            Ok(match (attached, token.split_once('=')) {
                (Some((name, kind)), _) => (name.into(), Takes::Attached(word(kind)?)),
                (None, Some((name, kind))) => (name.into(), Takes::Value(word(kind)?)),
                (None, None) => (token.into(), Takes::Nothing),
            })
        };
        text.split_whitespace()
            .map(option)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// What makes a command HIGH.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Trigger {
    /// Any words.
    Always,
    /// No operand.
    NoOperand,
    /// This option, in any spelling.
    Option(Box<str>),
    /// This option with such a value.
    OptionValue(Box<str>, Wild),
    /// All of these.
    All(Vec<Trigger>),
    /// Such an operand.
    Operand(Wild),
}

impl From<&str> for Trigger {
    fn from(token: &str) -> Self {
        match token.split_once('=') {
            _ if token == "always" => Self::Always,
            _ if token == "none" => Self::NoOperand,
            _ if token.contains('&') => Self::All(token.split('&').map(Into::into).collect()),
            _ if !token.starts_with('-') => Self::Operand(token.into()),
            Some((name, value)) => Self::OptionValue(name.into(), value.into()),
            None => Self::Option(token.into()),
        }
    }
}

impl Trigger {
    /// Whether it is about options alone.
    pub(super) fn is_option(&self) -> bool {
        match self {
            Self::Always | Self::NoOperand | Self::Operand(_) => false,
            Self::Option(_) | Self::OptionValue(..) => true,
            Self::All(triggers) => triggers.iter().all(Self::is_option),
        }
    }
}

/// The title of a command when one of these holds: `code@names: triggers`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Titled {
    /// What it does; `line` where the line itself says it best.
    pub(super) act: Option<ActCode>,
    /// The subcommand is written as one of these; as any when there are none.
    pub(super) written: Vec<Box<str>>,
    pub(super) when: List<Trigger>,
}

impl TryFrom<String> for Titled {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        let (code, when) = text.split_once(": ").unwrap_or((&text, "always"));
        let (code, written) = code.split_once('@').unwrap_or((code, ""));
        let names = written.split(',').filter(|name| !name.is_empty());
        Ok(Self {
            act: (code != "line").then(|| word(code)).transpose()?,
            written: names.map(Into::into).collect(),
            when: when.to_owned().into(),
        })
    }
}

/// A regular expression for code that only reads.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
struct Code(Regex);

impl TryFrom<String> for Code {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, regex::Error> {
        Regex::new(&format!("^(?x:{text})$")).map(Self)
    }
}

/// What is known about a program, or about one of its subcommands.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Record {
    names: String,
    pub(in super::super) does: Option<Does>,
    flags: String,
    pub(super) options: Options,
    shares: List<Box<str>>,
    everywhere: Options,
    pub(super) args: Operands,
    pub(super) with: BTreeMap<String, Operands>,
    pub(super) rewrites: List<Box<str>>,
    pub(super) deep: List<Trigger>,
    pub(super) high: BTreeMap<Deed, List<Trigger>>,
    pub(super) banned: BTreeMap<Banned, List<Trigger>>,
    pub(super) unless: List<Box<str>>,
    pub(in super::super) anywhere: List<Wild>,
    code: Option<Code>,
    pub(in super::super) stdin: Input,
    pub(in super::super) style: Style,
    pub(super) sub: BTreeMap<String, Record>,
    pub(super) title: Vec<Titled>,
    low: Vec<String>,
    medium: Vec<String>,
    risky: Vec<String>,
}

impl Record {
    /// The record of a program that has none.
    pub(super) fn of_unknown() -> Self {
        Self {
            stdin: Input::Paths,
            style: Style::Unknown,
            ..Self::default()
        }
    }

    /// Its names besides `name`, and `name`.
    pub(super) fn all_names<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        std::iter::once(name).chain(self.names.split_whitespace())
    }

    /// Every example line with the risk it must have.
    pub(crate) fn examples(&self) -> Vec<(&str, Risk)> {
        let own = [
            (&self.low, Risk::Low),
            (&self.medium, Risk::Medium),
            (&self.risky, Risk::High),
        ];
        let own = own
            .into_iter()
            .flat_map(|(lines, risk)| lines.iter().map(move |line| (line.as_str(), risk)));
        own.chain(self.sub.values().flat_map(Self::examples)).collect()
    }

    /// Makes flags, shared and inherited options its own, and puts `remote show` below `remote`.
    pub(super) fn settle(
        &mut self,
        inherited: &Options,
        sets: &BTreeMap<String, Options>,
    ) -> Result<(), RecordError> {
        let mut everywhere = inherited.clone();
        everywhere.0.extend(std::mem::take(&mut self.everywhere.0));
        let flags = self.flags.chars().map(|letter| format!("-{letter}").into());
        let mut options: BTreeMap<_, _> = flags.map(|name| (name, Takes::Nothing)).collect();
        for name in self.shares.iter() {
            let set = sets.get(&**name);
            let set = set.ok_or_else(|| RecordError::NoSet(name.to_string()))?;
            options.extend(set.0.clone());
        }
        options.append(&mut self.options.0);
        options.extend(everywhere.0.clone());
        self.options = Options(options);
        for (names, mut record) in std::mem::take(&mut self.sub) {
            record.settle(&everywhere, sets)?;
            for name in std::mem::take(&mut record.names).split_whitespace() {
                self.insert(name, record.clone());
            }
            self.insert(&names, record);
        }
        Ok(())
    }

    /// Puts a subcommand where its words lead.
    fn insert(&mut self, names: &str, mut record: Self) {
        if let Some((first, rest)) = names.split_once(' ') {
            return self.sub.entry(first.to_owned()).or_default().insert(rest, record);
        }
        let slot = self.sub.entry(names.to_owned()).or_default();
        record.sub.append(&mut slot.sub);
        *slot = record;
    }

    /// The first HIGH thing that this record or one below it knows: a word only known at run time may be that.
    pub(super) fn first_deed(&self) -> Option<Deed> {
        let own = self.high.keys().next().copied();
        own.or_else(|| self.sub.values().find_map(Self::first_deed))
    }

    /// Whether the code is known to only read.
    pub(in super::super) fn is_harmless_code(&self, code: &str) -> bool {
        self.code.as_ref().is_some_and(|own| own.0.is_match(code))
    }

    /// Whether its first word must be one of its subcommands.
    pub(super) fn needs_sub(&self) -> bool {
        !self.sub.is_empty() && self.args.before.is_empty() && self.args.many.is_none()
    }

    /// Whether it only stands before the command that it runs.
    pub(in super::super) fn wraps(&self) -> bool {
        self.args.tail == Some(Tail::Command)
    }
}
