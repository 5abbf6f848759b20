//! `placet demo`: the whole story by script, and what it leaves behind.

use std::fs;

use assert_cmd::Command;
use rusqlite::Connection;

fn demo(args: &[&str]) -> String {
    let mut placet = Command::cargo_bin("placet").unwrap();
    let output = placet
        .arg("demo")
        .args(args)
        .env("NO_COLOR", "1")
        .assert()
        .success()
        .get_output()
        .clone();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_demo_plays_by_script_and_leaves_exactly_what_was_decided() {
    let text = demo(&["--yes", "--keep"]);
    let folder = text
        .lines()
        .find_map(|line| line.strip_prefix("The folder is kept: "));
    let folder = std::path::PathBuf::from(folder.unwrap());
    let work = folder.join("work");
    let read = |name: &str| fs::read_to_string(work.join(name)).unwrap();

    assert!(
        read("shop.toml").contains("timeout = 90"),
        "the approved edit was made"
    );
    assert!(
        work.join("archive/2025.csv").exists(),
        "the rejected command did not run"
    );
    let db = Connection::open(work.join("shop.db")).unwrap();
    let left: u32 = db
        .query_row("SELECT count(*) FROM orders", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 3, "the approved DELETE ran once");
    assert_eq!(
        read("VERSION"),
        "release 1.1\n",
        "what ran is what the person wrote"
    );
    assert_eq!(
        read("published.txt"),
        "release 1.1\n",
        "the killed question was answered and resumed"
    );
    for seen in [
        "policy allows it without asking",
        "-timeout = 30",
        "Rows affected: 3",
        "\"reason\":\"the archive is needed for the audit\"",
        "> Approve, changed to {\"command\":\"echo 'release 1.1' | tee VERSION\"}",
        "“Run `echo 'release 1.1' | tee VERSION`” (set_version) ran (",
        "“Write `shop.toml`”",
        "is dead. Its request was on disk",
        "placet serve",
        "docs/http.md",
        "intact: ",
    ] {
        assert!(text.contains(seen), "{seen:?} is missing in\n{text}");
    }

    let mut verify = Command::cargo_bin("placet").unwrap();
    verify
        .args(["audit", "verify", "--db"])
        .arg(folder.join("placet.db"));
    verify.assert().success();
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_demo_speaks_chinese() {
    let text = demo(&["--yes", "--locale", "zh"]);
    for seen in [
        "智能体修改文件",
        "剩余时间",
        "已执行一次",
        "> 批准",
        "> 拒绝：审计还需要这些归档",
        "需审批（步骤 5 高风险）",
        "完好：",
        "锚点 ",
    ] {
        assert!(text.contains(seen), "{seen:?} is missing in\n{text}");
    }
    for english in [
        "intact:",
        "\nanchor",
        "> approve",
        "needs approval",
        "bytes of output",
        "needed",
    ] {
        assert!(!text.contains(english), "{english:?} is left in\n{text}");
    }
}

#[test]
fn without_a_terminal_the_demo_says_how_to_play_it() {
    let mut placet = Command::cargo_bin("placet").unwrap();
    let assert = placet.arg("demo").env("USER", "lin").assert().code(2);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert_eq!(
        said,
        "error: standard input is not a terminal, so no one can be asked here; `placet demo --yes` needs no terminal\n"
    );
    assert!(assert.get_output().stdout.is_empty(), "nothing has begun");
}
