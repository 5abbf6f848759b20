//! `placet audit export`: the journal as JSON lines or CSV, in bounded memory, all or nothing.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use placet_core::interaction::Locale;
use placet_core::listing::Committed;
use placet_core::snapshot::Snapshot;
use placet_engine::audit_text;
use placet_store::Store;
use tempfile::NamedTempFile;

use placet_core::messages::{cannot, refused};

use super::row::RowJson;
use super::{pages, related};
use crate::args::{ExportArgs, Format};
use crate::exit::Exit;
use crate::{locale, output};

pub(super) async fn run(store: &Store, args: &ExportArgs) -> anyhow::Result<Exit> {
    match &args.output {
        None => export(store, args, &mut BufWriter::new(io::stdout())).await?,
        Some(path) => to_file(store, args, path).await?,
    }
    Ok(Exit::Success)
}

/// Writes beside the file and puts it in place at the end, so that half an export is never visible.
async fn to_file(store: &Store, args: &ExportArgs, path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    if !args.force && std::fs::symlink_metadata(path).is_ok() {
        bail!(locale::error(&refused::exists(&shown)));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let cannot = || locale::say(&cannot::write(&shown));
    let file = NamedTempFile::new_in(folder).map_err(output::without_temporary_name);
    let mut file = BufWriter::new(file.with_context(cannot)?);
    export(store, args, &mut file).await?;
    let file = file
        .into_inner()
        .map_err(io::IntoInnerError::into_error)
        .with_context(cannot)?;
    file.as_file().sync_all().with_context(cannot)?;
    let put = if args.force {
        file.persist(path)
    } else {
        file.persist_noclobber(path)
    };
    put.map_err(|error| error.error).with_context(cannot)?;
    Ok(())
}

async fn export(store: &Store, args: &ExportArgs, out: &mut impl Write) -> anyhow::Result<()> {
    if let Format::Csv = args.format {
        out.write_all(&table([COLUMNS])?)?;
    }
    let mut pages = pages::Forwards::new(store, args.session.as_ref()).await?;
    loop {
        let page = pages.next().await?;
        if page.is_empty() {
            return Ok(out.flush()?);
        }
        let wanted = |row: &&Committed| {
            args.since.is_none_or(|since| since <= row.at) && args.until.is_none_or(|until| row.at < until)
        };
        let rows = || page.iter().filter(wanted);
        match args.format {
            Format::Jsonl => {
                for row in rows() {
                    writeln!(out, "{}", serde_json::to_string(&RowJson::from(row))?)?;
                }
            }
            Format::Csv => {
                let look = store.look(|stored| Ok(rows().map(|row| record(stored, row)).collect()));
                let records: anyhow::Result<Vec<_>> = look.await?;
                out.write_all(&table(records?)?)?;
            }
        }
    }
}

/// Records as lines of a table.
fn table<R: IntoIterator<Item: AsRef<[u8]>>>(
    records: impl IntoIterator<Item = R>,
) -> anyhow::Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for record in records {
        table.write_record(record)?;
    }
    Ok(table.into_inner()?)
}

const COLUMNS: [&str; 12] = [
    "id", "at", "session", "seq", "type", "calls", "question", "by", "summary", "edited", "hash", "event",
];

fn record(stored: &Snapshot, row: &Committed) -> anyhow::Result<Vec<String>> {
    let calls = related::calls(&row.event);
    let calls: Vec<&str> = calls.iter().map(|key| key.call.as_str()).collect();
    let question = related::question(&row.event).map_or("", |id| id.as_str());
    let texts = [
        row.id.to_string(),
        row.at.to_string(),
        row.session.to_string(),
        row.seq.to_string(),
        row.event.name().to_owned(),
        calls.join(" "),
        question.to_owned(),
        related::people(&row.event),
        audit_text::sentence(stored, &row.event, Locale::English).to_string(),
        audit_text::edited(&row.event).unwrap_or_default(),
        row.hash.to_string(),
        serde_json::to_string(&row.event)?,
    ];
    Ok(texts.into_iter().map(harmless).collect())
}

/// A spreadsheet takes a cell that begins like this for a formula, and an agent may have chosen the text.
fn harmless(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{cell}")
    } else {
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_never_a_formula() {
        for (cell, safe) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("ls", "ls"),
        ] {
            assert_eq!(harmless(cell.to_owned()), safe);
        }
    }
}
