//! Interrupted runs, with and without a driver that ends them.

use expect_test::{Expect, expect};

use super::*;
use crate::ids::AgentId;
use crate::steps::tests::{fresh, host, outcome, person, room, running};

#[track_caller]
fn check(snapshot: &Snapshot, expected: &Expect) {
    let step = interrupt_run(snapshot, &host(), &room(), &person("lin"));
    expected.assert_eq(&outcome(step));
}

#[test]
fn a_run_with_a_driver_is_interrupted_and_its_driver_ends_it() {
    check(
        &running(|_| {}),
        &expect![[r#"
        true
        RunInterrupted { by: PersonId("lin") }
    "#]],
    );
    let others = running(|run| run.origin.agent = AgentId::new("other").unwrap());
    check(
        &others,
        &expect![[r#"
        true
        RunInterrupted { by: PersonId("lin") }
    "#]],
    );
}

#[test]
fn a_run_that_cannot_go_on_here_ends_in_the_same_step() {
    let ends = expect![[r#"
        true
        RunInterrupted { by: PersonId("lin") }
        RunEnded { how: Interrupted { by: "lin" } }
    "#]];
    check(&running(|run| run.workspace = Some("/other".into())), &ends);
    check(&running(|run| run.model = "gone".into()), &ends);
}

#[test]
fn without_an_open_run_nothing_happens() {
    check(
        &fresh(),
        &expect![[r#"
        false
    "#]],
    );
}
