//! Two processes on one file: the owner runs calls, a guest lets people answer. Here both are in one process, each with
//! its own connections; the crash test has real processes.

use placet_core::interaction::Interaction;
use placet_core::outcome::Outcome;
use placet_core::time::Millis;
use placet_engine::{Answered, StartError};
use placet_store::OpenError;

use crate::support::*;

#[tokio::test]
async fn an_answer_given_beside_the_owner_wakes_the_agent_that_waits_there() {
    let house = House::new();
    let owner = house.open("").await;
    let id = park(&owner, deploy("c", "staging")).await;
    let waiting = tokio::spawn({
        let gate = owner.gate();
        async move { gate.wait(&key("c")).await }
    });

    let guest = house.join("").await.unwrap();
    let pending = guest.broker().pending(None, 10).await.unwrap();
    assert_eq!(pending.len(), 1);
    let answered = guest
        .broker()
        .answer(&id, choice("lin", "approve"))
        .await
        .unwrap();
    assert!(matches!(answered, Answered::Decided { .. }));
    assert!(soon(waiting).await.unwrap().unwrap().permits());

    // And the other way round: what the owner stores reaches the guest's subscription.
    let head = guest.store().read(|view, _| view.head()).await.unwrap();
    let mut events = guest.subscribe(head, None);
    let _running = owner.gate().claim(&key("c"), None).await.unwrap();
    assert_eq!(soon(events.next()).await.unwrap().event.name(), "claimed");
    guest.close().await.unwrap();
    verify(&owner).await;
}

#[tokio::test]
async fn a_guest_judges_paths_by_the_folder_the_agent_works_in() {
    let house = House::new();
    let owner = house.open("").await;
    let write = call(
        "c",
        "write",
        serde_json::json!({ "path": "a.txt", "content": "x" }),
    );
    let id = park(&owner, write).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let guest = house.builder("").workspace(elsewhere.path());
    let guest = guest.join(&house.file()).await.unwrap();
    let question = guest.broker().question(&id).await.unwrap().unwrap();
    let here = owner.broker().question(&id).await.unwrap().unwrap();
    assert_eq!(question.findings, here.findings);
    assert!(format!("{:?}", question.findings).contains(house.file().parent().unwrap().to_str().unwrap()));
    guest.close().await.unwrap();
}

#[tokio::test]
async fn a_guest_takes_nothing_for_lost_and_expires_nothing() {
    let house = House::new();
    let owner = house.open("").await;
    let asked = park(&owner, deploy("open", "staging")).await;
    decide(&owner, deploy("c", "production"), choice("lin", "approve")).await;
    let _running = owner.gate().claim(&key("c"), None).await.unwrap();
    let guest = house.join("").await.unwrap();
    let left = |now: placet_core::time::LiveTime, interaction: &Interaction| {
        interaction.asked().deadline.remaining_from(now)
    };
    let question = guest.broker().question(&asked).await.unwrap().unwrap();
    assert_eq!(
        left(question.now.live, &question.interaction),
        Millis::from_secs(60)
    );
    let record = owner.gate().record(&key("c")).await.unwrap().unwrap();
    assert_eq!(record.status().as_str(), "approved");
    assert_eq!(open(&owner).await.len(), 1, "the running call is not asked back");
    guest.close().await.unwrap();
}

#[tokio::test]
async fn an_answer_given_while_nobody_runs_is_there_at_the_next_start() {
    let house = House::new();
    let owner = house.open("").await;
    let id = park(&owner, deploy("c", "staging")).await;
    owner.shutdown().await.unwrap();
    house.clock.pass(3600);
    let guest = house.join("").await.unwrap();
    let question = guest.broker().question(&id).await.unwrap().unwrap();
    let asked = question.interaction.asked();
    assert_eq!(
        asked.deadline.remaining_from(question.now.live),
        Millis::from_secs(60),
        "no time passes while nobody runs"
    );
    guest
        .broker()
        .answer(&id, choice("lin", "approve"))
        .await
        .unwrap();
    guest.close().await.unwrap();
    let owner = house.open("").await;
    assert!(matches!(outcome(&owner, "c").await, Outcome::Approved { .. }));
    verify(&owner).await;
}

#[tokio::test]
async fn a_guest_without_an_owner_uses_up_nobodys_time() {
    let house = House::new();
    let owner = house.open("").await;
    let id = park(&owner, deploy("c", "staging")).await;
    owner.shutdown().await.unwrap();
    let guest = house.join("").await.unwrap();
    house.clock.pass(70);
    guest.store().look_around().await.unwrap();
    let question = guest.broker().question(&id).await.unwrap().unwrap();
    let deadline = question.interaction.asked().deadline;
    assert_eq!(
        deadline.remaining_from(question.now.live),
        Millis::from_secs(60),
        "an inbox that is left open expires nothing"
    );
    guest.close().await.unwrap();
    let owner = house.open("").await;
    assert_eq!(owner.store().down_for(), Millis::from_secs(70));
    assert_eq!(
        deadline.remaining_from(owner.store().now().live),
        Millis::from_secs(60)
    );
    assert!(is_open(&owner, &id).await);
}

#[tokio::test]
async fn there_is_nothing_to_join_where_nobody_ever_was() {
    let house = House::new();
    let refused = house.join("").await.err();
    assert!(
        matches!(refused, Some(StartError::Open(OpenError::File { .. }))),
        "{refused:?}"
    );
}
