//! Questions in a conversation: answered where they appear, with the keys they show.

use crate::person::{CONFIG, Lin, WRITES, house, house_with};
use placet_core::messages::{prompt, talk};

const KEEPS: &str = "
[[turns]]
on = 'keep it'
text = 'I left it as it was.'
";

#[test]
fn a_call_is_approved_in_the_conversation() {
    let world = house(&format!("{KEEPS}{WRITES}"));
    let mut lin = Lin::talks(&world, &[]);
    lin.says("write a file");
    lin.is_asked();
    assert!(!world.path("a.txt").exists());
    lin.types("y");
    lin.sees("Written.");
    lin.sees("Approved by lin.");
    assert_eq!(std::fs::read_to_string(world.path("a.txt")).unwrap(), "a");
    lin.leaves();
}

#[test]
fn a_call_is_rejected_with_a_reason_the_model_reads() {
    let world = house(&format!("{KEEPS}{WRITES}"));
    let mut lin = Lin::talks(&world, &[]);
    lin.says("write a file");
    lin.is_asked();
    lin.types("r");
    lin.sees(&prompt::ask_reason().to_string());
    lin.enters("keep it");
    lin.sees("I left it as it was.");
    lin.sees("✘ rejected: keep it");
    assert!(!world.path("a.txt").exists());
    lin.leaves();
}

#[test]
fn as_a_rule_is_shown_with_its_past_before_it_counts_and_spares_the_next_question() {
    let world = house(
        "
[[turns]]
calls = [{ tool = 'write', args = { path = 'docs/a.txt', content = 'a' } }]
[[turns]]
calls = [{ tool = 'write', args = { path = 'docs/b.txt', content = 'b' } }]
[[turns]]
text = 'Both are written.'
",
    );
    std::fs::create_dir(world.path("docs")).unwrap();
    let mut lin = Lin::talks(&world, &[]);
    lin.says("write two files");
    lin.is_asked();
    lin.types("a");
    lin.sees(" 4 As a rule: ");
    lin.types("4");
    lin.sees("‹365 days›");
    lin.types("y");
    lin.sees("path = [\"docs/*\"]");
    lin.sees("In the last seven days it would have covered: 1 call,");
    lin.sees_bold("[y] Yes");
    lin.types("y");
    lin.sees("Both are written.");
    assert!(world.path("docs/a.txt").exists() && world.path("docs/b.txt").exists());
    lin.leaves();
    let (out, _) = world.said(&["grants", "list", "--db", "placet.db"], 0);
    assert!(out.contains("`docs/*`, in every session"), "{out}");
}

/// Claude Code 2.1.236: a prompt that was not on the screen took a key press as consent.
#[test]
fn a_key_pressed_before_the_question_was_drawn_decides_nothing() {
    let world = house(&format!("{KEEPS}{WRITES}"));
    let mut lin = Lin::talks(&world, &[]);
    lin.types("write a file");
    lin.sees("› write a file");
    lin.types("\ryyyyy\r");
    lin.is_asked();
    assert!(!world.path("a.txt").exists());
    lin.types("n");
    lin.sees("Rejected by lin.");
    assert!(!world.path("a.txt").exists());
    lin.leaves();
}

#[test]
fn what_others_decide_is_waited_for_and_a_message_meanwhile_is_queued() {
    let rule = "[[rules]]\nname = 'wei decides about writing'\ntool = 'write'\neffect = 'ask'\napprovers = ['wei']\n";
    let reads = "[[turns]]\non = 'still waiting'\ntext = 'I read it after the result.'\n";
    let world = house_with(&format!("{CONFIG}{rule}"), &format!("{reads}{WRITES}"));
    let mut lin = Lin::talks(&world, &[]);
    lin.says("write a file");
    lin.sees("assigned to wei");
    lin.sees(&talk::others_decide().to_string());
    lin.says("and hurry");
    lin.sees("queued: a request is pending elsewhere");
    assert!(!world.path("a.txt").exists());
    let (list, _) = world.said(
        &["inbox", "list", "--db", "placet.db", "--as", "wei", "--json"],
        0,
    );
    let waiting: serde_json::Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    let id = waiting["requestId"]
        .as_str()
        .or(waiting["id"].as_str())
        .unwrap()
        .to_owned();
    world.said(
        &[
            "inbox",
            "answer",
            &id,
            "approve",
            "--db",
            "placet.db",
            "--as",
            "wei",
        ],
        0,
    );
    lin.sees("Approved by wei.");
    lin.sees("I read it after the result.");
    assert_eq!(std::fs::read_to_string(world.path("a.txt")).unwrap(), "a");
    lin.leaves();
}
