//! The inbox on the whole screen, as a person sees it.

use portable_pty::CommandBuilder;
use serde_json::{Value, json};

use crate::pty::{Pty, Room};
use crate::record::recorded;
use crate::waiting::{CONFIG, Waiting, bash};
use placet_core::messages::prompt;

const WIDE: Room = Room { cols: 132, rows: 30 };
const LOW: Room = Room { cols: 132, rows: 20 };
const SMALL: Room = Room { cols: 60, rows: 20 };

fn open(waiting: &Waiting, room: Room) -> Pty {
    let placet = assert_cmd::cargo::cargo_bin("placet");
    let mut command = CommandBuilder::new(placet);
    command.args(["inbox", "--as", "lin", "--db"]);
    command.arg(waiting.db());
    command.cwd(waiting.world.path(""));
    command.env_remove("NO_COLOR");
    Pty::start(command, room)
}

fn leaves(mut pty: Pty) {
    pty.types("\u{3}");
    pty.ends();
}

fn group(mut call: Value) -> Value {
    call["group"] = json!("turn-1");
    call
}

/// Presses Enter and waits until the question's keys count: they are faint before.
fn opens_question(pty: &mut Pty) {
    pty.types("\r");
    pty.sees("Esc list");
    pty.sees_bold("[y]");
}

#[test]
fn the_list_and_the_question_stand_side_by_side() {
    let calls = [
        group(bash("mkdir -p build/out")),
        group(bash("rm -rf build")),
        bash("git push origin main"),
    ];
    let waiting = Waiting::of(&calls);
    let pty = open(&waiting, WIDE);
    pty.sees("3 pending");
    pty.sees("Delete `build`");
    pty.sees("│ mkdir -p build/out");
    recorded("terminal.md", "inbox", &pty.still());
    leaves(pty);
}

#[test]
fn a_question_is_answered_with_the_keys_of_the_prompt() {
    let waiting = Waiting::of(&[bash("rm -rf build")]);
    let mut pty = open(&waiting, WIDE);
    pty.sees("1 pending");
    opens_question(&mut pty);
    pty.types("r");
    pty.sees(&prompt::ask_reason().to_string());
    pty.enters("still needed");
    pty.sees("Rejected by lin.");
    pty.sees("Nothing is pending.");
    pty.types("q");
    pty.ends();
    assert!(waiting.outcome(0).contains("still needed"));
}

#[test]
fn a_key_pressed_with_enter_decides_nothing() {
    let waiting = Waiting::of(&[bash("mkdir a")]);
    let mut pty = open(&waiting, WIDE);
    pty.sees("1 pending");
    pty.types("\ryyy");
    pty.sees_bold("[y]");
    pty.types("\u{1b}");
    pty.sees("q quit");
    pty.sees("1 pending");
    leaves(pty);
    assert_eq!(waiting.inbox("lin", &["list"], 0).0.lines().count(), 1);
}

#[test]
fn as_a_rule_is_shown_with_its_past_before_it_counts_and_spares_the_next_question() {
    let waiting = Waiting::of(&[bash("git fetch origin")]);
    let mut pty = open(&waiting, WIDE);
    pty.sees("1 pending");
    opens_question(&mut pty);
    pty.types("a");
    pty.sees("This call: ");
    pty.sees("In this project: ");
    pty.types("7");
    pty.sees("›7 As a rule: ");
    pty.sees("‹365 days›");
    pty.types("y");
    pty.sees("command = [\"git fetch *\"]");
    pty.sees("matches = [\"git fetch origin\"]");
    pty.sees("In the last seven days it would have covered: 1 call,");
    pty.sees_bold("[y] Yes");
    pty.types("y");
    pty.sees("Approved by lin.");
    leaves(pty);
    let db = waiting.db();
    let (out, _) = waiting
        .world
        .said(&["grants", "list", "--db", db.to_str().unwrap()], 0);
    assert!(out.contains("`git fetch *`, in every session"), "{out}");
    let mut alike = bash("git fetch upstream");
    alike["session"] = json!("job-2");
    assert!(waiting.is_allowed(1, &alike), "it was asked about");
    let mut other = bash("git push upstream");
    other["session"] = json!("job-2");
    assert!(!waiting.is_allowed(2, &other), "nothing else is covered");
}

#[test]
fn the_calls_of_a_turn_are_decided_together_but_for_the_high_ones() {
    let calls = [
        group(bash("mkdir a")),
        group(bash("rm -rf b")),
        group(bash("mkdir c")),
        bash("mkdir d"),
    ];
    let waiting = Waiting::of(&calls);
    let mut pty = open(&waiting, LOW);
    pty.sees("4 pending");
    pty.types("g");
    pty.sees("3 calls from one step; 1 of them HIGH");
    pty.types("y");
    // That was too soon, and not all of it has been on the screen.
    pty.sees_bold("3 calls from one step");
    pty.types("y");
    pty.sees("Read to the end first");
    pty.types(" ");
    pty.sees_no_more("Read to the end first");
    pty.types("y");
    pty.sees("2 answered.");
    pty.sees("2 pending");
    leaves(pty);
    let (out, _) = waiting.inbox("lin", &["list"], 0);
    assert!(
        out.contains("Delete `b`") && out.contains("folder `d`") && !out.contains("folder `a`"),
        "{out}"
    );
}

#[test]
fn search_session_and_risk_narrow_the_list() {
    let mut other = bash("mkdir solo");
    other["session"] = json!("job-2");
    let waiting = Waiting::of(&[bash("mkdir near"), bash("rm -rf near"), other]);
    let mut pty = open(&waiting, WIDE);
    pty.sees("3 pending");
    pty.types("/");
    pty.types("solo");
    pty.sees("1 of 3 pending · “solo”");
    pty.types("\u{1b}");
    pty.sees("lin · 3 pending");
    pty.types("s");
    pty.sees("2 of 3 pending · session job-1");
    pty.types("r");
    pty.sees("1 of 3 pending · session job-1 · HIGH");
    pty.types("\u{1b}");
    pty.sees("lin · 3 pending");
    leaves(pty);
}

#[test]
fn a_small_screen_works_and_a_resized_one_is_drawn_anew() {
    let waiting = Waiting::of(&[bash("rm -rf 构建")]);
    let mut pty = open(&waiting, SMALL);
    pty.sees("1 pending");
    pty.sees("rm -rf 构建");
    opens_question(&mut pty);
    pty.sees("[N] Reject");
    pty.resizes(WIDE);
    pty.waits_until("both panes", |screen| {
        let text = screen.contents();
        text.contains("HIGH")
            && text.contains("[N] Reject")
            && text.lines().any(|line| line.contains('›') && line.contains("━━"))
    });
    pty.types("n");
    pty.sees("Rejected by lin.");
    leaves(pty);
}

#[test]
fn chinese_and_help() {
    let config = CONFIG.replace("timeout = \"30m\"", "timeout = \"30m\"\nlocale = \"zh\"");
    let waiting = Waiting::with(&config, &[bash("mkdir 构建")]);
    let mut pty = open(&waiting, SMALL);
    pty.sees("1 个待审批");
    pty.types("?");
    pty.sees("同一步的调用一起处理");
    pty.types("x");
    pty.sees("q 退出");
    leaves(pty);
}

#[test]
fn the_terminal_is_given_back() {
    let waiting = Waiting::of(&[bash("mkdir a")]);
    for end in ["q", "\u{3}"] {
        let mut pty = open(&waiting, WIDE);
        pty.sees("1 pending");
        assert!(pty.with_screen(vt100::Screen::alternate_screen));
        pty.types(end);
        pty.ends();
        pty.waits_until("the old screen", |screen| {
            !screen.alternate_screen() && !screen.hide_cursor()
        });
    }
    let mut pty = open(&waiting, WIDE);
    pty.sees("1 pending");
    pty.kills_the_program("-TERM");
    pty.ends();
    pty.waits_until("the old screen", |screen| {
        !screen.alternate_screen() && !screen.hide_cursor()
    });
}
