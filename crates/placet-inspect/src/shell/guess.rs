//! A guess at a word that is only known when it runs: variables are empty, commands say nothing, defaults are taken.
//!
//! An attacker who hides `/etc/shadow` as `/etc/sha${x}dow` counts on exactly that.

/// How deep defaults may hold defaults.
const DEPTH_MAX: usize = 8;

/// What `word` may come to. A folder whose first part is unknown starts at `.`.
pub(super) fn of(word: &str) -> String {
    let mut guess = String::with_capacity(word.len());
    add(word, &mut guess, DEPTH_MAX);
    guess
}

fn add(word: &str, guess: &mut String, depth: usize) {
    let mut rest = word;
    while let Some(at) = rest.find(['$', '`']) {
        let (before, after) = rest.split_at(at);
        guess.push_str(before);
        rest = if let Some(inner) = after.strip_prefix("${") {
            let (inner, after) = until(inner, '{', '}');
            if inner == "HOME" && guess.is_empty() {
                guess.push('~');
            } else if let Some(default) = default_of(inner).filter(|_| depth > 0) {
                add(default, guess, depth - 1);
            }
            after
        } else if let Some(inner) = after.strip_prefix("$(") {
            until(inner, '(', ')').1
        } else if let Some(inner) = after.strip_prefix('`') {
            inner.split_once('`').map_or("", |(_, after)| after)
        } else {
            let name = after.get(1..).unwrap_or_default();
            let end = name
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(name.len());
            if name.get(..end) == Some("HOME") && guess.is_empty() {
                guess.push('~');
            }
            // `$1`, `$@`, `$$` are one character.
            let is_one = end == 0 || name.starts_with(|c: char| c.is_ascii_digit());
            let end = if is_one {
                name.chars().next().map_or(0, char::len_utf8)
            } else {
                end
            };
            name.get(end..).unwrap_or_default()
        };
        if guess.is_empty() && rest.starts_with('/') {
            guess.push('.');
        }
    }
    guess.push_str(rest);
}

/// What stands before the end of a bracket, and what follows it.
fn until(text: &str, open: char, close: char) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && depth > 0 {
            depth -= 1;
        } else if c == close {
            let (inner, after) = text.split_at(at);
            return (inner, after.strip_prefix(close).unwrap_or_default());
        }
    }
    (text, "")
}

/// `x` in `a:-x`, `a-x`, `a:=x`, `a=x`, `a:+x`, `a+x`.
fn default_of(inner: &str) -> Option<&str> {
    let operator =
        inner.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '[' | ']' | '@' | '*'))?;
    let rest = inner.get(operator..)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.strip_prefix(['-', '=', '+'])
}

#[cfg(test)]
mod tests;
