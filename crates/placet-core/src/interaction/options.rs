//! The options of each kind of question, in the words of each language.

use serde::{Deserialize, Serialize};

use super::{Action, Asked, InteractionOption, InteractionRequest, Subject};
use crate::verdict::{AnswerKind, Answers};

/// The option that leaves a question unanswered, where its asker can go on without an answer.
const DISMISS: &str = "dismiss";

/// A language people are asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Locale {
    /// English.
    #[serde(rename = "en")]
    English,
    /// Chinese.
    #[serde(rename = "zh", alias = "zh-CN")]
    Chinese,
}

impl Locale {
    /// One of two texts.
    pub const fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}

impl Asked {
    /// The ways to answer, in the order they are shown.
    pub fn options(&self, locale: Locale) -> Vec<InteractionOption> {
        match &self.subject {
            Subject::Call { answers, .. } => tool_approval_options(answers, locale),
            Subject::UnknownOutcome { .. } => unknown_outcome_options(locale),
            Subject::Breaker { .. } => breaker_options(locale),
            Subject::Request { request, .. } => request_options(request, locale),
        }
    }
}

/// What a tool approval offers. Editing is approving with other arguments, not an option of its own.
pub fn tool_approval_options(answers: &Answers, locale: Locale) -> Vec<InteractionOption> {
    let say = |english, chinese| locale.pick(english, chinese);
    answers
        .iter()
        .filter_map(|kind| match kind {
            AnswerKind::Approve => Some(
                InteractionOption::new("approve", say("Approve", "批准"), Action::ApproveAndExecute)
                    .described(say(
                        "Run exactly this, once.",
                        "只执行这一次，内容与所示完全一致。",
                    )),
            ),
            AnswerKind::Edit => None,
            AnswerKind::Reject => Some(
                InteractionOption::new("reject", say("Reject", "拒绝"), Action::RejectWithReason)
                    .described(say(
                        "Do not run it; the agent is told why.",
                        "不执行，并把原因告诉智能体。",
                    ))
                    .with_optional_input(say("Why not? (optional)", "拒绝原因（可选）"))
                    .by_default(),
            ),
            AnswerKind::Retry => Some(
                InteractionOption::new("retry", say("Think again", "重新考虑"), Action::RetryWithFeedback)
                    .described(say(
                        "Do not run it; the agent tries another way.",
                        "不执行，让智能体按反馈重新思考。",
                    ))
                    .with_input(say("What should it do differently?", "希望它怎样改？")),
            ),
            AnswerKind::Info => Some(
                InteractionOption::new(
                    "info",
                    say("Provide information", "提供信息"),
                    Action::ProvideInfo,
                )
                .with_input(say("What should the agent know?", "需要补充什么信息？")),
            ),
            AnswerKind::Skip => Some(
                InteractionOption::new("skip", say("Skip", "跳过"), Action::Skip)
                    .described(say("Leave this one out and go on.", "跳过这一步，继续其余工作。")),
            ),
            AnswerKind::Terminate => Some(
                InteractionOption::new("terminate", say("End the run", "终止"), Action::Terminate)
                    .described(say(
                        "Do not run it and end the whole run.",
                        "不执行，并结束整个任务。",
                    ))
                    .dangerous(),
            ),
        })
        .collect()
}

/// An agent's own options; a question that need not be answered can be dismissed, too.
fn request_options(request: &InteractionRequest, locale: Locale) -> Vec<InteractionOption> {
    let mut options = request.options.clone();
    let taken = |option: &InteractionOption| option.action == Action::Skip || option.option_id == DISMISS;
    if !request.required && !options.iter().any(taken) {
        options.push(
            InteractionOption::new(DISMISS, locale.pick("Dismiss", "忽略"), Action::Skip).described(
                locale.pick(
                    "Leave it unanswered; the agent goes on.",
                    "不作答，智能体继续执行。",
                ),
            ),
        );
    }
    options
}

fn unknown_outcome_options(locale: Locale) -> Vec<InteractionOption> {
    let say = |english, chinese| locale.pick(english, chinese);
    vec![
        InteractionOption::new(
            "run_again",
            say("Run again", "再次执行"),
            Action::ApproveAndExecute,
        )
        .described(say("It may happen twice.", "有可能被执行两次。"))
        .dangerous(),
        InteractionOption::new(
            "treat_as_done",
            say("Treat as done", "视为已完成"),
            Action::ProvideInfo,
        )
        .described(say("Go on as if it had succeeded.", "按已经成功继续。")),
        InteractionOption::new("skip", say("Skip", "跳过"), Action::Skip)
            .described(say("Go on without it.", "不管它，继续其余工作。"))
            .by_default(),
        InteractionOption::new("terminate", say("End the run", "终止"), Action::Terminate).dangerous(),
    ]
}

fn breaker_options(locale: Locale) -> Vec<InteractionOption> {
    let say = |english, chinese| locale.pick(english, chinese);
    vec![
        InteractionOption::new("go_on", say("Go on asking", "继续询问"), Action::Custom)
            .described(say("Show me the next question as usual.", "照常显示下一个问题。")),
        InteractionOption::new(
            "retry",
            say("Give directions", "给出指示"),
            Action::RetryWithFeedback,
        )
        .with_input(say("How should the agent go on?", "接下来应该怎样做？")),
        InteractionOption::new("terminate", say("End the run", "终止"), Action::Terminate).dangerous(),
    ]
}
