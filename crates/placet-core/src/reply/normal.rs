//! One spelling for what people type: width, case, spaces, quotes and the full stop at the end do not matter.

use unicode_normalization::UnicodeNormalization;

use super::words;
use crate::interaction::Code;
use crate::render::glyph;

/// Longer than any answer that is more than a text.
const LINE_BYTES_MAX: usize = 512;

/// The words of a message in one spelling; `None` when it cannot be an answer: several lines, or an invisible character.
pub(super) fn line(text: &str) -> Option<String> {
    let text = text.trim();
    let unreadable = |c: char| is_line_break(c) || (glyph::is_hidden(c) && !c.is_whitespace());
    if text.len() > LINE_BYTES_MAX || text.chars().any(unreadable) {
        return None;
    }
    let folded = text.nfkc().collect::<String>().to_lowercase();
    let line = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(bare(&line).to_owned())
}

/// Whom a message is for, by the name it starts with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Addressee<'t> {
    /// It contains no name.
    Nobody,
    /// It names us; this is the rest of it.
    Us(&'t str),
    /// It names another recipient: what they are told is not an answer to us.
    Another,
}

/// Looks for `@name` before the message. `own_names` are the names we go by.
pub(super) fn addressee<'t>(text: &'t str, own_names: &[&str]) -> Addressee<'t> {
    let Some((word, rest)) = text.find(char::is_whitespace).map(|at| text.split_at(at)) else {
        return Addressee::Nobody;
    };
    let fold = |text: &str| text.nfkc().collect::<String>().to_lowercase();
    let word = fold(word);
    let Some(name) = mentioned(&word) else {
        return Addressee::Nobody;
    };
    if !own_names.iter().any(|own| fold(own) == name) {
        return Addressee::Another;
    }
    // A name on a line of its own makes several lines, which are no answer.
    if rest.starts_with(is_line_break) {
        Addressee::Nobody
    } else {
        Addressee::Us(rest.trim_start())
    }
}

/// The name in `@placet`, `@placet:` or `<@U7>`. Not in `@types/node` or `@bot?`, which are something else.
fn mentioned(word: &str) -> Option<&str> {
    let word = word.trim_end_matches([':', ',', '、']);
    let name = match word.strip_prefix("<@") {
        Some(inner) => inner.strip_suffix('>')?,
        None => word.strip_prefix('@')?,
    };
    let plain = |c: char| c.is_alphanumeric() || "_-.:|".contains(c);
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

/// Without the quotes, emphasis and closing punctuation around it. A question mark stays: "yes?" is not a yes; so do
/// dots: "yes..." hesitates.
fn bare(mut line: &str) -> &str {
    const PAIRS: [(&str, &str); 11] = [
        ("**", "**"),
        ("__", "__"),
        ("*", "*"),
        ("_", "_"),
        ("`", "`"),
        ("\"", "\""),
        ("'", "'"),
        ("“", "”"),
        ("‘", "’"),
        ("「", "」"),
        ("『", "』"),
    ];
    for _ in 0..3 {
        let before = line;
        line = without_full_stop(line);
        for (open, close) in PAIRS {
            let inner = line.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
            if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
                line = inner.trim();
                break;
            }
        }
        if line == before {
            break;
        }
    }
    line
}

fn without_full_stop(line: &str) -> &str {
    let rest = line.trim_end_matches(['.', '!', '。', '~']);
    let stops = line.get(rest.len()..).unwrap_or_default();
    if stops.matches(['.', '。']).count() > 1 {
        return line;
    }
    rest.trim_end()
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Each way to see a code at either end of a line: the code, the words beside it, and the code as written. `批准K7QP`
/// needs no space. A word that answers is never a code, or `yes deny` would approve a question called DENY.
pub(super) fn codes(line: &str) -> Vec<(Code, &str, &str)> {
    let read = |written: &str| {
        let code = Code::parse(written.strip_prefix('#').unwrap_or(written))?;
        words::meaning(written).is_none().then_some(code)
    };
    let last = line.rsplit_once(' ').map(|(rest, code)| (code, rest));
    let ends = [last, line.split_once(' '), Some((line, "")), glued(line)];
    let mut found = Vec::new();
    for (written, words) in ends.into_iter().flatten() {
        if let Some(code) = read(written) {
            found.push((code, words, written));
        }
    }
    found
}

/// A Chinese word and a code without a space between them.
fn glued(line: &str) -> Option<(&str, &str)> {
    let ascii = |c: char| c.is_ascii();
    let word_end = line.find(ascii)?;
    if word_end > 0 {
        let (word, code) = line.split_at(word_end);
        return Some((code, word));
    }
    let (code, word) = line.split_at(line.find(|c| !ascii(c))?);
    Some((code, word))
}

/// The first two words of a message, and all that follows as it was written.
pub(super) fn after_two_words(text: &str) -> Option<(&str, &str)> {
    let mut boundaries = text
        .char_indices()
        .filter(|(_, c)| c.is_whitespace())
        .map(|(at, _)| at);
    let first = boundaries.next()?;
    let rest = text.get(first..)?.trim_start();
    let second = text.len() - rest.len() + rest.find(char::is_whitespace)?;
    let (said, rest) = text.split_at(second);
    Some((said, rest.trim()))
}
