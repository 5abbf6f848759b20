//! `placet audit list`: what happened, one line each, newest last.

use std::fmt::Write as _;

use placet_core::interaction::Locale;
use placet_core::listing::Committed;
use placet_core::render::SafeText;
use placet_core::snapshot::Snapshot;
use placet_engine::audit_text;
use placet_store::Store;

use super::pages;
use super::row::RowJson;
use crate::args::ListArgs;
use crate::exit::Exit;
use crate::output;
use crate::style::{self, paint};

pub(super) async fn run(store: &Store, args: &ListArgs, locale: Locale) -> anyhow::Result<Exit> {
    let wanted = |row: &Committed| {
        args.session
            .as_ref()
            .is_none_or(|session| *session == row.session)
            && args.since.is_none_or(|since| since <= row.at)
            && (args.types.is_empty() || args.types.iter().any(|name| name == row.event.name()))
    };
    let rows = pages::newest(store, args.limit, wanted).await?;
    let text = if args.json {
        let mut text = String::new();
        for row in &rows {
            let _ = writeln!(text, "{}", serde_json::to_string(&RowJson::from(row))?);
        }
        text
    } else {
        let look = store.look(|stored| Ok(rows.iter().map(|row| line(stored, row, locale)).collect()));
        look.await?
    };
    if text.is_empty() && !args.json {
        output::warn("no rows match");
    }
    output::print(&text)?;
    Ok(Exit::Success)
}

fn line(stored: &Snapshot, row: &Committed, locale: Locale) -> String {
    format!(
        "{:>6}  {}  {}  {}\n",
        row.id,
        paint(style::FAINT, row.at),
        paint(style::HEADING, SafeText::line(row.session.as_str())),
        audit_text::sentence(stored, &row.event, locale)
    )
}
