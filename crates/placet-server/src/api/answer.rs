//! Answers: one, or those of a turn together. Only people answer, and only what is put to them.

use axum::Json;
use axum::extract::State as Shared;
use placet_core::call::Args;
use placet_core::ids::{InteractionId, PersonId};
use placet_core::interaction::{Answer, Interaction, Locale, Remember, Resolution, Shown};
use placet_core::render::mask;
use placet_core::standing::Scope;
use placet_core::steps::AnswerRefusal;
use placet_core::time::Millis;
use placet_engine::Answered;
use placet_engine::broker::Question;
use placet_store::StepError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::interactions::{locale, none, offered, visible};
use crate::access::{AgentOrPerson, PersonOnly, Role};
use crate::intake::{JsonBody, PathId};
use crate::problem::{Code, Problem, ProblemBody};
use crate::state::State;
use crate::wire::question::{ResolutionBody, document, scope_name};

/// The most answers taken at once.
const ANSWERS_MAX: usize = 100;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(one)).routes(routes!(several))
}

/// One person's choice.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AnswerBody {
    /// Which question. Needed where the path does not say.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub(super) request_id: Option<InteractionId>,
    /// Which option.
    pub(super) selected_option_id: String,
    /// A reason, or feedback.
    #[serde(default)]
    pub(super) feedback: Option<String>,
    /// Information asked for.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(super) data: Option<Map<String, Value>>,
    /// Other arguments for the call. Values that were shown masked stay what they were when they come back as shown.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub(super) edited_args: Option<Args>,
    /// Something to tell the agent after the results.
    #[serde(default)]
    pub(super) instruction: Option<String>,
    /// "Don't ask again".
    #[serde(default)]
    pub(super) remember: Option<RememberBody>,
    /// The `shownDigest` of the question as the person saw it. Refused when it has changed since.
    #[serde(default)]
    pub(super) shown_digest: Option<String>,
    /// The language it was shown in, `en` or `zh`; the operator's unless given.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^(en|zh)$")]
    pub(super) shown_locale: Option<Locale>,
}

/// "Don't ask again", on these terms.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RememberBody {
    /// The `scope` of one of the question's `scopes`.
    #[schema(value_type = String)]
    scope: ChosenScope,
    /// For how long.
    #[schema(value_type = u64, minimum = 1)]
    lasts_ms: Millis,
    /// How often at most.
    #[serde(default)]
    uses_max: Option<u32>,
}

/// What is not to be asked about again.
#[derive(Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "`scope` must be that of one of the question's `scopes`"
)]
enum ChosenScope {
    /// One that the question offers, by its name.
    Offered(String),
    /// Spelled out, by whoever knows the call.
    Whole(Scope),
}

/// What an answer came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AnsweredBody {
    /// `decided`: it is settled. `voted`: it counts, and others must approve, too. `askedAgain`: the edited call is asked
    /// about anew.
    status: &'static str,
    /// The question.
    #[schema(value_type = String)]
    request_id: InteractionId,
    /// How many more must approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    needed: Option<u32>,
    /// The question that took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    question: Option<InteractionId>,
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
    let shown = seen(
        &question,
        body.shown_digest.as_deref(),
        locale(state, body.shown_locale),
    )?;
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
    let (status, needed, question) = match state
        .engine()
        .broker()
        .answer_with(id, answer, person.authority())
        .await
    {
        Ok(Answered::Decided { .. }) => ("decided", None, None),
        Ok(Answered::Voted { needed }) => ("voted", Some(needed), None),
        Ok(Answered::AskedAnew { question }) => ("askedAgain", None, Some(question)),
        Err(refusal) => return Err(refused(state, person, id, refusal).await),
    };
    Ok(AnsweredBody {
        status,
        request_id: id.clone(),
        needed,
        question,
    })
}

/// What the person was looking at. Without a digest it was a program's output, not a page of ours.
fn seen(question: &Question, digest: Option<&str>, locale: Locale) -> Result<Shown, Problem> {
    let Some(digest) = digest else {
        return Ok(Shown::Program);
    };
    let now = document(question, locale).digest();
    if now.to_string() == digest {
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
            offered.into_iter().find(|scope| scope_name(scope) == name)
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
) -> Problem {
    if let StepError::Refused(AnswerRefusal::NotFound(_)) = refusal {
        // They see everybody's questions, so there is nothing to hide.
        return match person.role {
            Role::Admin => Problem::new(Code::NotYours, format!("{id} is put to other people")),
            Role::Approver => none(id),
        };
    }
    let decided = matches!(refusal, StepError::Refused(AnswerRefusal::AlreadyDecided { .. }));
    let problem = Problem::from(refusal);
    if !decided {
        return problem;
    }
    let question = state.engine().broker().question(id).await;
    let Ok(Some(Question {
        interaction: Interaction::Resolved(resolved) | Interaction::Processed(resolved),
        ..
    })) = question
    else {
        return problem;
    };
    let body = ResolutionBody::from(&resolved);
    let problem = match &resolved.resolution {
        Resolution::Expired { .. } => Problem::new(Code::Expired, format!("{id} closed at {}", resolved.at)),
        _ => problem,
    };
    let by: Vec<_> = body.by.iter().map(PersonId::as_str).collect();
    problem
        .with("decidedBy", by)
        .with("decidedAt", body.at)
        .with("option", body.option)
        .with("how", body.how)
}
