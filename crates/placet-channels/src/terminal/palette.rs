//! Colours for roles, or none.

use crossterm::style::{Attribute, Color, ContentStyle};
use placet_core::tool::Risk;

use super::line::SpanStyle;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// Unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never. What stands out does so by weight, and risks are words in any case.
    Never,
}

/// How each role looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Palette {
    /// In colour.
    Colour,
    /// Bold, dim and reversed only.
    Mono,
}

impl Palette {
    /// For this process and its environment.
    pub fn of(colours: Colours) -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match colours {
            Colours::Always => Self::Colour,
            Colours::Auto if !unwanted => Self::Colour,
            Colours::Auto | Colours::Never => Self::Mono,
        }
    }

    /// The look of a role.
    pub fn style(self, role: SpanStyle) -> ContentStyle {
        let mut style = ContentStyle::new();
        let (colour, attribute) = match role {
            SpanStyle::Plain => (None, None),
            SpanStyle::Strong => (None, Some(Attribute::Bold)),
            SpanStyle::Faint => (None, Some(Attribute::Dim)),
            SpanStyle::Added | SpanStyle::Risk(Risk::Low) => (Some(Color::DarkGreen), None),
            SpanStyle::Removed => (Some(Color::DarkRed), None),
            SpanStyle::Key => (Some(Color::DarkCyan), Some(Attribute::Bold)),
            SpanStyle::Selected => (None, Some(Attribute::Reverse)),
            SpanStyle::Caution | SpanStyle::Risk(Risk::Medium) => {
                (Some(Color::DarkYellow), Some(Attribute::Bold))
            }
            SpanStyle::Risk(Risk::High) => (Some(Color::DarkRed), Some(Attribute::Bold)),
        };
        if self == Self::Colour {
            style.foreground_color = colour;
        }
        if let Some(attribute) = attribute {
            style.attributes.set(attribute);
        }
        style
    }
}
