//! What agents do: propose, claim, run, finish.

use placet_core::analysis::FixedPlaces;
use placet_core::call::{Args, Origin, ToolCall};
use placet_core::ids::{AgentId, CallId, ToolName};
use placet_core::journal::CallResult;
use placet_core::lease::LeaseName;
use placet_core::steps::{self, Claiming, Proposal, Proposed};
use placet_core::tool::OwnOpinion;
use placet_store::StepError;

use super::cast::{key_of, session_of};
use super::{Check, SESSIONS, World};
use crate::oracle::{Acknowledged, Proposal as True};
use crate::sabotage::Sabotage;
use crate::scene::{self, KINDS};

impl World {
    pub(super) fn propose(&mut self) -> Check {
        let kind = *self.dice.choose(&KINDS);
        let session = self.dice.pick(SESSIONS);
        let args = scene::args(self.dice.byte());
        let call = self.new_call(kind.tool, session, &args)?;
        let in_chat = call.origin.chat.is_some();
        let truth = True {
            kind,
            session: call.session.clone(),
            args: call.args.clone(),
            user: call.origin.user.clone(),
            in_chat,
        };
        self.oracle.proposes(key_of(&call), truth);
        self.calls.push(call.clone());
        self.submit(call)
    }

    /// The same call dispatched again; or the same id with other arguments, which must be refused.
    pub(super) fn propose_again(&mut self) -> Check {
        if self.calls.is_empty() {
            return Ok(());
        }
        let mut call = self.dice.choose(&self.calls).clone();
        if self.roll(2) == 0 {
            return self.submit(call);
        }
        call.args = Args::from_value(serde_json::json!({ "target": format!("other{}", self.made) }))
            .map_err(|error| error.to_string())?;
        let known = self.look(|stored| Ok(stored.call(&key_of(&call))?.is_some()))?;
        let (head, rows) = (self.head()?, self.own_rows()?);
        let proposal = self.proposal(call);
        let refused = self
            .step(|rules, snapshot, now| steps::propose(rules, snapshot, now, &proposal))
            .is_err();
        let unchanged = self.own_rows()? == rows;
        if known && !(refused && unchanged) {
            return Err("promise 5: an id was taken for another call".into());
        }
        let stored = self.look(|stored| stored.call(&key_of(&proposal.call)).cloned())?;
        if !known && stored.is_some_and(|record| record.digest == proposal.digest) {
            // It came first under this id; the books must know it as it came.
            self.oracle.rewinds(head);
            self.forget(&proposal.call);
        }
        Ok(())
    }

    pub(super) fn claim(&mut self) -> Check {
        if self.calls.is_empty() {
            return Ok(());
        }
        // Mostly something new: old calls are long claimed.
        let newest = if self.roll(3) == 0 { self.calls.len() } else { 4 };
        let candidates = self.calls.rchunks(newest).next().unwrap_or_default();
        let call = self.dice.choose(candidates).clone();
        let key = key_of(&call);
        let Some((promise, alive)) = self.promise() else {
            return Ok(());
        };
        let mut fences = match self.sabotage {
            Sabotage::GoneProcessClaims => Vec::new(),
            _ => vec![alive],
        };
        // Now and then it is a call of a run, which one process drives.
        if self.roll(3) == 0 {
            let Some(driven) = self.hold(&LeaseName::run(&call.session)) else {
                return Ok(());
            };
            fences.push(driven);
        }
        let claimed = self.step_under(&fences, |_, snapshot, now| {
            steps::claim(snapshot, now, &key, &promise)
        });
        match claimed {
            Ok(permit) => {
                self.claimant_is_alive(&promise)?;
                self.runs(permit)?;
            }
            Err(StepError::Refused(steps::ClaimRefusal::AlreadyClaimed(_)))
                if self.sabotage == Sabotage::ClaimsTwice =>
            {
                let record = self.look(|stored| stored.call(&key).cloned())?;
                self.oracle.reads(&self.store, self.live)?;
                if let Some(record) = record {
                    self.oracle.runs(&key, record.grants, &record.call.args)?;
                }
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// A claimed call begins to run.
    fn runs(&mut self, permit: steps::Permit) -> Check {
        self.tell(|_| format!("{} is claimed", permit.key().call));
        self.oracle
            .acknowledge(Acknowledged::Claimed(permit.key().clone(), permit.grant()));
        // What is stored must be known to the books before anything runs on its strength.
        self.oracle.reads(&self.store, self.live)?;
        let mut args = permit.call().args.clone();
        if self.sabotage == Sabotage::RunsOtherArguments {
            args = Args::from_value(scene::args(9)).map_err(|error| error.to_string())?;
        }
        self.tally.ran += 1;
        self.oracle.runs(permit.key(), permit.grant(), &args)?;
        self.running.push(permit);
        Ok(())
    }

    /// A lost first dispatch leaves the id free, and the second one takes it: the books follow what truly came first.
    fn forget(&mut self, call: &ToolCall) {
        let kind = KINDS
            .iter()
            .find(|kind| kind.tool == call.tool.as_str())
            .copied()
            .unwrap_or(KINDS[0]);
        let truth = True {
            kind,
            session: call.session.clone(),
            args: call.args.clone(),
            user: call.origin.user.clone(),
            in_chat: call.origin.chat.is_some(),
        };
        self.oracle.corrects(key_of(call), truth);
        for known in &mut self.calls {
            if known.id == call.id {
                *known = call.clone();
            }
        }
    }

    fn submit(&mut self, call: ToolCall) -> Check {
        let key = key_of(&call);
        self.tell(|_| format!("{} proposes {} {}", key.call, call.tool, call.args.canonical()));
        let mut proposal = self.proposal(call);
        let mut fences = Vec::new();
        let mut promised = None;
        if self.roll(2) == 0
            && let Some((promise, alive)) = self.promise()
        {
            fences.push(alive);
            promised = Some(promise.clone());
            proposal.claiming = Claiming::AtOnce(promise);
        }
        if let Ok(Some(proposed)) = self.step_under(&fences, |rules, snapshot, now| {
            steps::propose(rules, snapshot, now, &proposal)
        }) {
            self.oracle.acknowledge(Acknowledged::Received(key));
            match proposed {
                Proposed::Parked { on, .. } => {
                    self.tally.asked += 1;
                    self.oracle.acknowledge(Acknowledged::Asked(on));
                }
                Proposed::Settled {
                    permit: Some(permit), ..
                } => {
                    if let Some(promise) = &promised {
                        self.claimant_is_alive(promise)?;
                    }
                    self.runs(*permit)?;
                }
                Proposed::Settled { permit: None, .. } | Proposed::Known(_) => {}
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) {
        if self.running.is_empty() {
            return;
        }
        let index = self.dice.pick(self.running.len());
        let permit = self.running.swap_remove(index);
        let result = CallResult::new(true, "done");
        if self
            .step(|_, snapshot, _| steps::finish(snapshot, permit.key(), Some(permit.grant()), &result))
            .is_ok()
        {
            self.tell(|_| format!("{} finishes", permit.key().call));
            self.oracle
                .acknowledge(Acknowledged::Finished(permit.key().clone(), permit.grant()));
        }
    }

    fn proposal(&mut self, call: ToolCall) -> Proposal {
        let tool = self.config.tool(&call.tool);
        let findings = self
            .config
            .inspect
            .inspect(&tool, &call.args, &FixedPlaces::of_examples());
        Proposal {
            asks: None,
            digest: call.digest(),
            call,
            tool,
            findings,
            own_opinion: OwnOpinion::Silent,
            tool_description: None,
            evidence: Some(Vec::new()),
            run: None,
            confinement: None,
            fresh: self.fresh(),
            claiming: Claiming::Apart,
        }
    }

    fn new_call(&mut self, tool: &str, session: usize, args: &serde_json::Value) -> Result<ToolCall, String> {
        let (session, chat, user) = session_of(session)?;
        self.made += 1;
        let bad = |error: placet_core::ids::IdError| error.to_string();
        Ok(ToolCall {
            id: CallId::new(format!("c{}", self.made)).map_err(bad)?,
            tool: ToolName::new(tool).map_err(bad)?,
            args: Args::from_value(args.clone()).map_err(|error| error.to_string())?,
            session,
            origin: Origin {
                agent: AgentId::new("agent").map_err(bad)?,
                agent_path: Vec::new(),
                chat,
                user,
            },
            group: None,
            description: None,
        })
    }
}
