//! The script: what the agent tries, scene by scene, in two languages; and what `--yes` answers.

use std::path::Path;

use placet_core::interaction::Locale;
use serde_json::{Value, json};

use super::stage::Stage;

/// One thing the agent tries.
pub(super) struct Scene {
    /// The call's id.
    pub(super) id: &'static str,
    pub(super) tool: &'static str,
    /// The agent's process is killed while this one waits.
    pub(super) killed: bool,
    title: [&'static str; 2],
    advice: [&'static str; 2],
    args: fn() -> Value,
    answer: fn() -> ScriptedAnswer,
}

/// What the script says to a question.
pub(super) struct ScriptedAnswer {
    pub(super) option: &'static str,
    feedback: Option<[&'static str; 2]>,
    pub(super) edited: Option<Value>,
}

impl Scene {
    pub(super) fn title(&self, locale: Locale) -> &'static str {
        pick(self.title, locale)
    }

    pub(super) fn advice(&self, locale: Locale) -> &'static str {
        pick(self.advice, locale)
    }

    pub(super) fn args(&self) -> Value {
        (self.args)()
    }

    pub(super) fn answer(&self) -> ScriptedAnswer {
        (self.answer)()
    }
}

impl ScriptedAnswer {
    pub(super) fn feedback(&self, locale: Locale) -> Option<&'static str> {
        self.feedback.map(|feedback| pick(feedback, locale))
    }

    /// What is said, as a person would read it: the answer, what it was changed to, and why.
    pub(super) fn line(&self, label: &str, locale: Locale) -> String {
        let mut line = format!("> {label}");
        if let Some(edited) = &self.edited {
            line.push_str(locale.pick(", changed to ", "，参数改为 "));
            line.push_str(&edited.to_string());
        }
        if let Some(feedback) = self.feedback(locale) {
            line.push_str(locale.pick(": ", "："));
            line.push_str(feedback);
        }
        line
    }
}

/// Everything the agent tries, in order.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        id: "read_notes",
        tool: "read",
        killed: false,
        title: ["The agent reads its notes", "智能体读取笔记"],
        advice: [
            "Reading is harmless: policy allows it, and nobody is asked.",
            "读取无害：策略直接放行，不会问任何人。",
        ],
        args: || json!({ "path": "notes.txt" }),
        answer: approve,
    },
    Scene {
        id: "raise_timeout",
        tool: "write",
        killed: false,
        title: ["The agent edits a file", "智能体修改文件"],
        advice: ["Look at the diff, and approve it.", "看一下改动，然后批准。"],
        args: || {
            json!({
                "path": "shop.toml",
                "content": "name = \"Tea and Books\"\ntimeout = 90\ncurrency = \"EUR\"\n",
            })
        },
        answer: approve,
    },
    Scene {
        id: "tidy_up",
        tool: "bash",
        killed: false,
        title: ["The agent wants to tidy up", "智能体想清理文件"],
        advice: [
            "This would delete the archive: HIGH risk. Reject it, and say why.",
            "这会删除归档目录：高风险。请拒绝并写明原因。",
        ],
        args: || json!({ "command": "ls -l && rm -rf archive" }),
        answer: || ScriptedAnswer {
            option: "reject",
            feedback: Some(["the archive is needed for the audit", "审计还需要这些归档"]),
            edited: None,
        },
    },
    Scene {
        id: "remove_cancelled",
        tool: "sql_query",
        killed: false,
        title: ["The agent deletes rows", "智能体删除数据"],
        advice: [
            "The question says how many rows the DELETE would touch. Approve it.",
            "问题里写明了 DELETE 会影响多少行。请批准。",
        ],
        args: || json!({ "sql": "DELETE FROM orders WHERE status = 'cancelled'" }),
        answer: approve,
    },
    Scene {
        id: "set_version",
        tool: "bash",
        killed: false,
        title: ["The agent picks the wrong version", "智能体写错了版本号"],
        advice: [
            "The notes say 1.1. Choose to edit, change 1.0 to 1.1, and approve: exactly what you wrote will run.",
            "笔记里写的是 1.1。选择编辑，把 1.0 改成 1.1 再批准：执行的就是你改后的内容。",
        ],
        args: || json!({ "command": "echo 'release 1.0' | tee VERSION" }),
        answer: || ScriptedAnswer {
            option: "approve",
            feedback: None,
            edited: Some(json!({ "command": "echo 'release 1.1' | tee VERSION" })),
        },
    },
    Scene {
        id: "publish",
        tool: "bash",
        killed: true,
        title: [
            "The agent is killed while you think",
            "在你考虑时，智能体被强行终止",
        ],
        advice: [
            "A second process asks, and is killed (SIGKILL) while its question is open.",
            "第二个进程提出问题，在等待答复时被 SIGKILL 杀死。",
        ],
        args: || json!({ "command": "cp VERSION published.txt && cat published.txt" }),
        answer: approve,
    },
];

fn approve() -> ScriptedAnswer {
    ScriptedAnswer {
        option: "approve",
        feedback: None,
        edited: None,
    }
}

pub(super) fn welcome(locale: Locale, stage: &Stage) -> String {
    let (work, store) = (stage.work().display(), stage.store().display());
    match locale {
        Locale::English => format!(
            "Placet demo: a scripted agent (no model, no network) works in {work}.\n\
             Files, shell and database are real. You decide; nothing runs before you have.\n\
             You can also answer from another terminal: placet inbox --db {store}\n"
        ),
        Locale::Chinese => format!(
            "Placet 演示：一个按脚本行动的智能体（没有模型，不联网）在 {work} 里工作。\n\
             文件、命令行和数据库都是真的。由你决定；在你决定之前什么都不会执行。\n\
             也可以在另一个终端里答复：placet inbox --db {store}\n"
        ),
    }
}

pub(super) fn after_the_kill(locale: Locale, process: u32) -> String {
    match locale {
        Locale::English => {
            format!(
                "Process {process} is dead. Its question was on disk, so here it is again, with the time it had left:\n"
            )
        }
        Locale::Chinese => {
            format!("进程 {process} 已死。它的问题早已写入磁盘，现在原样回来，剩余时间不变：\n")
        }
    }
}

pub(super) fn before_the_proof(locale: Locale) -> String {
    let text = [
        "\nWho allowed what? The journal knows (placet audit list), and its hash chain proves it (placet audit verify):\n\n",
        "\n谁批准了什么？日志里都有（placet audit list），哈希链可以证明（placet audit verify）：\n\n",
    ];
    pick(text, locale).to_owned()
}

pub(super) fn farewell(locale: Locale, kept: Option<&Path>) -> String {
    let next = [
        "\nNext: `placet init` writes a commented placet.toml; `placet check --tool bash --args '{\"command\":\"…\"}'` explains any call.\n",
        "\n接下来：`placet init` 生成带注释的 placet.toml；`placet check --tool bash --args '{\"command\":\"…\"}'` 解释任意调用。\n",
    ];
    let kept = kept.map(|folder| match locale {
        Locale::English => format!("The folder is kept: {}\n", folder.display()),
        Locale::Chinese => format!("目录已保留：{}\n", folder.display()),
    });
    format!("{}{}", pick(next, locale), kept.unwrap_or_default())
}

pub(super) fn ran(locale: Locale) -> &'static str {
    pick(
        ["It ran, once. The agent reads:", "已执行一次。智能体读到："],
        locale,
    )
}

pub(super) fn failed(locale: Locale) -> &'static str {
    pick(
        [
            "It ran and failed. The agent reads:",
            "已执行但失败。智能体读到：",
        ],
        locale,
    )
}

pub(super) fn not_run(locale: Locale) -> &'static str {
    pick(
        ["It did not run. The agent reads:", "没有执行。智能体读到："],
        locale,
    )
}

fn pick([english, chinese]: [&'static str; 2], locale: Locale) -> &'static str {
    match locale {
        Locale::English => english,
        Locale::Chinese => chinese,
    }
}
