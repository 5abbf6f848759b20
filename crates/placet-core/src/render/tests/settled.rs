//! Settled questions in both languages.

use expect_test::expect;

use super::*;
use crate::interaction::{Action, Ballot, Cancellation, Resolution, Resolved, Shown};
use crate::principal::Via;
use crate::time::Timestamp;

fn resolved(story: &Story, resolution: &Resolution) -> Resolved {
    Resolved {
        asked: story.asked.clone(),
        resolution: resolution.clone(),
        at: Timestamp::from_millis(0),
    }
}

fn approved_by(name: &str) -> Resolution {
    let by = PersonId::new(name).unwrap();
    Resolution::Answered {
        ballot: Box::new(Ballot {
            by: by.clone(),
            via: Via::Inbox,
            option: "approve".into(),
            feedback: None,
            data: None,
            instruction: None,
            shown: Shown::Program,
        }),
        action: Action::ApproveAndExecute,
        by: vec![by],
    }
}

#[test]
fn what_an_approver_changed_stays_with_the_decision() {
    let story = story("scale", json!({"replicas": 50}), Risk::Medium);
    let after = Args::from_value(json!({"replicas": 5})).unwrap();
    let text = |locale| {
        let change = Some((&story.call.args, &after));
        let document = decided(&resolved(&story, &approved_by("lin")), change, locale);
        to_text(&document, &surface(Markup::Plain)).text
    };
    expect![[r#"
        Approved with changes by lin.

        At: 1970-01-01T00:00:00.000Z
        Request: K7QP
        Changed arguments:
        │ @@ -1,3 +1,3 @@
        │  {
        │ -  "replicas": 50
        │ +  "replicas": 5
        │  }"#]]
    .assert_eq(&text(Locale::English));
    expect![[r#"
        lin 修改后批准。

        时间：1970-01-01T00:00:00.000Z
        请求：K7QP
        修改后的参数：
        │ @@ -1,3 +1,3 @@
        │  {
        │ -  "replicas": 50
        │ +  "replicas": 5
        │  }"#]]
    .assert_eq(&text(Locale::Chinese));
}

#[test]
fn a_decision_that_ran_nothing_shows_no_change() {
    let story = story("scale", json!({"replicas": 50}), Risk::Medium);
    let after = Args::from_value(json!({"replicas": 5})).unwrap();
    let expired = resolved(&story, &Resolution::Expired { option: None });
    let with = decided(&expired, Some((&story.call.args, &after)), Locale::English);
    assert_eq!(with, decided(&expired, None, Locale::English));
}

#[test]
fn a_settled_question_says_who_decided_what_and_expired_says_expired() {
    let story = story("bash", json!({"command": "ls"}), Risk::Medium);
    let people = ["lin", "wei"].map(|name| PersonId::new(name).unwrap());
    let answered = |option: &str, action, feedback: Option<&str>| Resolution::Answered {
        ballot: Box::new(Ballot {
            by: people[0].clone(),
            via: Via::Inbox,
            option: option.into(),
            feedback: feedback.map(str::to_owned),
            data: None,
            instruction: None,
            shown: Shown::Program,
        }),
        action,
        by: people.to_vec(),
    };
    let resolutions = [
        answered("approve", Action::ApproveAndExecute, None),
        answered("reject", Action::RejectWithReason, Some("not today")),
        answered("info", Action::ProvideInfo, None),
        Resolution::Expired { option: None },
        Resolution::Expired {
            option: Some("none".into()),
        },
        Resolution::Cancelled {
            why: Cancellation::Terminated,
        },
        Resolution::Superseded {
            by: InteractionId::new("int_2").unwrap(),
        },
    ];
    let text = |locale| {
        let texts = resolutions.iter().map(|resolution| {
            let document = decided(&resolved(&story, resolution), None, locale);
            to_text(&document, &surface(Markup::Plain)).text
        });
        texts.collect::<Vec<_>>().join("\n---\n")
    };
    expect![[r"
        Approved by lin and wei.

        At: 1970-01-01T00:00:00.000Z
        Request: K7QP
        ---
        Rejected by lin and wei.

        At: 1970-01-01T00:00:00.000Z
        Request: K7QP
        Note:
        │ not today
        ---
        lin and wei answered: `info`.

        At: 1970-01-01T00:00:00.000Z
        Request: K7QP
        ---
        Expired without a decision. It was not run.

        At: 1970-01-01T00:00:00.000Z
        Request: K7QP
        ---
        Expired. Default taken: `none`.

        At: 1970-01-01T00:00:00.000Z
        Request: K7QP
        ---
        Cancelled: the run was ended.

        At: 1970-01-01T00:00:00.000Z
        Request: K7QP
        ---
        Replaced by another request: int_2.

        At: 1970-01-01T00:00:00.000Z
        Request: K7QP"]]
    .assert_eq(&text(Locale::English));
    expect![[r"
        lin 和 wei 已批准。

        时间：1970-01-01T00:00:00.000Z
        请求：K7QP
        ---
        lin 和 wei 已拒绝。

        时间：1970-01-01T00:00:00.000Z
        请求：K7QP
        附言：
        │ not today
        ---
        lin 和 wei 已回答：`info`。

        时间：1970-01-01T00:00:00.000Z
        请求：K7QP
        ---
        已过期，无人处理，未执行。

        时间：1970-01-01T00:00:00.000Z
        请求：K7QP
        ---
        已过期，已采用默认选项：`none`。

        时间：1970-01-01T00:00:00.000Z
        请求：K7QP
        ---
        已取消：任务已终止。

        时间：1970-01-01T00:00:00.000Z
        请求：K7QP
        ---
        已由另一个请求取代：int_2。

        时间：1970-01-01T00:00:00.000Z
        请求：K7QP"]]
    .assert_eq(&text(Locale::Chinese));
}
