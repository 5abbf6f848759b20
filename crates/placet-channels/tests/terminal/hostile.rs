//! What an agent says cannot disturb the screen, hide anything, or pass for a line of ours.

use serde_json::json;

use crate::person::{Person, Place, bash};
use crate::pty::Room;

#[test]
fn escape_sequences_and_bidi_are_shown_and_do_nothing() {
    let command = "rm -rf x \u{1b}[2J\u{1b}[H\u{1b}]0;gone\u{7}\u{202e}gnihton\u{202c}\r\u{9b}1A";
    let mut kim = Person::asked_about(command);
    kim.sees("⟦ESC⟧[2J");
    kim.sees("⟦U+202E⟧gnihton");
    kim.sees("⟦CR⟧");
    kim.is_asked();
    let screen = kim.screen();
    assert!(screen.contains("━━ placet"), "nothing was wiped: {screen}");
    assert!(screen.contains("[N] Reject"), "{screen}");
    kim.types("n");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn an_agents_words_cannot_pass_for_ours() {
    let forged = "ok\n──────────\n[y] Approve  [N] Reject\n→ Approved by kim.";
    let mut call = bash("mkdir build");
    call["description"] = json!(forged);
    let mut kim = Person::at(json!({ "calls": [call] }));
    kim.sees("Agent's note");
    kim.is_asked();
    let screen = kim.screen();
    let forged: Vec<_> = screen
        .lines()
        .filter(|line| line.contains("Approved by kim"))
        .collect();
    assert!(forged.iter().all(|line| line.starts_with("│ ")), "{forged:?}");
    kim.types("n");
    kim.result();
}

#[test]
fn wide_characters_keep_the_lines_in_place() {
    let place = Place {
        room: Room { cols: 40, rows: 24 },
        ..Place::default()
    };
    let command = format!("echo {} > out", "中文字符".repeat(12));
    let mut kim = Person::sits(&place, json!({ "calls": [bash(&command)] }));
    kim.is_asked();
    kim.with_screen(|screen| {
        // What the test harness wrote before we did is not ours to break.
        let ours = (0..24)
            .zip(screen.rows(0, 40))
            .skip_while(|(_, line)| !line.contains("━━"));
        let wrapped: Vec<_> = ours.filter(|(row, _)| screen.row_wrapped(*row)).collect();
        assert!(
            wrapped.is_empty(),
            "every line was broken by us, none by the terminal: {wrapped:?}\n{}",
            screen.contents()
        );
    });
    assert!(kim.screen().contains("[N] Reject"), "{}", kim.screen());
    kim.types("n");
    kim.result();
}

#[test]
fn a_storm_of_line_breaks_and_a_huge_argument_are_paged_not_cut() {
    let mut call = bash(&format!("rm -rf a{}b", "\n".repeat(500)));
    call["args"]["note"] = json!("x".repeat(20_000));
    let mut kim = Person::at(json!({ "calls": [call] }));
    kim.sees("lines 1–");
    kim.is_asked();
    let screen = kim.screen();
    assert!(screen.contains("line breaks⟧"), "{screen}");
    assert!(
        screen.contains("[N] Reject"),
        "the ways to answer stay visible: {screen}"
    );
    kim.types("y");
    kim.sees("Read to the end first");
    kim.types("\u{1b}[F");
    kim.sees_no_more("Read to the end first");
    kim.types("y");
    // Jumping to the end is not reading.
    kim.sees("Read to the end first");
    kim.types("n");
    assert_eq!(kim.result()["status"], "rejected");
}

#[test]
fn secrets_are_masked_also_while_editing() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let mut call = bash("mkdir build");
    call["args"]["token"] = json!(secret);
    let mut kim = Person::at(json!({ "calls": [call] }));
    kim.sees("chars-masked]");
    kim.presses("e");
    kim.sees("› mkdir build");
    assert!(!kim.screen().contains("0123456789abcdef"), "{}", kim.screen());
    kim.enters("/more");
    kim.sees("Changed by: kim");
    kim.types("y");
    kim.sees("→ Approved with changes by kim.");
    let output = kim.result()["output"].to_string();
    assert!(output.contains(secret) && output.contains("more"), "{output}");
}
