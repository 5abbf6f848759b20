//! Insights: how much was asked, what became of it, and how fast people decided; counted in the store.

use axum::Json;
use axum::extract::State as Shared;
use placet_core::history::{Insights, InsightsOf, TOOK_MAX, Tally};
use placet_core::listing::StandingRow;
use placet_core::render::SafeText;
use placet_core::time::{Millis, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::interactions::locale;
use super::moments::moment;
use crate::access::Admin;
use crate::intake::QueryOf;
use crate::problem::{Code, Problem};
use crate::state::State;

/// How far back one looks unless said otherwise.
const DAYS: i64 = 30;
const DAY_MS: i64 = 24 * 3600 * 1000;
/// The longest time that is counted by days.
const DAYS_MAX: i64 = 3660;
/// How far a clock can be from UTC.
const AHEAD_MINUTES_MAX: i32 = 14 * 60;
/// Tools, rules and people named unless said otherwise, and at most.
const NAMES: u32 = 10;
const NAMES_MAX: u32 = 100;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(insights))
}

/// What is counted.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct InsightsQuery {
    /// Requests closed at this moment or later (RFC 3339); 30 days before `until` when absent.
    since: Option<String>,
    /// Requests closed before this moment (RFC 3339); now when absent.
    until: Option<String>,
    /// How many minutes the reader's clock is ahead of UTC: where days begin.
    utc_offset: Option<i32>,
    /// How many tools, rules and people are named; 10 unless said otherwise, 100 at most.
    names: Option<u32>,
    /// `en` or `zh`.
    #[param(value_type = Option<String>)]
    locale: Option<placet_core::interaction::Locale>,
}

/// What was asked and decided in a time.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct InsightsBody {
    since: String,
    until: String,
    /// Each day on which requests closed, in order.
    days: Vec<DayBody>,
    /// How many decisions took how long.
    decision_times: Vec<ClassBody>,
    /// Half of all decisions were faster than this.
    #[schema(value_type = Option<u64>)]
    median_ms: Option<Millis>,
    /// Nine of ten decisions were faster than this.
    #[schema(value_type = Option<u64>)]
    ninetieth_ms: Option<Millis>,
    /// All requests.
    all: TallyBody,
    /// By tool, most first. No name: questions that are not about a call.
    tools: Vec<NamedBody>,
    /// By rule, most first. No name: no rule asked, but a step of policy.
    rules: Vec<NamedBody>,
    /// By person who decided, most first.
    people: Vec<NamedBody>,
    standing: StandingUse,
}

/// What closed on one day.
#[derive(Serialize, ToSchema)]
struct DayBody {
    /// `2026-11-19`, on the reader's clock.
    day: String,
    /// How many ended how.
    outcomes: BTreeMap<&'static str, u64>,
}

/// Decisions that took about as long.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ClassBody {
    /// They took less than this; no bound in the last class.
    #[schema(value_type = Option<u64>)]
    below_ms: Option<Millis>,
    count: u64,
}

/// How many requests there were, and what became of them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TallyBody {
    /// All that closed.
    requests: u64,
    /// People decided.
    decided: u64,
    approved: u64,
    rejected: u64,
    expired: u64,
    /// A person changed the arguments.
    edited: u64,
    /// Decided in less than three seconds.
    hasty: u64,
    /// How long a decision took on average.
    #[schema(value_type = Option<u64>)]
    mean_ms: Option<Millis>,
}

/// The same of one tool, rule or person.
#[derive(Serialize, ToSchema)]
struct NamedBody {
    name: Option<String>,
    #[serde(flatten)]
    tally: TallyBody,
}

/// The standing approvals in force.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StandingUse {
    /// How many.
    in_force: usize,
    /// How often they were used since they were given.
    uses: u64,
    /// Those used most.
    most_used: Vec<UsedBody>,
}

/// A standing approval in force.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UsedBody {
    #[schema(value_type = String)]
    text: SafeText,
    tool: String,
    by: String,
    uses: u32,
    expires_at: String,
}

/// How much was asked, what became of it, and how fast people decided. Only counts: no request is read.
#[utoipa::path(get, path = "/v1/insights", tag = "audit", params(InsightsQuery),
    responses((status = 200, description = "The counts", body = InsightsBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn insights(
    _: Admin,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<InsightsQuery>,
) -> Result<Json<InsightsBody>, Problem> {
    let of = wanted(&query, state.now())?;
    let now = state.now();
    let look = state
        .engine()
        .store()
        .look(|stored| Ok((stored.insights(&of)?.clone(), stored.all_standing(&now)?.clone())));
    let (counted, standing) = look.await?;
    let locale = locale(&state, query.locale);
    let standing = standing_use(standing, of.names_max, locale);
    Ok(Json(body(&of, counted, standing)))
}

fn wanted(query: &InsightsQuery, now: Timestamp) -> Result<InsightsOf, Problem> {
    // The newest decision is in it.
    let until = moment(query.until.as_deref())?.unwrap_or(Timestamp::from_millis(now.as_millis() + 1));
    let since = moment(query.since.as_deref())?;
    let since = since.unwrap_or(Timestamp::from_millis(until.as_millis() - DAYS * DAY_MS));
    let length = until.as_millis().saturating_sub(since.as_millis());
    if length > DAYS_MAX * DAY_MS {
        let detail = format!("`since` is more than {DAYS_MAX} days before `until`");
        return Err(Problem::new(Code::BadRequest, detail));
    }
    let ahead_minutes = query.utc_offset.unwrap_or(0);
    if !(-AHEAD_MINUTES_MAX..=AHEAD_MINUTES_MAX).contains(&ahead_minutes) {
        let detail = format!("`utcOffset` is not between -{AHEAD_MINUTES_MAX} and {AHEAD_MINUTES_MAX}");
        return Err(Problem::new(Code::BadRequest, detail));
    }
    let names = query.names.unwrap_or(NAMES).clamp(1, NAMES_MAX);
    Ok(InsightsOf {
        since,
        until,
        ahead_minutes,
        names_max: usize::try_from(names).unwrap_or(usize::MAX),
    })
}

fn body(of: &InsightsOf, counted: Insights, standing: StandingUse) -> InsightsBody {
    let mut days: BTreeMap<i64, BTreeMap<&'static str, u64>> = BTreeMap::new();
    for (day, ending, count) in counted.days {
        days.entry(day).or_default().insert(ending.as_str(), count);
    }
    let bounds = TOOK_MAX.into_iter().map(Some).chain([None]);
    let classes = bounds.zip(counted.took);
    InsightsBody {
        since: of.since.to_string(),
        until: of.until.to_string(),
        days: days.into_iter().filter_map(day).collect(),
        decision_times: classes
            .map(|(below_ms, count)| ClassBody { below_ms, count })
            .collect(),
        median_ms: counted.median,
        ninetieth_ms: counted.ninetieth,
        all: counted.all.into(),
        tools: named(counted.tools),
        rules: named(counted.rules),
        people: named(counted.people),
        standing,
    }
}

fn day((number, outcomes): (i64, BTreeMap<&'static str, u64>)) -> Option<DayBody> {
    let midnight = jiff::Timestamp::from_millisecond(number.checked_mul(DAY_MS)?).ok()?;
    let text = midnight.to_string();
    Some(DayBody {
        day: text.split('T').next()?.to_owned(),
        outcomes,
    })
}

fn named(tallies: Vec<(Option<String>, Tally)>) -> Vec<NamedBody> {
    let named = |(name, tally): (Option<String>, Tally)| NamedBody {
        name,
        tally: tally.into(),
    };
    tallies.into_iter().map(named).collect()
}

impl From<Tally> for TallyBody {
    fn from(tally: Tally) -> Self {
        let Tally {
            requests,
            decided,
            approved,
            rejected,
            expired,
            edited,
            hasty,
            took,
        } = tally;
        Self {
            requests,
            decided,
            approved,
            rejected,
            expired,
            edited,
            hasty,
            mean_ms: took.get().checked_div(decided).map(Millis::new),
        }
    }
}

fn standing_use(
    mut standing: Vec<StandingRow>,
    names_max: usize,
    locale: placet_core::interaction::Locale,
) -> StandingUse {
    standing.retain(|row| row.state() == "inForce");
    let (in_force, uses) = (
        standing.len(),
        standing.iter().map(|row| u64::from(row.uses)).sum(),
    );
    standing.sort_by_key(|row| std::cmp::Reverse(row.uses));
    standing.truncate(names_max);
    let most_used = standing
        .into_iter()
        .map(|StandingRow { grant, uses, .. }| UsedBody {
            text: SafeText::line(&grant.scope.describe_in(locale)),
            tool: grant.scope.tool.to_string(),
            by: grant.by.to_string(),
            uses,
            expires_at: grant.ends_at.to_string(),
        });
    StandingUse {
        in_force,
        uses,
        most_used: most_used.collect(),
    }
}
