//! Two arguments for one part of a command never hide each other.

use placet_core::analysis::{Ban, FixedPlaces};
use placet_core::ids::ToolName;
use placet_core::tool::Risk;
use serde_json::json;

use super::*;
use crate::analyse;

fn found(args: Value) -> Analysis {
    let args = serde_json::from_value(args).unwrap();
    let tool = Tool::unknown(ToolName::new("mytool").unwrap());
    analyse(&tool, &args, (&FixedPlaces::of_examples()).into())
}

#[test]
fn a_line_beside_a_program_is_looked_into() {
    for args in [
        json!({"command": "rm -rf /", "program": "echo"}),
        json!({"command": "rm -rf /", "program": "echo", "args": ["hello"]}),
        json!({"cmd": "rm -rf /", "executable": "/bin/bash", "argv": ["-l"]}),
    ] {
        let banned = Some(Ban::DeletesAll { path: "/".into() });
        assert_eq!(found(args.clone()).banned, banned, "{args}");
        let lines = shell_lines(&serde_json::from_value(args.clone()).unwrap()).unwrap();
        assert!(
            lines.len() == 2 && lines.contains(&"rm -rf /".to_owned()),
            "{args}"
        );
    }
}

#[test]
fn the_second_of_two_arguments_for_one_part_counts() {
    for args in [
        json!({"executable": "ls", "program": "sudo"}),
        json!({"executable": "sudo", "program": "ls"}),
        json!({"command": "ls", "script": "sudo ls"}),
        json!({"command": "ls", "cwd": "src", "workdir": "/etc"}),
        json!({"command": "ls", "cwd": "/etc", "workdir": "src"}),
        json!({"args": ["ls"], "argv": ["sudo"]}),
    ] {
        assert_eq!(found(args.clone()).risk(), Risk::High, "{args}");
    }
}

#[test]
fn statements_about_tables_are_found_in_arguments_of_any_name() {
    for text in [
        "drop table users",
        "select * into copied from users",
        "WITH x AS (SELECT 1) DELETE FROM t",
    ] {
        let facts = found(json!({"note_to_db": text})).facts;
        let is_statement = |kind: &FactKind| matches!(kind, FactKind::Statement { .. });
        assert!(
            facts.iter().any(|fact| is_statement(&fact.kind)),
            "{text}: {facts:?}"
        );
    }
    for text in ["Use tabs", "please update me on the selected tables", "dropped"] {
        assert_eq!(found(json!({"note_to_db": text})).facts, [], "{text}");
    }
}
