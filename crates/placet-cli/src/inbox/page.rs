//! A question as text: everything, in colour where that is wanted.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use placet_channels::terminal::line::SpanStyle;
use placet_channels::terminal::scroll;
use placet_core::interaction::{Asked, InteractionOption, Locale};
use placet_core::messages;
use placet_core::render::{Block, Document, Markup, OptionLine, SafeText, Surface, to_text};
use placet_core::standing::Scope;

use crate::style::{self, paint};

/// As wide as is easy to read.
const COLS: u16 = 100;

/// The whole question: what would happen, why it is asked, how to answer.
pub(super) fn whole(document: &Document, asked: &Asked) -> String {
    let mut text = String::new();
    for line in scroll::lines(document, usize::from(COLS)) {
        for span in line.spans {
            text.push_str(&paint(style_of(span.role), span.text));
        }
        text.push('\n');
    }
    let ways = Document {
        locale: document.locale,
        head: Vec::new(),
        body: Vec::new(),
        foot: document
            .foot
            .iter()
            .map(|block| from_here(block, asked, document.locale))
            .collect(),
    };
    let surface = Surface {
        width: Some(COLS),
        chars_max: None,
        markup: Markup::Plain,
        elsewhere: None,
    };
    let _ = writeln!(text, "\n{}", to_text(&ways, &surface).text);
    text
}

/// The ways to answer as commands: what a chat is told would be refused here.
fn from_here(block: &Block, asked: &Asked, locale: Locale) -> Block {
    let Block::Options { code, options, .. } = block else {
        return block.clone();
    };
    let texts: BTreeSet<String> = asked
        .options(locale)
        .into_iter()
        .filter(InteractionOption::needs_text)
        .map(|option| option.option_id)
        .collect();
    let way = |line: &OptionLine| {
        let text = if texts.contains(&line.option_id) {
            " --reason '…'"
        } else {
            ""
        };
        let option = as_word(&line.option_id);
        OptionLine {
            say: SafeText::line(&format!("placet inbox answer {code} {option}{text}")),
            ..line.clone()
        }
    };
    Block::Options {
        code: *code,
        label: SafeText::line(&messages::inbox::answer().say(locale)),
        options: options.iter().map(way).collect(),
    }
}

/// One word for a shell: an agent may have chosen the text, and a person will copy it.
fn as_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// What "don't ask again" may cover, by number.
pub(super) fn scopes(scopes: &[Scope], locale: Locale) -> String {
    let mut text = String::new();
    for (index, scope) in scopes.iter().enumerate() {
        if index == 0 {
            let _ = writeln!(text, "{}", messages::inbox::remember().say(locale));
        }
        let _ = writeln!(text, "  {}: {}", index + 1, scope.describe_in(locale));
    }
    text
}

fn style_of(role: SpanStyle) -> Style {
    match role {
        SpanStyle::Plain | SpanStyle::Selected => Style::new(),
        SpanStyle::Strong | SpanStyle::Key => style::HEADING,
        SpanStyle::Faint => style::FAINT,
        SpanStyle::Added => AnsiColor::Green.on_default(),
        SpanStyle::Removed => AnsiColor::Red.on_default(),
        SpanStyle::Caution => style::CAUTION,
        SpanStyle::Risk(risk) => style::of_risk(risk),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_with_an_odd_name_stays_one_word_of_a_shell() {
        assert_eq!(as_word("approve"), "approve");
        assert_eq!(as_word("x; rm -rf ~"), "'x; rm -rf ~'");
        assert_eq!(as_word("it's"), r"'it'\''s'");
        assert_eq!(as_word(""), "''");
    }
}
