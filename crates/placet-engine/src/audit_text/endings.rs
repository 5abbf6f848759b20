//! How things end: a run, a question, a call.

use std::collections::BTreeSet;

use placet_core::ids::{InteractionId, PersonId};
use placet_core::interaction::{Action, Cancellation, Locale, Resolution};
use placet_core::outcome::{CallStatus, Outcome};
use placet_core::run::RunEnd;

use super::{Teller, because, chinese, gist, names};

impl Teller<'_> {
    pub(super) fn ending(&self, how: &RunEnd) -> String {
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

    pub(super) fn resolved(&self, id: &InteractionId, resolution: &Resolution) -> String {
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

    pub(super) fn fate(&self, outcome: &Outcome) -> String {
        match outcome {
            Outcome::Approved { by, edited, .. } => {
                let by = names(&by.iter().cloned().collect());
                match edited {
                    Some(args) => {
                        let args = gist::args(args);
                        let risk = outcome.judgement().map_or(String::new(), |judgement| {
                            let risk = judgement.verdict.risk.label(self.locale);
                            say!(self, ", {risk} risk", "，{risk}风险")
                        });
                        say!(
                            self,
                            "approved by {by} as {args}{risk}",
                            "由 {by} 批准，参数改为 {args}{risk}"
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
                let named = chinese::denial(denial);
                say!(self, "denied ({because})", "已拒绝（{named}）")
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
}
