//! Brace expansion: what bash makes of `a{b,c}d` and `{1..3}` before it looks at anything else.
//!
//! It works on text in which the braces and commas that count, the unquoted ones, are control characters; no line may hold those.

/// `{`, unquoted, like the two below.
pub(super) const OPEN: char = '\u{1}';
/// `,`
pub(super) const COMMA: char = '\u{2}';
/// `}`
pub(super) const CLOSE: char = '\u{3}';

/// More words than an approver could judge.
#[derive(Debug)]
pub(super) struct TooMany;

/// Longer lists are not expanded.
const WORDS_MAX: usize = 128;

/// The text with its marks as the braces and commas they stand for.
pub(super) fn as_written(text: &str) -> String {
    let written = |c| match c {
        OPEN => '{',
        COMMA => ',',
        CLOSE => '}',
        c => c,
    };
    text.chars().map(written).collect()
}

/// The words that `text` becomes, in order; just one when there is nothing to expand.
pub(super) fn expand(text: &str) -> Result<Vec<String>, TooMany> {
    let mut from = 0;
    while let Some((start, after)) = split(text, from, OPEN) {
        from = start.len() + 1;
        let Some((inside, rest)) = group(start, after) else {
            continue;
        };
        let words = if inside.contains(COMMA) {
            list(inside)?
        } else if let Some(words) = sequence(inside)? {
            words
        } else {
            // Neither a list nor a sequence: the braces are themselves.
            from += inside.len() + 1;
            continue;
        };
        let ends = expand(rest)?;
        if words.len() * ends.len() > WORDS_MAX {
            return Err(TooMany);
        }
        let start = as_written(start);
        let joined = words.iter().flat_map(|word| {
            ends.iter()
                .map(|end| format!("{start}{word}{end}"))
                .collect::<Vec<_>>()
        });
        return Ok(joined.collect());
    }
    Ok(vec![as_written(text)])
}

/// What stands before and after the first `mark` at or behind `from`.
fn split(text: &str, from: usize, mark: char) -> Option<(&str, &str)> {
    let at = from + text.get(from..)?.find(mark)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// What stands between a brace and its partner, and what follows; `None` when that brace has no partner. To bash a brace closes
/// nothing before a comma or two dots have been seen, and `{}` at a word's beginning is left alone.
fn group<'t>(before: &str, after: &'t str) -> Option<(&'t str, &'t str)> {
    if before.is_empty() && after.starts_with(CLOSE) {
        return None;
    }
    let mut depth = 0_usize;
    let mut is_list = false;
    for (at, c) in after.char_indices() {
        match c {
            OPEN => depth += 1,
            CLOSE if depth > 0 => depth -= 1,
            CLOSE if is_list => return split(after, at, CLOSE),
            COMMA if depth == 0 => is_list = true,
            '.' if depth == 0 => {
                // Two dots right before the end do not count.
                let dots = after.get(at..).and_then(|after| after.strip_prefix(".."));
                is_list |= dots.is_some_and(|behind| !behind.starts_with(CLOSE));
            }
            _ => {}
        }
    }
    None
}

/// The words between a group's own commas. A comma of an inner group will do: `{a..{b,c}}` is `a..b a..c`.
fn list(inside: &str) -> Result<Vec<String>, TooMany> {
    let mut depth = 0_usize;
    let mut words = Vec::new();
    let own = inside.split(|c| {
        match c {
            OPEN => depth += 1,
            CLOSE => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == COMMA && depth == 0
    });
    for part in own {
        words.extend(expand(part)?);
        if words.len() > WORDS_MAX {
            return Err(TooMany);
        }
    }
    Ok(words)
}

/// `1..3`, `a..e`, `01..10..2`; `None` when it is no sequence.
fn sequence(text: &str) -> Result<Option<Vec<String>>, TooMany> {
    let parts: Vec<&str> = text.split("..").collect();
    let ([first, last] | [first, last, _]) = *parts else {
        return Ok(None);
    };
    let letter = |text: &str| match *text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(byte)),
        _ => None,
    };
    let numbers = first.parse().ok().zip(last.parse().ok());
    let ends = numbers.or_else(|| letter(first).zip(letter(last)));
    let step = parts.get(2).map_or(Ok(1), |step| step.parse::<i64>());
    let (Some((from, to)), Ok(step)) = (ends, step) else {
        return Ok(None);
    };
    let step = step.unsigned_abs().max(1);
    let count = from.abs_diff(to) / step;
    if usize::try_from(count).map_or(true, |count| count >= WORDS_MAX) {
        return Err(TooMany);
    }
    let digits = |text: &str| text.trim_start_matches(['-', '+']).to_owned();
    let is_padded = |text| digits(text).starts_with('0') && digits(text).len() > 1;
    let padded = is_padded(first) || is_padded(last);
    let width = if padded { first.len().max(last.len()) } else { 0 };
    let nth = |n: u64| {
        if to < from {
            from.saturating_sub_unsigned(n * step)
        } else {
            from.saturating_add_unsigned(n * step)
        }
    };
    let word = |n| match numbers {
        Some(_) => format!("{:0width$}", nth(n)),
        None => u8::try_from(nth(n)).map(char::from).unwrap_or_default().into(),
    };
    Ok(Some((0..=count).map(word).collect()))
}
