//! What the engine refuses, as callers are told.

use placet_core::call::ArgsError;
use placet_core::ids::IdError;
use placet_core::interaction::AnswerError;
use placet_core::steps::{
    AnswerRefusal, AskRefusal, ClaimRefusal, CommentRefusal, FinishRefusal, ProposeRefusal, RevokeRefusal,
    SettingRefusal,
};
use placet_engine::GateError;
use placet_engine::channel::RouteError;
use placet_store::StepError;

use super::{Code, Problem};

impl From<IdError> for Problem {
    fn from(error: IdError) -> Self {
        Self::new(Code::BadRequest, error.to_string())
    }
}

impl From<ArgsError> for Problem {
    fn from(error: ArgsError) -> Self {
        Self::explained(Code::BadArgs, &error)
    }
}

impl From<GateError> for Problem {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Propose(ProposeRefusal::IdTaken(_)) => Self::new(Code::CallIdTaken, error.to_string()),
            GateError::Propose(ProposeRefusal::NotYours(_)) => {
                Self::new(Code::NoSuchSession, error.to_string())
            }
            GateError::Propose(ProposeRefusal::RunStopped(_)) => {
                Self::new(Code::SessionOver, error.to_string())
            }
            GateError::Store(error) => error.into(),
            GateError::Claim(refusal) => claim(&refusal),
            GateError::Finish(refusal) => finish(&refusal),
            GateError::NotFound(_) => Self::new(Code::NoSuchCall, error.to_string()),
            GateError::Id(error) => error.into(),
        }
    }
}

fn claim(refusal: &ClaimRefusal) -> Problem {
    let code = match refusal {
        ClaimRefusal::NotFound(_) => Code::NoSuchCall,
        ClaimRefusal::StillPending(_) => Code::StillPending,
        ClaimRefusal::NotGranted { .. } => Code::NotGranted,
        ClaimRefusal::AlreadyClaimed(_) => Code::AlreadyClaimed,
        ClaimRefusal::SessionOver(_) | ClaimRefusal::RunStopped(_) => Code::SessionOver,
    };
    let problem = Problem::new(code, refusal.to_string());
    match refusal {
        ClaimRefusal::NotGranted { status, .. } => problem.with("callStatus", status.as_str()),
        _ => problem,
    }
}

fn finish(refusal: &FinishRefusal) -> Problem {
    let code = match refusal {
        FinishRefusal::NotFound(_) => Code::NoSuchCall,
        FinishRefusal::NotClaimed(_) => Code::NotClaimed,
        FinishRefusal::Superseded(_) | FinishRefusal::AlreadyFinished(_) => Code::AlreadyFinished,
    };
    Problem::new(code, refusal.to_string())
}

impl<E> From<StepError<E>> for Problem
where
    Problem: From<E>,
{
    fn from(error: StepError<E>) -> Self {
        match error {
            StepError::Refused(refusal) => refusal.into(),
            StepError::Store(error) => error.into(),
        }
    }
}

impl From<AskRefusal> for Problem {
    fn from(refusal: AskRefusal) -> Self {
        let code = match refusal {
            AskRefusal::Invalid(_) => Code::BadQuestion,
            AskRefusal::IdTaken(_) => Code::RequestIdTaken,
            AskRefusal::NotYours(_) => Code::NoSuchSession,
            AskRefusal::SessionOver => Code::SessionOver,
            AskRefusal::TooManyOpen { .. } => Code::TooManyQuestions,
            AskRefusal::NobodyToAsk(_) => Code::NobodyToAsk,
        };
        Self::new(code, refusal.to_string())
    }
}

/// Who decided and when is added where it is known; see `api::answer`.
impl From<AnswerRefusal> for Problem {
    fn from(refusal: AnswerRefusal) -> Self {
        let code = match &refusal {
            AnswerRefusal::NotFound(_) => Code::NoSuchQuestion,
            AnswerRefusal::AlreadyDecided { .. } => Code::AlreadyDecided,
            AnswerRefusal::DataInvalid(_) => Code::BadRequest,
            AnswerRefusal::EditInvalid(_) | AnswerRefusal::EditDenied(_) => Code::EditedArgsRefused,
            AnswerRefusal::ScopeMismatch | AnswerRefusal::WideNotAllowed | AnswerRefusal::RefusedBefore => {
                Code::RememberRefused
            }
            AnswerRefusal::Variables(_) => Code::VariablesRefused,
            AnswerRefusal::Invalid(error) => match error {
                AnswerError::NotAPerson { .. }
                | AnswerError::Unlinked { .. }
                | AnswerError::SecretInChat { .. } => Code::Forbidden,
                AnswerError::NotSealed { .. } => Code::Internal,
                AnswerError::NotAsked { .. } => Code::NoSuchQuestion,
                AnswerError::OwnRequest { .. } => Code::OwnRequest,
                AnswerError::TooLate { .. } => Code::Expired,
                AnswerError::VotedBefore { .. } => Code::AlreadyVoted,
                AnswerError::NoSuchOption { .. } => Code::NoSuchOption,
                AnswerError::InputMissing { .. } => Code::InputRequired,
                AnswerError::NotShownWhole => Code::NotShownWhole,
                AnswerError::EditNotOffered { .. } => Code::EditedArgsRefused,
                AnswerError::RememberNotOffered => Code::RememberRefused,
                AnswerError::TooLong { .. } => Code::TextTooLong,
            },
        };
        Self::explained(code, &refusal)
    }
}

impl From<RouteError> for Problem {
    fn from(error: RouteError) -> Self {
        let code = match error {
            RouteError::Signature(_) => Code::BadSignature,
            RouteError::BadRequest(_) => Code::BadRequest,
            RouteError::TooLarge(_) => Code::TooLarge,
            RouteError::Store(error) => return error.into(),
            RouteError::Panicked => Code::Internal,
        };
        Self::new(code, error.to_string())
    }
}

impl From<CommentRefusal> for Problem {
    fn from(refusal: CommentRefusal) -> Self {
        let code = match refusal {
            CommentRefusal::NotFound(_) => Code::NoSuchQuestion,
            CommentRefusal::Empty => Code::EmptyMessage,
            CommentRefusal::TooLong { .. } => Code::TextTooLong,
            CommentRefusal::TooMany(_) => Code::TooManyComments,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<RevokeRefusal> for Problem {
    fn from(refusal: RevokeRefusal) -> Self {
        let code = match refusal {
            RevokeRefusal::NotFound(_) => Code::NoSuchGrant,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<SettingRefusal> for Problem {
    fn from(refusal: SettingRefusal) -> Self {
        let SettingRefusal::SessionOver(_) = refusal;
        Self::new(Code::SessionOver, refusal.to_string())
    }
}
