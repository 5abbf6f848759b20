//! `placet audit list`: what happened, one line each, newest last.

use std::fmt::Write as _;

use placet_core::interaction::Locale;
use placet_core::render::SafeText;
use placet_engine::chronicle;
use placet_store::{Committed, ReadOnly};

use super::pages;
use super::row::RowJson;
use crate::args::ListArgs;
use crate::exit::Exit;
use crate::output;
use crate::style::{self, paint};

pub(super) fn run(store: &ReadOnly, args: &ListArgs, locale: Locale) -> anyhow::Result<Exit> {
    let wanted = |row: &Committed| {
        args.session
            .as_ref()
            .is_none_or(|session| *session == row.session)
            && args.since.is_none_or(|since| since <= row.at)
            && (args.types.is_empty() || args.types.iter().any(|name| name == row.event.name()))
    };
    let text = store.read(|view| -> anyhow::Result<String> {
        let mut text = String::new();
        for row in pages::newest(view, args.limit, wanted)? {
            if args.json {
                let _ = writeln!(text, "{}", serde_json::to_string(&RowJson::from(&row))?);
                continue;
            }
            let session = SafeText::line(row.session.as_str());
            let _ = writeln!(
                text,
                "{:>6}  {}  {}  {}",
                row.id,
                paint(style::FAINT, row.at),
                paint(style::HEADING, session),
                chronicle::sentence(view, &row.event, locale)
            );
        }
        Ok(text)
    })?;
    if text.is_empty() && !args.json {
        output::warn("no rows match");
    }
    output::print(&text)?;
    Ok(Exit::Success)
}
