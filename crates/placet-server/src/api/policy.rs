//! The policy in force, and what it says about a call.

use axum::Json;
use axum::extract::State as Shared;
use placet_agent::configured;
use placet_core::analysis::{Analysis, FactKind};
use placet_core::call::{Args, Origin, ToolCall};
use placet_core::ids::{AgentId, CallId, ChannelName, ChatId, PersonId, SessionId, ToolName};
use placet_core::interaction::Locale;
use placet_core::policy::{Mode, Override, Rule, RuleEffect};
use placet_core::render::{SafeText, mask};
use placet_core::time::Millis;
use placet_core::tool::{Category, Risk};
use placet_core::verdict::{AnswerKind, Approvers, AskTerms, Decision};
use placet_engine::Submission;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::calls::{chat, user};
use super::interactions::locale;
use super::sessions::stored_name;
use super::{LocaleQuery, Problems};
use crate::access::{Admin, AgentOrPerson};
use crate::intake::{JsonBody, QueryOf};
use crate::problem::Problem;
use crate::state::State;
use crate::wire::VerdictBody;

/// The session and the agent of a call that only people imagine.
const IMAGINED: &str = "check";
/// The keys of a rule that say when it applies.
const CONDITIONS: [&str; 12] = [
    "tool", "command", "path", "host", "sql", "table", "args", "category", "risk", "agent", "channel",
    "session",
];

pub(super) fn routes() -> OpenApiRouter<State> {
    OpenApiRouter::new()
        .routes(routes!(policy))
        .routes(routes!(check))
}

/// The policy in force.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PolicyBody {
    /// Rules that can never apply, each with why.
    #[schema(value_type = Vec<String>)]
    dead_rules: Vec<SafeText>,
    /// `default`, `autoEdit` or `yolo`
    #[schema(value_type = String)]
    mode: Mode,
    /// Everything above LOW needs approval.
    strict: bool,
    /// Whether anything is asked at all.
    enabled: bool,
    /// How long an approval counts again in the same chat.
    #[schema(value_type = u64)]
    memory_ms: Millis,
    /// How long approvers have in the inbox when no rule says so.
    #[schema(value_type = u64)]
    timeout_ms: Millis,
    /// In order.
    rules: Vec<RuleBody>,
    /// Tools that are always asked about, or never.
    overrides: Vec<OverrideBody>,
    /// Tools that are not asked about unless something above says so.
    #[schema(value_type = Vec<String>)]
    auto_approved_tools: Vec<ToolName>,
    /// Every change of rows or schema needs approval (`safety.require_confirmation`).
    require_confirmation: bool,
    /// What the operator says about tools.
    tools: Vec<ToolBody>,
    /// The digest of all of this.
    digest: String,
    /// Where it came from.
    source: String,
}

/// A rule.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RuleBody {
    /// Counted from 1.
    number: usize,
    /// Its name.
    #[schema(value_type = String)]
    name: SafeText,
    /// The tools it is about; all when absent.
    #[schema(value_type = Option<Object>)]
    tool: Option<Value>,
    /// `allow`, `ask` or `deny`
    effect: &'static str,
    /// When it applies, in a line.
    #[schema(value_type = String)]
    matcher: SafeText,
    /// The operator's own words on why.
    #[schema(value_type = Option<String>)]
    reason: Option<SafeText>,
    /// On what terms people are asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<TermsBody>,
}

/// On what terms people are asked.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TermsBody {
    /// Who may answer; the session's own user when absent.
    #[schema(value_type = Option<Vec<String>>)]
    approvers: Option<Vec<PersonId>>,
    /// How many different people must approve.
    quorum: u32,
    /// The person the agent works for may not approve.
    not_requester: bool,
    /// How long they have.
    #[schema(value_type = Option<u64>)]
    timeout_ms: Option<Millis>,
    /// Which answers are offered.
    #[schema(value_type = Vec<String>)]
    answers: Vec<AnswerKind>,
    /// After how long more people are asked.
    #[schema(value_type = Option<u64>)]
    escalate_after_ms: Option<Millis>,
    /// Who is asked then.
    #[schema(value_type = Vec<String>)]
    escalate_to: Vec<PersonId>,
}

impl From<&AskTerms> for TermsBody {
    fn from(terms: &AskTerms) -> Self {
        let escalation = terms.escalate.as_ref();
        Self {
            approvers: match &terms.approvers {
                Approvers::SessionUser => None,
                Approvers::People(people) => Some(people.clone()),
            },
            quorum: terms.quorum,
            not_requester: terms.not_requester,
            timeout_ms: terms.timeout,
            answers: terms.answers.iter().collect(),
            escalate_after_ms: escalation.map(|escalation| escalation.after),
            escalate_to: escalation.map_or_else(Vec::new, |escalation| escalation.to.clone()),
        }
    }
}

/// A tool that is always asked about, or never.
#[derive(Serialize, ToSchema)]
struct OverrideBody {
    #[schema(value_type = String)]
    tool: ToolName,
    /// `ask` or `allow`
    #[schema(value_type = String)]
    effect: Override,
}

/// What the operator says about a tool.
#[derive(Serialize, ToSchema)]
struct ToolBody {
    #[schema(value_type = String)]
    name: ToolName,
    #[schema(value_type = String)]
    category: Category,
    #[schema(value_type = String)]
    risk: Risk,
}

/// The policy in force.
#[utoipa::path(get, path = "/v1/policy", tag = "policy",
    responses((status = 200, description = "The policy", body = PolicyBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["admin"]))))]
async fn policy(_: Admin, Shared(state): Shared<State>) -> Result<Json<PolicyBody>, Problem> {
    let config = state.config();
    let dead_rules = state.dead_rules().await?;
    let settings = config.policy.settings();
    let overrides = settings.tool_overrides.iter().map(|(tool, effect)| OverrideBody {
        tool: tool.clone(),
        effect: *effect,
    });
    let tools = config.tools.keys().map(|name| {
        let tool = config.tool(name);
        ToolBody {
            name: tool.name,
            category: tool.category,
            risk: tool.risk,
        }
    });
    Ok(Json(PolicyBody {
        dead_rules: dead_rules
            .iter()
            .map(|rule| SafeText::line(&rule.to_string()))
            .collect(),
        mode: settings.mode,
        strict: settings.strict,
        enabled: settings.enabled,
        memory_ms: config.approval.memory,
        timeout_ms: config.timeout(None, None, None),
        rules: config.policy.rules().enumerate().map(rule).collect(),
        overrides: overrides.collect(),
        auto_approved_tools: settings.auto_approved_tools.iter().cloned().collect(),
        require_confirmation: settings.confirm_data_changes,
        tools: tools.collect(),
        digest: config.policy.version().to_string(),
        source: state.source(),
    }))
}

fn rule((index, rule): (usize, &Rule)) -> RuleBody {
    let source: Value = serde_json::from_str(rule.source()).unwrap_or_default();
    let conditions: Vec<_> = CONDITIONS
        .iter()
        .filter_map(|key| Some(format!("{key} {}", plain(source.get(*key)?))))
        .collect();
    let (effect, ask) = match &rule.effect {
        RuleEffect::Allow => ("allow", None),
        RuleEffect::Ask(terms) => ("ask", Some(TermsBody::from(terms))),
        RuleEffect::Deny => ("deny", None),
    };
    RuleBody {
        number: index + 1,
        name: SafeText::line(&rule.name),
        tool: source.get("tool").cloned(),
        effect,
        matcher: SafeText::line(&conditions.join(", ")),
        reason: rule.reason.as_deref().map(SafeText::line),
        ask,
    }
}

/// One text or several, as they are written.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" | "),
        other => other.to_string(),
    }
}

/// A call that is only asked about.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CheckBody {
    /// Which tool.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    tool: ToolName,
    /// With what.
    #[schema(value_type = Object)]
    args: Args,
    /// What the agent would say its tool is.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^(read|write|command|network|ask)$")]
    category: Option<Category>,
    /// What the agent would say the risk is.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^(LOW|MEDIUM|HIGH)$")]
    risk: Option<Risk>,
    /// In which session; its mode, allow-list and memory count.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    session_id: Option<SessionId>,
    /// On which channel. Needs `chatId`.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    channel: Option<ChannelName>,
    /// In which chat. Needs `channel`.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    chat_id: Option<ChatId>,
    /// For whom.
    #[serde(default)]
    user_id: Option<String>,
    /// As which agent, when a person asks; the built-in one when absent. An agent asks as itself.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    agent: Option<AgentId>,
}

/// What policy would say, explained.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CheckedBody {
    #[serde(flatten)]
    verdict: VerdictBody,
    /// Why no mode and no person may allow it.
    #[serde(skip_serializing_if = "Option::is_none")]
    banned: Option<String>,
    /// Each simple command of a shell line.
    commands: Vec<FactBody>,
    /// Each SQL statement.
    statements: Vec<FactBody>,
    /// Each path, and each file a shell line writes or reads.
    paths: Vec<FactBody>,
    /// Each host.
    hosts: Vec<FactBody>,
    /// What could not be read.
    unreadable: Vec<FactBody>,
    /// What confines the call while it runs; only commands of the built-in agent are confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    confined: Option<String>,
    /// What it asks for beyond that, and what for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    wants: Option<SafeText>,
    /// On what terms people would be asked; not for agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<TermsBody>,
}

/// One thing a call would do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FactBody {
    /// What, secrets masked.
    #[schema(value_type = String)]
    text: SafeText,
    /// What it runs under (`sudo`, `xargs`), outermost first.
    #[schema(value_type = Vec<String>)]
    under: Vec<SafeText>,
    /// How bad it could be.
    #[schema(value_type = String)]
    risk: Risk,
    /// Why that risk.
    #[schema(value_type = String)]
    why: SafeText,
}

/// What policy says about a call, explained. Nothing is asked or stored.
#[utoipa::path(post, path = "/v1/policy/check", tag = "policy", request_body = CheckBody, params(LocaleQuery),
    responses((status = 200, description = "The verdict", body = CheckedBody), Problems),
    security(("token" = []), ("browser" = [])), extensions(("x-roles" = json!(["agent", "approver", "admin"]))))]
async fn check(
    asker: AgentOrPerson,
    Shared(state): Shared<State>,
    QueryOf(query): QueryOf<LocaleQuery>,
    JsonBody(mut body): JsonBody<CheckBody>,
) -> Result<Json<CheckedBody>, Problem> {
    let locale = locale(&state, query.locale);
    let agent = match &asker {
        AgentOrPerson::Agent(agent) => {
            if let Some(session) = &body.session_id {
                body.session_id = Some(stored_name(&state, agent, session).await?);
            }
            agent.clone()
        }
        AgentOrPerson::Person(_) => body.agent.clone().unwrap_or_else(AgentId::built_in),
    };
    let submission = imagined(body, agent, &state).await?;
    let (verdict, analysis) = state.engine().gate().check(submission).await?;
    let ask = match (&verdict.decision, asker) {
        (Decision::Ask(terms), AgentOrPerson::Person(_)) => Some(terms.into()),
        _ => None,
    };
    let [commands, statements, paths, hosts, unreadable] = facts(&analysis, locale);
    let confinement = verdict.confinement.as_ref();
    Ok(Json(CheckedBody {
        verdict: VerdictBody::new(&verdict, locale),
        banned: analysis.banned.as_ref().map(|ban| ban.words(locale)),
        commands,
        statements,
        paths,
        hosts,
        unreadable,
        confined: confinement.and_then(|confinement| confinement.words(locale)),
        wants: confinement
            .and_then(|confinement| confinement.wants(locale))
            .map(|wants| SafeText::line(&mask::text(&wants))),
        ask,
    }))
}

async fn imagined(body: CheckBody, agent: AgentId, state: &State) -> Result<Submission, Problem> {
    let session = match body.session_id {
        Some(session) => session,
        None => SessionId::new(IMAGINED)?,
    };
    let chat = chat(body.channel, body.chat_id, &session, &state.config())?;
    let call = ToolCall {
        id: CallId::new(IMAGINED)?,
        tool: body.tool,
        args: body.args,
        session,
        origin: Origin {
            agent,
            agent_path: Vec::new(),
            user: user(body.user_id.as_deref(), chat.as_ref(), state).await?,
            chat,
        },
        group: None,
        description: None,
    };
    Ok(Submission {
        category: body.category,
        risk: body.risk,
        run: None,
        tool_description: None,
        preview: None,
        confinement: configured::confinement(&state.config(), &call),
        call,
    })
}

/// Commands, statements, paths, hosts, and what could not be read.
fn facts(analysis: &Analysis, locale: Locale) -> [Vec<FactBody>; 5] {
    let mut lists: [Vec<FactBody>; 5] = Default::default();
    let [commands, statements, paths, hosts, unreadable] = &mut lists;
    for fact in &analysis.facts {
        let mut above = Vec::new();
        let (list, text) = match &fact.kind {
            FactKind::Command { text, under, .. } => {
                above = under.iter().map(|word| SafeText::code_line(word)).collect();
                (&mut *commands, mask::command(text).into_owned())
            }
            FactKind::Statement { text, .. } => (&mut *statements, text.clone()),
            FactKind::Redirect { path, .. } => (&mut *paths, path.clone()),
            FactKind::Path { resolved, .. } => (&mut *paths, resolved.clone()),
            FactKind::Host { host, scheme, port } => {
                let port = port.map_or(String::new(), |port| format!(":{port}"));
                (&mut *hosts, format!("{scheme}://{host}{port}"))
            }
            FactKind::Unreadable { what } => (&mut *unreadable, what.clone()),
        };
        list.push(FactBody {
            text: SafeText::code_line(&text),
            under: above,
            risk: fact.risk,
            why: SafeText::line(&fact.why.as_ref().map_or(String::new(), |why| why.words(locale))),
        });
    }
    lists
}
