//! What Placet says in a chat and about an answer, in English and Chinese.

use std::fmt;

use crate::ids::PersonId;
use crate::interaction::{Action, Code, Locale};

use super::answer::{AnswerRefusal, Answered, EditDenial, How};
use super::ask::Nobody;
use super::host::ResumeRefusal;

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

/// The button of a question that this chat was never shown.
pub(crate) fn no_such_question(locale: Locale) -> String {
    locale
        .pick(
            "This chat has no such question. Nothing was decided.",
            "此聊天中没有这个问题，未作任何决定。",
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
        Locale::Chinese => format!("{code}：未采纳：{}", refusal.words(locale)),
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

/// The sender of a message for the agent is linked to no person.
pub(crate) fn unknown_sender(locale: Locale) -> &'static str {
    locale.pick(
        "I do not know you yet, so I cannot work for you. Whoever runs me can add your account to `[[people]]`.",
        "我还不认识您，因此不能为您工作。请管理员将您的账号加入 `[[people]]`。",
    )
}

/// The chat's session belongs to another person.
pub(crate) fn chat_of_another(locale: Locale) -> &'static str {
    locale.pick(
        "I work for somebody else in this chat. Write to me in one of your own.",
        "我在这个聊天中为另一个人工作。请在您自己的聊天中给我写消息。",
    )
}

/// The open run of a chat cannot go on in this process.
pub(crate) fn run_left_alone(why: &ResumeRefusal, locale: Locale) -> String {
    match (locale, why) {
        (Locale::Chinese, ResumeRefusal::Elsewhere { workspace, .. }) => {
            format!(
                "这里的任务在文件夹 `{workspace}` 中进行，我在此处无法继续，也没有把您的消息转给它。请让管理员从那里启动 Placet。"
            )
        }
        (Locale::Chinese, _) => "这里有一个我无法继续的任务，您的消息没有转给它。".to_owned(),
        (Locale::English, ResumeRefusal::Elsewhere { workspace, .. }) => format!(
            "I cannot go on here, and did not pass on what you wrote: the work in this chat is done in the folder `{workspace}`. \
             Whoever runs me can start me there."
        ),
        (Locale::English, why) => format!("I did not pass on what you wrote: {why}."),
    }
}

/// The chat's session has been ended.
pub(crate) fn session_over(locale: Locale) -> &'static str {
    locale.pick(
        "This conversation has been ended; nothing happens in it any more.",
        "这个对话已经结束，不再执行任何操作。",
    )
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

impl Answered {
    /// What the person is told while the question stays open, or another took its place; nothing once it is decided, which
    /// is told in other words.
    pub fn goes_on(&self, locale: Locale) -> Option<String> {
        Some(match (self, locale) {
            (Self::Decided { .. }, _) => return None,
            (Self::Voted { needed }, Locale::English) => {
                format!("Your approval counts; {needed} more needed.")
            }
            (Self::Voted { needed }, Locale::Chinese) => {
                format!("已记下你的批准，还需要 {needed} 人。")
            }
            (Self::AskedAnew { question }, Locale::English) => {
                format!("Your change needs other people: asked again as {question}.")
            }
            (Self::AskedAnew { question }, Locale::Chinese) => {
                format!("你的改动需要其他人同意，已重新提问：{question}。")
            }
        })
    }
}

impl AnswerRefusal {
    /// Why the answer was not taken, in words, without a full stop.
    pub fn words(&self, locale: Locale) -> String {
        if locale == Locale::English {
            return self.to_string();
        }
        match self {
            Self::NotFound(id) => format!("没有需要你回答的问题 `{id}`"),
            Self::AlreadyDecided { id, how, at } => {
                format!("{id} 已有决定：{}，时间 {at}", how.words(locale))
            }
            Self::Invalid(error) => error.words(locale),
            // The validator's own words, which nobody can translate.
            Self::EditInvalid(error) => format!("修改后的参数不符合工具的模式（原文：“{error}”）"),
            Self::EditDenied(denial) => format!("策略禁止修改后的调用：{}", denial.words(locale)),
            Self::ScopeMismatch => "“不再询问”必须涵盖当前这次调用".to_owned(),
            Self::WideNotAllowed => {
                "只有管理员可以设置超出本次会话的“不再询问”；可用 `[approval] wide_grants` 允许审批人设置"
                    .to_owned()
            }
            Self::RefusedBefore => "最近七天内有人拒绝过此范围内的调用，请选择更小的范围".to_owned(),
        }
    }
}

impl How {
    fn words(&self, locale: Locale) -> String {
        match (self, locale) {
            (Self::Answered { option, by }, Locale::English) => format!("`{option}` by {}", names(by, ", ")),
            (Self::Answered { option, by }, Locale::Chinese) => {
                format!("{} 选择了 `{option}`", names(by, "、"))
            }
            (Self::Expired, _) => locale.pick("time ran out", "已超时").to_owned(),
            (Self::Withdrawn, _) => locale.pick("withdrawn", "已撤回").to_owned(),
            (Self::Replaced { by }, Locale::English) => format!("replaced by {by}"),
            (Self::Replaced { by }, Locale::Chinese) => format!("已被 {by} 取代"),
        }
    }
}

fn names(people: &[PersonId], comma: &str) -> String {
    people
        .iter()
        .map(PersonId::as_str)
        .collect::<Vec<_>>()
        .join(comma)
}

impl EditDenial {
    fn words(&self, locale: Locale) -> String {
        match self {
            Self::Policy(reason) => reason.words(locale),
            Self::Nobody(nobody) => nobody.words(locale),
            Self::CallbackFailed => locale
                .pick("the approval callback failed", "审批回调失败")
                .to_owned(),
        }
    }
}

impl Nobody {
    fn words(&self, locale: Locale) -> String {
        match (self, locale) {
            (_, Locale::English) => self.to_string(),
            (Self::UnknownUser, _) => "不知道聊天中的用户是谁，也没有规则指定审批人".to_owned(),
            (Self::Unlinked(user), _) => format!("风险为高，而 `{user}` 不在 `[[people]]` 中"),
            (Self::NoAccount(user), _) => {
                format!("无法询问 `{user}`：渠道未连接，账号也不在 `[[people]]` 中")
            }
            (Self::NoChannel(channel), _) => format!("没有名为 `{channel}` 的渠道"),
            (Self::NoInbox, _) => "这次调用没有渠道，也没有人查看收件箱".to_owned(),
            (Self::TooFew { quorum, able }, _) => {
                format!("需要 {quorum} 人批准，而被询问的人中只有 {able} 人可以批准")
            }
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Locale::English))
    }
}

impl fmt::Display for EditDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Locale::English))
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::Ban;
    use crate::ids::{ChannelName, InteractionId};
    use crate::interaction::AnswerError;
    use crate::time::Timestamp;
    use crate::verdict::Reason;

    use super::*;

    fn check(refusal: &AnswerRefusal, english: &str, chinese: &str) {
        assert_eq!(refusal.words(Locale::English), english);
        assert_eq!(refusal.words(Locale::Chinese), chinese);
    }

    #[test]
    fn a_refused_answer_is_explained_in_both_languages() {
        let id = InteractionId::new("int_1").unwrap();
        check(
            &AnswerRefusal::NotFound(id.clone()),
            "there is no question `int_1` for you",
            "没有需要你回答的问题 `int_1`",
        );
        check(
            &AnswerRefusal::Invalid(AnswerError::NotShownWhole),
            "this cannot be approved here: not everything was shown, and the risk is HIGH",
            "不能在此批准：内容没有全部显示，而风险为高",
        );
        check(
            &AnswerRefusal::EditInvalid("\"x\" is not a number".into()),
            "the edited arguments do not fit the tool's schema: \"x\" is not a number",
            "修改后的参数不符合工具的模式（原文：“\"x\" is not a number”）",
        );
        check(
            &AnswerRefusal::ScopeMismatch,
            "\"don't ask again\" must cover the call it is said about",
            "“不再询问”必须涵盖当前这次调用",
        );
        let before = |how| AnswerRefusal::AlreadyDecided {
            id: id.clone(),
            how,
            at: Timestamp::from_millis(0),
        };
        let people = ["lin", "wei"].map(|name| PersonId::new(name).unwrap()).to_vec();
        check(
            &before(How::Answered {
                option: "approve".into(),
                by: people,
            }),
            "int_1 is already decided: `approve` by lin, wei at 1970-01-01T00:00:00.000Z",
            "int_1 已有决定：lin、wei 选择了 `approve`，时间 1970-01-01T00:00:00.000Z",
        );
        check(
            &before(How::Replaced { by: id.clone() }),
            "int_1 is already decided: replaced by int_1 at 1970-01-01T00:00:00.000Z",
            "int_1 已有决定：已被 int_1 取代，时间 1970-01-01T00:00:00.000Z",
        );
    }

    #[test]
    fn a_denied_edit_is_explained_in_both_languages() {
        let denied = |denial| AnswerRefusal::EditDenied(denial);
        check(
            &denied(EditDenial::Policy(Reason::Banned(Ban::AnswersForPeople))),
            "policy denies the edited call: Never allowed: agents cannot answer approval requests",
            "策略禁止修改后的调用：绝对禁止：智能体不能答复审批请求",
        );
        let nobody = [
            (
                Nobody::UnknownUser,
                "不知道聊天中的用户是谁，也没有规则指定审批人",
            ),
            (
                Nobody::NoChannel(ChannelName::new("ops").unwrap()),
                "没有名为 `ops` 的渠道",
            ),
            (
                Nobody::Unlinked(PersonId::new("ops:eve").unwrap()),
                "风险为高，而 `ops:eve` 不在 `[[people]]` 中",
            ),
            (Nobody::NoInbox, "这次调用没有渠道，也没有人查看收件箱"),
            (
                Nobody::TooFew { quorum: 2, able: 1 },
                "需要 2 人批准，而被询问的人中只有 1 人可以批准",
            ),
        ];
        for (nobody, chinese) in nobody {
            let english = format!("policy denies the edited call: {nobody}");
            let chinese = format!("策略禁止修改后的调用：{chinese}");
            check(&denied(EditDenial::Nobody(nobody)), &english, &chinese);
        }
    }
}
