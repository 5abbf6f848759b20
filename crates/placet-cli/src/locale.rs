//! The language of this process: `--help`, errors, and what commands print.
//!
//! It is chosen once, before the command line is read, since what is wrong with the command line is said in it as well.

use std::ffi::OsString;
use std::sync::OnceLock;

use placet_core::interaction::Locale;
use placet_core::messages::Message;

use crate::config_file;

static CHOSEN: OnceLock<Locale> = OnceLock::new();

/// Chooses the language: that of the configuration which the arguments name, else that of the environment (`LC_ALL`, `LC_MESSAGES`, `LANG`).
pub(crate) fn choose(arguments: impl Iterator<Item = OsString>) -> Locale {
    *CHOSEN.get_or_init(|| config_file::language(named(arguments).as_deref()))
}

/// The language; English where none was chosen, as in unit tests.
pub(crate) fn current() -> Locale {
    CHOSEN.get().copied().unwrap_or(Locale::English)
}

/// A sentence in the language of this process.
pub(crate) fn say(message: &Message) -> String {
    message.say(current())
}

/// An error that says this.
pub(crate) fn error(message: &Message) -> anyhow::Error {
    anyhow::Error::msg(say(message))
}

/// The file of `--config FILE` or `--config=FILE`.
fn named(mut arguments: impl Iterator<Item = OsString>) -> Option<std::path::PathBuf> {
    while let Some(argument) = arguments.next() {
        let Some(argument) = argument.to_str() else {
            continue;
        };
        match argument.strip_prefix("--config") {
            Some("") => return arguments.next().map(Into::into),
            Some(value) if value.starts_with('=') => return value.get(1..).map(Into::into),
            _ if argument == "--" => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_found_as_clap_would_find_it() {
        let found = |arguments: &[&str]| {
            named(arguments.iter().map(OsString::from)).map(|path| path.display().to_string())
        };
        assert_eq!(
            found(&["placet", "run", "--config", "a.toml"]).as_deref(),
            Some("a.toml")
        );
        assert_eq!(
            found(&["placet", "--config=a.toml", "x"]).as_deref(),
            Some("a.toml")
        );
        assert_eq!(found(&["placet", "--configure", "x"]), None);
        assert_eq!(found(&["placet", "run", "--", "--config", "x"]), None);
        assert_eq!(found(&["placet", "--config"]), None);
    }
}
