//! A question on the wire: the seed documents' names, and what a surface needs to show it.

use placet_core::comment::Comment;
use placet_core::ids::{AgentId, ChannelName, ChatId, GroupId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::{
    Asked, Audience, Code, Interaction, InteractionKind, InteractionOption, Locale, Pending, Resolution,
    Resolved, Subject,
};
use placet_core::messages::{Message, no_answer};
use placet_core::principal::Principal;
use placet_core::question::{Question, Words};
use placet_core::render::{Block, Document, SafeText, mask};
use placet_core::standing::{GrantReach, Scope};
use placet_core::time::{Millis, Timestamp};
use placet_core::tool::{Category, Risk};
use placet_core::verdict::AnswerKind;
use placet_engine::Engine;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::VerdictBody;
use super::ran::{RanBody, edited};
use crate::live::asker;

/// A question with everything needed to show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestionBody {
    /// Its id.
    #[schema(value_type = String)]
    request_id: InteractionId,
    /// Its session.
    #[schema(value_type = String)]
    session_id: SessionId,
    /// `TOOL_APPROVAL MISSING_INFO USER_CONFIRMATION USER_CHOICE USER_INPUT CUSTOM`
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: InteractionKind,
    /// A few words.
    #[schema(value_type = String)]
    title: SafeText,
    /// The question.
    #[schema(value_type = String)]
    message: SafeText,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    details: Option<SafeText>,
    /// Data beside it.
    #[schema(value_type = Object)]
    context: Map<String, Value>,
    /// The ways to answer.
    #[schema(value_type = Vec<Object>)]
    options: Vec<InteractionOption>,
    /// Whether the asker cannot go on without an answer.
    required: bool,
    /// How long people have, from first to last.
    timeout_seconds: u64,
    /// Taken when time runs out.
    default_option_id: Option<String>,
    /// `pending answered expired cancelled superseded`
    status: &'static str,
    /// Whether the asker knows what became of it.
    processed: bool,
    /// The short name for typed replies.
    #[schema(value_type = String)]
    code: Code,
    /// When it was asked.
    created_at: String,
    /// How long there is still, while it is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    remaining_ms: Option<Millis>,
    /// When it closes if nothing is restarted meanwhile, while it is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// `LOW`, `MEDIUM` or `HIGH`. An agent's own question has a risk only if the agent states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    risk: Option<Risk>,
    /// The agent that asks.
    #[schema(value_type = String)]
    agent: AgentId,
    /// Which sub-agent, from the root down.
    #[schema(value_type = Vec<String>)]
    agent_path: Vec<SafeText>,
    /// The person it works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    user: Option<PersonId>,
    /// The channel it is asked on, besides the inbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    channel: Option<ChannelName>,
    /// The chat it is asked in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    chat_id: Option<ChatId>,
    /// The turn it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    group: Option<GroupId>,
    /// How many questions of that turn are open.
    #[serde(skip_serializing_if = "Option::is_none")]
    group_size: Option<usize>,
    /// The call it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<AboutCall>,
    /// Who has approved so far.
    votes: Votes,
    /// Who may answer; empty when all approvers of the inbox may.
    #[schema(value_type = Vec<String>)]
    asked_of: Vec<PersonId>,
    /// Whether the caller may.
    may_answer: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// What policy said about the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictBody>,
    /// What "don't ask again" may cover, narrowest first.
    scopes: Vec<ScopeBody>,
    /// Everything a person must see, in order; every text is safe to show.
    #[schema(value_type = Object)]
    document: Document,
    /// The digest of that document, to be sent back with the answer.
    shown_digest: String,
    /// Comments of approvers, oldest first. No agent gets them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comments: Vec<CommentBody>,
    /// What became of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<ResolutionBody>,
    /// What became of the call that was let run.
    #[serde(skip_serializing_if = "Option::is_none")]
    ran: Option<RanBody>,
}

/// A comment on a question.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CommentBody {
    /// When it was written.
    at: String,
    /// Who wrote it.
    #[schema(value_type = String)]
    by: PersonId,
    /// What it says; safe to show, secrets masked.
    #[schema(value_type = String)]
    text: SafeText,
}

impl From<&Comment> for CommentBody {
    fn from(comment: &Comment) -> Self {
        Self {
            at: comment.at.to_string(),
            by: comment.by.clone(),
            text: comment.shown(),
        }
    }
}

/// The call a question is about.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AboutCall {
    /// The agent's id for it.
    call_id: String,
    /// Its tool.
    #[schema(value_type = String)]
    tool: ToolName,
    /// What kind of effect it has.
    #[schema(value_type = String)]
    category: Category,
    /// Its arguments, secrets masked. Masked values sent back unchanged stay what they were.
    #[schema(value_type = Object)]
    args: Value,
    /// The JSON Schema of the arguments, when it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    schema: Option<Value>,
    /// Whether approving with other arguments is offered.
    editable: bool,
}

/// Who has approved so far.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Votes {
    /// How many different people must.
    needed: u32,
    /// How many have.
    have: usize,
    /// Who has.
    #[schema(value_type = Vec<String>)]
    by: Vec<PersonId>,
}

/// Something "don't ask again" may cover.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScopeBody {
    /// Its name, to be sent back as it is. The scope itself may hold a secret.
    scope: String,
    /// Exactly what it covers, secrets masked.
    #[schema(value_type = String)]
    text: SafeText,
    /// `call`, `session`, `project` or `rule`: how far it reaches.
    #[schema(value_type = String)]
    reach: GrantReach,
    /// How long it lasts unless the person says otherwise.
    #[schema(value_type = u64)]
    lasts_ms: Millis,
}

/// What became of a question.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResolutionBody {
    /// `answered expired cancelled superseded`
    pub(crate) how: &'static str,
    /// Who decided.
    #[schema(value_type = Vec<String>)]
    pub(crate) by: Vec<PersonId>,
    /// When.
    pub(crate) at: String,
    /// The option that was taken.
    pub(crate) option: Option<String>,
    /// Whether the person changed the arguments.
    edited: bool,
    /// What the person wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    /// The information the person gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    data: Option<Map<String, Value>>,
    /// What the person adds for the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
    /// The question that took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    replaced_by: Option<InteractionId>,
}

/// What is known around a question.
pub(crate) struct Around<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) reader: &'a Principal,
    pub(crate) locale: Locale,
    pub(crate) asked_at: Timestamp,
    pub(crate) group_size: Option<usize>,
    pub(crate) scopes: Vec<Scope>,
    /// Empty for an agent.
    pub(crate) comments: Vec<Comment>,
}

/// Everything a person is shown of a question, whatever its state. Once it is decided, what became of it stands where the ways
/// to answer stood.
pub(crate) fn document(question: &Question, locale: Locale) -> Document {
    let document = question.document(locale);
    match &question.interaction {
        Interaction::Pending(_) => document,
        Interaction::Resolved(_) | Interaction::Processed(_) => {
            let decided = question.decided(locale);
            // What was changed stands above already.
            let is_new = |block: &&Block| !matches!(block, Block::Diff { .. });
            let foot = decided.iter().flat_map(Document::blocks).filter(is_new);
            Document {
                foot: foot.cloned().collect(),
                ..document
            }
        }
    }
}

impl QuestionBody {
    pub(crate) fn new(question: &Question, around: &Around<'_>) -> Self {
        let asked = question.interaction.asked();
        let document = document(question, around.locale);
        let remaining = asked.deadline.remaining_from(question.now);
        let (pending, resolved) = match &question.interaction {
            Interaction::Pending(pending) => (Some(pending), None),
            Interaction::Resolved(resolved) | Interaction::Processed(resolved) => (None, Some(resolved)),
        };
        let why = match pending {
            Some(pending) => why_not(pending, around.reader, around.locale),
            None => Some(no_answer::closed().say(around.locale)),
        };
        let origin = question.call.as_ref().map(|record| &record.call.origin);
        let Words {
            title,
            message,
            details,
            context,
        } = question.words(around.locale);
        Self {
            request_id: asked.id.clone(),
            session_id: asked.session.clone(),
            kind: asked.kind(),
            title,
            message,
            details,
            context,
            options: asked.options(around.locale),
            required: matches!(&asked.subject, Subject::Request { request, .. } if request.required)
                || asked.call().is_some(),
            timeout_seconds: asked.allowance().get().div_ceil(1000),
            default_option_id: default_option(asked, around.locale),
            status: resolved.map_or("pending", |resolved| resolved.resolution.name()),
            processed: matches!(question.interaction, Interaction::Processed(_)),
            code: asked.code,
            created_at: around.asked_at.to_string(),
            remaining_ms: pending.map(|_| remaining),
            expires_at: pending.map(|_| (question.now + remaining).to_string()),
            risk: question.risk(),
            agent: asker(asked).clone(),
            agent_path: origin.map_or_else(Vec::new, |origin| {
                origin
                    .agent_path
                    .iter()
                    .map(|part| SafeText::line(part))
                    .collect()
            }),
            user: asked.requester.clone(),
            channel: asked.chat.as_ref().map(|chat| chat.channel.clone()),
            chat_id: asked.chat.as_ref().map(|chat| chat.id.clone()),
            group: asked.group.clone(),
            group_size: around.group_size,
            call: about_call(question, around.engine),
            votes: votes(asked, pending, resolved),
            asked_of: asked_of(asked, pending),
            may_answer: why.is_none(),
            why,
            verdict: question
                .verdict()
                .map(|verdict| VerdictBody::new(verdict, around.locale)),
            scopes: around
                .scopes
                .iter()
                .map(|scope| ScopeBody::new(scope, around.locale))
                .collect(),
            shown_digest: document.digest().to_string(),
            document,
            comments: around.comments.iter().map(CommentBody::from).collect(),
            resolution: resolved.map(|resolved| ResolutionBody {
                edited: edited(question),
                ..ResolutionBody::from(resolved)
            }),
            ran: RanBody::of(question),
        }
    }
}

impl QuestionBody {
    /// The same for the agent that asked: with the secrets that people gave as answers.
    pub(crate) fn opened(mut self, engine: &Engine) -> Self {
        if let Some(resolution) = &mut self.resolution {
            if let Some(feedback) = &mut resolution.feedback {
                *feedback = engine.open_sealed(feedback).into_owned();
            }
            for value in resolution.data.iter_mut().flat_map(Map::values_mut) {
                engine.open_sealed_in(value);
            }
        }
        self
    }

    /// The same for people: with secrets masked.
    pub(crate) fn masked(mut self) -> Self {
        if let Some(resolution) = &mut self.resolution {
            if let Some(feedback) = &mut resolution.feedback {
                *feedback = mask::text(feedback).into_owned();
            }
            for value in resolution.data.iter_mut().flat_map(Map::values_mut) {
                *value = mask::json(value);
            }
        }
        self
    }
}

impl ScopeBody {
    fn new(scope: &Scope, locale: Locale) -> Self {
        Self {
            scope: scope.name(),
            text: SafeText::line(&scope.describe_in(locale)),
            reach: scope.reach(),
            lasts_ms: scope.reach().lasts(),
        }
    }
}

impl From<&Resolved> for ResolutionBody {
    fn from(resolved: &Resolved) -> Self {
        let mut body = Self {
            how: resolved.resolution.name(),
            by: Vec::new(),
            at: resolved.at.to_string(),
            option: None,
            edited: false,
            feedback: None,
            data: None,
            instruction: None,
            replaced_by: None,
        };
        match &resolved.resolution {
            Resolution::Answered { ballot, by, .. } => {
                body.by.clone_from(by);
                body.option = Some(ballot.option.clone());
                body.feedback.clone_from(&ballot.feedback);
                body.data.clone_from(&ballot.data);
                body.instruction.clone_from(&ballot.instruction);
            }
            Resolution::Expired { option } => body.option.clone_from(option),
            Resolution::Cancelled { .. } => {}
            Resolution::Superseded { by } => body.replaced_by = Some(by.clone()),
        }
        body
    }
}

fn default_option(asked: &Asked, locale: Locale) -> Option<String> {
    let options = asked.options(locale);
    options
        .into_iter()
        .find(|option| option.is_default)
        .map(|option| option.option_id)
}

fn about_call(question: &Question, engine: &Engine) -> Option<AboutCall> {
    let record = question.call.as_ref()?;
    let editable = match &question.interaction.asked().subject {
        Subject::Call { answers, .. } => answers.offers(AnswerKind::Edit),
        Subject::UnknownOutcome { .. } | Subject::Breaker { .. } | Subject::Request { .. } => false,
    };
    Some(AboutCall {
        call_id: record.call.id.to_string(),
        tool: record.call.tool.clone(),
        category: question.verdict()?.category,
        args: mask::json(question.args()?.as_value()),
        // Also of a tool that only its toolbox or an MCP server describes.
        schema: engine.tool_of(&record.call).schema,
        editable: editable && matches!(question.interaction, Interaction::Pending(_)),
    })
}

fn votes(asked: &Asked, pending: Option<&Pending>, resolved: Option<&Resolved>) -> Votes {
    let by: Vec<_> = match (pending, resolved.map(|resolved| &resolved.resolution)) {
        (Some(pending), _) => pending.votes.keys().cloned().collect(),
        (None, Some(Resolution::Answered { by, .. })) => by.clone(),
        (None, _) => Vec::new(),
    };
    Votes {
        needed: asked.quorum,
        have: by.len(),
        by,
    }
}

fn asked_of(asked: &Asked, pending: Option<&Pending>) -> Vec<PersonId> {
    let mut people = match &asked.audience {
        Audience::Inbox => return Vec::new(),
        Audience::People(people) => people.clone(),
    };
    if pending.is_none_or(|pending| pending.escalated)
        && let Some(escalation) = &asked.escalation
    {
        people.extend(escalation.to.iter().cloned());
    }
    people.into_iter().collect()
}

/// Why a reader cannot answer; nothing when they can.
fn why_not(pending: &Pending, reader: &Principal, locale: Locale) -> Option<String> {
    let message = why_not_in_words(pending, reader)?;
    Some(message.say(locale))
}

fn why_not_in_words(pending: &Pending, reader: &Principal) -> Option<Message> {
    let Some(person) = reader.person() else {
        return Some(no_answer::not_a_person());
    };
    if !pending.asks(reader) {
        return Some(match &pending.asked.audience {
            Audience::Inbox => no_answer::not_an_approver(),
            Audience::People(people) => no_answer::assigned(people),
        });
    }
    if pending.asked.not_requester && pending.asked.requester.as_ref() == Some(person) {
        return Some(no_answer::own_request());
    }
    let voted = pending.votes.contains_key(person);
    voted.then(no_answer::voted)
}
