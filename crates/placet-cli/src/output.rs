//! Printing: to a terminal in colour, to a pipe without, and quietly nothing when the reader has gone away.

use std::io::{self, Write as _};

use anstyle::Style;
use placet_core::messages::{self, Message, checked, usage};
use placet_core::render::SafeText;

use crate::config_file::Refused;
use crate::{locale, style};

/// Prints to standard output. A reader who has seen enough (`| head`) is no error, and must not change the exit status.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Says on standard error why nothing came of it.
pub(crate) fn explain(error: &anyhow::Error) {
    let text = if let Some(refused) = error.downcast_ref::<Refused>() {
        refused.report()
    } else {
        format!(
            "{}{}\n",
            label(style::BAD, &usage::error()),
            SafeText::block(&sentence(error))
        )
    };
    print_error(&text);
}

/// Prints to standard error. When that is gone too, only the exit status is left.
pub(crate) fn print_error(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// `error: ` before a sentence.
pub(crate) fn label(style: Style, word: &Message) -> String {
    let colon = messages::colon(locale::current());
    let painted = style::paint(style, format!("{}{}", locale::say(word), colon.trim_end()));
    format!(
        "{painted}{}",
        colon.strip_prefix(colon.trim_end()).unwrap_or_default()
    )
}

/// An error and its causes. Many errors say their cause in their own sentence and name it as well: it is said once.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.is_empty() {
            said = cause;
        } else if !said.ends_with(&cause) {
            said = format!("{said}{}{cause}", messages::colon(locale::current()));
        }
    }
    said
}

/// Says on standard error what is wrong, where more follows.
pub(crate) fn complain(sentence: &str) {
    print_error(&format!(
        "{}{}\n",
        label(style::BAD, &usage::error()),
        SafeText::line(sentence)
    ));
}

/// Says something on standard error that does not change the outcome.
pub(crate) fn warn(sentence: &str) {
    print_error(&format!(
        "{}{}\n",
        label(style::CAUTION, &usage::warning()),
        SafeText::line(sentence)
    ));
}

/// Why a file beside the wanted one could not be made. Its own name is random, so it is not shown.
pub(crate) fn without_temporary_name(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((why, _)) => io::Error::new(error.kind(), why.to_owned()),
        None => error,
    }
}

/// Whether the reader of our output has gone away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// `text` in full when it is short; else its beginning, and how much there is.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => {
            let shown = text.get(..end).unwrap_or_default();
            format!("{shown}{}", locale::say(&checked::more(text.chars().count())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_was_said_is_not_said_again() {
        let gone = std::io::Error::from_raw_os_error(2);
        let said = sentence(&anyhow::Error::from(gone).context("the file cannot be read"));
        assert!(said.starts_with("the file cannot be read: "), "{said}");
        let twice = anyhow::anyhow!("no such file")
            .context("`a` cannot be read: no such file")
            .context("the model cannot be used: `a` cannot be read: no such file");
        assert_eq!(
            sentence(&twice),
            "the model cannot be used: `a` cannot be read: no such file"
        );
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(shortened("ls", 2), "ls");
        assert_eq!(
            shortened("列表文件", 2),
            "列表… (4 characters in all; --json shows them)"
        );
    }
}
