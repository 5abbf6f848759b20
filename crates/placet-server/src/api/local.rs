//! What only the socket of the data folder offers: records as they are stored, for the commands of this machine.
//!
//! Not part of the published contract, and not routed on TCP. Answers, grants and conversations go through the published
//! endpoints, for every sender.

use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use placet_agent::chat::is_within;
use placet_agent::model::ToolSpec;
use placet_core::ids::{InteractionId, SessionId};
use placet_core::interaction::{Code as QuestionCode, Interaction};
use placet_core::listing::{Before, StandingRow};
use placet_core::question::Question;
use placet_core::snapshot::Need;
use placet_core::wire::local::{
    AgentBody, ApprovalToolsBody, ConversationBody, ModeBody, OwnerBody, QuestionRecord, QuestionRecords,
    ToolBody,
};
use placet_store::StoreError;
use serde::Deserialize;

use super::chat::agent;
use super::interactions::{none, offered};
use crate::access::{Operator, PersonOnly};
use crate::intake::{JsonBody, PathId, QueryOf};
use crate::problem::{Code, Problem};
use crate::state::State;

/// Questions on a page: whole records are large.
const PAGE_MAX: usize = 100;
/// Sessions looked through for conversations.
const SESSIONS_SEEN_MAX: usize = 200;

pub(crate) fn routes() -> Router<State> {
    Router::new()
        .route("/local/owner", get(owner))
        .route("/local/questions", get(pending))
        .route("/local/questions/{id}", get(question))
        .route("/local/questions/{id}/withdraw", post(withdraw))
        .route("/local/codes/{code}", get(with_code))
        .route("/local/grants", get(grants))
        .route("/local/conversations", get(conversations))
        .route("/local/conversations/{session}/interrupt", post(interrupt))
        .route("/local/conversations/{session}/mode", get(mode).post(set_mode))
        .route(
            "/local/conversations/{session}/approval-tools",
            get(approval_tools).post(allow_tools),
        )
        .route("/local/conversations/{root}/holds/{session}", get(holds))
}

/// What this process is.
async fn owner(_: Operator, Shared(state): Shared<State>) -> Json<OwnerBody> {
    let agent = state.agent().map(|agent| {
        let tool = |spec: ToolSpec| ToolBody {
            category: agent
                .tools()
                .get(&spec.name)
                .map_or_else(String::new, |tool| tool.category().as_str().to_owned()),
            name: spec.name,
            description: spec.description,
        };
        AgentBody {
            model: agent.usual_model().to_owned(),
            mode: state.config().policy.settings().mode,
            tools: agent.tools().specs().into_iter().map(tool).collect(),
        }
    });
    Json(OwnerBody {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace: state.engine().workspace().to_owned(),
        url: state.url().map(str::to_owned),
        agent,
    })
}

#[derive(Deserialize)]
struct PendingQuery {
    after: Option<u64>,
}

/// Pending questions, oldest first.
async fn pending(
    Operator(person): Operator,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<PendingQuery>,
) -> Result<Json<QuestionRecords>, Problem> {
    let broker = state.engine().broker();
    let page = broker.pending_page(query.after, PAGE_MAX).await?;
    let mut records = QuestionRecords {
        items: Vec::new(),
        next: page.last(),
        damaged: page.damaged.into_iter().map(|row| row.id).collect(),
    };
    for row in page.rows {
        match broker.question(&row.id).await {
            // Settled since the page was read.
            Ok(Some(question)) if !matches!(question.interaction, Interaction::Pending(_)) => {}
            Ok(Some(question)) => records.items.push(record(&state, &person, question).await?),
            Ok(None) => {}
            Err(StoreError::Corrupt { .. }) => records.damaged.push(row.id),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Json(records))
}

async fn question(
    Operator(person): Operator,
    Shared(state): Shared<State>,
    PathId(id): PathId<InteractionId>,
) -> Result<Json<QuestionRecord>, Problem> {
    let question = state.engine().broker().question(&id).await?;
    let question = question.ok_or_else(|| none(&id))?;
    Ok(Json(record(&state, &person, question).await?))
}

async fn record(state: &State, person: &PersonOnly, question: Question) -> Result<QuestionRecord, Problem> {
    let store = state.engine().store();
    let id = &question.interaction.asked().id;
    let look = store.look(|stored| Ok((*stored.asked_at(id)?, stored.comments(id)?.clone())));
    let (asked_at, comments) = look.await?;
    Ok(QuestionRecord {
        comments,
        scopes: offered(state, &question, person),
        asked_at: asked_at.unwrap_or(question.now),
        question,
    })
}

/// The questions with a code: those that are pending, else the newest that was.
async fn with_code(
    _: Operator,
    Shared(state): Shared<State>,
    PathId(code): PathId<String>,
) -> Result<Json<Vec<InteractionId>>, Problem> {
    let unreadable = || Problem::new(Code::BadRequest, format!("`{code}` is not a code"));
    let code = QuestionCode::parse(&code).ok_or_else(unreadable)?;
    let broker = state.engine().broker();
    let (mut named, mut after) = (Vec::new(), None);
    loop {
        let page = broker.pending(after, PAGE_MAX).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.cursor);
        named.extend(page.into_iter().filter(|row| row.code == code).map(|row| row.id));
    }
    if named.is_empty() {
        named.extend(broker.settled_with_code(code).await?);
    }
    Ok(Json(named))
}

/// Withdraws a question that has no option which says no.
async fn withdraw(
    Operator(person): Operator,
    Shared(state): Shared<State>,
    PathId(id): PathId<InteractionId>,
) -> Result<StatusCode, Problem> {
    let broker = state.engine().broker();
    broker.withdraw(&id, &person.principal.to_string()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Standing grants that have not ended.
async fn grants(_: Operator, Shared(state): Shared<State>) -> Result<Json<Vec<StandingRow>>, Problem> {
    Ok(Json(state.engine().broker().standing().await?))
}

/// The conversations of the person who asks; the one with the newest run first, then the others, newest first.
async fn conversations(
    Operator(person): Operator,
    Shared(state): Shared<State>,
) -> Result<Json<Vec<ConversationBody>>, Problem> {
    let newest = Before {
        cursor: None,
        limit: SESSIONS_SEEN_MAX,
    };
    let found = state.engine().store().look(|stored| {
        let first = stored.newest_run_of(&person.person)?.clone();
        let sessions = stored.sessions_before(&newest)?;
        let others = sessions.iter().map(|(_, session)| session);
        let others = others.filter(|session| Some(*session) != first.as_ref());
        let all: Vec<SessionId> = first.iter().chain(others).cloned().collect();
        let each = |session: &SessionId| [Need::RunOwner(session.clone()), Need::Span(session.clone())];
        stored.require(all.iter().flat_map(each))?;
        let mut own = Vec::new();
        for session in all {
            if stored.run_owner(&session)?.as_ref() == Some(&person.person)
                && let Some(span) = stored.session_span(&session)?
            {
                own.push(ConversationBody {
                    last_at: span.last_at,
                    session_id: session,
                });
            }
        }
        Ok(own)
    });
    Ok(Json(found.await?))
}

/// Interrupts the run of a conversation.
async fn interrupt(
    Operator(person): Operator,
    Shared(state): Shared<State>,
    PathId(session): PathId<SessionId>,
) -> Result<StatusCode, Problem> {
    agent(&state)?.interrupt(&session, &person.person).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How freely the agent acts in a session, which may not have begun.
async fn mode(
    _: Operator,
    Shared(state): Shared<State>,
    PathId(session): PathId<SessionId>,
) -> Result<Json<ModeBody>, Problem> {
    let store = state.engine().store();
    let mode = store.look(|stored| Ok(stored.session(&session)?.mode)).await?;
    Ok(Json(ModeBody { mode }))
}

async fn set_mode(
    Operator(person): Operator,
    Shared(state): Shared<State>,
    PathId(session): PathId<SessionId>,
    JsonBody(body): JsonBody<ModeBody>,
) -> Result<StatusCode, Problem> {
    let unset = || Problem::new(Code::BadRequest, "say which `mode`");
    let mode = body.mode.ok_or_else(unset)?;
    let broker = state.engine().broker();
    broker.set_mode(&session, mode, &person.person).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The tools that run unasked in a session, which may not have begun.
async fn approval_tools(
    _: Operator,
    Shared(state): Shared<State>,
    PathId(session): PathId<SessionId>,
) -> Result<Json<ApprovalToolsBody>, Problem> {
    let store = state.engine().store();
    let allowed = store.look(|stored| Ok(stored.session(&session)?.allow_list.clone()));
    Ok(Json(ApprovalToolsBody {
        approval_tools: allowed.await?.into_iter().collect(),
    }))
}

async fn allow_tools(
    Operator(person): Operator,
    Shared(state): Shared<State>,
    PathId(session): PathId<SessionId>,
    JsonBody(body): JsonBody<ApprovalToolsBody>,
) -> Result<StatusCode, Problem> {
    for tool in &body.approval_tools {
        let broker = state.engine().broker();
        broker.allow_tool(&session, tool, &person.person).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Whether a session is the conversation `root`, or a task delegated from it.
async fn holds(
    _: Operator,
    Shared(state): Shared<State>,
    PathId((root, session)): PathId<(SessionId, SessionId)>,
) -> Result<Json<bool>, Problem> {
    Ok(Json(is_within(state.engine().store(), &session, &root).await?))
}
