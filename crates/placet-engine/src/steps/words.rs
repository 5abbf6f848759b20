//! What Placet says in a chat about a reply, in English and Chinese.

use placet_core::interaction::{Action, Code, Locale};

use super::answer::{AnswerRefusal, Answered};

/// Several questions are open, and the reply did not say which one it is about.
pub(crate) fn which_one(codes: &[Code], locale: Locale) -> String {
    let list = codes.iter().map(Code::as_str).collect::<Vec<_>>().join(", ");
    match locale {
        Locale::English => format!(
            "Several questions are open ({list}). Say which one, for example: yes {}",
            first(codes)
        ),
        Locale::Chinese => format!(
            "有多个问题待答复（{list}）。请注明是哪一个，例如：批准 {}",
            first(codes)
        ),
    }
}

/// The reply names a question that is not open.
pub(crate) fn unknown_code(given: Code, locale: Locale) -> String {
    match locale {
        Locale::English => format!("No open question has the code {given}. Nothing was decided."),
        Locale::Chinese => format!("没有代码为 {given} 的待答复问题，未作任何决定。"),
    }
}

/// The sender is not among those asked.
pub(crate) fn not_yours(locale: Locale) -> String {
    locale
        .pick(
            "This question is not for you to answer; it stays open.",
            "这个问题不由您答复，仍在等待指定的审批人。",
        )
        .to_owned()
}

/// What came of an answer.
pub(crate) fn answered(code: Code, answered: &Answered, locale: Locale) -> String {
    match (answered, locale) {
        (Answered::Voted { needed }, Locale::English) => {
            format!("{code}: counted. {needed} more approval(s) needed.")
        }
        (Answered::Voted { needed }, Locale::Chinese) => format!("{code}：已计入，还需 {needed} 人批准。"),
        (Answered::Decided { action }, _) => {
            format!("{code}{}{}", locale.pick(": ", "："), done(*action, locale))
        }
        (Answered::AskedAnew { .. }, Locale::English) => {
            format!("{code}: changed; others must agree to the change.")
        }
        (Answered::AskedAnew { .. }, Locale::Chinese) => format!("{code}：已修改，还需其他人同意。"),
    }
}

/// Why an answer was not taken.
pub(crate) fn refused(code: Code, refusal: &AnswerRefusal, locale: Locale) -> String {
    match locale {
        Locale::English => format!("{code}: not taken: {refusal}"),
        Locale::Chinese => format!("{code}：未采纳：{refusal}"),
    }
}

/// High risk is never approved in bulk.
pub(crate) fn one_by_one(codes: &[Code], locale: Locale) -> String {
    let list = codes.iter().map(Code::as_str).collect::<Vec<_>>().join(", ");
    match locale {
        Locale::English => format!("High risk, answer one by one: {list}"),
        Locale::Chinese => format!("高风险操作，请逐一答复：{list}"),
    }
}

fn first(codes: &[Code]) -> String {
    codes.first().map(ToString::to_string).unwrap_or_default()
}

fn done(action: Action, locale: Locale) -> &'static str {
    match action {
        Action::ApproveAndExecute => locale.pick("approved.", "已批准。"),
        Action::RejectWithReason => locale.pick("rejected.", "已拒绝。"),
        Action::RetryWithFeedback => locale.pick("sent back with your feedback.", "已退回并附上反馈。"),
        Action::Terminate => locale.pick("the run is ended.", "任务已终止。"),
        Action::ProvideInfo => locale.pick("passed on.", "信息已转交。"),
        Action::Skip => locale.pick("skipped.", "已跳过。"),
        Action::Custom => locale.pick("noted.", "已记录。"),
    }
}
