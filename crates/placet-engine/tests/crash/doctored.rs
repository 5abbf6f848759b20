//! Shows that the books can fail: each test spoils one thing in a copy of a sound history, and it must be found.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use placet_core::ids::{CallId, InteractionId, ToolName};
use placet_core::interaction::CallKey;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::books::Books;
use crate::logs::{ACKS, Ack, DATABASE, EFFECTS, Log, SideEffect, lines_after};
use crate::{Failure, KILLS, history, seed};

/// A short history that went well.
static SOUND: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let books = history(dir.path(), seed(), |kills| enough(dir.path(), kills)).unwrap();
    assert_eq!(books.findings, Vec::<String>::new());
    dir
});

/// Whether there have been a few kills, and there is something to spoil for every test below: how far a worker comes before
/// it is killed, and whose answer is first, is up to the machine.
fn enough(dir: &Path, kills: u32) -> Result<bool, Failure> {
    if kills > KILLS {
        return Err(format!("{kills} kills, and still nothing to spoil").into());
    }
    let acks: Vec<Ack> = lines_after(&dir.join(ACKS), &mut 0)?;
    let effects: Vec<SideEffect> = lines_after(&dir.join(EFFECTS), &mut 0)?;
    let told = |wanted: fn(&Ack) -> bool| acks.iter().any(wanted);
    Ok(kills >= 4
        && told(|ack| matches!(ack, Ack::Voted { .. }))
        && told(|ack| matches!(ack, Ack::Decided { .. }))
        && told(|ack| matches!(ack, Ack::Finished { .. }))
        && effects.iter().any(|effect| effect.digest != effects[0].digest))
}

/// What the books find in a copy of the sound history after `spoil` had its way with it.
fn findings(spoil: impl FnOnce(&Path)) -> String {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(SOUND.path()).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    spoil(copy.path());
    let mut books = Books::default();
    books.read_on(copy.path()).unwrap();
    books.verify(copy.path()).unwrap();
    books.close();
    books.findings.join("\n")
}

fn first_effect(dir: &Path) -> SideEffect {
    lines_after(&dir.join(EFFECTS), &mut 0).unwrap().swap_remove(0)
}

fn run(dir: &Path, effect: &SideEffect) {
    Log::open(&dir.join(EFFECTS)).unwrap().append(effect).unwrap();
}

fn acknowledge(dir: &Path, ack: &Ack) {
    Log::open(&dir.join(ACKS)).unwrap().append(ack).unwrap();
}

/// Changes the first row of the journal that fits, as another program would.
fn tamper(dir: &Path, how: &str, fits: &str) {
    let sql = format!("{how} WHERE id = (SELECT min(id) FROM journal WHERE {fits})");
    assert_eq!(
        Connection::open(dir.join(DATABASE))
            .unwrap()
            .execute(&sql, [])
            .unwrap(),
        1,
        "{sql}"
    );
}

#[track_caller]
fn check(wanted: &str, spoil: impl FnOnce(&Path)) {
    let found = findings(spoil);
    assert!(found.contains(wanted), "wanted `{wanted}`, found:\n{found}");
}

#[test]
fn an_untouched_copy_is_sound() {
    assert_eq!(findings(|_| {}), "");
}

#[test]
fn an_effect_that_happened_twice_is_found() {
    check("ran twice", |dir| run(dir, &first_effect(dir)));
}

#[test]
fn an_effect_without_a_grant_is_found() {
    check("was never given", |dir| {
        run(
            dir,
            &SideEffect {
                grant: 9,
                ..first_effect(dir)
            },
        );
    });
}

#[test]
fn an_effect_of_a_call_that_must_never_run_is_found() {
    check("must never run", |dir| {
        run(
            dir,
            &SideEffect {
                tool: ToolName::new("format").unwrap(),
                ..first_effect(dir)
            },
        );
    });
}

#[test]
fn an_effect_of_another_call_than_the_one_allowed_is_found() {
    check("ran as another call", |dir| {
        let effects: Vec<SideEffect> = lines_after(&dir.join(EFFECTS), &mut 0).unwrap();
        let digest = effects
            .iter()
            .map(|effect| effect.digest)
            .find(|digest| *digest != effects[0].digest)
            .unwrap();
        run(
            dir,
            &SideEffect {
                digest,
                ..effects[0].clone()
            },
        );
    });
}

#[test]
fn a_result_without_an_effect_is_found() {
    check("has a result and never ran", |dir| {
        fs::write(dir.join(EFFECTS), "").unwrap();
    });
}

#[test]
fn an_acknowledged_question_that_is_not_in_the_journal_is_found() {
    check("acknowledged and lost", |dir| {
        let call = first_effect(dir).call;
        acknowledge(
            dir,
            &Ack::Parked {
                call,
                question: InteractionId::new("int_lost").unwrap(),
            },
        );
    });
}

#[test]
fn an_acknowledged_result_that_is_not_in_the_journal_is_found() {
    check("acknowledged and lost", |dir| {
        let call = CallKey {
            call: CallId::new("lost").unwrap(),
            ..first_effect(dir).call
        };
        acknowledge(dir, &Ack::Finished { call, grant: 1 });
    });
}

#[test]
fn two_people_who_were_both_told_that_they_had_decided_are_found() {
    check("acknowledged twice", |dir| {
        let acks: Vec<Ack> = lines_after(&dir.join(ACKS), &mut 0).unwrap();
        acknowledge(
            dir,
            acks.iter()
                .find(|ack| matches!(ack, Ack::Decided { .. }))
                .unwrap(),
        );
    });
}

/// The chain notices a removed row, and the books notice on their own what is missing.
#[track_caller]
fn check_removed(fits: &str, wanted: &str) {
    let found = findings(|dir| tamper(dir, "DELETE FROM journal", fits));
    assert!(found.contains(wanted), "wanted `{wanted}`, found:\n{found}");
    assert!(found.contains("verify: "), "the chain did not notice:\n{found}");
}

#[test]
fn a_removed_claim_is_found() {
    check_removed("body ->> 'type' = 'claimed'", "cannot have become");
}

#[test]
fn a_removed_answer_is_found() {
    check_removed("body ->> 'type' = 'resolved'", "was never settled");
}

#[test]
fn a_removed_result_is_found() {
    check_removed("body ->> 'type' = 'finished'", "is stuck");
}

#[test]
fn a_removed_vote_is_found() {
    let acks: Vec<Ack> = lines_after(&SOUND.path().join(ACKS), &mut 0).unwrap();
    let voted = acks.iter().find_map(|ack| match ack {
        Ack::Voted { question, .. } => Some(format!(
            "body ->> '$.type' = 'voted' AND body ->> '$.interaction' = '{question}'"
        )),
        _ => None,
    });
    check_removed(&voted.unwrap(), "acknowledged and lost: Voted");
}

#[test]
fn an_approval_by_somebody_who_was_not_asked_is_found() {
    check("mal may not approve", |dir| {
        tamper(
            dir,
            "UPDATE journal SET body = json_set(body, '$.ballot.by', 'mal')",
            "body ->> 'type' = 'voted'",
        );
    });
}

#[test]
fn a_call_that_was_allowed_without_the_person_it_needs_is_found() {
    check("was allowed without one", |dir| {
        let allowed =
            r#"UPDATE journal SET body = json_set(body, '$.outcome', json('{"status":"allowed"}'))"#;
        tamper(
            dir,
            allowed,
            "body ->> 'type' = 'callReceived' AND body ->> '$.call.tool' = 'deploy'",
        );
    });
}
