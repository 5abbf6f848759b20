//! What people see: snapshots of whole questions, and the ways others were made to show something else.

use serde_json::{Value, json};

use super::*;
use crate::analysis::{Analysis, Deed, Fact, FactKind, Location, Why};
use crate::call::{Args, Origin, ToolCall};
use crate::evidence::Evidence;
use crate::findings::Findings;
use crate::ids::{AgentId, CallId, InteractionId, PersonId, SessionId, ToolName};
use crate::interaction::{Asked, Audience, CallKey, Code, Escalating, InteractionRequest, Locale, Subject};
use crate::time::{Millis, Timestamp};
use crate::tool::{Category, Risk};
use crate::verdict::{Answers, AskTerms, Decision, Reason, Step, Verdict};

pub(crate) mod assert_chinese;
mod explained;
mod said;
mod settled;
mod snapshots;
mod spoofing;

/// A question about one call, with all that goes with it.
struct Story {
    call: ToolCall,
    asked: Asked,
    verdict: Verdict,
    analysis: Analysis,
    location: Option<Location>,
}

fn story(tool: &str, args: Value, risk: Risk) -> Story {
    let agent = AgentId::new("coder").unwrap();
    let call = ToolCall {
        id: CallId::new("c1").unwrap(),
        tool: ToolName::new(tool).unwrap(),
        args: Args::from_value(args).unwrap(),
        session: SessionId::new("s1").unwrap(),
        origin: Origin {
            agent: agent.clone(),
            agent_path: vec!["reviewer".into()],
            chat: None,
            user: None,
        },
        group: None,
        description: None,
    };
    let subject = Subject::Call {
        call: CallKey {
            agent,
            call: call.id.clone(),
        },
        digest: call.digest(),
        answers: Answers::for_approval(),
        edited: None,
    };
    Story {
        asked: asked(subject, risk),
        call,
        verdict: Verdict {
            decision: Decision::Ask(AskTerms::plain()),
            step: Step::Ask,
            rule: None,
            reason: Reason::Written("a person decides".into()),
            risk,
            category: Category::Command,
            confinement: None,
        },
        analysis: Analysis::nothing(),
        location: None,
    }
}

fn asked(subject: Subject, risk: Risk) -> Asked {
    Asked {
        id: InteractionId::new("int_1").unwrap(),
        session: SessionId::new("s1").unwrap(),
        subject,
        admins: false,
        audience: Audience::Inbox,
        quorum: 1,
        requester: Some(PersonId::new("lin").unwrap()),
        not_requester: false,
        since: Timestamp::from_millis(0),
        deadline: Timestamp::from_millis(300_000),
        escalation: None::<Escalating>,
        code: Code::parse("K7QP").unwrap(),
        risk,
        group: None,
        chat: None,
        evidence: Vec::new(),
        tool_description: None,
    }
}

fn command(text: &str, under: &[&str], risk: Risk, deed: Option<Deed>) -> Fact {
    let kind = FactKind::Command {
        argv: text.split(' ').map(str::to_owned).collect(),
        text: text.into(),
        dynamic: false,
        assignments: Vec::new(),
        under: under.iter().map(|&wrapper| wrapper.to_owned()).collect(),
        effects: Vec::new(),
        paths: Vec::new(),
    };
    let what = under.first().copied().unwrap_or(text).to_owned();
    let why = deed.map(|deed| Why::Does { what, deed });
    Fact { kind, risk, why }
}

impl Story {
    fn document(&self, locale: Locale) -> Document {
        let line = self.call.args.text("command").map(str::to_owned);
        let findings = Findings {
            analysis: self.analysis.clone(),
            lines: line.into_iter().collect(),
            act: None,
            location: self.location.clone().map(Box::new),
        };
        let view = QuestionView {
            asked: &self.asked,
            call: Some(&self.call),
            verdict: Some(&self.verdict),
            findings: Some(&findings),
            remaining: Millis::from_secs(300),
            votes_so_far: &[],
        };
        question(&view, locale)
    }

    /// In English, on a surface without limits.
    fn text(&self) -> String {
        to_text(&self.document(Locale::English), &surface(Markup::Plain)).text
    }
}

fn surface(markup: Markup) -> Surface {
    Surface {
        width: None,
        chars_max: None,
        markup,
        elsewhere: None,
    }
}
