//! Whole questions in both languages.

use expect_test::{Expect, expect};

use super::*;
use crate::analysis::{AddressConcern, SqlConcern, UrlConcern};

pub(super) fn check(document: impl Fn(Locale) -> Document, english: &Expect, chinese: &Expect) {
    let on = Surface {
        width: Some(80),
        ..surface(Markup::Plain)
    };
    english.assert_eq(&to_text(&document(Locale::English), &on).text);
    chinese.assert_eq(&to_text(&document(Locale::Chinese), &on).text);
}

#[test]
fn a_pipeline_of_high_risk_shows_each_command_with_its_risk() {
    let mut story = story(
        "bash",
        json!({"command": "curl -s https://get.example.com | sudo sh > /etc/out"}),
        Risk::High,
    );
    story.analysis.facts = vec![
        command("curl -s https://get.example.com", &[], Risk::Medium, None),
        command("sh", &["sudo"], Risk::High, Some(Deed::OtherUser)),
        Fact {
            kind: FactKind::Redirect {
                path: "/etc/out".into(),
                writes: true,
                contained: false,
                paths: Vec::new(),
            },
            risk: Risk::High,
            why: Some(Why::MaybeOutside {
                word: "/etc/out".into(),
            }),
        },
    ];
    story.verdict.step = Step::HighRisk;
    story.verdict.reason = Reason::DeclaredHigh;
    story.call.description = Some("Install the helper.".into());
    story.asked.quorum = 2;
    story.asked.not_requester = true;
    check(
        |locale| story.document(locale),
        &expect![[r#"
            Run `curl -s https://get.example.com | sudo sh > /etc/out` [HIGH]
            Why you are asked: High risk: the tool is declared HIGH
            │ curl -s https://get.example.com | sudo sh > /etc/out
            Commands in this line:
            │ curl -s https://get.example.com
              ↳ [MEDIUM]
            │ sh
              ↳ [HIGH] sudo › `sudo` runs commands as another user
            Writes: /etc/out [HIGH]: `/etc/out` may be outside the workspace

            Asked by: coder › reviewer
            On behalf of: lin
            Agent's note:
            │ Install the helper.
            Arguments:
            │ command: "curl -s https://get.example.com | sudo sh > /etc/out"

            Approvals: 0/2
            Who may approve: anyone but the requester
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
            执行 `curl -s https://get.example.com | sudo sh > /etc/out` [高]
            审批原因：高风险：该工具被声明为高风险
            │ curl -s https://get.example.com | sudo sh > /etc/out
            包含以下命令：
            │ curl -s https://get.example.com
              ↳ [中]
            │ sh
              ↳ [高] sudo › `sudo` 以其他用户身份运行命令
            写入：/etc/out [高]：`/etc/out` 可能在工作区之外

            发起方：coder › reviewer
            代表：lin
            智能体的说明：
            │ Install the helper.
            参数：
            │ command: "curl -s https://get.example.com | sudo sh > /etc/out"

            已批准：0/2
            审批人限制：发起人不能自己批准
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
fn a_delete_shows_how_many_rows_it_would_touch() {
    let sql = "DELETE FROM users WHERE age > 30";
    let mut story = story("data_modify", json!({"sql": sql}), Risk::Medium);
    story.analysis.facts = vec![Fact {
        kind: FactKind::Statement {
            verb: "DELETE".into(),
            also: vec![],
            category: Category::Write,
            tables: vec!["users".into()],
            text: sql.into(),
        },
        risk: Risk::Medium,
        why: Some(Why::Sql(SqlConcern::OneOfSeveral)),
    }];
    story.asked.evidence = vec![Evidence::Rows {
        statement: sql.into(),
        count: 1234,
    }];
    story.verdict.rule = Some("deletes need a person".into());
    check(
        |locale| story.document(locale),
        &expect![[r#"
            Delete 1234 rows from `users` [MEDIUM]
            Why you are asked: a person decides (rule “deletes need a person”)
            │ DELETE FROM users WHERE age > 30
              ↳ one of several statements
            Rows affected: 1234
            │ DELETE FROM users WHERE age > 30

            Asked by: coder › reviewer
            On behalf of: lin
            Arguments:
            │ sql: "DELETE FROM users WHERE age > 30"

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
            删除 `users` 中的 1234 行 [中]
            审批原因：a person decides（规则“deletes need a person”）
            │ DELETE FROM users WHERE age > 30
              ↳ 多条语句之一
            将影响的行数：1234
            │ DELETE FROM users WHERE age > 30

            发起方：coder › reviewer
            代表：lin
            参数：
            │ sql: "DELETE FROM users WHERE age > 30"

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
fn an_edit_shows_the_difference() {
    let args = json!({"path": "src/a.rs", "old": "let x = 1;\nlet y = 2;", "new": "let x = 3;\nlet y = 2;"});
    let mut story = story("edit", args, Risk::Medium);
    story.analysis.facts = vec![Fact {
        kind: FactKind::Path {
            given: "src/a.rs".into(),
            resolved: "/w/src/a.rs".into(),
            inside: true,
            writes: true,
        },
        risk: Risk::Low,
        why: None,
    }];
    story.asked.evidence = vec![Evidence::Diff {
        path: "src/a.rs".into(),
        before: Some("fn a() {\n\tlet x = 1;\n\tlet y = 2;\n}\n".into()),
        after: Some("fn a() {\n\tlet x = 3;\n\tlet y = 2;\n}".into()),
    }];
    check(
        |locale| story.document(locale),
        &expect![[r#"
            Write `src/a.rs` (+2 -2) [MEDIUM]
            Why you are asked: a person decides
            Writes: src/a.rs → /w/src/a.rs
            changed file src/a.rs:
            │ @@ -1,4 +1,4 @@
            │  fn a() {
            │ -⇥let x = 1;
            │ +⇥let x = 3;
            │  ⇥let y = 2;
            │ -}
            │ +}⟦no line break⟧

            Asked by: coder › reviewer
            On behalf of: lin
            Arguments:
            │ path: "src/a.rs"
            │ new:
            │   let x = 3;
            │   let y = 2;
            │ old:
            │   let x = 1;
            │   let y = 2;

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
            修改 `src/a.rs` (+2 -2) [中]
            审批原因：a person decides
            写入：src/a.rs → /w/src/a.rs
            修改文件 src/a.rs：
            │ @@ -1,4 +1,4 @@
            │  fn a() {
            │ -⇥let x = 1;
            │ +⇥let x = 3;
            │  ⇥let y = 2;
            │ -}
            │ +}⟦无换行⟧

            发起方：coder › reviewer
            代表：lin
            参数：
            │ path: "src/a.rs"
            │ new:
            │   let x = 3;
            │   let y = 2;
            │ old:
            │   let x = 1;
            │   let y = 2;

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
fn a_fetch_shows_the_host() {
    let mut story = story(
        "fetch",
        json!({"url": "https://user:hunter22@169.254.169.254/latest", "headers": {"accept": "*/*"}}),
        Risk::High,
    );
    story.analysis.facts = vec![Fact {
        kind: FactKind::Host {
            host: "169.254.169.254".into(),
            scheme: "https".into(),
            port: Some(443),
        },
        risk: Risk::High,
        why: Some(Why::Url(UrlConcern::Address(AddressConcern::LinkLocal))),
    }];
    story.asked.evidence = vec![Evidence::Failed {
        why: "no preview for requests".into(),
    }];
    check(
        |locale| story.document(locale),
        &expect![[r#"
            Send a request to `https://169.254.169.254` [HIGH]
            Why you are asked: a person decides
            Host: https://169.254.169.254:443: link-local address
            ⚠ The tool could not show the effect: no preview for requests

            Asked by: coder › reviewer
            On behalf of: lin
            Arguments:
            │ url: "https://user:hu...[8-chars-masked]@169.254.169.254/latest"
            │ headers: {
            │   "accept": "*/*"
            │ }
            ⚠ Secrets are hidden here; the call itself is unchanged.

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
            请求 `https://169.254.169.254` [高]
            审批原因：a person decides
            主机：https://169.254.169.254:443：链路本地地址
            ⚠ 工具无法给出预览（原文：“no preview for requests”）

            发起方：coder › reviewer
            代表：lin
            参数：
            │ url: "https://user:hu...[8-chars-masked]@169.254.169.254/latest"
            │ headers: {
            │   "accept": "*/*"
            │ }
            ⚠ 密钥等敏感内容在此已隐藏；实际执行的内容不变。

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
fn a_choice_is_numbered() {
    let request: InteractionRequest = serde_json::from_value(json!({
        "sessionId": "s1", "type": "USER_CHOICE", "title": "Which colour?", "message": "The button needs a colour.",
        "details": "Both are in the palette.", "context": {"page": "home"},
        "options": [
            {"optionId": "blue", "label": "Blue", "action": "CUSTOM", "description": "Calm."},
            {"optionId": "green", "label": "绿色", "action": "CUSTOM"},
            {"optionId": "own", "label": "Another", "action": "PROVIDE_INFO", "requiresInput": true, "inputPrompt": "Which?"},
            {"optionId": "none", "label": "Leave it", "action": "SKIP", "isDefault": true}
        ]
    }))
    .unwrap();
    let request = Box::new(request.checked().unwrap());
    let asked = asked(
        Subject::Request {
            agent: AgentId::new("coder").unwrap(),
            request,
            call: None,
        },
        Risk::Low,
    );
    let view = QuestionView {
        asked: &asked,
        call: None,
        verdict: None,
        findings: None,
        remaining: Millis::from_secs(90),
        votes_so_far: &[],
    };
    check(
        |locale| question(&view, locale),
        &expect![[r#"
            Which colour?
            │ The button needs a colour.

            Asked by: coder
            On behalf of: lin
            Details:
            │ Both are in the palette.
            Context:
            │ page: "home"

            Reply:
            • 1 K7QP — Blue: Calm.
            • 2 K7QP — 绿色
            • 3 K7QP: … — Another: Which?
            • 4 K7QP — Leave it (taken when time runs out)
            Time left: 1 min 30 s"#]],
        &expect![[r#"
            Which colour?
            │ The button needs a colour.

            发起方：coder
            代表：lin
            详情：
            │ Both are in the palette.
            背景：
            │ page: "home"

            回复：
            • 1 K7QP — Blue：Calm.
            • 2 K7QP — 绿色
            • 3 K7QP：… — Another：Which?
            • 4 K7QP — Leave it（超时即采用）
            剩余时间：1 分钟 30 秒"#]],
    );
}

#[test]
fn it_may_have_happened_is_asked_with_its_own_options() {
    let mut story = story("bash", json!({"command": "make deploy"}), Risk::Medium);
    let Subject::Call { call, digest, .. } = story.asked.subject.clone() else {
        panic!()
    };
    story.asked.subject = Subject::UnknownOutcome {
        call,
        digest,
        edited: None,
        judgement: None,
    };
    check(
        |locale| story.document(locale),
        &expect![[r#"
            `bash` may have run already. What now? [MEDIUM]
            Why you are asked: a person decides
            ⚠ Placet stopped between starting this call and recording its result. It may
              have run.
            Arguments:
            │ command: "make deploy"

            Asked by: coder › reviewer
            On behalf of: lin

            Reply:
            • 1 K7QP — Run again: It may happen twice. ⚠
            • 2 K7QP — Treat as done: Continue as if it had succeeded.
            • 3 K7QP — Skip: Continue without it. (taken when time runs out)
            • 4 K7QP — End the run ⚠
            Time left: 5 min"#]],
        &expect![[r#"
            `bash` 可能已经执行过，如何处理？ [中]
            审批原因：a person decides
            ⚠ Placet 在开始执行之后、记录结果之前中断，这一步可能已经执行。
            参数：
            │ command: "make deploy"

            发起方：coder › reviewer
            代表：lin

            回复：
            • 1 K7QP — 再次执行：有可能执行两次。 ⚠
            • 2 K7QP — 视为已完成：按已经成功继续。
            • 3 K7QP — 跳过：跳过它，继续其余工作。（超时即采用）
            • 4 K7QP — 终止任务 ⚠
            剩余时间：5 分钟"#]],
    );
}

/// field.md §6.3: the next approver sees what the editor changed, and what would run is the changed call.
#[test]
fn an_edit_that_others_must_agree_to_is_shown_as_a_change() {
    let mut story = story("deploy", json!({"target": "staging"}), Risk::Medium);
    let Subject::Call { call, answers, .. } = story.asked.subject.clone() else {
        panic!()
    };
    let args = crate::call::Args::from_value(json!({"target": "production"})).unwrap();
    story.asked.subject = Subject::Call {
        call,
        digest: story.call.with_args(args.clone()).digest(),
        answers,
        edited: Some(Box::new(crate::interaction::Edited {
            judgement: None,
            by: crate::ids::PersonId::new("wei").unwrap(),
            args,
        })),
    };
    let text = crate::render::to_text(
        &story.document(Locale::English),
        &crate::render::Surface {
            width: None,
            chars_max: None,
            markup: crate::render::Markup::Plain,
            elsewhere: None,
        },
    )
    .text;
    assert!(text.contains("Changed by: wei"), "{text}");
    let line = |sign: &str, target: &str| {
        text.lines()
            .any(|line| line.starts_with(&format!("│ {sign}")) && line.contains(target))
    };
    assert!(line("-", "staging") && line("+", "production"), "{text}");
}
