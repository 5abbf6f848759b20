//! Answers: one, or those of a turn together. Only people answer, and only questions assigned to them.

use axum::Json;
use axum::extract::State as Shared;
use placet_core::digest::Digest;
use placet_core::ids::{InteractionId, PersonId};
use placet_core::interaction::{Answer, Interaction, Locale, Remember, Resolution, Shown};
use placet_core::messages::Explain as _;
use placet_core::question::Question;
use placet_core::render::mask;
use placet_core::steps::AnswerRefusal;
use placet_core::wire::answer::{AnswerBody, AnswerStatus, AnsweredBody, ChosenScope, Extent, RememberBody};
use placet_engine::Answered;
use placet_store::StepError;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::interactions::{locale, none, offered, visible};
use super::sample;
use crate::access::{AgentOrPerson, PersonOnly, Role};
use crate::intake::{JsonBody, PathId};
use crate::problem::{Code, Problem, ProblemBody};
use crate::state::State;
use crate::wire::question::{ResolutionBody, document};

/// The most answers taken at once.
const ANSWERS_MAX: usize = 100;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(one)).routes(routes!(several))
}

/// Answer a question.
#[utoipa::path(post, path = "/v1/interactions/{requestId}/answer", tag = "questions", request_body = AnswerBody,
    params(("requestId" = String, Path, description = "The question's id")),
    responses((status = 200, description = "It counts", body = AnsweredBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn one(
    person: PersonOnly,
    Shared(state): Shared<State>,
    PathId(id): PathId<InteractionId>,
    JsonBody(body): JsonBody<AnswerBody>,
) -> Result<Json<AnsweredBody>, Problem> {
    if body.request_id.as_ref().is_some_and(|named| *named != id) {
        return Err(Problem::new(
            Code::BadRequest,
            "the path and `requestId` name different questions",
        ));
    }
    Ok(Json(answer(&state, &person, &id, body).await?))
}

/// Several answers.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Answers {
    /// Each with the `requestId` of the question it is for.
    #[schema(max_items = 100)]
    answers: Vec<AnswerBody>,
}

/// What several answers came to.
#[derive(Serialize, ToSchema)]
struct Results {
    /// In the order of the answers.
    results: Vec<ResultOf>,
}

/// What one of several answers came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ResultOf {
    /// The question's id.
    #[schema(value_type = String)]
    request_id: InteractionId,
    /// Whether it counts.
    ok: bool,
    /// What it came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    answered: Option<AnsweredBody>,
    /// Why it does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ProblemBody>,
}

/// Answer several questions, such as those of a turn. Each counts on its own.
#[utoipa::path(post, path = "/v1/interactions/answers", tag = "questions", request_body = Answers,
    responses((status = 200, description = "What each came to", body = Results), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn several(
    person: PersonOnly,
    Shared(state): Shared<State>,
    JsonBody(body): JsonBody<Answers>,
) -> Result<Json<Results>, Problem> {
    if body.answers.len() > ANSWERS_MAX {
        return Err(Problem::new(
            Code::BadRequest,
            format!("at most {ANSWERS_MAX} answers are taken at once"),
        ));
    }
    let unnamed = || Problem::new(Code::BadRequest, "an answer has no `requestId`");
    // All of them are read before one of them counts.
    let answers = body
        .answers
        .into_iter()
        .map(|given| Ok((given.request_id.clone().ok_or_else(unnamed)?, given)))
        .collect::<Result<Vec<_>, Problem>>()?;
    let mut results = Vec::new();
    for (request_id, given) in answers {
        let (answered, problem) = match answer(&state, &person, &request_id, given).await {
            Ok(answered) => (Some(answered), None),
            Err(problem) => (None, Some(problem.into_body())),
        };
        results.push(ResultOf {
            request_id,
            ok: problem.is_none(),
            answered,
            problem,
        });
    }
    Ok(Json(Results { results }))
}

/// Takes an answer: the one way in, whatever page it comes from.
pub(super) async fn answer(
    state: &State,
    person: &PersonOnly,
    id: &InteractionId,
    body: AnswerBody,
) -> Result<AnsweredBody, Problem> {
    let reader = AgentOrPerson::Person(person.clone());
    let question = visible(state, &reader, id).await?;
    let shown = seen(&question, &body, locale(state, body.shown_locale))?;
    let edited_args = match (&body.edited_args, question.args()) {
        (Some(edited), Some(original)) => {
            let meant = mask::put_back(edited, original);
            Some(meant.map_err(|error| Problem::new(Code::EditedArgsRefused, error.to_string()))?)
        }
        (edited, _) => edited.clone(),
    };
    let remember = match body.remember {
        Some(remember) => chosen(state, &question, person, remember)?,
        None => None,
    };
    let shown_locale = body.shown_locale;
    let answer = Answer {
        by: person.principal.clone(),
        option: body.selected_option_id,
        feedback: body.feedback,
        data: body.data,
        edited_args,
        instruction: body.instruction,
        remember,
        shown,
    };
    let broker = state.engine().broker();
    let answered = match broker.answer_with(id, answer, person.authority()).await {
        Ok(answered) => answered,
        Err(refusal) => return Err(refused(state, person, id, refusal, shown_locale).await),
    };
    let mut body = AnsweredBody {
        status: AnswerStatus::Decided,
        request_id: id.clone(),
        action: None,
        needed: None,
        question: None,
    };
    match answered {
        Answered::Decided { action } => {
            body.action = Some(action);
            if let Some(call) = question.interaction.asked().call()
                && let Err(error) = sample::follow(state, call, locale(state, shown_locale)).await
            {
                tracing::warn!(%error, request = %id, "a sample has no result");
            }
        }
        Answered::Voted { needed } => {
            body.status = AnswerStatus::Voted;
            body.needed = Some(needed);
        }
        Answered::AskedAnew { question } => {
            body.status = AnswerStatus::AskedAgain;
            body.question = Some(question);
        }
    }
    Ok(body)
}

/// What the person was looking at. Without a digest it was a program's output, not a page of ours.
fn seen(question: &Question, body: &AnswerBody, locale: Locale) -> Result<Shown, Problem> {
    let Some(digest) = &body.shown_digest else {
        return Ok(Shown::Program);
    };
    if body.shown_extent == Extent::Part {
        let part = serde_json::from_value::<Digest>(digest.as_str().into());
        let part = part.map_err(|_| Problem::new(Code::BadRequest, "`shownDigest` is not a digest"))?;
        return Ok(Shown::Part(part));
    }
    let now = document(question, locale).digest();
    if now.to_string() == *digest {
        return Ok(Shown::Whole(now));
    }
    match question.interaction {
        // A question that is decided says so itself; that it looks different now is no news.
        Interaction::Resolved(_) | Interaction::Processed(_) => Ok(Shown::Program),
        Interaction::Pending(_) => Err(Problem::new(
            Code::ShownChanged,
            "the question has changed since it was shown; look again",
        )),
    }
}

/// "Don't ask again", with the scope that was chosen.
fn chosen(
    state: &State,
    question: &Question,
    person: &PersonOnly,
    remember: RememberBody,
) -> Result<Option<Remember>, Problem> {
    let scope = match remember.scope {
        ChosenScope::Whole(scope) => Some(scope),
        ChosenScope::Offered(name) => {
            let offered = offered(state, question, person);
            offered.into_iter().find(|scope| scope.name() == name)
        }
    };
    match scope {
        Some(scope) => Ok(Some(Remember {
            scope,
            lasts: remember.lasts_ms,
            uses_max: remember.uses_max,
        })),
        // A question that is decided says so itself, and offers nothing any more.
        None if !matches!(question.interaction, Interaction::Pending(_)) => Ok(None),
        None => Err(Problem::new(
            Code::RememberRefused,
            "the question offers no such scope; look again",
        )),
    }
}

/// The loser of a race is told who decided, what and when.
async fn refused(
    state: &State,
    person: &PersonOnly,
    id: &InteractionId,
    refusal: StepError<AnswerRefusal>,
    locale: Option<Locale>,
) -> Problem {
    if let StepError::Refused(AnswerRefusal::NotFound(_)) = refusal {
        // They see all questions, so there is nothing to hide.
        return match person.role {
            Role::Admin => Problem::new(Code::NotYours, format!("{id} is assigned to other people")),
            Role::Approver => none(id),
        };
    }
    let decided = matches!(refusal, StepError::Refused(AnswerRefusal::AlreadyDecided { .. }));
    let words = match (&refusal, locale) {
        (StepError::Refused(refusal), Some(locale)) => Some(refusal.message().say(locale)),
        _ => None,
    };
    let said = |problem: Problem| match words {
        Some(words) => problem.saying(words),
        None => problem,
    };
    let problem = Problem::from(refusal);
    if !decided {
        return said(problem);
    }
    let question = state.engine().broker().question(id).await;
    let Ok(Some(Question {
        interaction: Interaction::Resolved(resolved) | Interaction::Processed(resolved),
        ..
    })) = question
    else {
        return said(problem);
    };
    let body = ResolutionBody::from(&resolved);
    let problem = match &resolved.resolution {
        Resolution::Expired { .. } => Problem::new(Code::Expired, format!("{id} closed at {}", resolved.at)),
        _ => problem,
    };
    let by: Vec<_> = body.by.iter().map(PersonId::as_str).collect();
    said(problem)
        .with("decidedBy", by)
        .with("decidedAt", body.at)
        .with("option", body.option)
        .with("how", body.how)
}
