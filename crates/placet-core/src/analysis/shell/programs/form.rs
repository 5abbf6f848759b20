//! The checked form of a record: what each option and each word of a program is.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use crate::analysis::why::Deed;
use crate::policy::Wild;

/// What a program does besides opening the files it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Does {
    /// Nothing: it reads, and prints what it finds.
    Reads,
    /// It changes the workspace.
    Edits,
    /// It runs code of the workspace, or code that it downloads.
    Runs,
    /// It changes something outside the workspace.
    Changes,
}

/// What a program does with its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Input {
    /// It reads it as text, or not at all.
    #[default]
    Text,
    /// It runs it as shell lines, unless it is given a script or a line.
    Shell,
    /// It runs it as code, unless it is given a script or code.
    Code,
    /// It adds its words to the command that it runs.
    Words,
    /// It opens the files that it names.
    Paths,
    /// It sends it somewhere.
    Sends,
}

/// How options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Style {
    /// `-abc`, `--long`, `--long=value`.
    #[default]
    Gnu,
    /// `-name`, `-name=value`: one dash, never several letters in one word.
    Dash,
    /// As `gnu`, and the first word holds letters also without a dash (`tar xzf`).
    Tar,
}

/// What a word is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// A text that is not opened, sent or run.
    Text,
    /// A file or folder that is read.
    Reads,
    /// A file that is written.
    Writes,
    /// A file that is deleted.
    Deletes,
    /// The folder in which the program works.
    Folder,
    /// A URL, with or without its scheme.
    Url,
    /// A URL, `user@host:path`, or a name of either.
    Remote,
    /// `user@host`.
    Login,
    /// A file, or `user@host:path`.
    Copy,
    /// The name of a host.
    Host,
    /// `registry.example.org/image`.
    Image,
    /// `TCP:host:port`.
    Socket,
    /// Where something is mounted from: `source:target`, `type=bind,source=…`.
    Mount,
    /// Hosts and ports that replace others: `example.org:443:10.0.0.1:443`.
    Route,
    /// A text, or `@file` whose content is sent.
    Data,
    /// A line that a shell runs.
    Line,
    /// Code that the program runs.
    Code,
    /// An expression without effects of its own.
    Expression,
    /// A file whose code the program runs.
    Script,
    /// Where a symbolic link leads, seen from the folder of the link.
    Link,
    /// A patch or an archive, whose files are written.
    Unpacks,
    /// `NAME=value`.
    Variable,
    /// The name of a variable that the shell sets.
    Name,
    /// A command up to `;`, or up to `+` after `{}`.
    Exec,
    /// Not known.
    Any,
}

impl Kind {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "text" => Self::Text,
            "reads" => Self::Reads,
            "writes" => Self::Writes,
            "deletes" => Self::Deletes,
            "folder" => Self::Folder,
            "url" => Self::Url,
            "remote" => Self::Remote,
            "login" => Self::Login,
            "copy" => Self::Copy,
            "host" => Self::Host,
            "image" => Self::Image,
            "socket" => Self::Socket,
            "mount" => Self::Mount,
            "route" => Self::Route,
            "data" => Self::Data,
            "line" => Self::Line,
            "code" => Self::Code,
            "expression" => Self::Expression,
            "script" => Self::Script,
            "link" => Self::Link,
            "unpacks" => Self::Unpacks,
            "variable" => Self::Variable,
            "name" => Self::Name,
            "exec" => Self::Exec,
            "any" => Self::Any,
            _ => return None,
        })
    }
}

/// What all the words from some point on are, options among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Tail {
    /// A command with its words.
    Command,
    /// The words of a shell line.
    Line,
    /// Words for a script, which may do anything with them.
    Rest,
    /// Texts.
    Words,
}

impl Tail {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "command" => Self::Command,
            "lines" => Self::Line,
            "rest" => Self::Rest,
            "words" => Self::Words,
            _ => return None,
        })
    }
}

/// Which words may follow the options, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Operands {
    pub(super) before: Vec<Kind>,
    pub(super) many: Option<Kind>,
    pub(super) after: Vec<Kind>,
    pub(super) tail: Option<Tail>,
}

impl Operands {
    /// Whether the words behind the program's own are run.
    pub(super) fn runs_words(&self) -> bool {
        matches!(self.tail, Some(Tail::Command | Tail::Line))
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

/// A regular expression for code that only reads. It is compiled when it is first needed: some are long.
#[derive(Debug, Clone)]
pub(super) struct Code {
    text: Box<str>,
    compiled: OnceLock<Option<Regex>>,
}

impl Code {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: format!("^(?x:{text})$").into(),
            compiled: OnceLock::new(),
        }
    }

    /// Compiles it now.
    pub(super) fn check(&self) -> Result<(), regex::Error> {
        Regex::new(&self.text).map(drop)
    }

    fn is_harmless(&self, code: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| Regex::new(&self.text).ok());
        compiled.as_ref().is_some_and(|regex| regex.is_match(code))
    }
}

/// What makes a command HIGH.
#[derive(Debug, Clone)]
pub(super) enum Trigger {
    /// Any words.
    Always,
    /// No operand.
    NoOperand,
    /// This option, in any spelling.
    Option(Box<str>),
    /// This option with such a value.
    OptionValue(Box<str>, Wild),
    /// All of these options.
    All(Vec<Box<str>>),
    /// Such an operand.
    Operand(Wild),
}

/// What is known about a program, or about one of its subcommands.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Form {
    pub(in super::super) does: Option<Does>,
    pub(in super::super) stdin: Input,
    /// Programs that this one merely stands before, or that read lines: told apart from unknown ones.
    pub(super) style: Style,
    pub(super) options: BTreeMap<Box<str>, Takes>,
    pub(super) operands: Operands,
    /// Other operands, when one of these options is given.
    pub(super) with: Vec<(Vec<Box<str>>, Operands)>,
    /// Options that make the program write the files it reads.
    pub(super) rewrites: Vec<Box<str>>,
    /// Options that make it read everything below the folders it is given.
    pub(super) deep: Vec<Trigger>,
    pub(super) high: Vec<(Deed, Vec<Trigger>)>,
    /// Options with which nothing of `high` happens.
    pub(super) unless: Vec<Box<str>>,
    /// Code that is known to only read.
    pub(super) harmless_code: Option<Code>,
    pub(super) subs: BTreeMap<Box<str>, Form>,
}

impl Form {
    /// Whether a form below, or this one, knows something HIGH: then a word only known at run time may be that.
    pub(in super::super) fn first_deed(&self) -> Option<Deed> {
        let own = self.high.first().map(|(deed, _)| *deed);
        own.or_else(|| self.subs.values().find_map(Self::first_deed))
    }

    /// Whether the code is known to only read.
    pub(in super::super) fn is_harmless_code(&self, code: &str) -> bool {
        self.harmless_code
            .as_ref()
            .is_some_and(|own| own.is_harmless(code))
    }

    /// Whether one of its operands is written or deleted.
    pub(in super::super) fn writes_operands(&self) -> bool {
        let writes = |kind: &Kind| matches!(kind, Kind::Writes | Kind::Deletes | Kind::Copy);
        let operands = &self.operands;
        operands
            .before
            .iter()
            .chain(&operands.many)
            .chain(&operands.after)
            .any(writes)
    }

    /// Whether it only stands before the command that it runs.
    pub(in super::super) fn wraps(&self) -> bool {
        self.operands.tail == Some(Tail::Command)
    }
}
