//! Breaking lines to a width in columns, without losing a character.

use super::safe::width_of;

/// Narrower than this nothing can be read.
const WIDTH_MIN: usize = 20;

/// Breaks `line` into pieces of at most `width` columns, after a space where there is one, anywhere else where there is
/// none. The pieces put together are the line.
pub(super) fn wrap(line: &str, width: Option<usize>) -> Vec<&str> {
    let Some(width) = width.map(|width| width.max(WIDTH_MIN)) else {
        return vec![line];
    };
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(end) = break_at(rest, width) {
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// Where the first piece ends; `None` when all of it fits.
fn break_at(text: &str, width: usize) -> Option<usize> {
    let mut columns = 0;
    let mut after_space = None;
    for (at, c) in text.char_indices() {
        columns += width_of(c);
        if columns > width {
            return Some(after_space.unwrap_or(at));
        }
        if c == ' ' {
            after_space = Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn chinese_takes_two_columns_and_a_long_word_is_broken() {
        assert_eq!(
            wrap("一二三四五六七八九十甲", Some(20)),
            ["一二三四五六七八九十", "甲"]
        );
        assert_eq!(
            wrap("rm -rf /a/very/long/path/indeed", Some(20)),
            ["rm -rf ", "/a/very/long/path/in", "deed"]
        );
    }

    proptest! {
        #[test]
        fn no_character_is_lost(line in "[a-z 一é]{0,200}", width in 0usize..60) {
            let pieces = wrap(&line, Some(width));
            prop_assert_eq!(pieces.concat(), line.as_str());
            prop_assert!(pieces.iter().all(|piece| piece.width() <= width.max(WIDTH_MIN)));
        }
    }
}
