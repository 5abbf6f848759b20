//! Colours for roles, or none.

use crossterm::style::{Attribute, Color, ContentStyle};
use placet_core::tool::Risk;

use super::line::Role;

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
    pub fn style(self, role: Role) -> ContentStyle {
        let mut style = ContentStyle::new();
        let (colour, attribute) = match role {
            Role::Plain => (None, None),
            Role::Strong => (None, Some(Attribute::Bold)),
            Role::Faint => (None, Some(Attribute::Dim)),
            Role::Added | Role::Risk(Risk::Low) => (Some(Color::DarkGreen), None),
            Role::Removed => (Some(Color::DarkRed), None),
            Role::Key => (Some(Color::DarkCyan), Some(Attribute::Bold)),
            Role::Selected => (None, Some(Attribute::Reverse)),
            Role::Caution | Role::Risk(Risk::Medium) => (Some(Color::DarkYellow), Some(Attribute::Bold)),
            Role::Risk(Risk::High) => (Some(Color::DarkRed), Some(Attribute::Bold)),
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
