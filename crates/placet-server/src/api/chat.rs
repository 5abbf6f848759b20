//! Talking to the built-in agent: messages in, its steps as server-sent events, its questions answered where they stand.
//!
//! The names are those of the interaction document the project started from. Its page works against this as it is printed, after `import '/app/embed.js'`.
//! Everything shown comes from the journal, so a client that comes back with `Last-Event-ID` misses nothing.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use placet_agent::Agent;
use placet_agent::chat::{Chat, ChatError, ChatEvent, ChatStream, EventId, Saying, Viewer, What, is_within};
use placet_core::ids::{InteractionId, PersonId, SessionId};
use placet_core::interaction::Locale;
use placet_core::messages::event;
use placet_core::render::mask;
use placet_core::steps::MessageOutcome;
use placet_core::wire::answer::AnswerBody;
use placet_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::answer::answer;
use super::events::{StreamEvent, hello};
use super::interactions::{locale, none, offered, shown, visible};
use crate::access::{AgentOrPerson, PersonOnly, Role, Welcome};
use crate::intake::{JsonBody, QueryOf};
use crate::metrics::Ongoing;
use crate::problem::{Code, Problem};
use crate::state::State;

/// A silent connection is taken for dead by what is in between; this is shorter than any of that.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Says with the stream whether a run began with what was said (`started`) or the one that is going on reads it (`queued`).
const SAID: header::HeaderName = header::HeaderName::from_static("placet-said");

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(say, watch))
        .routes(routes!(respond))
}

/// Something to say to the agent, or a conversation to watch.
#[derive(Deserialize, ToSchema, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ChatBody {
    /// What to say. Without it the conversation is only watched.
    #[serde(default)]
    message: Option<String>,
    /// In which conversation; a new one, or the newest to be watched (the first, once there is one), when absent.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    session_id: Option<SessionId>,
    /// Taken and not believed: who speaks is whose credential it is.
    #[serde(default)]
    #[expect(dead_code, reason = "older pages send it")]
    user_id: Option<String>,
    /// A language of `messages/`, such as `en`: the language of its questions.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    #[param(value_type = Option<String>)]
    locale: Option<Locale>,
}

/// Say something to the agent, and follow what comes of it.
#[utoipa::path(post, path = "/api/agent/chat/react/stream", tag = "chat", request_body = ChatBody,
    responses((status = 200, description = "Events STARTED THINKING ACTION OBSERVATION INTERACTION INTERACTION_RESOLVED COMPLETED ERROR; `data` is {type, sessionId, timestamp, data}",
        content_type = "text/event-stream", body = StreamEvent), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn say(
    person: PersonOnly,
    Shared(state): Shared<State>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ChatBody>,
) -> Result<Response, Problem> {
    stream(state, person, &headers, body).await
}

/// The same as a GET. A reader that comes back with `Last-Event-ID` says nothing twice.
#[utoipa::path(get, path = "/api/agent/chat/react/stream", tag = "chat", params(ChatBody,
        ("Last-Event-ID" = Option<String>, Header, description = "The last event that was seen; what follows it is sent")),
    responses((status = 200, description = "The same events", content_type = "text/event-stream", body = StreamEvent), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn watch(
    person: PersonOnly,
    Shared(state): Shared<State>,
    headers: HeaderMap,
    QueryOf(body): QueryOf<ChatBody>,
) -> Result<Response, Problem> {
    stream(state, person, &headers, body).await
}

async fn stream(
    state: State,
    person: PersonOnly,
    headers: &HeaderMap,
    body: ChatBody,
) -> Result<Response, Problem> {
    let chat = agent(&state)?.chat();
    let seen = last_seen(headers)?;
    let viewer = match person.role {
        Role::Admin => Viewer::Admin,
        Role::Approver => Viewer::Person(person.person.clone()),
    };
    let locale = locale(&state, body.locale);
    match (body.message, body.session_id) {
        // A reader that has seen an event comes back; what they say was said.
        (Some(text), session) if seen.is_none() => {
            let saying = Saying {
                session,
                text,
                person: person.person.clone(),
                place: person.seat(&state),
            };
            let (said, events) = chat.send(saying).await?;
            let mut response = follow(state, person, locale, events);
            let said = match said {
                MessageOutcome::Started => "started",
                MessageOutcome::Queued => "queued",
            };
            response
                .headers_mut()
                .insert(SAID, HeaderValue::from_static(said));
            Ok(response)
        }
        (_, Some(session)) => {
            let watched = chat.attach(&session, &viewer, seen).await?;
            Ok(follow(state, person, locale, watched))
        }
        (_, None) => {
            let newest = newest(state.clone(), chat, person.person.clone(), viewer, seen);
            let newest = futures_util::stream::once(newest).filter_map(std::future::ready);
            // Nothing is said here, so nothing can be said twice, and where it begins is not known yet.
            let events = Box::pin(newest.flat_map(ChatStream::into_stream));
            Ok(events_response(state, person, locale, None, events))
        }
    }
}

/// What happens in a conversation, as server-sent events.
pub(super) fn follow(state: State, person: PersonOnly, locale: Locale, events: ChatStream) -> Response {
    let begins_after = events.begins_after();
    events_response(
        state,
        person,
        locale,
        Some(begins_after),
        Box::pin(events.into_stream()),
    )
}

fn events_response(
    state: State,
    person: PersonOnly,
    locale: Locale,
    begins_after: Option<EventId>,
    events: Events,
) -> Response {
    let watcher = Watcher {
        _counted: state.metrics().stream(),
        welcome: Welcome::new(&state, person.caller.clone()),
        locale,
        reader: AgentOrPerson::Person(person.clone()),
        person,
        state,
    };
    let frames = futures_util::stream::unfold((events, watcher), async |(mut events, mut watcher)| {
        let frame = watcher.next(&mut events).await?;
        Some((Ok::<_, Infallible>(frame), (events, watcher)))
    });
    let hello = futures_util::stream::iter(begins_after.map(hello).map(Ok));
    let mut response = Response::new(Body::from_stream(hello.chain(frames)));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies that would keep events back until a buffer is full are told not to.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The person's newest conversation; before there is one, watchers wait for it.
async fn newest(
    state: State,
    chat: Chat,
    person: PersonId,
    viewer: Viewer,
    seen: Option<EventId>,
) -> Option<ChatStream> {
    let mut wake = state.tail().wake(None);
    loop {
        wake.listen();
        match chat.newest(&person).await {
            Ok(session) => return chat.attach(&session, &viewer, seen).await.ok(),
            Err(ChatError::NoneYet) if wake.wait().await => {}
            Err(_) => return None,
        }
    }
}

/// The built-in agent.
pub(super) fn agent(state: &State) -> Result<&Agent, Problem> {
    state.agent().ok_or_else(no_model)
}

fn no_model() -> Problem {
    Problem::new(
        Code::NoModel,
        "no model is configured; add a `[models.NAME]` to placet.toml and start again",
    )
}

fn last_seen(headers: &HeaderMap) -> Result<Option<EventId>, Problem> {
    let Some(given) = headers.get("last-event-id").filter(|given| !given.is_empty()) else {
        return Ok(None);
    };
    let given = given.to_str().unwrap_or("?");
    let refused = |_| Problem::new(Code::BadEventId, format!("`{given}` is not the id of an event"));
    given.parse().map(Some).map_err(refused)
}

type Events = Pin<Box<dyn Stream<Item = Result<ChatEvent, StoreError>> + Send>>;

/// A watcher of a conversation.
struct Watcher {
    state: State,
    person: PersonOnly,
    reader: AgentOrPerson,
    welcome: Welcome,
    locale: Locale,
    _counted: Ongoing,
}

impl Watcher {
    /// What is sent next; nothing more when the conversation, the server or the viewer's right to it ends.
    async fn next(&mut self, events: &mut Events) -> Option<Bytes> {
        let stop = self.state.stop().clone();
        let still_here = tokio::time::sleep(KEEP_ALIVE);
        tokio::pin!(still_here);
        let frame = loop {
            if !self.welcome.holds() {
                return None;
            }
            tokio::select! {
                () = stop.cancelled() => return None,
                () = self.welcome.changed() => {}
                () = still_here.as_mut() => break Bytes::from_static(b": still here\n\n"),
                event = events.next() => {
                    let event = event?
                        .inspect_err(|error| tracing::error!(%error, "a conversation's stream ends"))
                        .ok()?;
                    break self.frame(&event).await;
                }
            }
        };
        // The wait may have been long, and a right may have ended in the same moment.
        self.welcome.holds().then_some(frame)
    }

    async fn frame(&self, event: &ChatEvent) -> Bytes {
        let mut body = event.to_json();
        if let Some(data) = body.get_mut("data") {
            let question = match &event.what {
                What::Interaction { request } => match &request.request_id {
                    Some(id) => self.question(id).await,
                    None => None,
                },
                _ => None,
            };
            // A question is made to be shown; everything else is as the journal has it.
            *data = question.unwrap_or_else(|| mask::json(data));
        }
        let id = event
            .id
            .as_ref()
            .map_or(String::new(), |id| format!("id: {id}\n"));
        Bytes::from(format!("{id}event: {}\ndata: {body}\n\n", event.what.name()))
    }

    /// The question as the inbox shows it, if it is assigned to the viewer.
    async fn question(&self, id: &InteractionId) -> Option<Value> {
        let question = visible(&self.state, &self.reader, id).await.ok()?;
        let scopes = offered(&self.state, &question, &self.person);
        let body = shown(
            &self.state,
            &question,
            &self.person.principal,
            scopes,
            self.locale,
        );
        serde_json::to_value(body.await.ok()?).ok()
    }
}

/// An answer to a question of a conversation.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResponseBody {
    /// In which conversation.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    session_id: SessionId,
    /// Which question.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    request_id: InteractionId,
    /// Which option.
    selected_option_id: String,
    /// A reason, or feedback.
    #[serde(default)]
    feedback: Option<String>,
    /// Information asked for.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    data: Option<Map<String, Value>>,
}

/// It was taken.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TakenBody {
    success: bool,
    /// In words.
    message: String,
    /// In which conversation.
    #[schema(value_type = String)]
    session_id: SessionId,
    /// When.
    timestamp: String,
}

/// Answer a question of a conversation, or of any other session. `/v1/interactions/{requestId}/answer` can do more. A failure has
/// `success: false` and a `message` beside what every problem has.
#[utoipa::path(post, path = "/api/agent/chat/react/interaction_response", tag = "chat", request_body = ResponseBody,
    responses((status = 200, description = "It counts", body = TakenBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn respond(
    person: Result<PersonOnly, Problem>,
    Shared(state): Shared<State>,
    body: Result<JsonBody<ResponseBody>, Problem>,
) -> Result<Json<TakenBody>, Problem> {
    let taken = match (person, body) {
        (Ok(person), Ok(JsonBody(body))) => take(&state, &person, body).await,
        (Err(problem), _) | (_, Err(problem)) => Err(problem),
    };
    taken.map(Json).map_err(|problem| {
        let message = problem.detail().to_owned();
        problem.with("success", false).with("message", message)
    })
}

async fn take(state: &State, person: &PersonOnly, body: ResponseBody) -> Result<TakenBody, Problem> {
    let request = body.request_id;
    let question = visible(state, &AgentOrPerson::Person(person.clone()), &request).await?;
    let asked_in = question.interaction.asked().session.clone();
    // Helpers ask in sessions of their own, and their questions are part of the conversation.
    if !is_within(state.engine().store(), &asked_in, &body.session_id).await? {
        return Err(none(&request));
    }
    let given = AnswerBody {
        selected_option_id: body.selected_option_id,
        feedback: body.feedback,
        data: body.data.filter(|data| !data.is_empty()),
        ..AnswerBody::default()
    };
    answer(state, person, &request, given).await?;
    let message = event::answer_taken().say(locale(state, None));
    Ok(TakenBody {
        success: true,
        message,
        session_id: body.session_id,
        timestamp: state.now().to_string(),
    })
}

impl From<ChatError> for Problem {
    fn from(error: ChatError) -> Self {
        let detail = error.to_string();
        let code = match error {
            ChatError::NotFound(_) | ChatError::NoneYet => Code::NoSuchSession,
            ChatError::LeftAlone(_) => Code::NotHere,
            ChatError::SessionOver(_) => Code::SessionOver,
            ChatError::Empty => Code::EmptyMessage,
            ChatError::NoSuchEvent(_) => Code::BadEventId,
            ChatError::Id(_) => Code::Internal,
            ChatError::Store(error) => return error.into(),
        };
        Self::new(code, detail)
    }
}
