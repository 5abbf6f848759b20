//! What programs do: one record per program, as data.
//!
//! `programs.toml` holds the records that come with Placet; the operator adds more in `placet.toml`. A record lists the options and words
//! of a program that are *known*, and what each of them is: a text, a file that is read or written, a host, a command. What a record does
//! not list is unknown, and unknown is never LOW and never covered by a wildcard. [`record`] is one record, [`command_line`] compares the words
//! of one command with it.

mod command_line;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::super::act::Family;
use super::super::arguments::Sort;
use super::super::path::KnownPlaces;
pub(super) use command_line::{Parsed, Slot, is_one_string};
use placet_core::policy::Wild;
pub(in super::super) use record::List;
use record::Options;
pub(crate) use record::Record;
use record::RecordError;
pub(super) use record::{Banned, Does, Input, Kind, Style, Tail};

/// The records of all known programs, and what is known about variables, places and the shell itself.
#[derive(Clone)]
pub(crate) struct Programs {
    records: BTreeMap<String, Arc<Record>>,
    /// The record of a program that has none.
    unknown: Record,
    facts: Arc<Facts>,
    /// The records that the operator added.
    added: BTreeMap<String, Record>,
}

/// What comes with Placet is not worth printing.
impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Programs")
            .field("added", &self.added)
            .finish_non_exhaustive()
    }
}

/// `programs.toml` as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Facts {
    programs: BTreeMap<String, Record>,
    /// Options that several records share.
    options: BTreeMap<String, Options>,
    environment: Environment,
    /// Names of arguments in lowercase, without separators and a plural's `s`.
    pub(in super::super) arguments: BTreeMap<Sort, List<Wild>>,
    pub(in super::super) places: KnownPlaces,
    pub(super) shell: ShellWords,
    pub(super) git: Git,
    /// Tools that are recognised by the names of their arguments.
    families: Vec<Family>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Environment {
    /// Variables that change nothing about which code runs, and where.
    harmless: List<Wild>,
    /// Variables that change which code other programs run, or where they work.
    steering: List<Wild>,
}

/// Words that mean something to the shell.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShellWords {
    /// As a command's name they are a sign of a line read wrongly.
    pub(super) reserved: List<Wild>,
    /// Builtins that evaluate what a word holds.
    pub(super) evaluates: List<Wild>,
}

/// Settings of git that run nothing when a repository is only read.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Git {
    /// With any value.
    pub(super) harmless: List<Wild>,
    /// With exactly this value.
    pub(super) values: BTreeMap<String, String>,
    /// The hook that a reading command may run.
    pub(super) hook: String,
}

static BUILTIN: LazyLock<Arc<Programs>> =
    LazyLock::new(|| Arc::new(Programs::read_or_nothing(include_str!("../programs.toml"))));

impl Programs {
    /// The records that come with Placet.
    pub(crate) fn builtin() -> Arc<Self> {
        Arc::clone(&BUILTIN)
    }

    pub(crate) fn builtin_ref() -> &'static Self {
        &BUILTIN
    }

    /// Without its data Placet knows no program: every command is HIGH.
    fn read_or_nothing(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self::with_facts(Facts::default()))
    }

    fn with_facts(facts: Facts) -> Self {
        Self {
            records: BTreeMap::new(),
            unknown: Record::of_unknown(),
            facts: Arc::new(facts),
            added: BTreeMap::new(),
        }
    }

    fn parse(text: &str) -> Result<Self, RecordError> {
        let mut facts: Facts =
            toml::from_str(text).map_err(|error| RecordError::Unreadable(error.to_string()))?;
        let records = std::mem::take(&mut facts.programs);
        let mut programs = Self::with_facts(facts);
        programs.add(records)?;
        Ok(programs)
    }

    /// These records and those of the operator. A program has one record: the operator describes programs that have none yet.
    pub(crate) fn with(&self, records: &BTreeMap<String, Record>) -> Result<Self, RecordError> {
        let mut all = self.clone();
        all.add(records.clone())?;
        all.added.extend(records.clone());
        Ok(all)
    }

    fn add(&mut self, records: BTreeMap<String, Record>) -> Result<(), RecordError> {
        for (name, mut record) in records {
            record.settle(&Options::default(), &self.facts.options)?;
            let record = Arc::new(record);
            for name in record.all_names(&name) {
                let before = self.records.insert(name.to_owned(), Arc::clone(&record));
                if before.is_some() {
                    return Err(RecordError::Twice(name.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Whether there are no records at all, so that nothing can be judged.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Tools that are recognised by the names of their arguments.
    pub(crate) fn families(&self) -> &[Family] {
        &self.facts.families
    }

    /// What is known besides the records.
    pub(in super::super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The record of a program, by its name without a folder. A version at the end of a name (`python3.12`) is not part of it.
    pub(super) fn record(&self, name: &str) -> Option<&Record> {
        let plain = || self.records.get(without_version(name));
        // `mkfs.ext4`, `nc.openbsd`, `bash-static`: a kind of the program.
        let kind = || self.records.get(name.split('.').next()?);
        let fixed = || self.records.get(name.strip_suffix("-static")?);
        let found = self.records.get(name).or_else(plain).or_else(kind).or_else(fixed);
        found.map(|record| &**record)
    }

    /// The record of a program, or that of a program nothing is known about.
    pub(super) fn record_or_unknown(&self, name: &str) -> &Record {
        self.record(name).unwrap_or(&self.unknown)
    }

    /// Whether the program has a record, so that a wildcard in a rule can cover something.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.record(name).is_some()
    }

    /// Whether setting the variable changes nothing about what runs and where.
    pub(super) fn is_harmless_variable(&self, name: &str) -> bool {
        self.facts.environment.harmless.matches(name)
    }

    /// Whether the variable changes which code other programs run.
    pub(super) fn is_steering_variable(&self, name: &str) -> bool {
        self.is_empty() || self.facts.environment.steering.matches(name)
    }
}

/// The name of a program without its version: `perl5.36-x86_64-linux-gnu` is `perl`, `python3.12` is `python`.
fn without_version(name: &str) -> &str {
    let end = name
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(name.len());
    let (stem, version) = name.split_at(end);
    let version = version.strip_prefix('-').unwrap_or(version);
    // `python3-config` is another program.
    if version.starts_with(|c: char| c.is_ascii_digit()) && !version.ends_with("-config") {
        stem
    } else {
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
    }
}
