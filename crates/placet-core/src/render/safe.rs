//! Text that shows what it holds.
//!
//! Everything a person is shown passes through [`SafeText`], which is only made by escaping. What cannot be seen, or
//! looks like something else, is written between `⟦` and `⟧`; nothing is dropped:
//!
//! | in the text | shown |
//! |---|---|
//! | ESC, NUL, carriage return | `⟦ESC⟧` `⟦NUL⟧` `⟦CR⟧` |
//! | bidi, zero-width, tags, odd spaces, unassigned | `⟦U+202E⟧` |
//! | a tab; a line break where there is one line | `⇥`; `⏎` |
//! | more than 32 spaces, more than 4 line breaks | `⟦40 spaces⟧` `⟦9 line breaks⟧` |
//! | `раypal` with Cyrillic letters | `раypal⟦≈paypal U+0440 U+0430⟧` |
//! | `⟦` itself | `⟦U+27E6⟧` |

use std::fmt::{self, Write as _};

use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::glyph::{self, LookAlike};
use crate::interaction::Locale;
use crate::messages::Message;

/// More marks on one character than any language needs.
const MARKS_MAX: usize = 3;
/// More spaces in a row than deep indentation has; the next word would be out of sight.
const SPACES_MAX: usize = 32;
/// More empty lines than a text needs; what follows would be scrolled away.
const BREAKS_MAX: usize = 4;

/// Text with nothing hidden in it. Holds no control character but the line break, and that only where several lines
/// were asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SafeText(String);

/// How many lines the place has.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Line,
    Block,
}

/// What kind of text it is: in code a typographic quote or dash is a trap, in prose it is good style.
#[derive(Clone, Copy, PartialEq)]
enum Content {
    Prose,
    Code,
}

impl SafeText {
    /// Laid out from texts that are safe already: escaping them again would show the marks of the first time.
    pub(super) const fn laid_out(text: String) -> Self {
        Self(text)
    }

    /// Prose on one line.
    pub fn line(text: &str) -> Self {
        Self(escape(text, Shape::Line, Content::Prose))
    }

    /// Prose on as many lines as it has.
    pub fn block(text: &str) -> Self {
        Self(escape(text, Shape::Block, Content::Prose))
    }

    /// A command, a path, a host: on one line, and look-alike punctuation is pointed out too.
    pub fn code_line(text: &str) -> Self {
        Self(escape(text, Shape::Line, Content::Code))
    }

    /// Code on as many lines as it has.
    pub fn code_block(text: &str) -> Self {
        Self(escape(text, Shape::Block, Content::Code))
    }

    /// The same with a note of ours behind it.
    #[must_use]
    pub(super) fn followed_by(mut self, note: &Message, locale: Locale) -> Self {
        self.0.push_str(&note.say(locale));
        self
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How many columns it takes on one line of a terminal; a Chinese character takes two.
    pub fn width(&self) -> usize {
        self.0.width()
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The columns a character of safe text takes.
pub(super) fn width_of(c: char) -> usize {
    c.width().unwrap_or(0)
}

fn escape(text: &str, shape: Shape, content: Content) -> String {
    let mut escaper = Escaper {
        out: String::with_capacity(text.len() + 16),
        word: String::new(),
        marks: MARKS_MAX,
        shape,
        content,
    };
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let mut repeats = 1;
        if matches!(c, ' ' | '\n') {
            while rest.next_if_eq(&c).is_some() {
                repeats += 1;
            }
        }
        escaper.push(c, repeats, [before, rest.peek().copied()]);
        before = Some(c);
    }
    escaper.end_word();
    escaper.out
}

struct Escaper {
    out: String,
    /// The word just written, to be judged when it ends.
    word: String,
    /// Marks on the character just written; full when no character carries any.
    marks: usize,
    shape: Shape,
    content: Content,
}

impl Escaper {
    fn push(&mut self, c: char, repeats: usize, neighbours: [Option<char>; 2]) {
        if c.is_ascii_graphic() {
            self.plain(c);
            return;
        }
        match c {
            ' ' if repeats > SPACES_MAX => self.note(format_args!("{repeats} spaces")),
            '\n' if repeats > BREAKS_MAX => {
                self.note(format_args!("{repeats} line breaks"));
                if self.shape == Shape::Block {
                    self.out.push('\n');
                }
            }
            ' ' => self.between(' ', repeats),
            '\n' if self.shape == Shape::Block => self.between('\n', repeats),
            '\n' => self.between('⏎', repeats),
            '\t' => self.between('⇥', 1),
            // Indents Chinese prose; separates nothing in a shell.
            '\u{3000}' if self.content == Content::Prose => self.between(c, 1),
            '⟦' | '⟧' | '⏎' | '⇥' | '\u{3000}' => self.code_point(c),
            _ if glyph::is_hidden(c) => self.code_point(c),
            _ if glyph::is_mark(c) => self.mark(c),
            _ => self.visible(c, neighbours),
        }
    }

    fn plain(&mut self, c: char) {
        if glyph::is_word(c) {
            self.word.push(c);
        } else {
            self.end_word();
        }
        self.out.push(c);
        self.marks = 0;
    }

    fn visible(&mut self, c: char, neighbours: [Option<char>; 2]) {
        self.plain(c);
        let in_chinese = neighbours.into_iter().flatten().any(glyph::is_cjk);
        if self.content == Content::Code
            && !glyph::is_word(c)
            && !in_chinese
            && let Some(sign) = glyph::look_alike_sign(c)
        {
            self.note(format_args!("≈{sign} U+{:04X}", u32::from(c)));
            self.marks = 0;
        }
    }

    fn mark(&mut self, c: char) {
        if self.marks >= MARKS_MAX {
            self.code_point(c);
            self.marks = MARKS_MAX;
            return;
        }
        self.marks += 1;
        self.word.push(c);
        self.out.push(c);
    }

    fn between(&mut self, c: char, times: usize) {
        self.end_word();
        self.out.extend(std::iter::repeat_n(c, times));
        self.marks = MARKS_MAX;
    }

    fn code_point(&mut self, c: char) {
        match name(c) {
            Some(name) => self.note(format_args!("{name}")),
            None => self.note(format_args!("U+{:04X}", u32::from(c))),
        }
    }

    fn note(&mut self, note: fmt::Arguments<'_>) {
        self.end_word();
        // Writing to a string does not fail.
        let _ = write!(self.out, "⟦{note}⟧");
        self.marks = MARKS_MAX;
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let reads_as = match glyph::look_alike(&word) {
            None => return,
            Some(LookAlike::Ascii(ascii)) => format!("≈{ascii}"),
            Some(LookAlike::Mixed) => "mixed:".to_owned(),
        };
        let mut note = reads_as;
        for c in word.chars().filter(|c| !c.is_ascii()) {
            let _ = write!(note, " U+{:04X}", u32::from(c));
        }
        let _ = write!(self.out, "⟦{note}⟧");
    }
}

/// The names people know.
fn name(c: char) -> Option<&'static str> {
    Some(match c {
        '\0' => "NUL",
        '\u{7}' => "BEL",
        '\u{8}' => "BS",
        '\r' => "CR",
        '\u{1b}' => "ESC",
        '\u{7f}' => "DEL",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn shows(text: &str, shown: &str) {
        assert_eq!(SafeText::code_line(text).as_str(), shown);
    }

    #[test]
    fn an_ansi_sequence_cannot_redraw_the_screen() {
        shows("ls\u{1b}[2K\u{1b}[1Grm -rf /", "ls⟦ESC⟧[2K⟦ESC⟧[1Grm -rf /");
        shows("echo hi\rrm -rf /", "echo hi⟦CR⟧rm -rf /");
        shows("rm -rf /\u{8}\u{8}\u{9b}2K", "rm -rf /⟦BS⟧⟦BS⟧⟦U+009B⟧2K");
    }

    #[test]
    fn bidi_controls_cannot_turn_a_command_around() {
        shows("echo \u{202e}fr- mr\u{202c}", "echo ⟦U+202E⟧fr- mr⟦U+202C⟧");
        shows("a\u{2066}b\u{2069}\u{200f}", "a⟦U+2066⟧b⟦U+2069⟧⟦U+200F⟧");
    }

    #[test]
    fn invisible_characters_and_tabs_cannot_hide_a_part_of_the_command() {
        shows("ls\t\t;rm -rf ~", "ls⇥⇥;rm -rf ~");
        shows(
            "r\u{200b}m\u{feff}\u{ad}\u{2060}",
            "r⟦U+200B⟧m⟦U+FEFF⟧⟦U+00AD⟧⟦U+2060⟧",
        );
        shows("ls\u{e0072}\u{e006d}", "ls⟦U+E0072⟧⟦U+E006D⟧");
        shows(
            "a\u{fe0f}\u{e0100}\u{3164}\u{115f}\u{2800}",
            "a⟦U+FE0F⟧⟦U+E0100⟧⟦U+3164⟧⟦U+115F⟧⟦U+2800⟧",
        );
        shows("rm\u{a0}-rf\u{2003}x\u{3000}y", "rm⟦U+00A0⟧-rf⟦U+2003⟧x⟦U+3000⟧y");
        shows("\u{e000}\u{10ffff}\u{378}", "⟦U+E000⟧⟦U+10FFFF⟧⟦U+0378⟧");
    }

    #[test]
    fn a_command_cannot_be_pushed_out_of_sight() {
        shows(
            &format!("ls{};rm -rf ~", " ".repeat(400)),
            "ls⟦400 spaces⟧;rm -rf ~",
        );
        let block = SafeText::block(&format!("ok{}rm", "\n".repeat(200)));
        assert_eq!(block.as_str(), "ok⟦200 line breaks⟧\nrm");
        shows("a\nb", "a⏎b");
    }

    #[test]
    fn a_flood_of_marks_and_a_strike_out_are_spelled_out() {
        shows("e\u{301}\u{301}\u{301}\u{301}", "e\u{301}\u{301}\u{301}⟦U+0301⟧");
        shows("\u{301}x", "⟦U+0301⟧x");
        shows("r\u{336}m\u{336}", "r⟦U+0336⟧m⟦U+0336⟧");
    }

    #[test]
    fn look_alike_letters_are_pointed_out() {
        shows("раypal.com", "раypal⟦≈paypal U+0440 U+0430⟧.com");
        shows("ｒｍ -rf", "ｒｍ⟦≈rm U+FF52 U+FF4D⟧ -rf");
        shows("𝐫𝐦", "𝐫𝐦⟦≈rm U+1D42B U+1D426⟧");
        assert_eq!(SafeText::line("уes").as_str(), "уes⟦≈yes U+0443⟧");
    }

    #[test]
    fn look_alike_punctuation_is_pointed_out_in_code_and_left_alone_in_prose() {
        shows("echo ‘x’", "echo ‘⟦≈' U+2018⟧x’⟦≈' U+2019⟧");
        shows("ls；rm", "ls；⟦≈; U+FF1B⟧rm");
        assert_eq!(SafeText::line("don’t – “please”").as_str(), "don’t – “please”");
    }

    #[test]
    fn chinese_accents_and_emoji_are_left_alone() {
        for text in [
            "删除“旧”文件，确认吗？（共 3 个）",
            "カタカナ ひらがな 한국어",
            "café naïve Größe",
            "привет мир",
            "完成 ✅ 🎉",
            "　　缩进",
        ] {
            assert_eq!(SafeText::line(text).as_str(), text);
        }
        shows("echo 你好，世界！", "echo 你好，世界！");
    }

    #[test]
    fn our_own_marks_cannot_be_forged() {
        shows("⟦U+202E⟧⏎⇥", "⟦U+27E6⟧U+202E⟦U+27E7⟧⟦U+23CE⟧⟦U+21E5⟧");
    }

    /// Undoes the escaping: proof that nothing was dropped.
    fn undo(shown: &str) -> String {
        let mut text = String::new();
        let mut rest = shown;
        while let Some((before, after)) = rest.split_once('⟦') {
            text.push_str(&before.replace('⇥', "\t").replace('⏎', "\n"));
            let (note, after) = after.split_once('⟧').unwrap();
            rest = after;
            if let Some(count) = note.strip_suffix(" spaces") {
                text.push_str(&" ".repeat(count.parse().unwrap()));
            } else if let Some(count) = note.strip_suffix(" line breaks") {
                text.push_str(&"\n".repeat(count.parse().unwrap()));
                rest = rest.strip_prefix('\n').unwrap_or(rest);
            } else if let Some(hex) = note.strip_prefix("U+") {
                text.push(char::from_u32(u32::from_str_radix(hex, 16).unwrap()).unwrap());
            } else if let Some(at) = ["NUL", "BEL", "BS", "CR", "ESC", "DEL"]
                .iter()
                .position(|name| *name == note)
            {
                text.push(['\0', '\u{7}', '\u{8}', '\r', '\u{1b}', '\u{7f}'][at]);
            } else {
                assert!(note.starts_with('≈') || note.starts_with("mixed:"), "{note}");
            }
        }
        text.push_str(&rest.replace('⇥', "\t").replace('⏎', "\n"));
        text
    }

    proptest! {
        #[test]
        fn nothing_is_dropped_and_nothing_hidden_remains(text in any::<String>(), tail in "[ \\n\\ta-zа-я\u{200b}\u{202e}\u{301}]{0,60}") {
            let text = text + &tail;
            for safe in [SafeText::line(&text), SafeText::block(&text), SafeText::code_line(&text), SafeText::code_block(&text)] {
                prop_assert_eq!(undo(safe.as_str()), text.clone());
                prop_assert!(!safe.as_str().chars().any(|c| c != '\n' && glyph::is_hidden(c)));
            }
            prop_assert!(!SafeText::line(&text).as_str().contains('\n'));
        }
    }
}
