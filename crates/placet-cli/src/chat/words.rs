//! What the conversation says of itself, in English and Chinese.

use placet_core::ids::SessionId;
use placet_core::interaction::Locale;
use placet_core::policy::Mode;
use placet_core::render::SafeText;
use placet_core::run::RunEnd;

use super::command;

pub(super) fn begins_again(why: &str, locale: Locale) -> String {
    let why = SafeText::line(why);
    match locale {
        Locale::English => format!("… the model begins again: {why}"),
        Locale::Chinese => format!("… 模型重新开始：{why}"),
    }
}

pub(super) fn welcome(model: &str, mode: Mode, session: &SessionId, locale: Locale) -> [String; 2] {
    let (model, mode, session) = (
        SafeText::line(model),
        command::name(mode),
        SafeText::line(session.as_str()),
    );
    let how = match locale {
        Locale::English => "/help lists the commands; Ctrl-D leaves",
        Locale::Chinese => "/help 列出命令；Ctrl-D 离开",
    };
    [
        format!("placet chat · {model} · {mode} · {session}"),
        how.to_owned(),
    ]
}

pub(super) fn no_output(locale: Locale) -> &'static str {
    match locale {
        Locale::English => "done",
        Locale::Chinese => "完成",
    }
}

pub(super) fn help(locale: Locale) -> [&'static str; 11] {
    match locale {
        Locale::English => [
            "/mode [default|autoEdit|yolo]  how freely the agent may act in this conversation",
            "/allow [TOOL...]               which tools run unasked in this conversation; add some",
            "/tools                         what the agent can do",
            "/grants [revoke N]             what is not asked about again; take one back",
            "/resume [SESSION]              other conversations of yours; go on with one",
            "/new                           begin another conversation",
            "/exit                          leave; `placet chat --resume` goes on later",
            "Enter sends, Ctrl-J or Alt-Enter breaks the line, ↑ ↓ bring back what you wrote, // begins a message with a slash",
            "Ctrl-C stops what the agent is doing; twice leaves; Ctrl-D leaves",
            "What you write while the agent works is read after its turn. It answers no question.",
            "Questions appear here, and are answered with the keys they show.",
        ],
        Locale::Chinese => [
            "/mode [default|autoEdit|yolo]  智能体在本对话中的自由度",
            "/allow [工具名...]             本对话中免询问的工具；添加工具",
            "/tools                         智能体能做什么",
            "/grants [revoke N]             不再询问的事项；收回其中一项",
            "/resume [SESSION]              你的其他对话；继续其中一个",
            "/new                           开始新的对话",
            "/exit                          离开；之后可用 `placet chat --resume` 继续",
            "回车发送，Ctrl-J 或 Alt-回车换行，↑ ↓ 找回写过的内容，以 // 开头可发送以斜杠开头的消息",
            "Ctrl-C 停止智能体正在做的事；按两次离开；Ctrl-D 离开",
            "智能体工作时你写的内容会在这一轮之后读取，不会当作任何问题的回答。",
            "问题会显示在这里，用它显示的按键回答。",
        ],
    }
}

pub(super) fn working(locale: Locale) -> &'static str {
    match locale {
        Locale::English => "… Ctrl-C stops it",
        Locale::Chinese => "… 按 Ctrl-C 停止",
    }
}

pub(super) fn others_decide(locale: Locale) -> &'static str {
    match locale {
        Locale::English => "… waits for others to decide; what you write is queued and read after the turn",
        Locale::Chinese => "… 正在等待他人决定；你写的内容会排队，在这一轮之后读取",
    }
}

pub(super) fn queued(locale: Locale, waits: bool) -> &'static str {
    match (locale, waits) {
        (Locale::English, false) => "queued: the agent reads it after its turn",
        (Locale::English, true) => "queued: a question is open elsewhere, and this does not answer it",
        (Locale::Chinese, false) => "已排队：智能体在这一轮之后读取",
        (Locale::Chinese, true) => "已排队：有问题正在别处等待回答，这条消息不是对它的回答",
    }
}

pub(super) fn again_to_leave(locale: Locale) -> &'static str {
    match locale {
        Locale::English => "Ctrl-C again leaves",
        Locale::Chinese => "再按一次 Ctrl-C 离开",
    }
}

pub(super) fn ended(how: &RunEnd, locale: Locale) -> Option<String> {
    let text = match (locale, how) {
        (_, RunEnd::Completed) => return None,
        (Locale::English, RunEnd::Interrupted { .. }) => "Stopped. What do you want instead?".to_owned(),
        (Locale::Chinese, RunEnd::Interrupted { .. }) => "已停止。你想改做什么？".to_owned(),
        (Locale::Chinese, RunEnd::Terminated { by }) => format!("任务被 {by} 终止"),
        (Locale::Chinese, RunEnd::Failed { why }) => format!("任务失败：{why}"),
        (Locale::Chinese, RunEnd::LimitReached { turns }) => {
            format!("模型已发言 {turns} 轮，达到上限，任务停止")
        }
        (Locale::Chinese, RunEnd::TimedOut) => "任务时间已用完，已停止".to_owned(),
        (Locale::English, how) => how.to_string(),
    };
    Some(text)
}

pub(super) fn left(session: &SessionId, locale: Locale) -> String {
    match locale {
        Locale::English => format!("`placet chat --resume {session}` goes on with this conversation.\n"),
        Locale::Chinese => format!("`placet chat --resume {session}` 可继续本次对话。\n"),
    }
}

pub(super) fn mode_is(mode: Mode, locale: Locale) -> String {
    let name = command::name(mode);
    match (locale, mode) {
        (Locale::English, Mode::Default) => format!("{name}: reads are allowed, most else is asked about"),
        (Locale::English, Mode::AutoEdit) => {
            format!("{name}: edits inside the workspace are allowed, commands are asked about")
        }
        (Locale::English, Mode::Yolo) => format!("{name}: everything but HIGH risk is allowed"),
        (Locale::Chinese, Mode::Default) => format!("{name}：读取自动允许，其他大多需要询问"),
        (Locale::Chinese, Mode::AutoEdit) => format!("{name}：自动允许工作区内的编辑，命令需要询问"),
        (Locale::Chinese, Mode::Yolo) => format!("{name}：除高风险外全部自动允许"),
    }
}

pub(super) fn no_grants(locale: Locale) -> &'static str {
    match locale {
        Locale::English => "No standing grant is in force; every question is asked.",
        Locale::Chinese => "没有生效的长期授权；每个问题都会询问。",
    }
}

pub(super) fn no_such_grant(locale: Locale) -> &'static str {
    match locale {
        Locale::English => "There is no grant of that number; /grants lists them.",
        Locale::Chinese => "没有这个编号的授权；/grants 列出所有授权。",
    }
}

pub(super) fn revoked(locale: Locale) -> &'static str {
    match locale {
        Locale::English => "Taken back: from now on you are asked again.",
        Locale::Chinese => "已收回：今后会再次询问你。",
    }
}

pub(super) fn no_others(locale: Locale) -> &'static str {
    match locale {
        Locale::English => "You have no other conversation here.",
        Locale::Chinese => "这里没有你的其他对话。",
    }
}

pub(super) fn not_yours(session: &SessionId, locale: Locale) -> String {
    let session = SafeText::line(session.as_str());
    match locale {
        Locale::English => format!("There is no conversation `{session}` of yours; /resume lists them."),
        Locale::Chinese => format!("没有你的对话 `{session}`；/resume 列出你的对话。"),
    }
}

/// Why a conversation cannot be gone on with here.
pub(super) fn owner_gone(locale: Locale) -> &'static str {
    locale.pick(
        "The placet that did the work has ended; going on without it.",
        "执行工作的 placet 已退出，继续进行。",
    )
}

pub(super) fn this_one(locale: Locale) -> &'static str {
    match locale {
        Locale::English => "(this one)",
        Locale::Chinese => "（当前）",
    }
}

pub(super) fn no_command(usage: &str, locale: Locale) -> String {
    match locale {
        Locale::English => format!("That is no command. Try {usage}"),
        Locale::Chinese => format!("没有这个命令。请试试 {usage}"),
    }
}

pub(super) fn no_mode(typed: &str, locale: Locale) -> String {
    let typed = SafeText::line(typed);
    let [default, auto_edit, yolo] = [Mode::Default, Mode::AutoEdit, Mode::Yolo].map(command::name);
    match locale {
        Locale::English => {
            format!("There is no mode `{typed}`; the modes are `{default}`, `{auto_edit}` and `{yolo}`.")
        }
        Locale::Chinese => {
            format!("没有模式 `{typed}`；可用的模式有 `{default}`、`{auto_edit}` 和 `{yolo}`。")
        }
    }
}

/// What became of a call that did not run. Programs know it by a code.
pub(super) fn outcome(code: &str, locale: Locale) -> Option<&'static str> {
    let (english, chinese) = match code {
        "rejected_by_person" => ("rejected", "已拒绝"),
        "try_again_with_feedback" => ("sent back to think again", "已要求重新考虑"),
        "information_provided" => ("answered", "已回答"),
        "skipped_by_person" => ("skipped", "已跳过"),
        "run_terminated_by_person" => ("the run was ended", "任务已终止"),
        "expired" => ("nobody answered in time", "无人在期限内回答"),
        "cancelled" => ("withdrawn", "已撤回"),
        "denied_by_policy" => ("not allowed by policy", "策略不允许"),
        "nobody_to_ask" => ("there is nobody to ask", "没有人可以询问"),
        "too_many_open_questions" => ("too many questions are open", "待回答的问题过多"),
        "rejected_before" => ("rejected before", "之前已被拒绝"),
        "session_over" => ("the conversation is over", "对话已结束"),
        "not_a_call" => ("not a call that can be made", "不是可以执行的调用"),
        _ => return None,
    };
    Some(locale.pick(english, chinese))
}

pub(super) fn more_lines(lines: usize, locale: Locale) -> String {
    match locale {
        Locale::English if lines == 1 => " (+1 line)".to_owned(),
        Locale::English => format!(" (+{lines} lines)"),
        Locale::Chinese => format!("（另有 {lines} 行）"),
    }
}
