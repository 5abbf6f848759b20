//! What is known about a tool: its category, its declared risk, and how its arguments are analysed.
//!
//! Three sources, and their order matters: the operator's `[tools.NAME]` may say anything; the built-in table describes
//! the tools of the built-in agent, and only for its own calls; what an agent or an upstream says about its own tool may
//! raise risk, never lower it. Every other tool is a command of medium risk, whatever its name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::Args;
use crate::ids::ToolName;

/// Names under which agents offer a shell.
const SHELLS: &[&str] = &[
    "bash",
    "sh",
    "zsh",
    "shell",
    "terminal",
    "cmd",
    "powershell",
    "run_shell_command",
    "run_command",
    "run_shell",
    "shell_exec",
    "execute_command",
    "execute_shell",
    "execute_shell_command",
    "execute_bash",
    "run_bash",
    "run_bash_command",
    "run_in_terminal",
    "exec",
    "exec_command",
    "shell_command",
    "run_terminal_cmd",
    "run_terminal_command",
    "terminal_command",
    "bash_command",
    "local_shell",
    "container.exec",
    "unified_exec",
    "developer__shell",
];

/// What kind of effect a tool has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Looks at something.
    Read,
    /// Changes files or rows.
    Write,
    /// Runs a program.
    Command,
    /// Talks to another machine.
    Network,
    /// Exists to ask a person.
    Ask,
}

/// How bad it could be. Ordered: the larger wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Risk {
    /// Harmless.
    Low,
    /// Asked about once.
    Medium,
    /// Asked about always.
    High,
}

/// Which SQL is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SqlDialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgresql,
    /// MySQL and MariaDB.
    Mysql,
}

impl SqlDialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sqlite, Self::Postgresql, Self::Mysql];
}

/// What the server lets SQL do that was judged a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SqlAccess {
    /// Anything, as far as Placet knows: the judgement is the only wall.
    Unrestricted,
    /// Nothing but reading. Placet runs it in a read-only transaction, or the operator says that the connection cannot write.
    ReadOnly,
}

/// How one argument is looked into. Analysis raises risk and never lowers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Lens {
    /// A shell command line.
    Shell {
        /// The argument's name.
        arg: String,
    },
    /// SQL text.
    Sql {
        /// The argument's name.
        arg: String,
        /// The dialect; when unknown all three must agree.
        #[serde(default)]
        dialect: Option<SqlDialect>,
        /// What a judged read may do.
        access: SqlAccess,
    },
    /// SQL text for one of several databases of the built-in agent, which runs judged reads read-only.
    SqlOf {
        /// The argument's name.
        arg: String,
        /// The argument that names the database.
        database: String,
        /// What each of them speaks. For a name that is not here all three must agree.
        dialects: BTreeMap<String, SqlDialect>,
    },
    /// A path that is read.
    PathRead {
        /// The argument's name.
        arg: String,
    },
    /// A path that is written.
    PathWrite {
        /// The argument's name.
        arg: String,
    },
    /// A URL that is requested.
    Url {
        /// The argument's name.
        arg: String,
    },
}

/// Which arguments a tool has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgNames {
    /// Its lenses say where to look: a built-in tool, or one that the operator described.
    Any,
    /// Not known. An argument without a lens is looked into by its name and its shape.
    Unknown,
}

/// What is known about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// Its kind of effect.
    pub category: Category,
    /// Its declared risk.
    pub risk: Risk,
    /// Which arguments are analysed, and how.
    pub lenses: Vec<Lens>,
    /// Which arguments it is known to have.
    pub args: ArgNames,
    /// Whether the category follows from the SQL it is given rather than from its declaration.
    pub sql_decides_category: bool,
    /// JSON Schema of its arguments, for edits.
    pub schema: Option<Value>,
}

/// What the operator says about a tool (`[tools.NAME]`). The rest stays as it is otherwise known.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// Its kind of effect.
    pub category: Option<Category>,
    /// Its risk; the category's own when only the category is given.
    pub risk: Option<Risk>,
    /// Which arguments are analysed, and how; those otherwise known when empty.
    pub lenses: Vec<Lens>,
    /// The dialect of its SQL arguments.
    pub dialect: Option<SqlDialect>,
    /// [`ArgNames::Any`] when this describes all its arguments.
    pub args: ArgNames,
    /// JSON Schema of its arguments, for edits.
    pub schema: Option<Value>,
}

/// What a tool's own `needs_approval` said about one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnOpinion {
    /// The tool says nothing.
    Silent,
    /// The tool says no approval is needed.
    NotNeeded,
    /// The tool says that a person must agree, in every mode.
    Needed,
}

impl Lens {
    /// The argument it is about.
    pub fn arg(&self) -> &str {
        let (Self::Shell { arg }
        | Self::Sql { arg, .. }
        | Self::SqlOf { arg, .. }
        | Self::PathRead { arg }
        | Self::PathWrite { arg }
        | Self::Url { arg }) = self;
        arg
    }

    /// Whether it looks into SQL.
    pub const fn is_sql(&self) -> bool {
        matches!(self, Self::Sql { .. } | Self::SqlOf { .. })
    }
}

impl Declared {
    /// Only a category; its arguments are looked into as before.
    pub const fn of_category(category: Category) -> Self {
        Self {
            category: Some(category),
            risk: None,
            lenses: Vec::new(),
            dialect: None,
            args: ArgNames::Unknown,
            schema: None,
        }
    }

    /// The tool as the operator describes it.
    pub fn over(&self, base: Tool) -> Tool {
        let lenses = match self.lenses.as_slice() {
            [] => base.lenses.into_iter().map(|lens| self.adjusted(lens)).collect(),
            own => own.to_vec(),
        };
        let of_category = self.category.map(Category::default_risk);
        Tool {
            name: base.name,
            category: self.category.unwrap_or(base.category),
            risk: self.risk.or(of_category).unwrap_or(base.risk),
            args: match self.args {
                ArgNames::Any => ArgNames::Any,
                ArgNames::Unknown => base.args,
            },
            sql_decides_category: self.category.is_none() && lenses.iter().any(Lens::is_sql),
            lenses,
            schema: self.schema.clone().or(base.schema),
        }
    }

    /// A lens that was known already, as this description suggests.
    fn adjusted(&self, lens: Lens) -> Lens {
        match lens {
            Lens::PathWrite { arg } if self.category == Some(Category::Read) => Lens::PathRead { arg },
            Lens::Sql { arg, dialect, access } => Lens::Sql {
                arg,
                dialect: dialect.or(self.dialect),
                access,
            },
            lens => lens,
        }
    }
}

impl Category {
    /// The risk a tool of this category has when nothing else is said.
    pub const fn default_risk(self) -> Risk {
        match self {
            Self::Read => Risk::Low,
            Self::Write | Self::Command | Self::Network | Self::Ask => Risk::Medium,
        }
    }

    /// As written in configuration and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Command => "command",
            Self::Network => "network",
            Self::Ask => "ask",
        }
    }
}

impl Risk {
    /// As written in configuration and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }
}

impl std::fmt::Display for Category {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Display for Risk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Tool {
    /// A tool without a description: a command of medium risk, looked into by the usual names of arguments and by what
    /// their texts look like. Agents pivot to whatever tool is not gated, so effect counts and not the tool's name.
    pub fn unknown(name: ToolName) -> Self {
        let shell = ["command", "cmd", "script", "shell_command"].map(|arg| Lens::Shell { arg: arg.into() });
        let paths = ["path", "file_path", "filePath", "filename", "file"]
            .map(|arg| Lens::PathWrite { arg: arg.into() });
        let urls = ["url", "uri"].map(|arg| Lens::Url { arg: arg.into() });
        Self {
            name,
            category: Category::Command,
            risk: Risk::Medium,
            lenses: shell.into_iter().chain(paths).chain(urls).collect(),
            args: ArgNames::Unknown,
            sql_decides_category: false,
            schema: None,
        }
    }

    /// The names of the built-in agent's tools.
    pub const BUILTIN: [&'static str; 16] = [
        "read",
        "grep",
        "glob",
        "ls",
        "bash_output",
        "todo",
        "task",
        "skill",
        "write",
        "edit",
        "bash",
        "kill_bash",
        "fetch",
        "askUserQuestion",
        "sql_query",
        "data_modify",
    ];

    /// A tool of the built-in agent, by name. It says nothing about another agent's tool of the same name.
    pub fn builtin(name: &ToolName) -> Option<Self> {
        let path = |arg: &str| Lens::PathRead { arg: arg.into() };
        let write = |arg: &str| Lens::PathWrite { arg: arg.into() };
        let (category, lenses): (Category, Vec<Lens>) = match name.as_str() {
            "read" | "grep" | "glob" | "ls" => (Category::Read, vec![path("path")]),
            "bash_output" | "todo" | "task" | "skill" => (Category::Read, vec![]),
            "write" | "edit" => (Category::Write, vec![write("path")]),
            "bash" => (
                Category::Command,
                vec![Lens::Shell {
                    arg: "command".into(),
                }],
            ),
            "kill_bash" => (Category::Command, vec![]),
            "fetch" => (Category::Network, vec![Lens::Url { arg: "url".into() }]),
            "askUserQuestion" => (Category::Ask, vec![]),
            "sql_query" | "data_modify" => (
                Category::Write,
                vec![Lens::Sql {
                    arg: "sql".into(),
                    dialect: None,
                    access: SqlAccess::ReadOnly,
                }],
            ),
            _ => return None,
        };
        Some(Self {
            name: name.clone(),
            category,
            risk: category.default_risk(),
            sql_decides_category: lenses.iter().any(Lens::is_sql),
            lenses,
            args: ArgNames::Any,
            schema: None,
        })
    }

    /// Whether the call does nothing but run a shell line: a tool of ours or of the operator's with a shell lens, or one that goes by the
    /// name of a shell and is given the line and nothing else that could change what happens.
    pub(crate) fn runs_only_a_line(&self, args: &Args) -> bool {
        const NEUTRAL: &[&str] = &[
            "description",
            "explanation",
            "timeout",
            "timeout_ms",
            "timeoutSeconds",
        ];
        let is_line = |name: &str| {
            let is_shell = |lens: &Lens| matches!(lens, Lens::Shell { arg } if arg == name);
            self.lenses.iter().any(is_shell)
        };
        let lines = args.iter().filter(|(name, _)| is_line(name)).count();
        if self.category != Category::Command || lines != 1 {
            return false;
        }
        self.args != ArgNames::Unknown
            || (SHELLS.contains(&self.name.as_str().to_ascii_lowercase().as_str())
                && args
                    .iter()
                    .all(|(name, _)| is_line(name) || NEUTRAL.contains(&name)))
    }

    /// The tool after its owner's own description. It may raise risk, and say what it is when no declaration does; it can
    /// never make itself look harmless.
    #[must_use]
    pub fn raised_by(mut self, category: Option<Category>, risk: Option<Risk>) -> Self {
        if let Some(category) = category {
            self.risk = self.risk.max(category.default_risk());
            if category == Category::Ask {
                self.category = category;
            }
        }
        if let Some(risk) = risk {
            self.risk = self.risk.max(risk);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_says_of_its_own_tool_raises_risk_and_never_lowers_it() {
        let tool = Tool::unknown(ToolName::new("mystery").unwrap());
        let meek = tool.clone().raised_by(Some(Category::Read), Some(Risk::Low));
        assert_eq!((meek.category, meek.risk), (Category::Command, Risk::Medium));
        assert_eq!(tool.raised_by(None, Some(Risk::High)).risk, Risk::High);
    }

    #[test]
    fn every_built_in_name_is_that_of_a_tool() {
        for name in Tool::BUILTIN {
            assert!(Tool::builtin(&ToolName::new(name).unwrap()).is_some(), "{name}");
        }
    }

    #[test]
    fn a_tool_nobody_describes_is_a_command_of_medium_risk() {
        let tool = Tool::unknown(ToolName::new("mystery").unwrap());
        assert_eq!((tool.category, tool.risk), (Category::Command, Risk::Medium));
    }
}
