//! What stands first, and what has no lines of its own to show.

use super::*;
use crate::analysis::SqlConcern;

#[test]
fn a_line_comes_whole_before_its_commands_and_one_command_is_not_said_twice() {
    let mut story = story(
        "bash",
        json!({"command": "make test && make install"}),
        Risk::Medium,
    );
    story.analysis.facts = vec![
        command("make test", &[], Risk::Medium, None),
        command("make install", &[], Risk::Medium, None),
    ];
    let text = story.text();
    let order = [
        "│ make test && make install\n",
        "Made of:\n│ make test\n",
        "│ make install\n",
    ];
    let places: Vec<_> = order.iter().map(|part| text.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    story.analysis.facts.truncate(1);
    story.call.args = Args::from_value(json!({"command": "make test"})).unwrap();
    assert_eq!(story.text().matches("│ make test\n").count(), 1);
}

#[test]
fn a_line_that_cannot_be_read_is_shown_all_the_same() {
    let line = "echo 'unfinished";
    let mut story = story("bash", json!({"command": line}), Risk::High);
    story.analysis.facts = vec![Fact {
        kind: FactKind::Unreadable { what: line.into() },
        risk: Risk::High,
        why: Some(Why::NotText {
            arg: "command".into(),
        }),
    }];
    let text = story.text();
    assert!(
        text.starts_with("May `bash` run this? Risk HIGH.\n│ echo 'unfinished\n"),
        "{text}"
    );
}

#[test]
fn a_secret_in_the_line_is_masked_as_in_its_commands() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let line = format!("export T={token} && ls");
    let mut story = story("bash", json!({ "command": line }), Risk::Medium);
    story.analysis.facts = vec![command("ls", &[], Risk::Medium, None)];
    let text = story.text();
    assert!(text.contains("│ export T=") && !text.contains(token), "{text}");
}

#[test]
fn a_change_without_a_line_is_said_in_words() {
    let said = |before: Option<&str>, after: Option<&str>, locale| {
        let mut story = story("write", json!({"path": "note.txt"}), Risk::Medium);
        story.asked.evidence = vec![Evidence::Diff {
            path: "note.txt".into(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }];
        let text = to_text(&story.document(locale), &surface(Markup::Plain)).text;
        text.lines().nth(1).unwrap().to_owned()
    };
    let long = "same\n".repeat(9_000);
    for (before, after, english, chinese) in [
        (
            Some("a\n"),
            Some("a\n"),
            "unchanged file: note.txt (nothing changes)",
            "内容未变的文件：note.txt（没有变化）",
        ),
        (
            Some(long.as_str()),
            Some(long.as_str()),
            "unchanged file: note.txt (nothing changes)",
            "内容未变的文件：note.txt（没有变化）",
        ),
        (
            None,
            Some(""),
            "new file: note.txt (empty)",
            "新建文件：note.txt（空文件）",
        ),
        (
            Some(""),
            None,
            "deleted file: note.txt (it was empty)",
            "删除文件：note.txt（原为空文件）",
        ),
        (
            Some("a\n"),
            Some("b\n"),
            "changed file note.txt:",
            "修改文件 note.txt：",
        ),
    ] {
        assert_eq!(said(before, after, Locale::English), english);
        assert_eq!(said(before, after, Locale::Chinese), chinese);
    }
}

#[test]
fn a_secret_in_the_reason_for_a_risk_is_masked() {
    let secret = "ghp_0123456789abcdefghij0123456789abcdef";
    let mut story = story("sql_query", json!({ "sql": "x" }), Risk::High);
    story.analysis.facts.push(Fact {
        kind: FactKind::Unreadable { what: "SQL".into() },
        risk: Risk::High,
        why: Some(Why::Sql(SqlConcern::Trailing { token: secret.into() })),
    });
    let text = story.text();
    assert!(text.contains("ghp_...[40-chars-masked]"), "{text}");
    assert!(!text.contains(secret), "{text}");
}
