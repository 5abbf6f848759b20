//! Turns: several calls at once, nonsense, limits, failures, files that change while people think.

use placet_agent::tools::Tools;
use placet_core::policy::Mode;
use placet_core::run::Limits;
use serde_json::json;

use crate::support::{
    CONFIG, House, calls, id_of, last, lin, names, on, principal, question, rest, says, session, shown,
};

#[tokio::test]
async fn calls_of_one_turn_are_asked_as_a_group_and_decided_one_by_one() {
    let house = House::new();
    let turn = calls(&[
        ("write", json!({ "path": "a.txt", "content": "a" })),
        ("write", json!({ "path": "b.txt", "content": "b" })),
        ("read", json!({ "path": "missing.txt" })),
    ]);
    let home = house.open(json!([turn, says("Half of it.")])).await;
    let mut stream = home.say("Write two files").await;
    let (first, second) = (question(&mut stream).await, question(&mut stream).await);
    assert!(first.context["group"].is_string());
    assert_eq!(first.context["group"], second.context["group"]);
    home.answer(&second, "approve", None).await;
    home.answer(&first, "reject", Some("no a")).await;
    rest(&mut stream).await;
    assert_eq!(
        (house.file("a.txt"), house.file("b.txt").as_deref()),
        (None, Some("b"))
    );
    home.close().await;
}

#[tokio::test]
async fn the_same_call_twice_in_a_turn_is_one_question_one_run_and_two_results() {
    let house = House::new();
    let line = json!({ "command": "echo once >> log.txt; echo done" });
    let home = house
        .open(json!([
            calls(&[("bash", line.clone()), ("bash", line)]),
            on("ran once", says("Good."))
        ]))
        .await;
    let mut stream = home.say("Log it").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "Good.");
    assert_eq!(house.file("log.txt").as_deref(), Some("once\n"));
    home.close().await;
}

#[tokio::test]
async fn malformed_arguments_and_unknown_tools_reach_the_model_and_nothing_else() {
    let house = House::new();
    let turn = json!({ "calls": [
        { "tool": "bash", "args": "{\"command\": \"touch x" },
        { "tool": "bash", "args": { "cmd": "touch x" } },
        { "tool": "teleport", "args": {} },
        { "tool": "bash", "args": "{\"command\": \"ls\", \"command\": \"touch x\"}" },
    ] });
    let home = house.open(json!([turn, says("I misspoke.")])).await;
    let mut stream = home.say("Do something").await;
    let events = rest(&mut stream).await;
    let why: Vec<String> = events
        .iter()
        .filter(|event| event.what.name() == "OBSERVATION")
        .map(|event| {
            event.what.data()["output"]["explanation"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(why.len(), 4);
    assert!(why[0].contains("not valid JSON"), "{why:?}");
    assert!(why[1].contains("do not fit `bash`"), "{why:?}");
    assert!(why[2].contains("no tool `teleport`"), "{why:?}");
    assert!(why[3].contains("twice"), "{why:?}");
    assert!(house.file("x").is_none());
    assert_eq!(last(&events, "COMPLETED")["text"], "I misspoke.");
    home.close().await;
}

#[tokio::test]
async fn a_loop_ends_at_the_limit_and_says_so() {
    let house = House::new();
    let look = on("", calls(&[("read", json!({ "path": "missing.txt" }))]));
    let limits = Limits {
        turns_max: 3,
        ..Limits::USUAL
    };
    let home = house.open_with(json!([look]), limits).await;
    let mut stream = home.say("Look again and again").await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "ERROR")["how"], "limitReached");
    assert_eq!(
        names(&events).iter().filter(|name| **name == "THINKING").count(),
        3
    );
    home.close().await;
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_and_the_next_message_begins_another() {
    let house = House::new();
    let home = house
        .open(json!([on("again", says("Here I am.")), { "error": "the key was refused" }]))
        .await;
    let mut stream = home.say("Hello").await;
    let events = rest(&mut stream).await;
    assert_eq!(
        last(&events, "ERROR")["message"],
        "the run failed: the key was refused"
    );
    let mut stream = home.say("Hello again").await;
    assert_eq!(last(&rest(&mut stream).await, "COMPLETED")["text"], "Here I am.");
    home.close().await;
}

/// openclaw#124738, Claude Code 2.1.90: what was approved is not what is there any more.
#[tokio::test]
async fn a_file_that_changed_while_people_looked_at_the_diff_is_not_written() {
    a_changed_file_is_not_written(CONFIG).await;
}

/// Where the configuration would not ask and the session does.
#[tokio::test]
async fn a_file_that_changed_is_not_written_in_a_session_with_a_mode_of_its_own_either() {
    for mode in ["yolo", "autoEdit"] {
        let config = CONFIG.replace("[approval]", &format!("[approval]\nmode = '{mode}'"));
        a_changed_file_is_not_written(&config).await;
    }
}

async fn a_changed_file_is_not_written(config: &str) {
    let house = House::new();
    house.put("shop.toml", "timeout = 30\n");
    let write = calls(&[(
        "write",
        json!({ "path": "shop.toml", "content": "timeout = 90\n" }),
    )]);
    let home = house
        .open_as(
            config,
            Tools::builtin(&house.work()),
            json!([write, on("has changed since", says("Somebody else was there."))]),
        )
        .await;
    let broker = home.engine.broker();
    broker
        .set_mode(&session("s"), Mode::Default, &lin())
        .await
        .unwrap();
    let mut stream = home.say("Raise the timeout").await;
    let asked = question(&mut stream).await;
    assert!(shown(&asked).contains("timeout = 90"), "{}", shown(&asked));
    house.put("shop.toml", "timeout = 60\n");
    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "OBSERVATION")["ok"], false);
    assert_eq!(last(&events, "COMPLETED")["text"], "Somebody else was there.");
    assert_eq!(house.file("shop.toml").as_deref(), Some("timeout = 60\n"));
    home.close().await;
}

/// vercel/eve#785 and #2469: the turn died, or the model made results up.
#[tokio::test]
async fn a_message_while_a_question_is_open_is_read_after_the_turn() {
    let house = House::new();
    let home = house
        .open(json!([
            calls(&[("bash", json!({ "command": "echo hi > hi.txt" }))]),
            on("still waiting", says("I read your message after the result.")),
        ]))
        .await;
    let mut stream = home.say("Write hi").await;
    let asked = question(&mut stream).await;
    home.say("yes yes, go").await;
    assert!(
        home.agent.resume_point(&session("s")).await.unwrap().is_some(),
        "the turn goes on"
    );
    assert!(house.file("hi.txt").is_none(), "a message is no approval");
    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "STARTED")["queued"], true);
    assert_eq!(
        last(&events, "COMPLETED")["text"],
        "I read your message after the result."
    );
    home.close().await;
}

#[tokio::test]
async fn an_edited_call_runs_as_edited_and_the_model_is_told_both() {
    let house = House::new();
    let home = house
        .open(json!([
            calls(&[("bash", json!({ "command": "echo 1.0 > VERSION" }))]),
            on("changed the arguments", says("1.1, then.")),
        ]))
        .await;
    let mut stream = home.say("Set the version").await;
    let asked = question(&mut stream).await;
    let answer = placet_core::interaction::Answer {
        by: principal("lin"),
        option: "approve".into(),
        feedback: None,
        data: None,
        edited_args: Some(
            placet_core::call::Args::from_value(json!({ "command": "echo 1.1 > VERSION" })).unwrap(),
        ),
        instruction: Some("and tell the others".into()),
        remember: None,
        shown: placet_core::interaction::Shown::Whole(placet_core::digest::Digest::of("test", &[])),
    };
    home.engine.broker().answer(&id_of(&asked), answer).await.unwrap();
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "1.1, then.");
    assert_eq!(house.file("VERSION").as_deref(), Some("1.1\n"));
    home.close().await;
}

#[tokio::test]
async fn ending_the_session_stops_what_runs_and_ends_the_run() {
    let house = House::new();
    let home = house
        .open(json!([
            calls(&[("bash", json!({ "command": "echo begun > begun; sleep 100" }))]),
            says("never")
        ]))
        .await;
    let mut stream = home.say("Sleep").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "approve", None).await;
    crate::support::soon(async {
        while house.file("begun").is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
    home.engine
        .broker()
        .end_session(&session("s"), "lin")
        .await
        .unwrap();
    let events = rest(&mut stream).await;
    assert!(
        last(&events, "OBSERVATION")["output"]
            .as_str()
            .unwrap()
            .contains("may have happened in part")
    );
    assert_eq!(last(&events, "COMPLETED")["how"], "terminated");
    home.close().await;
}
