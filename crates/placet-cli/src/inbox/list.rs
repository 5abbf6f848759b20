//! `placet inbox list`: the pending requests, one line each.

use std::fmt::Write as _;

use placet_core::messages;
use placet_core::render::SafeText;

use super::{Inbox, waiting};
use crate::args::InboxListArgs;
use crate::exit::Exit;
use crate::output;
use crate::style::{self, paint};

pub(super) fn run(inbox: &Inbox, args: &InboxListArgs) -> anyhow::Result<Exit> {
    let found = inbox
        .runtime
        .block_on(waiting::all(&inbox.client, inbox.locale))?;
    if let Some(warning) = found.warning(inbox.locale) {
        output::warn(&warning);
    }
    let mut found = found.waiting;
    if let Some(session) = &args.session {
        found.retain(|waiting| waiting.session() == session);
    }
    let more = found.len().saturating_sub(args.limit);
    found.truncate(args.limit);
    let mut text = String::new();
    for waiting in &found {
        if args.json {
            let _ = writeln!(text, "{}", waiting.json());
            continue;
        }
        let risk = waiting
            .risk()
            .map_or_else(String::new, |risk| risk.label(inbox.locale));
        let risk = format!("{risk:<6}");
        let _ = writeln!(
            text,
            "{}  {}  {:>8}  {}  {}  {}",
            paint(style::HEADING, waiting.code()),
            paint(waiting.risk().map_or(style::FAINT, style::of_risk), risk),
            waiting.remaining().in_seconds().to_string(),
            waiting.about(),
            waiting.gist,
            paint(
                style::FAINT,
                format_args!(
                    "({}, {})",
                    SafeText::line(waiting.session().as_str()),
                    SafeText::line(waiting.id().as_str())
                )
            ),
        );
    }
    if found.is_empty() && !args.json {
        text = format!("{}\n", messages::inbox::none().say(inbox.locale));
    }
    output::print(&text)?;
    if more > 0 {
        output::warn(&messages::inbox::more(more).say(inbox.locale));
    }
    Ok(Exit::Success)
}
