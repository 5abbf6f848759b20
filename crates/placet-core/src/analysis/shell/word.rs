//! One word of a command: what the shell makes of it after expanding braces and removing quotes.

use std::borrow::Cow;

use super::super::why::Doubt;
use super::brace::{self, Is, Mark};
use super::guess;
use super::tree::Node;

/// How much of a word is known before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    /// All of it.
    Fully,
    /// A glob: it may become several words, of a known shape.
    Shape,
    /// One word for sure, as it is quoted, but what it says is only known when it runs.
    LaterAsOne,
    /// Something in it is only known when it runs, and it may become several words.
    Later,
}

/// One word.
#[derive(Debug, Clone)]
pub(super) struct Word<'s> {
    /// As written, or as braces made it.
    pub(super) raw: Cow<'s, str>,
    /// After quote removal; expansions are left as written.
    pub(super) value: String,
    /// How much of `value` is known.
    pub(super) known: Known,
}

/// More words on one line of braces than this are not looked at one by one.
const BRACED_WORDS_MAX: usize = 1_000;

impl<'s> Word<'s> {
    /// Reads the word at `node` as one word, braces left as they are.
    pub(super) fn read(node: Node<'_>, source: &'s str) -> Self {
        Self::read_marked(node, source).0
    }

    /// Adds the words that braces make of the one at `node`.
    pub(super) fn read_into(node: Node<'_>, source: &'s str, words: &mut Vec<Self>) -> Result<(), Doubt> {
        let (word, marks) = Self::read_marked(node, source);
        if !marks.iter().any(|mark| mark.is == Is::Close) {
            words.push(word);
            return Ok(());
        }
        let expanded = brace::expand(&word.value, &marks).unwrap_or_default();
        if expanded.is_empty() || words.len() + expanded.len() > BRACED_WORDS_MAX {
            words.push(word);
            return Err(Doubt::TooManyWords);
        }
        if matches!(&*expanded, [(only, _)] if *only == word.value) {
            words.push(word);
            return Ok(());
        }
        let climbs = word.value.split(['/', ',', '{', '}']).any(|part| part == "..");
        // Bash drops what comes out empty.
        let kept = expanded.into_iter().filter(|(value, _)| !value.is_empty());
        words.extend(kept.map(|(value, known)| Self::made(value, known)));
        // To a shell without braces the list is one path.
        if climbs { Err(Doubt::ListClimbs) } else { Ok(()) }
    }

    /// A word nobody wrote like this.
    pub(super) fn made(value: String, known: Known) -> Self {
        let known = if value.starts_with('~') {
            tilde(&value, known)
        } else {
            known
        };
        Self {
            raw: Cow::Owned(value.clone()),
            value,
            known,
        }
    }

    fn read_marked(node: Node<'_>, source: &'s str) -> (Self, Vec<Mark>) {
        let raw = source.get(node.byte_range()).unwrap_or_default();
        let mut builder = Builder {
            value: String::with_capacity(raw.len()),
            known: Known::Fully,
            marks: Vec::new(),
        };
        builder.part(node, source);
        let mut known = builder.known;
        // `"$@"` and `"${a[@]}"` are several words, quoted or not.
        if known == Known::Later && node.kind() == "string" && !raw.contains('@') {
            known = Known::LaterAsOne;
        }
        // An opening bracket alone is the test command and no pattern.
        if matches!(raw, "[" | "[[") {
            known = Known::Fully;
        }
        let word = Self {
            raw: Cow::Borrowed(raw),
            value: builder.value,
            known: tilde(raw, known),
        };
        (word, builder.marks)
    }

    /// As shown in `argv`: quotes removed when that says it all, otherwise as written.
    pub(super) fn shown(&self) -> String {
        if self.known == Known::Fully {
            self.value.clone()
        } else {
            self.raw.clone().into_owned()
        }
    }

    /// Its value, when it is known.
    pub(super) fn fixed(&self) -> Option<&str> {
        (self.known == Known::Fully).then_some(self.value.as_str())
    }

    /// What it comes to if variables are empty and defaults are taken, for a word only known when it runs.
    pub(super) fn guess(&self) -> Option<String> {
        self.is_later().then(|| guess::of(&self.value))
    }

    /// Whether it is only known when it runs.
    pub(super) fn is_later(&self) -> bool {
        self.known >= Known::LaterAsOne
    }
}

/// Whose home `~bob` is, is only known when it runs.
fn tilde(raw: &str, known: Known) -> Known {
    if raw.starts_with('~') && raw != "~" && !raw.starts_with("~/") {
        Known::Later
    } else {
        known
    }
}

struct Builder {
    value: String,
    known: Known,
    /// From the first brace on.
    marks: Vec<Mark>,
}

impl Builder {
    fn part(&mut self, node: Node<'_>, source: &str) {
        let text = source.get(node.byte_range()).unwrap_or_default();
        match node.kind() {
            "raw_string" => self
                .value
                .push_str(text.trim_start_matches('\'').trim_end_matches('\'')),
            "ansi_c_string" => self.ansi_c(text),
            "string" => self.double_quoted(node, source),
            // `export A=b`.
            "concatenation" | "command_name" | "variable_assignment" => {
                for child in node.children() {
                    // `a$"b"` is translated before it is used.
                    if child.kind() == "$" && child.end_byte() < node.end_byte() {
                        self.later("$");
                    } else {
                        self.part(child, source);
                    }
                }
            }
            "regex" | "extglob_pattern" => {
                self.raise(Known::Shape);
                self.value.push_str(text);
            }
            "brace_expression" => self.bare(text),
            _ if node.is_leaf() => self.bare(text),
            _ => self.later(text),
        }
    }

    fn later(&mut self, text: &str) {
        self.raise(Known::Later);
        self.value.push_str(text);
    }

    fn raise(&mut self, known: Known) {
        self.known = self.known.max(known);
        if !self.marks.is_empty() {
            self.mark(Is::Raises(known));
        }
    }

    fn mark(&mut self, is: Is) {
        let at = self.value.len();
        self.marks.push(Mark { at, is });
    }

    /// Unquoted text: a backslash keeps the next character.
    fn bare(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => self.value.extend(chars.next()),
                '*' | '?' | '[' => {
                    self.raise(Known::Shape);
                    self.value.push(c);
                }
                '`' => self.later("`"),
                '$' if self.value.ends_with('$') => self.later("$"),
                '{' => {
                    if self.marks.is_empty() && self.known > Known::Fully {
                        self.marks.push(Mark {
                            at: 0,
                            is: Is::Raises(self.known),
                        });
                    }
                    self.mark(Is::Open);
                    self.value.push(c);
                }
                ',' | '}' => {
                    if !self.marks.is_empty() {
                        self.mark(if c == ',' { Is::Comma } else { Is::Close });
                    }
                    self.value.push(c);
                }
                _ => self.value.push(c),
            }
        }
    }

    /// The literal text between the expansions of a double-quoted string. The grammar drops newlines there, so the text
    /// is taken from the source.
    fn double_quoted(&mut self, node: Node<'_>, source: &str) {
        for piece in literal_pieces(node, source) {
            match piece {
                Piece::Literal(text) => {
                    let mut chars = text.chars().peekable();
                    while let Some(c) = chars.next() {
                        match (c, chars.peek()) {
                            ('\\', Some('\n')) => drop(chars.next()),
                            ('\\', Some('$' | '`' | '"' | '\\')) => self.value.extend(chars.next()),
                            _ => self.value.push(c),
                        }
                    }
                }
                Piece::Expansion(text) => self.later(text),
            }
        }
    }

    fn ansi_c(&mut self, text: &str) {
        let body = text
            .strip_prefix("$'")
            .and_then(|text| text.strip_suffix('\''))
            .unwrap_or(text);
        let mut chars = body.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '\\' {
                self.value.push(c);
                continue;
            }
            let Some(escape) = chars.next() else { break };
            let number = match escape {
                'n' => Some(0x0a),
                't' => Some(0x09),
                'a' => Some(0x07),
                'b' => Some(0x08),
                'e' | 'E' => Some(0x1b),
                'f' => Some(0x0c),
                'r' => Some(0x0d),
                'v' => Some(0x0b),
                'x' => digits(&mut chars, 16, 2),
                'u' => digits(&mut chars, 16, 4),
                'U' => digits(&mut chars, 16, 8),
                'c' => chars.next().map(|c| u32::from(c) & 0x1f),
                '0'..='7' => {
                    let first = escape.to_digit(8).unwrap_or_default();
                    Some(octal(first, &mut chars))
                }
                '\\' | '\'' | '"' | '?' => Some(u32::from(escape)),
                _ => {
                    self.value.push('\\');
                    Some(u32::from(escape))
                }
            };
            // NUL ends the word and a lone byte is no character: what bash makes of it is better asked than guessed.
            match number
                .filter(|&n| n != 0 && (n < 0x80 || matches!(escape, 'u' | 'U')))
                .and_then(char::from_u32)
            {
                Some(c) => self.value.push(c),
                None => self.later("\\"),
            }
        }
    }
}

/// A piece of a double-quoted string or a here-document.
pub(super) enum Piece<'s> {
    /// Literal text, escapes still in it.
    Literal(&'s str),
    /// An expansion, as written.
    Expansion(&'s str),
}

/// The pieces of a string node, between its quotes.
pub(super) fn literal_pieces<'s>(node: Node<'_>, source: &'s str) -> Vec<Piece<'s>> {
    let (mut from, mut to) = (node.start_byte(), node.end_byte());
    if node.kind() == "string" {
        (from, to) = (from + 1, to.saturating_sub(1));
    }
    let mut pieces = Vec::new();
    for child in node.named_children() {
        if matches!(child.kind(), "string_content" | "heredoc_content") {
            continue;
        }
        pieces.push(Piece::Literal(
            source.get(from..child.start_byte()).unwrap_or_default(),
        ));
        pieces.push(Piece::Expansion(
            source.get(child.byte_range()).unwrap_or_default(),
        ));
        from = child.end_byte();
    }
    pieces.push(Piece::Literal(source.get(from..to).unwrap_or_default()));
    pieces
}

fn digits(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize) -> Option<u32> {
    let mut number = None;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        chars.next();
        number = Some(number.unwrap_or(0) * radix + digit);
    }
    number
}

fn octal(first: u32, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> u32 {
    (0..2).fold(first, |number, _| {
        match chars.peek().and_then(|c| c.to_digit(8)) {
            Some(digit) => {
                chars.next();
                number * 8 + digit
            }
            None => number,
        }
    })
}
