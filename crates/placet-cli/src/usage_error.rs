//! What is wrong with a command line, in the language of the user, and the pages of `--help` and `--version`.

use std::error::Error as _;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use placet_core::interaction::Locale;
use placet_core::messages::{Message, text, usage};

use crate::exit::Exit;
use crate::{output, style};

/// Prints what clap has to say instead of a command.
pub(crate) fn print(error: &Error, locale: Locale) -> Exit {
    let is_page = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_page {
        // A reader who has seen enough is no error.
        let _ = output::print(&error.render().ansi().to_string());
        return Exit::Success;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        output::print_error(&error.render().ansi().to_string());
        return Exit::BadInput;
    }
    let mut lines = vec![format!(
        "{}{}",
        output::label(style::BAD, &usage::error()),
        what(error).say(locale)
    )];
    if let Some(values) = get(error, ContextKind::ValidValue) {
        lines.push(format!("  {}", usage::values(values.join(", ")).say(locale)));
    }
    if let Some(known) = suggestion(error) {
        let hint = output::label(style::GOOD, &usage::hint());
        lines.push(format!("\n  {hint}{}", usage::did_you_mean(known).say(locale)));
    }
    if let Some(ContextValue::StyledStr(line)) = error.get(ContextKind::Usage) {
        let line = line.to_string();
        let line = line.split_once(' ').map_or("", |(_, line)| line);
        lines.push(format!(
            "\n{}{line}",
            output::label(style::SECTION, &usage::heading())
        ));
    }
    lines.push(format!("\n{}\n", usage::more().say(locale)));
    output::print_error(&lines.join("\n"));
    Exit::BadInput
}

fn what(error: &Error) -> Message {
    let arguments = get(error, ContextKind::InvalidArg).unwrap_or_default();
    let argument = arguments.first().cloned().unwrap_or_default();
    let value = get(error, ContextKind::InvalidValue).and_then(|values| values.into_iter().next());
    match error.kind() {
        ErrorKind::UnknownArgument => usage::unexpected(argument),
        ErrorKind::InvalidSubcommand => usage::no_command(
            get(error, ContextKind::InvalidSubcommand)
                .unwrap_or_default()
                .join(" "),
        ),
        ErrorKind::MissingSubcommand => usage::command_missing(),
        ErrorKind::MissingRequiredArgument => usage::missing(arguments.join(" ")),
        ErrorKind::InvalidValue if value.as_deref().is_none_or(str::is_empty) => {
            usage::value_missing(argument)
        }
        ErrorKind::InvalidValue => usage::value_invalid(argument, value.unwrap_or_default()),
        ErrorKind::ValueValidation => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            usage::value_wrong(argument, value.unwrap_or_default(), why)
        }
        ErrorKind::ArgumentConflict => {
            let others = get(error, ContextKind::PriorArg).unwrap_or_default();
            if others.iter().all(|other| *other == argument) {
                return usage::repeated(argument);
            }
            usage::conflict(argument, others.iter().map(|other| format!("`{other}`")))
        }
        // Rare kinds are said as clap says them.
        _ => text::as_written(error.kind()),
    }
}

fn suggestion(error: &Error) -> Option<String> {
    let kinds = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ];
    let known = kinds.into_iter().find_map(|kind| get(error, kind))?;
    known.into_iter().next()
}

fn get(error: &Error, kind: ContextKind) -> Option<Vec<String>> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(vec![text.clone()]),
        ContextValue::Strings(texts) if !texts.is_empty() => Some(texts.clone()),
        _ => None,
    }
}
