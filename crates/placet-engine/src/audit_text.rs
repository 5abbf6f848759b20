//! The journal in words: who did what to which call, one safe sentence a row.

use std::collections::BTreeSet;

use placet_core::call::{Args, ToolCall};
use placet_core::ids::{InteractionId, PersonId, ToolName};
use placet_core::interaction::{Asked, Audience, Ballot, CallKey, Locale, Subject};
use placet_core::journal::Event;
use placet_core::messages::workflow;
use placet_core::outcome::Outcome;
use placet_core::record::{CallRecord, CallState};
use placet_core::render::SafeText;
use placet_core::run::ModelCall;
use placet_core::snapshot::Snapshot;
use placet_core::time::Timestamp;
use placet_core::verdict::Verdict;

/// 2020: an outage that begins before is the clock of an older version, which did not read wall time.
const FIRST_WALL_TIME: Timestamp = Timestamp::from_millis(1_577_836_800_000);

/// The sentence in the teller's language, from the same parts.
macro_rules! say {
    ($teller:expr, $english:literal, $chinese:literal) => {
        match $teller.locale {
            Locale::English => format!($english),
            Locale::Chinese => format!($chinese),
        }
    };
}

// After the macro, which they use.
mod chinese;
mod endings;
mod gist;

/// The event in one safe line, secrets masked.
pub fn sentence(stored: &Snapshot, event: &Event, locale: Locale) -> SafeText {
    SafeText::line(&Teller { stored, locale }.words(event))
}

/// A call in a few words, secrets masked.
pub fn call(tool: &ToolName, args: &Args) -> String {
    gist::call(tool, args)
}

struct Teller<'s> {
    stored: &'s Snapshot,
    locale: Locale,
}

impl Teller<'_> {
    fn words(&self, event: &Event) -> String {
        match event {
            Event::CallReceived {
                call,
                verdict,
                outcome,
                ..
            } => self.received(call, verdict, outcome.as_deref()),
            Event::Asked(asked) => {
                let (who, what) = (self.audience(asked), self.subject(asked));
                let (id, risk) = (&asked.id, asked.risk.label(self.locale));
                say!(
                    self,
                    "{who} asked about {what}: {id}, {risk} risk",
                    "就 {what} 询问{who}：{id}，{risk}风险"
                )
            }
            Event::Joined {
                call,
                same_as,
                interaction,
            } => {
                let (call, other) = (&call.call, &same_as.call);
                say!(
                    self,
                    "{call} joins {other}: the same call, one question {interaction}",
                    "{call} 与 {other} 是同一调用，共用问题 {interaction}"
                )
            }
            Event::Escalated { interaction, to } => {
                let (who, what) = (names(to), self.question(interaction));
                say!(
                    self,
                    "{who} also asked about {what}",
                    "升级：就 {what} 另行询问 {who}"
                )
            }
            Event::Voted { interaction, ballot } => {
                let (by, what, why) = (&ballot.by, self.question(interaction), because(ballot));
                say!(
                    self,
                    "{by} votes to approve {what}{why}",
                    "{by} 投票批准 {what}{why}"
                )
            }
            Event::Resolved {
                interaction,
                resolution,
            } => self.resolved(interaction, resolution),
            Event::Processed { interaction } => {
                say!(
                    self,
                    "the asker of {interaction} has been told",
                    "{interaction} 的结果已告知提问者"
                )
            }
            Event::Delivered {
                interaction,
                channel,
                chat,
                ..
            } => say!(
                self,
                "{interaction} shown in {channel}:{chat}",
                "{interaction} 已送达 {channel}:{chat}"
            ),
            Event::Settled { .. }
            | Event::Claimed { .. }
            | Event::Finished { .. }
            | Event::LostTrack { .. } => self.run(event),
            Event::StandingGiven(_) | Event::StandingUsed { .. } | Event::StandingRevoked { .. } => {
                self.standing(event)
            }
            Event::ToolAllowed { .. }
            | Event::ModeSet { .. }
            | Event::SessionEnded { .. }
            | Event::MessageQueued(_)
            | Event::Outage { .. }
            | Event::Started { .. } => self.around(event),
            Event::RunStarted(_)
            | Event::UserSaid { .. }
            | Event::ModelTurn(_)
            | Event::RunInterrupted { .. }
            | Event::VariablesChanged { .. }
            | Event::RunEnded { .. } => self.conversation(event),
        }
    }

    fn received(&self, call: &ToolCall, verdict: &Verdict, outcome: Option<&Outcome>) -> String {
        let (agent, id, step) = (&call.origin.agent, &call.id, verdict.step);
        let what = gist::call(&call.tool, &call.args);
        let (decision, judged) = (verdict.decision.as_str(), chinese::decision(&verdict.decision));
        let (number, named) = (step.number(), chinese::step(step));
        let fate = outcome.map_or(String::new(), |outcome| {
            let fate = self.fate(outcome);
            say!(self, ", {fate}", "，{fate}")
        });
        say!(
            self,
            "agent {agent} wants {what} ({id}): {decision} by step {step}{fate}",
            "智能体 {agent} 请求 {what}（{id}）：第 {number} 步（{named}）判定{judged}{fate}"
        )
    }

    /// From the outcome of a call to its result.
    fn run(&self, event: &Event) -> String {
        match event {
            Event::Settled { call, outcome, grant } => {
                let (what, fate) = (self.call(call), self.fate(outcome));
                let grant = grant.map_or(String::new(), |grant| {
                    say!(self, ", grant {grant} issued", "，签发授权 {grant}")
                });
                say!(self, "{what}: {fate}{grant}", "{what}：{fate}{grant}")
            }
            Event::Claimed { call, grant, .. } => {
                let what = self.granted(call);
                say!(
                    self,
                    "{what} is about to run on grant {grant}",
                    "{what} 凭授权 {grant} 即将执行"
                )
            }
            Event::Finished { call, grant, result } => {
                let (what, bytes) = (self.granted(call), result.bytes);
                let how = if result.ok {
                    self.locale.pick("ran", "已执行")
                } else {
                    self.locale.pick("failed", "执行失败")
                };
                say!(
                    self,
                    "{what} {how} on grant {grant}, {bytes} bytes of output",
                    "{what} 凭授权 {grant} {how}，输出 {bytes} 字节"
                )
            }
            Event::LostTrack { call, grant } => {
                let what = self.granted(call);
                say!(
                    self,
                    "{what} may have run on grant {grant}: its process is gone",
                    "{what} 可能已凭授权 {grant} 执行：执行进程已消失"
                )
            }
            _ => String::new(),
        }
    }

    fn standing(&self, event: &Event) -> String {
        match event {
            Event::StandingGiven(grant) => {
                let (by, until, what, id) = (
                    &grant.by,
                    grant.ends_at,
                    grant.scope.describe_in(self.locale),
                    &grant.id,
                );
                say!(
                    self,
                    "{by} says not to ask again until {until}: {what} ({id})",
                    "{by} 表示在 {until} 之前不再询问：{what}（{id}）"
                )
            }
            Event::StandingUsed { id, call } => {
                let what = self.call(call);
                say!(
                    self,
                    "{what} allowed by standing grant {id}",
                    "{what} 由长期授权 {id} 放行"
                )
            }
            Event::StandingRevoked { id, by } => {
                say!(self, "{by} revokes standing grant {id}", "{by} 撤销长期授权 {id}")
            }
            _ => String::new(),
        }
    }

    /// What concerns a whole session, or Placet itself.
    fn around(&self, event: &Event) -> String {
        match event {
            Event::ToolAllowed { tool, by } => {
                say!(
                    self,
                    "{by} allows {tool} in this session",
                    "{by} 在本会话中放行 {tool}"
                )
            }
            Event::ModeSet { mode, by } => {
                let mode = serde_json::to_value(mode).unwrap_or_default();
                let mode = mode.as_str().unwrap_or_default();
                say!(self, "{by} sets mode {mode}", "{by} 将模式设为 {mode}")
            }
            Event::SessionEnded { by } => say!(self, "{by} ends the session", "{by} 结束了会话"),
            Event::MessageQueued(message) => {
                let sender = &message.sender_id;
                say!(
                    self,
                    "a message of {sender} waits for the agent",
                    "{sender} 的消息等待智能体处理"
                )
            }
            Event::Outage { from, until } => self.outage(*from, *until),
            Event::Started {
                down_for: Some(down_for),
                ..
            } => say!(
                self,
                "placet started after {down_for}",
                "placet 已启动，此前停机 {down_for}"
            ),
            Event::Started { down_for: None, .. } => say!(self, "placet started", "placet 已启动"),
            _ => String::new(),
        }
    }

    fn outage(&self, from: Timestamp, until: Timestamp) -> String {
        let (later, sooner) = (until.remaining_from(from), from.remaining_from(until));
        if from < FIRST_WALL_TIME {
            return say!(
                self,
                "pending deadlines of an older version became wall times; approvers keep the time they had left",
                "旧版本的待处理期限已换算为实际时间，审批人的剩余时间不变"
            );
        }
        if until < from {
            return say!(
                self,
                "the clock was set back by {sooner}; pending deadlines move with it",
                "时钟被调回 {sooner}，待处理期限随之调整"
            );
        }
        say!(
            self,
            "outage of {later} from {from} until {until}; pending deadlines move by it",
            "{from} 至 {until} 服务中断 {later}，待处理期限顺延"
        )
    }

    /// What the built-in agent and its people say.
    fn conversation(&self, event: &Event) -> String {
        match event {
            Event::RunStarted(run) => {
                let (model, task) = (&run.model, gist::text(&run.task));
                say!(
                    self,
                    "the agent begins with {model}: {task}",
                    "智能体开始工作（{model}）：{task}"
                )
            }
            Event::UserSaid { text, by } => {
                let who = by
                    .as_ref()
                    .map_or(self.locale.pick("somebody", "有人"), PersonId::as_str);
                let text = gist::text(text);
                say!(
                    self,
                    "{who} says to the agent: {text}",
                    "{who} 对智能体说：{text}"
                )
            }
            Event::ModelTurn(turn) => {
                let calls: Vec<&str> = turn.calls.iter().map(ModelCall::tool).collect();
                let (text, calls) = (gist::text(turn.text.trim()), calls.join(", "));
                match (text.as_str(), calls.is_empty()) {
                    (text, true) => say!(self, "the agent says: {text}", "智能体说：{text}"),
                    ("", false) => say!(self, "the agent wants {calls}", "智能体请求 {calls}"),
                    (text, false) => {
                        say!(
                            self,
                            "the agent wants {calls}: {text}",
                            "智能体请求 {calls}：{text}"
                        )
                    }
                }
            }
            Event::RunInterrupted { by } => {
                say!(self, "{by} interrupted the agent", "{by} 打断了智能体")
            }
            Event::VariablesChanged {
                by, before, after, ..
            } => workflow::variables_changed(by, gist::changes(before, after)).say(self.locale),
            Event::RunEnded { how } => self.ending(how),
            _ => String::new(),
        }
    }

    fn audience(&self, asked: &Asked) -> String {
        let quorum = asked.quorum;
        let who = match (&asked.audience, self.locale) {
            (Audience::Inbox, Locale::English) => "the inbox is".to_owned(),
            (Audience::Inbox, Locale::Chinese) => "收件箱".to_owned(),
            (Audience::People(people), Locale::English) if people.len() == 1 => {
                format!("{} is", names(people))
            }
            (Audience::People(people), Locale::English) => format!("{} are", names(people)),
            (Audience::People(people), Locale::Chinese) => names(people),
        };
        match quorum {
            0 | 1 => who,
            _ => say!(self, "{who} (any {quorum})", "{who}（需 {quorum} 人）"),
        }
    }

    /// What a question is about. A question that cannot be read is still named.
    fn question(&self, id: &InteractionId) -> String {
        match self.stored.interaction(id) {
            Ok(Some(interaction)) => self.subject(interaction.asked()),
            Ok(None) | Err(_) => id.to_string(),
        }
    }

    fn subject(&self, asked: &Asked) -> String {
        match &asked.subject {
            Subject::Call { call, edited, .. } => {
                self.as_changed(call, edited.as_ref().map(|edited| &edited.args))
            }
            Subject::UnknownOutcome { call, edited, .. } => {
                let what = self.as_changed(call, edited.as_deref());
                say!(self, "the unknown outcome of {what}", "{what} 的未知结果")
            }
            Subject::Breaker { rejections, .. } => {
                say!(
                    self,
                    "going on after {rejections} rejections",
                    "连续 {rejections} 次拒绝后如何继续"
                )
            }
            Subject::Request { agent, .. } => {
                let id = &asked.id;
                say!(
                    self,
                    "the question {id} of agent {agent}",
                    "智能体 {agent} 的问题 {id}"
                )
            }
        }
    }

    /// A call as its agent proposed it.
    fn call(&self, key: &CallKey) -> String {
        self.as_changed(key, None)
    }

    /// A call as a person changed it, if somebody did.
    fn as_changed(&self, key: &CallKey, changed: Option<&Args>) -> String {
        match self.stored.call(key) {
            Ok(Some(record)) => told(record, changed),
            Ok(None) | Err(_) => self.unread(key),
        }
    }

    /// A call as it was granted: what ran, or may have run, is what people agreed to.
    fn granted(&self, key: &CallKey) -> String {
        match self.stored.call(key) {
            Ok(Some(record)) => told(record, self.granted_args(record).as_ref()),
            Ok(None) | Err(_) => self.unread(key),
        }
    }

    /// What people changed the arguments to before they agreed. Nobody changes them any more once a call may have run, so
    /// the question about that still has them.
    fn granted_args(&self, record: &CallRecord) -> Option<Args> {
        let asked_back = match &record.state {
            CallState::Granted {
                outcome: Outcome::Approved { edited, .. },
                ..
            } => return edited.clone(),
            CallState::Parked { on } => on,
            CallState::Refused {
                question: Some(question),
                ..
            } => question,
            CallState::Granted { .. } | CallState::Refused { .. } | CallState::SameAs(_) => return None,
        };
        match &self
            .stored
            .interaction(asked_back)
            .ok()?
            .as_ref()?
            .asked()
            .subject
        {
            Subject::UnknownOutcome { edited, .. } => edited.as_deref().cloned(),
            Subject::Call { .. } | Subject::Breaker { .. } | Subject::Request { .. } => None,
        }
    }

    fn unread(&self, key: &CallKey) -> String {
        let (call, agent) = (&key.call, &key.agent);
        say!(
            self,
            "call {call} of agent {agent}",
            "智能体 {agent} 的调用 {call}"
        )
    }
}

fn told(record: &CallRecord, changed: Option<&Args>) -> String {
    let args = changed.unwrap_or(&record.call.args);
    format!("{} ({})", gist::call(&record.call.tool, args), record.call.id)
}

fn because(ballot: &Ballot) -> String {
    ballot
        .feedback
        .as_deref()
        .map_or(String::new(), |feedback| format!(": {}", gist::text(feedback)))
}

fn names(people: &BTreeSet<PersonId>) -> String {
    people.iter().map(PersonId::as_str).collect::<Vec<_>>().join(", ")
}
