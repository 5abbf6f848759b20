//! Reading a typed reply: which of the requests a person is looking at does a text answer, and how? Nothing is decided here, so
//! that the page that asked can still show a second step.

use axum::Json;
use axum::extract::State as Shared;
use placet_core::ids::InteractionId;
use placet_core::interaction::{Action, Asked, Code, Interaction, Locale};
use placet_core::reply::{self, OpenQuestion, Reading};
use placet_core::tool::Risk;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Problems;
use super::interactions::{locale, visible};
use crate::access::{AgentOrPerson, PersonOnly};
use crate::intake::JsonBody;
use crate::problem::{Code as ProblemCode, Problem};
use crate::state::State;

/// The most requests that are looked at for one text.
const REQUESTS_MAX: usize = 100;

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new().routes(routes!(read))
}

/// A text, and the requests it may answer.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TextBody {
    /// What was typed.
    text: String,
    /// The requests on the person's screen.
    #[schema(value_type = Vec<String>, max_items = 100)]
    request_ids: Vec<InteractionId>,
    /// A language of `messages/`, such as `en`: the language the requests are shown in.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    locale: Option<Locale>,
}

/// What a text says about them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReadingBody {
    /// `answer` (see `choices`), `unclear` (see `which`), `unknownCode`, or `other`: not an answer.
    reading: &'static str,
    /// The answers it gives.
    choices: Vec<ChoiceBody>,
    /// The requests that have to be answered one by one, or of which one has to be named.
    #[schema(value_type = Vec<String>)]
    which: Vec<InteractionId>,
}

/// One answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ChoiceBody {
    /// The request.
    #[schema(value_type = String)]
    request_id: InteractionId,
    /// The option.
    option_id: String,
    /// What was added in the person's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
}

/// Read a typed reply such as `yes` or `no: not today` against some open requests. Nothing is decided.
#[utoipa::path(post, path = "/v1/interactions/reading", tag = "questions", request_body = TextBody,
    responses((status = 200, description = "What it says", body = ReadingBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["approver", "admin"]))))]
async fn read(
    person: PersonOnly,
    Shared(state): Shared<State>,
    JsonBody(body): JsonBody<TextBody>,
) -> Result<Json<ReadingBody>, Problem> {
    if body.request_ids.len() > REQUESTS_MAX {
        let detail = format!("at most {REQUESTS_MAX} `requestIds` are read at once");
        return Err(Problem::new(ProblemCode::BadRequest, detail));
    }
    let locale = locale(&state, body.locale);
    let reader = AgentOrPerson::Person(person.clone());
    let mut asked: Vec<Asked> = Vec::new();
    for id in &body.request_ids {
        if let Interaction::Pending(pending) = visible(&state, &reader, id).await?.interaction
            && pending.asks(&person.principal)
        {
            asked.push(pending.asked);
        }
    }
    let open: Vec<_> = asked
        .iter()
        .map(|asked| OpenQuestion::of(asked, locale))
        .collect();
    Ok(Json(understood(
        reply::read(&body.text, &open, &["placet"]),
        &asked,
    )))
}

fn understood(reading: Reading, asked: &[Asked]) -> ReadingBody {
    let find = |code: Code| asked.iter().find(|asked| asked.code == code);
    let ids = |codes: &[Code]| {
        codes
            .iter()
            .filter_map(|code| Some(find(*code)?.id.clone()))
            .collect()
    };
    let body = |reading, choices, which| ReadingBody {
        reading,
        choices,
        which,
    };
    match reading {
        Reading::Choose {
            code,
            option_id,
            feedback,
            ..
        } => {
            let choice = find(code).map(|asked| ChoiceBody {
                request_id: asked.id.clone(),
                option_id,
                feedback,
            });
            body("answer", choice.into_iter().collect(), Vec::new())
        }
        Reading::ChooseAll {
            action,
            choices,
            feedback,
        } => {
            // "All of them" never approves HIGH, as in a chat.
            let alone = |asked: &Asked| action == Action::ApproveAndExecute && asked.risk == Risk::High;
            let (mut all, mut which) = (Vec::new(), Vec::new());
            for (code, option_id) in choices {
                match find(code) {
                    Some(asked) if alone(asked) => which.push(asked.id.clone()),
                    Some(asked) => all.push(ChoiceBody {
                        request_id: asked.id.clone(),
                        option_id,
                        feedback: feedback.clone(),
                    }),
                    None => {}
                }
            }
            body("answer", all, which)
        }
        Reading::WhichOne { codes } => body("unclear", Vec::new(), ids(&codes)),
        Reading::UnknownCode { .. } => body("unknownCode", Vec::new(), Vec::new()),
        Reading::Other { .. } | Reading::ToAnother | Reading::NothingOpen => {
            body("other", Vec::new(), Vec::new())
        }
    }
}
