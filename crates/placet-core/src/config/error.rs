//! Why a configuration is refused: where, what, and what to do about it.

use std::fmt;
use std::ops::Range;

use crate::messages::{Message, text};

/// A configuration that is refused, as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file's name, as it was given.
    pub file: String,
    /// What is wrong, in the order of the file. Never empty.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What, in a sentence.
    pub message: Message,
    /// What to do about it.
    pub help: Option<Message>,
}

/// Where a setting came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// From the file.
    Text {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// The bytes of the file.
        span: Range<usize>,
    },
    /// From this environment variable.
    Environment(String),
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            match &problem.place {
                Place::Text { line, column, .. } => {
                    write!(f, "{}:{line}:{column}: {}", self.file, problem.message)?;
                }
                Place::Environment(variable) => write!(f, "{variable}: {}", problem.message)?,
            }
            if let Some(help) = &problem.help {
                write!(f, "\n  help: {help}")?;
            }
        }
        Ok(())
    }
}

/// A configuration while it is checked: knows where things are and collects what is wrong with them.
pub(super) struct Checker<'t> {
    text: &'t str,
    /// Settings from these variables have spans beyond the end of the text, in this order.
    variables: &'t [(String, String)],
    problems: Vec<Problem>,
}

impl<'t> Checker<'t> {
    pub(super) const fn new(text: &'t str, variables: &'t [(String, String)]) -> Self {
        Self {
            text,
            variables,
            problems: Vec::new(),
        }
    }

    /// The span that stands for a variable.
    pub(super) fn span_of_variable(&self, index: usize) -> Range<usize> {
        let start = self.text.len() + 1 + index;
        start..start + 1
    }

    pub(super) fn refuse(&mut self, span: Range<usize>, message: impl fmt::Display, help: Option<String>) {
        self.refuse_in_words(span, text::as_written(message), help.map(text::as_written));
    }

    /// The same, in the language of the reader.
    pub(super) fn refuse_in_words(&mut self, span: Range<usize>, message: Message, help: Option<Message>) {
        let place = self.place(span);
        self.problems.push(Problem { place, message, help });
    }

    /// The text of the file.
    pub(super) const fn text(&self) -> &'t str {
        self.text
    }

    /// What stands there: in the file, or in a variable.
    pub(super) fn source(&self, span: &Range<usize>) -> &'t str {
        match self.variable(span) {
            Some((_, value)) => value,
            None => self.text.get(span.clone()).unwrap_or_default(),
        }
    }

    /// The variable that a span stands for.
    pub(super) fn variable(&self, span: &Range<usize>) -> Option<&'t (String, String)> {
        let index = span.start.checked_sub(self.text.len() + 1)?;
        self.variables.get(index)
    }

    /// `value`, or a problem at `span`.
    pub(super) fn accept<T, E: fmt::Display>(
        &mut self,
        span: Range<usize>,
        value: Result<T, E>,
    ) -> Option<T> {
        value.map_err(|error| self.refuse(span, error, None)).ok()
    }

    /// `value` when nothing was refused.
    pub(super) fn finish<T>(self, file: &str, value: Option<T>) -> Result<T, ConfigError> {
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            _ => {
                let mut problems = self.problems;
                problems.sort_by_key(|problem| match &problem.place {
                    Place::Text { span, .. } => span.start,
                    Place::Environment(_) => usize::MAX,
                });
                Err(ConfigError {
                    file: file.to_owned(),
                    problems,
                })
            }
        }
    }

    fn place(&self, span: Range<usize>) -> Place {
        if let Some((variable, _)) = self.variable(&span) {
            return Place::Environment(variable.clone());
        }
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        Place::Text { line, column, span }
    }
}

/// "did you mean …", when some known word is near.
pub(super) fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    Some(format!("did you mean `{}`?", nearest(word, known)?))
}

/// The known word that was probably meant.
pub(super) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|known| {
        (
            strsim::damerau_levenshtein(&word.to_lowercase(), &known.to_lowercase()),
            known,
        )
    });
    let (distance, best) = near.min()?;
    (distance <= 2.max(word.len() / 3)).then_some(best)
}
