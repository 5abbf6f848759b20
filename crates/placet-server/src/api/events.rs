//! The journal, live: server-sent events that resume where they broke off, without loss and without repetition.
//!
//! The id of an event is the number of its journal row. A stream is a cursor over the shared tail; see [`crate::live`].

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use placet_core::ids::{AgentId, SessionId};
use placet_core::principal::Principal;
use placet_core::render::mask;
use placet_store::StoreError;
use serde::Deserialize;
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::sessions::{concerns, owns, stored_name};
use crate::access::{Caller, Holder, Role, Welcome};
use crate::intake::QueryOf;
use crate::live::{Reader, Row, Wake};
use crate::metrics::Ongoing;
use crate::problem::{Code, Problem};
use crate::state::State;

/// A silent connection is taken for dead by what is in between; this is shorter than any of that.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What is sent at once at most, before the reader has to take it.
const CHUNK_BYTES: usize = 64 * 1024;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(events))
}

/// Which events.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct EventsQuery {
    /// Only of this session.
    #[param(value_type = Option<String>)]
    session_id: Option<SessionId>,
    /// The row to go on after; `head` (the default) starts at now. `Last-Event-ID` counts more.
    after: Option<String>,
    /// `journal` (the default): every row as it is stored. `interactions`: only the events `USER_INTERACTION_REQUESTED`,
    /// `USER_INTERACTION_RESPONDED` and `USER_INTERACTION_PROCESSED`, in the shapes of the workflow document.
    #[serde(default)]
    #[param(value_type = Option<String>, pattern = "^(journal|interactions)$")]
    shape: Shape,
}

/// In which shape events are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shape {
    /// Every row as it is stored.
    #[default]
    Journal,
    /// Questions and what became of them, in the shapes of the workflow document.
    Interactions,
}

/// The journal as it is written. Agents see their own calls and questions; people what concerns questions assigned to them, and
/// the whole of a session that does; admins everything.
#[utoipa::path(get, path = "/v1/events", tag = "events", params(EventsQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "The last event that was seen; what follows it is sent")),
    responses((status = 200, description = "`id` is the row's number, `event` its type, `data` {id, sessionId, seq, at, type, event}",
        content_type = "text/event-stream", body = StreamEvent), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["agent", "approver", "admin"]))))]
async fn events(
    caller: Caller,
    Shared(state): Shared<State>,
    headers: HeaderMap,
    QueryOf(query): QueryOf<EventsQuery>,
) -> Result<Response, Problem> {
    let after = start(&state, &headers, query.after.as_deref()).await?;
    let session = match (query.session_id, &caller.holder) {
        (Some(session), Holder::Agent(agent)) => Some(stored_name(&state, agent, &session).await?),
        (session, _) => session,
    };
    let view = view(&state, &caller, session.as_ref()).await?;
    if let Some(session) = &session {
        tracing::Span::current().record("session", session.as_str());
    }
    let stream = Stream {
        wake: state.tail().wake(session.as_ref()),
        _counted: state.metrics().stream(),
        session,
        shape: query.shape,
        welcome: Welcome::new(&state, caller),
        view,
        after,
        ready: VecDeque::from([hello(after)]),
        silent_until: Instant::now() + KEEP_ALIVE,
        state,
    };
    let frames = futures_util::stream::unfold(stream, async |mut stream| {
        let chunk = stream.next().await?;
        Some((Ok::<_, Infallible>(chunk), stream))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that would keep events back until a buffer is full are told not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// One event of a stream, its lines read as fields.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what is written line by line")]
pub(super) struct StreamEvent {
    /// Where the stream has come to: `Last-Event-ID` goes on after it. What is not stored has none.
    id: Option<String>,
    /// What happened.
    event: String,
    /// A JSON object.
    data: String,
}

/// An id before the first event, so that a connection lost before it resumes from here as well.
pub(super) fn hello(after: impl std::fmt::Display) -> Bytes {
    Bytes::from(format!("retry: 1000\nid: {after}\n\n"))
}

/// The row to go on after.
async fn start(state: &State, headers: &HeaderMap, after: Option<&str>) -> Result<u64, Problem> {
    let given = match headers.get("last-event-id") {
        Some(value) => Some(value.to_str().unwrap_or("?")),
        None => after.filter(|after| *after != "head"),
    };
    let Some(given) = given.filter(|given| !given.is_empty()) else {
        return Ok(state.tail().head());
    };
    let refused = |why: String| Problem::new(Code::BadEventId, why);
    let id: u64 = given
        .parse()
        .map_err(|_| refused(format!("`{given}` is not the number of an event")))?;
    let head = state.engine().head().await?;
    if id > head {
        return Err(refused(format!("there is no event {id} yet; the newest is {head}")).with("head", head));
    }
    Ok(id)
}

/// What a listener may see.
enum Sees {
    Everything,
    /// What is about this agent.
    Own(AgentId),
    /// That, and what is about the session as a whole, which is this agent's.
    OwnSession(AgentId),
    /// Rows about questions assigned to this person.
    PutTo(Principal),
}

async fn view(state: &State, caller: &Caller, session: Option<&SessionId>) -> Result<Sees, Problem> {
    match (&caller.holder, session) {
        (
            Holder::Person {
                role: Role::Admin, ..
            },
            _,
        ) => Ok(Sees::Everything),
        (Holder::Agent(agent), Some(session)) if owns(state, agent, session).await? => {
            Ok(Sees::OwnSession(agent.clone()))
        }
        // Also of a session that has not begun: an agent may listen before its first call.
        (Holder::Agent(agent), _) => Ok(Sees::Own(agent.clone())),
        (Holder::Person { .. }, None) => Ok(Sees::PutTo(caller.principal())),
        (Holder::Person { .. }, Some(session)) if concerns(state, &caller.principal(), session).await? => {
            Ok(Sees::Everything)
        }
        (Holder::Person { .. }, Some(session)) => Err(Problem::new(
            Code::NoSuchSession,
            format!("there is no session `{session}` for you"),
        )),
    }
}

struct Stream {
    state: State,
    welcome: Welcome,
    view: Sees,
    session: Option<SessionId>,
    shape: Shape,
    after: u64,
    wake: Wake,
    ready: VecDeque<Bytes>,
    /// When something must be sent again, whether or not there is something to see.
    silent_until: Instant,
    _counted: Ongoing,
}

impl Stream {
    /// What to send next; `None` when the stream ends. Called only when the reader has taken what was sent before.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if !self.welcome.holds() {
                return None;
            }
            if let Some(chunk) = self.ready.pop_front() {
                self.silent_until = Instant::now() + KEEP_ALIVE;
                return Some(chunk);
            }
            // Rows that are not for this reader are no reason to be silent.
            if self.silent_until <= Instant::now() {
                self.ready.push_back(self.still_here());
                continue;
            }
            self.wake.listen();
            let before = self.after;
            self.fill().await?;
            if self.after != before || !self.ready.is_empty() {
                continue;
            }
            let stop = self.state.stop().clone();
            tokio::select! {
                () = stop.cancelled() => return None,
                () = self.welcome.changed() => {}
                more = self.wake.wait() => if !more {
                    return None;
                },
                () = tokio::time::sleep_until(self.silent_until) => {}
            }
        }
    }

    /// Says where the stream has come to, so that a client that reconnects does not scan rows of others again.
    fn still_here(&self) -> Bytes {
        Bytes::from(format!(": \nid: {}\n\n", self.after))
    }

    /// Takes the next rows from the tail, or from the journal.
    async fn fill(&mut self) -> Option<()> {
        let read = self.state.tail().rows(self.after, self.session.as_ref()).await;
        let (rows, upto) = read
            .inspect_err(|error| tracing::error!(%error, "a stream ends"))
            .ok()?;
        if !matches!(self.view, Sees::Everything) {
            self.state.tail().look_into(&rows).await.ok()?;
        }
        let mut chunk = BytesMut::new();
        for row in &rows {
            if !self.sees(row) {
                continue;
            }
            match self.shape {
                Shape::Journal => chunk.extend_from_slice(&row.frame(self.reader())),
                Shape::Interactions => {
                    let frame = interaction(&self.state, row, self.reader()).await;
                    let frame = frame.inspect_err(|error| tracing::error!(%error, "a stream ends"));
                    chunk.extend_from_slice(&frame.ok()?.unwrap_or_default());
                }
            }
            if chunk.len() >= CHUNK_BYTES {
                self.ready.push_back(chunk.split().freeze());
            }
        }
        if !chunk.is_empty() {
            self.ready.push_back(chunk.freeze());
        }
        self.after = upto;
        Some(())
    }

    fn sees(&self, row: &Arc<Row>) -> bool {
        match &self.view {
            Sees::Everything => true,
            Sees::Own(agent) => row.about().is_of(agent),
            Sees::OwnSession(agent) => row.about().is_for_owner(agent),
            Sees::PutTo(person) => row.about().concerns(person),
        }
    }

    fn reader(&self) -> Reader {
        match self.view {
            Sees::Own(_) | Sees::OwnSession(_) => Reader::Agent,
            Sees::Everything | Sees::PutTo(_) => Reader::Person,
        }
    }
}

/// A row as an interaction event; `None` for any other row.
async fn interaction(state: &State, row: &Row, reader: Reader) -> Result<Option<Bytes>, StoreError> {
    let raw = &row.raw;
    let Some(question) = row.question()? else {
        return Ok(None);
    };
    let event = state
        .engine()
        .interaction_event(raw.kind(), &question, raw.at)
        .await?;
    let Some(event) = event else { return Ok(None) };
    let kind = event.kind.name();
    let json = serde_json::to_value(&event).unwrap_or_default();
    let json = match reader {
        Reader::Agent => json,
        Reader::Person => mask::json(&json),
    };
    Ok(Some(Bytes::from(format!(
        "id: {}\nevent: {kind}\ndata: {json}\n\n",
        raw.id
    ))))
}
