//! The endpoints, one module a group. Each is described for `/openapi.json` where it is written, so the two cannot drift.
//!
//! A module has a `routes()`; [`routes`] merges them. `x-roles` names who may call an endpoint, and a test goes through the
//! document with every other role.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, Content, Info, OpenApi, Ref, ResponseBuilder};
use utoipa::{IntoResponses, OpenApi as _};
use utoipa_axum::router::OpenApiRouter;

use crate::problem::{Code, ProblemBody};
use crate::state::State;

mod answer;
mod audit;
mod calls;
mod channels;
mod chat;
mod comments;
mod events;
mod export;
mod grants;
mod history;
mod insights;
mod interactions;
pub(crate) mod local;
mod moments;
mod person;
mod policy;
mod push;
mod reading;
mod review;
mod runs;
pub(crate) mod sample;
mod service;
mod sessions;

/// Every endpoint with its description.
pub(crate) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::with_openapi(Description::openapi())
        .merge(calls::routes())
        .merge(interactions::routes())
        .merge(comments::routes())
        .merge(history::routes())
        .merge(insights::routes())
        .merge(answer::routes())
        .merge(reading::routes())
        .merge(events::routes())
        .merge(channels::routes())
        .merge(sessions::routes())
        .merge(audit::routes())
        .merge(policy::routes())
        .merge(review::routes())
        .merge(grants::routes())
        .merge(chat::routes())
        .merge(runs::routes())
        .merge(sample::routes())
        .merge(person::routes())
        .merge(push::routes())
        .merge(service::routes())
}

/// In which language people read what is answered.
#[derive(serde::Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LocaleQuery {
    /// A language of `messages/`, such as `en`; the configured language when absent.
    #[param(value_type = Option<String>)]
    locale: Option<placet_core::interaction::Locale>,
}

#[derive(utoipa::OpenApi)]
#[openapi(components(schemas(ProblemBody)), modifiers(&Credentials))]
struct Description;

struct Credentials;

impl utoipa::Modify for Credentials {
    fn modify(&self, openapi: &mut OpenApi) {
        let mut info = Info::new("Placet", env!("CARGO_PKG_VERSION"));
        info.description = Some(
            "Decides whether an agent's tool call needs a person, asks them, and holds the call until they answer. \
             Roles: `agent` proposes calls and never answers; `approver` is a person; `admin` is a person who sees everything."
                .to_owned(),
        );
        openapi.info = info;
        let components = openapi.components.get_or_insert_with(Components::new);
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("token", bearer);
        let proof = ApiKeyValue::with_description(
            crate::access::PROOF_HEADER.as_str(),
            "A signed-in browser's proof: `TICKET CHALLENGE ID SIGNATURE`, made anew for each request. docs/http.md says how.",
        );
        components.add_security_scheme("browser", SecurityScheme::ApiKey(ApiKey::Header(proof)));
    }
}

/// What may be answered instead by any endpoint; `docs/errors/` has a page for each code.
pub(crate) struct Problems;

impl IntoResponses for Problems {
    fn responses() -> std::collections::BTreeMap<String, utoipa::openapi::RefOr<utoipa::openapi::Response>> {
        let mut statuses: std::collections::BTreeMap<String, Vec<&str>> = std::collections::BTreeMap::new();
        for code in Code::ALL {
            let codes = statuses.entry(code.status().as_str().to_owned()).or_default();
            codes.push(code.slug());
        }
        let described = |codes: Vec<&str>| {
            let content = Content::new(Some(Ref::from_schema_name("ProblemBody")));
            ResponseBuilder::new()
                .description(codes.join(", "))
                .content("application/problem+json", content)
                .build()
                .into()
        };
        statuses
            .into_iter()
            .map(|(status, codes)| (status, described(codes)))
            .collect()
    }
}
