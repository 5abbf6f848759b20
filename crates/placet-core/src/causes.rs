//! What went wrong, to its last cause.

use std::error::Error;

/// An error and everything it came from, in one sentence. Errors of other people's libraries often say only "it failed", and
/// keep the reason behind.
pub fn causes(error: &dyn Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        sentence.push_str(": ");
        sentence.push_str(&inner.to_string());
        cause = inner.source();
    }
    sentence
}
