//! Command patterns: how `command = "git push --force*"` is compared with a parsed command.
//!
//! A pattern is one simple command: words separated by blanks, quoted as in a shell, each of which may hold `*` and `?`
//! (quoted, they are themselves). It is compared with the words of a command after quote removal, never with text. How
//! widely, depends on what follows from a match:
//!
//! | | [`Narrow`](Breadth::Narrow): allow rules, standing grants | [`Broad`](Breadth::Broad): ask and deny rules |
//! |---|---|---|
//! | program | the same word | the same base name: `/usr/bin/git` is `git` |
//! | order | word by word | flags anywhere; other words in order, with anything between |
//! | further words | none, unless the pattern ends in `*` | always accepted |
//! | flags | as written | `-rf` is `-fr` is `-r -v -f`; `--force` is `--force=x` is `--forc` |
//! | wildcards | never climb through `..`, never start a flag | anything |
//!
//! A last word `*` stands for any number of words, also none. Attached to the last word (`--force*`) it completes that
//! word and then also stands for any further words; but after a path (`src/*`) it stays one word, because who allows
//! `cat src/*` does not mean `cat src/a /etc/shadow`. A short and a long flag are two flags: list both.
//!
//! A rule that allows a command which is HIGH, or of which something is unknown, must spell out every word of it: what makes a command HIGH may be a flag
//! (`sort --compress-program=sh`), a program in an argument (`awk 'BEGIN{system("id")}'`) or a single letter (`git push origin +main`),
//! and who writes `awk *` means none of these.

use super::rule::Command;
use super::wild::{Piece, Wild};
use crate::analysis::Effect;
use crate::tool::Risk;

/// Why a text is not a command pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// No word in it.
    #[error("the command pattern is empty")]
    Empty,
    /// A quote without its partner, or a backslash at the end.
    #[error("the command pattern `{0}` has an open quote or ends in a backslash")]
    Unclosed(String),
    /// A pattern is one command; a pipeline is several, each of which is matched by itself.
    #[error("the command pattern `{pattern}` holds `{operator}`, but a pattern is one simple command")]
    Operator {
        /// The whole pattern.
        pattern: String,
        /// What does not belong into it.
        operator: char,
    },
    /// `FOO=bar cmd` never matches anything: variables are no words of the command.
    #[error("the command pattern `{0}` starts with an assignment")]
    Assignment(String),
}

/// How widely a pattern is compared. See the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breadth {
    /// For what allows: never more than was said.
    Narrow,
    /// For what asks or denies: no spelling gets round it.
    Broad,
}

/// A pattern over the words of one simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    words: Vec<Wild>,
    tail: Tail,
    /// The program's base name; `None` when the pattern is only `*`.
    program: Option<Wild>,
    flags: Vec<Flag>,
    positionals: Vec<Wild>,
}

/// Whether words may follow the last one of the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    Closed,
    Open,
}

/// A flag, as the broad comparison looks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Flag {
    /// `-rf`: each of these letters, in whatever bundle.
    Letters(Box<str>),
    /// `--force`: the word, with a value, or shortened as getopt accepts it.
    Long { wild: Wild, start: Box<str> },
    /// `-delete`, `-r*`: the word.
    Word(Wild),
}

impl CommandPattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let mut words = split(text)?;
        let first = words.first().ok_or(PatternError::Empty)?;
        if first.is_assignment() {
            return Err(PatternError::Assignment(text.to_owned()));
        }
        let mut tail = Tail::Closed;
        if words.last().is_some_and(Word::opens_the_tail) {
            tail = Tail::Open;
            words.pop_if(|word| word.pieces.len() == 1);
        }
        let words: Vec<Wild> = words
            .into_iter()
            .map(|word| Wild::from_pieces(word.pieces))
            .collect();
        let program = words.first().map(|word| match word.literal() {
            Some(name) => Wild::Literal(base_name(name).into()),
            None => word.clone(),
        });
        let (flags, positionals) = words
            .iter()
            .skip(1)
            .partition::<Vec<&Wild>, _>(|word| starts_a_flag(word));
        Ok(Self {
            flags: flags.into_iter().map(Flag::new).collect(),
            positionals: positionals.into_iter().cloned().collect(),
            words,
            tail,
            program,
        })
    }

    /// The pattern that matches exactly these words and nothing else.
    pub fn quote(argv: &[String]) -> String {
        argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// What the program's base name must be, unless any will do.
    pub(super) fn program(&self) -> Option<&Wild> {
        self.program.as_ref()
    }

    /// Whether it spells out which program runs, rather than leave that to a wildcard.
    pub(crate) fn spells_program(&self) -> bool {
        self.program
            .as_ref()
            .is_some_and(|program| program.literal().is_some())
    }

    /// The program it spells out, when other words are left to a wildcard.
    pub(crate) fn program_of_wildcard(&self) -> Option<&str> {
        let is_open = self.tail == Tail::Open || self.words.iter().any(|word| word.literal().is_none());
        self.program.as_ref().filter(|_| is_open)?.literal()
    }

    /// The first word besides the program that is spelled out and no flag: every command that matches has it as a word.
    pub(super) fn first_fixed_word(&self) -> Option<&str> {
        self.positionals.iter().find_map(Wild::literal)
    }

    /// Whether the command with these words matches.
    pub fn matches(&self, argv: &[String], breadth: Breadth) -> bool {
        match breadth {
            Breadth::Narrow => self.matches_narrow(argv),
            Breadth::Broad => self.matches_broad(argv),
        }
    }

    /// Whether no word is left to a wildcard of the pattern. For a command that matches narrowly.
    pub(crate) fn names_every_word(&self, argv: &[String]) -> bool {
        argv.len() == self.words.len() && self.words.iter().all(|word| word.literal().is_some())
    }

    /// Whether it covers this command, for what allows. A wildcard covers only what the record of the program knows: `sort *` was not
    /// meant to allow `sort --compress-program=sh`, nor `awk *` any program. What is HIGH or unknown must be spelled out word by word.
    pub(crate) fn covers(&self, command: &Command<'_>) -> bool {
        let is_known = command.risk < Risk::High && !command.effects.contains(&Effect::Unknown);
        self.matches_narrow(command.argv) && (is_known || self.names_every_word(command.argv))
    }

    fn matches_narrow(&self, argv: &[String]) -> bool {
        let length_fits = match self.tail {
            Tail::Closed => argv.len() == self.words.len(),
            Tail::Open => argv.len() >= self.words.len(),
        };
        length_fits
            && self
                .words
                .iter()
                .zip(argv)
                .all(|(word, arg)| word.matches_within(arg))
    }

    fn matches_broad(&self, argv: &[String]) -> bool {
        let Some((program, rest)) = argv.split_first() else {
            return false;
        };
        let same_program = |own: &Wild| own.matches(base_name(program)) || own.matches(program);
        if !self.program.as_ref().is_none_or(same_program) {
            return false;
        }
        let mut unseen = rest.iter();
        self.flags.iter().all(|flag| flag.is_in(rest))
            && self
                .positionals
                .iter()
                .all(|word| unseen.any(|arg| word.matches(arg)))
    }
}

impl Flag {
    fn new(word: &Wild) -> Self {
        let start = start_of(word);
        if start.starts_with("--") {
            return Self::Long {
                wild: word.clone(),
                start: start.into(),
            };
        }
        match word.literal().and_then(|text| text.strip_prefix('-')) {
            Some(letters) if all_different(letters) => Self::Letters(letters.into()),
            // A letter that comes twice (`-delete`, `-exec`) tells a word with one dash from a bundle.
            _ => Self::Word(word.clone()),
        }
    }

    fn is_in(&self, args: &[String]) -> bool {
        let named = |wild: &Wild, arg: &str| {
            wild.matches(arg) || arg.split_once('=').is_some_and(|(name, _)| wild.matches(name))
        };
        match self {
            Self::Word(wild) => args.iter().any(|arg| named(wild, arg)),
            Self::Letters(letters) => {
                let bundles = || {
                    args.iter()
                        .filter(|arg| arg.starts_with('-') && !arg.starts_with("--"))
                };
                letters
                    .chars()
                    .all(|letter| bundles().any(|bundle| bundle.contains(letter)))
            }
            Self::Long { wild, start } => args.iter().any(|arg| {
                let name = arg.split_once('=').map_or(arg.as_str(), |(name, _)| name);
                named(wild, arg) || (name.len() > 2 && name.starts_with("--") && start.starts_with(name))
            }),
        }
    }
}

/// One word of a pattern while it is read.
struct Word {
    pieces: Vec<Piece>,
    /// Some of it was quoted.
    quoted: bool,
}

impl Word {
    fn opens_the_tail(&self) -> bool {
        let is_path = self.pieces.contains(&Piece::Char('/'));
        self.pieces.last() == Some(&Piece::Any) && !is_path
    }

    fn is_assignment(&self) -> bool {
        !self.quoted && self.pieces.contains(&Piece::Char('='))
    }
}

/// Splits a pattern into words as a shell would, keeping apart wildcards and quoted characters.
fn split(text: &str) -> Result<Vec<Word>, PatternError> {
    let unclosed = || PatternError::Unclosed(text.to_owned());
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let current = word.get_or_insert(Word {
            pieces: Vec::new(),
            quoted: false,
        });
        match c {
            '\'' | '"' => {
                current.quoted = true;
                loop {
                    match chars.next().ok_or_else(unclosed)? {
                        end if end == c => break,
                        '\\' if c == '"' => current
                            .pieces
                            .push(Piece::Char(chars.next().ok_or_else(unclosed)?)),
                        inner => current.pieces.push(Piece::Char(inner)),
                    }
                }
            }
            '\\' => current
                .pieces
                .push(Piece::Char(chars.next().ok_or_else(unclosed)?)),
            '*' => current.pieces.push(Piece::Any),
            '?' => current.pieces.push(Piece::One),
            '|' | '&' | ';' | '<' | '>' | '`' | '(' | ')' => {
                return Err(PatternError::Operator {
                    pattern: text.to_owned(),
                    operator: c,
                });
            }
            c => current.pieces.push(Piece::Char(c)),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The last part of a program's path.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The characters before the first wildcard.
fn start_of(word: &Wild) -> String {
    match word {
        Wild::Literal(text) => text.to_string(),
        Wild::Glob(pieces) => pieces
            .iter()
            .map_while(|piece| match piece {
                Piece::Char(c) => Some(*c),
                Piece::One | Piece::Any => None,
            })
            .collect(),
    }
}

fn starts_a_flag(word: &Wild) -> bool {
    let start = start_of(word);
    start.starts_with('-') && start != "-" && start != "--"
}

fn all_different(letters: &str) -> bool {
    letters
        .chars()
        .enumerate()
        .all(|(index, letter)| !letters.chars().take(index).any(|before| before == letter))
}

#[cfg(test)]
mod tests;
