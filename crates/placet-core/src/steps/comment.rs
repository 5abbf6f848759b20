//! A person comments on a request: those asked, and admins. Open or closed, it stays as it is.

use crate::comment::{COMMENT_BYTES_MAX, COMMENTS_MAX};
use crate::ids::InteractionId;
use crate::interaction::Interaction;
use crate::journal::Event;
use crate::messages::{Explain, Message, refusal};
use crate::principal::{Principal, Via};
use crate::snapshot::Snapshot;
use crate::step::{Decided, Refusal};

use super::Draft;

/// Why a comment is not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommentRefusal {
    /// There is no such request, or it is not theirs to see.
    NotFound(InteractionId),
    /// It says nothing.
    Empty,
    /// It is longer than [`COMMENT_BYTES_MAX`].
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// The request has [`COMMENTS_MAX`] comments.
    TooMany(InteractionId),
}

impl Refusal for CommentRefusal {}

impl Explain for CommentRefusal {
    fn message(&self) -> Message {
        match self {
            Self::NotFound(id) => refusal::not_found(id),
            Self::Empty => refusal::comment_empty(),
            Self::TooLong { bytes } => refusal::too_long(*bytes, COMMENT_BYTES_MAX),
            Self::TooMany(id) => refusal::comments_max(id, COMMENTS_MAX),
        }
    }
}

crate::display_in_english!(CommentRefusal);

/// Keeps a comment. Agents and bots write none.
pub fn comment(
    snapshot: &Snapshot,
    id: &InteractionId,
    by: &Principal,
    text: &str,
) -> Decided<(), CommentRefusal> {
    let not_found = || CommentRefusal::NotFound(id.clone());
    let interaction = snapshot.interaction(id)?.as_ref().ok_or_else(not_found)?;
    let Principal::Person { person, via } = by else {
        return Err(not_found().into());
    };
    if *via != Via::Admin && !is_asked(interaction, by) {
        return Err(not_found().into());
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(CommentRefusal::Empty.into());
    }
    if text.len() > COMMENT_BYTES_MAX {
        return Err(CommentRefusal::TooLong { bytes: text.len() }.into());
    }
    if snapshot.comments(id)?.len() >= COMMENTS_MAX {
        return Err(CommentRefusal::TooMany(id.clone()).into());
    }
    let mut draft = Draft::new(&interaction.asked().session);
    draft.event(Event::Commented {
        interaction: id.clone(),
        by: person.clone(),
        text: text.to_owned(),
    });
    Ok(draft.finish(()))
}

fn is_asked(interaction: &Interaction, by: &Principal) -> bool {
    match interaction {
        Interaction::Pending(pending) => pending.asks(by),
        // Escalated or not is no longer known.
        Interaction::Resolved(resolved) | Interaction::Processed(resolved) => {
            resolved.asked.concerns(by, true)
        }
    }
}
