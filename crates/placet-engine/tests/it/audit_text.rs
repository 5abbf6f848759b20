//! The journal in words: what is told is what happened, in the reader's language.

use placet_core::interaction::Locale;
use placet_core::journal::CallResult;
use placet_core::listing::JournalPage;
use placet_core::messages::audit;
use placet_engine::{Engine, audit_text};
use serde_json::json;

use crate::support::*;

/// The sentences of the rows of a kind, oldest first.
async fn told(engine: &Engine, kind: &'static str, locale: Locale) -> Vec<String> {
    let all = JournalPage::of_all(0, 1000);
    let read = engine.store().look(|stored| {
        let rows = stored.journal(&all)?;
        let wanted = rows.iter().filter(|row| row.event.name() == kind);
        Ok(wanted
            .map(|row| audit_text::sentence(stored, &row.event, locale).to_string())
            .collect())
    });
    read.await.unwrap()
}

async fn only(engine: &Engine, kind: &'static str) -> String {
    let told = told(engine, kind, Locale::English).await;
    assert_eq!(told.len(), 1, "{told:?}");
    told[0].clone()
}

#[tokio::test]
async fn what_ran_is_told_as_a_person_changed_it_and_not_as_it_was_proposed() {
    let house = House::new();
    let engine = house.open("").await;
    let changed = edit("lin", json!({ "to": "staging" }));
    decide(&engine, deploy("c", "production"), changed).await;
    let running = engine.gate().claim(&key("c"), None).await.unwrap();
    let result = CallResult::new(true, "done");
    engine.gate().finish(running.key(), result).await.unwrap();
    for (kind, sentence) in [
        (
            "resolved",
            "lin approved, with changes, “Run `deploy`: `to: production`” (c)",
        ),
        (
            "settled",
            "“Run `deploy`: `to: production`” (c): approved by lin with changes: “Run `deploy`: `to: staging`”, MEDIUM risk",
        ),
        ("claimed", "“Run `deploy`: `to: staging`” (c) is about to run"),
        (
            "finished",
            "“Run `deploy`: `to: staging`” (c) ran (4 bytes of output)",
        ),
    ] {
        assert_eq!(only(&engine, kind).await, sentence);
    }
}

#[tokio::test]
async fn what_may_have_run_is_told_as_a_person_changed_it_whatever_becomes_of_it() {
    let house = House::new();
    let engine = house.open("").await;
    let changed = edit("lin", json!({ "to": "staging" }));
    decide(&engine, deploy("c", "production"), changed).await;
    drop(engine.gate().claim(&key("c"), None).await.unwrap());
    engine.shutdown().await.unwrap();
    let engine = house.open("").await;
    let lost = audit::lost_track("“Run `deploy`: `to: staging`” (c)").to_string();
    assert_eq!(only(&engine, "lostTrack").await, lost);
    let asked = told(&engine, "asked", Locale::English).await;
    let back = "asked the inbox about the unknown outcome of “Run `deploy`: `to: staging`” (c)";
    assert!(asked[1].starts_with(back), "{asked:?}");

    let id = open(&engine).await[0].clone();
    say(&engine, &id, choice("lin", "skip")).await.unwrap();
    assert_eq!(only(&engine, "lostTrack").await, lost);
    let claimed = "“Run `deploy`: `to: staging`” (c) is about to run";
    assert_eq!(only(&engine, "claimed").await, claimed);
}

#[tokio::test]
async fn in_chinese_nothing_but_names_is_left_in_english() {
    let house = House::new();
    let engine = house.open("[tools.wipe]\nrisk = \"HIGH\"\n").await;
    let id = park(&engine, call("c", "wipe", json!({ "disk": "a" }))).await;
    let denied = in_chat(deploy("d", "x"), &chat("feishu", "oc_1"), Some("feishu:ou_zoe"));
    settle(&engine, denied).await;
    assert_eq!(
        told(&engine, "callReceived", Locale::Chinese).await,
        [
            "coder 请求 “执行 `wipe`” (c)：需审批（步骤 5 高风险）",
            "coder 请求 “执行 `deploy`: `to: x`” (d)：需审批（步骤 13 交由人决定）；已拒绝（没有可用的审批人）",
        ]
    );
    assert_eq!(
        told(&engine, "asked", Locale::Chinese).await,
        [format!("就 “执行 `wipe`” (c) 询问 所有审批人：{id}，高风险")]
    );
}
