//! A question as structure: what later becomes text, a card or a page.
//!
//! Every text in it is [`SafeText`], so a surface cannot show an unescaped one by mistake. The order is the order of
//! reading: in three seconds what would happen, then why and from whom, at the end how to answer.

use serde::Serialize;

use super::safe::SafeText;
use crate::digest::Digest;
use crate::interaction::{Code, Locale};
use crate::time::Millis;
use crate::tool::Risk;

/// What a person is shown about one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// The language it is in.
    pub locale: Locale,
    /// What would happen. A surface that can show only a part shows this part.
    pub head: Vec<Block>,
    /// Why it is asked, by whom, with what arguments.
    pub body: Vec<Block>,
    /// How to answer.
    pub foot: Vec<Block>,
}

/// One piece of a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "block", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Block {
    /// The question in a line.
    Heading {
        /// The line.
        text: SafeText,
        /// The risk of the call it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        risk: Option<Risk>,
    },
    /// Some paragraphs.
    Text {
        /// What the text is; absent for the question's own words.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<SafeText>,
        /// The text, on several lines.
        text: SafeText,
    },
    /// A name and a value.
    Field {
        /// The name.
        label: SafeText,
        /// The value, on one line.
        value: SafeText,
    },
    /// A shell line, as it would run: only the whole line says how its commands depend on each other.
    Line {
        /// The line, or lines.
        text: SafeText,
    },
    /// The commands found in a shell line, in order of appearance.
    Commands {
        /// In words; empty where no line stands above them.
        #[serde(skip_serializing_if = "SafeText::is_empty")]
        label: SafeText,
        /// Each of them.
        commands: Vec<CommandLine>,
    },
    /// One SQL statement.
    Statement {
        /// `DELETE`, `SELECT`, …
        verb: SafeText,
        /// Its text.
        text: SafeText,
        /// How bad it could be.
        risk: Risk,
        /// Why that risk.
        why: SafeText,
    },
    /// How many rows it would touch.
    Rows {
        /// In words.
        label: SafeText,
        /// How many.
        count: u64,
        /// The statement counted.
        statement: SafeText,
    },
    /// Where a request would go.
    Host {
        /// In words.
        label: SafeText,
        /// `https://example.com:443`.
        host: SafeText,
        /// How bad it could be.
        risk: Risk,
        /// Why that risk.
        why: SafeText,
    },
    /// A file before and after.
    Diff {
        /// Which file, and what becomes of it.
        label: SafeText,
        /// The places that change.
        hunks: Vec<Hunk>,
    },
    /// The arguments, complete.
    Args {
        /// In words.
        label: SafeText,
        /// Each of them, those that name a target first.
        args: Vec<Arg>,
    },
    /// Something to be careful about.
    Warning {
        /// What.
        text: SafeText,
    },
    /// The ways to answer.
    Options {
        /// The question's name in typed replies.
        code: Code,
        /// In words.
        label: SafeText,
        /// Each of them.
        options: Vec<OptionLine>,
    },
    /// How long there is. Not part of the digest: it changes while one looks.
    Countdown {
        /// In words.
        label: SafeText,
        /// How long.
        remaining: Millis,
    },
}

/// One command of a shell line.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandLine {
    /// The command.
    pub text: SafeText,
    /// What it runs under (`sudo`, `xargs`), outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub under: Vec<SafeText>,
    /// How bad it could be.
    pub risk: Risk,
    /// Why that risk.
    pub why: SafeText,
}

/// A place where a file changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hunk {
    /// Where: `@@ -1,4 +1,5 @@`.
    pub header: SafeText,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// One line of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiffLine {
    /// What happens to it.
    pub change: Change,
    /// The line.
    pub text: SafeText,
}

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// Nothing.
    Kept,
    /// It goes.
    Removed,
    /// It comes.
    Added,
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Arg {
    /// Its name.
    pub name: SafeText,
    /// Its value.
    pub value: ArgValue,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ArgValue {
    /// As JSON; a text is in quotes.
    Json(SafeText),
    /// A text of several lines, as it is.
    Text(SafeText),
}

/// One way to answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionLine {
    /// For a button's callback.
    pub option_id: String,
    /// What the button says.
    pub label: SafeText,
    /// What it does.
    pub description: SafeText,
    /// What to type instead of pressing; empty when typing cannot choose it.
    pub say: SafeText,
    /// What is asked for with it; empty when nothing is.
    pub prompt: SafeText,
    /// How it stands out.
    pub weight: Weight,
}

/// How an option stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Weight {
    /// Not at all.
    Plain,
    /// Taken when time runs out.
    Default,
    /// Dangerous.
    Dangerous,
}

impl Document {
    /// Every block in the order of reading.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.head.iter().chain(&self.body).chain(&self.foot)
    }

    /// The digest of what is shown: the same for as long as nothing but the time left changes.
    pub fn digest(&self) -> Digest {
        let mut fields = Vec::new();
        for block in self
            .blocks()
            .filter(|block| !matches!(block, Block::Countdown { .. }))
        {
            // Blocks are plain data with text keys, which always serialises; were it ever not so, the other text still
            // binds everything.
            fields.push(serde_json::to_vec(block).unwrap_or_else(|_| format!("{block:?}").into_bytes()));
        }
        let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
        Digest::of("placet/shown/1", &fields)
    }
}
