//! The script: what the agent tries, scene by scene, what `--yes` answers, and what is said when a person decides otherwise.

use placet_core::interaction::Locale;
use placet_core::messages::{Message, demo};
use placet_core::outcome::Outcome;
use placet_engine::Finished;
use serde_json::{Value, json};

/// One thing the agent tries.
pub(super) struct Scene {
    /// The call's id.
    pub(super) id: &'static str,
    pub(super) tool: &'static str,
    /// The agent's process is killed while this one waits.
    pub(super) killed: bool,
    pub(super) title: fn() -> Message,
    pub(super) advice: fn() -> Message,
    args: fn() -> Value,
    answer: fn() -> ScriptedAnswer,
}

/// What the script says to a question.
pub(super) struct ScriptedAnswer {
    pub(super) option: &'static str,
    pub(super) feedback: Option<Message>,
    pub(super) edited: Option<Value>,
}

impl Scene {
    pub(super) fn args(&self) -> Value {
        (self.args)()
    }

    pub(super) fn answer(&self) -> ScriptedAnswer {
        (self.answer)()
    }
}

impl ScriptedAnswer {
    /// What is said, as a person would read it: the answer, what it was changed to, and why.
    pub(super) fn line(&self, label: &str, locale: Locale) -> String {
        let message = match (&self.edited, &self.feedback) {
            (Some(edited), _) => demo::scripted_edited(edited, label),
            (None, Some(feedback)) => demo::scripted_because(feedback.say(locale), label),
            (None, None) => demo::scripted(label),
        };
        message.say(locale)
    }
}

/// Everything the agent tries, in order.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        id: "read_notes",
        tool: "read",
        killed: false,
        title: demo::read_notes_title,
        advice: demo::read_notes_advice,
        args: || json!({ "path": "notes.txt" }),
        answer: approve,
    },
    Scene {
        id: "raise_timeout",
        tool: "write",
        killed: false,
        title: demo::raise_timeout_title,
        advice: demo::raise_timeout_advice,
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
        title: demo::tidy_up_title,
        advice: demo::tidy_up_advice,
        args: || json!({ "command": "ls -l && rm -rf archive" }),
        answer: || ScriptedAnswer {
            option: "reject",
            feedback: Some(demo::tidy_up_feedback()),
            edited: None,
        },
    },
    Scene {
        id: "remove_cancelled",
        tool: "sql_query",
        killed: false,
        title: demo::remove_cancelled_title,
        advice: demo::remove_cancelled_advice,
        args: || json!({ "sql": "DELETE FROM orders WHERE status = 'cancelled'" }),
        answer: approve,
    },
    Scene {
        id: "set_version",
        tool: "bash",
        killed: false,
        title: demo::set_version_title,
        advice: demo::set_version_advice,
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
        title: demo::publish_title,
        advice: demo::publish_advice,
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

/// What there is to say when a person decides otherwise than the advice of the scene.
pub(super) fn comment(scene: &Scene, finished: &Finished) -> Option<Message> {
    let advised = scene.answer();
    let edited = match finished {
        Finished::NotRun(Outcome::Rejected { .. }) if advised.option == "reject" => return None,
        Finished::NotRun(Outcome::Rejected { .. }) => return Some(demo::off_rejected()),
        Finished::NotRun(Outcome::Terminated { .. }) => return Some(demo::off_ended()),
        Finished::NotRun(_) => return Some(demo::off_other()),
        Finished::Ran { outcome, .. } => matches!(outcome, Outcome::Approved { edited: Some(_), .. }),
    };
    match (advised.option, advised.edited.is_some(), edited) {
        ("reject", _, _) => Some(demo::off_approved()),
        (_, true, false) => Some(demo::off_unedited()),
        (_, false, true) => Some(demo::off_edited()),
        (_, true, true) | (_, false, false) => None,
    }
}
