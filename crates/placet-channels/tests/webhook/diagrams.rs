//! The diagrams of the approval flow (`approval-flow.md`): every diamond a chat channel passes through, each way out of it.
//!
//! | diagram | diamond | test here | at a terminal (`flow`) |
//! |---|---|---|---|
//! | 完整流程, 配置驱动 | 确认机制已启用?, config.enabled? | `approvals_enabled_or_not` | `diamond_enabled_…` |
//! | 完整流程, 配置驱动 | 工具配置覆盖?, 配置要求确认?, 覆盖值? | `a_tool_override_…`, `an_override_counts_in_strict_mode_too` | `diamond_override_…` |
//! | 完整流程, CLI, 消息, 记忆, 主循环 | 风险级别判断, 需要确认?, 获取风险级别, needsApproval检查 | `low_risk_…` | `diamond_risk_…` |
//! | 完整流程, 记忆 | 会话记忆中已批准?, 找到记录?, 时间戳检查, 在时间窗口内? | `an_approved_medium_call_…` | `diamond_memory_…` |
//! | 完整流程, CLI, 消息 | 是MEDIUM风险? | `an_approved_medium_call_…`, `an_approved_high_call_…` | `diamond_memory_…`, `diamond_risk_…` |
//! | 完整流程, 主循环 | 渠道类型?, CLI渠道?, 消息渠道? | every test here; 其他: `a_channel_that_is_not_connected_…` | every test there |
//! | 完整流程, 主循环, 记忆, 超时 | 用户决策?, 用户确认?, 确认结果?, 处理器响应 | `a_yes_runs_it_…`, `a_refused_call_…` | `diamond_input_check_…` |
//! | CLI | 输入检查 | | `diamond_input_check_…` |
//! | 消息, 主循环 | 是确认回复且有待处理?, setInboundApprovalCheck | `a_reply_is_taken_before_the_queue_…` | |
//! | 主循环 | 有确认管理器? | `a_call_that_is_still_waiting_cannot_be_claimed` | |
//! | 配置驱动 | strictMode? | `strict_asks_…`, `an_override_counts_…` | `diamond_strict_…` |
//! | 超时和错误 | 等待响应 | `a_yes_runs_it_…`, `an_error_on_the_way_…` | `boundary_a_timeout_…` |

use placet_core::call::ToolCall;
use placet_core::ids::ChannelName;
use placet_core::outcome::Nobody;
use placet_core::outcome::{Denial, Outcome};
use placet_engine::{Finished, Proposed};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::house::*;
use crate::platform::{Mood, soon};

impl House {
    /// Runs a call to its end beside the story.
    fn run(&self, call: ToolCall) -> JoinHandle<Finished> {
        let gate = self.engine.gate();
        let run = async |call: ToolCall| Ok(format!("ran {}", call.id));
        tokio::spawn(async move { gate.call(call, run).await.unwrap() })
    }

    /// Whether the platform gets a request for a call; if not, it must be allowed at once.
    async fn asks_about(&self, call: ToolCall) -> bool {
        match self.engine.gate().propose(call).await.unwrap() {
            Proposed::Parked { on, .. } => {
                self.shown(&on).await;
                true
            }
            Proposed::Settled { outcome, .. } => {
                assert!(outcome.permits(), "{outcome:?}");
                false
            }
            Proposed::Known(record) => panic!("{record:?}"),
        }
    }
}

async fn ran(running: JoinHandle<Finished>) -> bool {
    match soon(running).await.unwrap() {
        Finished::Ran { result, .. } => result.ok,
        Finished::NotRun(outcome) => {
            let told = outcome.result_for_model().unwrap();
            assert_eq!(told["executed"], false);
            false
        }
    }
}

/// The two tools of the stories whose risk is not MEDIUM.
const RISKS: &str = "[tools.look]\ncategory = \"read\"\n[tools.wipe]\nrisk = \"HIGH\"\n";

/// 确认机制已启用? (also 配置驱动: config.enabled?)
#[tokio::test]
async fn approvals_enabled_or_not() {
    let on = House::new("").await;
    assert!(on.asks_about(deploy("a", "x")).await);
    let off = House::new("[approval]\nenabled = false\n").await;
    assert!(!off.asks_about(deploy("a", "x")).await);
    assert!(off.platform.so_far().is_empty());
}

/// 工具配置覆盖? 配置要求确认? (also 配置驱动: 有工具覆盖? 覆盖值?)
#[tokio::test]
async fn a_tool_override_asks_or_allows_whatever_the_risk_says() {
    let house = House::new(
        "[approval.tool_overrides]\nlook = true\ndeploy = false\n[tools.look]\ncategory = \"read\"\n",
    )
    .await;
    assert!(house.asks_about(call("a", "look", json!({}))).await);
    assert!(!house.asks_about(deploy("b", "x")).await);
    assert!(
        house.asks_about(call("c", "restart", json!({}))).await,
        "without one, the risk decides"
    );
}

/// 风险级别判断: LOW, MEDIUM, HIGH (also 消息渠道: 需要确认?, 会话记忆: 获取风险级别, 主循环: needsApproval检查)
#[tokio::test]
async fn low_risk_is_not_asked_about_and_medium_and_high_are() {
    let house = House::new(RISKS).await;
    assert!(!house.asks_about(call("a", "look", json!({}))).await);
    assert!(house.asks_about(call("b", "restart", json!({}))).await);
    assert!(house.asks_about(call("c", "wipe", json!({}))).await);
    assert_eq!(house.platform.so_far().len(), 2);
}

/// 会话记忆中已批准? 是MEDIUM风险? 找到记录? 在时间窗口内?
#[tokio::test]
async fn an_approved_medium_call_is_remembered_for_five_minutes_and_no_longer() {
    let house = House::new("").await;
    let running = house.run(deploy("a", "x"));
    house.platform.posts(1).await;
    assert!(house.hear("zoe", "m1", "yes").await);
    assert!(ran(running).await);
    assert!(
        !house.asks_about(deploy("b", "x")).await,
        "found, and within the window"
    );
    assert!(
        house.asks_about(deploy("c", "y")).await,
        "not found: other arguments are another call"
    );
    let elsewhere = call_on("ops", "c2", "ops:zoe", "d", "deploy", json!({ "to": "x" }));
    assert!(house.asks_about(elsewhere).await, "not found: another chat");
    let other_tool = call("f", "restart", json!({ "to": "x" }));
    assert!(house.asks_about(other_tool).await, "not found: another tool");
    house.pass(301);
    assert!(house.asks_about(deploy("e", "x")).await, "found, and out of date");
}

/// 确认结果?: 拒绝 → 返回拒绝, and nothing is remembered as approved
#[tokio::test]
async fn a_refused_call_is_not_remembered_as_approved() {
    let house = House::new("").await;
    house.ask(deploy("a", "x")).await;
    assert!(house.hear("zoe", "m1", "no").await);
    assert!(!house.outcome("a").await.permits());
    let again = house.settle(deploy("b", "x")).await;
    assert!(!again.permits(), "{again:?}");
    let elsewhere = call_on("ops", "c2", "ops:zoe", "c", "deploy", json!({ "to": "x" }));
    assert!(house.asks_about(elsewhere).await);
}

/// 是MEDIUM风险? no: HIGH is asked every time (总是需要确认)
#[tokio::test]
async fn an_approved_high_call_is_asked_about_again() {
    let house = House::new(&format!("{RISKS}{KIM}")).await;
    house.ask(call_for_kim("a", "wipe", json!({}))).await;
    assert!(house.hear_in("kim", "kim", "m1", "yes").await);
    assert!(house.outcome("a").await.permits());
    assert!(house.asks_about(call_for_kim("b", "wipe", json!({}))).await);
}

/// 渠道类型?: 其他 → 无处理器，拒绝 (also 主循环: 消息渠道?)
#[tokio::test]
async fn a_channel_that_is_not_connected_has_nobody_to_ask_and_the_call_is_denied() {
    let house = House::new("").await;
    let outcome = house
        .settle(call_on(
            "whatsapp",
            "c1",
            "whatsapp:zoe",
            "a",
            "deploy",
            json!({}),
        ))
        .await;
    let Outcome::Denied {
        denial: Denial::NobodyToAsk { why },
    } = outcome
    else {
        panic!("{outcome:?}")
    };
    let channel = ChannelName::new("whatsapp").unwrap();
    assert_eq!(why, Nobody::NoChannel { channel });
    assert!(house.platform.so_far().is_empty());
}

/// 用户决策?: 确认, 拒绝, 超时 (also 确认结果?, 用户确认?, 处理器响应, 等待响应: 用户响应到达, 超时触发)
#[tokio::test]
async fn a_yes_runs_it_a_no_and_silence_do_not() {
    let house = House::new("").await;
    let yes = house.run(deploy("yes", "1"));
    house.platform.posts(1).await;
    assert!(house.hear("zoe", "m1", "YES").await);
    assert!(ran(yes).await);

    let asked = |call: &'static str| {
        house
            .platform
            .post(move |post| post.is("question") && post.raw_contains(call))
    };
    let no = house.run(deploy("no", "call-no"));
    asked("call-no").await;
    assert!(house.hear("zoe", "m2", "no").await);
    assert!(!ran(no).await);
    assert!(
        matches!(house.outcome("no").await, Outcome::Rejected { .. }),
        "refused, and recorded as refused"
    );

    let silence = house.run(deploy("silence", "call-silence"));
    asked("call-silence").await;
    house.pass(300);
    assert!(!ran(silence).await);
    assert!(
        matches!(house.outcome("silence").await, Outcome::Expired { .. }),
        "and this one as expired"
    );
}

/// 等待响应: 系统错误 → 拒绝: 错误
#[tokio::test]
async fn an_error_on_the_way_to_the_person_is_a_refusal_of_its_own_kind() {
    let house = House::new("").await;
    house.platform.next(Mood::status(403));
    let running = house.run(deploy("a", "x"));
    assert!(!ran(running).await);
    assert!(matches!(house.outcome("a").await, Outcome::Denied { .. }));
}

/// 是确认回复且有待处理? (setInboundApprovalCheck): 是 → resolve, not queued; 否 → 消息入队
#[tokio::test]
async fn a_reply_is_taken_before_the_queue_and_everything_else_is_queued() {
    let house = House::new("").await;
    assert!(
        !house.hear("zoe", "m1", "yes").await,
        "a yes, and nothing pending"
    );
    let running = house.run(deploy("a", "x"));
    house.platform.posts(1).await;
    assert!(
        !house.hear("eve", "m2", "lunch?").await,
        "pending, and not a reply"
    );
    assert!(house.hear("zoe", "m3", "yes").await, "a reply, and pending");
    assert!(ran(running).await, "though nobody consumed the queue");
    assert_eq!(
        (house.queued().await.as_str(), house.queued().await.as_str()),
        ("yes", "lunch?")
    );
}

/// 有确认管理器? There is no way to a tool past the gate: a call that was not let through cannot be claimed.
#[tokio::test]
async fn a_call_that_is_still_waiting_cannot_be_claimed() {
    let house = House::new("").await;
    house.ask(deploy("a", "x")).await;
    let key = placet_core::interaction::CallKey {
        agent: placet_core::ids::AgentId::new("coder").unwrap(),
        call: placet_core::ids::CallId::new("a").unwrap(),
    };
    assert!(house.engine.gate().claim(&key, None).await.is_err());
    assert!(house.hear("zoe", "m1", "yes").await);
    house.outcome("a").await;
    assert!(house.engine.gate().claim(&key, None).await.is_ok());
    assert!(house.engine.gate().claim(&key, None).await.is_err(), "once");
}

/// strictMode?: 所有非LOW风险确认
#[tokio::test]
async fn strict_asks_about_everything_above_low_and_nothing_below() {
    let config = format!("{RISKS}[approval]\nstrict = true\nmode = \"yolo\"\n");
    let strict = House::new(&config).await;
    assert!(strict.asks_about(deploy("a", "x")).await);
    assert!(!strict.asks_about(call("b", "look", json!({}))).await);
    let relaxed = House::new(&config.replace("strict = true", "strict = false")).await;
    assert!(
        !relaxed.asks_about(deploy("a", "x")).await,
        "yolo, without strict"
    );
}

/// strictMode? → 有工具覆盖? → 覆盖值?: false → 直接执行, true → 请求确认
#[tokio::test]
async fn an_override_counts_in_strict_mode_too() {
    let house = House::new(
        "[approval]\nstrict = true\n[approval.tool_overrides]\ndeploy = false\nlook = true\n[tools.look]\ncategory = \"read\"\n",
    )
    .await;
    assert!(!house.asks_about(deploy("a", "x")).await);
    assert!(house.asks_about(call("b", "look", json!({}))).await);
}
