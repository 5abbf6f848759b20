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
