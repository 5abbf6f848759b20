//! Design §7, promise 6: a changed, removed or reordered row is found.

use placet_core::digest::Digest;
use placet_core::ids::{ChannelName, ChatId};
use placet_core::interaction::Action;
use placet_core::journal::Event;
use placet_core::outgoing::{Change, OutKind, Outgoing};
use placet_core::policy::Mode;
use placet_core::time::Timestamp;
use placet_store::inline::InlineStore;
use placet_store::{Anchor, FindingKind};

use crate::world::*;

/// A history of three sessions with two checkpoints and a tail: rows 1–6, 7–9, 10–11.
fn history() -> InlineStore {
    let mut db = InlineStore::new().unwrap();
    put(&mut db, 0, asking("int_1", &call("c1", "ls"))).unwrap();
    put(&mut db, 1, approving("int_1", &call("c1", "ls"))).unwrap();
    put(&mut db, 2, vec![claimed("c1", 1), finished("c1", 1)]).unwrap();
    db.checkpoint(at(3)).unwrap();
    for name in ["other", "third", "other"] {
        mode(&mut db, name);
    }
    db.checkpoint(at(4)).unwrap();
    put(&mut db, 5, asking("int_2", &call("c2", "rm"))).unwrap();
    db
}

fn mode(db: &mut InlineStore, name: &str) {
    let event = Event::ModeSet {
        mode: Mode::Yolo,
        by: person("ana"),
    };
    db.commit(commit_in(name, at(3), vec![event])).unwrap();
}

/// What is found after `sql`; something must be.
fn found_after(sql: &str) -> Vec<(FindingKind, Option<u64>)> {
    let mut db = history();
    assert_eq!(db.verify(None).unwrap().findings, []);
    db.tamper(sql).unwrap();
    let findings = db.verify(None).unwrap().findings;
    findings
        .into_iter()
        .map(|finding| (finding.kind, finding.row))
        .collect()
}

#[test]
fn a_changed_body_is_found_at_its_row() {
    let found = found_after("UPDATE journal SET body = replace(body, 'ls', 'rm') WHERE id = 1");
    assert_eq!(found, [(FindingKind::Changed, Some(1))]);
}

#[test]
fn a_changed_time_is_found_at_its_row() {
    let found = found_after("UPDATE journal SET at = at + 1 WHERE id = 5");
    assert_eq!(found, [(FindingKind::Changed, Some(5))]);
}

#[test]
fn a_changed_hash_is_found_at_its_row() {
    let found = found_after("UPDATE journal SET hash = zeroblob(32) WHERE id = 10");
    assert_eq!(found[0], (FindingKind::Changed, Some(10)));
}

#[test]
fn a_body_that_is_not_text_any_more_is_found() {
    let found = found_after("UPDATE journal SET body = CAST(x'ff' AS TEXT) WHERE id = 3");
    assert_eq!(found, [(FindingKind::Changed, Some(3))]);
}

#[test]
fn a_row_removed_from_the_middle_is_found() {
    let found = found_after("DELETE FROM journal WHERE id = 4");
    assert_eq!(found[0], (FindingKind::Removed, Some(4)));
}

#[test]
fn a_row_removed_and_its_gap_closed_is_found() {
    let found = found_after("DELETE FROM journal WHERE id = 4; UPDATE journal SET id = id - 1 WHERE id > 4");
    assert_eq!(found[0], (FindingKind::Removed, Some(4)));
}

#[test]
fn the_last_row_removed_is_found() {
    let found = found_after("DELETE FROM journal WHERE id = 11");
    assert_eq!(found, [(FindingKind::SessionCut, None)]);
}

#[test]
fn a_session_cut_together_with_its_head_is_found_by_the_checkpoint() {
    let found = found_after(
        "DELETE FROM journal WHERE id > 5; DELETE FROM sessions WHERE name <> 's';
         UPDATE sessions SET head_seq = 5, head_hash = (SELECT hash FROM journal WHERE id = 5)",
    );
    assert!(found.contains(&(FindingKind::SessionCut, None)), "{found:?}");
    assert!(found.contains(&(FindingKind::SessionRemoved, None)), "{found:?}");
}

#[test]
fn two_rows_of_a_session_swapped_are_found() {
    let found = found_after(
        "UPDATE journal SET id = 100 WHERE id = 3; UPDATE journal SET id = 3 WHERE id = 4;
         UPDATE journal SET id = 4 WHERE id = 100",
    );
    assert!(found.contains(&(FindingKind::Reordered, Some(3))), "{found:?}");
    assert!(found.contains(&(FindingKind::Reordered, Some(4))), "{found:?}");
}

/// No session's own chain can see this one.
#[test]
fn two_rows_of_different_sessions_swapped_are_found_by_the_checkpoint() {
    let found = found_after(
        "UPDATE journal SET id = 100 WHERE id = 7; UPDATE journal SET id = 7 WHERE id = 8;
         UPDATE journal SET id = 8 WHERE id = 100",
    );
    assert_eq!(found, [(FindingKind::Reordered, None)]);
}

#[test]
fn a_session_removed_whole_is_found() {
    let found = found_after(
        "DELETE FROM journal WHERE session = (SELECT id FROM sessions WHERE name = 'other');
         DELETE FROM sessions WHERE name = 'other'",
    );
    assert!(found.contains(&(FindingKind::SessionRemoved, None)), "{found:?}");
}

#[test]
fn a_session_removed_whole_with_its_gap_closed_is_found() {
    let found = found_after(
        "DELETE FROM journal WHERE session = (SELECT id FROM sessions WHERE name = 'third');
         DELETE FROM sessions WHERE name = 'third'; UPDATE journal SET id = id - 1 WHERE id > 8",
    );
    assert!(found.contains(&(FindingKind::SessionRemoved, None)), "{found:?}");
}

#[test]
fn a_removed_checkpoint_is_found() {
    for id in [1, 2] {
        let found = found_after(&format!("DELETE FROM checkpoints WHERE id = {id}"));
        assert!(
            found.contains(&(FindingKind::CheckpointBroken, None)),
            "{found:?}"
        );
    }
}

/// The journal says how many there were, so adjusting the counter hides nothing.
#[test]
fn checkpoints_removed_together_with_their_count_are_found() {
    for left in [0, 1] {
        let mut db = history();
        let checkpoints = db.look(|stored| stored.checkpoints(&()).copied()).unwrap();
        let started = Event::Started {
            down_for: None,
            policy: Digest::of("policy", &[]),
            workspace: None,
            checkpoints: Some(checkpoints),
        };
        db.commit(commit_in("placet", at(6), vec![started])).unwrap();
        assert_eq!(db.verify(None).unwrap().findings, []);
        let sql =
            format!("DELETE FROM checkpoints WHERE id > {left}; UPDATE service SET checkpoints = {left}");
        db.tamper(&sql).unwrap();
        let findings = db.verify(None).unwrap().findings;
        assert_eq!(findings[0].kind, FindingKind::CheckpointBroken, "{findings:?}");
    }
}

fn message(key: &str) -> Change {
    Change::Enqueue(Outgoing {
        key: key.to_owned(),
        channel: ChannelName::new("ops").unwrap(),
        chat: ChatId::new("room").unwrap(),
        interaction: None,
        kind: OutKind::Message,
        body: "hello".into(),
    })
}

fn change(db: &mut InlineStore, change: Change) {
    db.commit(changing(at(6), vec![change])).unwrap();
}

/// Three messages, the first of them sent, cleaned up and gone; the checkpoint is of a heartbeat.
fn with_messages() -> InlineStore {
    let mut db = history();
    // The same key twice is one item.
    for key in ["a", "b", "a", "c"] {
        change(&mut db, message(key));
    }
    change(&mut db, Change::Sent { id: 1, receipt: None });
    let before = Timestamp::from_millis(i64::MAX);
    change(&mut db, Change::ForgetOutbox { before });
    db.checkpoint(at(7)).unwrap();
    assert_eq!(db.verify(None).unwrap().findings, []);
    db
}

#[test]
fn an_item_removed_from_the_outbox_is_found() {
    let mut db = with_messages();
    db.tamper("DELETE FROM outbox WHERE key = 'b'").unwrap();
    let findings = db.verify(None).unwrap().findings;
    assert_eq!(findings[0].kind, FindingKind::OutboxDiffers, "{findings:?}");
}

/// The checkpoints say how many there were, so adjusting the counter hides nothing.
#[test]
fn items_removed_from_the_outbox_together_with_their_count_are_found() {
    for count in [1, 2] {
        let mut db = with_messages();
        let sql = format!(
            "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox LIMIT {count});
             UPDATE service SET queued = queued - {count}"
        );
        db.tamper(&sql).unwrap();
        let findings = db.verify(None).unwrap().findings;
        assert_eq!(findings[0].kind, FindingKind::OutboxDiffers, "{findings:?}");
        // Nor does a later checkpoint take the lowered count for the true one.
        mode(&mut db, "other");
        db.checkpoint(at(8)).unwrap();
        let findings = db.verify(None).unwrap().findings;
        assert_eq!(findings[0].kind, FindingKind::OutboxDiffers, "{findings:?}");
    }
}

/// A checkpoint that nothing but the clean-up asked for.
#[test]
fn a_clean_up_is_covered_by_a_checkpoint_at_once() {
    let mut db = history();
    change(&mut db, message("a"));
    change(&mut db, Change::Sent { id: 1, receipt: None });
    let before = Timestamp::from_millis(i64::MAX);
    let written = |db: &mut InlineStore| db.verify(None).unwrap().checkpoints;
    let checkpoints = written(&mut db);
    change(&mut db, Change::ForgetOutbox { before });
    assert_eq!(written(&mut db), checkpoints + 1);
    change(&mut db, Change::ForgetOutbox { before });
    assert_eq!(written(&mut db), checkpoints + 1, "nothing was removed");
    assert_eq!(db.verify(None).unwrap().findings, []);
}

#[test]
fn a_changed_checkpoint_is_found() {
    for change in [
        "heads = replace(heads, '\"s\"', '\"t\"')",
        "at = 0",
        "rows = 5",
        "hash = zeroblob(32)",
    ] {
        let found = found_after(&format!("UPDATE checkpoints SET {change} WHERE id = 1"));
        assert_eq!(found[0].0, FindingKind::CheckpointBroken, "{change}");
    }
}

#[test]
fn an_edited_projection_is_found() {
    let edits = [
        "UPDATE calls SET state = 'granted', parked_on = NULL, grant_number = 1, grant_state = 'issued' WHERE call = 'c2'",
        "UPDATE calls SET grant_state = 'issued', result = NULL WHERE call = 'c1'",
        "UPDATE interactions SET state = 'answered' WHERE id = 'int_2'",
        "DELETE FROM pending",
        "UPDATE pending SET deadline = deadline + 1",
        "UPDATE sessions SET rejections = 7",
        "UPDATE sessions SET mode = 'yolo' WHERE name = 's'",
        "INSERT INTO allow_list VALUES (1, 'bash')",
        "INSERT INTO memory VALUES ('s', 'bash', zeroblob(32), 9999999)",
        "INSERT INTO standing (row, id, tool, ends_at) VALUES (7, 'sg_1', 'bash', 9999999999)",
    ];
    for edit in edits {
        let found = found_after(edit);
        assert!(!found.is_empty(), "{edit}");
        assert!(
            found
                .iter()
                .all(|(kind, _)| *kind == FindingKind::ProjectionDiffers),
            "{edit}: {found:?}"
        );
    }
}

/// A forger who recomputes every hash of the tail is found only with an anchor.
#[test]
fn a_history_rewritten_with_care_is_found_by_its_anchor() {
    let mut db = history();
    let anchor = db.verify(None).unwrap().anchor;
    let mut forged = InlineStore::new().unwrap();
    put(&mut forged, 0, asking("int_1", &call("c1", "rm -rf"))).unwrap();
    assert!(forged.verify(None).unwrap().is_sound());
    let findings = forged.verify(Some(&anchor)).unwrap().findings;
    assert_eq!(findings[0].kind, FindingKind::AnchorDiffers);
    for _ in 0..9 {
        mode(&mut forged, "s");
    }
    let findings = forged.verify(Some(&anchor)).unwrap().findings;
    assert_eq!(
        (findings[0].kind, findings[0].row),
        (FindingKind::AnchorDiffers, Some(11))
    );
}

#[test]
fn an_anchor_holds_while_the_journal_grows() {
    let mut db = history();
    let anchor = db.verify(None).unwrap().anchor;
    assert_eq!(anchor.to_string().parse::<Anchor>(), Ok(anchor));
    db.checkpoint(at(6)).unwrap();
    assert_eq!(db.verify(Some(&anchor)).unwrap().anchor, anchor);
    let no = vec![
        answered("int_2", Action::RejectWithReason),
        settled("c2", rejected("no"), None),
    ];
    put(&mut db, 7, no).unwrap();
    db.checkpoint(at(8)).unwrap();
    let verified = db.verify(Some(&anchor)).unwrap();
    assert_eq!(verified.findings, []);
    assert_ne!(verified.anchor, anchor);
    "12:zz".parse::<Anchor>().unwrap_err();
}
