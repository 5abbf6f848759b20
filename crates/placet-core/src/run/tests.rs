//! The run as a story, and under thousands of seeded histories: crashes anywhere change nothing.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::call::{Args, CallDigest};
use crate::digest::Digest;
use crate::ids::{AgentId, InteractionId, PersonId, ToolName};
use crate::interaction::{Asked, Audience, Code, Subject};
use crate::journal::{CallResult, Event};
use crate::outcome::{Denial, Outcome};
use crate::time::{LiveTime, Millis};
use crate::tool::{Category, Risk};
use crate::verdict::{Answers, Decision, Step, Verdict};

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
    }))
}

fn call(id: &str, tool: &str) -> ModelCall {
    ModelCall {
        id: CallId::new(id).unwrap(),
        wanted: Wanted::Call {
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
            reason: "test".into(),
            risk: Risk::Medium,
            category: Category::Command,
        }),
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
        audience: Audience::Inbox,
        quorum: 1,
        requester: None,
        not_requester: false,
        since: LiveTime::from_millis(0),
        deadline: LiveTime::from_millis(60_000),
        escalation: None,
        code: Code::from_random(7),
        risk: Risk::Medium,
        group: None,
        chat: None,
        evidence: Vec::new(),
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
        ["a", "b"].map(|id| Effect::Propose(CallId::new(id).unwrap()))
    );
    for event in [
        received(&run, "a", None),
        asked("a"),
        received(&run, "b", Some(Outcome::Allowed)),
    ] {
        run.evolve(&event).unwrap();
    }
    assert_eq!(run.effects(), [Effect::Execute(CallId::new("b").unwrap())]);
    assert!(!run.is_parked());
    for event in [claimed("b"), finished("b")] {
        run.evolve(&event).unwrap();
    }
    assert!(run.is_parked());
    assert_eq!(run.effects(), []);
    run.evolve(&settled("a", rejected(Some("look first")))).unwrap();
    assert_eq!(run.effects(), [Effect::AskModel]);
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
    assert_eq!(run.effects(), [Effect::AskModel]);
    let run = run_of(&[started(9), turn(1, "done", vec![])]);
    assert_eq!(run.effects(), [Effect::End(RunEnd::Completed)]);
}

#[test]
fn nonsense_gets_a_result_and_is_never_proposed() {
    let nonsense = ModelCall {
        id: CallId::new("a").unwrap(),
        wanted: Wanted::Nonsense {
            tool: "bash".into(),
            args: "{\"command\": ".into(),
            why: "the arguments are not valid JSON".into(),
        },
    };
    let run = run_of(&[started(9), turn(1, "", vec![nonsense])]);
    assert_eq!(run.effects(), [Effect::AskModel]);
    assert!(lines(&run)[2].contains("not valid JSON"));
}

#[test]
fn a_limit_ends_the_run_but_not_before_the_last_word() {
    let mut run = run_of(&[started(1), turn(1, "", vec![call("a", "read")])]);
    let allowed = received(&run, "a", Some(Outcome::Allowed));
    for event in [allowed, claimed("a"), finished("a")] {
        run.evolve(&event).unwrap();
    }
    assert_eq!(run.effects(), [Effect::End(RunEnd::LimitReached { turns: 1 })]);
    let run = run_of(&[started(1), turn(1, "done", vec![])]);
    assert_eq!(run.effects(), [Effect::End(RunEnd::Completed)]);
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
    assert_eq!(run.effects(), [Effect::End(end.clone())]);
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
    assert_eq!(run.effects(), [Effect::End(end.clone())]);
    run.evolve(&Event::RunEnded { how: end }).unwrap();
    let said = lines(&run);
    assert!(said[3].contains("undecided"), "even b has a result");
    assert!(said[4].contains("lin interrupted you here"));
    run.evolve(&started(9)).unwrap();
    assert_eq!(run.effects(), [Effect::AskModel]);
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

/// A world that does what the machine wants, by chance and in any order; each byte is one roll.
struct World {
    journal: Vec<Event>,
    run: Run,
    proposed: BTreeMap<CallId, u32>,
    outputs: BTreeMap<CallId, String>,
    calls: u32,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            journal: Vec::new(),
            run: run_of(&[]),
            proposed: BTreeMap::new(),
            outputs: BTreeMap::new(),
            calls: 0,
        };
        world.happen(started(6));
        world
    }

    fn happen(&mut self, event: Event) {
        // Through its stored form, as a new process would read it.
        let stored = serde_json::to_string(&event).unwrap();
        self.run.evolve(&serde_json::from_str(&stored).unwrap()).unwrap();
        self.journal.push(event);
    }

    fn step(&mut self, roll: u8) {
        let effects = self.run.effects();
        let waiting: Vec<String> = self.in_state(|state| matches!(state, SlotState::Waiting(_)));
        let running: Vec<String> = self.in_state(|state| matches!(state, SlotState::Running(_)));
        let choices = effects.len() + waiting.len() + running.len() + 1;
        let choice = usize::from(roll >> 3) % choices;
        if let Some(effect) = effects.get(choice) {
            self.carry_out(effect.clone(), roll);
        } else if let Some(id) = waiting.get(choice - effects.len()) {
            let outcome = match roll % 3 {
                0 => Outcome::Approved {
                    by: vec![PersonId::new("lin").unwrap()],
                    digest: CallDigest(Digest::of("x", &[])),
                    edited: None,
                    instruction: Some("go on".into()),
                    remembered_until: None,
                },
                1 => rejected(None),
                _ => Outcome::Expired {
                    after: Millis::from_secs(60),
                    default: None,
                },
            };
            self.happen(settled(id, outcome));
        } else if let Some(id) = running.get(choice.saturating_sub(effects.len() + waiting.len())) {
            if roll.is_multiple_of(4) {
                self.happen(Event::LostTrack {
                    call: key(id),
                    grant: 1,
                });
                self.happen(settled(id, Outcome::Allowed));
            } else {
                self.happen(finished(id));
                self.outputs
                    .insert(CallId::new(id).unwrap(), format!("output of {id}"));
            }
        } else if self.run.is_open() && roll.is_multiple_of(5) {
            self.happen(Event::UserSaid {
                text: "hello".into(),
                by: None,
            });
        }
    }

    fn in_state(&self, is: impl Fn(&SlotState) -> bool) -> Vec<String> {
        let slots = self
            .run
            .slots()
            .iter()
            .filter(|slot| is(&slot.state) && slot.same_as.is_none());
        slots.map(|slot| slot.call.id.to_string()).collect()
    }

    fn carry_out(&mut self, effect: Effect, roll: u8) {
        match effect {
            Effect::AskModel => {
                let calls = (0..u32::from(roll % 4)).map(|n| {
                    let id = format!("c{}", self.calls + n);
                    call(&id, if n == 0 { "bash" } else { "read" })
                });
                let calls: Vec<ModelCall> = calls.collect();
                self.calls += u32::try_from(calls.len()).unwrap();
                let next = self.run.turns() + 1;
                self.happen(turn(next, "hm", calls));
            }
            Effect::Propose(id) => {
                *self.proposed.entry(id.clone()).or_default() += 1;
                let id = id.as_str();
                let denied = Outcome::Denied {
                    denial: Denial::SessionOver,
                };
                match roll % 3 {
                    0 => self.happen(received(&self.run, id, Some(Outcome::Allowed))),
                    1 => self.happen(received(&self.run, id, Some(denied))),
                    _ => {
                        let received = received(&self.run, id, None);
                        self.happen(received);
                        self.happen(asked(id));
                    }
                }
            }
            Effect::Execute(id) => self.happen(claimed(id.as_str())),
            Effect::End(how) => self.happen(Event::RunEnded { how }),
        }
    }

    /// Every call of the transcript has exactly one result, and no result says more than the world did.
    fn check(&self) {
        let mut results: BTreeMap<&CallId, u32> = BTreeMap::new();
        for message in self.run.transcript() {
            if let Message::Result { call, ok, text } = message {
                *results.entry(call).or_default() += 1;
                assert!(
                    !ok || self.outputs.get(call) == Some(text),
                    "an invented result: {text}"
                );
            }
        }
        assert!(results.values().all(|count| *count == 1), "{results:?}");
        assert!(self.proposed.values().all(|count| *count == 1), "proposed twice");
        if !self.run.is_open() {
            let called = self.run.transcript().iter().map(|message| match message {
                Message::Model { calls, .. } => calls.len(),
                _ => 0,
            });
            assert_eq!(called.sum::<usize>(), results.len(), "a call without a result");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_run_resumed_at_any_row_goes_on_as_if_nothing_had_happened(rolls in prop::collection::vec(any::<u8>(), 1..200)) {
        let mut world = World::new();
        for roll in rolls {
            world.step(roll);
            world.check();
        }
        let mut resumed = run_of(&[]);
        for (row, event) in world.journal.iter().enumerate() {
            // Forgets everything and reads the rows again.
            resumed = run_of(&world.journal[..row]);
            let before = resumed.effects();
            resumed.evolve(event).unwrap();
            if let Event::CallReceived { call, .. } = event {
                prop_assert!(before.contains(&Effect::Propose(call.id.clone())), "a call nobody wanted");
                prop_assert!(!resumed.effects().contains(&Effect::Propose(call.id.clone())), "proposed again");
            }
        }
        prop_assert_eq!(resumed, world.run);
    }
}
