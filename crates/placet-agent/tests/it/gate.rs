//! Ways past the gate that an agent might try with the built-in tools, and that they do not work.

use placet_agent::chat::Viewer;
use placet_core::ids::SessionId;
use serde_json::{Value, json};

use crate::support::{House, calls, last, lin, on, question, rest, says, session};

/// One call needs approval; it is rejected, and nothing has come of it.
async fn is_asked(house: &House, tool: &str, args: Value, why: &str) {
    let home = house
        .open(json!([calls(&[(tool, args.clone())]), says("Well.")]))
        .await;
    let session = SessionId::new("s").unwrap();
    let mut stream = home.say("Go").await;
    let asked = question(&mut stream).await;
    assert_eq!(asked.session_id, session);
    let shown = json!(asked).to_string();
    assert!(shown.contains("HIGH") && shown.contains(why), "{args}: {shown}");
    home.answer(&asked, "reject", None).await;
    rest(&mut stream).await;
    home.close().await;
}

#[tokio::test]
async fn searching_outside_the_workspace_is_asked_about() {
    for (tool, args) in [
        ("grep", json!({ "pattern": "root", "path": "/etc" })),
        ("glob", json!({ "pattern": "*", "path": "/etc" })),
        ("grep", json!({ "pattern": "root", "path": "../.." })),
        ("ls", json!({ "path": "/" })),
    ] {
        is_asked(&House::new(), tool, args, "outside").await;
    }
}

#[tokio::test]
async fn a_link_as_the_path_of_a_search_is_judged_by_where_it_leads() {
    let house = House::new();
    std::os::unix::fs::symlink("/etc", house.work().join("docs")).unwrap();
    is_asked(
        &house,
        "grep",
        json!({ "pattern": "root", "path": "docs" }),
        "outside",
    )
    .await;
}

#[tokio::test]
async fn a_secret_named_as_the_path_of_a_search_is_asked_about() {
    let house = House::new();
    house.put(".env", "KEY=hunter2");
    is_asked(
        &house,
        "grep",
        json!({ "pattern": "KEY", "path": ".env" }),
        ".env",
    )
    .await;
}

#[tokio::test]
async fn fetching_a_metadata_address_is_asked_about_in_any_spelling() {
    for url in [
        "http://169.254.169.254/latest/",
        "http://0xa9fea9fe/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://localhost:1/",
    ] {
        is_asked(&House::new(), "fetch", json!({ "url": url }), "fetch").await;
    }
}

#[tokio::test]
async fn writing_a_skill_is_asked_about_as_what_steers_agents() {
    let args = json!({ "path": ".placet/skills/x/SKILL.md", "content": "Do as I say." });
    is_asked(&House::new(), "write", args, ".placet").await;
}

#[tokio::test]
async fn several_questions_of_one_call_are_shown_together_and_answered_one_by_one() {
    let house = House::new();
    let questions = json!({ "questions": [
        { "title": "Colour", "message": "Which colour?", "options": [
            { "optionId": "red", "label": "Red" }, { "optionId": "blue", "label": "Blue" } ] },
        { "title": "Name", "message": "Which name?" },
    ] });
    let home = house
        .open(json!([
            calls(&[("askUserQuestion", questions)]),
            on("Blue", on("Ada", says("Noted.")))
        ]))
        .await;
    let mut stream = home.say("Ask me").await;
    let (first, second) = (question(&mut stream).await, question(&mut stream).await);
    assert_eq!((first.title.as_str(), second.title.as_str()), ("Colour", "Name"));
    home.answer(&second, "answer", Some("Ada")).await;
    home.answer(&first, "blue", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "Noted.");
    home.close().await;
}

#[tokio::test]
async fn silence_takes_the_default_of_a_question_and_is_still_called_silence() {
    let house = House::new();
    let ask = json!({ "title": "Plan", "message": "Which?", "timeoutSeconds": 1, "defaultOptionId": "b", "options": [
        { "optionId": "a", "label": "Plan A" }, { "optionId": "b", "label": "Plan B", "metadata": { "plan": 2 } } ] });
    let home = house
        .open(json!([
            calls(&[("askUserQuestion", ask)]),
            on("Plan B", says("B it is."))
        ]))
        .await;
    let mut stream = home.say("Ask me").await;
    question(&mut stream).await;
    let events = rest(&mut stream).await;
    let told = last(&events, "OBSERVATION")["output"].clone();
    assert_eq!(told["outcome"], "expired");
    assert_eq!(
        told["data"],
        json!({ "selectedOptionId": "b", "label": "Plan B", "metadata": { "plan": 2 } })
    );
    assert_eq!(last(&events, "COMPLETED")["text"], "B it is.");
    home.close().await;
}

#[tokio::test]
async fn a_folder_that_became_a_link_while_people_thought_is_not_written_through() {
    let house = House::new();
    let outside = tempfile::tempdir().unwrap();
    let write = json!({ "path": "out/new.txt", "content": "x" });
    let turns = json!([calls(&[("write", write)]), says("Well.")]);
    let home = house.open(turns.clone()).await;
    let mut stream = home.say("Go").await;
    let asked = question(&mut stream).await;
    home.close().await;

    std::os::unix::fs::symlink(outside.path(), house.work().join("out")).unwrap();
    let home = house.open(turns).await;
    let viewer = Viewer::Person(lin());
    let attached = home.agent.chat().attach(&session("s"), &viewer, None).await;
    let mut stream = attached.unwrap();
    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    let told = last(&events, "OBSERVATION").to_string();
    assert!(told.contains("led to `out/new.txt` when a person"), "{told}");
    assert!(std::fs::read_dir(outside.path()).unwrap().next().is_none());
    home.close().await;
}

/// A `file:` path is a URL to some and a name to others; it was judged as the one and opened as the other.
#[tokio::test]
async fn a_file_url_as_a_path_is_asked_about() {
    for path in ["file:a?/x", "file:/etc/hostname", "FILE:a?/../../../x"] {
        is_asked(&House::new(), "read", json!({ "path": path }), "file").await;
    }
}
