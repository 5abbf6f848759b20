//! Standing grants: list and revoke.

use std::sync::Arc;

use axum::Json;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use placet_core::analysis::Inspect;
use placet_core::ids::{PersonId, StandingGrantId};
use placet_core::interaction::Locale;
use placet_core::listing::StandingRow;
use placet_core::render::SafeText;
use placet_core::standing::{GrantReach, ProposedRule, StandingGrant};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::interactions::locale;
use super::{LocaleQuery, Problems};
use crate::access::{PersonOnly, Role};
use crate::intake::{PathId, QueryOf};
use crate::problem::{Code, Problem};
use crate::state::State;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(revoke))
}

/// A standing grant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct StandingBody {
    /// Its id.
    #[schema(value_type = String)]
    id: StandingGrantId,
    /// Exactly what it covers.
    #[schema(value_type = String)]
    text: SafeText,
    /// `call`, `session`, `project` or `rule`: how far it reaches.
    #[schema(value_type = String)]
    reach: GrantReach,
    /// The rule for `placet.toml`, when it is one.
    toml: Option<String>,
    /// The tool it is for.
    tool: String,
    /// Who gave it.
    #[schema(value_type = String)]
    by: PersonId,
    /// When.
    given_at: String,
    /// When it ends.
    expires_at: String,
    /// How often it was used.
    uses: u32,
    /// How often it may be used at most.
    uses_max: Option<u32>,
    /// `inForce`, `usedUp` or `revoked`
    state: &'static str,
}

impl StandingBody {
    fn new(row: StandingRow, locale: Locale, inspect: &Arc<dyn Inspect>) -> Self {
        let state = row.state();
        let StandingRow { grant, uses, .. } = row;
        Self {
            text: SafeText::line(&grant.scope.describe_in(locale)),
            reach: grant.scope.reach(),
            toml: ProposedRule::of(&grant, inspect)
                .filter(|_| grant.scope.reach() == GrantReach::Rule)
                .map(|rule| rule.to_toml()),
            tool: grant.scope.tool.to_string(),
            id: grant.id,
            by: grant.by,
            given_at: grant.given_at.to_string(),
            expires_at: grant.ends_at.to_string(),
            uses,
            uses_max: grant.uses_max,
            state,
        }
    }
}

/// Standing grants.
#[derive(Serialize, ToSchema)]
struct Grants {
    items: Vec<StandingBody>,
}

/// Standing grants that have not ended: the caller's own; admins see all.
#[utoipa::path(get, path = "/v1/grants", tag = "grants", params(LocaleQuery),
    responses((status = 200, description = "The grants", body = Grants), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn list(
    person: PersonOnly,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<LocaleQuery>,
) -> Result<Json<Grants>, Problem> {
    let (locale, config) = (locale(&state, query.locale), state.config());
    let all = state.engine().broker().standing().await?;
    let own = all.into_iter().filter(|row| may_touch(&person, &row.grant));
    Ok(Json(Grants {
        items: own
            .map(|row| StandingBody::new(row, locale, &config.inspect))
            .collect(),
    }))
}

/// Take a standing grant back. What it let run before stays as it was.
#[utoipa::path(delete, path = "/v1/grants/{grantId}", tag = "grants",
    params(("grantId" = String, Path, description = "The grant's id")),
    responses((status = 204, description = "Revoked"), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn revoke(
    person: PersonOnly,
    Shared(state): Shared<State>,
    PathId(id): PathId<StandingGrantId>,
) -> Result<StatusCode, Problem> {
    let broker = state.engine().broker();
    let known = broker.standing().await?;
    if !known
        .iter()
        .any(|row| row.grant.id == id && may_touch(&person, &row.grant))
    {
        return Err(Problem::new(
            Code::NoSuchGrant,
            format!("there is no standing grant `{id}` in force for you"),
        ));
    }
    broker.revoke_standing(&id, &person.person).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn may_touch(person: &PersonOnly, grant: &StandingGrant) -> bool {
    person.role == Role::Admin || grant.by == person.person
}
