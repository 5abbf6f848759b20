//! What begins with a slash: for the program, not for the agent.

use placet_core::ids::{SessionId, ToolName};
use placet_core::policy::Mode;

/// The names, as typed.
pub(super) const NAMES: [&str; 8] = [
    "/help", "/mode", "/allow", "/tools", "/grants", "/resume", "/new", "/exit",
];

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// What there is.
    Help,
    /// How freely the agent may act: shown, or changed.
    Mode(Option<Mode>),
    /// Tools that run unasked in this conversation: shown, or added to.
    Allow(Vec<ToolName>),
    /// What the agent can do.
    Tools,
    /// Standing approvals: listed.
    Grants,
    /// Revoke the grant of that number, counted from 1.
    Revoke(usize),
    /// Other conversations: listed, or continued.
    Resume(Option<SessionId>),
    /// Another conversation from the beginning.
    New,
    /// The end.
    Exit,
}

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChatInput {
    /// A message for the agent.
    Message(String),
    /// A command.
    Command(Command),
    /// Unknown command: how the nearest one is written.
    Wrong(&'static str),
    /// Unknown mode, as typed.
    NoMode(String),
    /// A name that no tool can have, as typed.
    NoTool(String),
}

/// Reads a line. A message that begins with a slash is written with two.
pub(super) fn read(line: &str) -> ChatInput {
    let line = line.trim();
    if let Some(message) = line.strip_prefix("//") {
        return ChatInput::Message(format!("/{message}"));
    }
    if !line.starts_with('/') {
        return ChatInput::Message(line.to_owned());
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let command = match words.as_slice() {
        ["/help" | "/?"] => Command::Help,
        ["/mode"] => Command::Mode(None),
        ["/mode", mode] => match named(mode) {
            Some(mode) => Command::Mode(Some(mode)),
            None => return ChatInput::NoMode((*mode).to_owned()),
        },
        ["/allow", names @ ..] => {
            let mut tools = Vec::new();
            for name in names {
                match ToolName::new(*name) {
                    Ok(tool) => tools.push(tool),
                    Err(_) => return ChatInput::NoTool((*name).to_owned()),
                }
            }
            Command::Allow(tools)
        }
        ["/tools"] => Command::Tools,
        ["/grants"] => Command::Grants,
        ["/grants", "revoke", number] => match number.parse() {
            Ok(number) => Command::Revoke(number),
            Err(_) => return ChatInput::Wrong("/grants [revoke N]"),
        },
        ["/grants", ..] => return ChatInput::Wrong("/grants [revoke N]"),
        ["/resume"] => Command::Resume(None),
        ["/resume", session] => match SessionId::new(*session) {
            Ok(session) => Command::Resume(Some(session)),
            Err(_) => return ChatInput::Wrong("/resume [SESSION]"),
        },
        ["/new"] => Command::New,
        ["/exit" | "/quit"] => Command::Exit,
        _ => return ChatInput::Wrong("/help"),
    };
    ChatInput::Command(command)
}

fn named(mode: &str) -> Option<Mode> {
    match mode {
        "default" => Some(Mode::Default),
        "autoEdit" | "autoedit" => Some(Mode::AutoEdit),
        "yolo" => Some(Mode::Yolo),
        _ => None,
    }
}

/// How a mode is written.
pub(super) const fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AutoEdit => "autoEdit",
        Mode::Yolo => "yolo",
    }
}

/// The one command a beginning can mean.
pub(super) fn completed(typed: &str) -> Option<String> {
    let mut names = NAMES
        .iter()
        .filter(|name| typed.len() > 1 && name.starts_with(typed));
    match (names.next(), names.next()) {
        (Some(only), None) => Some(format!("{only} ")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_unless_they_begin_with_one_slash() {
        assert_eq!(read(" tidy up "), ChatInput::Message("tidy up".into()));
        assert_eq!(read("//etc is full"), ChatInput::Message("/etc is full".into()));
        assert_eq!(
            read("/mode yolo"),
            ChatInput::Command(Command::Mode(Some(Mode::Yolo)))
        );
        assert_eq!(read("/grants revoke 2"), ChatInput::Command(Command::Revoke(2)));
        assert_eq!(read("/mode fast"), ChatInput::NoMode("fast".into()));
        let tools = ["bash", "write"].map(|name| ToolName::new(name).unwrap());
        assert_eq!(
            read("/allow bash write"),
            ChatInput::Command(Command::Allow(tools.into()))
        );
        assert_eq!(read("/rm"), ChatInput::Wrong("/help"));
        assert_eq!(read("/new now"), ChatInput::Wrong("/help"));
    }

    #[test]
    fn a_beginning_is_completed_when_it_means_one_command() {
        assert_eq!(completed("/mo").as_deref(), Some("/mode "));
        assert_eq!(completed("/"), None);
        assert_eq!(completed("tidy"), None);
    }
}
