//! Typed replies: a tool runs only on a message that is nothing but a yes.

use placet_core::interaction::{Action, Code, InteractionKind, Locale, tool_approval_options};
use placet_core::reply::{OpenQuestion, Reading, read};
use placet_core::verdict::Answers;
use unicode_normalization::UnicodeNormalization as _;

use crate::{Broken, must, text};

/// Everything that may approve, written down a second time, without spaces. Reading must not know more words than this.
#[rustfmt::skip]
const YES: &[&str] = &[
    "yes", "y", "yep", "yeah", "yesplease", "ok", "okay", "approve", "approved", "iapprove", "confirm", "confirmed",
    "agree", "agreed", "allow", "accept", "goahead", "proceed", "doit", "runit", "lgtm",
    "确认", "確認", "确定", "確定", "批准", "同意", "执行", "執行", "好", "好的", "可以", "是", "是的", "行", "允许",
    "允許", "通过", "通過", "没问题", "沒問題", "我同意", "我批准", "👍", "✅",
];
#[rustfmt::skip]
const YES_TO_ALL: &[&str] = &[
    "approveall", "yesall", "allyes", "yestoall", "okall", "confirmall", "allowall", "全部批准", "全部同意", "全部确认",
    "全部確認", "全部执行", "全部執行", "都批准", "都同意",
];

/// The first byte says how many questions are open, the rest is the message. What approves is a yes of the table above, alone or
/// with one code; everything else in it is spacing, quoting or closing punctuation.
pub fn reply(data: &[u8]) -> Result<(), Broken> {
    let (count, message) = data
        .split_first()
        .map_or((0, data), |(count, rest)| (u64::from(count % 4), rest));
    let message = text(message);
    let open: Vec<OpenQuestion> = (0..count).map(question).collect();
    let reading = read(&message, &open, &["placet"]);
    must(reading == read(&message, &open, &["placet"]), || {
        format!("{message:?} is read in two ways")
    })?;
    let otherwise = || format!("{message:?} with {count} open was read as {reading:?}");
    match &reading {
        Reading::Choose { code, option_id, .. } => {
            must(open.iter().any(|question| question.code == *code), otherwise)?;
            let approves = option_id == "approve";
            let named = squeezed(&message).contains(&code.as_str().to_lowercase());
            must(!approves || is_yes(&message, YES, Some(*code)), otherwise)?;
            must(!approves || count == 1 || named, otherwise)
        }
        Reading::ChooseAll {
            action: Action::ApproveAndExecute,
            ..
        } => must(is_yes(&message, YES_TO_ALL, None), otherwise),
        Reading::NothingOpen => must(open.is_empty(), otherwise),
        Reading::ChooseAll { .. }
        | Reading::WhichOne { .. }
        | Reading::UnknownCode { .. }
        | Reading::Other { .. }
        | Reading::ToAnother => Ok(()),
    }
}

fn question(number: u64) -> OpenQuestion {
    OpenQuestion {
        // K7QP, and two more far from it.
        code: Code::parse("K7QP")
            .filter(|_| number == 0)
            .unwrap_or_else(|| Code::from_random(number * 123_457)),
        kind: InteractionKind::ToolApproval,
        options: tool_approval_options(
            &Answers::for_approval(),
            if number == 1 {
                Locale::Chinese
            } else {
                Locale::English
            },
        ),
    }
}

fn is_yes(message: &str, table: &[&str], code: Option<Code>) -> bool {
    let said = squeezed(message);
    let without_code = code.map(|code| {
        let code = code.as_str().to_lowercase();
        [
            said.strip_suffix(&code).map(str::to_owned),
            said.strip_prefix(&code).map(str::to_owned),
        ]
    });
    let ways = without_code.into_iter().flatten().flatten().chain([said.clone()]);
    !message.contains(['?', '？', '\0']) && ways.into_iter().any(|said| table.contains(&said.as_str()))
}

/// The letters, digits and symbols of a message without a leading mention, in one spelling.
fn squeezed(message: &str) -> String {
    let message = message.nfkc().collect::<String>().to_lowercase();
    let message = message.trim();
    let message = match message.split_once(char::is_whitespace) {
        Some((mention, rest)) if mention.trim_start_matches('<').starts_with('@') => rest,
        _ => message,
    };
    let dropped = |c: char| {
        c.is_whitespace()
            || "*_`\"'“”‘’「」『』.!。~#".contains(c)
            || ('\u{1f3fb}'..='\u{1f3ff}').contains(&c)
    };
    message.chars().filter(|c| !dropped(*c)).collect()
}
