//! Settled questions in both languages.

use expect_test::expect;

use super::*;
use crate::interaction::{Action, Ballot, Cancellation, Resolution, Shown};
use crate::principal::Via;
use crate::time::Timestamp;

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
            let document = decided(&story.asked, resolution, Timestamp::from_millis(0), locale);
            to_text(&document, &surface(Markup::Plain)).text
        });
        texts.collect::<Vec<_>>().join("\n---\n")
    };
    expect![[r"
        Approved by lin, wei.

        At: 1970-01-01T00:00:00.000Z
        Question: K7QP
        ---
        Rejected by lin, wei.

        At: 1970-01-01T00:00:00.000Z
        Question: K7QP
        In their words:
        │ not today
        ---
        lin, wei answered: info.

        At: 1970-01-01T00:00:00.000Z
        Question: K7QP
        ---
        Expired: nobody answered in time. It was not run.

        At: 1970-01-01T00:00:00.000Z
        Question: K7QP
        ---
        Expired: nobody answered in time. The default `none` was taken.

        At: 1970-01-01T00:00:00.000Z
        Question: K7QP
        ---
        Cancelled: the run was ended.

        At: 1970-01-01T00:00:00.000Z
        Question: K7QP
        ---
        Replaced by another question: int_2.

        At: 1970-01-01T00:00:00.000Z
        Question: K7QP"]]
    .assert_eq(&text(Locale::English));
    expect![[r"
        lin、wei 已批准。

        时间：1970-01-01T00:00:00.000Z
        问题：K7QP
        ---
        lin、wei 已拒绝。

        时间：1970-01-01T00:00:00.000Z
        问题：K7QP
        附言：
        │ not today
        ---
        lin、wei 已回答：info。

        时间：1970-01-01T00:00:00.000Z
        问题：K7QP
        ---
        已超时：无人在期限内回答。未执行。

        时间：1970-01-01T00:00:00.000Z
        问题：K7QP
        ---
        已超时：无人在期限内回答，已采用默认选项 `none`。

        时间：1970-01-01T00:00:00.000Z
        问题：K7QP
        ---
        已取消：任务已终止。

        时间：1970-01-01T00:00:00.000Z
        问题：K7QP
        ---
        已被另一个问题取代：int_2。

        时间：1970-01-01T00:00:00.000Z
        问题：K7QP"]]
    .assert_eq(&text(Locale::Chinese));
}
