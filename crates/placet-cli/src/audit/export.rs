//! `placet audit export`: the journal as JSON lines or CSV, in bounded memory, all or nothing.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use placet_core::interaction::Locale;
use placet_engine::chronicle;
use placet_store::{Committed, ReadOnly, View};
use tempfile::NamedTempFile;

use super::row::RowJson;
use super::{pages, related};
use crate::args::{ExportArgs, Format};
use crate::exit::Exit;
use crate::output;

pub(super) fn run(store: &ReadOnly, args: &ExportArgs) -> anyhow::Result<Exit> {
    match &args.output {
        None => export(store, args, &mut BufWriter::new(io::stdout().lock()))?,
        Some(path) => to_file(store, args, path)?,
    }
    Ok(Exit::Success)
}

/// Writes beside the file and puts it in place at the end, so that nobody ever sees half an export.
fn to_file(store: &ReadOnly, args: &ExportArgs, path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    if !args.force && std::fs::symlink_metadata(path).is_ok() {
        bail!("`{shown}` exists already; name another file, or replace it with --force");
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let cannot = || format!("`{shown}` cannot be written");
    let file = NamedTempFile::new_in(folder).map_err(output::without_temporary_name);
    let mut file = BufWriter::new(file.with_context(cannot)?);
    export(store, args, &mut file)?;
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

fn export(store: &ReadOnly, args: &ExportArgs, out: &mut impl Write) -> anyhow::Result<()> {
    store.read(|view| match args.format {
        Format::Jsonl => each_row(view, args, |row| {
            Ok(writeln!(out, "{}", serde_json::to_string(&RowJson::from(row))?)?)
        }),
        Format::Csv => {
            let mut table = csv::Writer::from_writer(&mut *out);
            table.write_record(COLUMNS)?;
            each_row(view, args, |row| Ok(table.write_record(&record(view, row)?)?))?;
            Ok(table.flush()?)
        }
    })?;
    Ok(out.flush()?)
}

fn each_row(
    view: &View<'_>,
    args: &ExportArgs,
    mut write: impl FnMut(&Committed) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    pages::forwards(view, args.session.as_ref(), |row| {
        let wanted =
            args.since.is_none_or(|since| since <= row.at) && args.until.is_none_or(|until| row.at < until);
        if wanted { write(&row) } else { Ok(()) }
    })
}

const COLUMNS: [&str; 11] = [
    "id", "at", "session", "seq", "type", "calls", "question", "by", "summary", "hash", "event",
];

fn record(view: &View<'_>, row: &Committed) -> anyhow::Result<Vec<String>> {
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
        chronicle::sentence(view, &row.event, Locale::English).to_string(),
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
