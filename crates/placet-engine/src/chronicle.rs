//! The journal in words: who did what to which call, one safe sentence a row.

use std::collections::BTreeSet;

use placet_core::call::ToolCall;
use placet_core::canonical;
use placet_core::ids::{InteractionId, PersonId};
use placet_core::interaction::{
    Action, Asked, Audience, Ballot, CallKey, Cancellation, Locale, Resolution, Subject,
};
use placet_core::journal::Event;
use placet_core::outcome::{CallStatus, Outcome};
use placet_core::render::{SafeText, mask};
use placet_core::run::{ModelCall, RunEnd};
use placet_store::View;

/// Longer arguments are cut in a sentence; the row has them all.
const CHARS_MAX: usize = 100;

/// The event in one safe line, secrets masked.
pub fn sentence(view: &View<'_>, event: &Event, locale: Locale) -> SafeText {
    SafeText::line(&Teller { view, locale }.words(event))
}

struct Teller<'v, 'c> {
    view: &'v View<'c>,
    locale: Locale,
}

/// The sentence in the teller's language, from the same parts.
macro_rules! say {
    ($teller:expr, $english:literal, $chinese:literal) => {
        match $teller.locale {
            Locale::English => format!($english),
            Locale::Chinese => format!($chinese),
        }
    };
}

impl Teller<'_, '_> {
    fn words(&self, event: &Event) -> String {
        match event {
            Event::CallReceived {
                call,
                verdict,
                outcome,
                ..
            } => {
                let (agent, id, step) = (&call.origin.agent, &call.id, verdict.step);
                let (what, decision) = (brief(call), verdict.decision.as_str());
                let fate = outcome.as_deref().map_or(String::new(), |outcome| {
                    let fate = self.fate(outcome);
                    say!(self, ", {fate}", "，{fate}")
                });
                say!(
                    self,
                    "agent {agent} wants {what} ({id}): {decision} by step {step}{fate}",
                    "智能体 {agent} 请求 {what}（{id}）：第 {step} 步判定 {decision}{fate}"
                )
            }
            Event::Asked(asked) => {
                let (who, what) = (self.audience(asked), self.subject(asked));
                let (id, risk) = (&asked.id, asked.risk.as_str());
                say!(
                    self,
                    "{who} asked about {what}: {id}, {risk} risk",
                    "就 {what} 询问{who}：{id}，风险 {risk}"
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
            | Event::Started { .. } => self.around(event),
            Event::RunStarted(_)
            | Event::UserSaid { .. }
            | Event::ModelTurn(_)
            | Event::RunInterrupted { .. }
            | Event::RunEnded { .. } => self.conversation(event),
        }
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
                let what = self.call(call);
                say!(
                    self,
                    "{what} is about to run on grant {grant}",
                    "{what} 凭授权 {grant} 即将执行"
                )
            }
            Event::Finished { call, grant, result } => {
                let (what, bytes) = (self.call(call), result.bytes);
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
                let what = self.call(call);
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
            Event::Started { down_for, .. } => say!(
                self,
                "placet started after {down_for}",
                "placet 已启动，此前停机 {down_for}"
            ),
            _ => String::new(),
        }
    }

    /// What the built-in agent and its people say.
    fn conversation(&self, event: &Event) -> String {
        match event {
            Event::RunStarted(run) => {
                let (model, task) = (&run.model, brief_text(&run.task));
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
                let text = brief_text(text);
                say!(
                    self,
                    "{who} says to the agent: {text}",
                    "{who} 对智能体说：{text}"
                )
            }
            Event::ModelTurn(turn) => {
                let calls: Vec<&str> = turn.calls.iter().map(ModelCall::tool).collect();
                let (text, calls) = (brief_text(turn.text.trim()), calls.join(", "));
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
            Event::RunEnded { how } => self.ending(how),
            _ => String::new(),
        }
    }

    fn ending(&self, how: &RunEnd) -> String {
        match (self.locale, how) {
            (Locale::English, how) => how.to_string(),
            (Locale::Chinese, RunEnd::Completed) => "智能体完成了任务".to_owned(),
            (Locale::Chinese, RunEnd::Terminated { by }) => format!("任务被 {by} 终止"),
            (Locale::Chinese, RunEnd::Interrupted { by }) => format!("任务被 {by} 打断"),
            (Locale::Chinese, RunEnd::Failed { why }) => format!("任务失败：{why}"),
            (Locale::Chinese, RunEnd::TimedOut) => "任务时间已用完，已停止".to_owned(),
            (Locale::Chinese, RunEnd::LimitReached { turns }) => {
                format!("模型已发言 {turns} 轮，达到上限，任务停止")
            }
        }
    }

    fn resolved(&self, id: &InteractionId, resolution: &Resolution) -> String {
        let what = self.question(id);
        match resolution {
            Resolution::Answered { ballot, action, by } => {
                let everybody: BTreeSet<PersonId> = by.iter().chain([&ballot.by]).cloned().collect();
                let who = if *action == Action::ApproveAndExecute {
                    names(&everybody)
                } else {
                    ballot.by.to_string()
                };
                let (verb, why) = (self.verb(*action), because(ballot));
                format!("{who} {verb} {what}{why}")
            }
            Resolution::Expired { .. } => {
                say!(
                    self,
                    "nobody decided {what} in time",
                    "无人在限时内就 {what} 作出决定"
                )
            }
            Resolution::Cancelled { why } => match why {
                Cancellation::Withdrawn { by } => {
                    say!(
                        self,
                        "{by} withdrew the question about {what}",
                        "{by} 撤回了关于 {what} 的问题"
                    )
                }
                Cancellation::Terminated => {
                    say!(
                        self,
                        "the question about {what} ended with the run",
                        "关于 {what} 的问题随任务终止"
                    )
                }
                Cancellation::Undeliverable { error } => {
                    say!(
                        self,
                        "nobody could be asked about {what}: {error}",
                        "无法就 {what} 询问任何人：{error}"
                    )
                }
                Cancellation::ResultArrived => {
                    say!(
                        self,
                        "the result of {what} arrived after all",
                        "{what} 的结果最终到达"
                    )
                }
            },
            Resolution::Superseded { by } => {
                say!(
                    self,
                    "{by} took the place of the question about {what}",
                    "关于 {what} 的问题由 {by} 取代"
                )
            }
        }
    }

    fn verb(&self, action: Action) -> &'static str {
        let (english, chinese) = match action {
            Action::ApproveAndExecute => ("approved", "批准了"),
            Action::RetryWithFeedback => ("wants another try at", "要求重新考虑"),
            Action::RejectWithReason => ("rejected", "拒绝了"),
            Action::Terminate => ("ended the run at", "终止任务于"),
            Action::ProvideInfo => ("gave information for", "提供了信息："),
            Action::Skip => ("skipped", "跳过了"),
            Action::Custom => ("answered", "回答了"),
        };
        self.locale.pick(english, chinese)
    }

    fn fate(&self, outcome: &Outcome) -> String {
        match outcome {
            Outcome::Approved { by, edited, .. } => {
                let by = names(&by.iter().cloned().collect());
                match edited {
                    Some(args) => {
                        let args = cut(&canonical::to_string(&mask::json(args.as_value())));
                        say!(
                            self,
                            "approved by {by} as {args}",
                            "由 {by} 批准，参数改为 {args}"
                        )
                    }
                    None => say!(self, "approved by {by}", "由 {by} 批准"),
                }
            }
            Outcome::MayHaveRun { then } => {
                let then = self.fate(then);
                say!(self, "may have run; {then}", "可能已执行；{then}")
            }
            Outcome::Rejected { by, .. } => say!(self, "rejected by {by}", "被 {by} 拒绝"),
            Outcome::Terminated { by, .. } => say!(self, "run ended by {by}", "任务被 {by} 终止"),
            Outcome::Denied { denial } => {
                let because = serde_json::to_value(denial).unwrap_or_default();
                let because = because
                    .get("because")
                    .and_then(|because| because.as_str())
                    .unwrap_or_default();
                say!(self, "denied ({because})", "已拒绝（{because}）")
            }
            other => self.status(other.status()).to_owned(),
        }
    }

    fn status(&self, status: CallStatus) -> &'static str {
        let chinese = match status {
            CallStatus::Allowed => "放行",
            CallStatus::Denied => "已拒绝",
            CallStatus::Pending => "等待中",
            CallStatus::Approved => "已批准",
            CallStatus::Rejected => "被拒绝",
            CallStatus::Retry => "要求重试",
            CallStatus::Info => "提供了信息",
            CallStatus::Skipped => "已跳过",
            CallStatus::Terminated => "已终止",
            CallStatus::Expired => "已超时",
            CallStatus::Cancelled => "已取消",
        };
        self.locale.pick(status.as_str(), chinese)
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
        match self.view.interaction(id) {
            Ok(Some(interaction)) => self.subject(interaction.asked()),
            Ok(None) | Err(_) => id.to_string(),
        }
    }

    fn subject(&self, asked: &Asked) -> String {
        match &asked.subject {
            Subject::Call { call, .. } => self.call(call),
            Subject::UnknownOutcome { call, .. } => {
                let what = self.call(call);
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

    fn call(&self, key: &CallKey) -> String {
        if let Ok(Some(record)) = self.view.call(key) {
            return format!("{} ({})", brief(&record.call), key.call);
        }
        let (call, agent) = (&key.call, &key.agent);
        say!(
            self,
            "call {call} of agent {agent}",
            "智能体 {agent} 的调用 {call}"
        )
    }
}

fn because(ballot: &Ballot) -> String {
    ballot.feedback.as_deref().map_or(String::new(), |feedback| {
        format!(": {}", cut(&mask::text(feedback)))
    })
}

/// The tool and its arguments: the only one as it is, several as JSON.
fn brief(call: &ToolCall) -> String {
    let masked = mask::json(call.args.as_value());
    let only = masked
        .as_object()
        .filter(|fields| fields.len() == 1)
        .and_then(|fields| fields.values().next()?.as_str());
    let text = only.map_or_else(|| canonical::to_string(&masked), str::to_owned);
    format!("{} `{}`", call.tool, cut(&text))
}

fn brief_text(text: &str) -> String {
    cut(&mask::text(text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!(
            "{}… ({} characters)",
            text.get(..end).unwrap_or_default(),
            text.chars().count()
        ),
    }
}

fn names(people: &BTreeSet<PersonId>) -> String {
    people.iter().map(PersonId::as_str).collect::<Vec<_>>().join(", ")
}
