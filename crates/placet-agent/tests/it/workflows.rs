//! Workflows: a model, a prompt, tools, limits and approvals of their own, kept by the run as they were when it began. And the
//! flows of the workflow document: approve, reject, edit, instruct, checkpoint.

use placet_agent::{Rest, Tools, WorkflowError};
use placet_core::config::Workflow;
use placet_core::digest::Digest;
use placet_core::ids::InteractionId;
use placet_core::interaction::{Answer, Locale, Shown};
use placet_core::journal::Event;
use placet_core::listing::JournalPage;
use placet_core::run::RunEnd;
use placet_core::steps::TellRefusal;
use placet_store::StepError;
use serde_json::{Value, json};

use crate::support::{CONFIG, Home, House, calls, lin, on, principal, says, session, soon};

/// The document's example, with tools that exist here.
const SEED: &str = r#"# workflow.toml
[[workflow.config]]
timeout = 60000
maxSteps = 100

[workflow.config.toolApproval]
autoApprovedTools = ["write", "ls"]
approvalTimeout = 60000
"#;

fn workflow(text: &str) -> Workflow {
    Workflow::parse(text, "workflow.toml").unwrap()
}

async fn begin(home: &Home, text: &str, input: &str) {
    let (session, workflow, lin) = (session("s"), workflow(text), lin());
    let begun = home
        .agent
        .start_workflow(&session, &workflow, Some(input), &lin, None);
    begun.await.unwrap();
}

async fn parked(home: &Home) -> InteractionId {
    match soon(home.agent.rest(&session("s"))).await.unwrap() {
        Rest::Parked { questions } => questions[0].clone(),
        other => panic!("it is not parked: {other:?}"),
    }
}

async fn ended(home: &Home) -> (RunEnd, String) {
    match soon(home.agent.rest(&session("s"))).await.unwrap() {
        Rest::Ended { how, text } => (how, text),
        other => panic!("it has not ended: {other:?}"),
    }
}

/// Lin's choice, and nothing else.
fn choice(option: &str) -> Answer {
    Answer {
        by: principal("lin"),
        option: option.into(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Whole(Digest::of("test", &[])),
    }
}

/// Lin's answer, with whatever else they say.
async fn answers(home: &Home, id: &InteractionId, option: &str, change: impl FnOnce(&mut Answer)) {
    let mut answer = choice(option);
    change(&mut answer);
    home.engine.broker().answer(id, answer).await.unwrap();
}

fn bash(command: &str) -> Value {
    calls(&[("bash", json!({ "command": command }))])
}

#[tokio::test]
async fn tools_on_the_white_list_run_and_the_others_are_asked_about() {
    let house = House::new();
    let write = calls(&[("write", json!({ "path": "a.txt", "content": "a" }))]);
    let home = house
        .open(json!([write, bash("echo hi | tee hi.txt"), says("Done.")]))
        .await;
    begin(&home, SEED, "go").await;
    let asked = parked(&home).await;
    assert_eq!(house.file("a.txt").as_deref(), Some("a"));
    let question = home.engine.broker().question(&asked).await.unwrap().unwrap();
    assert_eq!(question.interaction.asked().allowance().get().div_ceil(1000), 60);
    home.close().await;
}

#[tokio::test]
async fn approve_runs_the_call_as_it_is() {
    let house = House::new();
    let home = house
        .open(json!([
            bash("echo hi > a.txt; echo was-run"),
            on("was-run", says("It ran."))
        ]))
        .await;
    begin(&home, SEED, "go").await;
    answers(&home, &parked(&home).await, "approve", |_| {}).await;
    assert_eq!(ended(&home).await, (RunEnd::Completed, "It ran.".into()));
    assert_eq!(house.file("a.txt").as_deref(), Some("hi\n"));
    home.close().await;
}

/// The document skips a rejected call without a result, which leaves the model's call dangling.
#[tokio::test]
async fn reject_skips_the_call_and_the_model_is_told_why() {
    let house = House::new();
    let home = house
        .open(json!([
            bash("echo hi > a.txt"),
            on("too early", says("Later, then."))
        ]))
        .await;
    begin(&home, SEED, "go").await;
    let reason = |answer: &mut Answer| answer.feedback = Some("too early".into());
    answers(&home, &parked(&home).await, "reject", reason).await;
    assert_eq!(ended(&home).await.1, "Later, then.");
    assert_eq!(house.file("a.txt"), None);
    home.close().await;
}

#[tokio::test]
async fn edited_parameters_are_what_runs_and_the_model_is_told() {
    let house = House::new();
    let home = house
        .open(json!([
            bash("echo one > a.txt"),
            on("changed the arguments", says("As you wish."))
        ]))
        .await;
    begin(&home, SEED, "go").await;
    let edit = |answer: &mut Answer| {
        answer.edited_args = Some(serde_json::from_value(json!({ "command": "echo two > a.txt" })).unwrap());
    };
    answers(&home, &parked(&home).await, "approve", edit).await;
    assert_eq!(ended(&home).await.1, "As you wish.");
    assert_eq!(house.file("a.txt").as_deref(), Some("two\n"));
    home.close().await;
}

#[tokio::test]
async fn a_user_instruction_is_a_message_after_the_result() {
    let house = House::new();
    let home = house
        .open(json!([
            bash("echo hi | tee hi.txt"),
            on("and be brief", says("Hi."))
        ]))
        .await;
    begin(&home, SEED, "go").await;
    let instruct = |answer: &mut Answer| answer.instruction = Some("and be brief".into());
    answers(&home, &parked(&home).await, "approve", instruct).await;
    assert_eq!(ended(&home).await.1, "Hi.");
    home.close().await;
}

/// The document's checkpoint holds the call, the conversation and the workflow; here that is the journal, and it is not
/// deleted while a request is pending.
#[tokio::test]
async fn the_checkpoint_of_a_waiting_run_is_all_a_later_process_needs_even_without_the_file() {
    let house = House::new();
    let strict =
        "[workflow]\nprompt = 'You are strict.'\ntools = ['read', 'bash']\n[workflow.config]\nmaxSteps = 3\n";
    let file = house.work().join("flow.toml");
    std::fs::write(&file, strict).unwrap();
    let turns = json!([
        bash("echo hi | tee hi.txt"),
        calls(&[("write", json!({ "path": "a.txt", "content": "a" }))]),
        on("there is no tool `write`", says("Not in this workflow.")),
    ]);
    let home = house.open(turns.clone()).await;
    begin(&home, &std::fs::read_to_string(&file).unwrap(), "go").await;
    let asked = parked(&home).await;
    home.close().await;
    // Changing the file does not change a run that began with it.
    std::fs::remove_file(&file).unwrap();

    let home = house.open(turns).await;
    answers(&home, &asked, "approve", |_| {}).await;
    assert_eq!(
        ended(&home).await,
        (RunEnd::Completed, "Not in this workflow.".into())
    );
    let rows = home
        .engine
        .store()
        .look(|stored| stored.journal(&JournalPage::of(&session("s"), 0, 1000)).cloned())
        .await
        .unwrap();
    let kept = rows.iter().find_map(|row| match &row.event {
        Event::RunStarted(run) => run.workflow.as_deref(),
        _ => None,
    });
    assert_eq!(kept, Some(&workflow(strict)));
    home.close().await;
}

#[tokio::test]
async fn a_workflow_speaks_as_often_as_its_steps_allow() {
    let house = House::new();
    let look = on("", calls(&[("read", json!({ "path": "missing" }))]));
    let home = house.open(json!([look])).await;
    begin(&home, "[workflow.config]\nmaxSteps = 2\n", "look").await;
    assert_eq!(ended(&home).await.0, RunEnd::LimitReached { turns: 2 });
    home.close().await;
}

#[tokio::test]
async fn a_workflow_whose_time_is_over_ends_and_so_does_its_question() {
    let house = House::new();
    let home = house.open(json!([bash("echo hi > a.txt"), says("Done.")])).await;
    let short =
        "[workflow.config]\ntimeout = 1000\n[workflow.config.toolApproval]\napprovalTimeout = 60000\n";
    begin(&home, short, "go").await;
    let mut journal = home.engine.subscribe(0, Some(session("s")));
    let how = loop {
        if let Event::RunEnded { how } = soon(journal.next()).await.unwrap().event {
            break how;
        }
    };
    assert_eq!(how, RunEnd::TimedOut);
    assert!(home.engine.broker().pending(None, 10).await.unwrap().is_empty());
    assert_eq!(house.file("a.txt"), None);
    home.close().await;
}

#[tokio::test]
async fn a_call_that_runs_when_time_is_over_is_stopped() {
    let house = House::new();
    let auto =
        "[workflow.config]\ntimeout = 1000\n[workflow.config.toolApproval]\nautoApprovedTools = ['bash']\n";
    let home = house.open(json!([bash("sleep 60"), says("Slept.")])).await;
    begin(&home, auto, "go").await;
    let mut journal = home.engine.subscribe(0, Some(session("s")));
    let mut result = None;
    let how = loop {
        match soon(journal.next()).await.unwrap().event {
            Event::Finished { result: stopped, .. } => result = Some(stopped),
            Event::RunEnded { how } => break how,
            _ => {}
        }
    };
    assert_eq!(how, RunEnd::TimedOut);
    assert!(!result.unwrap().ok);
    home.close().await;
}

#[tokio::test]
async fn strict_asks_about_what_a_list_that_only_adds_would_let_run() {
    let house = House::new();
    let text = "[workflow.config.toolApproval]\nautoApprovedTools = ['write']\nstrict = true\nonly = false\n";
    let home = house
        .open(json!([calls(&[(
            "write",
            json!({ "path": "a", "content": "a" })
        )])]))
        .await;
    begin(&home, text, "go").await;
    parked(&home).await;
    assert_eq!(house.file("a"), None);
    home.close().await;
}

#[tokio::test]
async fn white_list_mode_asks_about_every_tool_outside_the_list_in_every_mode() {
    for approval in ["mode = 'yolo'", "mode = 'autoEdit'", "strict = true"] {
        let house = House::new();
        let config = CONFIG.replace("[approval]", &format!("[approval]\n{approval}"));
        let write = calls(&[("write", json!({ "path": "a.txt", "content": "a" }))]);
        let look = calls(&[("ls", json!({}))]);
        let turns = json!([write, look, says("Done.")]);
        let home = house.open_as(&config, Tools::builtin(&house.work()), turns).await;
        let list = "[workflow.config.toolApproval]\nautoApprovedTools = ['write']\n";
        begin(&home, list, "go").await;
        let asked = parked(&home).await;
        assert_eq!(house.file("a.txt").as_deref(), Some("a"), "{approval}");
        let question = home.engine.broker().question(&asked).await.unwrap().unwrap();
        assert_eq!(question.call.unwrap().call.tool.as_str(), "ls", "{approval}");
        home.close().await;
    }
}

#[tokio::test]
async fn a_workflow_that_names_what_is_not_there_or_comes_in_between_begins_nothing() {
    let house = House::new();
    let home = house.open(json!([bash("echo hi | tee hi.txt")])).await;
    for (text, expected) in [
        (
            "[workflow]\nmodel = 'gpt'\n",
            "the workflow names the model `gpt`, which does not exist",
        ),
        (
            "[workflow]\ntools = ['teleport']\n",
            "the workflow names the tool `teleport`, which does not exist",
        ),
    ] {
        let refused = home
            .agent
            .start_workflow(&session("s"), &workflow(text), None, &lin(), None)
            .await;
        assert_eq!(refused.unwrap_err().to_string(), expected);
    }
    begin(&home, SEED, "go").await;
    parked(&home).await;
    let second = home
        .agent
        .start_workflow(&session("s"), &workflow(SEED), None, &lin(), None)
        .await;
    assert!(
        matches!(
            second,
            Err(WorkflowError::Tell(StepError::Refused(TellRefusal::GoingOn(_))))
        ),
        "{second:?}"
    );
    home.close().await;
}

#[tokio::test]
async fn what_a_workflow_hands_on_stays_within_the_workflow() {
    let house = House::new();
    let text = "[workflow]\ntools = ['task', 'read']\n";
    let hand_on = calls(&[("task", json!({ "description": "Write", "prompt": "WRITE" }))]);
    let home = house
        .open(json!([
            on("go", hand_on),
            on(
                "WRITE",
                calls(&[("write", json!({ "path": "a", "content": "a" }))])
            ),
            on("there is no tool `write`", says("NOT MINE")),
            on("NOT MINE", says("Nor mine.")),
        ]))
        .await;
    begin(&home, text, "go").await;
    assert_eq!(ended(&home).await.1, "Nor mine.");
    home.close().await;
}

#[tokio::test]
async fn the_operation_update_variables_changes_what_later_steps_see_and_the_journal_has_both_values() {
    const TEXT: &str =
        "[workflow]\nprompt = 'Deploy to {{region}}.'\n[workflow.variables]\nregion = 'eu'\nlimit = 10\n";
    let house = House::new();
    let asks = json!({
        "title": "Where", "message": "Where to?", "context": { "operationType": "UPDATE_VARIABLES" },
        "options": [{ "optionId": "set", "label": "Set" }],
    });
    let home = house
        .open(json!([
            calls(&[("askUserQuestion", asks)]),
            on(r#"`region` from "eu" to "us""#, bash("echo hi > a.txt")),
            on(r#"`limit` from 10 to 3"#, says("Done.")),
        ]))
        .await;
    let mut events = home.engine.subscribe(0, None);
    begin(&home, TEXT, "go").await;
    let asked = parked(&home).await;
    let requested = serde_json::to_value(soon(events.next_interaction()).await.unwrap()).unwrap();
    assert_eq!(requested["operationType"], "UPDATE_VARIABLES");
    let question = home.engine.broker().question(&asked).await.unwrap().unwrap();
    let context = Value::Object(question.words(Locale::English).context);
    assert_eq!(context["variables"], json!({ "region": "eu", "limit": 10 }));
    assert_eq!(context["schema"]["properties"]["region"]["default"], "eu");
    for (data, refused) in [
        (json!({ "planet": "mars" }), "no variable `planet`"),
        (json!({ "region": 7 }), "`region` holds a value of type string"),
    ] {
        let answer = Answer {
            data: data.as_object().cloned(),
            ..choice("set")
        };
        let error = home.engine.broker().answer(&asked, answer).await.unwrap_err();
        assert!(error.to_string().contains(refused), "{error}");
    }
    answers(&home, &asked, "set", |answer| {
        answer.data = json!({ "region": "us" }).as_object().cloned();
    })
    .await;
    let responded = serde_json::to_value(soon(events.next_interaction()).await.unwrap()).unwrap();
    assert_eq!(
        (&responded["operationType"], &responded["inputData"]["data"]),
        (&json!("UPDATE_VARIABLES"), &json!({ "region": "us" }))
    );

    // An answer to any other question of the workflow changes them, too.
    let approval = parked(&home).await;
    answers(&home, &approval, "approve", |answer| {
        answer.data = json!({ "variables": { "limit": 3 } }).as_object().cloned();
    })
    .await;
    assert_eq!(ended(&home).await.1, "Done.");
    let store = home.engine.store();
    let rows = store
        .look(|stored| stored.journal(&JournalPage::of(&session("s"), 0, 1000)).cloned())
        .await
        .unwrap();
    let changes: Vec<Value> = rows
        .iter()
        .filter_map(|row| match &row.event {
            Event::VariablesChanged {
                before, after, by, ..
            } => {
                assert_eq!(by.as_str(), "lin");
                Some(json!([before, after]))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        changes,
        [
            json!([{ "region": "eu", "limit": 10 }, { "region": "us", "limit": 10 }]),
            json!([{ "region": "us", "limit": 10 }, { "region": "us", "limit": 3 }]),
        ]
    );
    let run = store
        .look(|stored| stored.run(&session("s")).cloned())
        .await
        .unwrap();
    assert_eq!(
        Value::Object(run.unwrap().variables),
        json!({ "region": "us", "limit": 3 })
    );
    home.close().await;
}
