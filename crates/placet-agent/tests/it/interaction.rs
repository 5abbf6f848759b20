//! The flows of the interaction document, by name: the four-option approval, the three examples, and the normal flow.

use placet_agent::Tools;
use serde_json::{Value, json};

use crate::support::{House, calls, last, names, next, on, question, rest, says, session, shown};

fn deletion() -> Value {
    calls(&[("bash", json!({ "command": "rm old.txt && echo gone" }))])
}

#[tokio::test]
async fn normal_execution_flow() {
    let house = House::new();
    house.put("notes.txt", "buy tea");
    let home = house
        .open(json!([
            calls(&[("read", json!({ "path": "notes.txt" }))]),
            says("The notes say: buy tea.")
        ]))
        .await;
    let mut stream = home.say("What do the notes say?").await;
    let events = rest(&mut stream).await;
    assert_eq!(
        names(&events),
        [
            "STARTED",
            "THINKING",
            "ACTION",
            "OBSERVATION",
            "THINKING",
            "COMPLETED"
        ]
    );
    assert_eq!(last(&events, "OBSERVATION")["output"], "buy tea");
    assert_eq!(last(&events, "COMPLETED")["text"], "The notes say: buy tea.");
    home.close().await;
}

#[tokio::test]
async fn tool_approval_with_four_options_同意执行() {
    let house = House::new();
    house.put("old.txt", "x");
    let home = house.open(json!([deletion(), says("Deleted.")])).await;
    let mut stream = home.say("Delete old.txt").await;
    let asked = question(&mut stream).await;
    let offered: Vec<&str> = asked
        .options
        .iter()
        .map(|option| option.option_id.as_str())
        .collect();
    for option in ["approve", "retry", "reject", "terminate"] {
        assert!(offered.contains(&option), "{offered:?}");
    }
    assert!(shown(&asked).contains("rm old.txt"), "{}", shown(&asked));
    assert!(house.file("old.txt").is_some(), "nothing runs before the answer");
    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(
        names(&events),
        ["INTERACTION_RESOLVED", "OBSERVATION", "THINKING", "COMPLETED"]
    );
    assert_eq!(last(&events, "OBSERVATION")["output"], "gone\n");
    assert!(house.file("old.txt").is_none());
    home.close().await;
}

#[tokio::test]
async fn tool_approval_with_four_options_重新执行() {
    let house = House::new();
    house.put("old.txt", "x");
    let again = calls(&[("bash", json!({ "command": "mv old.txt kept.txt" }))]);
    let home = house
        .open(json!([deletion(), on("move it", again), says("Moved.")]))
        .await;
    let mut stream = home.say("Get rid of old.txt").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "retry", Some("move it instead")).await;
    let second = question(&mut stream).await;
    assert!(shown(&second).contains("mv old.txt kept.txt"));
    home.answer(&second, "approve", None).await;
    rest(&mut stream).await;
    assert_eq!(house.file("kept.txt").as_deref(), Some("x"));
    home.close().await;
}

#[tokio::test]
async fn tool_approval_with_four_options_拒绝并说明理由() {
    let house = House::new();
    house.put("old.txt", "x");
    let home = house
        .open(json!([
            deletion(),
            on("needed for the audit", says("I left it."))
        ]))
        .await;
    let mut stream = home.say("Delete old.txt").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "reject", Some("needed for the audit")).await;
    let events = rest(&mut stream).await;
    assert_eq!(
        last(&events, "OBSERVATION")["output"]["outcome"],
        "rejected_by_person"
    );
    assert_eq!(last(&events, "COMPLETED")["text"], "I left it.");
    assert!(house.file("old.txt").is_some());
    home.close().await;
}

#[tokio::test]
async fn tool_approval_with_four_options_拒绝并终止对话() {
    let house = House::new();
    house.put("old.txt", "x");
    let home = house
        .open(json!([deletion(), says("I should never say this.")]))
        .await;
    let mut stream = home.say("Delete old.txt").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "terminate", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(
        names(&events),
        ["INTERACTION_RESOLVED", "OBSERVATION", "COMPLETED"]
    );
    assert_eq!(last(&events, "COMPLETED")["how"], "terminated");
    assert!(house.file("old.txt").is_some());
    assert!(home.agent.resume_point(&session("s")).await.unwrap().is_none());
    home.close().await;
}

/// 示例1：缺少 API Key
#[tokio::test]
async fn example_1_a_missing_api_key_is_provided_or_skipped() {
    let ask = calls(&[(
        "askUserQuestion",
        json!({
            "type": "MISSING_INFO", "title": "缺少 API Key", "message": "执行该工具需要 OpenWeather API Key",
            "options": [
                {"optionId": "provide", "label": "提供 API Key", "description": "输入您的 API Key",
                 "action": "PROVIDE_INFO", "requiresInput": true, "inputPrompt": "请输入 OpenWeather API Key"},
                {"optionId": "skip", "label": "跳过该工具", "description": "跳过天气查询，继续其他任务", "action": "SKIP"},
            ],
        }),
    )]);
    for (option, feedback, heard) in [
        ("provide", Some("k-123"), "information_provided"),
        ("skip", None, "skipped_by_person"),
    ] {
        let house = House::new();
        let home = house.open(json!([ask, on(heard, says("Understood."))])).await;
        let mut stream = home.say("How is the weather?").await;
        let asked = question(&mut stream).await;
        assert_eq!(json!(asked.kind), "MISSING_INFO");
        assert_eq!(asked.title, "缺少 API Key");
        home.answer(&asked, option, feedback).await;
        let events = rest(&mut stream).await;
        assert_eq!(last(&events, "COMPLETED")["text"], "Understood.", "{option}");
        if let Some(given) = feedback {
            assert_eq!(last(&events, "OBSERVATION")["output"]["feedback"], given);
        }
        home.close().await;
    }
}

/// The model reads the key; the journal holds it sealed.
#[tokio::test]
async fn a_key_given_as_an_answer_reaches_the_model_and_not_the_journal() {
    let ask = calls(&[(
        "askUserQuestion",
        json!({
            "type": "MISSING_INFO", "title": "缺少 API Key", "message": "执行该工具需要 OpenWeather API Key",
            "options": [{"optionId": "provide", "label": "提供 API Key", "action": "PROVIDE_INFO",
                "requiresInput": true, "inputSecret": true, "inputPrompt": "请输入 OpenWeather API Key"}],
        }),
    )]);
    let house = House::new();
    let home = house
        .open(json!([ask, on("quiet river 4711", says("Understood."))]))
        .await;
    let mut stream = home.say("How is the weather?").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "provide", Some("quiet river 4711")).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "Understood.");
    assert!(!format!("{events:?}").contains("quiet river"), "{events:?}");
    home.close().await;
    let journal = std::fs::read(house.store()).unwrap();
    assert!(!journal.windows(11).any(|window| window == b"quiet river"));
}

/// 示例2：用户确认（删除文件）
#[tokio::test]
async fn example_2_a_deletion_is_confirmed_or_cancelled() {
    let ask = calls(&[(
        "askUserQuestion",
        json!({
            "type": "USER_CONFIRMATION", "title": "确认删除文件", "message": "即将删除文件: /path/to/file.txt",
            "details": "此操作不可撤销，请谨慎操作",
            "options": [
                {"optionId": "confirm", "label": "确认删除", "description": "删除该文件",
                 "action": "APPROVE_AND_EXECUTE", "isDangerous": true},
                {"optionId": "cancel", "label": "取消", "description": "不删除文件", "action": "REJECT_WITH_REASON"},
            ],
        }),
    )]);
    for (option, heard) in [("confirm", "确认删除"), ("cancel", "rejected_by_person")] {
        let house = House::new();
        let home = house.open(json!([ask, on(heard, says("As you wish."))])).await;
        let mut stream = home.say("Delete the file").await;
        let asked = question(&mut stream).await;
        assert_eq!(asked.details.as_deref(), Some("此操作不可撤销，请谨慎操作"));
        home.answer(&asked, option, None).await;
        let events = rest(&mut stream).await;
        assert_eq!(last(&events, "COMPLETED")["text"], "As you wish.", "{option}");
        home.close().await;
    }
}

/// 示例3：用户选择（多个方案）
#[tokio::test]
async fn example_3_one_of_several_plans_is_chosen_or_the_agent_thinks_again() {
    let plan = |id: &str, label: &str, description: &str, plan: &str| {
        json!({"optionId": id, "label": label, "description": description, "action": "APPROVE_AND_EXECUTE",
            "metadata": {"plan": plan}})
    };
    let ask = calls(&[(
        "askUserQuestion",
        json!({
            "type": "USER_CHOICE", "title": "选择实现方案", "message": "Agent 提供了3个实现方案，请选择一个",
            "options": [
                plan("plan-a", "方案A：使用 Redis 缓存", "性能最好，但需要额外的 Redis 服务", "redis"),
                plan("plan-b", "方案B：使用本地缓存", "实现简单，但性能一般", "local"),
                plan("plan-c", "方案C：不使用缓存", "最简单，但性能最差", "none"),
                {"optionId": "rethink", "label": "让 Agent 重新思考",
                 "description": "这些方案都不满意，让 Agent 提供其他方案", "action": "RETRY_WITH_FEEDBACK", "requiresInput": true, "inputPrompt": "请说明您的需求"},
            ],
        }),
    )]);
    let house = House::new();
    let home = house
        .open(json!([ask, ask, on("local", says("本地缓存。"))]))
        .await;
    let mut stream = home.say("给接口加缓存").await;
    let first = question(&mut stream).await;
    home.answer(&first, "rethink", Some("不要新的服务")).await;
    let second = question(&mut stream).await;
    home.answer(&second, "plan-b", None).await;
    let events = rest(&mut stream).await;
    let output = &last(&events, "OBSERVATION")["output"];
    assert_eq!(output["data"]["selectedOptionId"], "plan-b");
    assert_eq!(output["data"]["metadata"]["plan"], "local");
    assert_eq!(last(&events, "COMPLETED")["text"], "本地缓存。");
    home.close().await;
}

#[tokio::test]
async fn the_tools_own_description_is_shown_as_text_of_another_party() {
    let house = House::new();
    let home = house.open(json!([deletion(), says("ok")])).await;
    let mut stream = home.say("Delete old.txt").await;
    let asked = question(&mut stream).await;
    let described = Tools::builtin(&house.work())
        .get("bash")
        .unwrap()
        .description()
        .to_owned();
    assert_eq!(asked.context["toolDescription"], described);
    let first: String = described.chars().take(20).collect();
    let quoted = format!("Tool description:\n│ {first}");
    assert!(shown(&asked).contains(&quoted), "{}", shown(&asked));
    assert_ne!(asked.context.get("purpose"), asked.context.get("toolDescription"));
    home.answer(&asked, "reject", None).await;
    rest(&mut stream).await;
    home.close().await;
}

#[tokio::test]
async fn a_parked_run_has_a_resume_point_with_the_names_of_the_document() {
    let house = House::new();
    let home = house.open(json!([deletion(), says("ok")])).await;
    let mut stream = home.say("Delete old.txt").await;
    let asked = question(&mut stream).await;
    let point = home.agent.resume_point(&session("s")).await.unwrap().unwrap();
    let point = serde_json::to_value(point).unwrap();
    assert_eq!(point["sessionId"], "s");
    assert_eq!(point["originalTask"], "Delete old.txt");
    assert_eq!(point["currentIteration"], 1);
    assert_eq!(point["pausedStage"], "ACTION");
    assert_eq!(point["interactionRequest"]["requestId"], json!(asked.request_id));
    home.answer(&asked, "reject", None).await;
    while next(&mut stream).await.is_some() {}
    home.close().await;
}
