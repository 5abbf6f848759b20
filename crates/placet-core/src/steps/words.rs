//! What Placet says in a chat, and about an answer.

use crate::interaction::{Action, Code};
use crate::messages::{Explain as _, Message, chat};

use super::answer::Answered;
use super::host::ResumeRefusal;

/// Several requests are open, and the reply did not say which one it is about.
pub(crate) fn which_one(codes: &[Code]) -> Message {
    let first = codes.first().map(Code::as_str).unwrap_or_default();
    chat::which_request(codes, first)
}

/// What came of an answer.
pub(crate) fn answered(code: Code, answered: &Answered) -> Message {
    match answered {
        Answered::Voted { needed } => chat::counted(code, *needed),
        Answered::Decided { action } => chat::taken(code, done(*action)),
        Answered::AskedAnew { .. } => chat::asked_anew(code),
    }
}

/// The open run of a chat does not continue in this process.
pub(crate) fn not_delivered(why: &ResumeRefusal) -> Message {
    match why {
        ResumeRefusal::Elsewhere { workspace, .. } => chat::run_in_another_folder(workspace),
        why => chat::run_not_resumable(why.message()),
    }
}

fn done(action: Action) -> Message {
    match action {
        Action::ApproveAndExecute => chat::approved(),
        Action::RejectWithReason => chat::rejected(),
        Action::RetryWithFeedback => chat::sent_back(),
        Action::Terminate => chat::run_ended(),
        Action::ProvideInfo => chat::info_passed_on(),
        Action::Skip => chat::skipped(),
        Action::Custom => chat::noted(),
    }
}
