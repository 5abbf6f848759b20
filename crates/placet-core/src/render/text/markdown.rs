//! Keeping foreign text from being marked up.

use std::fmt::Write as _;

/// Prose in which nothing is emphasis, link, tag, heading or mention.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for (c, mentions) in with_mentions(text) {
        match c {
            '@' if mentions => out.push_str("⟦@⟧"),
            // Backslashes do not stop `<!channel>` and `<at id=all>` everywhere; entities do.
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '#' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// A line of code that cannot close its fence. A longer fence would do in Markdown proper, but not in the chats that
/// know three backticks and nothing else.
pub(super) fn code(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for (c, mentions) in with_mentions(line) {
        match c {
            '@' if mentions => out.push_str("⟦@⟧"),
            _ => out.push(c),
        }
    }
    let mut rest = out.as_str();
    let mut safe = String::with_capacity(out.len());
    while let Some((before, after)) = rest.split_once("```") {
        let more = after.len() - after.trim_start_matches('`').len();
        // Writing to a string does not fail.
        let _ = write!(safe, "{before}⟦{} backticks⟧", 3 + more);
        rest = after.trim_start_matches('`');
    }
    safe.push_str(rest);
    safe
}

/// Each character, and whether a mention starts with it: an `@` before a letter and not after one, as in `@all` but not
/// in `git@host`.
fn with_mentions(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || {
        let c = rest.next()?;
        let mentions =
            c == '@' && !before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        before = c;
        Some((c, mentions))
    })
}
