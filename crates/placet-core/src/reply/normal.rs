//! One spelling for what people type: width, case, spaces, quotes and the full stop at the end do not matter.

use unicode_normalization::UnicodeNormalization;

use super::words;
use crate::interaction::Code;
use crate::render::glyph;

/// Longer than any answer that is more than a text.
const LINE_BYTES_MAX: usize = 512;

/// The words of a message in one spelling; `None` when it cannot be an answer: several lines, or a character nobody sees.
pub(super) fn line(text: &str) -> Option<String> {
    let text = text.trim();
    let unreadable = |c: char| is_line_break(c) || (glyph::is_hidden(c) && !c.is_whitespace());
    if text.len() > LINE_BYTES_MAX || text.chars().any(unreadable) {
        return None;
    }
    let folded = text.nfkc().collect::<String>().to_lowercase();
    let mut line = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((mention, rest)) = line.split_once(' ')
        && is_mention(mention)
    {
        line = rest.to_owned();
    }
    Some(bare(&line).to_owned())
}

/// `@placet`: a name and nothing that could mean something else, such as `@bot?`.
fn is_mention(word: &str) -> bool {
    let name = word.strip_prefix('@').unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.:".contains(c))
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
