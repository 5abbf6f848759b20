//! One history: what happens next is drawn from the seed, done through the engine's steps, and checked by the oracle.

use std::collections::BTreeSet;

use placet_core::analysis::{Analysis, FixedPlaces, analyse};
use placet_core::call::{Args, Chat, Origin, ToolCall};
use placet_core::config::Config;
use placet_core::digest::Digest;
use placet_core::ids::{AgentId, CallId, ChannelName, ChatId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::{Answer, Asked, CallKey, Locale, Shown, Subject};
use placet_core::journal::{CallResult, InboundMessage};
use placet_core::principal::{Principal, Via};
use placet_core::time::{LiveTime, Now, Timestamp};
use placet_core::tool::OwnOpinion;
use placet_engine::channel::Receipt;
use placet_engine::steps::{
    self, Answered, Edit, Fresh, Inbound, Permit, Proposal, Proposed, Reach, Reply, Rules,
};
use placet_store::inline::{CommitFault, InlineStore, Snapshot};
use placet_store::{Change, Step, StepError, StoreError, View};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::oracle::{Acknowledged, Attempt, Oracle, Proposal as True};
use crate::sabotage::Sabotage;
use crate::scene::{self, KINDS};
use crate::{Broken, Tally};

const STEPS: usize = 60;
const SESSIONS: usize = 3;
/// Where the workspace of every history is.
const WORKSPACE: &str = "/workspace";

/// One history in the making.
pub struct World {
    seed: u64,
    dice: ChaCha8Rng,
    sabotage: Sabotage,
    config: Config,
    reach: Reach,
    store: InlineStore,
    oracle: Oracle,
    live: i64,
    wall: i64,
    calls: Vec<ToolCall>,
    running: Vec<Permit>,
    delivered_whole: BTreeSet<(InteractionId, String)>,
    /// What a disk that lies has really kept.
    synced: Option<Snapshot>,
    messages: u64,
    made: u64,
    story: Vec<String>,
    narrate: bool,
    tally: Tally,
}

type Check = Result<(), String>;

impl World {
    /// The history of a seed.
    ///
    /// # Panics
    /// When the scene itself is broken: that is a defect of the simulator, not a broken promise.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "the scene is a constant of this program"
    )]
    pub fn new(seed: u64, sabotage: Sabotage) -> Self {
        let config = scene::config().expect("the scene's configuration is valid");
        let ops = ChannelName::new("ops").expect("a valid name");
        let reach = Reach {
            channels: BTreeSet::from([ops]),
            chats_of: config.people.own_chats(),
            ..Reach::default()
        };
        Self {
            seed,
            dice: ChaCha8Rng::seed_from_u64(seed),
            sabotage,
            config,
            reach,
            store: InlineStore::new().expect("a store in memory opens"),
            oracle: Oracle::default(),
            live: 1_000_000,
            wall: 1_700_000_000_000,
            calls: Vec::new(),
            running: Vec::new(),
            delivered_whole: BTreeSet::new(),
            synced: None,
            messages: 0,
            made: 0,
            story: Vec::new(),
            narrate: false,
            tally: Tally::default(),
        }
    }

    /// Prints each line of the story as it happens.
    #[must_use]
    pub fn narrated(mut self) -> Self {
        self.narrate = true;
        self
    }

    /// Lives through the history.
    pub fn run(mut self) -> Result<Tally, Box<Broken>> {
        for step in 1..=STEPS {
            self.tally.steps += 1;
            if let Err(promise) = self.turn() {
                return Err(Box::new(Broken {
                    seed: self.seed,
                    step,
                    promise,
                    story: self.story,
                }));
            }
        }
        match self.end() {
            Ok(()) => Ok(self.tally),
            Err(promise) => Err(Box::new(Broken {
                seed: self.seed,
                step: STEPS + 1,
                promise,
                story: self.story,
            })),
        }
    }

    fn turn(&mut self) -> Check {
        let fault = match self.roll(50) {
            0 => CommitFault::LoseBeforeCommit,
            1 => CommitFault::CommitButLoseAck,
            _ => CommitFault::None,
        };
        if self.sabotage == Sabotage::DroppedSync && self.roll(3) == 0 {
            self.synced = self.store.snapshot().ok();
        }
        self.store.fail_next_commit(fault);
        self.act()?;
        self.store.fail_next_commit(CommitFault::None);
        // Only a crash can lose what was acknowledged, so that is when all of it is looked up again.
        if fault != CommitFault::None || self.roll(50) == 0 {
            self.crash()?;
            self.oracle.remembers(&self.store.view())?;
        }
        self.oracle.reads(&self.store.view(), self.live)
    }

    fn act(&mut self) -> Check {
        match self.roll(100) {
            0..18 => self.propose(),
            18..24 => self.propose_again(),
            24..46 => self.answer(),
            46..56 => self.write_in_chat(),
            56..62 => self.let_time_pass(),
            62..66 => self.tick(),
            66..82 => self.claim(),
            82..92 => self.finish(),
            92..97 => self.deliver(),
            97 => self.end_session(),
            98 => self
                .store
                .checkpoint(self.now())
                .map_err(|error| error.to_string()),
            // Costly, and done at the end of every history anyway.
            _ if self.seed % 16 == 0 => self.verify(),
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> Check {
        self.store
            .checkpoint(self.now())
            .map_err(|error| error.to_string())?;
        if self.sabotage == Sabotage::EditsJournal {
            let edit = "UPDATE journal SET body = replace(body, 'a', 'b') WHERE id = 1 + (SELECT max(id) FROM journal) / 2";
            self.store.tamper(edit).map_err(|error| error.to_string())?;
        }
        self.verify()
    }

    fn verify(&mut self) -> Check {
        let verified = self.store.verify(None).map_err(|error| error.to_string())?;
        match verified.findings.first() {
            None => Ok(()),
            Some(finding) => Err(format!("promise 6: {finding:?}")),
        }
    }

    /// The process dies, and another one starts.
    fn crash(&mut self) -> Check {
        self.tally.crashes += 1;
        self.tell(|_| "the process dies".into());
        let running = std::mem::take(&mut self.running);
        if self.sabotage == Sabotage::DroppedSync
            && let Some(kept) = self.synced.take()
        {
            self.store.restore(&kept).map_err(|error| error.to_string())?;
        }
        self.live = self
            .store
            .last_live()
            .map_err(|error| error.to_string())?
            .as_millis()
            .max(1_000_000);
        self.wall += i64::from(self.roll(5_000_000));
        let head = self
            .store
            .view()
            .counts()
            .map_err(|error| error.to_string())?
            .rows;
        self.oracle.rewinds(head);
        self.oracle.reads(&self.store.view(), self.live)?;
        if self.sabotage == Sabotage::RunsAgainAfterCrash {
            for permit in running {
                self.oracle
                    .runs(permit.key(), permit.grant(), &permit.call().args)?;
            }
        }
        let lost = self
            .store
            .view()
            .claimed_by_process()
            .map_err(|error| error.to_string())?;
        for (key, _) in lost {
            let fresh = self.fresh();
            let done = self.step(|rules, view, now| steps::recover(rules, view, now, &key, &fresh));
            done.map_err(|error| format!("recovery failed: {error}"))?;
            self.tally.unknown += 1;
        }
        Ok(())
    }

    // Agents.

    fn propose(&mut self) -> Check {
        let kind = KINDS[self.pick(KINDS.len())];
        let session = self.pick(SESSIONS);
        let args = scene::args(self.byte());
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
    fn propose_again(&mut self) -> Check {
        if self.calls.is_empty() {
            return Ok(());
        }
        let index = self.pick(self.calls.len());
        let mut call = self.calls[index].clone();
        if self.roll(2) == 0 {
            return self.submit(call);
        }
        call.args = Args::from_value(serde_json::json!({ "target": format!("other{}", self.made) }))
            .map_err(|error| error.to_string())?;
        let known = self
            .store
            .view()
            .call(&key_of(&call))
            .map_err(|error| error.to_string())?
            .is_some();
        let head = self.head()?;
        let proposal = self.proposal(call);
        let refused = self
            .step(|rules, view, now| steps::propose(rules, view, now, &proposal))
            .is_err();
        let unchanged = self.head()? == head;
        if known && !(refused && unchanged) {
            return Err("promise 5: an id was taken for another call".into());
        }
        if !known {
            // Nobody will ever ask for it again under this id; the books must know it as it came.
            self.oracle.rewinds(head);
            return self.forget(&proposal.call);
        }
        Ok(())
    }

    /// A lost first dispatch leaves the id free, and the second one takes it: the books follow what truly came first.
    fn forget(&mut self, call: &ToolCall) -> Check {
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
        Ok(())
    }

    fn submit(&mut self, call: ToolCall) -> Check {
        let key = key_of(&call);
        self.tell(|_| format!("{} proposes {} {}", key.call, call.tool, call.args.canonical()));
        let proposal = self.proposal(call);
        if let Ok(proposed) = self.step(|rules, view, now| steps::propose(rules, view, now, &proposal)) {
            self.oracle.acknowledge(Acknowledged::Received(key));
            if let Proposed::Parked { on, .. } = proposed {
                self.tally.asked += 1;
                self.oracle.acknowledge(Acknowledged::Asked(on));
            }
        }
        Ok(())
    }

    fn claim(&mut self) -> Check {
        if self.calls.is_empty() {
            return Ok(());
        }
        // Mostly something new: old calls are long claimed.
        let newest = self
            .calls
            .len()
            .saturating_sub(if self.roll(3) == 0 { usize::MAX } else { 4 });
        let index = newest + self.pick(self.calls.len() - newest);
        let call = self.calls[index].clone();
        let key = key_of(&call);
        match self.step(|_, view, now| steps::claim(view, now, &key, None)) {
            Ok(permit) => {
                self.tell(|_| format!("{} is claimed", key.call));
                self.oracle
                    .acknowledge(Acknowledged::Claimed(permit.key().clone(), permit.grant()));
                // What is stored must be known to the books before anything runs on its strength.
                self.oracle.reads(&self.store.view(), self.live)?;
                let mut args = permit.call().args.clone();
                if self.sabotage == Sabotage::RunsOtherArguments {
                    args = Args::from_value(scene::args(9)).map_err(|error| error.to_string())?;
                }
                self.tally.ran += 1;
                self.oracle.runs(permit.key(), permit.grant(), &args)?;
                self.running.push(permit);
            }
            Err(StepError::Refused(steps::ClaimRefusal::AlreadyClaimed(_)))
                if self.sabotage == Sabotage::ClaimsTwice =>
            {
                let record = self.store.view().call(&key).map_err(|error| error.to_string())?;
                self.oracle.reads(&self.store.view(), self.live)?;
                if let Some(record) = record {
                    self.oracle.runs(&key, record.grants, &record.call.args)?;
                }
            }
            Err(_) => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> Check {
        if self.running.is_empty() {
            return Ok(());
        }
        let index = self.pick(self.running.len());
        let permit = self.running.swap_remove(index);
        let result = CallResult::new(true, "done");
        if self
            .step(|_, view, _| steps::finish(view, permit.key(), &result))
            .is_ok()
        {
            self.tell(|_| format!("{} finishes", permit.key().call));
            self.oracle
                .acknowledge(Acknowledged::Finished(permit.key().clone(), permit.grant()));
        }
        Ok(())
    }

    // People.

    fn answer(&mut self) -> Check {
        let Some(asked) = self.some_question()? else {
            return Ok(());
        };
        let (truly, mut said) = self.somebody();
        let options = asked.options(Locale::English);
        let option = options[self.pick(options.len())].clone();
        let option_id = if self.roll(20) == 0 {
            "nonsense".to_owned()
        } else {
            option.option_id.clone()
        };
        let approves = option.action == placet_core::interaction::Action::ApproveAndExecute;
        let edited = match (approves, self.roll(4)) {
            (true, 0) => Some(Args::from_value(scene::args(self.byte())).map_err(|error| error.to_string())?),
            _ => None,
        };
        let saw_everything = self.roll(4) > 0;
        let digest = Digest::of("sim", &[]);
        let shown = if saw_everything {
            Shown::Whole(digest)
        } else {
            Shown::Part(digest)
        };
        let mut now = self.now();
        if let Principal::Person { person, via } = &truly {
            self.oracle.attempts(Attempt {
                by: person.clone(),
                via: via.clone(),
                question: Some(asked.id.clone()),
                says_yes: approves,
                edited: edited.clone(),
                live: self.live,
                saw_everything,
            });
        }
        match self.sabotage {
            Sabotage::LateAnswerCounts => now.live = LiveTime::from_millis(self.live - 1),
            Sabotage::StrangerCounts => said = inbox("ana"),
            Sabotage::VotesCountTwice => said = inbox(["ana", "bo", "cy"][self.pick(3)]),
            _ => {}
        }
        self.tell(|_| {
            format!(
                "{truly} answers {} with {option_id} (edited: {}, whole: {saw_everything})",
                asked.id,
                edited.is_some()
            )
        });
        let reply = self.reply(&asked, said, option_id, edited, shown)?;
        let head = self.head()?;
        let answered = self.step_at(now, |rules, view, now| steps::answer(rules, view, now, &reply));
        match (&answered, truly.person()) {
            (Ok(Answered::Voted { .. }), Some(person)) if self.sabotage == Sabotage::None => {
                self.oracle
                    .acknowledge(Acknowledged::Voted(asked.id.clone(), person.clone()));
            }
            (Ok(Answered::Decided { .. } | Answered::AskedAnew { .. }), _) => {
                self.tally.decided += 1;
                self.oracle.acknowledge(Acknowledged::Settled(asked.id.clone()));
            }
            (Err(StepError::Refused(_)), _) if self.head()? != head => {
                return Err("promise 5: a refused answer changed something".into());
            }
            _ => {}
        }
        Ok(())
    }

    fn reply(
        &mut self,
        asked: &Asked,
        by: Principal,
        option: String,
        edited_args: Option<Args>,
        shown: Shown,
    ) -> Result<Reply, String> {
        let edit = match (&edited_args, asked.call()) {
            (Some(args), Some(key)) => {
                let record = self.store.view().call(key).map_err(|error| error.to_string())?;
                record.map(|record| {
                    let tool = self.config.tool(&record.call.tool);
                    let analysis = analyse(&tool, args, &FixedPlaces::of_examples());
                    Edit {
                        tool,
                        analysis,
                        fits: Ok(()),
                    }
                })
            }
            _ => None,
        };
        let answer = Answer {
            by,
            option,
            feedback: (self.roll(4) > 0).then(|| "because".to_owned()),
            data: None,
            edited_args,
            instruction: None,
            remember: None,
            shown,
        };
        Ok(Reply {
            id: asked.id.clone(),
            answer,
            edit,
            analysis: None,
            fresh: self.fresh(),
        })
    }

    fn write_in_chat(&mut self) -> Check {
        let chat = self.some_chat();
        let sender = ["u-ana", "u-bo", "u-cy", "u-x", "u-eve"][self.pick(5)];
        let code = self
            .some_question()?
            .map_or_else(|| "K7QP".to_owned(), |asked| asked.code.to_string());
        let (text, says_yes) = match self.roll(11) {
            0 => ("yes".to_owned(), true),
            1 => (format!("yes {code}"), true),
            2 => (format!("{code} 批准"), true),
            3 => ("全部批准".to_owned(), true),
            4 => ("不确认".to_owned(), false),
            5 => ("not ok".to_owned(), false),
            6 => (format!("no {code}"), false),
            7 => ("why?".to_owned(), false),
            8 => ("yes, but wait".to_owned(), false),
            9 => ("拒绝执行".to_owned(), false),
            _ => ("hello there".to_owned(), false),
        };
        let person = self
            .config
            .people
            .person_for(&chat.channel, sender)
            .map_err(|error| error.to_string())?;
        self.messages += 1;
        let via = Via::Chat(chat.channel.clone());
        let seen = self
            .delivered_whole
            .iter()
            .any(|(_, place)| *place == place_of(&chat));
        self.oracle.attempts(Attempt {
            by: person.clone(),
            via: via.clone(),
            question: None,
            says_yes,
            edited: None,
            live: self.live,
            saw_everything: seen,
        });
        self.tell(|_| format!("{person} writes in {}: {text}", chat.id));
        let inbound = Inbound {
            message: InboundMessage {
                channel: chat.channel.clone(),
                chat_id: chat.id.clone(),
                sender_id: sender.to_owned(),
                message_id: format!("m{}", self.messages),
                content: text,
            },
            sender: Principal::Person { person, via },
            fresh: self.fresh(),
        };
        let first = self.step(|rules, view, now| steps::receive(rules, view, now, &inbound));
        if first.is_ok() && self.roll(3) == 0 {
            let head = self.head()?;
            let _ = self.step(|rules, view, now| steps::receive(rules, view, now, &inbound));
            if self.head()? != head {
                return Err("promise 3: the same message counted twice".into());
            }
        }
        Ok(())
    }

    /// The outbox shows things, all of it or a part.
    fn deliver(&mut self) -> Check {
        let due = self
            .store
            .view()
            .outbox_due(self.now().live, 4)
            .map_err(|error| error.to_string())?;
        for item in due {
            let whole = self.roll(3) > 0;
            let digest = Digest::of("sim", &[item.key.as_bytes()]);
            let shown = if whole {
                Shown::Whole(digest)
            } else {
                Shown::Part(digest)
            };
            let receipt = serde_json::to_string(&Receipt {
                reference: None,
                shown,
            })
            .map_err(|error| error.to_string())?;
            let change = Change::Sent {
                id: item.id,
                receipt: Some(receipt),
            };
            let sent = self.step(|_, _, _| {
                Ok::<_, StoreError>(Step {
                    events: Vec::new(),
                    changes: vec![change],
                    value: (),
                })
            });
            if let (Ok(()), true, Some(id)) = (sent, whole, item.interaction) {
                let chat = Chat {
                    channel: item.channel,
                    id: item.chat,
                };
                self.delivered_whole.insert((id, place_of(&chat)));
            }
        }
        Ok(())
    }

    fn end_session(&mut self) -> Check {
        if self.roll(3) > 0 {
            return Ok(());
        }
        let session = self.session(self.seed as usize % SESSIONS)?.0;
        self.tell(|_| format!("{session} is ended"));
        let _ = self.step(|_, view, _| steps::end_session(view, &session, "operator"));
        Ok(())
    }

    // Time.

    fn let_time_pass(&mut self) -> Check {
        let deadlines: Vec<i64> = {
            let view = self.store.view();
            let page = view.pending_page(None, 8).map_err(|error| error.to_string())?;
            page.iter().map(|row| row.deadline.as_millis()).collect()
        };
        let by = match (self.roll(4), deadlines.is_empty()) {
            // To the edge of a deadline: just before, at, just after.
            (0 | 1, false) => deadlines[self.pick(deadlines.len())] - self.live + i64::from(self.roll(3)) - 1,
            (2, _) => i64::from(self.roll(1_000)),
            _ => i64::from(self.roll(25_000)),
        };
        self.live += by.max(0);
        self.wall += by.max(0);
        if self.roll(6) == 0 {
            // Somebody sets the clock.
            self.wall += i64::from(self.roll(400_000)) - 200_000;
        }
        self.tell(|world| format!("it is {} now", world.live));
        Ok(())
    }

    fn tick(&mut self) -> Check {
        let (due, escalations) = {
            let view = self.store.view();
            let now = self.now().live;
            (
                view.due(now, 16).map_err(|e| e.to_string())?,
                view.due_escalations(now, 16).map_err(|e| e.to_string())?,
            )
        };
        for id in due {
            self.tell(|_| format!("{id} is due"));
            let _ = self.step(|_, view, now| steps::expire(view, now, &id));
        }
        for id in escalations {
            let _ = self.step(|rules, view, now| steps::escalate(rules, view, now, &id));
        }
        Ok(())
    }

    // Odds and ends.

    fn step<T, E>(
        &mut self,
        decide: impl FnOnce(&Rules<'_>, &View<'_>, Now) -> Result<Step<T>, E>,
    ) -> Result<T, StepError<E>> {
        self.step_at(self.now(), decide)
    }

    fn step_at<T, E>(
        &mut self,
        now: Now,
        decide: impl FnOnce(&Rules<'_>, &View<'_>, Now) -> Result<Step<T>, E>,
    ) -> Result<T, StepError<E>> {
        let rules = Rules {
            config: &self.config,
            reach: &self.reach,
            workspace: WORKSPACE,
        };
        self.store.step(now, |view, now| decide(&rules, view, now))
    }

    fn now(&self) -> Now {
        Now {
            wall: Timestamp::from_millis(self.wall),
            live: LiveTime::from_millis(self.live),
        }
    }

    fn head(&self) -> Result<u64, String> {
        Ok(self
            .store
            .view()
            .counts()
            .map_err(|error| error.to_string())?
            .rows)
    }

    fn proposal(&mut self, call: ToolCall) -> Proposal {
        let tool = self.config.tool(&call.tool);
        let analysis: Analysis = analyse(&tool, &call.args, &FixedPlaces::of_examples());
        Proposal {
            call,
            tool,
            analysis,
            own_opinion: OwnOpinion::Silent,
            evidence: Vec::new(),
            workflow: None,
            fresh: self.fresh(),
        }
    }

    fn new_call(&mut self, tool: &str, session: usize, args: &serde_json::Value) -> Result<ToolCall, String> {
        let (session, chat, user) = self.session(session)?;
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

    /// Three places: the inbox, a chat of ana's, and a chat of somebody nobody has linked to a name.
    fn session(&self, number: usize) -> Result<(SessionId, Option<Chat>, Option<PersonId>), String> {
        let bad = |error: placet_core::ids::IdError| error.to_string();
        let chat = |id: &str| {
            let chat = Chat {
                channel: ChannelName::new("ops").map_err(bad)?,
                id: ChatId::new(id).map_err(bad)?,
            };
            let session = SessionId::of_chat(&chat.channel, &chat.id).map_err(bad)?;
            Ok::<_, String>((session, chat))
        };
        match number {
            0 => Ok((SessionId::new("inbox").map_err(bad)?, None, None)),
            1 => chat("room").and_then(|(session, chat)| {
                Ok((session, Some(chat), Some(PersonId::new("ana").map_err(bad)?)))
            }),
            _ => chat("lobby").and_then(|(session, chat)| {
                Ok((session, Some(chat), Some(PersonId::new("ops:u-x").map_err(bad)?)))
            }),
        }
    }

    fn some_chat(&mut self) -> Chat {
        let ids = ["room", "lobby", "u-ana", "u-bo", "u-cy"];
        let id = ids[self.pick(ids.len())];
        let ops = self.reach.channels.iter().next().cloned();
        // Both names are constants that are valid ids.
        match (ops, ChatId::new(id)) {
            (Some(channel), Ok(id)) => Chat { channel, id },
            _ => unreachable!("the scene has a channel"),
        }
    }

    fn some_question(&mut self) -> Result<Option<Asked>, String> {
        let page = self
            .store
            .view()
            .pending_page(None, 16)
            .map_err(|error| error.to_string())?;
        if page.is_empty() {
            return Ok(None);
        }
        let id = page[self.pick(page.len())].id.clone();
        let interaction = self
            .store
            .view()
            .interaction(&id)
            .map_err(|error| error.to_string())?;
        Ok(interaction
            .map(|interaction| interaction.asked().clone())
            .filter(|asked| !matches!(asked.subject, Subject::Request { .. })))
    }

    /// Somebody, and who they say they are: the same, unless sabotaged.
    fn somebody(&mut self) -> (Principal, Principal) {
        let names = ["ana", "bo", "cy"];
        let person = match self.roll(10) {
            0..6 => inbox(names[self.pick(3)]),
            6 => chat_account("u-x"),
            7 => chat_account("u-eve"),
            8 => Principal::Agent {
                agent: AgentId::new("agent").unwrap_or_else(|_| unreachable!("a valid id")),
            },
            _ => chat_person(names[self.pick(3)]),
        };
        (person.clone(), person)
    }

    fn fresh(&mut self) -> Fresh {
        self.made += 1;
        let id =
            InteractionId::new(format!("int_{}", self.made)).unwrap_or_else(|_| unreachable!("a valid id"));
        Fresh {
            id,
            random: self.dice.next_u64(),
        }
    }

    fn tell(&mut self, line: impl FnOnce(&Self) -> String) {
        let line = line(self);
        if self.narrate {
            println!("{line}");
        }
        self.story.push(line);
    }

    fn roll(&mut self, sides: u32) -> u32 {
        self.dice.next_u32() % sides
    }

    fn pick(&mut self, from: usize) -> usize {
        usize::try_from(self.dice.next_u64() % (from as u64)).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.dice.next_u32().to_le_bytes()[0]
    }
}

fn key_of(call: &ToolCall) -> CallKey {
    CallKey {
        agent: call.origin.agent.clone(),
        call: call.id.clone(),
    }
}

fn place_of(chat: &Chat) -> String {
    format!("{}:{}", chat.channel, chat.id)
}

fn person(name: &str) -> PersonId {
    PersonId::new(name).unwrap_or_else(|_| unreachable!("a valid name"))
}

fn inbox(name: &str) -> Principal {
    Principal::Person {
        person: person(name),
        via: Via::Inbox,
    }
}

fn chat_via() -> Via {
    Via::Chat(ChannelName::new("ops").unwrap_or_else(|_| unreachable!("a valid name")))
}

fn chat_account(user: &str) -> Principal {
    Principal::Person {
        person: person(&format!("ops:{user}")),
        via: chat_via(),
    }
}

fn chat_person(name: &str) -> Principal {
    Principal::Person {
        person: person(name),
        via: chat_via(),
    }
}
