//! The boundary table of the channel-confirmation design (`channel-confirmation.md`, 边界情况), row by row, and its flow.
//!
//! | row | test here | at a terminal (`flow`) |
//! |---|---|---|
//! | 用户回复其他内容 | `any_other_reply_is_a_refusal_…`, `any_other_reply_reaches_the_agent_where_so_configured_…` | `boundary_anything_else_…` |
//! | 超时（5 分钟内无回复） | `after_five_minutes_…` | `boundary_a_timeout_…`, `boundary_a_question_has_sixty_seconds` |
//! | 多会话 | `sessions_wait_independently` | `boundary_sessions_are_independent_…` |
//! | 用户在其他会话中回复「确认」 | `a_confirmation_in_another_chat_…` | |
//! | 流程示意, 消息路由 | `a_confirmed_deletion_runs_once_…` | |
//! | 解析确认/取消 | `every_word_of_the_page_…` | `diamond_input_check_…` |
//! | `_current_msg` is `None` | `people::a_chat_whose_user_is_not_known_…` | |

use placet_core::call::ToolCall;
use placet_core::interaction::Resolution;
use placet_core::messages::closed;
use placet_core::outcome::Outcome;
use placet_engine::Finished;
use serde_json::json;

use crate::house::*;
use crate::platform::soon;

/// The flow of the page (流程示意): asked in the chat, confirmed there, run, and the reply never reaches the agent.
#[tokio::test]
async fn a_confirmed_deletion_runs_once_and_the_agent_never_sees_the_reply() {
    let house = House::new("").await;
    let delete = call(
        "c",
        "data_modify",
        json!({ "sql": "DELETE FROM orders WHERE status = 1" }),
    );
    let gate = house.engine.gate();
    let run = async |_: ToolCall| Ok("3 rows deleted".to_owned());
    let running = tokio::spawn(async move { gate.call(delete, run).await });
    let question = house.platform.post(|post| post.is("question")).await;
    assert!(
        question.text().contains("DELETE FROM orders WHERE status = 1"),
        "{}",
        question.text()
    );
    assert!(house.hear("zoe", "m1", "确认").await);
    match soon(running).await.unwrap().unwrap() {
        Finished::Ran { result, .. } => assert_eq!(result.output, "3 rows deleted"),
        Finished::NotRun(outcome) => panic!("{outcome:?}"),
    }
    assert!(!house.hear("zoe", "m2", "thanks").await);
    assert_eq!(
        house.queued().await,
        "thanks",
        "and 确认 was not queued before it"
    );
}

/// 用户回复其他内容（非确认/取消）: 视为取消（安全）。消息被 resolve 消费，不转发。
#[tokio::test]
async fn any_other_reply_is_a_refusal_consumed_and_not_passed_on() {
    let house = House::new("[approval]\nrejections_max = 100\n").await;
    for said in [
        "不确认",
        "not ok",
        "why?",
        "maybe later",
        "today",
        "拒绝执行",
        "查一下订单",
    ] {
        let id = house.ask(deploy(said, said)).await;
        assert!(house.hear("zoe", said, said).await, "{said}");
        assert!(!house.is_open(&id).await, "{said}");
        let outcome = house.outcome(said).await;
        assert!(matches!(outcome, Outcome::Rejected { .. }), "{said}: {outcome:?}");
    }
    assert!(!house.hear("zoe", "last", "hello").await);
    assert_eq!(house.queued().await, "hello", "none of the replies was passed on");
}

/// 解析确认/取消: `CONFIRM_KEYWORDS` and `CANCEL_KEYWORDS`, each as a whole message, in any case.
#[tokio::test]
async fn every_word_of_the_page_confirms_or_cancels() {
    let house = House::new("[approval]\nrejections_max = 100\nmemory = \"0s\"\n").await;
    let words = [
        ("确认 confirm yes y ok 批准 执行 YES Ok", true),
        ("取消 cancel no n 拒绝 不 NO Cancel", false),
    ];
    for (said, permits) in words
        .into_iter()
        .flat_map(|(words, permits)| words.split(' ').map(move |word| (word, permits)))
    {
        house.ask(deploy(said, said)).await;
        assert!(house.hear("zoe", said, said).await, "{said}");
        assert_eq!(house.outcome(said).await.permits(), permits, "{said}");
    }
}

/// The same row where the operator wants other replies to reach the agent.
#[tokio::test]
async fn any_other_reply_reaches_the_agent_where_so_configured_and_the_question_stays_open() {
    let house = House::new("[approval]\non_other_reply = \"queue\"\n").await;
    let id = house.ask(deploy("c", "staging")).await;
    assert!(!house.hear("zoe", "m1", "what does it cost?").await);
    assert_eq!(house.queued().await, "what does it cost?");
    assert!(house.is_open(&id).await);
}

/// 超时（5 分钟内无回复）: 工具返回「操作已取消（超时）」.
#[tokio::test]
async fn after_five_minutes_without_a_reply_it_has_expired_and_was_not_refused() {
    let house = House::new("").await;
    let id = house.ask(deploy("c", "staging")).await;
    house.pass(299);
    assert!(house.is_open(&id).await);
    house.pass(1);
    let outcome = house.outcome("c").await;
    assert!(matches!(outcome, Outcome::Expired { .. }), "{outcome:?}");
    let resolution = house.engine.broker().wait(&id).await.unwrap();
    assert!(matches!(resolution, Some(Resolution::Expired { .. })));
    let told = house.platform.post(|post| post.is("decided")).await;
    assert_eq!(told.json["resolution"], "expired");
    assert!(
        told.text().contains(&closed::expired_not_run().to_string()),
        "{}",
        told.text()
    );
    assert!(
        !house.hear("zoe", "m1", "yes").await,
        "too late: an ordinary message"
    );
    assert!(!house.outcome("c").await.permits());
}

/// 多会话: 每个 `session_key` 独立待确认，互不干扰.
#[tokio::test]
async fn sessions_wait_independently() {
    let house = House::new("").await;
    let a = house
        .ask(call_on(
            "ops",
            "c1",
            "ops:zoe",
            "a",
            "deploy",
            json!({ "to": "x" }),
        ))
        .await;
    let b = house
        .ask(call_on(
            "ops",
            "c2",
            "ops:zoe",
            "b",
            "deploy",
            json!({ "to": "x" }),
        ))
        .await;
    assert!(house.hear_in("c2", "zoe", "m1", "取消").await);
    assert!(matches!(house.outcome("b").await, Outcome::Rejected { .. }));
    assert!(house.is_open(&a).await && !house.is_open(&b).await);
    assert!(
        house.hear_in("c1", "zoe", "m2", "确认").await,
        "one is open there, so no code is needed"
    );
    assert!(house.outcome("a").await.permits());
}

/// 用户在其他会话中回复「确认」: `session_key` 含 `channel+chat_id`，仅同一会话的回复会匹配.
#[tokio::test]
async fn a_confirmation_in_another_chat_confirms_nothing_here() {
    let house = House::new("").await;
    let id = house.ask(deploy("c", "staging")).await;
    assert!(
        !house.hear_in("c2", "zoe", "m1", "确认").await,
        "nothing is open there"
    );
    let code = house.code(&id).await;
    house.hear_in("c2", "zoe", "m2", &format!("确认 {code}")).await;
    assert!(house.is_open(&id).await, "nor with its code");
    assert!(house.hear("zoe", "m3", "确认").await);
    assert!(house.outcome("c").await.permits());
}
