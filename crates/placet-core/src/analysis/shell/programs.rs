//! What programs do: one record per program, as data.
//!
//! `programs.toml` holds the records that come with Placet; the operator adds more in `placet.toml`. A record lists the options and words
//! of a program that are *known*, and what each of them is: a text, a file that is read or written, a host, a command. What a record does
//! not list is unknown, and unknown is never LOW and never covered by a wildcard. [`record`] is the written form, [`form`] the checked one,
//! [`reading`] compares the words of one command with it.

mod form;
mod reading;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::policy::Wild;
pub(super) use form::{Does, Form, Input, Kind, Tail};
pub(super) use reading::{Reading, Slot, read};
pub use record::{Record, RecordError};

/// The records of all known programs, and what is known about variables and places.
#[derive(Debug, Clone)]
pub struct Programs {
    forms: BTreeMap<String, Arc<Form>>,
    harmless_variables: Vec<Wild>,
    steering_variables: Vec<Wild>,
    public_files: Vec<String>,
    shell_tools: Vec<String>,
    /// The records that the operator added.
    added: BTreeMap<String, Record>,
}

/// What comes with Placet is the same for all.
impl PartialEq for Programs {
    fn eq(&self, other: &Self) -> bool {
        self.added == other.added
    }
}

/// `programs.toml` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    environment: Environment,
    places: Places,
    tools: Tools,
    programs: BTreeMap<String, Record>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Environment {
    /// Variables that change nothing about which code runs, and where.
    harmless: String,
    /// Variables that change which code other programs run, or where they work.
    steering: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Places {
    /// Files outside the workspace that describe the machine and hold no secret.
    public: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tools {
    /// Names under which agents offer a shell.
    shells: String,
}

static BUILTIN: LazyLock<Arc<Programs>> = LazyLock::new(|| Arc::new(Programs::read_builtin()));

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_whitespace().map(str::to_owned)
}

impl Programs {
    /// The records that come with Placet.
    pub fn builtin() -> Arc<Self> {
        Arc::clone(&BUILTIN)
    }

    pub(crate) fn builtin_ref() -> &'static Self {
        &BUILTIN
    }

    /// A build whose own data does not read knows no program at all: every command is unknown. A test reads the data.
    fn read_builtin() -> Self {
        Self::parse(include_str!("../programs.toml")).unwrap_or_else(|_| Self {
            forms: BTreeMap::new(),
            harmless_variables: Vec::new(),
            steering_variables: vec![Wild::parse("*")],
            public_files: Vec::new(),
            shell_tools: Vec::new(),
            added: BTreeMap::new(),
        })
    }

    fn parse(text: &str) -> Result<Self, RecordError> {
        let file: File = toml::from_str(text).map_err(|error| RecordError::Unreadable(error.to_string()))?;
        let wilds = |text: &str| words(text).map(|word| Wild::parse(&word)).collect();
        let mut programs = Self {
            forms: BTreeMap::new(),
            harmless_variables: wilds(&file.environment.harmless),
            steering_variables: wilds(&file.environment.steering),
            public_files: words(&file.places.public).collect(),
            shell_tools: words(&file.tools.shells).collect(),
            added: BTreeMap::new(),
        };
        programs.add(&file.programs)?;
        Ok(programs)
    }

    /// These records and those of the operator. A program has one record: the operator describes programs that have none yet.
    pub fn with(&self, records: &BTreeMap<String, Record>) -> Result<Self, RecordError> {
        for (name, record) in records {
            record.check_code(name)?;
        }
        let mut all = self.clone();
        all.add(records)?;
        all.added.extend(
            records
                .iter()
                .map(|(name, record)| (name.clone(), record.clone())),
        );
        Ok(all)
    }

    fn add(&mut self, records: &BTreeMap<String, Record>) -> Result<(), RecordError> {
        for (name, record) in records {
            let form = Arc::new(record.compile(name)?);
            for name in std::iter::once(name.clone()).chain(record.other_names()) {
                if self.forms.insert(name.clone(), Arc::clone(&form)).is_some() {
                    return Err(RecordError::Twice(name));
                }
            }
        }
        Ok(())
    }

    /// The record of a program, by its name without a folder. A version at the end of a name (`python3.12`) is not part of it.
    pub(super) fn form(&self, name: &str) -> Option<&Form> {
        let plain = || self.forms.get(without_version(name));
        // `mkfs.ext4`, `nc.openbsd`, `bash-static`: a kind of the program.
        let kind = || self.forms.get(name.split('.').next()?);
        let fixed = || self.forms.get(name.strip_suffix("-static")?);
        let found = self.forms.get(name).or_else(plain).or_else(kind).or_else(fixed);
        found.map(|form| &**form)
    }

    /// Whether the program has a record, so that a wildcard in a rule can cover something.
    pub fn knows(&self, name: &str) -> bool {
        self.form(name).is_some()
    }

    /// Whether setting the variable changes nothing about what runs and where.
    pub(super) fn is_harmless_variable(&self, name: &str) -> bool {
        self.harmless_variables.iter().any(|wild| wild.matches(name))
    }

    /// Whether the variable changes which code other programs run.
    pub(super) fn is_steering_variable(&self, name: &str) -> bool {
        self.steering_variables.iter().any(|wild| wild.matches(name))
    }

    /// Whether the file describes the machine and holds no secret.
    pub(super) fn is_public_file(&self, path: &str) -> bool {
        self.public_files.iter().any(|own| own == path)
    }

    /// Whether agents offer a shell under this name.
    pub(crate) fn is_shell_tool(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.shell_tools.contains(&name)
    }
}

/// The name of a program without its version: `perl5.36-x86_64-linux-gnu` is `perl`, `python3.12` is `python`.
pub(super) fn without_version(name: &str) -> &str {
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
