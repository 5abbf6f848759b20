//! The questions of a conversation, as the owner of the store has them.

use async_trait::async_trait;
use placet_channels::terminal::{AttendError, Given, Questions, Settle};
use placet_client::{Client, Error};
use placet_core::ids::InteractionId;
use placet_core::interaction::{Answer, Locale};
use placet_core::principal::Principal;
use placet_core::question::Question;
use placet_core::standing::Scope;
use placet_engine::review::GrantPreview;
use tokio_util::task::AbortOnDropHandle;

use crate::inbox;

/// Looks questions up at the owner, and gives answers to it.
pub(super) struct AtOwner(pub(super) Client);

#[async_trait]
impl Questions for AtOwner {
    async fn question(
        &self,
        id: &InteractionId,
        _: &Principal,
    ) -> Result<Option<(Question, Vec<Scope>)>, AttendError> {
        let found = self.0.question(id).await.map_err(failed)?;
        Ok(found.map(|record| (record.question, record.scopes)))
    }

    async fn answer(&self, id: &InteractionId, answer: Answer, locale: Locale) -> Result<Given, AttendError> {
        match self.0.answer(id, answer, locale).await {
            Ok(answered) => Ok(inbox::goes_on(&answered, locale).map_or(Given::Settled, Given::GoesOn)),
            Err(Error::Refused(problem)) if problem.code == "already-decided" => Ok(Given::Settled),
            Err(Error::Refused(problem)) => Ok(Given::Refused(problem.detail)),
            Err(error) => Err(failed(error)),
        }
    }

    async fn withdraw(&self, id: &InteractionId, _: &Principal) -> Result<(), AttendError> {
        self.0.withdraw(id).await.map_err(failed)
    }

    async fn preview(&self, question: &Question, scope: &Scope) -> Result<Option<GrantPreview>, AttendError> {
        inbox::preview(&self.0, question, scope).await.map_err(failed)
    }
}

impl AtOwner {
    /// Waits beside the screen until a question is settled elsewhere, and says so there.
    pub(super) fn watch(&self, id: &InteractionId, screen: Settle, locale: Locale) -> AbortOnDropHandle<()> {
        let (client, id) = (self.0.clone(), id.clone());
        AbortOnDropHandle::new(tokio::spawn(async move {
            loop {
                match client.settled(&id).await {
                    Ok(true) => break,
                    Ok(false) => {}
                    // An answer that is given now fails, and says why.
                    Err(_) => return,
                }
            }
            let Ok(Some(record)) = client.question(&id).await else {
                return;
            };
            if let Some(document) = record.question.decided(locale) {
                screen.decided(&id, &document);
            }
        }))
    }
}

fn failed(error: Error) -> AttendError {
    AttendError::Owner(Box::new(error))
}
