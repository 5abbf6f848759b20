//! Delegated tasks: a run does a call of another run. Its questions reach the root's people with the path of who asks, a parked
//! child parks its parent, and the end of one is the result of the other.

use placet_agent::Rest;
use placet_core::ids::SessionId;
use placet_core::interaction::InteractionRequest;
use placet_core::journal::Event;
use placet_core::listing::JournalPage;
use placet_core::policy::Mode;
use placet_core::run::RunEnd;
use placet_core::steps::MessageOutcome;
use serde_json::{Value, json};

use crate::support::{Home, House, calls, id_of, last, lin, on, question, rest, says, session, shown, soon};

/// A turn that hands work on.
fn hands_on(tasks: &[(&str, &str)]) -> Value {
    let args = |(description, prompt): &(&str, &str)| json!({ "description": description, "prompt": prompt });
    let tasks: Vec<(&str, Value)> = tasks.iter().map(|task| ("task", args(task))).collect();
    calls(&tasks)
}

fn appends(line: &str) -> Value {
    calls(&[(
        "bash",
        json!({ "command": format!("echo {line} >> log.txt; echo {line}-is-there") }),
    )])
}

/// A parent that hands one thing on, and a child that needs a person for it.
fn one_child() -> Value {
    json!([
        on("Log it", hands_on(&[("Write the log", "APPEND a line")])),
        on("APPEND", appends("one")),
        on("one-is-there", says("REPORT: one line.")),
        on("rejected_by_person", says("REPORT: I was not let.")),
        on("REPORT", says("The helper says so.")),
        on("the run", says("The helper could not.")),
    ])
}

async fn parked_on(home: &Home) -> Vec<placet_core::ids::InteractionId> {
    match soon(home.agent.rest(&session("s"))).await.unwrap() {
        Rest::Parked { questions } => questions,
        other => panic!("it is not parked: {other:?}"),
    }
}

async fn runs_begun(home: &Home) -> Vec<(SessionId, Vec<String>)> {
    let rows = home
        .engine
        .store()
        .look(|stored| stored.journal(&JournalPage::of_all(0, 10_000)).cloned())
        .await
        .unwrap();
    let begun = rows.into_iter().filter_map(|row| match row.event {
        Event::RunStarted(run) => Some((row.session, run.origin.agent_path)),
        _ => None,
    });
    begun.collect()
}

fn child_of(asked: &InteractionRequest) -> SessionId {
    assert!(
        asked.session_id.as_str().starts_with("task_"),
        "{}",
        asked.session_id
    );
    asked.session_id.clone()
}

async fn sound(home: Home) {
    let verified = home.engine.store().verify(None).await.unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    home.close().await;
}

#[tokio::test]
async fn a_child_asks_its_parent_is_parked_and_both_go_on_when_answered() {
    let house = House::new();
    let home = house.open(one_child()).await;
    let mut stream = home.say("Log it").await;
    let asked = question(&mut stream).await;
    assert!(
        shown(&asked).contains("placet › write-the-log"),
        "{}",
        shown(&asked)
    );
    assert_eq!(parked_on(&home).await, [id_of(&asked)]);
    let point = home.agent.resume_point(&session("s")).await.unwrap().unwrap();
    assert_eq!(point.context["calls"][0]["state"], "delegated");

    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "OBSERVATION")["output"], "REPORT: one line.");
    assert_eq!(last(&events, "OBSERVATION")["ok"], true);
    assert_eq!(last(&events, "COMPLETED")["text"], "The helper says so.");
    assert_eq!(house.file("log.txt").as_deref(), Some("one\n"));
    sound(home).await;
}

#[tokio::test]
async fn a_restart_while_a_child_is_parked_asks_nothing_new_and_loses_nothing() {
    let house = House::new();
    let home = house.open(one_child()).await;
    let mut stream = home.say("Log it").await;
    let asked = question(&mut stream).await;
    home.close().await;

    let home = house.open(one_child()).await;
    let open = home.engine.broker().pending(None, 10).await.unwrap();
    assert_eq!(
        open.len(),
        1,
        "nobody is asked whether the task may have happened"
    );
    assert_eq!(parked_on(&home).await, [id_of(&asked)]);
    home.answer(&asked, "approve", None).await;
    let ended = soon(home.agent.rest(&session("s"))).await.unwrap();
    let text = "The helper says so.".to_owned();
    assert_eq!(
        ended,
        Rest::Ended {
            how: RunEnd::Completed,
            text
        }
    );
    assert_eq!(house.file("log.txt").as_deref(), Some("one\n"));
    assert_eq!(runs_begun(&home).await.len(), 2);
    sound(home).await;
}

#[tokio::test]
async fn a_rejection_reaches_the_child_and_its_report_the_parent() {
    let house = House::new();
    let home = house.open(one_child()).await;
    let mut stream = home.say("Log it").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "reject", Some("not now")).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "OBSERVATION")["output"], "REPORT: I was not let.");
    assert_eq!(house.file("log.txt"), None);
    sound(home).await;
}

#[tokio::test]
async fn ending_the_run_at_a_childs_question_ends_all_of_it() {
    let house = House::new();
    let home = house.open(one_child()).await;
    let mut stream = home.say("Log it").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "terminate", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["how"], "terminated");
    for ended in [session("s"), child_of(&asked)] {
        match soon(home.agent.rest(&ended)).await.unwrap() {
            Rest::Ended { how, .. } => assert_eq!(how, RunEnd::Terminated { by: "lin".into() }),
            other => panic!("{ended} goes on: {other:?}"),
        }
    }
    assert_eq!(house.file("log.txt"), None);
    sound(home).await;
}

#[tokio::test]
async fn ending_a_session_ends_the_runs_it_handed_work_to_and_what_they_ask() {
    let house = House::new();
    let home = house.open(one_child()).await;
    let mut stream = home.say("Log it").await;
    let asked = question(&mut stream).await;
    home.engine
        .broker()
        .end_session(&session("s"), "wei")
        .await
        .unwrap();
    assert!(home.engine.broker().pending(None, 10).await.unwrap().is_empty());
    for ended in [session("s"), child_of(&asked)] {
        match soon(home.agent.rest(&ended)).await.unwrap() {
            Rest::Ended { how, .. } => assert_eq!(how, RunEnd::Terminated { by: "wei".into() }),
            other => panic!("{ended} goes on: {other:?}"),
        }
    }
    sound(home).await;
}

#[tokio::test]
async fn a_child_whose_model_fails_is_a_failed_call_with_the_reason() {
    let house = House::new();
    let home = house
        .open(json!([
            on("Log it", hands_on(&[("Try", "APPEND")])),
            on("APPEND", json!({ "error": "the key was refused" })),
            on("the key was refused", says("No key.")),
        ]))
        .await;
    let events = rest(&mut home.say("Log it").await).await;
    assert_eq!(last(&events, "OBSERVATION")["ok"], false);
    assert_eq!(last(&events, "COMPLETED")["text"], "No key.");
    sound(home).await;
}

#[tokio::test]
async fn two_children_of_one_turn_ask_side_by_side_and_are_answered_in_any_order() {
    let house = House::new();
    let home = house
        .open(json!([
            on(
                "Log both",
                hands_on(&[("First", "APPEND-A"), ("Second", "APPEND-B")])
            ),
            on("APPEND-A", appends("alpha")),
            on("APPEND-B", appends("beta")),
            on("alpha-is-there", says("REPORT alpha")),
            on("beta-is-there", says("REPORT beta")),
            on("REPORT", says("Both are there.")),
        ]))
        .await;
    let mut stream = home.say("Log both").await;
    let (one, two) = (question(&mut stream).await, question(&mut stream).await);
    assert_ne!(child_of(&one), child_of(&two));
    let mut waits = parked_on(&home).await;
    let mut asked = vec![id_of(&one), id_of(&two)];
    waits.sort();
    asked.sort();
    assert_eq!(waits, asked);
    home.answer(&two, "approve", None).await;
    home.answer(&one, "approve", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "Both are there.");
    let log = house.file("log.txt").unwrap();
    assert!(log.contains("alpha\n") && log.contains("beta\n"), "{log}");
    sound(home).await;
}

#[tokio::test]
async fn a_grandchild_asks_with_its_whole_path_and_parks_everybody_above_it() {
    let house = House::new();
    let home = house
        .open(json!([
            on("Log it", hands_on(&[("Plan it", "MIDDLE")])),
            on("MIDDLE", hands_on(&[("Do it", "APPEND")])),
            on("APPEND", appends("deep")),
            on("deep-is-there", says("REPORT-1")),
            on("REPORT-1", says("REPORT-2")),
            on("REPORT-2", says("Passed on.")),
        ]))
        .await;
    let mut stream = home.say("Log it").await;
    let asked = question(&mut stream).await;
    assert!(
        shown(&asked).contains("placet › plan-it › do-it"),
        "{}",
        shown(&asked)
    );
    assert_eq!(parked_on(&home).await, [id_of(&asked)]);
    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "Passed on.");
    sound(home).await;
}

#[tokio::test]
async fn work_is_handed_on_three_times_and_no_deeper() {
    let house = House::new();
    let home = house
        .open(json!([
            on("there is no tool `task`", says("BOTTOM")),
            on("BOTTOM", says("BOTTOM, I hear.")),
            on("DEEPER", hands_on(&[("Dig", "DEEPER")])),
        ]))
        .await;
    let events = rest(&mut home.say("DEEPER").await).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "BOTTOM, I hear.");
    let paths: Vec<usize> = runs_begun(&home)
        .await
        .iter()
        .map(|(_, path)| path.len())
        .collect();
    assert_eq!(paths, [0, 1, 2, 3]);
    sound(home).await;
}

#[tokio::test]
async fn what_a_session_was_allowed_is_not_allowed_to_its_children_but_its_mode_holds_for_them() {
    let house = House::new();
    let write = |path: &str| calls(&[("write", json!({ "path": path, "content": "x" }))]);
    let home = house
        .open(json!([
            on("Write here", write("own.txt")),
            on("Now hand it on", hands_on(&[("Write", "WRITE-ONE")])),
            on("WRITE-ONE", write("one.txt")),
            on("Once more", hands_on(&[("Write", "WRITE-TWO")])),
            on("WRITE-TWO", write("two.txt")),
            on("", says("Done.")),
        ]))
        .await;
    let mut stream = home.say("Write here").await;
    let first = question(&mut stream).await;
    home.answer(&first, "approve", None).await;
    rest(&mut stream).await;
    let tool = placet_core::ids::ToolName::new("write").unwrap();
    home.engine
        .broker()
        .allow_tool(&session("s"), &tool, &lin())
        .await
        .unwrap();

    let mut stream = home.say("Now hand it on").await;
    let asked = question(&mut stream).await;
    child_of(&asked);
    home.answer(&asked, "approve", None).await;
    rest(&mut stream).await;

    home.engine
        .broker()
        .set_mode(&session("s"), Mode::AutoEdit, &lin())
        .await
        .unwrap();
    rest(&mut home.say("Once more").await).await;
    assert_eq!(house.file("two.txt").as_deref(), Some("x"));
    sound(home).await;
}

#[tokio::test]
async fn a_mode_given_or_taken_back_meanwhile_is_that_of_the_children_at_once() {
    let house = House::new();
    let home = house.open(one_child()).await;
    let mut stream = home.say("Log it").await;
    let child = child_of(&question(&mut stream).await);
    for mode in [Mode::AutoEdit, Mode::Default] {
        home.engine
            .broker()
            .set_mode(&session("s"), mode, &lin())
            .await
            .unwrap();
        let read = home
            .engine
            .store()
            .look(|stored| Ok(stored.session(&child)?.mode));
        assert_eq!(read.await.unwrap(), Some(mode));
    }
    sound(home).await;
}

#[tokio::test]
async fn interrupting_a_run_interrupts_what_it_handed_on_and_the_conversation_goes_on() {
    let house = House::new();
    let home = house.open(one_child()).await;
    let mut stream = home.say("Log it").await;
    let child = child_of(&question(&mut stream).await);
    assert!(home.agent.interrupt(&session("s"), &lin()).await.unwrap());
    assert_eq!(last(&rest(&mut stream).await, "COMPLETED")["how"], "interrupted");
    match soon(home.agent.rest(&child)).await.unwrap() {
        Rest::Ended { how, .. } => assert_eq!(how, RunEnd::Interrupted { by: "lin".into() }),
        other => panic!("it goes on: {other:?}"),
    }
    assert!(home.engine.broker().pending(None, 10).await.unwrap().is_empty());
    sound(home).await;
}

#[tokio::test]
async fn a_message_to_a_run_that_was_left_alone_wakes_its_helpers_too() {
    let house = House::new();
    let home = house.open(one_child()).await;
    let asked = question(&mut home.say("Log it").await).await;
    home.close().await;

    let home = house.open_idle(one_child()).await;
    home.answer(&asked, "approve", None).await;
    let told = home.agent.tell(&session("s"), "Hurry up", &lin(), None).await;
    assert_eq!(told.unwrap(), MessageOutcome::Queued);
    // Nothing but the helper can go on, and the parent's answer waits for it.
    let ended = soon(home.agent.rest(&session("s"))).await.unwrap();
    let text = "The helper says so.".to_owned();
    let how = RunEnd::Completed;
    assert_eq!(ended, Rest::Ended { how, text });
    assert_eq!(house.file("log.txt").as_deref(), Some("one\n"));
    sound(home).await;
}
