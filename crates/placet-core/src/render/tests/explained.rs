//! A request that explains itself: where, why, what the agent says, and a risk that is said once.

use expect_test::expect;

use super::snapshots::check;
use super::*;
use crate::analysis::Location;
use crate::preview::Preview;

#[test]
fn where_and_why_come_before_the_details_and_a_single_risk_is_said_once() {
    let mut story = story("bash", json!({"command": "git push --force"}), Risk::High);
    story.analysis.facts = vec![command(
        "git push --force",
        &[],
        Risk::High,
        Some(Deed::OverwritesRemote),
    )];
    story.location = Some(Location {
        folder: Some("/srv/shop".into()),
        repository: Some("https://lin:ghp_0123456789abcdefghijABCDEFGHIJ012345@example.org/shop".into()),
        branch: Some("main".into()),
        environment: Some("production".into()),
        ..Location::default()
    });
    expect![[r#"
        Run `git push --force` [HIGH]
        Where: production · repository https://lin:ghp_...[40-chars-masked]@example.org/shop · branch main · folder /srv/shop
        Why you are asked: a person decides
        │ git push --force
          ↳ `git push --force` overwrites or deletes history on the remote

        Asked by: coder › reviewer
        On behalf of: lin
        Arguments:
        │ command: "git push --force"
        ⚠ Secrets are hidden here; the call itself is unchanged.

        Reply:
        • yes K7QP — Approve: Run exactly this, once.
        • no K7QP: why — Reject: Do not run it; the agent gets your reason. (taken when time runs out)
        • retry K7QP: … — Think again: Do not run it; the agent tries another way. What should it do differently?
        • skip K7QP — Skip: Leave this one out and continue.
        • stop K7QP — End the run: Do not run it, and end the whole run. ⚠
        Time left: 5 min"#]].assert_eq(&story.text());
}

#[test]
fn what_an_agent_says_of_its_call_is_marked_as_its_word() {
    let mut story = story("deploy", json!({"service": "checkout"}), Risk::Medium);
    story.asked.evidence = vec![Evidence::Said {
        preview: Box::new(Preview {
            diff: Some("-replicas: 3\n+replicas: 5\u{202e}".into()),
            rows: Some(214),
            links: vec!["https://ci.example/run/7".into()],
            environment: Some("production\nWhy you are asked: nothing to see".into()),
            cwd: Some("/srv/shop".into()),
            cost: Some("12 EUR".into()),
            purpose: Some("Ship 2.14.0".into()),
        }),
    }];
    check(
        |locale| story.document(locale),
        &expect![[r#"
        Run `deploy`: `service: checkout` [MEDIUM]
        Why you are asked: a person decides
        What the agent says (not checked):
        │ Purpose: Ship 2.14.0
        │ Environment: production Why you are asked: nothing to see
        │ Working directory: /srv/shop
        │ Rows affected: 214
        │ Cost: 12 EUR
        │ See https://ci.example/run/7
        Diff, as the agent says (not checked):
        │ -replicas: 3
        │ +replicas: 5⟦U+202E⟧
        Arguments:
        │ service: "checkout"

        Asked by: coder › reviewer
        On behalf of: lin

        Reply:
        • yes K7QP — Approve: Run exactly this, once.
        • no K7QP: why — Reject: Do not run it; the agent gets your reason. (taken
          when time runs out)
        • retry K7QP: … — Think again: Do not run it; the agent tries another way.
          What should it do differently?
        • skip K7QP — Skip: Leave this one out and continue.
        • stop K7QP — End the run: Do not run it, and end the whole run. ⚠
        Time left: 5 min"#]],
        &expect![[r#"
        执行 `deploy`: `service: checkout` [中]
        审批原因：a person decides
        智能体自述（未核实）：
        │ 目的：Ship 2.14.0
        │ 环境：production Why you are asked: nothing to see
        │ 工作目录：/srv/shop
        │ 影响行数：214
        │ 费用：12 EUR
        │ 参见 https://ci.example/run/7
        智能体给出的差异（未核实）：
        │ -replicas: 3
        │ +replicas: 5⟦U+202E⟧
        参数：
        │ service: "checkout"

        发起方：coder › reviewer
        代表：lin

        回复：
        • 批准 K7QP — 批准：只执行这一次，内容与所示完全一致。
        • 拒绝 K7QP：原因 — 拒绝：不执行，并把原因告诉智能体。（超时即采用）
        • 重试 K7QP：… — 重新考虑：不执行，让智能体换一种做法。希望它怎样改？
        • 跳过 K7QP — 跳过：跳过这一步，继续其余工作。
        • 终止 K7QP — 终止任务：不执行，并终止整个任务。 ⚠
        剩余时间：5 分钟"#]],
    );
}

#[test]
fn a_question_of_an_agent_has_a_risk_only_if_the_agent_states_one() {
    let document = |risk: Option<&str>| {
        let mut request = json!({
            "sessionId": "s1", "type": "USER_CONFIRMATION", "title": "Publish?", "message": "To customers.", "allowOther": true,
            "options": [{"optionId": "yes", "label": "Publish", "action": "CUSTOM"}]
        });
        if let Some(risk) = risk {
            request["risk"] = json!(risk);
        }
        let request: InteractionRequest = serde_json::from_value(request).unwrap();
        let subject = Subject::Request {
            agent: AgentId::new("coder").unwrap(),
            request: Box::new(request.checked().unwrap()),
            call: None,
        };
        let asked = asked(subject, Risk::Low);
        let view = QuestionView {
            asked: &asked,
            call: None,
            verdict: None,
            findings: None,
            remaining: Millis::from_secs(90),
            votes_so_far: &[],
        };
        question(&view, Locale::English)
    };
    let risk = |document: &Document| match document.head.first() {
        Some(Block::Heading { risk, .. }) => *risk,
        other => panic!("{other:?}"),
    };
    assert_eq!(risk(&document(None)), None);
    assert_eq!(risk(&document(Some("HIGH"))), Some(Risk::High));
    let offers_other = document(None).foot.iter().any(|block| match block {
        Block::Options { options, .. } => options.iter().any(|option| option.option_id == "other"),
        _ => false,
    });
    assert!(offers_other);
}
