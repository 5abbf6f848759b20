//! The promises hold in twenty thousand histories, and the simulator notices when they do not.

#![expect(
    clippy::panic,
    reason = "a broken promise fails the test with its whole story"
)]

use placet_sim::sabotage::Sabotage;
use placet_sim::{run, run_many};

/// How many histories every test run lives through.
const SEEDS: u64 = 20_000;

#[test]
fn twenty_thousand_histories_keep_every_promise() {
    let tally = run_many(0, SEEDS, Sabotage::None).unwrap_or_else(|broken| panic!("{broken}"));
    // A world in which nothing happens would keep every promise too.
    assert!(
        tally.decided > SEEDS
            && tally.ran > SEEDS / 2
            && tally.crashes > SEEDS
            && tally.unknown > 1000
            && tally.outages > SEEDS
            && tally.fenced > 100
            && tally.conflicts > SEEDS / 4,
        "{tally:?}"
    );
}

#[test]
fn a_history_is_the_same_every_time() {
    assert_eq!(run(7, Sabotage::None), run(7, Sabotage::None));
}

/// The first history in which this is noticed; the same one passes when nothing is broken.
fn caught(sabotage: Sabotage, promise: &str) {
    let broken = (0..2_000).find_map(|seed| run(seed, sabotage).err());
    let broken = broken.unwrap_or_else(|| panic!("{sabotage:?} was not noticed"));
    assert!(
        broken.promise.contains(promise),
        "{sabotage:?} was noticed as: {broken}"
    );
    run(broken.seed, Sabotage::None).unwrap_or_else(|broken| panic!("{broken}"));
}

#[test]
fn an_answer_that_counts_at_the_deadline_is_caught() {
    caught(Sabotage::LateAnswerCounts, "in time");
}

#[test]
fn a_dropped_sync_is_caught() {
    caught(Sabotage::DroppedSync, "acknowledged, and lost");
}

#[test]
fn a_stranger_whose_answer_counts_is_caught() {
    caught(Sabotage::StrangerCounts, "promise 3");
}

#[test]
fn a_person_who_counts_twice_is_caught() {
    caught(Sabotage::VotesCountTwice, "promise 3");
}

#[test]
fn a_call_that_simply_runs_again_after_a_crash_is_caught() {
    caught(Sabotage::RunsAgainAfterCrash, "promise 2");
}

#[test]
fn a_grant_that_is_claimed_twice_is_caught() {
    caught(Sabotage::ClaimsTwice, "promise 2");
}

#[test]
fn a_call_that_runs_with_other_arguments_is_caught() {
    caught(Sabotage::RunsOtherArguments, "promise 1");
}

#[test]
fn an_edited_journal_is_caught() {
    caught(Sabotage::EditsJournal, "promise 6");
}

#[test]
fn a_commit_that_ignores_what_changed_since_it_was_decided_is_caught() {
    caught(Sabotage::IgnoresVersions, "promise");
}

#[test]
fn a_commit_that_ignores_an_outage_since_it_was_decided_is_caught() {
    caught(Sabotage::IgnoresEpoch, "promise 3");
}

#[test]
fn an_outage_that_uses_up_an_approvers_time_is_caught() {
    caught(Sabotage::ForgetsOutages, "promise 3");
}

#[test]
fn a_stale_fence_that_counts_is_caught() {
    caught(Sabotage::StaleFenceCounts, "stale fence");
}

#[test]
fn a_process_that_counts_as_gone_and_claims_a_call_is_caught() {
    caught(Sabotage::GoneProcessClaims, "counts as gone");
}

#[test]
fn a_cursor_that_skips_a_late_row_is_caught() {
    caught(Sabotage::CursorSkipsLateRow, "a reader");
}
