//! What goes wrong, as callers are told: `application/problem+json` with a stable code.
//!
//! The one place where errors become HTTP. Every [`Code`] has a page in `docs/errors/`, served at `/errors/CODE`.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use placet_core::messages::{Explain, Message};
use placet_store::StoreError;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub(crate) mod language;
mod refusals;

/// A problem, on its way to the caller.
#[derive(Debug)]
pub struct Problem {
    code: Code,
    detail: String,
    more: Map<String, Value>,
    retry_after_seconds: Option<u32>,
}

/// A problem on the wire (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProblemBody {
    /// A page about this code.
    #[serde(rename = "type")]
    kind: String,
    /// The code in words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What happened here, in a sentence.
    detail: String,
    /// A stable name for programs.
    code: &'static str,
    /// What else is known, by code.
    #[serde(flatten)]
    more: Map<String, Value>,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $slug:literal, $status:ident;)*) => {
        /// What can go wrong, as programs see it. Names never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its name on the wire.
            pub const fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug,)* }
            }

            /// Its HTTP status.
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)* }
            }

            /// In words.
            pub fn title(self) -> Message {
                Message::of("problem", &self.slug())
            }
        }
    };
}

codes! {
    /// The body, the query or a name in the path is malformed.
    BadRequest = "bad-request", BAD_REQUEST;
    /// `Last-Event-ID` or `after` names a row that does not exist.
    BadEventId = "bad-event-id", BAD_REQUEST;
    /// No credential, or none that counts.
    Unauthenticated = "unauthenticated", UNAUTHORIZED;
    /// A signed-in browser's request without a valid proof.
    BadProof = "bad-proof", UNAUTHORIZED;
    /// The one-time code was used before, or is too old.
    CodeUsed = "code-used", UNAUTHORIZED;
    /// The webhook's signature does not fit.
    BadSignature = "bad-signature", UNAUTHORIZED;
    /// The role does not include this.
    Forbidden = "forbidden", FORBIDDEN;
    /// A browser sent it on behalf of another site.
    CrossSite = "cross-site", FORBIDDEN;
    /// They asked for it themselves.
    OwnRequest = "own-request", FORBIDDEN;
    /// The question is assigned to other people.
    NotYours = "not-yours", FORBIDDEN;
    /// No such page or endpoint.
    NotFound = "not-found", NOT_FOUND;
    /// No such call of this agent.
    NoSuchCall = "no-such-call", NOT_FOUND;
    /// No such question for this caller.
    NoSuchQuestion = "no-such-question", NOT_FOUND;
    /// No such session for this caller.
    NoSuchSession = "no-such-session", NOT_FOUND;
    /// No such standing grant for this caller.
    NoSuchGrant = "no-such-grant", NOT_FOUND;
    /// The agent has nothing to think with.
    NoModel = "no-model", NOT_FOUND;
    /// The endpoint exists, with other methods.
    MethodNotAllowed = "method-not-allowed", METHOD_NOT_ALLOWED;
    /// The body did not arrive in time.
    TooSlow = "too-slow", REQUEST_TIMEOUT;
    /// The call id names another call.
    CallIdTaken = "call-id-taken", CONFLICT;
    /// The request id is taken.
    RequestIdTaken = "request-id-taken", CONFLICT;
    /// The call waits for people.
    StillPending = "still-pending", CONFLICT;
    /// The call may not run.
    NotGranted = "not-granted", CONFLICT;
    /// The call was claimed before.
    AlreadyClaimed = "already-claimed", CONFLICT;
    /// A result without a claim.
    NotClaimed = "not-claimed", CONFLICT;
    /// Another result is recorded.
    AlreadyFinished = "already-finished", CONFLICT;
    /// The session was ended.
    SessionOver = "session-over", CONFLICT;
    /// Too many open questions in the session.
    TooManyQuestions = "too-many-questions", CONFLICT;
    /// No approver can be reached.
    NobodyToAsk = "nobody-to-ask", CONFLICT;
    /// Another approver was faster.
    AlreadyDecided = "already-decided", CONFLICT;
    /// One person counts once.
    AlreadyVoted = "already-voted", CONFLICT;
    /// What was shown is not what it is now.
    ShownChanged = "shown-changed", CONFLICT;
    /// Only a part was shown, and the risk is HIGH.
    NotShownWhole = "not-shown-whole", CONFLICT;
    /// Time had run out.
    Expired = "expired", GONE;
    /// More than is taken.
    TooLarge = "too-large", PAYLOAD_TOO_LARGE;
    /// The agent here works in another folder, or without the model the run began with.
    NotHere = "not-here", CONFLICT;
    /// Not JSON.
    WrongContentType = "wrong-content-type", UNSUPPORTED_MEDIA_TYPE;
    /// Not a name of this server.
    WrongHost = "wrong-host", MISDIRECTED_REQUEST;
    /// The arguments of the call are refused.
    BadArgs = "bad-args", UNPROCESSABLE_ENTITY;
    /// The question is malformed.
    BadQuestion = "bad-question", UNPROCESSABLE_ENTITY;
    /// No such option.
    NoSuchOption = "no-such-option", UNPROCESSABLE_ENTITY;
    /// The option needs a text.
    InputRequired = "input-required", UNPROCESSABLE_ENTITY;
    /// The edited arguments are refused.
    EditedArgsRefused = "edited-args-refused", UNPROCESSABLE_ENTITY;
    /// The new values of a workflow's variables are refused.
    VariablesRefused = "variables-refused", UNPROCESSABLE_ENTITY;
    /// "Don't ask again" is refused.
    RememberRefused = "remember-refused", UNPROCESSABLE_ENTITY;
    /// The text is too long.
    TextTooLong = "text-too-long", UNPROCESSABLE_ENTITY;
    /// A request has as many comments as it can have.
    TooManyComments = "too-many-comments", CONFLICT;
    /// There is nothing to do.
    EmptyMessage = "empty-message", UNPROCESSABLE_ENTITY;
    /// Too many requests.
    TooManyRequests = "too-many-requests", TOO_MANY_REQUESTS;
    /// A defect.
    Internal = "internal", INTERNAL_SERVER_ERROR;
    /// The store cannot be used.
    StoreUnavailable = "store-unavailable", SERVICE_UNAVAILABLE;
    /// The built-in agent does nothing.
    AgentStopped = "agent-stopped", SERVICE_UNAVAILABLE;
    /// The server stops.
    Stopping = "stopping", SERVICE_UNAVAILABLE;
}

impl Problem {
    /// A problem, and what happened here in a sentence.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            more: Map::new(),
            retry_after_seconds: None,
        }
    }

    /// A problem that is explained in the language of the caller.
    pub fn explained(code: Code, what: &impl Explain) -> Self {
        Self::new(code, what.message().say(language::current()))
    }

    /// What happened, in a sentence.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The same, saying something more to programs.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    /// The same in other words.
    #[must_use]
    pub(crate) fn saying(mut self, detail: String) -> Self {
        self.detail = detail;
        self
    }

    /// The same, saying when to come back.
    #[must_use]
    pub fn retry_after_seconds(mut self, seconds: u32) -> Self {
        self.retry_after_seconds = Some(seconds);
        self
    }

    /// Its code.
    pub fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn into_body(self) -> ProblemBody {
        ProblemBody {
            kind: format!("/errors/{}", self.code.slug()),
            title: self.code.title().say(language::current()),
            status: self.code.status().as_u16(),
            detail: self.detail,
            code: self.code.slug(),
            more: self.more,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (code, retry_after) = (self.code, self.retry_after_seconds);
        if code.status().is_server_error() {
            tracing::error!(code = code.slug(), detail = %self.detail, "a request failed");
        }
        let mut response = (code.status(), Json(self.into_body())).into_response();
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, json);
        if code == Code::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if matches!(code, Code::TooSlow | Code::TooLarge) {
            // What is left of the body is not read, so nothing can follow it.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        // For the log line of this request; taken off again before it is sent.
        headers.insert(CODE_HEADER, HeaderValue::from_static(code.slug()));
        response
    }
}

/// Tells the outer layers which problem an answer is.
pub(crate) const CODE_HEADER: HeaderName = HeaderName::from_static("placet-problem");

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Closed => Self::new(Code::Stopping, "the server is stopping; try again in a moment")
                .retry_after_seconds(1),
            other => Self::new(Code::StoreUnavailable, other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use placet_core::interaction::Locale;
    use placet_core::messages;

    use super::*;

    #[test]
    fn every_code_has_a_title_in_every_language_and_no_other_has() {
        let codes: BTreeSet<String> = Code::ALL
            .iter()
            .map(|code| format!("problem.{}", code.slug()))
            .collect();
        for locale in [Locale::English, Locale::Chinese] {
            let titles = messages::templates(locale, "problem.").map(|(id, _)| id.to_owned());
            assert_eq!(titles.collect::<BTreeSet<_>>(), codes);
        }
    }

    #[tokio::test]
    async fn a_problem_is_explained_in_the_language_of_the_request() {
        let headers = |language| {
            let value = HeaderValue::from_static(language);
            axum::http::HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, value)])
        };
        let problem = async {
            Problem::explained(Code::BadArgs, &placet_core::call::ArgsError::NotAnObject("list")).into_body()
        };
        let chinese = language::answering(&headers("zh-CN,zh;q=0.9"), problem).await;
        assert_eq!((chinese.code, chinese.title.as_str()), ("bad-args", "参数无效"));
        assert!(!chinese.detail.is_ascii(), "{}", chinese.detail);
        let english = Problem::new(Code::Unauthenticated, "x").into_body();
        assert_eq!(english.title, "Not authenticated");
    }
}
