//! Calls of one turn run side by side: none undoes another, and there are only so many.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use placet_agent::Tools;
use placet_agent::chat::Saying;
use placet_agent::tools::Tool;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use crate::support::{House, calls, last, lin, names, on, question, rest, says, session, soon};

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

#[tokio::test]
async fn calls_of_one_turn_that_write_do_so_in_the_order_they_were_wanted() {
    let house = House::new();
    house.put("count.txt", "step 10");
    let mut wanted: Vec<(&str, Value)> = (10..30)
        .map(|n| {
            let (old, new) = (format!("step {n}"), format!("step {}", n + 1));
            ("edit", json!({ "path": "count.txt", "old": old, "new": new }))
        })
        .collect();
    wanted.extend((0..20).map(|n| ("write", json!({ "path": "last.txt", "content": n.to_string() }))));
    let tools = Tools::builtin(&house.work());
    let home = house
        .open_as(UNASKED, tools, json!([calls(&wanted), says("Done.")]))
        .await;
    let results = observed(&rest(&mut home.say("Count").await).await);
    assert!(results.iter().all(|result| result["ok"] == true), "{results:?}");
    assert_eq!(house.file("count.txt").as_deref(), Some("step 30"));
    assert_eq!(house.file("last.txt").as_deref(), Some("19"));
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

/// A tool whose calls stay until they are let go.
struct Hold {
    inside: watch::Sender<usize>,
    most: AtomicUsize,
    door: Semaphore,
}

#[async_trait]
impl Tool for Hold {
    fn name(&self) -> &'static str {
        "hold"
    }

    fn description(&self) -> &'static str {
        "Holds."
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn run(&self, _: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        self.inside.send_modify(|inside| *inside += 1);
        self.most.fetch_max(*self.inside.borrow(), Ordering::SeqCst);
        // No call gets a permit: it is closed at some time, and then all go.
        let _ = self.door.acquire().await;
        self.inside.send_modify(|inside| *inside -= 1);
        Ok("held".into())
    }
}

#[tokio::test]
async fn a_turn_has_so_many_calls_and_only_some_of_them_run_at_once() {
    let house = House::new();
    let hold = Arc::new(Hold {
        inside: watch::Sender::new(0),
        most: AtomicUsize::new(0),
        door: Semaphore::new(0),
    });
    let tools = Tools::builtin(&house.work()).with([Arc::clone(&hold) as Arc<dyn Tool>]);
    let many: Vec<(&str, Value)> = (0..70).map(|n| ("hold", json!({ "n": n }))).collect();
    let look = calls(&[("ls", json!({}))]);
    let turns = json!([
        on("all of it", calls(&many)),
        on("look", look),
        on("held", says("Done.")),
        says("Nothing there.")
    ]);
    let home = house
        .open_as("[tools.hold]\ncategory = 'read'\n", tools, turns)
        .await;
    let mut stream = home.say("all of it").await;
    soon(hold.inside.subscribe().wait_for(|inside| *inside == 8))
        .await
        .unwrap();
    // All calls of the turn were there before this run began; it is another one, and does not wait for them.
    let saying = Saying {
        session: Some(session("other")),
        text: "look".into(),
        person: lin(),
        place: None,
    };
    let (_, mut other) = home.agent.chat().send(saying).await.unwrap();
    assert_eq!(
        last(&rest(&mut other).await, "COMPLETED")["text"],
        "Nothing there."
    );
    assert_eq!(hold.most.load(Ordering::SeqCst), 8);
    hold.door.close();
    let events = rest(&mut stream).await;
    let results = observed(&events);
    let stayed = results.iter().filter(|result| result["ok"] == true).count();
    let refused: Vec<&Value> = results.iter().filter(|result| result["ok"] == false).collect();
    assert_eq!((stayed, refused.len()), (64, 6), "{:?}", names(&events));
    assert!(
        refused
            .iter()
            .all(|result| result.to_string().contains("at most 64 calls")),
        "{refused:?}"
    );
    assert_eq!(hold.most.load(Ordering::SeqCst), 8);
    assert_eq!(last(&events, "COMPLETED")["text"], "Done.");
    home.close().await;
}
