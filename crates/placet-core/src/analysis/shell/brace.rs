//! Brace expansion: what bash makes of `a{b,c}d` and `{1..3}` before it looks at anything else.

use super::word::Known;

/// Something in a word that matters to brace expansion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// Where, in the word after quote removal.
    pub(super) at: usize,
    pub(super) is: Is,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    /// `{`, unquoted, like the two below.
    Open,
    /// `,`
    Comma,
    /// `}`
    Close,
    /// From here on no more than this is known of the word.
    Raises(Known),
}

/// One of the words a word becomes, and how much of it is known.
pub(super) type Expanded = (String, Known);

/// More words were asked for than anybody could judge.
#[derive(Debug)]
pub(super) struct TooMany;

/// Longer lists are not expanded.
const WORDS_MAX: usize = 128;

/// The words that `text` becomes, in order; just one when there is nothing to expand. `marks` are in order of their place.
pub(super) fn expand(text: &str, marks: &[Mark]) -> Result<Vec<Expanded>, TooMany> {
    let mut literal_until = 0;
    for (nth, open) in marks.iter().enumerate().filter(|(_, mark)| mark.is == Is::Open) {
        if open.at < literal_until {
            continue;
        }
        let (before, after) = (
            marks.get(..nth).unwrap_or_default(),
            marks.get(nth + 1..).unwrap_or_default(),
        );
        let Some(group) = Group::after(text, open.at, after) else {
            continue;
        };
        let Some(middle) = group.words(text)? else {
            literal_until = group.close;
            continue;
        };
        let known = known_of(before);
        let start = text.get(..open.at).unwrap_or_default();
        let (rest, rest_marks) = shifted(text, group.rest, group.close + 1);
        let ends = expand(rest, &rest_marks)?;
        if middle.len() * ends.len() > WORDS_MAX {
            return Err(TooMany);
        }
        let joined = middle.iter().flat_map(|(middle, own)| {
            ends.iter()
                .map(move |(end, last)| (format!("{start}{middle}{end}"), known.max(*own).max(*last)))
        });
        return Ok(joined.collect());
    }
    Ok(vec![(text.to_owned(), known_of(marks))])
}

fn known_of(marks: &[Mark]) -> Known {
    let raised = marks.iter().filter_map(|mark| match mark.is {
        Is::Raises(known) => Some(known),
        _ => None,
    });
    raised.max().unwrap_or(Known::Fully)
}

/// The text from `from` on, and its marks with their places in it.
fn shifted<'t>(text: &'t str, marks: &[Mark], from: usize) -> (&'t str, Vec<Mark>) {
    let shift = |mark: &Mark| Mark {
        at: mark.at.saturating_sub(from),
        is: mark.is,
    };
    (
        text.get(from..).unwrap_or_default(),
        marks.iter().map(shift).collect(),
    )
}

/// What stands between a brace and its partner.
struct Group<'m> {
    open: usize,
    close: usize,
    marks: &'m [Mark],
    /// The places of its own commas among its marks.
    commas: Vec<usize>,
    /// The marks after it.
    rest: &'m [Mark],
}

impl<'m> Group<'m> {
    /// The group that begins with a brace at `open`; `None` when that brace has no partner. To bash a brace closes nothing
    /// before a comma or two dots have been seen, and `{}` at a word's beginning is left alone.
    fn after(text: &str, open: usize, marks: &'m [Mark]) -> Option<Self> {
        if open == 0 && text.starts_with("{}") {
            return None;
        }
        let mut depth = 0_usize;
        let mut commas = Vec::new();
        let mut dots = false;
        let mut from = open + 1;
        for (nth, mark) in marks.iter().enumerate() {
            if depth == 0 {
                // Two dots right before the end do not count.
                let to = mark.at - usize::from(mark.is == Is::Close && mark.at > from);
                dots |= text.get(from..to).is_some_and(|own| own.contains(".."));
            }
            from = mark.at;
            match mark.is {
                Is::Open => depth += 1,
                Is::Close if depth > 0 => depth -= 1,
                Is::Close if dots || !commas.is_empty() => {
                    let (marks, rest) = marks.split_at_checked(nth)?;
                    return Some(Self {
                        open,
                        close: mark.at,
                        marks,
                        commas,
                        rest: rest.get(1..)?,
                    });
                }
                Is::Comma if depth == 0 => commas.push(nth),
                Is::Close | Is::Comma | Is::Raises(_) => {}
            }
        }
        None
    }

    /// What it stands for; `None` when it is neither a list nor a sequence, and the braces are themselves.
    fn words(&self, text: &str) -> Result<Option<Vec<Expanded>>, TooMany> {
        // A comma of an inner group will do: `{a..{b,c}}` is `a..b a..c`.
        if !self.marks.iter().any(|mark| mark.is == Is::Comma) {
            let inside = text.get(self.open + 1..self.close).unwrap_or_default();
            let words = if self.marks.is_empty() {
                sequence(inside)?
            } else {
                None
            };
            return Ok(words.map(|words| words.into_iter().map(|word| (word, Known::Fully)).collect()));
        }
        let mut words = Vec::new();
        let mut from = self.open + 1;
        let mut marks = self.marks;
        let mut taken = 0;
        for nth in self.commas.iter().copied().map(Some).chain([None]) {
            let own = nth.and_then(|nth| marks.get(..nth - taken)).unwrap_or(marks);
            let end = nth
                .and_then(|nth| self.marks.get(nth))
                .map_or(self.close, |comma| comma.at);
            let (_, own) = shifted(text, own, from);
            words.extend(expand(text.get(from..end).unwrap_or_default(), &own)?);
            if words.len() > WORDS_MAX {
                return Err(TooMany);
            }
            if let Some(nth) = nth {
                from = end + 1;
                marks = marks.get(nth - taken + 1..).unwrap_or_default();
                taken = nth + 1;
            }
        }
        Ok(Some(words))
    }
}

/// `1..3`, `a..e`, `01..10..2`.
fn sequence(text: &str) -> Result<Option<Vec<String>>, TooMany> {
    let mut parts = text.split("..");
    let (Some(first), Some(last), step, None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Ok(None);
    };
    let Some(step) = step.map_or(Some(1), |step| step.parse::<i64>().ok()) else {
        return Ok(None);
    };
    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let padded = |text: &str| {
            text.trim_start_matches(['-', '+']).starts_with('0')
                && text.trim_start_matches(['-', '+']).len() > 1
        };
        let width = if padded(first) || padded(last) {
            first.len().max(last.len())
        } else {
            0
        };
        let numbers = steps(from, to, step)?;
        return Ok(Some(
            numbers.into_iter().map(|n| format!("{n:0width$}")).collect(),
        ));
    }
    let letter = |text: &str| {
        let byte = *text.as_bytes().first()?;
        (text.len() == 1 && byte.is_ascii_alphabetic()).then_some(i64::from(byte))
    };
    let (Some(from), Some(to)) = (letter(first), letter(last)) else {
        return Ok(None);
    };
    let character = |n: i64| u8::try_from(n).map(char::from).unwrap_or_default().to_string();
    Ok(Some(steps(from, to, step)?.into_iter().map(character).collect()))
}

fn steps(from: i64, to: i64, step: i64) -> Result<Vec<i64>, TooMany> {
    let step = i128::from(step).abs().max(1);
    let (from, to) = (i128::from(from), i128::from(to));
    let count = usize::try_from((to - from).abs() / step).map_err(|_| TooMany)?;
    if count >= WORDS_MAX {
        return Err(TooMany);
    }
    let sign = if to < from { -step } else { step };
    let numbers = std::iter::successors(Some(from), |n| Some(n + sign)).take(count + 1);
    numbers.map(|n| i64::try_from(n).map_err(|_| TooMany)).collect()
}
