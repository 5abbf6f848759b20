//! `placet audit show`: everything about one question, call or row.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use placet_core::ids::{CallId, InteractionId, SessionId};
use placet_core::interaction::Locale;
use placet_core::listing::{Committed, JournalPage};
use placet_core::render::SafeText;
use placet_core::snapshot::Snapshot;
use placet_engine::audit_text;
use placet_store::Store;
use serde_json::json;

use placet_core::messages::refused;

use super::related::Thread;
use super::row::RowJson;
use super::{pages, words};
use crate::exit::Exit;
use crate::locale;
use crate::output::{self, shortened};
use crate::style::{self, paint};

/// Longer values are shown by their beginning.
const CHARS_MAX: usize = 4000;

pub(super) async fn run(store: &Store, id: &str, json: bool, locale: Locale) -> anyhow::Result<Exit> {
    let rows = find(store, id).await?;
    let text: String = if json {
        let rows: Vec<RowJson<'_>> = rows.iter().map(RowJson::from).collect();
        format!("{}\n", json!({ "id": id, "rows": rows }))
    } else {
        let look = store.look(|stored| Ok(rows.iter().map(|row| page(stored, row, locale)).collect()));
        look.await?
    };
    output::print(&text)?;
    Ok(Exit::Success)
}

async fn find(store: &Store, id: &str) -> anyhow::Result<Vec<Committed>> {
    if let Ok(question) = InteractionId::new(id)
        && let Some(interaction) = store
            .look(|stored| stored.interaction(&question).cloned())
            .await?
    {
        let session = &interaction.asked().session;
        return thread(store, session, Thread::of_question(question)).await;
    }
    let mut rows = Vec::new();
    if let Ok(call) = CallId::new(id) {
        for key in store.look(|stored| stored.calls_named(&call).cloned()).await? {
            let record = store.look(|stored| stored.call(&key).cloned()).await?;
            let record = record.with_context(|| locale::say(&refused::call_missing(id)))?;
            rows.extend(thread(store, &record.call.session, Thread::of_call(key)).await?);
        }
    }
    if rows.is_empty()
        && let Some(number) = id.parse::<u64>().ok().filter(|number| *number > 0)
    {
        let page = JournalPage::of_all(number - 1, 1);
        let row = store.look(|stored| stored.journal(&page).cloned()).await?;
        rows.extend(row.into_iter().filter(|row| row.id == number));
    }
    if rows.is_empty() {
        bail!(locale::error(&refused::no_row(id)));
    }
    Ok(rows)
}

/// All rows of a session that hang together with what `thread` begins with. A row may turn out to belong here only by a
/// later one, so the session is read until nothing new turns up.
async fn thread(store: &Store, session: &SessionId, mut thread: Thread) -> anyhow::Result<Vec<Committed>> {
    loop {
        let known = thread.len();
        let mut rows = Vec::new();
        let mut pages = pages::Forwards::new(store, Some(session)).await?;
        loop {
            let page = pages.next().await?;
            if page.is_empty() {
                break;
            }
            rows.extend(page.into_iter().filter(|row| thread.takes(&row.event)));
        }
        if thread.len() == known {
            return Ok(rows);
        }
    }
}

fn page(stored: &Snapshot, row: &Committed, locale: Locale) -> String {
    let mut text = format!(
        "{} {}  {}\n    {}\n",
        paint(style::HEADING, format_args!("#{}", row.id)),
        paint(style::FAINT, row.at),
        paint(style::HEADING, row.event.name()),
        audit_text::sentence(stored, &row.event, locale)
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
