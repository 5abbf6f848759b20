//! The words that answer, in English and Chinese. A message is looked up here whole, after normalising.

use crate::interaction::{Action, InteractionKind, InteractionOption, Locale};

use super::OpenQuestion;

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Run it.
    Approve,
    /// Do not run it.
    Reject,
    /// Leave it out.
    Skip,
    /// End the run.
    Terminate,
    /// Think again.
    Retry,
}

/// Words that approve. Everything here is unmistakable on its own; "嗯", "hm" and "fine" are not here on purpose.
const APPROVE: &[&str] = &[
    "yes",
    "y",
    "yep",
    "yeah",
    "yes please",
    "ok",
    "okay",
    "approve",
    "approved",
    "i approve",
    "confirm",
    "confirmed",
    "agree",
    "agreed",
    "allow",
    "accept",
    "go ahead",
    "proceed",
    "do it",
    "run it",
    "lgtm",
    "确认",
    "確認",
    "确定",
    "確定",
    "批准",
    "同意",
    "执行",
    "執行",
    "好",
    "好的",
    "可以",
    "是",
    "是的",
    "行",
    "允许",
    "允許",
    "通过",
    "通過",
    "没问题",
    "沒問題",
    "我同意",
    "我批准",
    "👍",
    "👍🏻",
    "👍🏼",
    "👍🏽",
    "👍🏾",
    "👍🏿",
    "✅",
];

/// Words that refuse. Generous: a refusal read from these costs a retry, an approval missed costs nothing more.
const REJECT: &[&str] = &[
    "no",
    "n",
    "nope",
    "no way",
    "no thanks",
    "never",
    "cancel",
    "reject",
    "rejected",
    "deny",
    "denied",
    "decline",
    "declined",
    "refuse",
    "disapprove",
    "disagree",
    "don't",
    "dont",
    "do not",
    "don't do it",
    "do not run it",
    "not ok",
    "not okay",
    "取消",
    "拒绝",
    "拒絕",
    "驳回",
    "駁回",
    "不",
    "不要",
    "不行",
    "否",
    "不是",
    "不好",
    "不可以",
    "不同意",
    "不批准",
    "不执行",
    "不執行",
    "不确认",
    "不確認",
    "不允许",
    "不允許",
    "拒绝执行",
    "拒絕執行",
    "不用",
    "不用了",
    "别",
    "別",
    "算了",
    "禁止",
    "👎",
    "👎🏻",
    "👎🏼",
    "👎🏽",
    "👎🏾",
    "👎🏿",
    "❌",
];

const SKIP: &[&str] = &["skip", "skip it", "跳过", "跳過", "略过", "略過"];

const TERMINATE: &[&str] = &[
    "stop",
    "terminate",
    "abort",
    "end the run",
    "终止",
    "終止",
    "停止",
    "中止",
];

const RETRY: &[&str] = &[
    "retry",
    "think again",
    "try again",
    "重试",
    "重試",
    "重新考虑",
    "重新考慮",
];

const APPROVE_ALL: &[&str] = &[
    "approve all",
    "yes all",
    "all yes",
    "yes to all",
    "ok all",
    "confirm all",
    "allow all",
    "全部批准",
    "全部同意",
    "全部确认",
    "全部確認",
    "全部执行",
    "全部執行",
    "都批准",
    "都同意",
];

const REJECT_ALL: &[&str] = &[
    "reject all",
    "no all",
    "all no",
    "no to all",
    "deny all",
    "cancel all",
    "全部拒绝",
    "全部拒絕",
    "全部取消",
    "全部不批准",
    "全部不同意",
    "都拒绝",
    "都拒絕",
    "都不同意",
    "都不批准",
];

impl Meaning {
    /// What choosing it does.
    pub const fn action(self) -> Action {
        match self {
            Self::Approve => Action::ApproveAndExecute,
            Self::Reject => Action::RejectWithReason,
            Self::Skip => Action::Skip,
            Self::Terminate => Action::Terminate,
            Self::Retry => Action::RetryWithFeedback,
        }
    }
}

/// What a whole normalised message says, if it is in the table.
pub fn meaning(said: &str) -> Option<Meaning> {
    [
        (APPROVE, Meaning::Approve),
        (REJECT, Meaning::Reject),
        (SKIP, Meaning::Skip),
        (TERMINATE, Meaning::Terminate),
        (RETRY, Meaning::Retry),
    ]
    .into_iter()
    .find_map(|(table, meaning)| table.contains(&said).then_some(meaning))
}

/// What a whole normalised message says about every open question, if it is in the table.
pub fn meaning_for_all(said: &str) -> Option<Meaning> {
    [(APPROVE_ALL, Meaning::Approve), (REJECT_ALL, Meaning::Reject)]
        .into_iter()
        .find_map(|(table, meaning)| table.contains(&said).then_some(meaning))
}

impl OpenQuestion {
    /// What to type to choose `option`: shown beside it. `None` when typing cannot choose it.
    ///
    /// Kept beside the tables, and tested against [`read`](super::read), so that what we tell people to type works.
    pub fn how_to_say(&self, option: &InteractionOption, locale: Locale) -> Option<String> {
        let say = |english: &'static str, chinese: &'static str| locale.pick(english, chinese).to_owned();
        let code = self.code;
        let chosen = |said: &str| {
            let pick = self.pick(said, option.needs_text().then_some("…"));
            matches!(pick, Some(super::Pick::Option(found)) if found.option_id == option.option_id)
        };
        let word = match option.action {
            Action::ApproveAndExecute => Some(say("yes", "批准")),
            Action::RejectWithReason => Some(say("no", "拒绝")),
            Action::Skip => Some(say("skip", "跳过")),
            Action::Terminate => Some(say("stop", "终止")),
            Action::RetryWithFeedback => Some(say("retry", "重试")),
            Action::ProvideInfo | Action::Custom => None,
        };
        let number = self
            .options
            .iter()
            .position(|offered| offered.option_id == option.option_id)
            .map(|index| (index + 1).to_string());
        let by_number = matches!(self.kind, InteractionKind::UserChoice | InteractionKind::Custom);
        let said = number
            .filter(|_| by_number)
            .into_iter()
            .chain(word)
            .chain([option.option_id.clone()])
            .find(|said| super::normal::line(said).is_some_and(|said| chosen(&said)))?;
        let added = match (option.needs_text(), option.action) {
            (true, _) => locale.pick(": …", "：…"),
            (false, Action::RejectWithReason) => locale.pick(": why", "：原因"),
            (false, _) => "",
        };
        Some(format!("{said} {code}{added}"))
    }
}
