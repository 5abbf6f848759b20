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
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        let label = style::paint(style::BAD, "error:");
        format!("{label} {}\n", SafeText::block(&causes.join(": ")))
    };
    // When standard error is gone too, nobody is left to tell; the exit status still says it.
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Says something on standard error that does not change the outcome.
pub(crate) fn warn(sentence: &str) {
    let label = style::paint(style::CAUTION, "warning:");
    let text = format!("{label} {}\n", SafeText::line(sentence));
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
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
    fn what_is_cut_says_so() {
        assert_eq!(shortened("ls", 2), "ls");
        assert_eq!(
            shortened("列表文件", 2),
            "列表… (4 characters in all; --json shows them)"
        );
    }
}
