//! What a call would do, found in its arguments.
//!
//! Each lens of a tool reads one argument: as a shell line, SQL, a path or a URL. The result is a list of facts (commands,
//! statements, paths, hosts), each with its risk and the reason for it. What cannot be read is HIGH. Analysis raises the risk
//! of a call; only a line that is known to only read lowers it.

mod arguments;
mod fixed;
pub mod path;
pub mod shell;
pub mod sql;
pub mod url;
mod why;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::call::Args;
use crate::tool::{ArgNames, Category, Lens, Risk, SqlAccess, Tool};

pub use fixed::FixedPlaces;
pub use shell::{Programs, Record, RecordError};
pub use why::{AddressConcern, Ban, Deed, Doubt, PathConcern, SqlConcern, UrlConcern, UrlOddity, Why};

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
        /// Variables set for this command (`FOO=bar cmd`).
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
    /// What is known about programs.
    fn programs(&self) -> &Programs {
        Programs::builtin_ref()
    }
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
pub(crate) fn lowercase(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// Applies every lens of `tool` to `args`.
pub fn analyse(tool: &Tool, args: &Args, places: &dyn Places) -> Analysis {
    let mut found = Analysis {
        home: places.home().map(str::to_owned),
        ..Analysis::nothing()
    };
    // Other arguments of an undeclared tool may hold the words, the folder and the input of its shell line.
    let is_unknown = tool.args == ArgNames::Unknown;
    let alone = |lens: &&Lens| !(is_unknown && matches!(lens, Lens::Shell { .. }));
    for lens in tool.lenses.iter().filter(alone) {
        lens_into(lens, args, places, &mut found);
    }
    if is_unknown {
        arguments::analyse(tool, args, places, &mut found);
    }
    found
}

/// The shell lines among `args`, whole, as they would run.
pub fn shell_lines(tool: &Tool, args: &Args) -> Vec<String> {
    if tool.args == ArgNames::Unknown
        && let Some(lines) = arguments::shell_lines(args)
    {
        return lines;
    }
    let arg = |lens: &Lens| match lens {
        Lens::Shell { arg } => args.text(arg).map(str::to_owned),
        _ => None,
    };
    tool.lenses.iter().filter_map(arg).collect()
}

fn lens_into(lens: &Lens, args: &Args, places: &dyn Places, found: &mut Analysis) {
    let arg = lens.arg();
    let Some(value) = args.get(arg) else { return };
    let Some(text) = value.as_str() else {
        // A list of words, a number, an object: how the tool uses it is unknown.
        found.facts.push(Fact {
            kind: FactKind::Unreadable { what: arg.to_owned() },
            risk: Risk::High,
            why: Some(Why::NotText { arg: arg.to_owned() }),
        });
        return;
    };
    match lens {
        Lens::Shell { .. } => shell::analyse(text, places, found),
        Lens::Sql { dialect, access, .. } => sql::analyse(text, *dialect, *access, found),
        Lens::SqlOf {
            database, dialects, ..
        } => {
            let dialect = args.text(database).and_then(|name| dialects.get(name)).copied();
            sql::analyse(text, dialect, SqlAccess::ReadOnly, found);
        }
        Lens::PathRead { .. } => path::analyse(text, path::Use::Read, places, found),
        Lens::PathWrite { .. } => path::analyse(text, path::Use::Write, places, found),
        Lens::Url { .. } => url::analyse(text, found),
    }
}
