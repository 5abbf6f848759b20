//! A document as text, for terminals and chats.
//!
//! Whatever comes from an agent stands behind a bar (`│`) or inside a fence, so that it cannot pass for a line of ours.

use super::document::{ArgValue, Block, Change, CommandLine, Document, Hunk, OptionLine, Weight};
use super::safe::SafeText;
use super::wrap::wrap;
use crate::digest::Digest;
use crate::interaction::{Locale, Shown};
use crate::messages::{self, request};
use crate::tool::Risk;

mod markdown;

/// What a surface can show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surface {
    /// Columns of a terminal; where the surface breaks lines itself, none.
    pub width: Option<u16>,
    /// The most characters it takes.
    pub chars_max: Option<usize>,
    /// How text is marked up.
    pub markup: Markup,
    /// Where everything can be seen, when this surface is too small: a link, or a command.
    pub elsewhere: Option<String>,
}

impl Surface {
    /// Plain text of any length.
    pub const UNBOUNDED: Self = Self {
        width: None,
        chars_max: None,
        markup: Markup::Plain,
        elsewhere: None,
    };
}

/// How text is marked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markup {
    /// Not at all.
    Plain,
    /// Markdown. What comes from agents can neither close a fence, nor link, nor mention users.
    Markdown,
}

/// How much of a document a text holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// A part; the text says so and where the rest is.
    Part,
}

/// A text to be shown, and what it proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// How much it holds.
    pub extent: Extent,
    /// Of the document when it holds all of it, otherwise of the text.
    pub digest: Digest,
}

impl Rendered {
    /// What a person who answers from this text was looking at.
    pub const fn shown(&self) -> Shown {
        match self.extent {
            Extent::Whole => Shown::Whole(self.digest),
            Extent::Part => Shown::Part(self.digest),
        }
    }
}

/// What a document says besides its heading and the ways to answer: for surfaces that have places of their own for those.
pub fn details(document: &Document) -> SafeText {
    let is_heading = |block: &&Block| matches!(block, Block::Heading { .. });
    let head = document.head.iter().filter(|block| !is_heading(block));
    let rest = Document {
        locale: document.locale,
        head: head.cloned().collect(),
        body: document.body.clone(),
        foot: Vec::new(),
    };
    let surface = Surface {
        width: None,
        chars_max: None,
        markup: Markup::Plain,
        elsewhere: None,
    };
    SafeText::laid_out(to_text(&rest, &surface).text)
}

/// Lays a document out for a surface. Nothing is cut without the text saying so.
pub fn to_text(document: &Document, surface: &Surface) -> Rendered {
    let once = risk_said_once(document);
    let section = |blocks: &[Block]| {
        let mut page = Page {
            surface,
            once,
            locale: document.locale,
            lines: Vec::new(),
        };
        for block in blocks {
            page.block(block);
        }
        page.lines.join("\n")
    };
    let [head, body, foot] = [
        section(&document.head),
        section(&document.body),
        section(&document.foot),
    ];
    let whole = join(&[&head, &body, &foot]);
    let length = whole.chars().count();
    match surface.chars_max.filter(|max| length > *max) {
        None => Rendered {
            text: whole,
            extent: Extent::Whole,
            digest: document.digest(),
        },
        Some(max) => {
            let beginning = join(&[&head, &body]);
            let text = part(&beginning, &foot, length, max, document.locale, surface);
            Rendered {
                extent: Extent::Part,
                digest: Digest::of("placet/shown-part/1", &[text.as_bytes()]),
                text,
            }
        }
    }
}

/// The risk in the heading, when the one thing judged below it has the same: then it is not said again.
fn risk_said_once(document: &Document) -> Option<Risk> {
    let (mut said, mut judged) = (None, Vec::new());
    for block in document.blocks() {
        match block {
            Block::Heading { risk, .. } => said = *risk,
            Block::Commands { commands, .. } => judged.extend(commands.iter().map(|command| command.risk)),
            Block::Statement { risk, .. } | Block::Host { risk, .. } => judged.push(*risk),
            _ => {}
        }
    }
    match judged.as_slice() {
        [only] if said == Some(*only) => said,
        _ => None,
    }
}

fn join(sections: &[&str]) -> String {
    sections
        .iter()
        .copied()
        .filter(|section| !section.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// As much of the beginning as fits, then how much is missing and where it is, then how to answer. What a surface cannot
/// hold of that goes in the opposite order: the notice is the last to go.
fn part(beginning: &str, foot: &str, length: usize, max: usize, locale: Locale, surface: &Surface) -> String {
    let elsewhere = surface.elsewhere.as_deref().unwrap_or("placet inbox");
    let notice = |shown: usize| {
        let missing = length.saturating_sub(shown);
        request::cut(elsewhere, length, missing).say(locale)
    };
    let fence = match surface.markup {
        Markup::Plain => "",
        Markup::Markdown => "\n```",
    };
    let chars = |text: &str| text.chars().count();
    let longest_notice = chars(&notice(0)) + chars(fence);
    for foot in [foot, ""] {
        let Some(room) = max
            .checked_sub(longest_notice + chars(foot) + 4)
            .filter(|room| *room > 0 || foot.is_empty())
        else {
            continue;
        };
        let mut shown: String = beginning.chars().take(room).collect();
        if shown.len() < beginning.len()
            && let Some(end) = shown.rfind('\n')
        {
            shown.truncate(end);
        }
        let count = chars(&shown) + chars(foot);
        // A fence cut open would swallow the notice.
        if surface.markup == Markup::Markdown && shown.lines().filter(|line| *line == "```").count() % 2 == 1
        {
            shown.push_str(fence);
        }
        return join(&[&shown, &notice(count), foot]);
    }
    notice(0).chars().take(max).collect()
}

struct Page<'s> {
    surface: &'s Surface,
    /// A risk that is said in the heading already.
    once: Option<Risk>,
    locale: Locale,
    lines: Vec<String>,
}

impl Page<'_> {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading { text, risk } => self.heading(text, *risk),
            Block::Text { label, text } => {
                if let Some(label) = label {
                    self.label(label);
                }
                self.framed(text.as_str().split('\n').map(str::to_owned));
            }
            Block::Field { label, value } => self.field(label, value.as_str()),
            Block::Line { text } => self.framed(text.as_str().split('\n').map(str::to_owned)),
            Block::Commands { label, commands } => {
                if !label.is_empty() {
                    self.label(label);
                }
                for command in commands {
                    self.command(command);
                }
            }
            Block::Statement { text, risk, why, .. } => self.judged(text, "", *risk, why),
            Block::Rows {
                label,
                count,
                statement,
            } => {
                self.field(label, &count.to_string());
                self.framed(statement.as_str().split('\n').map(str::to_owned));
            }
            Block::Host {
                label,
                host,
                risk,
                why,
            } => {
                let why = if why.is_empty() {
                    String::new()
                } else {
                    format!("{}{why}", self.colon())
                };
                self.field(label, &format!("{host}{}{why}", self.bracketed(*risk)));
            }
            Block::Diff { label, hunks } => {
                self.label(label);
                self.framed(hunks.iter().flat_map(diff_lines));
            }
            Block::Args { label, args } => {
                self.label(label);
                self.framed(
                    args.iter()
                        .flat_map(|arg| arg_lines(arg.name.as_str(), &arg.value)),
                );
            }
            Block::Warning { text } => self.flowing("⚠ ", "  ", &self.prose(text.as_str())),
            Block::Options { label, options, .. } => {
                self.label(label);
                for option in options {
                    self.option(option);
                }
            }
            Block::Countdown { label, remaining } => {
                self.field(label, &request::left(*remaining).say(self.locale));
            }
        }
    }

    fn prose(&self, text: &str) -> String {
        match self.surface.markup {
            Markup::Plain => text.to_owned(),
            Markup::Markdown => markdown::prose(text),
        }
    }

    fn bold(&self, text: &str) -> String {
        match self.surface.markup {
            Markup::Plain => text.to_owned(),
            Markup::Markdown => format!("**{}**", markdown::prose(text)),
        }
    }

    fn heading(&mut self, text: &SafeText, risk: Option<Risk>) {
        let risk = risk.map_or(String::new(), |risk| format!(" [{}]", risk.label(self.locale)));
        self.flowing("", "  ", &format!("{}{risk}", self.bold(text.as_str())));
    }

    fn label(&mut self, label: &SafeText) {
        self.flowing(
            "",
            "  ",
            &format!("{}{}", self.bold(label.as_str()), self.colon()),
        );
    }

    fn field(&mut self, label: &SafeText, value: &str) {
        let line = format!(
            "{}{}{}",
            self.bold(label.as_str()),
            self.colon(),
            self.prose(value)
        );
        self.flowing("", "  ", &line);
    }

    fn command(&mut self, command: &CommandLine) {
        let mut under = String::new();
        for wrapper in &command.under {
            under.push_str(wrapper.as_str());
            under.push_str(" › ");
        }
        self.judged(&command.text, &under, command.risk, &command.why);
    }

    fn judged(&mut self, text: &SafeText, under: &str, risk: Risk, why: &SafeText) {
        self.framed(text.as_str().split('\n').map(str::to_owned));
        let line = format!("{} {under}{why}", self.bracketed(risk));
        if !line.trim().is_empty() {
            self.flowing("  ↳ ", "    ", &self.prose(line.trim()));
        }
    }

    /// ` [HIGH]`; nothing where the heading says it.
    fn bracketed(&self, risk: Risk) -> String {
        match self.once {
            Some(_) => String::new(),
            None => format!(" [{}]", risk.label(self.locale)),
        }
    }

    fn option(&mut self, option: &OptionLine) {
        let about = request::described(&option.description, &option.prompt).say(self.locale);
        let about = match about.trim() {
            "" => String::new(),
            about => format!("{}{about}", self.colon()),
        };
        let weight = match option.weight {
            Weight::Plain => String::new(),
            Weight::Default => request::default_option().say(self.locale),
            Weight::Dangerous => " ⚠".to_owned(),
        };
        let label = self.prose(&format!("{}{about}", option.label));
        let line = match option.say.as_str() {
            "" => label,
            say => format!("{} — {label}", self.bold(say)),
        };
        self.flowing("• ", "  ", &format!("{line}{weight}"));
    }

    fn colon(&self) -> &'static str {
        messages::colon(self.locale)
    }

    /// A line of ours, broken to the width.
    fn flowing(&mut self, first: &str, next: &str, line: &str) {
        let width = self
            .surface
            .width
            .map(|width| usize::from(width).saturating_sub(4));
        for (index, piece) in wrap(line, width).into_iter().enumerate() {
            self.lines.push(format!(
                "{}{}",
                if index == 0 { first } else { next },
                piece.trim_end()
            ));
        }
    }

    /// Lines that are not ours, behind a bar or inside a fence.
    fn framed(&mut self, lines: impl Iterator<Item = String>) {
        if self.surface.markup == Markup::Markdown {
            self.lines.push("```".to_owned());
            self.lines.extend(lines.map(|line| markdown::code(&line)));
            self.lines.push("```".to_owned());
            return;
        }
        let width = self
            .surface
            .width
            .map(|width| usize::from(width).saturating_sub(2));
        for line in lines {
            for (index, piece) in wrap(&line, width).into_iter().enumerate() {
                self.lines
                    .push(format!("{}{piece}", if index == 0 { "│ " } else { "┊ " }));
            }
        }
    }
}

fn diff_lines(hunk: &Hunk) -> impl Iterator<Item = String> {
    let lines = hunk.lines.iter().map(|line| {
        let sign = match line.change {
            Change::Kept => ' ',
            Change::Removed => '-',
            Change::Added => '+',
        };
        format!("{sign}{}", line.text)
    });
    std::iter::once(hunk.header.to_string()).chain(lines)
}

fn arg_lines(name: &str, value: &ArgValue) -> Vec<String> {
    match value {
        ArgValue::Json(json) => format!("{name}: {json}").split('\n').map(str::to_owned).collect(),
        ArgValue::Text(text) => {
            let lines = text.as_str().split('\n').map(|line| format!("  {line}"));
            std::iter::once(format!("{name}:")).chain(lines).collect()
        }
    }
}
