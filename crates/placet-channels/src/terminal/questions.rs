//! Where the questions of a terminal come from and its answers go to: the broker of this process, or the owner of the store in
//! another one.

use async_trait::async_trait;
use placet_core::ids::InteractionId;
use placet_core::interaction::{Answer, Locale};
use placet_core::messages::Explain as _;
use placet_core::principal::Principal;
use placet_core::question::Question;
use placet_core::standing::Scope;
use placet_core::steps::AnswerRefusal;
use placet_engine::broker::Broker;
use placet_engine::review::GrantPreview;
use placet_store::StepError;

use super::attendant::AttendError;

/// What an answer came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// The question is settled, by this answer or by one that was faster.
    Settled,
    /// The answer counts, and it goes on as these words say.
    GoesOn(String),
    /// The answer was not taken; these words say why.
    Refused(String),
}

/// Looks questions up and takes answers.
#[async_trait]
pub trait Questions: Send + Sync {
    /// A question, and what "don't ask again" may cover for the person who looks, narrowest first.
    async fn question(
        &self,
        id: &InteractionId,
        by: &Principal,
    ) -> Result<Option<(Question, Vec<Scope>)>, AttendError>;

    /// Takes an answer.
    async fn answer(&self, id: &InteractionId, answer: Answer, locale: Locale) -> Result<Given, AttendError>;

    /// Withdraws a question that has no option which says no.
    async fn withdraw(&self, id: &InteractionId, by: &Principal) -> Result<(), AttendError>;

    /// What a wide scope means. None for a scope that no rule can say.
    async fn preview(&self, question: &Question, scope: &Scope) -> Result<Option<GrantPreview>, AttendError>;
}

/// The person at the terminal of this process has the store's file, so they have its authority.
#[async_trait]
impl Questions for Broker {
    async fn question(
        &self,
        id: &InteractionId,
        by: &Principal,
    ) -> Result<Option<(Question, Vec<Scope>)>, AttendError> {
        let found = Self::question(self, id).await?;
        Ok(found.map(|question| {
            let scopes = self.offered(&question, by, self.authority_at_the_store(by));
            (question, scopes)
        }))
    }

    async fn answer(&self, id: &InteractionId, answer: Answer, locale: Locale) -> Result<Given, AttendError> {
        let authority = self.authority_at_the_store(&answer.by);
        match self.answer_with(id, answer, authority).await {
            Ok(answered) => Ok(answered
                .goes_on()
                .map_or(Given::Settled, |message| Given::GoesOn(message.say(locale)))),
            Err(StepError::Refused(AnswerRefusal::AlreadyDecided { .. })) => Ok(Given::Settled),
            Err(StepError::Refused(other)) => Ok(Given::Refused(other.message().say(locale))),
            Err(StepError::Store(error)) => Err(error.into()),
        }
    }

    async fn withdraw(&self, id: &InteractionId, by: &Principal) -> Result<(), AttendError> {
        Self::withdraw(self, id, &by.to_string()).await?;
        Ok(())
    }

    async fn preview(&self, question: &Question, scope: &Scope) -> Result<Option<GrantPreview>, AttendError> {
        Ok(Self::preview(self, question, scope).await?)
    }
}
