//! Printing: to a terminal in colour, to a pipe without, and quietly nothing when the reader has gone away.

use std::io::{self, Write as _};

use placet_core::render::SafeText;

use crate::config_file::Refused;
use crate::style;

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
        let label = style::paint(style::BAD, "error:");
        format!("{label} {}\n", SafeText::block(&sentence(error)))
    };
    // When standard error is gone too, only the exit status is left.
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// An error and its causes. Many errors say their cause in their own sentence and name it as well: it is said once.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.is_empty() {
            said = cause;
        } else if !said.ends_with(&cause) {
            said = format!("{said}: {cause}");
        }
    }
    said
}

/// Says on standard error what is wrong, where more follows.
pub(crate) fn complain(sentence: &str) {
    let label = style::paint(style::BAD, "error:");
    let text = format!("{label} {}\n", SafeText::line(sentence));
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Says something on standard error that does not change the outcome.
pub(crate) fn warn(sentence: &str) {
    let label = style::paint(style::CAUTION, "warning:");
    let text = format!("{label} {}\n", SafeText::line(sentence));
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
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

/// `1 rule`, `2 rules`.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}

/// `text` in full when it is short; else its beginning, and how much there is.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => {
            let shown = text.get(..end).unwrap_or_default();
            format!(
                "{shown}… ({} characters in all; --json shows them)",
                text.chars().count()
            )
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
    fn things_are_counted_in_words_that_fit() {
        assert_eq!(counted(1, "rule"), "1 rule");
        assert_eq!(counted(0, "rule"), "0 rules");
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
