//! A question as text: everything, in colour where that is wanted.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use placet_channels::terminal::line::Role;
use placet_channels::terminal::sheet;
use placet_core::interaction::Locale;
use placet_core::render::{Document, Markup, Surface, to_text};
use placet_core::standing::Scope;

use crate::style::{self, paint};

/// As wide as is easy to read.
const COLS: u16 = 100;

/// The whole question: what would happen, why it is asked, how to answer.
pub(super) fn whole(document: &Document) -> String {
    let mut text = String::new();
    for line in sheet::lines(document, usize::from(COLS)) {
        for span in line.spans {
            text.push_str(&paint(style_of(span.role), span.text));
        }
        text.push('\n');
    }
    let ways = Document {
        locale: document.locale,
        head: Vec::new(),
        body: Vec::new(),
        foot: document.foot.clone(),
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

/// What "don't ask again" may cover, by number.
pub(super) fn scopes(scopes: &[Scope], locale: Locale) -> String {
    let mut text = String::new();
    for (index, scope) in scopes.iter().enumerate() {
        let lead = if index == 0 {
            locale.pick("Don't ask again (--remember):\n", "不再询问（--remember）：\n")
        } else {
            ""
        };
        let _ = writeln!(text, "{lead}  {}: {}", index + 1, scope.describe_in(locale));
    }
    text
}

fn style_of(role: Role) -> Style {
    match role {
        Role::Plain | Role::Selected => Style::new(),
        Role::Strong | Role::Key => style::HEADING,
        Role::Faint => style::FAINT,
        Role::Added => AnsiColor::Green.on_default(),
        Role::Removed => AnsiColor::Red.on_default(),
        Role::Caution => style::CAUTION,
        Role::Risk(risk) => style::of_risk(risk),
    }
}
