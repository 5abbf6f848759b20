//! The sandbox under the agent: what runs unasked because it is confined, and what needs approval.

use placet_agent::Tools;
use placet_agent::sandbox::Support;
use placet_agent::tools::Surroundings;
use placet_core::confine::{Confinement, Level, Need};
use placet_core::journal::Event;
use placet_core::listing::JournalPage;
use placet_core::verdict::Verdict;
use serde_json::{Value, json};

use crate::support::{CONFIG, Home, House, calls, last, question, rest, says};

fn configured(more: &str) -> String {
    CONFIG.replace("[approval]", "[approval]\nmode = 'autoEdit'") + more
}

async fn open(house: &House, config: &str, args: Value) -> Home {
    let turns = json!([calls(&[("bash", args)]), says("Done.")]);
    house.open_as(config, Tools::builtin(&house.work()), turns).await
}

/// What policy said of the calls so far.
async fn verdicts(home: &Home) -> Vec<Verdict> {
    let rows = home
        .engine
        .store()
        .look(|stored| stored.journal(&JournalPage::of_all(0, 100)).cloned())
        .await
        .unwrap();
    let verdict = |event| match event {
        Event::CallReceived { verdict, .. } => Some(*verdict),
        _ => None,
    };
    rows.into_iter().filter_map(|row| verdict(row.event)).collect()
}

#[tokio::test]
async fn in_auto_edit_a_confined_command_runs_unasked_and_the_journal_says_what_confined_it() {
    let house = House::new();
    let home = open(
        &house,
        &configured(""),
        json!({ "command": "./build.sh || touch made" }),
    )
    .await;
    let mut stream = home.say("Build").await;
    let events = rest(&mut stream).await;
    assert!(
        events.iter().all(|event| event.what.name() != "INTERACTION"),
        "{events:?}"
    );
    assert!(house.file("made").is_some());
    let [verdict] = &verdicts(&home).await[..] else {
        panic!("one call")
    };
    assert_eq!(verdict.confinement, Some(Confinement::whole(Level::Workspace)));
    assert_eq!(verdict.category.as_str(), "write");
    home.close().await;
}

#[tokio::test]
async fn what_a_command_asks_for_is_asked_about_and_the_question_says_it() {
    let house = House::new();
    let args = json!({ "command": "./install.sh", "needs": ["network"], "purpose": "the registry" });
    let home = open(&house, &configured(""), args).await;
    let mut stream = home.say("Install").await;
    let asked = json!(question(&mut stream).await).to_string();
    assert!(asked.contains("network: the registry"), "{asked}");
    assert!(
        asked.contains("writes only inside the workspace, reads nothing of the home folder"),
        "{asked}"
    );
    let [verdict] = &verdicts(&home).await[..] else {
        panic!("one call")
    };
    assert_eq!(verdict.confinement.as_ref().unwrap().needs, [Need::Network]);
    assert_eq!(verdict.category.as_str(), "network");
    home.close().await;
}

#[tokio::test]
async fn a_high_command_is_asked_about_however_confined_and_runs_confined_when_approved() {
    let house = House::new();
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("x");
    let home = open(
        &house,
        &configured(""),
        json!({ "command": format!("echo x > {}", target.display()) }),
    )
    .await;
    let mut stream = home.say("Go").await;
    let asked = question(&mut stream).await;
    let shown = json!(asked).to_string();
    assert!(shown.contains("HIGH") && shown.contains("no network"), "{shown}");
    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    let told = last(&events, "OBSERVATION").to_string();
    assert!(told.contains("ran confined") && told.contains("needs"), "{told}");
    assert!(!target.exists());
    home.close().await;
}

#[tokio::test]
async fn a_rule_about_commands_concerns_confined_ones() {
    let house = House::new();
    let rule = "[[rules]]\nname = 'ask about commands'\ncategory = 'command'\neffect = 'ask'\n";
    let home = open(&house, &configured(rule), json!({ "command": "./build.sh" })).await;
    let mut stream = home.say("Build").await;
    assert!(
        json!(question(&mut stream).await)
            .to_string()
            .contains("ask about commands")
    );
    home.close().await;
}

#[tokio::test]
async fn where_nothing_confines_a_command_is_a_command_and_asked_about() {
    for (support, config) in [
        (Support::Missing("no Landlock".into()), configured("")),
        (Support::Full, configured("[agent.sandbox]\nmode = 'off'\n")),
    ] {
        let house = House::new();
        let tools = Tools::builtin_in(Surroundings {
            support,
            ..Surroundings::of(&house.work())
        });
        let turns = json!([
            calls(&[("bash", json!({ "command": "./build.sh" }))]),
            says("Done.")
        ]);
        let described = tools.get("bash").unwrap().description().to_owned();
        let home = house.open_as(&config, tools, turns).await;
        let mut stream = home.say("Build").await;
        // The tool says of itself that commands may run confined; the question does not say that this one does.
        let asked = json!(question(&mut stream).await)
            .to_string()
            .replace(&described, "");
        assert!(!asked.contains("confined"), "{asked}");
        let [verdict] = &verdicts(&home).await[..] else {
            panic!("one call")
        };
        assert_eq!(
            (verdict.confinement.as_ref(), verdict.category.as_str()),
            (None, "command")
        );
        home.close().await;
    }
}
