//! A world around the machine, drawn by chance: whatever happens in whatever order, the run keeps its promises.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

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
        let running: Vec<String> =
            self.in_state(|state| matches!(state, SlotState::Running(_) | SlotState::Delegated { .. }));
        let delegated: Vec<String> = self.in_state(|state| matches!(state, SlotState::Delegated { .. }));
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
                    judgement: None,
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
            if roll.is_multiple_of(4) && !delegated.contains(id) {
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

    fn carry_out(&mut self, effect: RunEffect, roll: u8) {
        match effect {
            RunEffect::AskModel => {
                let calls = (0..u32::from(roll % 4)).map(|n| {
                    let id = format!("c{}", self.calls + n);
                    call(&id, if n == 0 { "bash" } else { "read" })
                });
                let calls: Vec<ModelCall> = calls.collect();
                self.calls += u32::try_from(calls.len()).unwrap();
                let next = self.run.turns() + 1;
                self.happen(turn(next, "hm", calls));
            }
            RunEffect::Propose(id) => {
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
            RunEffect::Execute(id) if roll.is_multiple_of(5) => self.happen(handed_on(id.as_str())),
            RunEffect::Execute(id) => self.happen(claimed(id.as_str())),
            RunEffect::End(how) => self.happen(Event::RunEnded { how }),
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
                prop_assert!(before.contains(&RunEffect::Propose(call.id.clone())), "a call nobody wanted");
                prop_assert!(!resumed.effects().contains(&RunEffect::Propose(call.id.clone())), "proposed again");
            }
        }
        prop_assert_eq!(resumed, world.run);
    }
}
