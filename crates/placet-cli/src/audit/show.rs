//! `placet audit show`: everything about one question, call or row.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use placet_core::ids::{CallId, InteractionId, SessionId};
use placet_core::interaction::Locale;
use placet_core::render::SafeText;
use placet_engine::chronicle;
use placet_store::{Committed, ReadOnly, View};
use serde_json::json;

use super::related::Thread;
use super::row::RowJson;
use super::{pages, words};
use crate::exit::Exit;
use crate::output::{self, shortened};
use crate::style::{self, paint};

/// Longer values are shown by their beginning.
const CHARS_MAX: usize = 4000;

pub(super) fn run(store: &ReadOnly, id: &str, json: bool, locale: Locale) -> anyhow::Result<Exit> {
    let text = store.read(|view| -> anyhow::Result<String> {
        let rows = find(store, view, id)?;
        if json {
            let rows: Vec<RowJson<'_>> = rows.iter().map(RowJson::from).collect();
            return Ok(format!("{}\n", json!({ "id": id, "rows": rows })));
        }
        Ok(rows.iter().map(|row| page(view, row, locale)).collect())
    })?;
    output::print(&text)?;
    Ok(Exit::Success)
}

fn find(store: &ReadOnly, view: &View<'_>, id: &str) -> anyhow::Result<Vec<Committed>> {
    if let Some(interaction) = InteractionId::new(id)
        .ok()
        .map(|id| view.interaction(&id))
        .transpose()?
        .flatten()
    {
        let asked = interaction.asked();
        return thread(view, &asked.session, Thread::of_question(asked.id.clone()));
    }
    let keys = CallId::new(id)
        .ok()
        .map(|id| store.calls_named(&id))
        .transpose()?
        .unwrap_or_default();
    let mut rows = Vec::new();
    for key in keys {
        let record = view
            .call(&key)?
            .with_context(|| format!("the call `{id}` is not in the journal"))?;
        rows.extend(thread(view, &record.call.session, Thread::of_call(key))?);
    }
    if rows.is_empty() {
        let number: Option<u64> = id.parse().ok().filter(|number| *number > 0);
        let row = number
            .map(|number| view.journal(number - 1, 1, None))
            .transpose()?
            .unwrap_or_default();
        rows.extend(row.into_iter().filter(|row| Some(row.id) == number));
    }
    if rows.is_empty() {
        bail!("there is no question, call or row `{id}`; `placet audit list` shows what there is");
    }
    Ok(rows)
}

/// All rows of a session that hang together with what `thread` begins with. A row may turn out to belong here only by a
/// later one, so the session is read until nothing new turns up.
fn thread(view: &View<'_>, session: &SessionId, mut thread: Thread) -> anyhow::Result<Vec<Committed>> {
    loop {
        let known = thread.len();
        let mut rows = Vec::new();
        pages::forwards(view, Some(session), |row| {
            if thread.takes(&row.event) {
                rows.push(row);
            }
            Ok(())
        })?;
        if thread.len() == known {
            return Ok(rows);
        }
    }
}

fn page(view: &View<'_>, row: &Committed, locale: Locale) -> String {
    let mut text = format!(
        "{} {}  {}\n    {}\n",
        paint(style::HEADING, format_args!("#{}", row.id)),
        paint(style::FAINT, row.at),
        paint(style::HEADING, row.event.name()),
        chronicle::sentence(view, &row.event, locale)
    );
    let session = SafeText::line(row.session.as_str());
    let (seq, hash) = (row.seq, row.hash);
    let _ = writeln!(
        text,
        "    {}",
        paint(
            style::FAINT,
            format_args!("session {session}, row {seq} of it, hash {hash}")
        )
    );
    for (name, value) in words::details(&row.event) {
        let _ = writeln!(
            text,
            "    {} {}",
            paint(style::FAINT, format_args!("{name}:")),
            shortened(value.as_str(), CHARS_MAX)
        );
    }
    text.push('\n');
    text
}
