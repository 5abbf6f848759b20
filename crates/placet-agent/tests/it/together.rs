//! Calls of one turn run side by side: none undoes another.

use std::fmt::Write as _;

use placet_agent::Tools;
use serde_json::{Value, json};

use crate::support::{House, calls, names, question, rest, says};

const UNASKED: &str = "[approval]\nmode = 'autoEdit'\n";

fn observed(events: &[placet_agent::chat::ChatEvent]) -> Vec<Value> {
    let results = events.iter().filter(|event| event.what.name() == "OBSERVATION");
    results.map(|event| event.what.data()).collect()
}

#[tokio::test]
async fn edits_of_one_file_in_one_turn_are_all_in_it_however_it_is_named() {
    let house = House::new();
    let mut text = String::new();
    for n in 10..34 {
        let _ = writeln!(text, "line {n} is old");
    }
    house.put("a.txt", &text);
    std::os::unix::fs::symlink(house.work().join("a.txt"), house.work().join("b.txt")).unwrap();
    let edits: Vec<(&str, Value)> = (10..34)
        .zip(["a.txt", "./a.txt", "b.txt"].iter().cycle())
        .map(|(n, path)| {
            let (old, new) = (format!("line {n} is old"), format!("line {n} is new"));
            ("edit", json!({ "path": path, "old": old, "new": new }))
        })
        .collect();
    let home = house
        .open_as(
            UNASKED,
            Tools::builtin(&house.work()),
            json!([calls(&edits), says("Done.")]),
        )
        .await;
    let events = rest(&mut home.say("Renew the lines").await).await;
    let results = observed(&events);
    assert_eq!(results.len(), edits.len(), "{:?}", names(&events));
    assert!(results.iter().all(|result| result["ok"] == true), "{results:?}");
    assert_eq!(house.file("a.txt").unwrap(), text.replace("old", "new"));
    home.close().await;
}

/// People agreed to a change of what they were shown. After the first change it is not there any more.
#[tokio::test]
async fn of_two_changes_of_one_file_that_people_allowed_the_second_is_refused() {
    let house = House::new();
    house.put("a.txt", "one\ntwo\n");
    let edit = |old, new| ("edit", json!({ "path": "a.txt", "old": old, "new": new }));
    let turn = calls(&[edit("one", "1"), edit("two", "2")]);
    let home = house.open(json!([turn, says("Half of it.")])).await;
    let mut stream = home.say("Write numbers").await;
    let (first, second) = (question(&mut stream).await, question(&mut stream).await);
    tokio::join!(
        home.answer(&first, "approve", None),
        home.answer(&second, "approve", None)
    );
    let mut results = observed(&rest(&mut stream).await);
    results.sort_by_key(|result| result["ok"] == true);
    assert_eq!(results[1]["ok"], true, "{results:?}");
    assert_eq!(results[0]["ok"], false, "{results:?}");
    assert!(
        results[0].to_string().contains("has changed since"),
        "{results:?}"
    );
    let text = house.file("a.txt").unwrap();
    assert!(text == "1\ntwo\n" || text == "one\n2\n", "{text}");
    home.close().await;
}
