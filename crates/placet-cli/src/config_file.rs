//! Finding and loading `placet.toml`, and showing what is wrong with it.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};
use placet_core::config::{Config, ConfigError, LANGUAGE_VARIABLES, Place, Problem};
use placet_core::interaction::Locale;
use placet_core::messages::{cannot, policy_file, refused};

use crate::locale;

/// The file's name, in the current folder or in the user's.
const NAME: &str = "placet.toml";
/// No configuration is longer; a wrong file is.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A configuration and where it came from.
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) source: Source,
}

/// Where a configuration came from.
pub(crate) enum Source {
    File(PathBuf),
    BuiltIn,
}

impl Source {
    /// For people.
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::BuiltIn => locale::say(&policy_file::built_in()),
        }
    }
}

/// The same in every language: for programs.
impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::BuiltIn => policy_file::built_in().fmt(f),
        }
    }
}

/// A configuration that was refused, with the text it was refused for.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(crate) struct Refused {
    error: ConfigError,
    text: String,
}

/// Loads the file that was named, else the first one found, else what is built in.
pub(crate) fn load(named: Option<&Path>) -> anyhow::Result<Loaded> {
    let source = match named {
        Some(path) => Source::File(path.to_owned()),
        None => find(),
    };
    let (text, name) = match &source {
        Source::File(path) => (filled(path, read(path)?)?, path.display().to_string()),
        Source::BuiltIn => (String::new(), "environment".to_owned()),
    };
    match Config::parse(
        &text,
        &name,
        environment()?.into_iter(),
        placet_inspect::builtin(),
    ) {
        Ok(config) => Ok(Loaded { config, source }),
        Err(error) => Err(Refused { error, text }.into()),
    }
}

/// The language that a command speaks: of the file that was named, else of the first one found, also if it is refused for what else it
/// says; else of the environment.
pub(crate) fn language(named: Option<&Path>) -> Locale {
    let named = named
        .map(Path::to_owned)
        .or_else(|| std::env::var_os("PLACET_CONFIG").map(PathBuf::from));
    let path = named.or_else(|| match find() {
        Source::File(path) => Some(path),
        Source::BuiltIn => None,
    });
    // A pipe can be read only once, and the configuration is still to be read.
    let file = path.filter(|path| std::fs::metadata(path).is_ok_and(|found| found.is_file()));
    let text = file.and_then(|path| read(&path).ok()).unwrap_or_default();
    Config::language(&text, environment().unwrap_or_default().into_iter())
}

fn find() -> Source {
    let user = user_folder("XDG_CONFIG_HOME", ".config").map(|folder| folder.join(NAME));
    let candidates = [Some(PathBuf::from(NAME)), user];
    // A file that is there but cannot be read must be refused, not passed over: it may hold deny rules.
    let found = candidates
        .into_iter()
        .flatten()
        .find(|path| std::fs::symlink_metadata(path).is_ok());
    found.map_or(Source::BuiltIn, Source::File)
}

/// Placet's folder below one of the user's base folders.
pub(crate) fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    // The base folder specification: a relative path counts as unset.
    let base = std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let base = base.or_else(|| Some(std::env::home_dir()?.join(below_home)))?;
    Some(base.join("placet"))
}

fn read(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let cannot = || locale::say(&cannot::read_config(&shown));
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).with_context(cannot)?;
    file.take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .with_context(cannot)?;
    if bytes.len() as u64 > BYTES_MAX {
        bail!(locale::error(&refused::config_too_long(BYTES_MAX, shown)));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let before =
                String::from_utf8_lossy(error.as_bytes().get(..valid).unwrap_or_default()).into_owned();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            bail!(locale::error(&refused::config_not_utf8(column, shown, line)))
        }
    }
}

/// Refuses a file that sets nothing: a file that is cut off while it is saved looks like that, and would drop every rule,
/// person and token.
fn filled(path: &Path, text: String) -> anyhow::Result<String> {
    let blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    // `/dev/null` is not cut off; it says that there is no configuration.
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    if is_file && text.trim_start_matches('\u{feff}').lines().all(blank) {
        bail!(locale::error(&refused::config_empty(path.display())));
    }
    Ok(text)
}

/// The environment's settings, and its language. A setting that cannot be read might have been the one that forbids.
fn environment() -> anyhow::Result<Vec<(String, String)>> {
    let mut variables = Vec::new();
    for (name, value) in std::env::vars_os() {
        let is_ours = |name: &&str| name.starts_with("PLACET_") || LANGUAGE_VARIABLES.contains(name);
        let Some(name) = name.to_str().filter(is_ours) else {
            continue;
        };
        let Some(value) = value.to_str() else {
            bail!(locale::error(&refused::variable_not_utf8(name)));
        };
        variables.push((name.to_owned(), value.to_owned()));
    }
    Ok(variables)
}

impl Refused {
    /// Every problem with its place and the lines around it: drawn on a terminal, plain elsewhere.
    pub(crate) fn report(&self) -> String {
        let terminal = std::io::stderr().is_terminal();
        let theme = match anstream::AutoStream::choice(&std::io::stderr()) {
            anstream::ColorChoice::Never if terminal => GraphicalTheme::unicode_nocolor(),
            anstream::ColorChoice::Never => GraphicalTheme::none(),
            _ => GraphicalTheme::unicode(),
        };
        // A program that reads this looks for whole lines.
        let width = if terminal { 110 } else { usize::from(u16::MAX) };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(width)
            .with_context_lines(1);
        let source = printable(&self.text);
        let mut out = String::new();
        for problem in &self.error.problems {
            let report = self.diagnostic(problem, &source);
            if handler.render_report(&mut out, report.as_ref()).is_err() {
                let _ = writeln!(out, "{}", self.error);
                return out;
            }
        }
        let count = self.error.problems.len();
        let _ = writeln!(out, "{}", locale::say(&refused::config(count, self.what())));
        out
    }

    /// The file, or what the environment says over it.
    fn what(&self) -> String {
        let by_environment = |problem: &&Problem| matches!(problem.place, Place::Environment(_));
        let file = printable(&self.error.file);
        match self.error.problems.iter().filter(by_environment).count() {
            0 => file,
            all if all == self.error.problems.len() => locale::say(&refused::environment()),
            _ => locale::say(&refused::file_and_environment(file)),
        }
    }

    fn diagnostic(&self, problem: &Problem, source: &str) -> Report {
        let message = printable(&locale::say(&problem.message));
        let sentence = match &problem.place {
            Place::Text { line, column, .. } => {
                format!("{}:{line}:{column}: {message}", printable(&self.error.file))
            }
            Place::Environment(variable) => format!("{variable}: {message}"),
        };
        let mut diagnostic = MietteDiagnostic::new(sentence);
        if let Some(help) = &problem.help {
            diagnostic = diagnostic.with_help(printable(&locale::say(help)));
        }
        match &problem.place {
            Place::Text { span, .. } => {
                let end = span.end.min(source.len());
                let start = span.start.min(end);
                let label = LabeledSpan::at(start..end, locale::say(&refused::here()));
                let named = NamedSource::new(printable(&self.error.file), source.to_owned());
                Report::new(diagnostic.with_label(label)).with_source_code(named)
            }
            Place::Environment(_) => Report::new(diagnostic),
        }
    }
}

/// The text without what could move a terminal's cursor or turn its letters around. Every character keeps its length in
/// bytes, so that places in the text stay where they are.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
        if (c.is_control() && !matches!(c, '\n' | '\t')) || turns {
            out.extend(std::iter::repeat_n('?', c.len_utf8()));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_text_cannot_move_the_cursor_and_keeps_its_places() {
        let text = "a\u{1b}[2J\u{202e}b\r\n\u{9b}c";
        let shown = printable(text);
        assert_eq!(shown, "a?[2J???b?\n??c");
        assert_eq!(shown.len(), text.len());
    }
}
