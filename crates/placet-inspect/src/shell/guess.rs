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
        let (inner, behind) = expansion(after);
        if inner == "HOME" && guess.is_empty() {
            guess.push('~');
        } else if let Some(default) = default_of(inner).filter(|_| depth > 0) {
            add(default, guess, depth - 1);
        }
        if guess.is_empty() && behind.starts_with('/') {
            guess.push('.');
        }
        rest = behind;
    }
    guess.push_str(rest);
}

/// A variable, with what its braces say about it, and what follows. Nothing is said of a command.
fn expansion(text: &str) -> (&str, &str) {
    if let Some(inner) = text.strip_prefix("${") {
        return until(inner, '{', '}');
    }
    if let Some(inner) = text.strip_prefix("$(") {
        return ("", until(inner, '(', ')').1);
    }
    if let Some(inner) = text.strip_prefix('`') {
        return ("", inner.split_once('`').map_or("", |(_, after)| after));
    }
    let name = text.get(1..).unwrap_or_default();
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = match name.chars().next() {
        Some(first) if in_name(first) && !first.is_ascii_digit() => {
            name.find(|c| !in_name(c)).unwrap_or(name.len())
        }
        // `$1`, `$@`, `$$` are one character.
        first => first.map_or(0, char::len_utf8),
    };
    name.split_at(end)
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
