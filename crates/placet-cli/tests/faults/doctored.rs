//! Shows that a broken promise is found: each test spoils one thing in a copy of the history.

use placet_core::ids::{CallId, InteractionId, ToolName};
use placet_core::interaction::CallKey;

use crate::TOLD;
use crate::history::{Told, verified};
use crate::logs::{Ack, SideEffect};

/// What can be spoiled.
struct Copy {
    rows: Vec<(u64, String, String)>,
    effects: Vec<SideEffect>,
    acks: Vec<Ack>,
    written: String,
}

/// What is found in a copy of the history after `spoil` had its way with it.
#[track_caller]
fn check(wanted: &str, spoil: impl FnOnce(&mut Copy)) {
    let told: &Told = &TOLD;
    let mut copy = Copy {
        rows: told.rows.clone(),
        effects: told.effects.clone(),
        acks: told.acks.clone(),
        written: told.written.clone(),
    };
    spoil(&mut copy);
    let found = Told::check(
        &copy.rows,
        &copy.effects,
        &copy.acks,
        &copy.written,
        told.verified(),
    );
    let found = found.join("\n");
    assert!(found.contains(wanted), "wanted `{wanted}`, found:\n{found}");
}

/// The first row of a kind.
fn row<'r>(copy: &'r mut Copy, kind: &str, also: &str) -> &'r mut (u64, String, String) {
    let kind = format!("\"type\":\"{kind}\"");
    let found = copy
        .rows
        .iter_mut()
        .find(|(_, _, body)| body.contains(&kind) && body.contains(also));
    found.unwrap()
}

#[test]
fn a_call_that_ran_without_the_person_it_needed_is_found() {
    check("was allowed without one", |copy| {
        let row = row(copy, "callReceived", "\"tool\":\"note\"");
        row.2 = row.2.replace("\"tool\":\"note\"", "\"tool\":\"strange\"");
    });
}

#[test]
fn a_call_that_ran_twice_under_one_grant_is_found() {
    check("ran twice", |copy| copy.effects.push(copy.effects[0].clone()));
}

#[test]
fn a_call_that_ran_under_a_grant_that_was_never_given_is_found() {
    check("was never given", |copy| {
        let effect = SideEffect {
            grant: 99,
            ..copy.effects[0].clone()
        };
        copy.effects.push(effect);
    });
}

#[test]
fn a_command_that_ran_more_often_than_it_was_claimed_is_found() {
    check("times and claimed", |copy| {
        let line = copy.written.lines().next().unwrap().to_owned();
        for _ in 0..10 {
            copy.written.push_str(&line);
            copy.written.push('\n');
        }
    });
}

#[test]
fn an_acknowledged_answer_that_is_lost_is_found() {
    check("acknowledged and lost: Decided", |copy| {
        copy.acks.push(Ack::Decided {
            question: InteractionId::new("int_lost").unwrap(),
            by: "ana".into(),
            option: "approve".into(),
        });
    });
}

#[test]
fn a_question_that_is_lost_is_found() {
    check("acknowledged and lost: Parked", |copy| {
        let call = CallKey {
            call: CallId::new("lost").unwrap(),
            ..copy.effects[0].call.clone()
        };
        let question = InteractionId::new("int_lost").unwrap();
        copy.acks.push(Ack::Parked { call, question });
    });
}

#[test]
fn a_question_that_was_answered_twice_is_found() {
    check("acknowledged twice", |copy| {
        let decided = copy.acks.iter().find(|ack| matches!(ack, Ack::Decided { .. }));
        let decided = decided.unwrap().clone();
        copy.acks.push(decided);
    });
}

#[test]
fn an_answer_of_a_person_whom_the_rule_does_not_name_is_found() {
    check("may not", |copy| {
        let row = row(copy, "voted", "");
        for person in ["ana", "bo", "cy"] {
            row.2 = row.2.replace(&format!("\"by\":\"{person}\""), "\"by\":\"mal\"");
        }
    });
}

#[test]
fn a_call_that_must_never_run_and_ran_is_found() {
    check("must never run", |copy| {
        let effect = SideEffect {
            tool: ToolName::new("format").unwrap(),
            ..copy.effects[0].clone()
        };
        copy.effects.push(effect);
    });
}

#[test]
fn a_row_that_is_missing_is_found() {
    check("follows row", |copy| {
        copy.rows.remove(copy.rows.len() / 2);
    });
}

#[test]
fn a_journal_that_was_changed_on_the_server_is_found() {
    let url = TOLD
        .cluster
        .copy("UPDATE journal SET body = replace(body, 'target', 'rubber') WHERE id = (SELECT min(id) FROM journal WHERE body LIKE '%target%')");
    let told: &Told = &TOLD;
    let found = Told::check(
        &told.rows,
        &told.effects,
        &told.acks,
        &told.written,
        &verified(&url),
    );
    assert!(
        found.iter().any(|finding| finding.contains("verify: ")),
        "{found:?}"
    );
}
