//! Comments: what people say to each other about a request. No agent sees them, and they decide nothing.

use serde::{Deserialize, Serialize};

use crate::ids::PersonId;
use crate::render::{SafeText, mask};
use crate::time::Timestamp;

/// The longest comment, in bytes.
pub const COMMENT_BYTES_MAX: usize = 4000;
/// How many comments a request has at most.
pub const COMMENTS_MAX: usize = 100;

/// A comment on a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// When it was written.
    pub at: Timestamp,
    /// Who wrote it.
    pub by: PersonId,
    /// As it was written. People are shown [`Comment::shown`].
    pub text: String,
}

impl Comment {
    /// The text as people see it: safe, secrets masked.
    pub fn shown(&self) -> SafeText {
        SafeText::block(&mask::text(&self.text))
    }
}
