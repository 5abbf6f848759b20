//! The run as a story, and under thousands of seeded histories: crashes anywhere change nothing.

use serde_json::json;

use super::*;
use crate::call::{Args, CallDigest};
use crate::digest::Digest;
use crate::ids::{AgentId, InteractionId, PersonId, ToolName};
use crate::interaction::{Asked, Audience, Code, Subject};
use crate::journal::{CallResult, Event};
use crate::outcome::{Denial, Outcome};
use crate::time::{Millis, Timestamp};
use crate::tool::{Category, Risk};
use crate::verdict::{Answers, Decision, Reason, Step, Verdict};

mod world;

fn origin() -> Origin {
    Origin {
        agent: AgentId::new("placet").unwrap(),
        agent_path: Vec::new(),
        chat: None,
        user: Some(PersonId::new("lin").unwrap()),
    }
}

fn started(turns_max: u32) -> Event {
    Event::RunStarted(Box::new(RunStarted {
        task: "tidy up".into(),
        model: "scripted".into(),
        limits: Limits {
            turns_max,
            ..Limits::USUAL
        },
        origin: origin(),
        workspace: None,
        parent: None,
        until: None,
        workflow: None,
    }))
}

fn call(id: &str, tool: &str) -> ModelCall {
    ModelCall {
        id: CallId::new(id).unwrap(),
        wanted: RequestedCall::Call {
            tool: ToolName::new(tool).unwrap(),
            args: Args::from_value(json!({ "id": id })).unwrap(),
        },
    }
}

fn turn(turn: u32, text: &str, calls: Vec<ModelCall>) -> Event {
    Event::ModelTurn(Box::new(ModelTurn {
        turn,
        text: text.into(),
        thinking: None,
        calls,
        usage: Usage::default(),
        cut: None,
    }))
}

fn key(id: &str) -> CallKey {
    CallKey {
        agent: AgentId::new("placet").unwrap(),
        call: CallId::new(id).unwrap(),
    }
}

fn received(run: &Run, id: &str, outcome: Option<Outcome>) -> Event {
    let call = run.call(&CallId::new(id).unwrap()).unwrap();
    let decision = match &outcome {
        Some(outcome) if outcome.permits() => Decision::Allow,
        Some(_) => Decision::Deny,
        None => Decision::Ask(crate::verdict::AskTerms::plain()),
    };
    Event::CallReceived {
        digest: call.digest(),
        call: Box::new(call),
        verdict: Box::new(Verdict {
            decision,
            step: Step::Ask,
            rule: None,
            reason: Reason::Yolo,
            risk: Risk::Medium,
            category: Category::Command,
            confinement: None,
        }),
        findings: None,
        policy: Digest::of("policy", &[]),
        outcome: outcome.map(Box::new),
    }
}

fn asked(id: &str) -> Event {
    Event::Asked(Box::new(Asked {
        id: InteractionId::new(format!("int_{id}")).unwrap(),
        session: SessionId::new("s").unwrap(),
        subject: Subject::Call {
            call: key(id),
            digest: CallDigest(Digest::of("x", &[])),
            answers: Answers::for_approval(),
            edited: None,
        },
        admins: false,
        audience: Audience::Inbox,
        quorum: 1,
        requester: None,
        not_requester: false,
        since: Timestamp::from_millis(0),
        deadline: Timestamp::from_millis(60_000),
        escalation: None,
        code: Code::from_random(7),
        risk: Risk::Medium,
        group: None,
        chat: None,
        evidence: Vec::new(),
        tool_description: None,
    }))
}

fn settled(id: &str, outcome: Outcome) -> Event {
    let grant = outcome.permits().then_some(1);
    Event::Settled {
        call: key(id),
        outcome: Box::new(outcome),
        grant,
    }
}

fn claimed(id: &str) -> Event {
    Event::Claimed {
        call: key(id),
        grant: 1,
        lease: None,
        process: None,
        child: None,
    }
}

fn handed_on(id: &str) -> Event {
    Event::Claimed {
        call: key(id),
        grant: 1,
        lease: None,
        process: None,
        child: Some(SessionId::new(format!("task_{id}")).unwrap()),
    }
}

fn finished(id: &str) -> Event {
    Event::Finished {
        call: key(id),
        grant: 1,
        result: CallResult::new(true, &format!("output of {id}")),
    }
}

fn rejected(instruction: Option<&str>) -> Outcome {
    Outcome::Rejected {
        by: PersonId::new("lin").unwrap(),
        reason: Some("not now".into()),
        instruction: instruction.map(str::to_owned),
    }
}

fn run_of(events: &[Event]) -> Run {
    let mut run = Run::new(SessionId::new("s").unwrap());
    for event in events {
        run.evolve(event).unwrap();
    }
    run
}

/// The transcript in short lines.
fn lines(run: &Run) -> Vec<String> {
    let line = |message: &Message| match message {
        Message::User { text } => format!("user: {text}"),
        Message::Model { text, calls } => format!("model: {text} {}", calls.len()),
        Message::Result { call, ok, text } => format!("{call} {ok}: {text}"),
    };
    run.transcript().iter().map(line).collect()
}

#[test]
fn calls_of_one_turn_are_decided_on_their_own_and_answered_by_id() {
    let mut run = run_of(&[
        started(9),
        turn(1, "", vec![call("a", "bash"), call("b", "read")]),
    ]);
    assert_eq!(
        run.effects(),
        ["a", "b"].map(|id| RunEffect::Propose(CallId::new(id).unwrap()))
    );
    for event in [
        received(&run, "a", None),
        asked("a"),
        received(&run, "b", Some(Outcome::Allowed)),
    ] {
        run.evolve(&event).unwrap();
    }
    assert_eq!(run.effects(), [RunEffect::Execute(CallId::new("b").unwrap())]);
    assert!(!run.is_parked());
    for event in [claimed("b"), finished("b")] {
        run.evolve(&event).unwrap();
    }
    assert!(run.is_parked());
    assert_eq!(run.effects(), []);
    run.evolve(&settled("a", rejected(Some("look first")))).unwrap();
    assert_eq!(run.effects(), [RunEffect::AskModel]);
    let lines = lines(&run);
    assert!(lines[2].starts_with("a false: ") && lines[2].contains("rejected_by_person"));
    assert_eq!(lines[3], "b true: output of b");
    assert_eq!(lines[4], "user: look first", "an instruction follows the results");
}

/// vercel/eve#785, #2469: the turn died, or the model made results up.
#[test]
fn a_message_while_a_question_is_open_waits_for_the_end_of_the_turn_and_is_not_taken_for_the_answer() {
    let mut run = run_of(&[started(9), turn(1, "", vec![call("a", "bash")])]);
    let received = received(&run, "a", None);
    for event in [
        received,
        asked("a"),
        Event::UserSaid {
            text: "yes, and hurry".into(),
            by: Some(PersonId::new("lin").unwrap()),
        },
    ] {
        run.evolve(&event).unwrap();
    }
    assert!(run.is_parked(), "a message decides nothing");
    assert_eq!(lines(&run).len(), 2);
    run.evolve(&settled("a", rejected(None))).unwrap();
    let lines = lines(&run);
    assert!(lines[3].contains("still waiting") && lines[3].ends_with("yes, and hurry"));
}

#[test]
fn what_is_said_while_the_model_speaks_its_last_word_is_still_answered() {
    let said = Event::UserSaid {
        text: "one more thing".into(),
        by: None,
    };
    let run = run_of(&[started(9), said, turn(1, "done", vec![])]);
    assert_eq!(run.effects(), [RunEffect::AskModel]);
    let run = run_of(&[started(9), turn(1, "done", vec![])]);
    assert_eq!(run.effects(), [RunEffect::End(RunEnd::Completed)]);
}

#[test]
fn half_a_last_word_does_not_complete_the_run_and_what_is_said_since_goes_on_with_it() {
    let cut = Event::ModelTurn(Box::new(ModelTurn {
        turn: 1,
        text: "first I will".into(),
        thinking: None,
        calls: vec![],
        usage: Usage::default(),
        cut: Some("the model was cut off".into()),
    }));
    let run = run_of(&[started(9), cut.clone()]);
    let why = "the model was cut off".into();
    assert_eq!(run.effects(), [RunEffect::End(RunEnd::Failed { why })]);
    let said = Event::UserSaid {
        text: "go on".into(),
        by: None,
    };
    let mut run = run_of(&[started(9), said, cut]);
    assert_eq!(run.effects(), [RunEffect::AskModel]);
    run.evolve(&turn(2, "then you will", vec![])).unwrap();
    assert_eq!(run.effects(), [RunEffect::End(RunEnd::Completed)]);
}

#[test]
fn nonsense_gets_a_result_and_is_never_proposed() {
    let nonsense = ModelCall {
        id: CallId::new("a").unwrap(),
        wanted: RequestedCall::Nonsense {
            tool: "bash".into(),
            args: "{\"command\": ".into(),
            why: "the arguments are not valid JSON".into(),
        },
    };
    let run = run_of(&[started(9), turn(1, "", vec![nonsense])]);
    assert_eq!(run.effects(), [RunEffect::AskModel]);
    assert!(lines(&run)[2].contains("not valid JSON"));
}

#[test]
fn a_limit_ends_the_run_but_not_before_the_last_word() {
    let mut run = run_of(&[started(1), turn(1, "", vec![call("a", "read")])]);
    let allowed = received(&run, "a", Some(Outcome::Allowed));
    for event in [allowed, claimed("a"), finished("a")] {
        run.evolve(&event).unwrap();
    }
    assert_eq!(run.effects(), [RunEffect::End(RunEnd::LimitReached { turns: 1 })]);
    let run = run_of(&[started(1), turn(1, "done", vec![])]);
    assert_eq!(run.effects(), [RunEffect::End(RunEnd::Completed)]);
}

#[test]
fn an_ended_session_ends_the_run_once_nothing_runs_any_more() {
    let mut run = run_of(&[
        started(9),
        turn(1, "", vec![call("a", "bash"), call("b", "bash")]),
    ]);
    let allowed = received(&run, "a", Some(Outcome::Allowed));
    for event in [allowed, claimed("a"), Event::SessionEnded { by: "lin".into() }] {
        run.evolve(&event).unwrap();
    }
    assert_eq!(run.effects(), [], "b is not begun, and a is let finish");
    run.evolve(&finished("a")).unwrap();
    let end = RunEnd::Terminated { by: "lin".into() };
    assert_eq!(run.effects(), [RunEffect::End(end.clone())]);
    run.evolve(&Event::RunEnded { how: end }).unwrap();
    assert_eq!(run.effects(), []);
    assert!(lines(&run)[3].contains("undecided"), "even b has a result");
}

#[test]
fn an_interrupted_run_ends_once_nothing_runs_any_more_and_the_next_one_is_not_interrupted() {
    let mut run = run_of(&[
        started(9),
        turn(1, "", vec![call("a", "bash"), call("b", "bash")]),
    ]);
    let allowed = received(&run, "a", Some(Outcome::Allowed));
    let lin = PersonId::new("lin").unwrap();
    for event in [allowed, claimed("a"), Event::RunInterrupted { by: lin }] {
        run.evolve(&event).unwrap();
    }
    assert_eq!(run.effects(), [], "b is not begun, and a has no result yet");
    run.evolve(&finished("a")).unwrap();
    let end = RunEnd::Interrupted { by: "lin".into() };
    assert_eq!(run.effects(), [RunEffect::End(end.clone())]);
    run.evolve(&Event::RunEnded { how: end }).unwrap();
    let said = lines(&run);
    assert!(said[3].contains("undecided"), "even b has a result");
    assert!(said[4].contains("lin interrupted you here"));
    run.evolve(&started(9)).unwrap();
    assert_eq!(run.effects(), [RunEffect::AskModel]);
}

#[test]
fn what_is_said_after_an_interruption_is_held_over_for_the_next_run() {
    let lin = PersonId::new("lin").unwrap();
    let said = |text: &str| Event::UserSaid {
        text: text.into(),
        by: None,
    };
    let mut run = run_of(&[
        started(9),
        said("before"),
        Event::RunInterrupted { by: lin },
        said("rather this"),
        said("and that"),
    ]);
    assert_eq!(run.held_over().as_deref(), Some("rather this\n\nand that"));
    assert_eq!(run.said(), 3);
    let how = RunEnd::Interrupted { by: "lin".into() };
    run.evolve(&Event::RunEnded { how }).unwrap();
    run.evolve(&started(9)).unwrap();
    assert_eq!(run.held_over(), None);
    let told = lines(&run).join("\n");
    assert!(told.contains("before") && !told.contains("rather"), "{told}");
}

#[test]
fn a_run_of_a_session_follows_another_and_remembers_it() {
    let mut run = run_of(&[
        started(9),
        turn(1, "done", vec![]),
        Event::RunEnded {
            how: RunEnd::Completed,
        },
    ]);
    assert_eq!(
        run.evolve(&turn(2, "", vec![])),
        Err(EvolveError::OutOfTurn {
            found: 2,
            expected: 2
        })
    );
    run.evolve(&started(9)).unwrap();
    assert_eq!(run.evolve(&started(9)), Err(EvolveError::StartedTwice));
    assert_eq!(run.turns(), 0);
    assert_eq!(run.transcript().len(), 3);
}

#[test]
fn the_resume_point_of_a_parked_run_has_the_names_of_the_document() {
    let mut run = run_of(&[started(9), turn(1, "", vec![call("a", "bash")])]);
    let received = received(&run, "a", None);
    run.evolve(&received).unwrap();
    run.evolve(&asked("a")).unwrap();
    let point = serde_json::to_value(run.resume_point().unwrap()).unwrap();
    assert_eq!(point["resumeId"], "s:1");
    assert_eq!(point["currentIteration"], 1);
    assert_eq!(point["pausedStage"], "ACTION");
    assert_eq!(point["originalTask"], "tidy up");
    assert_eq!(point["interactionRequest"]["type"], "TOOL_APPROVAL");
    assert_eq!(point["context"]["calls"][0]["state"], "waiting");
    assert!(point["userResponse"].is_null());
}

#[test]
fn a_call_that_was_handed_on_parks_the_run_until_its_result_is_there() {
    let mut run = run_of(&[started(9), turn(1, "", vec![call("a", "task")])]);
    let allowed = received(&run, "a", Some(Outcome::Allowed));
    run.evolve(&allowed).unwrap();
    run.evolve(&handed_on("a")).unwrap();
    assert!(run.is_parked() && run.effects().is_empty());
    assert_eq!(
        run.children().map(SessionId::as_str).collect::<Vec<_>>(),
        ["task_a"]
    );
    run.evolve(&finished("a")).unwrap();
    assert_eq!(run.effects(), [RunEffect::AskModel]);
    assert_eq!(run.children().count(), 0);
}

#[test]
fn a_session_that_was_ended_waits_for_the_end_of_what_it_handed_on() {
    let mut run = run_of(&[started(9), turn(1, "", vec![call("a", "task")])]);
    let allowed = received(&run, "a", Some(Outcome::Allowed));
    run.evolve(&allowed).unwrap();
    run.evolve(&handed_on("a")).unwrap();
    run.evolve(&Event::SessionEnded { by: "lin".into() }).unwrap();
    assert!(run.effects().is_empty());
    run.evolve(&finished("a")).unwrap();
    let end = RunEnd::Terminated { by: "lin".into() };
    assert_eq!(run.effects(), [RunEffect::End(end)]);
}

#[test]
fn a_call_that_may_have_run_when_its_run_ends_is_not_said_never_to_have_run() {
    let lost = Event::LostTrack {
        call: key("a"),
        grant: 1,
    };
    let mut back = asked("a");
    if let Event::Asked(asked) = &mut back {
        asked.subject = Subject::UnknownOutcome {
            call: key("a"),
            digest: CallDigest(Digest::of("x", &[])),
            edited: None,
            judgement: None,
        };
    }
    for then in [vec![], vec![lost.clone()], vec![lost, back]] {
        let mut run = Run::new(SessionId::new("s").unwrap());
        run.evolve(&started(9)).unwrap();
        run.evolve(&turn(1, "", vec![call("a", "bash"), call("b", "bash")]))
            .unwrap();
        run.evolve(&received(&run, "a", Some(Outcome::Allowed))).unwrap();
        run.evolve(&claimed("a")).unwrap();
        for event in &then {
            run.evolve(event).unwrap();
        }
        run.evolve(&Event::RunEnded {
            how: RunEnd::TimedOut,
        })
        .unwrap();
        let results: Vec<&str> = run
            .transcript()
            .iter()
            .filter_map(|message| match message {
                Message::Result { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert!(results[0].contains("\"executed\":\"unknown\""), "{results:?}");
        assert!(results[1].contains("\"executed\":false"), "{results:?}");
    }
}

#[test]
fn what_is_said_between_the_last_word_and_the_end_is_answered() {
    let mut run = Run::new(SessionId::new("s").unwrap());
    run.evolve(&started(9)).unwrap();
    run.evolve(&turn(1, "Done.", Vec::new())).unwrap();
    assert_eq!(run.effects(), [RunEffect::End(RunEnd::Completed)]);
    let said = Event::UserSaid {
        text: "One more thing".into(),
        by: None,
    };
    run.evolve(&said).unwrap();
    assert_eq!(run.effects(), [RunEffect::AskModel]);
    let last = run.transcript().last();
    assert!(matches!(last, Some(Message::User { text }) if text == "One more thing"));
    run.evolve(&turn(2, "That, too.", Vec::new())).unwrap();
    assert_eq!(run.effects(), [RunEffect::End(RunEnd::Completed)]);
}
