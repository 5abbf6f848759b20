//! What is posted to a platform, in the words of the wire.
//!
//! Everything a person may come to see is safe and masked already: a platform can show any text of it as it is. Nothing
//! here is cut, so a platform that shows all of `text` has shown everything.

use placet_core::ids::{ChannelName, ChatId, InteractionId, PersonId};
use placet_core::interaction::{
    Action, Asked, Code, InteractionOption, InteractionRequest, Resolution, Shown, Subject,
};
use placet_core::messages;
use placet_core::render::{Block, Document, Rendered, SafeText, Surface, mask, to_text};
use placet_engine::channel::{Content, Delivery};
use serde::Serialize;
use serde_json::{Map, json};

/// The body of one post.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    channel: &'a ChannelName,
    chat_id: &'a ChatId,
    text: String,
    /// The page of the question in the inbox, when the inbox has an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(flatten)]
    kind: Kind<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Kind<'a> {
    Question {
        request_id: &'a InteractionId,
        code: Code,
        options: Vec<InteractionOption>,
        request: Box<InteractionRequest>,
    },
    Decided {
        request_id: &'a InteractionId,
        code: Code,
        options: [InteractionOption; 0],
        /// What the platform called its copy of the question, when it said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<&'a str>,
        resolution: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        action: Option<Action>,
        decided_by: &'a [PersonId],
        /// Whether an approver changed what runs; the text says how.
        edited: bool,
    },
    Message {
        options: [InteractionOption; 0],
    },
}

/// The body for a delivery, and what a person who is shown its text has seen.
pub(super) fn body<'a>(channel: &'a ChannelName, delivery: &'a Delivery<'a>) -> (Body<'a>, Shown) {
    let (text, shown, kind) = match &delivery.content {
        Content::Question {
            asked,
            document,
            options,
        } => {
            let Rendered { text, digest, .. } = laid_out(document);
            let options: Vec<_> = options.iter().map(safe_option).collect();
            let kind = Kind::Question {
                request_id: &asked.id,
                code: asked.code,
                request: Box::new(request(asked, document, &text, &options)),
                options,
            };
            (text, Shown::Whole(digest), kind)
        }
        Content::Decided {
            asked,
            resolution,
            document,
            copy,
        } => {
            let (action, decided_by) = match resolution {
                Resolution::Answered { action, by, .. } => (Some(*action), by.as_slice()),
                Resolution::Expired { .. } | Resolution::Cancelled { .. } | Resolution::Superseded { .. } => {
                    (None, [].as_slice())
                }
            };
            let kind = Kind::Decided {
                request_id: &asked.id,
                code: asked.code,
                options: [],
                reference: copy.reference.as_deref(),
                resolution: resolution.name(),
                action,
                decided_by,
                edited: document.blocks().any(|block| matches!(block, Block::Diff { .. })),
            };
            (laid_out(document).text, copy.shown, kind)
        }
        Content::Message { text } => {
            let digest = placet_core::digest::Digest::of("placet/message/1", &[text.as_bytes()]);
            let kind = Kind::Message { options: [] };
            ((*text).to_owned(), Shown::Whole(digest), kind)
        }
    };
    let body = Body {
        channel,
        chat_id: delivery.chat,
        text: linked(text, delivery),
        url: delivery.inbox,
        kind,
    };
    (body, shown)
}

/// The text, and where the question is in the inbox.
fn linked(text: String, delivery: &Delivery<'_>) -> String {
    let locale = match &delivery.content {
        Content::Question { document, .. } | Content::Decided { document, .. } => document.locale,
        Content::Message { .. } => return text,
    };
    match delivery.inbox {
        Some(url) => format!("{text}\n\n{}", messages::request::in_inbox(url).say(locale)),
        None => text,
    }
}

fn laid_out(document: &Document) -> Rendered {
    to_text(document, &Surface::UNBOUNDED)
}

/// The question as an interaction request, with the document in its context for platforms that draw cards.
fn request(
    asked: &Asked,
    document: &Document,
    text: &str,
    options: &[InteractionOption],
) -> InteractionRequest {
    let heading = document.blocks().find_map(|block| match block {
        Block::Heading { text, .. } => Some(text.as_str().to_owned()),
        _ => None,
    });
    let (required, default_option_id) = match &asked.subject {
        Subject::Request { request, .. } => (request.required, request.default_option_id.clone()),
        Subject::Call { .. } | Subject::UnknownOutcome { .. } | Subject::Breaker { .. } => (true, None),
    };
    let mut context = Map::new();
    context.extend(asked.stated_risk().map(|risk| ("risk".to_owned(), json!(risk))));
    context.insert("quorum".into(), json!(asked.quorum));
    context.insert("document".into(), json!(document));
    InteractionRequest {
        request_id: Some(asked.id.clone()),
        session_id: asked.session.clone(),
        kind: asked.kind(),
        title: heading.unwrap_or_default(),
        message: text.to_owned(),
        details: None,
        context,
        options: options.to_vec(),
        required,
        timeout_seconds: Some(asked.allowance().get().div_ceil(1000)),
        default_option_id,
        risk: asked.stated_risk(),
        allow_other: false,
    }
}

/// Options of an agent's own question come from the agent, and so do their words.
fn safe_option(option: &InteractionOption) -> InteractionOption {
    let safe = |text: &str| SafeText::line(&mask::text(text)).as_str().to_owned();
    InteractionOption {
        label: safe(&option.label),
        description: option.description.as_deref().map(safe),
        input_prompt: option.input_prompt.as_deref().map(safe),
        // Between the agent and itself; no person needs it.
        metadata: Map::new(),
        ..option.clone()
    }
}
