//! Messages to the agent: who may say what, and to which run.

use expect_test::{Expect, expect};

use super::*;
use crate::ids::AgentId;
use crate::snapshot::{Found, Need};
use crate::steps::tests::{fresh, host, now, outcome, person, room, running, session};

fn says(by: &str, text: &str) -> UserMessage {
    UserMessage {
        session: room(),
        text: text.into(),
        by: person(by),
        chat: None,
        model: None,
        workflow: None,
        allowed: BTreeSet::new(),
    }
}

fn workflow() -> Box<Workflow> {
    Box::new(Workflow::parse("[workflow.config]\nmax_steps = 3\n", "tidy.toml").unwrap())
}

#[track_caller]
fn check(snapshot: &Snapshot, message: &UserMessage, expected: &Expect) {
    expected.assert_eq(&outcome(tell(snapshot, now(), &host(), message)));
}

#[test]
fn the_first_message_begins_a_run_and_the_next_one_is_read_by_it() {
    check(
        &fresh(),
        &says("lin", "tidy up"),
        &expect![[r#"
            Started
            RunStarted tidy up with large in Some("/work"), 50 turns
        "#]],
    );
    check(
        &running(|_| {}),
        &says("lin", "and the attic"),
        &expect![[r#"
            Queued
            UserSaid { text: "and the attic", by: Some(PersonId("lin")) }
        "#]],
    );
}

#[test]
fn a_message_may_name_a_model_and_tools_that_are_allowed_before_the_run_begins() {
    let tool = |name| ToolName::new(name).unwrap();
    let message = UserMessage {
        model: Some("small".into()),
        allowed: BTreeSet::from([tool("bash"), tool("write")]),
        ..says("lin", "tidy up")
    };
    let allowed = session(fresh(), |record| {
        record.allow_list.insert(tool("write"));
    });
    check(
        &allowed,
        &message,
        &expect![[r#"
            Started
            ToolAllowed { tool: ToolName("bash"), by: PersonId("lin") }
            RunStarted tidy up with small in Some("/work"), 50 turns
        "#]],
    );
}

#[test]
fn a_workflow_begins_a_run_of_its_own_and_never_joins_one() {
    let message = UserMessage {
        workflow: Some(workflow()),
        ..says("lin", "begin")
    };
    check(
        &fresh(),
        &message,
        &expect![[r#"
            Started
            RunStarted begin with large in Some("/work"), 3 turns
        "#]],
    );
    check(
        &running(|_| {}),
        &message,
        &expect![[r#"
            refused: GoingOn(SessionId("ops:room"))
        "#]],
    );
}

#[test]
fn a_session_belongs_to_the_person_and_the_agent_that_began_it() {
    let not_yours = expect![[r#"
        refused: NotYours(SessionId("ops:room"))
    "#]];
    check(&running(|_| {}), &says("wei", "hello"), &not_yours);
    let others = session(fresh(), |record| {
        record.agent = Some(AgentId::new("other").unwrap());
    });
    check(&others, &says("lin", "hello"), &not_yours);
    let mut set_up = fresh();
    let by_lin = Activity::SetUpBy(person("lin"));
    set_up.insert(Need::Activity(room()), Ok(Found::Activity(by_lin)));
    check(&set_up, &says("wei", "hello"), &not_yours);
    assert!(may_tell(&set_up, &host(), &room(), &person("lin")).unwrap());
}

#[test]
fn an_empty_message_and_one_to_an_ended_session_are_refused() {
    check(
        &fresh(),
        &says("lin", " \n"),
        &expect![[r#"
        refused: Empty
    "#]],
    );
    let ended = session(fresh(), |record| record.ended = true);
    check(
        &ended,
        &says("lin", "hello"),
        &expect![[r#"
        refused: SessionOver(SessionId("ops:room"))
    "#]],
    );
}

#[test]
fn nothing_is_said_to_a_run_that_cannot_go_on_here() {
    let elsewhere = running(|run| run.workspace = Some("/other".into()));
    check(
        &elsewhere,
        &says("lin", "hello"),
        &expect![[r#"
            refused: LeftAlone(Elsewhere { session: SessionId("ops:room"), workspace: "/other" })
        "#]],
    );
    let gone = running(|run| run.model = "gone".into());
    check(
        &gone,
        &says("lin", "hello"),
        &expect![[r#"
            refused: LeftAlone(NoModel { session: SessionId("ops:room"), model: "gone" })
        "#]],
    );
    let older = running(|run| run.workspace = None);
    check(
        &older,
        &says("lin", "hello"),
        &expect![[r#"
            Queued
            UserSaid { text: "hello", by: Some(PersonId("lin")) }
        "#]],
    );
}
