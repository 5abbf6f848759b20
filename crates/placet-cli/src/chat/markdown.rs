//! Markdown as lines for a terminal. What a model writes passes through [`SafeText`] piece by piece, so nothing in it can move
//! the cursor, hide, or look like something of ours.

use placet_channels::terminal::line::{Line, SpanStyle};
use placet_core::render::SafeText;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr as _;

/// However narrow the terminal and deep the list, so many columns are left for words.
const COLS_MIN: usize = 12;

/// Where the last block of a text begins. Everything before it is settled: whatever follows belongs to the last block, or to
/// another one.
pub(super) fn settled(text: &str) -> usize {
    let (mut depth, mut last) = (0_usize, 0);
    for (event, range) in Parser::new(text).into_offset_iter() {
        if depth == 0 && !matches!(event, Event::End(_)) {
            last = range.start;
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    last
}

/// A text as lines of at most `cols` columns.
pub(super) fn lines(text: &str, cols: usize) -> Vec<Line> {
    let mut page = Page {
        cols,
        lines: Vec::new(),
        line: Line::default(),
        margins: Vec::new(),
        roles: Vec::new(),
        numbers: Vec::new(),
        links: Vec::new(),
        code: None,
    };
    for event in Parser::new(text) {
        page.take(event);
    }
    page.end_line();
    page.lines
}

struct Page {
    cols: usize,
    lines: Vec<Line>,
    /// The line being put together.
    line: Line,
    margins: Vec<Margin>,
    roles: Vec<SpanStyle>,
    /// The next number of each list around; none for bullets.
    numbers: Vec<Option<u64>>,
    /// Where each link around leads.
    links: Vec<String>,
    /// The code block being read.
    code: Option<String>,
}

/// What stands before the lines of a quotation or a list's item.
struct Margin {
    first: String,
    rest: String,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.words(text.trim_end_matches('\n')),
            },
            Event::Code(text) => {
                let text = SafeText::code_line(&text);
                self.push(SpanStyle::Key, text.as_str());
            }
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.begin_block();
                self.push(SpanStyle::Faint, "────────");
                self.end_line();
            }
            // Not asked of the parser.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.words(&text);
            }
            Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(),
            Tag::Heading { .. } => {
                self.begin_block();
                self.roles.push(SpanStyle::Strong);
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.margin("│ ", "│ ");
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    let language = SafeText::line(&language);
                    self.push(SpanStyle::Faint, language.as_str());
                    self.end_line();
                }
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.begin_block();
                self.numbers.push(first);
            }
            Tag::Item => {
                self.end_line();
                let mark = match self.numbers.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    _ => "• ".to_owned(),
                };
                let rest = " ".repeat(mark.width());
                self.margin(&mark, &rest);
            }
            Tag::Strong => self.roles.push(SpanStyle::Strong),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.links.push(dest_url.to_string()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_line(),
            TagEnd::Heading(_) => {
                self.end_line();
                self.roles.pop();
            }
            TagEnd::BlockQuote(_) | TagEnd::Item => {
                self.end_line();
                self.margins.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.numbers.pop();
            }
            TagEnd::Strong => {
                self.roles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    /// Blocks stand apart, but for those inside an item.
    fn begin_block(&mut self) {
        self.end_line();
        if self.margins.is_empty() && !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
    }

    fn margin(&mut self, first: &str, rest: &str) {
        self.margins.push(Margin {
            first: first.to_owned(),
            rest: rest.to_owned(),
        });
    }

    fn words(&mut self, text: &str) {
        let role = self.roles.last().copied().unwrap_or(SpanStyle::Plain);
        let text = SafeText::line(text);
        self.push(role, text.as_str());
    }

    fn push(&mut self, role: SpanStyle, text: &str) {
        self.line = std::mem::take(&mut self.line).and(role, text);
    }

    /// Where a link leads is said, whatever it calls itself.
    fn end_link(&mut self) {
        let Some(to) = self.links.pop() else { return };
        let to = SafeText::code_line(&to);
        if !self.line.text().ends_with(to.as_str()) {
            self.push(SpanStyle::Faint, &format!(" ({to})"));
        }
    }

    fn end_code(&mut self) {
        let code = self.code.take().unwrap_or_default();
        let code = SafeText::code_block(code.trim_end_matches('\n'));
        self.margin("│ ", "│ ");
        for line in code.as_str().split('\n') {
            self.push(SpanStyle::Plain, line);
            self.end_line_even_if_empty();
        }
        self.margins.pop();
    }

    fn end_line(&mut self) {
        if !self.line.spans.is_empty() {
            self.end_line_even_if_empty();
        }
    }

    fn end_line_even_if_empty(&mut self) {
        let line = std::mem::take(&mut self.line);
        let taken: usize = self.margins.iter().map(|margin| margin.first.width()).sum();
        let cols = self.cols.saturating_sub(taken).max(COLS_MIN);
        for row in line.broken(cols) {
            let mut before = String::new();
            for margin in &mut self.margins {
                before.push_str(&margin.first);
                // A bullet stands once.
                margin.first.clone_from(&margin.rest);
            }
            let mut whole = Line::new(SpanStyle::Faint, before);
            whole.spans.extend(row.spans);
            self.lines.push(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, cols: usize, expect: &Expect) {
        let rows: Vec<String> = lines(text, cols)
            .iter()
            .map(|line| format!("{}\n", line.text()))
            .collect();
        expect.assert_eq(&rows.concat());
    }

    #[test]
    fn blocks_are_laid_out_and_broken_to_the_width() {
        check(
            "# What I found\n\nThe **build** folder holds `a.o` and more, see [the manual](https://example.com/x).\n\n\
             1. first\n2. second one that is long enough to be broken\n   - below it\n\n> quoted\n\n```sh\nls -l\n\nrm x\n```\n\n---\nend",
            34,
            &expect![[r#"
                What I found

                The build folder holds a.o and 
                more, see the manual 
                (https://example.com/x).

                1. first
                2. second one that is long enough 
                   to be broken
                   • below it

                │ quoted

                sh
                │ ls -l
                │ 
                │ rm x

                ────────

                end
            "#]],
        );
    }

    /// local-operator#114, deno PR #36195: what a model says must not redraw the screen or turn around.
    #[test]
    fn nothing_a_model_writes_reaches_the_terminal_as_a_control() {
        check(
            "\u{1b}[2J&#27;[31m red \u{202e}evil\n\n`\u{1b}]0;title\u{7}`\n\n```\u{1b}[1m\n\u{9b}1m\r\n```\n[a](https://e\u{202e}x)",
            80,
            &expect![[r#"
                ⟦ESC⟧[2J⟦ESC⟧[31m red ⟦U+202E⟧evil

                ⟦ESC⟧]0;title⟦BEL⟧

                ⟦ESC⟧[1m
                │ ⟦U+009B⟧1m

                a (https://e⟦U+202E⟧x)
            "#]],
        );
    }

    #[test]
    fn chinese_takes_two_columns_and_loses_no_character() {
        check(
            "- 这个文件夹里有三个文件，需要先备份",
            16,
            &expect![[r#"
                • 这个文件夹里有
                  三个文件，需要
                  先备份
            "#]],
        );
    }

    #[test]
    fn only_the_last_block_can_still_grow() {
        assert_eq!(settled("one"), 0);
        assert_eq!(settled("one\n\ntwo"), 5);
        assert_eq!(settled("one\n\n```\ncode\n\nmore"), 5);
        assert_eq!(settled("- a\n- b\n\n- c"), 0);
        assert_eq!(settled("one\n\n---\n\n"), 5);
    }
}
