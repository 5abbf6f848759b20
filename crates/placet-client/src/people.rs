//! Questions and grants, for the person who answers.

use hyper::Method;
use placet_core::ids::{InteractionId, StandingGrantId};
use placet_core::interaction::{Answer, Locale, Shown};
use placet_core::listing::StandingRow;
use placet_core::standing::Scope;
use placet_core::wire::answer::{AnswerBody, AnsweredBody, ChosenScope, Extent, RememberBody};
use placet_core::wire::local::{OwnerBody, QuestionRecord, QuestionRecords};

use crate::client::Client;
use crate::error::Error;

impl Client {
    /// What the owner of the store is. Socket only.
    pub async fn owner(&self) -> Result<OwnerBody, Error> {
        self.get("/local/owner").await
    }

    /// The pending questions, oldest first. Socket only.
    pub async fn pending(&self) -> Result<QuestionRecords, Error> {
        let mut all: QuestionRecords = self.get("/local/questions").await?;
        while let Some(after) = all.next {
            let page: QuestionRecords = self.get(&format!("/local/questions?after={after}")).await?;
            all.items.extend(page.items);
            all.damaged.extend(page.damaged);
            all.next = page.next;
        }
        Ok(all)
    }

    /// One question; none when there is no such question. Socket only.
    pub async fn question(&self, id: &InteractionId) -> Result<Option<QuestionRecord>, Error> {
        match self
            .get(&format!("/local/questions/{}", segment(id.as_str())))
            .await
        {
            Err(error) if error.code() == Some("no-such-question") => Ok(None),
            found => found.map(Some),
        }
    }

    /// The questions with a code: those that are pending, else the newest that was. Socket only.
    pub async fn with_code(&self, code: &str) -> Result<Vec<InteractionId>, Error> {
        self.get(&format!("/local/codes/{}", segment(code))).await
    }

    /// Withdraws a question. Socket only.
    pub async fn withdraw(&self, id: &InteractionId) -> Result<(), Error> {
        let path = format!("/local/questions/{}/withdraw", segment(id.as_str()));
        self.done(Method::POST, &path, None::<&()>).await
    }

    /// Answers a question. Who answers is known from the credential, not from `answer.by`.
    pub async fn answer(
        &self,
        id: &InteractionId,
        answer: Answer,
        locale: Locale,
    ) -> Result<AnsweredBody, Error> {
        let (shown_digest, shown_extent) = match answer.shown {
            Shown::Whole(digest) => (Some(digest.to_string()), Extent::Whole),
            Shown::Part(digest) => (Some(digest.to_string()), Extent::Part),
            Shown::Program => (None, Extent::Whole),
        };
        let body = AnswerBody {
            request_id: None,
            selected_option_id: answer.option,
            feedback: answer.feedback,
            data: answer.data,
            edited_args: answer.edited_args,
            instruction: answer.instruction,
            remember: answer.remember.map(|remember| RememberBody {
                scope: ChosenScope::Whole(remember.scope),
                lasts_ms: remember.lasts,
                uses_max: remember.uses_max,
            }),
            shown_digest,
            shown_extent,
            shown_locale: Some(locale),
        };
        let path = format!("/v1/interactions/{}/answer", segment(id.as_str()));
        self.post(&path, &body).await
    }

    /// How many calls of the last seven days a scope of a question would have covered: all, approved, refused. None for a scope
    /// that the question does not offer.
    pub async fn last_week(&self, id: &InteractionId, scope: &Scope) -> Result<Option<LastWeek>, Error> {
        let (id, scope) = (segment(id.as_str()), scope.name());
        match self.get(&format!("/v1/interactions/{id}/scopes/{scope}")).await {
            Err(error) if error.code() == Some("remember-refused") => Ok(None),
            found => found.map(|Preview { last_week }| Some(last_week)),
        }
    }

    /// Standing grants that have not ended. Socket only.
    pub async fn grants(&self) -> Result<Vec<StandingRow>, Error> {
        self.get("/local/grants").await
    }

    /// Revokes a standing grant.
    pub async fn revoke(&self, id: &StandingGrantId) -> Result<(), Error> {
        let path = format!("/v1/grants/{}", segment(id.as_str()));
        self.done(Method::DELETE, &path, None::<&()>).await
    }
}

/// What a scope would have covered in the last seven days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub struct LastWeek {
    /// How many calls.
    pub calls: usize,
    /// How many of them people approved.
    pub approved: usize,
    /// How many of them people refused.
    pub refused: usize,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Preview {
    last_week: LastWeek,
}

/// A name as one segment of a path.
pub(crate) fn segment(name: &str) -> String {
    url::form_urlencoded::byte_serialize(name.as_bytes())
        .collect::<String>()
        .replace('+', "%20")
}
