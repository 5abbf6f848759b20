//! The engine API of the approval document: its six steps by name, its callback, its best practices.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use placet_agent::assistant::{Assistant, Builder, InitError, Message, Provider, Reply, SendError, Used};
use placet_agent::chat::What;
use placet_agent::model::{ApiKey, Script, Scripted};
use placet_agent::tools::Tool;
use placet_core::call::{Args, ToolCall};
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use placet_core::ids::SessionId;
use placet_core::policy::Mode;
use placet_core::tool::{Category, OwnOpinion};
use placet_engine::{ToolApproval, ToolUse};
use serde_json::{Value, json};

use crate::models::Protocol;
use crate::provider::Provider as Vendor;
use crate::support::{House, calls, on, principal, says, soon};

mod questions;
mod sessions;

/// Remembers what it was asked, and approves.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    fn yes(&self) -> impl Fn(ToolUse) -> std::future::Ready<bool> + Send + Sync + use<> {
        self.saying(true)
    }

    fn no(&self) -> impl Fn(ToolUse) -> std::future::Ready<bool> + Send + Sync + use<> {
        self.saying(false)
    }

    fn saying(&self, word: bool) -> impl Fn(ToolUse) -> std::future::Ready<bool> + Send + Sync + use<> {
        let asked = Arc::clone(&self.0);
        move |tool_use| {
            asked.lock().unwrap().push(tool_use.name);
            std::future::ready(word)
        }
    }

    /// By name: calls of one turn are asked side by side.
    fn names(&self) -> Vec<String> {
        let mut names = self.0.lock().unwrap().clone();
        names.sort();
        names
    }
}

fn assistant(house: &House, turns: &Value) -> Builder {
    let script = Script::from_json(json!({ "turns": turns })).unwrap();
    Assistant::builder("MyApp", "1.0.0")
        .own_model(Arc::new(Scripted::new("scripted", script)))
        .workspace(house.work())
}

fn write(name: &str) -> (&'static str, Value) {
    ("write", json!({ "path": name, "content": "x" }))
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command }))
}

/// What became of the calls of a tool.
fn of<'a>(reply: &'a Reply, tool: &str) -> Vec<&'a Used> {
    reply.used.iter().filter(|used| used.tool == tool).collect()
}

async fn sent(builder: Builder, message: Message) -> Reply {
    let assistant = builder.start().await.unwrap();
    let reply = soon(assistant.send_message(message)).await.unwrap();
    assistant.shutdown().await.unwrap();
    reply
}

#[tokio::test]
async fn step_1_yolo_allows_everything_but_high_risk_and_questions() {
    let house = House::new();
    let question = json!({ "title": "Which?", "message": "Which one?" });
    let turns = json!([
        calls(&[
            write("a.txt"),
            bash("echo hi > hi.txt"),
            bash("rm -rf build"),
            ("askUserQuestion", question)
        ]),
        says("Done."),
    ]);
    let asked = Asked::default();
    let builder = assistant(&house, &turns).approval_mode(Mode::Yolo);
    let reply = sent(builder, Message::new("go").write().on_tool_approve(asked.yes())).await;
    assert_eq!(house.file("a.txt").as_deref(), Some("x"));
    assert_eq!(house.file("hi.txt").as_deref(), Some("hi\n"));
    assert_eq!(asked.names(), ["bash"], "only the HIGH one");
    assert_eq!(
        of(&reply, "askUserQuestion")[0].output["outcome"],
        "nobody_to_ask"
    );
}

#[tokio::test]
async fn step_2_reading_is_allowed_in_every_mode() {
    for mode in [Mode::Default, Mode::AutoEdit, Mode::Yolo] {
        let house = House::new();
        house.put("notes.txt", "buy tea");
        let turns = json!([
            calls(&[
                ("read", json!({ "path": "notes.txt" })),
                ("ls", json!({ "path": "." }))
            ]),
            says("Read."),
        ]);
        let asked = Asked::default();
        let builder = assistant(&house, &turns).approval_mode(mode);
        let reply = sent(builder, Message::new("go").write().on_tool_approve(asked.yes())).await;
        assert!(reply.used.iter().all(|used| used.ok == Some(true)), "{reply:?}");
        assert!(asked.names().is_empty());
    }
}

/// A tool of the product's own, which knows that small payments need no approval.
struct Pay;

#[async_trait]
impl Tool for Pay {
    fn name(&self) -> &'static str {
        "pay"
    }

    fn description(&self) -> &'static str {
        "Pays."
    }

    fn category(&self) -> Category {
        Category::Network
    }

    fn schema(&self) -> Value {
        json!({ "type": "object", "properties": { "cents": { "type": "integer" } }, "required": ["cents"] })
    }

    fn needs_approval(&self, call: &ToolCall, mode: Mode) -> OwnOpinion {
        match (call.args.as_value()["cents"].as_u64(), mode) {
            // As the document's `needsApproval`: high risk always, the rest as the mode says.
            (Some(10_000..), _) => OwnOpinion::Needed,
            (Some(0..100), _) | (_, Mode::Yolo) => OwnOpinion::NotNeeded,
            _ => OwnOpinion::Silent,
        }
    }

    async fn run(&self, call: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        Ok(format!("paid {}", call.args.canonical()))
    }
}

#[tokio::test]
async fn step_3_a_tool_that_says_it_needs_no_approval_is_believed_by_those_who_registered_it() {
    let house = House::new();
    let turns = json!([
        calls(&[("pay", json!({ "cents": 99 })), ("pay", json!({ "cents": 100 }))]),
        says("Paid."),
    ]);
    let asked = Asked::default();
    let builder = assistant(&house, &turns).tool(Arc::new(Pay));
    let reply = sent(builder, Message::new("pay").write().on_tool_approve(asked.yes())).await;
    assert_eq!(asked.names(), ["pay"], "only the large one");
    assert_eq!(of(&reply, "pay")[1].output, r#"paid {"cents":100}"#);
}

#[tokio::test]
async fn step_3_a_tool_that_says_it_needs_approval_is_asked_about_even_in_yolo() {
    let house = House::new();
    let turns = json!([
        calls(&[
            ("pay", json!({ "cents": 500 })),
            ("pay", json!({ "cents": 10_000 }))
        ]),
        says("Paid."),
    ]);
    let asked = Asked::default();
    let builder = assistant(&house, &turns)
        .tool(Arc::new(Pay))
        .approval_mode(Mode::Yolo);
    let reply = sent(builder, Message::new("pay").write().on_tool_approve(asked.no())).await;
    assert_eq!(asked.names(), ["pay"], "only the very large one");
    assert_eq!(of(&reply, "pay")[0].output, r#"paid {"cents":500}"#);
    assert_eq!(of(&reply, "pay")[1].ok, Some(false));
}

#[tokio::test]
async fn step_4_auto_edit_allows_writes_and_nothing_else() {
    let house = House::new();
    // A confined command is a write; one that asks for more is not.
    let free = json!({ "command": "touch b.txt", "needs": ["network"] });
    let turns = json!([
        calls(&[write("a.txt"), bash("touch c.txt"), ("bash", free)]),
        says("Done.")
    ]);
    let asked = Asked::default();
    let builder = assistant(&house, &turns).approval_mode(Mode::AutoEdit);
    sent(builder, Message::new("go").write().on_tool_approve(asked.yes())).await;
    assert_eq!(asked.names(), ["bash"]);
    assert!(
        ["a.txt", "b.txt", "c.txt"]
            .iter()
            .all(|name| house.file(name).is_some())
    );
}

#[tokio::test]
async fn step_5_a_tool_on_the_sessions_list_is_allowed_there_unless_it_is_high() {
    let house = House::new();
    let turns = json!([
        on("I am the other", says("Done.")),
        on("other", calls(&[bash("echo I am the other | tee other.txt")])),
        calls(&[bash("touch a.txt"), bash("rm -rf build"), write("b.txt")]),
        says("Done."),
    ]);
    let asked = Asked::default();
    let assistant = assistant(&house, &turns).start().await.unwrap();
    let session = SessionId::new("listed").unwrap();
    let bash = placet_core::ids::ToolName::new("bash").unwrap();
    assistant.allow_tool(&session, &bash).await.unwrap();
    let message = Message::new("go")
        .write()
        .session(session)
        .on_tool_approve(asked.yes());
    soon(assistant.send_message(message)).await.unwrap();
    assert_eq!(
        asked.names(),
        ["bash", "write"],
        "the HIGH one, and the one that is not listed"
    );
    let message = Message::new("other").write().on_tool_approve(asked.yes());
    soon(assistant.send_message(message)).await.unwrap();
    assert_eq!(asked.names().len(), 3, "another session has no list");
    assistant.shutdown().await.unwrap();
}

#[tokio::test]
async fn step_5_approval_tools_are_on_the_list_of_every_session() {
    let house = House::new();
    let builder =
        assistant(&house, &json!([calls(&[write("a.txt")]), says("Done.")])).approval_tools(["write"]);
    let reply = sent(builder, Message::new("go").write()).await;
    assert_eq!(of(&reply, "write")[0].ok, Some(true));
}

#[tokio::test]
async fn step_6_the_callback_decides_with_a_reason_and_with_other_params() {
    let house = House::new();
    let turns = json!([
        calls(&[write("a.txt"), write("b.txt"), bash("touch c.txt")]),
        on("changed the arguments", says("Two of three.")),
    ]);
    let decide = async |tool_use: ToolUse| match tool_use.params.text("path") {
        Some("a.txt") => {
            let other = json!({ "path": "a.txt", "content": "by the callback" });
            ToolApproval::approve_with(Args::from_value(other).unwrap())
        }
        Some(_) => ToolApproval::deny("no b"),
        None => ToolApproval::approve(),
    };
    let reply = sent(
        assistant(&house, &turns),
        Message::new("go").write().on_tool_approve(decide),
    )
    .await;
    assert!(reply.success());
    assert_eq!(reply.text, "Two of three.");
    assert_eq!(house.file("a.txt").as_deref(), Some("by the callback"));
    assert_eq!(of(&reply, "write")[1].output["reason"], "no b");
    assert!(house.file("b.txt").is_none() && house.file("c.txt").is_some());
}

#[tokio::test]
async fn what_a_rule_denies_or_others_decide_is_never_the_callbacks() {
    let house = House::new();
    let config = "[[people]]\nname = 'wei'\n[[rules]]\nname = 'wei decides'\ntool = 'write'\neffect = 'ask'\napprovers = ['wei']\ntimeout = '1ms'\n";
    let config = Config::parse(
        config,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let asked = Asked::default();
    let turns = json!([calls(&[write("a.txt"), bash("rm -rf /")]), says("Done.")]);
    let builder = assistant(&house, &turns).config(config).store(house.store());
    let reply = sent(builder, Message::new("go").write().on_tool_approve(asked.yes())).await;
    assert!(asked.names().is_empty());
    assert_eq!(of(&reply, "write")[0].output["outcome"], "expired");
    assert_eq!(of(&reply, "bash")[0].output["outcome"], "denied_by_policy");
}

#[tokio::test]
async fn a_callback_that_panics_or_takes_too_long_has_not_approved() {
    let panics = async |_: ToolUse| -> bool { panic!("the dialog is broken") };
    let sleeps = async |_: ToolUse| std::future::pending::<bool>().await;
    let turns = || json!([calls(&[write("a.txt")]), says("I could not.")]);
    let house = House::new();
    let reply = sent(
        assistant(&house, &turns()),
        Message::new("go").write().on_tool_approve(panics),
    )
    .await;
    assert_eq!(of(&reply, "write")[0].output["outcome"], "cancelled");
    let builder = assistant(&house, &turns()).approval_timeout(Duration::from_millis(50));
    let reply = sent(builder, Message::new("go").write().on_tool_approve(sleeps)).await;
    assert_eq!(of(&reply, "write")[0].output["outcome"], "expired");
    assert_eq!((reply.text.as_str(), house.file("a.txt")), ("I could not.", None));
}

#[tokio::test]
async fn without_a_callback_and_with_nobody_to_ask_the_call_is_denied_at_once() {
    let house = House::new();
    let reply = sent(
        assistant(&house, &json!([calls(&[write("a.txt")]), says("Nobody there.")])),
        Message::new("go").write(),
    )
    .await;
    assert_eq!(of(&reply, "write")[0].output["outcome"], "nobody_to_ask");
    assert!(house.file("a.txt").is_none());
}

#[tokio::test]
async fn a_message_that_does_not_write_is_offered_only_tools_that_read_and_can_call_no_other() {
    let house = House::new();
    let vendor = Vendor::start(vec![
        Protocol::OpenAi.whole("", &[("write", r#"{"path":"a.txt","content":"x"}"#)]),
        Protocol::OpenAi.whole("I only read.", &[]),
    ])
    .await;
    let provider = Provider {
        api_key: Some(ApiKey::new("sk-test")),
        base_url: Some(vendor.url.clone()),
        ..Provider::default()
    };
    let builder = Assistant::builder("MyApp", "1.0.0")
        .model("deepseek/deepseek-chat")
        .provider("deepseek", provider)
        .approval_mode(Mode::Yolo)
        .workspace(house.work());
    let reply = sent(builder, Message::new("look around")).await;
    assert_eq!(reply.text, "I only read.");
    assert!(house.file("a.txt").is_none());
    let first = &vendor.asked()[0];
    let offered: Vec<&str> = first.body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert!(offered.contains(&"read") && !offered.contains(&"write") && !offered.contains(&"bash"));
    assert_eq!(first.body["model"], "deepseek-chat");
    let head = first.head.to_lowercase();
    assert!(head.contains("user-agent: myapp/1.0.0 placet/"), "{head}");
    assert!(head.contains("authorization: bearer sk-test"), "{head}");
}

#[tokio::test]
async fn the_product_is_the_agent_of_the_journal_and_rules_can_name_it() {
    let house = House::new();
    let config =
        "[[rules]]\nname = 'MyApp does not write'\nagent = 'MyApp'\ntool = 'write'\neffect = 'deny'\n";
    let config = Config::parse(
        config,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let builder = assistant(&house, &json!([calls(&[write("a.txt")]), says("No.")])).config(config);
    let reply = sent(
        builder,
        Message::new("go")
            .write()
            .on_tool_approve(async |_: ToolUse| true),
    )
    .await;
    assert_eq!(of(&reply, "write")[0].output["outcome"], "denied_by_policy");
}

#[tokio::test]
async fn what_happens_is_shown_as_it_happens() {
    let house = House::new();
    let turns = json!([calls(&[write("a.txt")]), says("Written, as you said.")]);
    let assistant = assistant(&house, &turns).start().await.unwrap();
    let message = Message::new("go")
        .write()
        .on_tool_approve(async |_: ToolUse| true);
    let mut exchange = assistant.stream_message(message).await.unwrap();
    let (mut heard, mut names) = (String::new(), Vec::new());
    while let Some(event) = soon(exchange.next()).await.unwrap() {
        if let What::Saying { delta: piece, .. } = &event.what {
            heard.push_str(piece);
        } else {
            names.push(event.what.name());
        }
    }
    // Who listens late hears less while the model speaks; what it said is stored all the same.
    assert!("Written, as you said.".starts_with(&heard), "{heard}");
    let story = [
        "STARTED",
        "THINKING",
        "ACTION",
        "INTERACTION",
        "INTERACTION_RESOLVED",
        "OBSERVATION",
        "THINKING",
        "COMPLETED",
    ];
    assert_eq!(names, story);
    assert!(exchange.reply().unwrap().success());
    assistant.shutdown().await.unwrap();
}

/// Kept in a file, a question outlives the process; the next one finds it in the inbox.
#[tokio::test]
async fn a_question_kept_in_a_file_is_answered_in_the_inbox_after_a_restart() {
    let house = House::new();
    let turns = || json!([calls(&[write("a.txt")]), says("Written.")]);
    let session = SessionId::new("kept").unwrap();
    let first = assistant(&house, &turns())
        .store(house.store())
        .start()
        .await
        .unwrap();
    let message = Message::new("go").write().session(session.clone());
    let mut exchange = first.stream_message(message).await.unwrap();
    loop {
        let event = soon(exchange.next()).await.unwrap().unwrap();
        if let What::Interaction { .. } = event.what {
            break;
        }
    }
    first.shutdown().await.unwrap();
    assert!(matches!(exchange.reply(), Err(SendError::Stopped)));
    let second = assistant(&house, &turns())
        .store(house.store())
        .start()
        .await
        .unwrap();
    let open = second.engine().broker().pending(None, 9).await.unwrap();
    let answer = placet_core::interaction::Answer {
        by: principal("user"),
        option: "approve".into(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: placet_core::interaction::Shown::Program,
    };
    second
        .engine()
        .broker()
        .answer(&open[0].id, answer)
        .await
        .unwrap();
    soon(second.agent().rest(&session)).await.unwrap();
    assert_eq!(house.file("a.txt").as_deref(), Some("x"));
    second.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_assistant_without_a_model_or_with_one_nobody_knows_does_not_start() {
    let start = |builder: Builder| async { builder.start().await.map(|_| ()).unwrap_err() };
    assert!(matches!(
        start(Assistant::builder("MyApp", "1")).await,
        InitError::NoModel
    ));
    let unknown = Assistant::builder("MyApp", "1").model("acme/one");
    assert!(matches!(start(unknown).await, InitError::ModelName(_)));
    let nameless = Assistant::builder("", "1").model("ollama/x");
    assert!(matches!(start(nameless).await, InitError::Id(_)));
}

#[tokio::test]
async fn the_callback_decides_about_what_is_handed_on_as_well() {
    let house = House::new();
    let task = json!({ "description": "Write the log", "prompt": "APPEND a line" });
    let turns = json!([
        on("Log it", calls(&[("task", task)])),
        on("APPEND", calls(&[bash("echo one >> log.txt; echo one-is-there")])),
        on("one-is-there", says("REPORT: one line.")),
        on("REPORT", says("The helper says so.")),
    ]);
    let asked = Asked::default();
    let message = Message::new("Log it").write().on_tool_approve(asked.yes());
    let reply = sent(assistant(&house, &turns), message).await;
    assert_eq!(reply.text, "The helper says so.");
    assert!(asked.names().contains(&"bash".to_owned()), "{:?}", asked.names());
    assert_eq!(house.file("log.txt").as_deref(), Some("one\n"));
}
