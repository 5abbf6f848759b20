//! Where in a text the secrets are.

use std::ops::Range;

use super::{Kind, back, shape};

/// A shorter word after `token: ` is more likely to be a word.
const COLON_VALUE_MIN: usize = 6;
/// The first line of a key is never shorter.
const KEY_LINE_MIN: usize = 40;

/// The secrets in a text, in order, none overlapping another.
pub(super) fn secrets(text: &str, kind: Kind) -> Vec<Range<usize>> {
    let mut found = shape::shaped(text);
    let mut keys = Vec::new();
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let begins_word = !(previous.is_alphanumeric() || previous == '_' || previous == '-');
        match c {
            '=' | ':' => found.extend(named_value(text, at, c)),
            '-' if begins_word => found.extend(flag_value(rest, at)),
            '-' if previous == '-' && rest.starts_with("-BEGIN ") => keys.extend(private_key(rest, at)),
            _ if begins_word => found.extend(header(rest, at)),
            _ => {}
        }
        if rest.starts_with("://") {
            found.extend(userinfo(rest, at));
        }
        previous = c;
    }
    if kind == Kind::Shell {
        found.retain(|range| !is_program(text, range.start));
    }
    // A mask is never a part of a secret, nor what is left beside one.
    let masks: Vec<Range<usize>> = back::masks(text).collect();
    found.retain(|range| {
        masks
            .iter()
            .all(|mask| mask.end < range.start || range.end < mask.start)
    });
    // The lines of a key stand where programs stand; each command is shown by itself as well, so none is lost.
    found.extend(keys);
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut end = 0;
    found.retain(|range| {
        let free = range.start >= end;
        if free {
            end = range.end;
        }
        free
    });
    found
}

/// Whether a program's name stands at `at`: first in the line, or after what ends a command. Programs behind variables,
/// wrappers and quotes are not seen here; the caller, who has the parsed command, keeps them.
fn is_program(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with([';', '|', '&', '(', '{', '`', '\n'])
}

/// The run of characters from the start that `belongs` to a token.
fn run(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Whether `run`, with which `text` begins, ends in the first half of a mask.
fn runs_into_mask(text: &str, run: &str) -> bool {
    run.ends_with("...") && text.get(run.len()..).is_some_and(|rest| rest.starts_with('['))
}

fn in_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// `Bearer …` and `Basic …`.
fn header(rest: &str, at: usize) -> Option<Range<usize>> {
    let scheme = ["bearer ", "basic "].into_iter().find(|scheme| {
        rest.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })?;
    let rest = rest.get(scheme.len()..)?;
    let value = run(rest, |c| in_token(c) || matches!(c, '~' | '+' | '/' | '='));
    let start = at + scheme.len();
    let secret = shape::is_random(value) && shape::may_be_secret(value) && !runs_into_mask(rest, value);
    secret.then(|| start..start + value.len())
}

/// `password=…`, `"token": "…"`, `X-Api-Key: …`.
fn named_value(text: &str, at: usize, sign: char) -> Option<Range<usize>> {
    let close = text.get(..at)?;
    let before = close.trim_end_matches([' ', '\t', '"', '\'']);
    let name_start = before
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
        .map_or(0, |i| {
            i + before
                .get(i..)
                .and_then(|s| s.chars().next())
                .map_or(1, char::len_utf8)
        });
    if !shape::is_secret_name(before.get(name_start..)?) {
        return None;
    }
    let after = text.get(at + 1..)?;
    if sign == '=' {
        // `password = …` in a file of settings; a shell compares with `=`.
        let spaced = after.trim_start_matches([' ', '\t']);
        let found = value(spaced, text.len() - spaced.len())?;
        let is_close = spaced.len() == after.len() && !close.ends_with([' ', '\t']);
        let is_clear = is_close || text.get(found.clone()).is_some_and(shape::is_random);
        return is_clear.then_some(found);
    }
    // `token:x` without a space is more often a URL or a port than a header.
    let spaced = after.trim_start_matches([' ', '\t']);
    let clear = spaced.len() < after.len() || spaced.starts_with(['"', '\'']);
    let found = clear.then(|| value(spaced, text.len() - spaced.len())).flatten();
    found.filter(|range| range.len() >= COLON_VALUE_MIN)
}

/// `--password …` and `-token …`.
fn flag_value(rest: &str, at: usize) -> Option<Range<usize>> {
    let flag = run(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let after = rest.get(flag.len()..)?;
    let spaced = after.trim_start_matches([' ', '\t']);
    if !shape::is_secret_name(flag) || spaced.len() == after.len() || spaced.starts_with('-') {
        return None;
    }
    value(spaced, at + rest.len() - spaced.len())
}

/// The one word or quoted text that starts here. A text in which the shell would run or expand something stays.
fn value(rest: &str, at: usize) -> Option<Range<usize>> {
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (inner, start) = match quote {
        Some(quote) => {
            let inner = rest.get(1..)?;
            let end = inner.find(['"', '\'', '\n'])?;
            inner.get(end..).filter(|rest| rest.starts_with(quote))?;
            (inner.get(..end)?, at + 1)
        }
        None => (run(rest, |c| !ends_word(c)), at),
    };
    let expands = quote != Some('\'') && inner.contains(['$', '`']);
    (!expands && shape::may_be_secret(inner)).then(|| start..start + inner.len())
}

fn ends_word(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            ';' | '|' | '&' | '(' | ')' | '<' | '>' | '`' | '$' | '"' | '\'' | ',' | '{' | '}' | ']' | '\\'
        )
}

/// The password in `scheme://user:password@host`.
fn userinfo(rest: &str, at: usize) -> Option<Range<usize>> {
    let authority = rest.get(3..)?;
    let end = authority
        .find(|c: char| ends_word(c) || matches!(c, '/' | '?' | '#'))
        .unwrap_or(authority.len());
    let (user, _host) = authority.get(..end)?.rsplit_once('@')?;
    let start = at + 3;
    let (range, secret) = match user.split_once(':') {
        Some((name, password)) => (start + name.len() + 1..start + user.len(), password),
        None => (
            start..start + user.len(),
            Some(user).filter(|user| shape::is_random(user))?,
        ),
    };
    (!secret.is_empty() && !shape::is_masked(secret)).then_some(range)
}

/// The lines of a private key, one by one: whatever else is written between them stays. A line ends where it is broken, with the
/// `\n` of a JSON string or, if it is long enough to be a key's, with a space.
fn private_key(rest: &str, at: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some((title, body)) = rest.split_once("-----") else {
        return found;
    };
    let title = title.trim_end_matches(" BLOCK");
    if title.contains('\n') || !title.ends_with("PRIVATE KEY") {
        return found;
    }
    let mut left = body;
    loop {
        let line = next_line(left);
        let key = run(line, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
        });
        let after = line.get(key.len()..).unwrap_or_default();
        let broken = after.is_empty()
            || after.starts_with(['\n', '\r'])
            || next_line(after).len() < after.trim_start().len();
        let ends = broken || after.starts_with([' ', '"', '\'']);
        let long = key.len() >= KEY_LINE_MIN || next_line(after).starts_with("-----END");
        if !key.is_empty() && ends && (long || (broken && !found.is_empty())) {
            let start = at + rest.len() - line.len();
            found.push(start..start + key.len());
            left = after;
            continue;
        }
        // `Proc-Type: 4,ENCRYPTED` and the like come before the key.
        match line.split_once('\n') {
            Some((header, more)) if found.is_empty() && header.contains(": ") => left = more,
            _ => return found,
        }
    }
}

/// What follows the end of a line.
fn next_line(text: &str) -> &str {
    let mut line = text.trim_start();
    while let Some(more) = line.strip_prefix("\\n").or_else(|| line.strip_prefix("\\r")) {
        line = more.trim_start();
    }
    line
}
