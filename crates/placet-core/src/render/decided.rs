//! A settled question as a document: who decided what, and when.

use super::document::{Block, Document};
use super::mask;
use super::safe::SafeText;
use crate::interaction::{Action, Asked, Cancellation, Locale, Resolution};
use crate::time::Timestamp;

/// What replaces the question on every surface once it is settled.
pub fn decided(asked: &Asked, resolution: &Resolution, at: Timestamp, locale: Locale) -> Document {
    let say = |english, chinese| SafeText::line(locale.pick(english, chinese));
    let field = |english, chinese, value: &str| Block::Field {
        label: say(english, chinese),
        value: SafeText::line(value),
    };
    let mut body = vec![
        field("At", "时间", &at.to_string()),
        field("Question", "问题", asked.code.as_str()),
    ];
    if let Resolution::Answered { ballot, .. } = resolution
        && let Some(feedback) = &ballot.feedback
    {
        body.push(Block::Text {
            label: Some(say("In their words", "附言")),
            text: SafeText::block(&mask::text(feedback)),
        });
    }
    Document {
        locale,
        head: vec![Block::Heading {
            text: SafeText::line(&sentence(asked, resolution, locale)),
            risk: None,
        }],
        body,
        foot: Vec::new(),
    }
}

fn sentence(asked: &Asked, resolution: &Resolution, locale: Locale) -> String {
    let english = locale == Locale::English;
    match resolution {
        Resolution::Answered { ballot, action, by } => {
            let people = by
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(locale.pick(", ", "、"));
            let label = asked
                .options(locale)
                .into_iter()
                .find(|option| option.option_id == ballot.option)
                .map_or_else(|| ballot.option.clone(), |option| option.label);
            match action {
                Action::ProvideInfo | Action::Custom if english => format!("{people} answered: {label}."),
                Action::ProvideInfo | Action::Custom => format!("{people} 已回答：{label}。"),
                _ if english => format!("{}{people}.", verb(*action, locale)),
                _ => format!("{people} {}。", verb(*action, locale)),
            }
        }
        Resolution::Expired { option: None } => {
            let not_run = if asked.call().is_some() {
                locale.pick(" It was not run.", "未执行。")
            } else {
                ""
            };
            format!(
                "{}{not_run}",
                locale.pick("Expired: nobody answered in time.", "已超时：无人在期限内回答。")
            )
        }
        Resolution::Expired { option: Some(option) } if english => {
            format!("Expired: nobody answered in time. The default `{option}` was taken.")
        }
        Resolution::Expired { option: Some(option) } => {
            format!("已超时：无人在期限内回答，已采用默认选项 `{option}`。")
        }
        Resolution::Cancelled { why } => cancelled(why, locale),
        Resolution::Superseded { by } if english => format!("Replaced by another question: {by}."),
        Resolution::Superseded { by } => format!("已被另一个问题取代：{by}。"),
    }
}

const fn verb(action: Action, locale: Locale) -> &'static str {
    match action {
        Action::ApproveAndExecute => locale.pick("Approved by ", "已批准"),
        Action::RejectWithReason => locale.pick("Rejected by ", "已拒绝"),
        Action::RetryWithFeedback => locale.pick("Sent back to think again by ", "已要求重新考虑"),
        Action::Skip => locale.pick("Skipped by ", "已跳过"),
        Action::Terminate => locale.pick("Run ended by ", "已终止任务"),
        Action::ProvideInfo | Action::Custom => locale.pick("Answered by ", "已回答"),
    }
}

fn cancelled(why: &Cancellation, locale: Locale) -> String {
    match (why, locale) {
        (Cancellation::Withdrawn { by }, Locale::English) => format!("Withdrawn by {by}."),
        (Cancellation::Withdrawn { by }, Locale::Chinese) => format!("已由 {by} 撤回。"),
        (Cancellation::Terminated, Locale::English) => "Cancelled: the run was ended.".to_owned(),
        (Cancellation::Terminated, Locale::Chinese) => "已取消：任务已终止。".to_owned(),
        (Cancellation::Undeliverable { error }, Locale::English) => {
            format!("Cancelled: it could not be brought to anybody ({error}).")
        }
        (Cancellation::Undeliverable { error }, Locale::Chinese) => {
            format!("已取消：无法送达任何人（{error}）。")
        }
        (Cancellation::ResultArrived, Locale::English) => {
            "Cancelled: the result has arrived after all.".to_owned()
        }
        (Cancellation::ResultArrived, Locale::Chinese) => "已取消：结果已经到达。".to_owned(),
    }
}
