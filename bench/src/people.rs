//! What people see and type: reading a reply, rendering a question.

use placet_core::analysis::FixedPlaces;
use placet_core::ids::InteractionId;
use placet_core::interaction::{
    Asked, Audience, CallKey, Code, InteractionKind, Locale, Subject, tool_approval_options,
};
use placet_core::render::{self, Markup, QuestionView, Surface};
use placet_core::reply::{self, OpenQuestion};
use placet_core::time::{Millis, Timestamp};
use placet_core::tool::Risk;
use placet_core::verdict::Answers;
use serde_json::json;

use crate::Plan;
use crate::sample::time;
use crate::table::{Row, Table};
use crate::world::{self, SHELL_LINE};

#[expect(
    clippy::unnecessary_wraps,
    reason = "every measurement has the same signature"
)]
pub(crate) fn reply(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let open: Vec<OpenQuestion> = (0..3)
        .map(|random| OpenQuestion {
            code: Code::from_random(random * 12_345),
            kind: InteractionKind::ToolApproval,
            options: tool_approval_options(&Answers::for_approval(), Locale::English),
        })
        .collect();
    let code = open
        .first()
        .map(|question| question.code.to_string())
        .unwrap_or_default();
    for (name, text) in [
        ("reply, `yes CODE`, 3 open", format!("yes {code}")),
        (
            "reply, a sentence, 3 open",
            "wait, which of the two databases would this drop? 不确认".to_owned(),
        ),
    ] {
        let cost = time(plan, || reply::read(&text, &open, &["placet"]));
        table.add(Row::new(name, "µs", cost.nanos.scaled(1e-3)).allocations(cost.allocations));
    }
    Ok(())
}

pub(crate) fn render(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let config = world::config(50)?;
    let call = world::call("bash", json!({ "command": SHELL_LINE }), 1, "render")?;
    let tool = config.builtin_tool(&call.tool);
    let findings = config
        .inspect
        .inspect(&tool, &call.args, &FixedPlaces::of_examples());
    let asked = Asked {
        id: InteractionId::new("int_1")?,
        session: call.session.clone(),
        subject: Subject::Call {
            call: CallKey {
                agent: call.origin.agent.clone(),
                call: call.id.clone(),
            },
            digest: call.digest(),
            answers: Answers::for_approval(),
            edited: None,
        },
        admins: false,
        audience: Audience::Inbox,
        quorum: 1,
        requester: None,
        not_requester: false,
        since: Timestamp::from_millis(0),
        deadline: Timestamp::from_millis(60_000),
        escalation: None,
        code: Code::from_random(7),
        risk: Risk::High,
        group: None,
        chat: None,
        evidence: Vec::new(),
        tool_description: None,
    };
    let view = QuestionView {
        asked: &asked,
        call: Some(&call),
        verdict: None,
        findings: Some(&findings),
        remaining: Millis::from_secs(60),
        votes_so_far: &[],
    };
    let surface = Surface {
        width: Some(100),
        chars_max: None,
        markup: Markup::Plain,
        elsewhere: None,
    };
    let cost = time(plan, || {
        render::to_text(&render::question(&view, Locale::English), &surface)
    });
    table.add(
        Row::new(
            "question of the 223-byte line as text",
            "µs",
            cost.nanos.scaled(1e-3),
        )
        .allocations(cost.allocations),
    );
    Ok(())
}
