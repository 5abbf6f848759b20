//! The table of tools in the approval document, row by row, against the tools there are.

use std::collections::{BTreeMap, BTreeSet};

use placet_agent::Tools;
use placet_agent::tools::{Database, Surroundings};
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::ids::ToolName;
use placet_core::tool::{Category, SqlDialect};
use placet_core::verdict::Decision;
use serde_json::{Value, json};

use crate::support::{House, says};

const TABLE: [(Category, &str); 5] = [
    (Category::Read, "read grep glob ls bash_output todo task skill"),
    (Category::Write, "write edit"),
    (Category::Command, "bash kill_bash"),
    (Category::Network, "fetch"),
    (Category::Ask, "askUserQuestion"),
];

fn table() -> BTreeMap<String, Category> {
    let row = |(category, names): (Category, &'static str)| {
        names.split(' ').map(move |name| (name.to_owned(), category))
    };
    TABLE.into_iter().flat_map(row).collect()
}

/// What the tools say of themselves, and what the policy takes them for.
fn categories(tools: &Tools) -> [BTreeMap<String, Category>; 2] {
    let names: BTreeSet<String> = tools.specs().into_iter().map(|spec| spec.name).collect();
    let said = |name: &String| (name.clone(), tools.get(name).unwrap().category());
    let config = Config::builtin(placet_inspect::builtin());
    let taken = |name: &String| {
        let tool = ToolName::new(name.as_str()).unwrap();
        (name.clone(), config.builtin_tool(&tool).category)
    };
    [
        names.iter().map(said).collect(),
        names.iter().map(taken).collect(),
    ]
}

#[test]
fn every_built_in_tool_is_in_the_category_of_the_table_and_there_are_no_others() {
    let folder = tempfile::tempdir().unwrap();
    for found in categories(&Tools::builtin(folder.path())) {
        assert_eq!(found, table());
    }
    let books = Database::new("books", SqlDialect::Sqlite, "sqlite:books.db", folder.path()).unwrap();
    let tools = Tools::builtin_in(Surroundings {
        databases: vec![books],
        ..Surroundings::of(folder.path())
    });
    let mut with_databases = table();
    with_databases.insert("sql_query".into(), Category::Read);
    with_databases.insert("data_modify".into(), Category::Write);
    // What the policy takes these two for depends on the statement.
    let [said, _] = categories(&tools);
    assert_eq!(said, with_databases);
}

/// Arguments without anything special about them.
fn args(tool: &str) -> Value {
    match tool {
        "read" | "ls" => json!({ "path": "a.txt" }),
        "grep" | "glob" => json!({ "pattern": "a" }),
        "write" => json!({ "path": "a.txt", "content": "a" }),
        "edit" => json!({ "path": "a.txt", "old": "a", "new": "b" }),
        "bash" => json!({ "command": "make" }),
        "bash_output" | "kill_bash" => json!({ "id": "job-000000" }),
        "fetch" => json!({ "url": "https://example.com/" }),
        "todo" => json!({ "items": [] }),
        "task" => json!({ "description": "a part", "prompt": "do it" }),
        "skill" => json!({ "name": "release" }),
        _ => json!({ "title": "Name", "message": "Which?" }),
    }
}

#[tokio::test]
async fn each_mode_allows_the_categories_that_the_document_says() {
    use Category::{Command, Network, Read, Write};
    for (mode, allowed) in [
        ("default", &[Read][..]),
        ("autoEdit", &[Read, Write]),
        ("yolo", &[Read, Write, Command, Network]),
    ] {
        let house = House::new();
        house.put("a.txt", "a");
        let config = format!("[approval]\nmode = '{mode}'\n");
        let home = house
            .open_as(&config, Tools::builtin(&house.work()), json!([says("Well.")]))
            .await;
        for (tool, category) in table() {
            let call = json!({
                "id": "c", "tool": tool, "args": args(&tool), "session": "s", "origin": { "agent": "placet" },
            });
            let call: ToolCall = serde_json::from_value(call).unwrap();
            let (verdict, _) = home.engine.gate().check(call).await.unwrap();
            let asked = matches!(verdict.decision, Decision::Ask(_));
            assert!(
                asked || verdict.decision == Decision::Allow,
                "{mode} {tool}: {verdict:?}"
            );
            assert_eq!(asked, !allowed.contains(&category), "{mode} {tool}: {verdict:?}");
        }
        home.close().await;
    }
}
