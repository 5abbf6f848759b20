//! What a call would do, as data: facts (commands, statements, paths, hosts), each with its risk and the reason for it.
//!
//! `placet-inspect` finds the facts; it needs a C compiler and large tables, and core needs neither. What core asks of it is [`Inspect`]:
//! the configuration tries the examples of its rules with it, and carries it to where calls are inspected.

mod act;
mod fixed;
mod location;
mod why;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::call::Args;
use crate::findings::Findings;
use crate::tool::{Category, Risk, Tool};

pub use act::{Act, ActCode};
pub use fixed::FixedPlaces;
pub use location::Location;
pub use why::{AddressConcern, Ban, Deed, Doubt, PathConcern, SqlConcern, UrlConcern, Why};

/// Finds what calls would do.
pub trait Inspect: fmt::Debug + Send + Sync {
    /// What a call would do. What cannot be read is HIGH. Inspection raises the risk of a call; only a line that is known to only read
    /// lowers it.
    fn inspect(&self, tool: &Tool, args: &Args, places: &dyn Places) -> Findings;
    /// The same with the operator's record of one more program, its own examples tried.
    fn with_program(&self, name: &str, record: toml::Table) -> Result<Arc<dyn Inspect>, Vec<String>>;
    /// Whether the program has a record, so that a wildcard in a rule can cover something.
    fn knows_program(&self, name: &str) -> bool;
    /// Whether an SQL statement can have this verb.
    fn is_sql_verb(&self, verb: &str) -> bool;
}

/// What a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Analysis {
    /// Each thing found, in order of appearance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// Why no mode and no approver can allow the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub banned: Option<Ban>,
    /// The home folder that `~` stands for in rules about paths.
    #[serde(skip)]
    pub home: Option<String>,
    /// What single commands do, each with its place among the facts: the findings have the act of the whole call.
    #[serde(skip)]
    pub acts: Vec<(usize, Act)>,
}

/// One thing a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// What it is.
    #[serde(flatten)]
    pub kind: FactKind,
    /// How bad it could be.
    pub risk: Risk,
    /// Why that risk; absent when nothing raised it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

/// The kinds of things a call can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum FactKind {
    /// One simple command of a shell line.
    Command {
        /// The words after brace expansion and quote removal. A word whose value is only known at run time is kept as written.
        argv: Vec<String>,
        /// The source text of this simple command.
        text: String,
        /// Some word is only known at run time.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        dynamic: bool,
        /// Variables set for this command (`FOO=bar cmd`) that may change what it does. Those known to be harmless are left out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        assignments: Vec<String>,
        /// Which wrappers it runs under (`sudo`, `xargs`), outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        under: Vec<String>,
        /// What it would do; [`Effect::Unknown`] when its record does not describe all of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        effects: Vec<Effect>,
        /// Every path that its words may name from any folder the shell may be in, links followed. Rules about paths use them;
        /// they are more than the command uses, and are neither shown nor stored.
        #[serde(skip)]
        paths: Vec<String>,
    },
    /// A file a shell line writes or reads by redirection.
    Redirect {
        /// The path as written.
        path: String,
        /// Whether it is written.
        writes: bool,
        /// Whether a rule that allows a command also covers this: inside the workspace, or `/dev/null`.
        contained: bool,
        /// Every path it may name, as for a command.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// One SQL statement.
    Statement {
        /// `SELECT`, `DELETE`, …
        verb: String,
        /// Its other verbs: a `DELETE` in a common table expression beside an `UPDATE`, the `INSERT` of a `REPLACE`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<String>,
        /// What kind of effect it has.
        category: Category,
        /// Tables it names, without quotes and in lower case.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tables: Vec<String>,
        /// Its text, printed from the parsed form.
        text: String,
    },
    /// A path.
    Path {
        /// As given.
        given: String,
        /// After resolving `..` and links.
        resolved: String,
        /// Whether it is inside the workspace.
        inside: bool,
        /// Whether it would be written.
        writes: bool,
    },
    /// A host a request would go to.
    Host {
        /// The host, in ASCII.
        host: String,
        /// The URL's scheme.
        scheme: String,
        /// The port, also when it is the scheme's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        port: Option<u16>,
    },
    /// Something that could not be read.
    Unreadable {
        /// What it was.
        what: String,
    },
}

/// One thing that a command does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// It reads this file or folder.
    Reads(String),
    /// It writes this file, or somewhere in this folder.
    Writes(String),
    /// It deletes this.
    Deletes(String),
    /// It talks to this host.
    Host(String),
    /// It runs code from there: a script, or what a program finds in the workspace.
    Runs(String),
    /// It changes something outside the workspace.
    Changes,
    /// An effect that no record describes.
    Unknown,
}

/// Where paths lead and what is there. The engine answers from disk, tests answer from tables. A question without an answer never makes
/// a command look harmless.
pub trait Places {
    /// The workspace's real root, absolute and without links.
    fn workspace(&self) -> &str;
    /// The user's home folder, if there is one.
    fn home(&self) -> Option<&str>;
    /// The real place of an absolute, normalised path: links resolved for as much of it as exists. `None` when it cannot be resolved
    /// (a loop, no permission), which counts as outside.
    fn real<'p>(&self, absolute: &'p str) -> Option<Cow<'p, str>>;
    /// The text of a small file; `None` when it is missing, too large or cannot be read.
    fn text(&self, _absolute: &str) -> Option<String> {
        None
    }
    /// Whether there is certainly no such file.
    fn is_absent(&self, _absolute: &str) -> bool {
        false
    }
    /// The files that a pattern in the last part of a path matches; `None` when the folder cannot be read.
    fn matching(&self, _pattern: &str) -> Option<Vec<String>> {
        None
    }
    /// The files that a patch or an archive would write; `None` when it cannot be read.
    fn unpacked(&self, _absolute: &str) -> Option<Vec<String>> {
        None
    }
    /// Everything below a folder, or the file itself; `None` when there is too much or it cannot be read.
    fn below(&self, _folder: &str) -> Option<Vec<String>> {
        None
    }
}

impl Analysis {
    /// Nothing found.
    pub const fn nothing() -> Self {
        Self {
            facts: Vec::new(),
            banned: None,
            home: None,
            acts: Vec::new(),
        }
    }

    /// The highest risk found; LOW when nothing was.
    pub fn risk(&self) -> Risk {
        self.facts.iter().map(|fact| fact.risk).max().unwrap_or(Risk::Low)
    }

    /// Whether this is a shell line whose every part is known to only read, inside the workspace.
    pub fn is_reading_line(&self) -> bool {
        let reads = |fact: &Fact| {
            let in_line = matches!(fact.kind, FactKind::Command { .. } | FactKind::Redirect { .. });
            in_line && fact.risk == Risk::Low
        };
        let is_command = |fact: &Fact| matches!(fact.kind, FactKind::Command { .. });
        self.facts.iter().all(reads) && self.facts.iter().any(is_command)
    }

    /// The category of the SQL found: the strongest effect of all statements.
    pub fn sql_category(&self) -> Option<Category> {
        self.facts
            .iter()
            .filter_map(|fact| match &fact.kind {
                FactKind::Statement { category, .. } => Some(*category),
                _ => None,
            })
            .max()
    }
}

/// The text in lowercase; most are already.
pub fn lowercase(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Stands in for inspection where a test only reads a configuration; it takes every record. A configuration whose rules have
    /// examples is tested in `placet-inspect`.
    #[derive(Debug)]
    struct Uninspected;

    pub(crate) fn uninspected() -> Arc<dyn Inspect> {
        Arc::new(Uninspected)
    }

    impl Inspect for Uninspected {
        fn inspect(&self, tool: &Tool, _args: &Args, _places: &dyn Places) -> Findings {
            panic!("`{}` is inspected in a test of core", tool.name)
        }

        fn with_program(&self, _name: &str, _record: toml::Table) -> Result<Arc<dyn Inspect>, Vec<String>> {
            Ok(uninspected())
        }

        fn knows_program(&self, _name: &str) -> bool {
            true
        }

        fn is_sql_verb(&self, verb: &str) -> bool {
            panic!("`{verb}` is looked up in a test of core")
        }
    }
}
