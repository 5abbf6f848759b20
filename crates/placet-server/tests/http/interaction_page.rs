//! The page of the interaction document against questions of any agent, with or without a model: what it renders, what it sends back,
//! what it is told.

use serde_json::{Value, json};

use crate::house::{Answer, House};

const RESPONSE: &str = "/api/agent/chat/react/interaction_response";

/// 示例2, as the document prints it.
fn deletion(required: bool) -> Value {
    json!({
        "sessionId": "session-123", "type": "USER_CONFIRMATION", "title": "确认删除文件",
        "message": "即将删除文件: /path/to/file.txt", "details": "此操作不可撤销，请谨慎操作", "required": required,
        "options": [
            {"optionId": "confirm", "label": "确认删除", "description": "删除该文件",
             "action": "APPROVE_AND_EXECUTE", "isDangerous": true},
            {"optionId": "cancel", "label": "取消", "description": "不删除文件", "action": "REJECT_WITH_REASON"},
        ],
    })
}

async fn asked(house: &House, request: Value) -> Value {
    let asked = house
        .post(&house.token("agent"), "/v1/interactions", request)
        .await;
    assert!(asked.status < 300, "{}", asked.text);
    let id = asked.json()["requestId"].as_str().unwrap().to_owned();
    shown(house, &id).await
}

async fn shown(house: &House, id: &str) -> Value {
    house
        .get(&house.token("approver"), &format!("/v1/interactions/{id}"))
        .await
        .ok()
}

/// `handleUserResponse` of the document.
async fn responds(house: &House, request: &Value, option: &str, feedback: Option<&str>) -> Answer {
    let body = json!({
        "sessionId": request["sessionId"], "requestId": request["requestId"],
        "selectedOptionId": option, "feedback": feedback, "data": {},
    });
    house.post(&house.token("approver"), RESPONSE, body).await
}

fn option<'v>(request: &'v Value, id: &str) -> Option<&'v Value> {
    request["options"]
        .as_array()
        .unwrap()
        .iter()
        .find(|option| option["optionId"] == id)
}

#[tokio::test]
async fn interaction_response_answers_every_pending_question_the_caller_may_answer_without_a_model() {
    let house = House::plain().await;
    let request = asked(&house, deletion(true)).await;
    assert_eq!(request["message"], "即将删除文件: /path/to/file.txt");
    assert_eq!(request["details"], "此操作不可撤销，请谨慎操作");
    let taken = responds(&house, &request, "cancel", None).await.ok();
    assert_eq!(taken["success"], true, "{taken}");
    assert_eq!(taken["sessionId"], "session-123");
    assert!(
        taken["message"].is_string() && taken["timestamp"].is_string(),
        "{taken}"
    );
    let settled = shown(&house, request["requestId"].as_str().unwrap()).await;
    assert_eq!(settled["resolution"]["option"], "cancel", "{settled}");
    house.close().await;
}

/// The three requests of the document, field by field, each answered with `handleUserResponse` of its page.
#[tokio::test]
async fn the_three_examples_as_the_document_prints_them_are_asked_and_answered_on_its_page() {
    let house = House::plain().await;
    let example = |id: &str, kind: &str, title: &str, message: &str, options: Value| {
        json!({"requestId": id, "sessionId": "session-123", "type": kind, "title": title, "message": message,
            "options": options})
    };
    let plan = |id: &str, label: &str, description: &str, plan: &str| {
        json!({"optionId": id, "label": label, "description": description, "action": "APPROVE_AND_EXECUTE",
            "metadata": {"plan": plan}})
    };
    let key = json!([
        {"optionId": "provide", "label": "提供 API Key", "description": "输入您的 API Key", "action": "PROVIDE_INFO",
         "requiresInput": true, "inputPrompt": "请输入 OpenWeather API Key"},
        {"optionId": "skip", "label": "跳过该工具", "description": "跳过天气查询，继续其他任务", "action": "SKIP"},
    ]);
    let plans = json!([
        plan("plan-a", "方案A：使用 Redis 缓存", "性能最好，但需要额外的 Redis 服务", "redis"),
        plan("plan-b", "方案B：使用本地缓存", "实现简单，但性能一般", "local"),
        plan("plan-c", "方案C：不使用缓存", "最简单，但性能最差", "none"),
        {"optionId": "rethink", "label": "让 Agent 重新思考", "description": "这些方案都不满意，让 Agent 提供其他方案",
         "action": "RETRY_WITH_FEEDBACK", "requiresInput": true, "inputPrompt": "请说明您的需求"},
    ]);
    let (one, three) = ("missing-api-key-1761123600000", "choose-plan-1761123600000");
    let message = "执行该工具需要 OpenWeather API Key";
    let mut confirm = deletion(false);
    confirm["requestId"] = "confirm-delete-1761123600000".into();
    for (request, option, feedback) in [
        (
            example(one, "MISSING_INFO", "缺少 API Key", message, key),
            "provide",
            Some("k-123"),
        ),
        (confirm, "confirm", None),
        (
            example(
                three,
                "USER_CHOICE",
                "选择实现方案",
                "Agent 提供了3个实现方案，请选择一个",
                plans,
            ),
            "rethink",
            Some("不要新的服务"),
        ),
    ] {
        let page = asked(&house, request.clone()).await;
        for field in ["requestId", "type", "title", "message"] {
            assert_eq!(page[field], request[field], "{field}");
        }
        for offered in request["options"].as_array().unwrap() {
            let shown = self::option(&page, offered["optionId"].as_str().unwrap()).unwrap();
            for (field, value) in offered.as_object().unwrap() {
                assert_eq!(shown[field], *value, "{field}");
            }
        }
        let taken = responds(&house, &page, option, feedback).await.ok();
        assert_eq!(taken["success"], true, "{taken}");
        let settled = shown(&house, page["requestId"].as_str().unwrap()).await;
        assert_eq!(settled["resolution"]["option"], option, "{settled}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_failure_of_interaction_response_says_success_false_and_a_message() {
    let house = House::plain().await;
    let request = asked(&house, deletion(true)).await;
    let mut elsewhere = request.clone();
    elsewhere["sessionId"] = "another".into();
    let unknown = json!({"sessionId": "session-123", "requestId": "request-456"});
    let mut refused = vec![
        responds(&house, &elsewhere, "cancel", None).await,
        responds(&house, &unknown, "approve", None).await,
        responds(&house, &request, "no such option", None).await,
        house
            .post(&house.token("approver"), RESPONSE, json!({"requestId": 7}))
            .await,
        house.post(&house.token("agent"), RESPONSE, json!({})).await,
        house.say("POST", RESPONSE, &[], Some(json!({}))).await,
    ];
    responds(&house, &request, "cancel", None).await.ok();
    refused.push(responds(&house, &request, "confirm", None).await);
    for answer in refused {
        assert!(answer.status >= 400, "{}", answer.text);
        answer.problem();
        assert_eq!(answer.json()["success"], false, "{}", answer.text);
        assert!(
            !answer.json()["message"].as_str().unwrap().is_empty(),
            "{}",
            answer.text
        );
    }
    house.close().await;
}

#[tokio::test]
async fn a_question_that_need_not_be_answered_can_be_dismissed() {
    let house = House::plain().await;
    let required = asked(&house, deletion(true)).await;
    assert_eq!(required["required"], true);
    assert_eq!(option(&required, "dismiss"), None);
    assert!(responds(&house, &required, "dismiss", None).await.status >= 400);
    let mut request = deletion(false);
    request["sessionId"] = "session-124".into();
    let request = asked(&house, request).await;
    assert_eq!(request["required"], false);
    assert_eq!(option(&request, "dismiss").unwrap()["action"], "SKIP");
    responds(&house, &request, "dismiss", None).await.ok();
    // An agent that offers a way to skip has said how it is dismissed.
    let mut skippable = deletion(false);
    skippable["sessionId"] = "session-125".into();
    skippable["options"][1]["action"] = "SKIP".into();
    assert_eq!(option(&asked(&house, skippable).await, "dismiss"), None);
    house.close().await;
}

#[tokio::test]
async fn a_tool_approval_has_a_message_details_a_context_and_a_reason_to_give_when_it_is_rejected() {
    let house = House::plain().await;
    let (agent, key) = (house.token("agent"), "sk-ant-REDACTED");
    let call = json!({"sessionId": "s", "callId": "c1", "tool": "bash", "description": "to see what is old", "toolDescription": "Runs a command.\u{202e}",
        "args": {"command": "make clean", "token": key}});
    let call = house.post(&agent, "/v1/calls", call).await.ok();
    let id = call["requestId"].as_str().unwrap();
    let request = shown(&house, id).await;
    let (message, details) = (
        request["message"].as_str().unwrap(),
        request["details"].as_str().unwrap(),
    );
    assert_eq!(message, "Run `make clean`");
    assert!(
        details.contains("make clean") && details.contains("to see what is old"),
        "{details}"
    );
    let code = request["code"].as_str().unwrap();
    assert!(
        !message.contains(code) && !details.contains(code),
        "a page has buttons: {details}"
    );
    let context = &request["context"];
    assert_eq!(context["toolName"], "bash");
    assert_eq!(context["toolParameters"]["command"], "make clean");
    assert_eq!(context["purpose"], "to see what is old");
    assert!(
        context["toolDescription"]
            .as_str()
            .unwrap()
            .starts_with("Runs a command.")
    );
    assert!(
        details.contains("Tool description:\n│ Runs a command.⟦U+202E⟧"),
        "{details}"
    );
    assert_eq!(context["risk"], "MEDIUM");
    assert!(!request.to_string().contains(key), "secrets are masked");
    let reject = option(&request, "reject").unwrap();
    assert_eq!(
        (&reject["requiresInput"], &reject["inputOptional"]),
        (&json!(true), &json!(true))
    );
    // The page's prompt was cancelled: no text, and still a rejection.
    responds(&house, &request, "reject", None).await.ok();
    assert_eq!(
        house.get(&agent, "/v1/calls/c1?wait=30").await.ok()["status"],
        "rejected"
    );
    let call = json!({"sessionId": "s", "callId": "c2", "tool": "bash", "args": {"command": "make dist"}});
    let call = house.post(&agent, "/v1/calls", call).await.ok();
    let request = shown(&house, call["requestId"].as_str().unwrap()).await;
    responds(&house, &request, "reject", Some("太早了")).await.ok();
    assert_eq!(
        house.get(&agent, "/v1/calls/c2?wait=30").await.ok()["feedback"],
        "太早了"
    );
    house.close().await;
}

/// 示例1, with the schema of a secret.
pub(crate) fn api_key(session: &str) -> Value {
    json!({
        "sessionId": session, "type": "MISSING_INFO", "title": "缺少 API Key", "message": "执行该工具需要 OpenWeather API Key",
        "context": {"schema": {"type": "object", "properties": {"apiKey": {"type": "string", "writeOnly": true}}}},
        "options": [
            {"optionId": "provide", "label": "提供 API Key", "description": "输入您的 API Key",
             "action": "PROVIDE_INFO", "requiresInput": true, "inputPrompt": "请输入 OpenWeather API Key"},
            {"optionId": "skip", "label": "跳过该工具", "description": "跳过天气查询，继续其他任务", "action": "SKIP"},
        ],
    })
}

/// Every byte of the data folder.
fn on_disk(house: &House) -> Vec<u8> {
    let files = std::fs::read_dir(house.data.path())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.is_file())
        .flat_map(|path| std::fs::read(path).unwrap())
        .collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn an_api_key_given_as_an_answer_is_handed_to_the_agent_sealed_in_the_journal_and_never_shown_again() {
    const KEY: &str = "quiet river stone 4711";
    let house = House::plain().await;
    let (agent, approver, admin) = (
        house.token("agent"),
        house.token("approver"),
        house.token("admin"),
    );
    let request = asked(&house, api_key("session-123")).await;
    assert_eq!(
        option(&request, "provide").unwrap()["inputSecret"],
        true,
        "{request}"
    );
    assert_eq!(option(&request, "skip").unwrap().get("inputSecret"), None);
    let id = request["requestId"].as_str().unwrap();
    let answer =
        json!({"selectedOptionId": "provide", "feedback": KEY, "data": {"apiKey": KEY, "pin": 47_114_711}});
    house.answer(&approver, id, answer).await.ok();

    // The agent that asked has it, and so has one that asks by a call.
    let told = house.get(&agent, &format!("/v1/interactions/{id}")).await.ok();
    assert_eq!(told["resolution"]["feedback"], KEY, "{told}");
    assert_eq!(
        told["resolution"]["data"],
        json!({"apiKey": KEY, "pin": "47114711"})
    );
    let mut args = api_key("x");
    args.as_object_mut().unwrap().remove("sessionId");
    let call = json!({"sessionId": "session-124", "callId": "c1", "tool": "askUserQuestion", "category": "ask", "args": args});
    let call = house.post(&agent, "/v1/calls", call).await.ok();
    let answer = json!({"selectedOptionId": "provide", "feedback": KEY});
    house
        .answer(&approver, call["requestId"].as_str().unwrap(), answer)
        .await
        .ok();
    let told = house.get(&agent, "/v1/calls/c1?wait=30").await.ok();
    assert_eq!(told["feedback"], KEY, "{told}");
    assert_eq!(told["forModel"]["feedback"], KEY, "{told}");

    for path in [
        format!("/v1/interactions/{id}"),
        "/v1/sessions/session-123".into(),
        "/v1/sessions/session-124".into(),
        "/v1/audit".into(),
        "/v1/audit?sessionId=session-123".into(),
    ] {
        for token in [&approver, &admin] {
            let shown = house.get(token, &path).await.text;
            assert!(
                !shown.contains(KEY) && !shown.contains("47114711"),
                "{path}: {shown}"
            );
        }
    }
    let rows = house.get(&agent, "/v1/sessions/session-123").await.text;
    assert!(!rows.contains(KEY), "{rows}");
    assert!(holds(&on_disk(&house), "session-123"), "the journal is there");
    assert!(!holds(&on_disk(&house), KEY), "and holds no key");
    house.close().await;
}
