//! Restarts: a run goes on where it was, in another process as well as in this one.

use placet_agent::chat::Viewer;
use serde_json::json;

use crate::support::{House, calls, last, lin, on, question, rest, says, session, soon};

#[tokio::test]
async fn a_parked_run_is_answered_after_a_restart_and_goes_on() {
    let house = House::new();
    let turns = json!([
        calls(&[("bash", json!({ "command": "echo one >> log.txt" }))]),
        calls(&[("bash", json!({ "command": "echo two >> log.txt" }))]),
        says("Both."),
    ]);
    let home = house.open(turns.clone()).await;
    let mut stream = home.say("Log twice").await;
    let asked = question(&mut stream).await;
    home.close().await;

    let home = house.open(turns.clone()).await;
    home.answer(&asked, "approve", None).await;
    let mut stream = home
        .agent
        .chat()
        .attach(&session("s"), &Viewer::Person(lin()), None)
        .await
        .unwrap();
    question(&mut stream).await;
    let second = question(&mut stream).await;
    home.close().await;

    // Answered while no agent works at all.
    let house_only = house.open(json!([])).await;
    house_only.agent.clone().shutdown().await;
    house_only.answer(&second, "approve", None).await;
    house_only.engine.shutdown().await.unwrap();

    let home = house.open(turns).await;
    let mut stream = home
        .agent
        .chat()
        .attach(&session("s"), &Viewer::Person(lin()), None)
        .await
        .unwrap();
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "Both.");
    assert_eq!(house.file("log.txt").as_deref(), Some("one\ntwo\n"));
    let verified = home.engine.store().verify(None).await.unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    home.close().await;
}

#[tokio::test]
async fn a_call_that_was_stopped_says_whether_its_run_was_or_placet() {
    let house = House::new();
    let begin = || calls(&[("bash", json!({ "command": "echo > begun; sleep 600" }))]);
    let begun = async || {
        while house.file("begun").is_none() {
            tokio::task::yield_now().await;
        }
        std::fs::remove_file(house.work().join("begun")).unwrap();
    };
    let home = house.open(json!([begin()])).await;
    let mut stream = home.say("Begin").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "approve", None).await;
    soon(begun()).await;
    home.close().await;

    let told = on("Placet was shut down while this ran", begin());
    let home = house.open(json!([begin(), told])).await;
    let mut stream = home
        .agent
        .chat()
        .attach(&session("s"), &Viewer::Person(lin()), None)
        .await
        .unwrap();
    question(&mut stream).await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "approve", None).await;
    soon(begun()).await;
    home.agent.interrupt(&session("s"), &lin()).await.unwrap();
    let events = rest(&mut stream).await;
    let stopped = last(&events, "OBSERVATION")["output"].to_string();
    assert!(stopped.contains("the run was ended or interrupted"), "{stopped}");
    home.close().await;
}
