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
        "Commands in this line:\n│ make test\n",
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
        text.starts_with("Run `echo 'unfinished` [HIGH]\n") && text.contains("\n│ echo 'unfinished\n"),
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
        text.lines().nth(2).unwrap().to_owned()
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

#[test]
fn the_gist_names_what_would_happen_and_to_whom() {
    let check = |tool: &str, args: Value, english: &str, chinese: &str| {
        let story = story(tool, args, Risk::Medium);
        for (locale, wanted) in [(Locale::English, english), (Locale::Chinese, chinese)] {
            let text = to_text(&story.document(locale), &surface(Markup::Plain)).text;
            assert!(text.starts_with(wanted), "{wanted}: {text}");
        }
    };
    check(
        "send_email",
        json!({"attachments": ["a"], "body": "Hello", "subject": "News", "to": ["all@example.com", "b@example.com"]}),
        "Run `send_email`: `to: all@example.com, b@example.com`, `subject: News` [MEDIUM]\n",
        "执行 `send_email`: `to: all@example.com, b@example.com`, `subject: News` [中]\n",
    );
    check(
        "deploy",
        json!({"canary": true, "replicas": 3, "service": "checkout", "version": "2.14.0"}),
        "Run `deploy`: `service: checkout`, `version: 2.14.0` [MEDIUM]\n",
        "执行 `deploy`: `service: checkout`, `version: 2.14.0` [中]\n",
    );
    check("ping", json!({}), "Run `ping` [MEDIUM]\n", "执行 `ping` [中]\n");
    // A long line is told by its programs, and stands below in full.
    let long = format!("git add {} && make", "file ".repeat(40));
    let mut story = story("bash", json!({ "command": long }), Risk::Medium);
    story.analysis.facts = vec![
        command("git add file", &[], Risk::Medium, None),
        command("make", &["sudo"], Risk::High, None),
    ];
    let text = story.text();
    assert!(
        text.starts_with("Run 2 commands: `git`, `sudo` [MEDIUM]\n") && text.contains("\n│ git add"),
        "{text}"
    );
}

#[test]
fn a_secret_is_masked_in_the_gist_and_a_look_alike_pointed_out() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let story_of = |args| story("deploy", args, Risk::Medium).text();
    let text = story_of(json!({"target": token}));
    assert!(!text.contains(token), "{text}");
    let text = story_of(json!({"target": "pr\u{43E}d"}));
    assert!(text.lines().next().unwrap().contains('⟦'), "{text}");
}

#[test]
fn arguments_that_name_a_target_come_first() {
    let text = story(
        "send_email",
        json!({"attachments": [], "body": "Hello", "to": "all@example.com"}),
        Risk::Medium,
    )
    .text();
    let places: Vec<_> = ["│ to:", "│ attachments:", "│ body:"]
        .iter()
        .map(|name| text.find(name))
        .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
}
