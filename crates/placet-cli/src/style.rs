//! Colours. They are always written; `anstream` takes them out again where they do not belong (a pipe, `NO_COLOR`).

use anstyle::{AnsiColor, Style};
use placet_core::tool::Risk;
use placet_core::verdict::Decision;

pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const CAUTION: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const HEADING: Style = Style::new().bold();
/// A heading of `--help`.
pub(crate) const SECTION: Style = Style::new().bold().underline();
pub(crate) const FAINT: Style = Style::new().dimmed();

/// `text` in a style.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The colour of a decision.
pub(crate) const fn of_decision(decision: &Decision) -> Style {
    match decision {
        Decision::Allow => GOOD,
        Decision::Ask(_) => CAUTION,
        Decision::Deny => BAD,
    }
}

/// The colour of a risk.
pub(crate) const fn of_risk(risk: Risk) -> Style {
    match risk {
        Risk::Low => GOOD,
        Risk::Medium => CAUTION,
        Risk::High => BAD,
    }
}
