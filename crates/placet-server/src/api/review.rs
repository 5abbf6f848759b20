//! Looking back: rules for what people always approved, past calls under another configuration, and what "don't ask again" as a
//! rule would have covered. Nothing is asked or stored.

use axum::Json;
use axum::extract::State as Shared;
use placet_core::config::Config;
use placet_core::ids::{InteractionId, PersonId, SessionId};
use placet_core::render::SafeText;
use placet_core::time::Timestamp;
use placet_engine::review::{self, Covered, GrantPreview, PastCall, Replay, Suggestion};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::interactions::{locale, offered, visible};
use super::{LocaleQuery, Problems};
use crate::access::{Admin, AgentOrPerson, PersonOnly};
use crate::intake::{JsonBody, PathId, QueryOf};
use crate::problem::{Code, Problem};
use crate::state::State;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// How far back one looks unless the caller says otherwise.
const SUGGEST_DAYS: u32 = 30;
const REPLAY_DAYS: u32 = 7;
/// The longest look back.
const DAYS_MAX: u32 = 366;
/// How often something must have been approved to be suggested, unless the caller says otherwise.
const APPROVALS_MIN: u32 = 3;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(suggestions))
        .routes(routes!(replay))
        .routes(routes!(preview))
}

/// What to suggest from.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct SuggestQuery {
    /// How many days back; 30 when absent.
    #[param(minimum = 1, maximum = 366)]
    days: Option<u32>,
    /// Only what was approved at least so often; 3 when absent.
    #[param(minimum = 1)]
    min: Option<u32>,
    /// A language of `messages/`, such as `en`; the configured language when absent.
    #[param(value_type = Option<String>)]
    locale: Option<placet_core::interaction::Locale>,
}

/// Rules for what people always approved.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Suggestions {
    /// How many calls were looked at.
    calls: usize,
    /// From when on.
    since: String,
    /// The rules, those that spare most questions first.
    items: Vec<SuggestionBody>,
}

/// A rule that would have spared questions.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SuggestionBody {
    /// The rule's name.
    #[schema(value_type = String)]
    name: SafeText,
    /// What it covers, in a sentence.
    #[schema(value_type = String)]
    text: SafeText,
    /// The rule for `placet.toml`.
    toml: String,
    /// What it would have covered.
    covered: CoveredBody,
}

/// What a rule covers of the past.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CoveredBody {
    /// How many calls.
    calls: usize,
    /// How many of them people approved.
    approved: usize,
    /// How many of them people refused.
    refused: usize,
    /// In how many sessions.
    sessions: usize,
    /// On how many days (UTC).
    days: usize,
    /// Who approved.
    #[schema(value_type = Vec<String>)]
    people: Vec<PersonId>,
    /// Different calls among them, secrets masked.
    #[schema(value_type = Vec<String>)]
    examples: Vec<SafeText>,
}

impl From<Covered> for CoveredBody {
    fn from(covered: Covered) -> Self {
        Self {
            calls: covered.calls,
            approved: covered.approved,
            refused: covered.refused,
            sessions: covered.sessions.len(),
            days: covered.days,
            people: covered.people.into_iter().collect(),
            examples: covered.examples.iter().map(|text| SafeText::line(text)).collect(),
        }
    }
}

fn bounded(days: Option<u32>, default: u32) -> Result<i64, Problem> {
    match days.unwrap_or(default) {
        days if (1..=DAYS_MAX).contains(&days) => Ok(i64::from(days)),
        _ => Err(Problem::new(
            Code::BadRequest,
            format!("`days` must be between 1 and {DAYS_MAX}"),
        )),
    }
}

fn ago(state: &State, days: i64) -> Timestamp {
    Timestamp::from_millis(state.now().as_millis() - days * DAY_MILLIS)
}

async fn past(state: &State, since: Timestamp) -> Result<Vec<PastCall>, Problem> {
    Ok(review::past_calls(state.engine().store(), since).await?)
}

/// Runs what takes long where no request waits for it.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| Problem::new(Code::Internal, "the calls could not be judged"))
}

/// Rules for what people always approved: never HIGH, never what a rule asks about, never where a person said no.
#[utoipa::path(get, path = "/v1/policy/suggestions", tag = "policy", params(SuggestQuery),
    responses((status = 200, description = "The rules", body = Suggestions), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn suggestions(
    _: Admin,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<SuggestQuery>,
) -> Result<Json<Suggestions>, Problem> {
    let locale = locale(&state, query.locale);
    let since = ago(&state, bounded(query.days, SUGGEST_DAYS)?);
    let min = usize::try_from(query.min.unwrap_or(APPROVALS_MIN)).unwrap_or(usize::MAX);
    let calls = past(&state, since).await?;
    let (config, places) = (state.config(), state.engine().places().clone());
    let looked_at = calls.len();
    let found = apart(move || review::suggest(&config, &places, &calls, min)).await?;
    let item = |Suggestion { rule, spared }| SuggestionBody {
        name: SafeText::line(rule.name()),
        text: SafeText::line(&rule.scope().describe_in(locale)),
        toml: rule.to_toml(),
        covered: spared.into(),
    };
    Ok(Json(Suggestions {
        calls: looked_at,
        since: since.to_string(),
        items: found.into_iter().map(item).collect(),
    }))
}

/// A configuration to try on past calls.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReplayBody {
    /// The text of a `placet.toml`.
    config: String,
    /// How many days back; 7 when absent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 366)]
    days: Option<u32>,
}

/// What another configuration would have decided. The present inspection judged, with the workspace as it is now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReplayedBody {
    /// From when on.
    since: String,
    /// How many calls were judged again.
    calls: usize,
    /// How many of them would be decided differently.
    changed: usize,
    /// The changes; what a person refused and the configuration would allow comes first.
    changes: Vec<ChangeBody>,
    /// Rules that can never apply.
    dead_rules: Vec<String>,
}

/// Calls that would be decided differently in the same way.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ChangeBody {
    /// `allow`, `ask` or `deny`
    from: &'static str,
    /// `allow`, `ask`, `askOtherwise` or `deny`
    #[schema(value_type = String)]
    to: review::Word,
    /// People rejected these calls, and the configuration would allow them.
    refused_then: bool,
    /// How many.
    calls: usize,
    /// Different ones among them, most frequent first.
    examples: Vec<ChangedBody>,
}

/// One call that would be decided differently.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ChangedBody {
    /// The call in a few words, secrets masked.
    #[schema(value_type = String)]
    what: SafeText,
    /// How often it was made.
    times: usize,
    /// When last.
    at: String,
    /// In which session.
    #[schema(value_type = String)]
    session_id: SessionId,
    /// Who said no to it.
    #[schema(value_type = Option<String>)]
    refused_by: Option<PersonId>,
    /// The rule that would decide.
    #[schema(value_type = Option<String>)]
    rule: Option<SafeText>,
    /// Why.
    #[schema(value_type = String)]
    reason: SafeText,
}

fn changes(replay: Replay) -> Vec<ChangeBody> {
    let example = |example: review::ChangedCall| ChangedBody {
        what: SafeText::line(&example.what),
        times: example.times,
        at: example.at.to_string(),
        session_id: example.session,
        refused_by: example.refused_by,
        rule: example.rule.as_deref().map(SafeText::line),
        reason: SafeText::line(&example.reason),
    };
    let change = |change: review::Change| ChangeBody {
        from: change.from.as_str(),
        to: change.to,
        refused_then: change.refused_then,
        calls: change.calls,
        examples: change.examples.into_iter().map(example).collect(),
    };
    replay.changes.into_iter().map(change).collect()
}

/// Which past verdicts another configuration would change.
#[utoipa::path(post, path = "/v1/policy/replay", tag = "policy", request_body = ReplayBody,
    responses((status = 200, description = "What would change", body = ReplayedBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn replay(
    _: Admin,
    Shared(state): Shared<State>,
    JsonBody(body): JsonBody<ReplayBody>,
) -> Result<Json<ReplayedBody>, Problem> {
    let config = Config::parse(
        &body.config,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .map_err(|error| Problem::new(Code::BadRequest, error.to_string()))?;
    let since = ago(&state, bounded(body.days, REPLAY_DAYS)?);
    let calls = past(&state, since).await?;
    let used = state
        .engine()
        .store()
        .look(|stored| stored.tools_used(&()).cloned())
        .await?;
    let dead_rules = config.dead_rules(&used).iter().map(ToString::to_string).collect();
    let places = state.engine().places().clone();
    let replayed = apart(move || review::replay(&config, &places, &calls)).await?;
    Ok(Json(ReplayedBody {
        since: since.to_string(),
        calls: replayed.calls,
        changed: replayed.changed,
        changes: changes(replayed),
        dead_rules,
    }))
}

/// What "don't ask again" would mean beyond this conversation.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PreviewBody {
    /// Exactly what it covers.
    #[schema(value_type = String)]
    text: SafeText,
    /// The rule for `placet.toml`.
    toml: String,
    /// What it would have covered in the last seven days. A scope that covers a refused call is not granted.
    last_week: CoveredBody,
}

/// What one of a question's wide `scopes` would have covered in the last seven days, and the rule it is.
#[utoipa::path(get, path = "/v1/interactions/{requestId}/scopes/{scope}", tag = "questions",
    params(("requestId" = String, Path, description = "The question's id"),
        ("scope" = String, Path, description = "The `scope` of one of the question's `scopes`"), LocaleQuery),
    responses((status = 200, description = "The rule", body = PreviewBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn preview(
    person: PersonOnly,
    Shared(state): Shared<State>,
    PathId((id, name)): PathId<(InteractionId, String)>,
    QueryOf(query): QueryOf<LocaleQuery>,
) -> Result<Json<PreviewBody>, Problem> {
    let locale = locale(&state, query.locale);
    let broker = state.engine().broker();
    let question = visible(&state, &AgentOrPerson::Person(person.clone()), &id).await?;
    let scope = offered(&state, &question, &person)
        .into_iter()
        .find(|scope| scope.name() == name && scope.reach().is_wide());
    let preview = match &scope {
        Some(scope) => broker.preview(&question, scope).await?,
        None => None,
    };
    let Some(GrantPreview { rule, last_week }) = preview else {
        return Err(Problem::new(
            Code::RememberRefused,
            "the question offers no such scope; look again",
        ));
    };
    Ok(Json(PreviewBody {
        text: SafeText::line(&rule.scope().describe_in(locale)),
        toml: rule.to_toml(),
        last_week: last_week.into(),
    }))
}
