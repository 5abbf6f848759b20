//! Sentences of the conversation that depend on more than one value.

use placet_core::ids::SessionId;
use placet_core::interaction::Locale;
use placet_core::messages::{Explain as _, Message, not_run, talk};
use placet_core::policy::Mode;
use placet_core::render::SafeText;
use placet_core::run::RunEnd;

use super::command;

pub(super) fn welcome(model: &str, mode: Mode, session: &SessionId, locale: Locale) -> [String; 2] {
    let (model, mode, session) = (
        SafeText::line(model),
        command::name(mode),
        SafeText::line(session.as_str()),
    );
    [
        format!("placet chat · {model} · {mode} · {session}"),
        talk::how().say(locale),
    ]
}

pub(super) fn help(locale: Locale) -> String {
    let lines = [
        talk::help_mode(),
        talk::help_allow(),
        talk::help_tools(),
        talk::help_grants(),
        talk::help_resume(),
        talk::help_new(),
        talk::help_exit(),
        talk::help_keys(),
        talk::help_stop(),
        talk::help_queue(),
        talk::help_requests(),
    ];
    lines.map(|line| line.say(locale)).join("\n")
}

/// What is said when a run ends; nothing when it is complete.
pub(super) fn ended(how: &RunEnd) -> Option<Message> {
    match how {
        RunEnd::Completed => None,
        RunEnd::Interrupted { .. } => Some(talk::stopped()),
        RunEnd::Terminated { .. }
        | RunEnd::Failed { .. }
        | RunEnd::LimitReached { .. }
        | RunEnd::TimedOut => Some(how.message()),
    }
}

pub(super) fn mode_is(mode: Mode) -> Message {
    let name = command::name(mode);
    match mode {
        Mode::Default => talk::mode_default(name),
        Mode::AutoEdit => talk::mode_auto_edit(name),
        Mode::Yolo => talk::mode_yolo(name),
    }
}

pub(super) fn no_mode(typed: &str) -> Message {
    let modes = [Mode::Default, Mode::AutoEdit, Mode::Yolo].map(|mode| format!("`{}`", command::name(mode)));
    talk::no_mode(modes, SafeText::line(typed))
}

/// What became of a call that did not run. Programs know it by a code.
pub(super) fn outcome(code: &str) -> Option<Message> {
    Some(match code {
        "rejected_by_person" => not_run::rejected_by_person(),
        "try_again_with_feedback" => not_run::try_again_with_feedback(),
        "information_provided" => not_run::information_provided(),
        "skipped_by_person" => not_run::skipped_by_person(),
        "run_terminated_by_person" => not_run::run_terminated_by_person(),
        "expired" => not_run::expired(),
        "cancelled" => not_run::cancelled(),
        "denied_by_policy" => not_run::denied_by_policy(),
        "nobody_to_ask" => not_run::nobody_to_ask(),
        "too_many_open_questions" => not_run::too_many_open_questions(),
        "rejected_before" => not_run::rejected_before(),
        "session_over" => not_run::session_over(),
        "not_a_call" => not_run::not_a_call(),
        _ => return None,
    })
}
