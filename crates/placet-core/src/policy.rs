//! Policy: may this call run, must a person agree, or is it refused?
//!
//! Pure: [`Policy::decide`] looks at the call, the tool, the analysis and the context it is given, and at nothing else. The
//! thirteen steps of design §2 are thirteen lines of it; the first that answers wins.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::Analysis;
use crate::call::{CallDigest, ToolCall};
use crate::confine::Confinement;
use crate::digest::Digest;
use crate::ids::ToolName;
use crate::tool::{Category, OwnOpinion, Risk, Tool};
use crate::verdict::{AskTerms, Decision, Reason, Step, Verdict};

pub(crate) mod example;
mod index;
mod paths;
pub mod pattern;
mod rule;
mod terms;
#[cfg(test)]
mod tests;
mod wild;

use index::{Candidates, Rules};
pub use paths::PathGlobError;
pub(crate) use paths::{PathGlob, Roots};
pub(crate) use rule::{Command, Conditions, Effects, Subject};
pub use rule::{Rule, RuleEffect};
pub use wild::{Piece, Wild};

/// How freely the agent may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Most effects need approval.
    Default,
    /// Writes of files inside the workspace are allowed.
    AutoEdit,
    /// All but HIGH is allowed.
    Yolo,
}

/// What policy needs to know besides the call itself. Gathered by the engine from the store.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// The call's digest.
    pub digest: CallDigest,
    /// The workspace's real root, as [`Places::workspace`](crate::analysis::Places::workspace) gave it to the analysis.
    pub workspace: &'a str,
    /// The session's mode, when it differs from the configured one.
    pub mode: Option<Mode>,
    /// What the tool itself says.
    pub own_opinion: OwnOpinion,
    /// Tools this session may use without asking.
    pub session_allow_list: &'a BTreeSet<ToolName>,
    /// The workflow's `autoApprovedTools`.
    pub workflow_allow_list: &'a BTreeSet<ToolName>,
    /// The workflow's `only`: tools outside its list need approval in every mode, and those on it run unless something is HIGH.
    pub workflow_only: bool,
    /// The workflow's `strict`.
    pub workflow_strict: bool,
    /// Standing grants that have neither ended nor been revoked nor been used up.
    pub standing: &'a [crate::standing::StandingGrant],
    /// The same digest was approved in this chat within the memory window.
    pub remembered: bool,
    /// What confines the call while it runs. Only the built-in agent can promise that.
    pub confinement: Option<&'a Confinement>,
}

/// No list lets any tool run.
static NO_TOOLS: BTreeSet<ToolName> = BTreeSet::new();

impl<'a> Context<'a> {
    /// A call of which nothing else is known: on no list, without a standing grant, not remembered.
    pub const fn alone(digest: CallDigest, workspace: &'a str) -> Self {
        Self {
            digest,
            workspace,
            mode: None,
            own_opinion: OwnOpinion::Silent,
            session_allow_list: &NO_TOOLS,
            workflow_allow_list: &NO_TOOLS,
            workflow_only: false,
            workflow_strict: false,
            standing: &[],
            remembered: false,
            confinement: None,
        }
    }
}

/// The `[approval]` settings that decide.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Settings {
    /// Whether anything is asked at all. Deny rules and questions of the agent work even when not.
    pub enabled: bool,
    /// How freely agents may act unless a session says otherwise.
    pub mode: Mode,
    /// Ask about everything above LOW, in every mode.
    pub strict: bool,
    /// Tools that are always asked about, or never.
    pub tool_overrides: BTreeMap<ToolName, Override>,
    /// Tools that are not asked about unless something above says so.
    pub auto_approved_tools: BTreeSet<ToolName>,
    /// `safety.require_confirmation`: every change of rows or schema needs approval, in every mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub confirm_data_changes: bool,
}

/// What `[approval.tool_overrides]` says about a tool. Ordered: the stricter wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Override {
    /// `false`: never ask.
    Allow,
    /// `true`: always ask.
    Ask,
}

/// Settings and rules, ready to decide.
#[derive(Debug, Clone)]
pub struct Policy {
    settings: Settings,
    rules: Rules,
    /// What the operator says about tools and programs, in canonical JSON; empty when that is nothing.
    knowledge: String,
    version: Digest,
}

/// Two policies are the same when they have the same version.
impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

/// What a step says, before risk and category are added.
struct Answer<'p> {
    step: Step,
    decision: Decision,
    rule: Option<&'p str>,
    reason: Reason,
}

impl Policy {
    /// Settings and checked rules as one policy. `knowledge` is what the operator says about tools and programs, in canonical
    /// JSON: verdicts depend on it, so the version does.
    pub fn new(settings: Settings, rules: Vec<Rule>, knowledge: String) -> Self {
        let settings_text = serde_json::to_value(&settings)
            .map(|value| crate::canonical::to_string(&value))
            .unwrap_or_default();
        let texts = std::iter::once(settings_text.as_str())
            .chain(rules.iter().map(|rule| &*rule.canonical))
            .chain((!knowledge.is_empty()).then_some(knowledge.as_str()));
        let fields: Vec<&[u8]> = texts.map(str::as_bytes).collect();
        let version = Digest::of("placet/policy/1", &fields);
        Self {
            settings,
            rules: Rules::new(rules),
            knowledge,
            version,
        }
    }

    /// The same under other settings.
    #[must_use]
    pub fn with_settings(&self, settings: Settings) -> Self {
        Self::new(settings, self.rules().cloned().collect(), self.knowledge.clone())
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The rules, in the order of the file.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// What verdicts, votes and receipts say they were decided under: changes when the settings, any rule, or what
    /// the operator says about tools and programs does.
    pub fn version(&self) -> Digest {
        self.version
    }

    /// Decides one call.
    pub fn decide(
        &self,
        call: &ToolCall,
        tool: &Tool,
        analysis: &Analysis,
        context: &Context<'_>,
    ) -> Verdict {
        let subject = &Subject::new(call, tool, analysis, context.workspace).confined(context.confinement);
        self.decide_among(&self.rules.candidates(subject), subject, context)
    }

    fn decide_among(&self, rules: &Candidates<'_>, subject: &Subject<'_>, context: &Context<'_>) -> Verdict {
        let mode = context.mode.unwrap_or(self.settings.mode);
        let answer = None
            .or_else(|| denied(rules, subject)) // 1
            .or_else(|| asks_by_nature(subject)) // 2
            .or_else(|| self.disabled()) // 3
            .or_else(|| self.ruled(rules, subject, context)) // 4
            .or_else(|| high_risk(subject)) // 5
            .or_else(|| own_need(context)) // 9, where the tool wants a person
            .or_else(|| workflow_listed(subject, context)) // 11, where the workflow's list is exact
            .or_else(|| self.strict(subject, context)) // 6
            .or_else(|| yolo(mode)) // 7
            .or_else(|| harmless(subject)) // 8
            .or_else(|| own_opinion(context)) // 9
            .or_else(|| auto_edit(mode, subject)) // 10
            .or_else(|| self.allow_listed(subject, context)) // 11
            .or_else(|| remembered(subject, context)) // 12
            .unwrap_or_else(|| ask_anyway(subject)); // 13
        Verdict {
            decision: answer.decision,
            step: answer.step,
            rule: answer.rule.map(str::to_owned),
            reason: answer.reason,
            risk: subject.risk,
            category: subject.category,
            confinement: context.confinement.cloned(),
        }
    }

    fn disabled(&self) -> Option<Answer<'_>> {
        (!self.settings.enabled).then(|| Answer::allow(Step::Disabled, Reason::Disabled))
    }

    /// Rules, overrides, `safety.require_confirmation` and a workflow's exact list; the strictest of them wins.
    fn ruled<'r>(
        &self,
        rules: &Candidates<'r>,
        subject: &Subject<'_>,
        context: &Context<'_>,
    ) -> Option<Answer<'r>> {
        let tool = &subject.call.tool;
        let reason = if self.settings.confirm_data_changes && subject.changes_data() {
            Some(Reason::DataConfirmed)
        } else if context.workflow_only && !context.workflow_allow_list.contains(tool) {
            Some(Reason::NotInWorkflow { tool: tool.clone() })
        } else {
            None
        };
        let answer = self.ruled_by_name(rules, subject);
        match (answer, reason) {
            // A rule that asks names its approvers, so it comes before the lists.
            (Some(answer), Some(_)) if matches!(answer.decision, Decision::Ask(_)) => Some(answer),
            (_, Some(reason)) => Some(Answer::ask(Step::Rule, AskTerms::plain(), reason)),
            (answer, None) => answer,
        }
    }

    fn ruled_by_name<'r>(&self, rules: &Candidates<'r>, subject: &Subject<'_>) -> Option<Answer<'r>> {
        let asking = rules.asking(subject);
        let by_rule = match asking.first() {
            Some(rule) => Some((Override::Ask, Some(*rule))),
            None => rules.allowing(subject).map(|rule| (Override::Allow, Some(rule))),
        };
        let by_override = self
            .settings
            .tool_overrides
            .get(&subject.call.tool)
            .map(|word| (*word, None));
        // Of two that say the same the last wins: the rule, which explains more.
        let strictest = by_override
            .into_iter()
            .chain(by_rule)
            .max_by_key(|(word, _)| *word)?;
        Some(match strictest {
            (Override::Ask, Some(rule)) => {
                let terms = terms::strictest(asking.iter().filter_map(|rule| rule.terms()));
                Answer::ask(
                    Step::Rule,
                    terms.unwrap_or_else(AskTerms::plain),
                    rule.why(|rule| Reason::RuleAsks { rule }),
                )
                .by(rule)
            }
            (Override::Allow, Some(rule)) => {
                Answer::allow(Step::Rule, rule.why(|rule| Reason::RuleAllows { rule })).by(rule)
            }
            (Override::Ask, None) => {
                let tool = subject.call.tool.clone();
                Answer::ask(Step::Rule, AskTerms::plain(), Reason::AlwaysAsked { tool })
            }
            (Override::Allow, None) => {
                let tool = subject.call.tool.clone();
                Answer::allow(Step::Rule, Reason::NeverAsked { tool })
            }
        })
    }

    fn strict(&self, subject: &Subject<'_>, context: &Context<'_>) -> Option<Answer<'_>> {
        let strict = self.settings.strict || context.workflow_strict;
        (strict && subject.risk > Risk::Low)
            .then(|| Answer::ask(Step::Strict, AskTerms::plain(), Reason::Strict))
    }

    fn allow_listed(&self, subject: &Subject<'_>, context: &Context<'_>) -> Option<Answer<'_>> {
        let tool = subject.call.tool.clone();
        let reason = if context.session_allow_list.contains(&tool) {
            Reason::SessionList { tool }
        } else if context.workflow_allow_list.contains(&tool) {
            Reason::WorkflowList { tool }
        } else if self.settings.auto_approved_tools.contains(&tool) {
            Reason::AutoApproved { tool }
        } else {
            let covers = |grant: &&crate::standing::StandingGrant| {
                grant
                    .scope
                    .covers(subject.call, subject.analysis, context.digest, context.workspace)
            };
            let used = context.standing.iter().find(covers)?;
            Reason::Standing {
                grant: used.id.clone(),
                by: used.by.clone(),
            }
        };
        Some(Answer::allow(Step::AllowList, reason))
    }
}

fn denied<'r>(rules: &Candidates<'r>, subject: &Subject<'_>) -> Option<Answer<'r>> {
    let deny = |rule, reason| Answer {
        step: Step::Deny,
        decision: Decision::Deny,
        rule,
        reason,
    };
    if let Some(rule) = rules.denying(subject) {
        return Some(deny(
            Some(rule.name.as_str()),
            rule.why(|rule| Reason::RuleDenies { rule }),
        ));
    }
    let ban = subject.analysis.banned.as_ref()?;
    Some(deny(None, Reason::Banned(ban.clone())))
}

fn asks_by_nature(subject: &Subject<'_>) -> Option<Answer<'static>> {
    (subject.category == Category::Ask)
        .then(|| Answer::ask(Step::AskCategory, AskTerms::plain(), Reason::AskTool))
}

fn high_risk(subject: &Subject<'_>) -> Option<Answer<'static>> {
    if subject.risk < Risk::High {
        return None;
    }
    let mut found = subject
        .analysis
        .facts
        .iter()
        .filter(|fact| fact.risk == Risk::High);
    let why = found.find_map(|fact| fact.why.clone());
    let reason = why.map_or(Reason::DeclaredHigh, Reason::Found);
    Some(Answer::ask(Step::HighRisk, AskTerms::plain(), reason))
}

/// An exact list holds in every mode, so `strict` does not switch it off.
fn workflow_listed(subject: &Subject<'_>, context: &Context<'_>) -> Option<Answer<'static>> {
    let tool = subject.call.tool.clone();
    (context.workflow_only && context.workflow_allow_list.contains(&tool))
        .then(|| Answer::allow(Step::AllowList, Reason::WorkflowList { tool }))
}

fn yolo(mode: Mode) -> Option<Answer<'static>> {
    (mode == Mode::Yolo).then(|| Answer::allow(Step::Yolo, Reason::Yolo))
}

fn harmless(subject: &Subject<'_>) -> Option<Answer<'static>> {
    if subject.category == Category::Read {
        return Some(Answer::allow(Step::LowRisk, Reason::OnlyReads));
    }
    (subject.risk == Risk::Low).then(|| Answer::allow(Step::LowRisk, Reason::LowRisk))
}

/// A tool knows best what it cannot undo: its word holds in mode yolo, too.
fn own_need(context: &Context<'_>) -> Option<Answer<'static>> {
    (context.own_opinion == OwnOpinion::Needed)
        .then(|| Answer::ask(Step::OwnOpinion, AskTerms::plain(), Reason::OwnNeed))
}

fn own_opinion(context: &Context<'_>) -> Option<Answer<'static>> {
    (context.own_opinion == OwnOpinion::NotNeeded)
        .then(|| Answer::allow(Step::OwnOpinion, Reason::OwnOpinion))
}

/// Rows are not files: mode autoEdit says nothing about them.
fn auto_edit(mode: Mode, subject: &Subject<'_>) -> Option<Answer<'static>> {
    (mode == Mode::AutoEdit && subject.category == Category::Write && !subject.changes_data())
        .then(|| Answer::allow(Step::AutoEdit, Reason::AutoEdit))
}

fn remembered(subject: &Subject<'_>, context: &Context<'_>) -> Option<Answer<'static>> {
    (context.remembered && subject.risk == Risk::Medium)
        .then(|| Answer::allow(Step::Memory, Reason::Remembered))
}

fn ask_anyway(subject: &Subject<'_>) -> Answer<'static> {
    let category = subject.category;
    Answer::ask(Step::Ask, AskTerms::plain(), Reason::NothingAllows { category })
}

impl<'p> Answer<'p> {
    fn allow(step: Step, reason: Reason) -> Self {
        Self {
            step,
            decision: Decision::Allow,
            rule: None,
            reason,
        }
    }

    fn ask(step: Step, terms: AskTerms, reason: Reason) -> Self {
        Self {
            step,
            decision: Decision::Ask(terms),
            rule: None,
            reason,
        }
    }

    fn by(self, rule: &'p Rule) -> Self {
        Self {
            rule: Some(&rule.name),
            ..self
        }
    }
}

impl Rule {
    /// The operator's own words, or else what the rule says.
    fn why(&self, ruling: impl FnOnce(String) -> Reason) -> Reason {
        match &self.reason {
            Some(text) => Reason::Written(text.clone()),
            None => ruling(self.name.clone()),
        }
    }

    fn terms(&self) -> Option<&AskTerms> {
        match &self.effect {
            RuleEffect::Ask(terms) => Some(terms),
            RuleEffect::Allow | RuleEffect::Deny => None,
        }
    }
}
