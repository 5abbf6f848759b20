//! A record as it is written in TOML, and how it becomes a [`Form`].
//!
//! | key | what it says |
//! |---|---|
//! | `names` | other names of the program |
//! | `does` | `reads`, `edits`, `runs` or `changes`; left out, what it does is unknown |
//! | `flags` | one-letter options without a value, as one word |
//! | `options` | other options: `--all`, `-n=text` (value attached or next), `--color[=text]` (attached or none), `-#` (a number) |
//! | `everywhere` | the same, also behind a subcommand |
//! | `args` | the other words: `text reads*`, `reads* writes`, `text command` |
//! | `with` | other `args`, when one of these options is given |
//! | `rewrites` | options that make it write what it reads (`sed -i`) |
//! | `deep` | options that make it read everything below a folder, or `always` |
//! | `high` | what it does that needs a person every time: deed = options, `-o=VALUE`, `-a&-b` (both), words, `none` (no words) or `always` |
//! | `unless` | options with which nothing of `high` happens (`git clean -n`) |
//! | `code` | a regular expression for code that only reads |
//! | `stdin` | `text`, `shell`, `code`, `words`, `paths` or `sends` |
//! | `style` | `gnu`, `dash` or `tar` |
//! | `sub` | a record per subcommand |
//! | `low`, `medium`, `risky` | example lines, checked by the tests and when a configuration is read |

use std::collections::BTreeMap;

use serde::Deserialize;

use super::form::{Code, Does, Form, Input, Kind, Operands, Style, Tail, Takes, Trigger};
use crate::analysis::why::Deed;
use crate::policy::Wild;

/// Why a record does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The file itself.
    #[error("{0}")]
    Unreadable(String),
    /// Two records for one program.
    #[error("`{0}` has a record already")]
    Twice(String),
    /// A word that means nothing in its place.
    #[error("the record of `{program}` has an unknown word `{word}` in `{key}`")]
    Word {
        /// Whose record.
        program: String,
        /// Which key.
        key: &'static str,
        /// The word.
        word: String,
    },
    /// Not a regular expression.
    #[error("`code` in the record of `{program}`: {error}")]
    Code {
        /// Whose record.
        program: String,
        /// In the words of the library.
        error: String,
    },
}

/// One record.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    names: String,
    does: Option<Does>,
    flags: String,
    options: String,
    everywhere: String,
    args: String,
    with: BTreeMap<String, String>,
    rewrites: String,
    deep: String,
    high: BTreeMap<Deed, String>,
    unless: String,
    code: Option<String>,
    stdin: Input,
    style: Style,
    sub: BTreeMap<String, Record>,
    pub(super) low: Vec<String>,
    pub(super) medium: Vec<String>,
    pub(super) risky: Vec<String>,
}

type Checked<T> = Result<T, (&'static str, String)>;

impl Record {
    pub(super) fn other_names(&self) -> impl Iterator<Item = String> + '_ {
        self.names.split_whitespace().map(str::to_owned)
    }

    /// Every example line with the risk it must have at most and at least: LOW, MEDIUM or HIGH.
    pub(crate) fn examples(&self) -> Vec<(&str, crate::tool::Risk)> {
        use crate::tool::Risk::{High, Low, Medium};
        let own = [(&self.low, Low), (&self.medium, Medium), (&self.risky, High)];
        let own = own
            .into_iter()
            .flat_map(|(lines, risk)| lines.iter().map(move |line| (line.as_str(), risk)));
        own.chain(self.sub.values().flat_map(Self::examples)).collect()
    }

    /// Whether every regular expression in it is one.
    pub(super) fn check_code(&self, program: &str) -> Result<(), RecordError> {
        if let Some(code) = &self.code {
            Code::new(code).check().map_err(|error| RecordError::Code {
                program: program.to_owned(),
                error: error.to_string(),
            })?;
        }
        self.sub.values().try_for_each(|sub| sub.check_code(program))
    }

    pub(super) fn compile(&self, program: &str) -> Result<Form, RecordError> {
        self.form("").map_err(|(key, word)| RecordError::Word {
            program: program.to_owned(),
            key,
            word,
        })
    }

    fn form(&self, everywhere: &str) -> Checked<Form> {
        let everywhere = format!("{everywhere} {}", self.everywhere);
        let mut options = BTreeMap::new();
        let letters = self.flags.chars().map(|letter| format!("-{letter}"));
        options.extend(letters.map(|name| (name.into_boxed_str(), Takes::Nothing)));
        for token in self
            .options
            .split_whitespace()
            .chain(everywhere.split_whitespace())
        {
            let (name, takes) = option(token).ok_or_else(|| ("options", token.to_owned()))?;
            options.insert(name, takes);
        }
        let mut subs: BTreeMap<Box<str>, Form> = BTreeMap::new();
        for (names, record) in &self.sub {
            let form = record.form(&everywhere)?;
            for names in std::iter::once(names.as_str()).chain(record.names.split_whitespace()) {
                insert(&mut subs, names, form.clone());
            }
        }
        let with = self
            .with
            .iter()
            .map(|(names, args)| Ok((list(names), operands(args)?)));
        let high = self.high.iter().map(|(deed, tokens)| (*deed, triggers(tokens)));
        Ok(Form {
            does: self.does,
            stdin: self.stdin,
            style: self.style,
            options,
            operands: operands(&self.args)?,
            with: with.collect::<Checked<_>>()?,
            rewrites: list(&self.rewrites),
            deep: triggers(&self.deep),
            high: high.collect(),
            unless: list(&self.unless),
            harmless_code: self.code.as_deref().map(Code::new),
            subs,
        })
    }
}

/// Puts a form where its words lead: `remote show` below `remote`.
fn insert(subs: &mut BTreeMap<Box<str>, Form>, names: &str, form: Form) {
    match names.split_once(' ') {
        None => {
            let slot = subs.entry(names.into()).or_default();
            let below = std::mem::take(&mut slot.subs);
            *slot = form;
            slot.subs.extend(below);
        }
        Some((first, rest)) => insert(&mut subs.entry(first.into()).or_default().subs, rest, form),
    }
}

fn list(text: &str) -> Vec<Box<str>> {
    text.split_whitespace().map(Into::into).collect()
}

fn option(token: &str) -> Option<(Box<str>, Takes)> {
    if let Some((name, kind)) = token.strip_suffix(']').and_then(|token| token.split_once("[=")) {
        return Some((name.into(), Takes::Attached(Kind::parse(kind)?)));
    }
    match token.split_once('=') {
        Some((name, kind)) => Some((name.into(), Takes::Value(Kind::parse(kind)?))),
        None => Some((token.into(), Takes::Nothing)),
    }
}

fn operands(text: &str) -> Checked<Operands> {
    let mut operands = Operands::default();
    for token in text.split_whitespace() {
        if let Some(tail) = Tail::parse(token) {
            operands.tail = Some(tail);
            continue;
        }
        let many = token.strip_suffix('*');
        let kind = Kind::parse(many.unwrap_or(token)).ok_or_else(|| ("args", token.to_owned()))?;
        match (many, operands.many) {
            (Some(_), _) => operands.many = Some(kind),
            (None, None) => operands.before.push(kind),
            (None, Some(_)) => operands.after.push(kind),
        }
    }
    Ok(operands)
}

fn triggers(text: &str) -> Vec<Trigger> {
    let trigger = |token: &str| match token {
        "always" => Trigger::Always,
        "none" => Trigger::NoOperand,
        _ if token.starts_with('-') && token.contains('&') => {
            Trigger::All(token.split('&').map(Into::into).collect())
        }
        _ if token.starts_with('-') => match token.split_once('=') {
            Some((name, value)) => Trigger::OptionValue(name.into(), Wild::parse(value)),
            None => Trigger::Option(token.into()),
        },
        _ => Trigger::Operand(Wild::parse(token)),
    };
    text.split_whitespace().map(trigger).collect()
}
