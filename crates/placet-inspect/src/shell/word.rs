//! One word of a command: what the shell makes of it after expanding braces and removing quotes.

use std::borrow::Cow;

use placet_core::analysis::Doubt;

use super::brace::{self, CLOSE, COMMA, OPEN};
use super::guess;
use super::tree::Node;

/// How much of a word is known before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    /// All of it.
    Fully,
    /// A glob: it may become several words, of a known shape.
    Shape,
    /// Something in it is only known when it runs; without quotes it may become several words.
    Later,
}

/// One word.
#[derive(Debug, Clone)]
pub(super) struct Word<'s> {
    /// As written, or as braces made it.
    pub(super) raw: Cow<'s, str>,
    /// After quote removal; expansions are left as written.
    pub(super) value: Cow<'s, str>,
    /// How much of `value` is known.
    pub(super) known: Known,
}

/// More words on one line of braces than this are not looked at one by one.
const BRACED_WORDS_MAX: usize = 1_000;

impl<'s> Word<'s> {
    /// Reads the word at `node` as one word, braces left as they are.
    pub(super) fn read(node: Node<'_>, source: &'s str) -> Self {
        let mut word = Self::read_marked(node, source);
        if word.value.contains(OPEN) {
            word.value = brace::as_written(&word.value).into();
        }
        word
    }

    /// Adds the words that braces make of the one at `node`.
    pub(super) fn read_into(node: Node<'_>, source: &'s str, words: &mut Vec<Self>) -> Result<(), Doubt> {
        let mut word = Self::read_marked(node, source);
        if !word.value.contains(OPEN) {
            words.push(word);
            return Ok(());
        }
        let expanded = brace::expand(&word.value);
        word.value = brace::as_written(&word.value).into();
        match expanded {
            Ok(expanded) if words.len() + expanded.len() > BRACED_WORDS_MAX => {
                words.push(word);
                Err(Doubt::TooManyWords)
            }
            Ok(expanded) if !matches!(&*expanded, [only] if **only == *word.value) => {
                // Bash drops what comes out empty.
                let kept = expanded.into_iter().filter(|value| !value.is_empty());
                words.extend(kept.map(|value| Self::made(value, word.known)));
                // To a shell without braces the list is one path.
                let climbs = word.value.split(['/', ',', '{', '}']).any(|part| part == "..");
                if climbs { Err(Doubt::ShellsDiffer) } else { Ok(()) }
            }
            itself => {
                words.push(word);
                itself.map(drop)
            }
        }
    }

    /// A word that was not written on the line, such as one that braces make.
    pub(super) fn made(value: impl Into<Cow<'s, str>>, known: Known) -> Self {
        let value = value.into();
        Self {
            known: tilde(&value, known),
            raw: value.clone(),
            value,
        }
    }

    /// Reads one word; in its value the braces and commas that count are marks of [`brace`].
    fn read_marked(node: Node<'_>, source: &'s str) -> Self {
        let raw = source.get(node.byte_range()).unwrap_or_default();
        let (value, mut known) = if let Some(value) = plain(node, source) {
            (Cow::Borrowed(value), Known::Fully)
        } else {
            let mut builder = Builder {
                value: String::with_capacity(raw.len()),
                known: Known::Fully,
            };
            builder.part(node, source);
            (Cow::Owned(builder.value), builder.known)
        };
        // An opening bracket alone is the test command and no pattern.
        if matches!(raw, "[" | "[[") {
            known = Known::Fully;
        }
        Self {
            raw: Cow::Borrowed(raw),
            value,
            known: tilde(raw, known),
        }
    }

    /// As shown in `argv`: quotes removed when that says it all, otherwise as written.
    pub(super) fn shown(&self) -> String {
        let shown = if self.known == Known::Fully {
            &self.value
        } else {
            &self.raw
        };
        shown.clone().into_owned()
    }

    /// Its value, when it is known.
    pub(super) fn fixed(&self) -> Option<&str> {
        (self.known == Known::Fully).then_some(&*self.value)
    }

    /// What it comes to if variables are empty and defaults are taken, for a word only known when it runs.
    pub(super) fn guess(&self) -> Option<String> {
        self.is_later().then(|| guess::of(&self.value))
    }

    /// Whether it is only known when it runs.
    pub(super) fn is_later(&self) -> bool {
        self.known == Known::Later
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

/// The value of a word that needs no more than its quotes removed, as most do.
fn plain<'s>(node: Node<'_>, source: &'s str) -> Option<&'s str> {
    let text = source.get(node.byte_range())?;
    match node.kind() {
        "command_name" => plain(node.children().next()?, source),
        "raw_string" => text.strip_prefix('\'')?.strip_suffix('\''),
        "word" | "number" => (!text.contains(['\\', '*', '?', '[', '`', '$', '{'])).then_some(text),
        _ => None,
    }
}

struct Builder {
    value: String,
    known: Known,
}

impl Builder {
    fn part(&mut self, node: Node<'_>, source: &str) {
        let text = source.get(node.byte_range()).unwrap_or_default();
        match node.kind() {
            "raw_string" => self.value.push_str(plain(node, source).unwrap_or(text)),
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
                '{' => self.value.push(OPEN),
                ',' if self.value.contains(OPEN) => self.value.push(COMMA),
                '}' if self.value.contains(OPEN) => self.value.push(CLOSE),
                _ => self.value.push(c),
            }
        }
    }

    /// The literal text between the expansions of a double-quoted string. The grammar drops newlines there, so the text
    /// is taken from the source.
    fn double_quoted(&mut self, node: Node<'_>, source: &str) {
        for (literal, expansion) in pieces(node, source) {
            let mut chars = literal.chars().peekable();
            while let Some(c) = chars.next() {
                match (c, chars.peek()) {
                    ('\\', Some('\n')) => drop(chars.next()),
                    ('\\', Some('$' | '`' | '"' | '\\')) => self.value.extend(chars.next()),
                    _ => self.value.push(c),
                }
            }
            if !expansion.is_empty() {
                self.later(expansion);
            }
        }
    }

    fn ansi_c(&mut self, text: &str) {
        let inside = text.strip_prefix("$'").and_then(|text| text.strip_suffix('\''));
        let mut rest = inside.unwrap_or(text);
        while let Some((before, escaped)) = rest.split_once('\\') {
            self.value.push_str(before);
            let (c, after) = unescape(escaped);
            match c {
                Some(c) => self.value.push(c),
                None => self.later("\\"),
            }
            rest = after;
        }
        self.value.push_str(rest);
    }
}

/// The character that an escape of `$'…'` stands for, and what follows; `None` when it is better asked than guessed.
fn unescape(text: &str) -> (Option<char>, &str) {
    let mut chars = text.chars();
    let escape = chars.next();
    let rest = chars.as_str();
    let (digits, radix, most) = match escape {
        Some('x') => (rest, 16, 2),
        Some('u') => (rest, 16, 4),
        Some('U') => (rest, 16, 8),
        Some('0'..='7') => (text, 8, 3),
        Some('n') => return (Some('\n'), rest),
        Some('t') => return (Some('\t'), rest),
        Some('r') => return (Some('\r'), rest),
        Some('e' | 'E') => return (Some('\u{1b}'), rest),
        Some('\\' | '\'' | '"' | '?') => return (escape, rest),
        _ => return (None, rest),
    };
    let end = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len())
        .min(most);
    let (digits, rest) = digits.split_at(end);
    // NUL ends the word, a lone byte beyond ASCII is no character, and marks of `brace` would be taken for them.
    let is_certain = |n: &u32| *n > 3 && (*n < 0x80 || matches!(escape, Some('u' | 'U')));
    let number = u32::from_str_radix(digits, radix).ok().filter(is_certain);
    (number.and_then(char::from_u32), rest)
}

/// The literal text of a string, a here-document or a `${…}`, escapes still in it: each piece with the expansion behind it, as written.
pub(super) fn pieces<'s>(node: Node<'_>, source: &'s str) -> impl Iterator<Item = (&'s str, &'s str)> {
    let (open, close) = match node.kind() {
        "string" => (1, 1),
        "expansion" => (2, 1),
        _ => (0, 0),
    };
    let mut from = node.start_byte() + open;
    let to = node.end_byte().saturating_sub(close);
    let is_expansion = |node: &Node<'_>| {
        matches!(
            node.kind(),
            "command_substitution" | "expansion" | "simple_expansion" | "arithmetic_expansion"
        )
    };
    let expansions = node.named_children().filter(is_expansion).map(Node::byte_range);
    expansions.chain(std::iter::once(to..to)).map(move |expansion| {
        let literal = source.get(from..expansion.start).unwrap_or_default();
        from = expansion.end;
        (literal, source.get(expansion).unwrap_or_default())
    })
}
