//! Everything around an answer: keys at the wrong time, other people, the clock, small and monochrome terminals, the end.

use serde_json::json;

use crate::person::{Person, Place, bash};
use crate::pty::Room;
use placet_core::interaction::Locale;
use placet_core::messages::{closed, prompt};

/// Kim is not asked; lin and wei are.
const FOR_OTHERS: &str = r#"
[[people]]
name = "lin"
[[people]]
name = "wei"
[[people]]
name = "kim"
[[rules]]
name = "deletions are for ops"
tool = "bash"
effect = "ask"
approvers = ["lin", "wei"]
"#;

fn for_kim_and_lin() -> String {
    FOR_OTHERS.replace("\"lin\", \"wei\"]", "\"lin\", \"kim\"]")
}

#[test]
fn ctrl_c_and_ctrl_d_refuse() {
    for key in ["\u{3}", "\u{4}"] {
        let mut kim = Person::asked_about("rm -rf build");
        kim.presses(key);
        kim.sees("→ Rejected by kim. “interrupted at the terminal”");
        let result = kim.result();
        assert_eq!(result["status"], "rejected");
        assert_eq!(result["reason"], "interrupted at the terminal");
    }
}

#[test]
fn ctrl_c_in_the_middle_of_an_edit_or_a_grant_refuses_too() {
    for (keys, seen) in [("e", "› mkdir build"), ("a", "Approve on these terms")] {
        let mut kim = Person::asked_about("mkdir build");
        kim.presses(keys);
        kim.sees(seen);
        kim.types("\u{3}");
        let results = kim.results();
        assert_eq!(results["calls"][0]["status"], "rejected");
        assert_eq!(results["standing"], json!([]));
    }
}

#[test]
fn keys_typed_before_the_question_was_drawn_decide_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    let scene = json!({ "calls": [bash("mkdir build")], "startsWith": go });
    let mut kim = Person::sits(&Place::default(), scene);
    kim.sees("type ahead now");
    kim.types("yyyy\ry\r");
    std::fs::write(go, "").unwrap();
    kim.sees("Create the folder `build`");
    // At the very moment it appears, too.
    kim.types("yy");
    kim.sees_bold("[y]");
    kim.types("n");
    kim.sees("→ Rejected by kim.");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn pasted_text_decides_nothing_and_never_sends() {
    let mut kim = Person::asked_about("mkdir build");
    kim.presses("\u{1b}[200~y\r\u{1b}[201~");
    kim.sees(&prompt::pasted_decides_nothing().to_string());
    kim.types("r");
    kim.sees(&prompt::ask_reason().to_string());
    kim.types("\u{1b}[200~first\nsecond\n\u{1b}[201~");
    kim.sees("› first second");
    kim.types("\r");
    assert_eq!(kim.result()["reason"], "first second ");
}

/// A terminal without bracketed paste delivers a paste as keys.
#[test]
fn pasted_keys_decide_nothing_even_without_the_marks_of_a_paste() {
    let mut kim = Person::asked_about("mkdir build");
    kim.presses("y\r");
    kim.sees(&prompt::one_key().to_string());
    kim.types("r");
    kim.sees(&prompt::ask_reason().to_string());
    kim.types("first\rsecond\ry\r");
    kim.sees("› first second y");
    kim.sees("Enter sends it");
    kim.types("\r");
    let result = kim.result();
    assert_eq!(
        (&result["status"], &result["reason"]),
        (&json!("rejected"), &json!("first second y"))
    );
}

#[test]
fn without_a_terminal_there_is_nobody_to_ask() {
    let folder = tempfile::tempdir().unwrap();
    let scene = json!({ "folder": folder.path(), "locale": "en", "calls": [] });
    let path = folder.path().join("scene.json");
    std::fs::write(&path, scene.to_string()).unwrap();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "program::the_program_at_the_terminal"])
        .env(crate::program::SCENE, path)
        .stdin(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let results = std::fs::read_to_string(folder.path().join("results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    assert_eq!(
        results["noTerminal"],
        "standard input is not a terminal, so no one can be asked here"
    );
    assert_eq!(results["calls"][0]["status"], "denied");
    assert_eq!(results["calls"][0]["denial"]["because"], "nobodyToAsk");
}

#[test]
fn a_question_that_expires_is_withdrawn_and_reported_as_expired() {
    let config = "[approval]\ntimeout = \"2s\"\n";
    let mut kim = Person::at(json!({ "config": config, "calls": [bash("rm -rf build")] }));
    kim.sees("0:01 left");
    kim.sees(&format!("→ {}", closed::expired_not_run()));
    kim.sees_no_more("[y] Approve");
    assert_eq!(kim.result()["status"], "expired");
}

#[test]
fn a_question_decided_elsewhere_is_withdrawn_and_says_by_whom() {
    let mut kim = Person::at(json!({ "config": for_kim_and_lin(), "calls": [bash("mkdir build")] }));
    kim.is_asked();
    std::fs::write(
        kim.file("elsewhere.json"),
        r#"{"by": "lin", "option": "approve"}"#,
    )
    .unwrap();
    kim.sees("→ Approved by lin.");
    kim.sees_no_more("[y] Approve");
    assert_eq!(kim.result()["output"], r#"ran {"command":"mkdir build"}"#);
}

#[test]
fn a_bystander_is_told_and_changes_nothing() {
    let mut kim = Person::at(json!({ "config": FOR_OTHERS, "calls": [bash("mkdir build")] }));
    kim.sees("assigned to lin and wei");
    kim.types("y\r");
    std::fs::write(kim.file("elsewhere.json"), r#"{"by": "wei", "option": "reject"}"#).unwrap();
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn one_question_at_a_time_and_the_others_are_counted() {
    let calls = [bash("mkdir a"), bash("mkdir b"), bash("mkdir c")];
    let mut kim = Person::at(json!({ "calls": calls }));
    kim.sees(prompt::others(2_u32).to_string().trim());
    kim.presses("y");
    kim.sees(prompt::others(1_u32).to_string().trim());
    kim.presses("n");
    kim.waits_until("the last one", |screen| {
        let text = screen.contents();
        text.contains("placet ·") && !text.contains("more pending")
    });
    kim.presses("s");
    let mut results: Vec<_> = kim.results()["calls"].as_array().unwrap().clone();
    results.sort_by_key(|result| result["status"].to_string());
    let statuses: Vec<_> = results.iter().map(|result| result["status"].as_str()).collect();
    assert_eq!(
        statuses,
        [Some("rejected"), Some("skipped"), None],
        "each was answered on its own"
    );
}

#[test]
fn chinese_is_spoken_throughout() {
    let mut kim = Person::at(json!({ "locale": "zh", "calls": [bash("mkdir 构建")] }));
    kim.sees("新建文件夹 `构建` [中]");
    kim.sees("│ mkdir 构建");
    kim.sees("审批原因：没有规则允许此命令，需人工审批");
    kim.sees("[y] 批准");
    kim.presses("a");
    kim.sees("与此完全相同的 `bash` 调用");
    kim.sees("‹1 小时›");
    kim.types("\u{1b}");
    kim.sees("[N] 拒绝");
    kim.types("r");
    kim.sees(&prompt::ask_reason().say(Locale::Chinese));
    kim.enters("暂时不要");
    kim.sees("→ kim 已拒绝。 “暂时不要”");
    assert_eq!(kim.result()["reason"], "暂时不要");
}

#[test]
fn no_color_means_none() {
    let coloured = |kim: &Person| {
        kim.is_asked();
        kim.with_screen(|screen| {
            let (rows, cols) = screen.size();
            let cells = (0..rows.get()).flat_map(|row| (0..cols.get()).map(move |col| (row, col)));
            let mut cells = cells.filter_map(|(row, col)| screen.cell(row, col));
            cells.any(|cell| cell.fgcolor() != vt100::Color::Default)
        })
    };
    let mut kim = Person::asked_about("rm -rf build");
    assert!(coloured(&kim));
    kim.types("n");
    kim.result();
    let place = Place {
        env: vec![("NO_COLOR", "1".into())],
        ..Place::default()
    };
    let mut kim = Person::sits(&place, json!({ "calls": [bash("rm -rf build")] }));
    assert!(!coloured(&kim));
    kim.types("n");
    kim.result();
}

#[test]
fn a_narrow_terminal_breaks_lines_and_a_tiny_one_only_refuses() {
    let place = Place {
        room: Room { cols: 30, rows: 24 },
        ..Place::default()
    };
    let mut kim = Person::sits(
        &place,
        json!({ "calls": [bash("cp some/long/path another/long/path/of/files")] }),
    );
    kim.sees("│ cp some/long/path");
    kim.is_asked();
    kim.resizes(Room { cols: 18, rows: 6 });
    kim.sees("Too small to show");
    kim.types("y\r");
    kim.types("\u{3}");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn a_resized_terminal_shows_the_question_once() {
    let mut kim = Person::asked_about("mkdir build");
    kim.is_asked();
    kim.resizes(Room { cols: 120, rows: 35 });
    kim.waits_until("the wider rule", |screen| {
        screen
            .rows(0, 120)
            .any(|row| row.chars().filter(|c| *c == '─').count() == 120)
    });
    assert_eq!(
        kim.screen().matches("Create the folder `build`").count(),
        1,
        "{}",
        kim.screen()
    );
    kim.types("n");
    kim.result();
}

#[test]
fn a_high_question_that_does_not_fit_is_read_to_the_end_before_it_is_approved() {
    let place = Place {
        room: Room { cols: 60, rows: 16 },
        ..Place::default()
    };
    let command: Vec<String> = (0..12).map(|n| format!("rm -rf build{n}")).collect();
    let mut kim = Person::sits(&place, json!({ "calls": [bash(&command.join(" && "))] }));
    kim.sees("lines 1–");
    kim.presses("y");
    kim.sees("Read to the end first");
    let lines = |screen: &str| {
        screen
            .lines()
            .find(|line| line.contains("── lines"))
            .map(str::to_owned)
    };
    while !kim.screen().contains("build11\"") {
        let before = lines(&kim.still());
        kim.types(" ");
        kim.waits_until("the next page", |screen| lines(&screen.contents()) != before);
    }
    kim.types("y");
    kim.sees("→ Approved by kim.");
    assert!(kim.result()["output"].as_str().unwrap().starts_with("ran "));
}

#[test]
fn an_open_question_survives_the_program_and_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let stop = folder.path().join("stop");
    let scene = json!({ "calls": [bash("mkdir build")], "stopsWith": stop });
    let mut kim = Person::sits_in(folder, &Place::default(), scene.clone());
    kim.is_asked();
    std::fs::write(&stop, "").unwrap();
    kim.sees("→ Still pending. To answer: placet inbox answer");
    assert_eq!(kim.results(), json!({ "stopped": true }));
    std::fs::remove_file(&stop).unwrap();
    let mut kim = Person::sits_in(
        kim.leaves(),
        &Place::default(),
        json!({ "calls": [bash("mkdir build")] }),
    );
    kim.presses("y");
    kim.sees("→ Approved by kim.");
    assert_eq!(kim.result()["output"], r#"ran {"command":"mkdir build"}"#);
}

#[test]
fn the_terminal_is_given_back_when_the_program_is_killed() {
    let mut kim = Person::asked_about("rm -rf build");
    kim.is_asked();
    assert!(kim.with_screen(vt100::Screen::hide_cursor));
    assert!(kim.with_screen(vt100::Screen::bracketed_paste));
    kim.kills_the_program("-TERM");
    kim.ends();
    kim.waits_until("the cursor", |screen| {
        !screen.hide_cursor() && !screen.bracketed_paste()
    });
}
