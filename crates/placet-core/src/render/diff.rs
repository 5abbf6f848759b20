//! A change of a file, line by line.

use similar::{Algorithm, ChangeTag, TextDiff};

use super::document::{Change, DiffLine, Hunk};
use super::mask;
use super::safe::SafeText;
use crate::interaction::Locale;
use crate::messages::request;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Past this many lines the shortest edit is not searched for: that takes time with the square of them. The change is
/// shown as all old lines and all new ones, which is just as true.
const LINES_MAX: usize = 6_000;

/// The places where `before` and `after` differ.
pub(super) fn hunks(before: &str, after: &str, locale: Locale) -> Vec<Hunk> {
    if before.lines().count() + after.lines().count() > LINES_MAX {
        return vec![replaced(before, after, locale)];
    }
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .diff_lines(before, after);
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT);
    unified
        .iter_hunks()
        .map(|hunk| Hunk {
            header: SafeText::line(&hunk.header().to_string()),
            lines: hunk
                .iter_changes()
                .map(|change| line(tag(change.tag()), change.value(), locale))
                .collect(),
        })
        .collect()
}

fn replaced(before: &str, after: &str, locale: Locale) -> Hunk {
    let removed = before
        .split_inclusive('\n')
        .map(|text| line(Change::Removed, text, locale));
    let added = after
        .split_inclusive('\n')
        .map(|text| line(Change::Added, text, locale));
    Hunk {
        header: SafeText::line(&format!(
            "@@ -1,{} +1,{} @@",
            before.lines().count(),
            after.lines().count()
        )),
        lines: removed.chain(added).collect(),
    }
}

fn tag(tag: ChangeTag) -> Change {
    match tag {
        ChangeTag::Equal => Change::Kept,
        ChangeTag::Delete => Change::Removed,
        ChangeTag::Insert => Change::Added,
    }
}

fn line(change: Change, text: &str, locale: Locale) -> DiffLine {
    let safe = |text: &str| SafeText::line(&mask::text(text));
    let text = match (text.strip_suffix('\n'), change) {
        (Some(text), _) => safe(text),
        (None, Change::Kept) => safe(text),
        // A last line without its line break is a change too, and would look like none.
        (None, Change::Removed | Change::Added) => safe(text).followed_by(&request::no_line_break(), locale),
    };
    DiffLine { change, text }
}
