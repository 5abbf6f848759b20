//! Applying what happened. Fails only on a journal that cannot be: a step that decides never gets here wrongly.

use super::{Answer, Message, ModelTurn, Run, RunEnd, RunStarted, Slot, SlotState, Stage};
use crate::ids::PersonId;
use crate::interaction::CallKey;
use crate::journal::Event;
use crate::variables::{self, Variables};

/// Why a row cannot follow from the rows before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvolveError {
    /// A second run while one is going on.
    #[error("a run began while another was going on")]
    StartedTwice,
    /// The model spoke when it was not its turn.
    #[error("turn {found} of the model came where turn {expected} could be next")]
    OutOfTurn {
        /// Which turn it says it is.
        found: u32,
        /// Which one could follow.
        expected: u32,
    },
    /// Something happened in a run that is not going on.
    #[error("`{0}` came while no run was going on")]
    NoRun(&'static str),
}

impl Run {
    /// Applies a row of this session. Rows that are not about its runs change nothing.
    pub fn evolve(&mut self, event: &Event) -> Result<(), EvolveError> {
        match event {
            Event::RunStarted(started) => self.start(started),
            Event::UserSaid { text, by } => self.hear(text, by.as_ref()),
            Event::ModelTurn(turn) => self.speak(turn),
            Event::VariablesChanged {
                by, before, after, ..
            } => {
                self.must_be_open(event)?;
                self.variables.clone_from(after);
                // The question that was answered is a call of the turn under way; the model reads this after its result.
                let text = variables::told(by.as_str(), before, after);
                self.queued.push(Message::User { text });
                Ok(())
            }
            Event::RunEnded { how } => {
                self.must_be_open(event)?;
                // No later run may find a call without a result.
                self.close_turn();
                if let RunEnd::Interrupted { by } = how {
                    self.transcript.push(Message::interrupted(by));
                }
                self.stage = Stage::Ended(how.clone());
                Ok(())
            }
            Event::RunInterrupted { by } => {
                self.must_be_open(event)?;
                self.interrupted = Some(by.clone());
                Ok(())
            }
            Event::SessionEnded { by } => {
                self.session_ended = Some(by.clone());
                Ok(())
            }
            _ => {
                self.follow_calls(event);
                Ok(())
            }
        }
    }

    fn must_be_open(&self, event: &Event) -> Result<(), EvolveError> {
        if self.is_open() {
            Ok(())
        } else {
            Err(EvolveError::NoRun(event.name()))
        }
    }

    fn start(&mut self, started: &RunStarted) -> Result<(), EvolveError> {
        if self.is_open() {
            return Err(EvolveError::StartedTwice);
        }
        self.transcript.push(Message::User {
            text: started.task.clone(),
        });
        let workflow = started.workflow.as_ref();
        self.variables = workflow.map_or_else(Variables::new, |workflow| workflow.variables.clone());
        self.started = Some(started.clone());
        self.interrupted = None;
        self.held_over.clear();
        self.turns = 0;
        self.said = 0;
        self.stage = Stage::Thinking;
        Ok(())
    }

    /// Whatever is said while the model speaks or calls run waits for the end of the turn: the model has not heard it.
    fn hear(&mut self, text: &str, by: Option<&PersonId>) -> Result<(), EvolveError> {
        if !self.is_open() {
            return Err(EvolveError::NoRun("userSaid"));
        }
        self.said = self.said.saturating_add(1);
        if self.interrupted.is_some() {
            self.held_over.push(text.to_owned());
            return Ok(());
        }
        let waiting = self.slots().iter().filter(|slot| slot.question().is_some());
        let waiting: Vec<&str> = waiting.map(|slot| slot.call.tool()).collect();
        self.queued.push(Message::said(text, by, &waiting));
        // The model has said its last word, and the end is not stored yet: this is said after it, and is answered.
        let spoken = matches!(self.transcript.last(), Some(Message::Model { .. }));
        if spoken && self.stage == Stage::Thinking {
            self.transcript.append(&mut self.queued);
        }
        Ok(())
    }

    fn speak(&mut self, turn: &ModelTurn) -> Result<(), EvolveError> {
        let expected = self.turns.saturating_add(1);
        let may_speak = matches!(self.stage, Stage::Thinking | Stage::Observing);
        if !may_speak || turn.turn != expected {
            return Err(EvolveError::OutOfTurn {
                found: turn.turn,
                expected,
            });
        }
        self.turns = expected;
        self.cut.clone_from(&turn.cut);
        self.transcript.push(Message::Model {
            text: turn.text.clone(),
            calls: turn.calls.clone(),
        });
        if turn.calls.is_empty() {
            self.transcript.append(&mut self.queued);
            self.stage = Stage::Thinking;
            return Ok(());
        }
        self.stage = Stage::Acting(turn.calls.iter().cloned().map(Slot::new).collect());
        self.observe();
        Ok(())
    }

    /// What the gate says about the calls of the turn.
    fn follow_calls(&mut self, event: &Event) {
        match event {
            Event::CallReceived { call, outcome, .. } => {
                let key = CallKey {
                    agent: call.origin.agent.clone(),
                    call: call.id.clone(),
                };
                self.each(&key, |slot| match outcome {
                    Some(outcome) => slot.settle(outcome),
                    None => slot.state = SlotState::Received,
                });
            }
            Event::Joined { call, same_as, .. } => {
                let waits = self.slot(same_as).map(|slot| slot.state.clone());
                self.each(call, |slot| {
                    slot.same_as = Some(same_as.clone());
                    if let Some(state) = &waits {
                        slot.state = state.clone();
                    }
                });
            }
            Event::Asked(asked) => {
                if let Some(call) = asked.call() {
                    self.each(call, |slot| slot.state = SlotState::Waiting(asked.clone()));
                }
            }
            Event::Settled { call, outcome, .. } => self.each(call, |slot| slot.settle(outcome)),
            Event::Claimed { call, child, .. } => self.each(call, |slot| {
                if let SlotState::Granted(outcome) = &slot.state {
                    let outcome = outcome.clone();
                    slot.state = match child.clone() {
                        Some(to) => SlotState::Delegated { outcome, to },
                        None => SlotState::Running(outcome),
                    };
                }
            }),
            Event::LostTrack { call, .. } => self.each(call, |slot| slot.state = SlotState::Lost),
            Event::Finished { call, result, .. } => self.each(call, |slot| slot.finish(result)),
            _ => {}
        }
        self.observe();
    }

    /// Applies a change to a call and to the calls that share its fate. A call that has its result keeps it.
    fn each(&mut self, key: &CallKey, change: impl Fn(&mut Slot)) {
        let agent = self.origin().map(|origin| origin.agent.clone());
        let Stage::Acting(slots) = &mut self.stage else {
            return;
        };
        for slot in slots.iter_mut().filter(|slot| slot.answer().is_none()) {
            let itself = agent.as_ref() == Some(&key.agent) && slot.call.id == key.call;
            if itself || slot.same_as.as_ref() == Some(key) {
                change(slot);
            }
        }
    }

    fn slot(&self, key: &CallKey) -> Option<&Slot> {
        self.slots()
            .iter()
            .find(|slot| self.key(&slot.call.id).as_ref() == Some(key))
    }

    /// Once every call has its result, the model is to read them.
    fn observe(&mut self) {
        if self.slots().iter().any(|slot| slot.answer().is_none()) {
            return;
        }
        if let Stage::Acting(_) = self.stage {
            self.close_turn();
            self.stage = Stage::Observing;
        }
    }

    /// Results by id, then what people added to them, then what they said meanwhile.
    fn close_turn(&mut self) {
        let results: Vec<(Slot, Answer)> = self
            .slots()
            .iter()
            .map(|slot| (slot.clone(), slot.answer_at_the_end()))
            .collect();
        let instructions: Vec<Message> = results
            .iter()
            .filter(|(slot, _)| slot.same_as.is_none())
            .filter_map(|(_, answer)| Message::instruction(answer))
            .collect();
        for (slot, answer) in &results {
            self.transcript.push(Message::result(slot, answer));
        }
        self.transcript.extend(instructions);
        self.transcript.append(&mut self.queued);
    }
}
