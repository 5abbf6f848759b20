//! The second pass: the projections, built again from the journal and compared.
//!
//! The projections are built by the same code that built them the first time, into temporary tables of the same names:
//! both databases look for an unqualified name among temporary tables first. The caller's rollback removes them.

use std::collections::HashSet;

use placet_core::ids::SessionId;
use placet_core::journal::{Event, genesis};
use placet_core::time::Shift;

use super::{FindingKind, Findings};
use crate::error::StoreError;
use crate::project::{self, At};
use crate::sql::{Connection, params};
use crate::view::parse_body;

/// A projection, how it is compared, and by which columns.
struct Projection {
    table: &'static str,
    columns: &'static str,
    /// Rows of some tables may go without an event: memory ends, messages are taken.
    may_shrink: MayShrink,
}

#[derive(PartialEq, Eq)]
enum MayShrink {
    Yes,
    No,
}

const fn whole(table: &'static str) -> Projection {
    Projection {
        table,
        columns: "*",
        may_shrink: MayShrink::No,
    }
}

const PROJECTIONS: [Projection; 16] = [
    Projection {
        table: "sessions",
        columns: "id, name, ended, rejections, mode, agent",
        may_shrink: MayShrink::No,
    },
    whole("calls"),
    whole("interactions"),
    whole("pending"),
    whole("asks"),
    whole("progress"),
    whole("deciders"),
    whole("comments"),
    whole("allow_list"),
    whole("rejected"),
    whole("standing"),
    whole("runs"),
    whole("members"),
    whole("outages"),
    Projection {
        table: "memory",
        columns: "*",
        may_shrink: MayShrink::Yes,
    },
    Projection {
        table: "queue",
        columns: "*",
        may_shrink: MayShrink::Yes,
    },
];

/// How many differing rows of one table are reported.
const DIFFERENCES_MAX: u32 = 20;

pub(super) fn check(conn: &Connection, findings: &mut Findings) -> Result<(), StoreError> {
    for projection in &PROJECTIONS {
        conn.hide(projection.table)?;
    }
    let (stays, built) = conn.schemas();
    if let Err((row, error)) = replay(conn)? {
        let sentence = format!("row {row} cannot follow from the rows before it: {error}");
        findings.add(FindingKind::ProjectionDiffers, Some(row), sentence);
        return Ok(());
    }
    for projection in &PROJECTIONS {
        let Projection { table, columns, .. } = projection;
        let stored =
            format!("SELECT {columns} FROM {stays}.{table} EXCEPT SELECT {columns} FROM {built}.{table}");
        differences(conn, table, &stored, "holds what no event put there", findings)?;
        if projection.may_shrink == MayShrink::No {
            let lost =
                format!("SELECT {columns} FROM {built}.{table} EXCEPT SELECT {columns} FROM {stays}.{table}");
            differences(conn, table, &lost, "lacks what an event put there", findings)?;
        }
    }
    Ok(())
}

/// How many rows are read at once.
const PAGE: usize = 512;

/// Applies every event. The inner error is about the journal, with the row it was found at; the outer about reading it.
fn replay(conn: &Connection) -> Result<Result<(), (u64, StoreError)>, StoreError> {
    let mut known = HashSet::new();
    let mut last = 0;
    let mut shift = Shift::NONE;
    loop {
        let before = last;
        if let Err(error) = replay_page(conn, &mut known, &mut last, &mut shift)? {
            return Ok(Err((conn.failed_row().unwrap_or(last), error)));
        }
        if last == before {
            return Ok(Ok(()));
        }
    }
}

/// Applies the events of the rows after `last`, and moves it.
fn replay_page(
    conn: &Connection,
    known: &mut HashSet<u64>,
    last: &mut u64,
    shift: &mut Shift,
) -> Result<Result<(), StoreError>, StoreError> {
    let sql = format!(
        "SELECT journal.id, journal.session, name, at, body FROM journal
         JOIN {}.sessions AS named ON named.id = journal.session
         WHERE journal.id > ?1 ORDER BY journal.id LIMIT ?2",
        conn.schemas().0
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((*last, PAGE))?;
    while let Some(found) = rows.next()? {
        let (row, session): (u64, u64) = (found.get(0)?, found.get(1)?);
        *last = row;
        conn.set_row(row);
        let name = SessionId::new(found.get::<String>(2)?)
            .map_err(|error| StoreError::corrupt(error.to_string()))?;
        if known.insert(session) {
            conn.prepare_cached(
                "INSERT INTO sessions (id, name, head_seq, head_hash) VALUES (?1, ?2, 0, ?3)",
            )?
            .execute(params![session, name.as_str(), genesis().as_bytes()])?;
        }
        let event: Event = parse_body(&found, 4, row)?;
        let at = At {
            row,
            session,
            name: &name,
            wall: found.get(3)?,
            shift: *shift,
        };
        match project::apply(conn, at, &event) {
            Ok(moved) => *shift = moved,
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(conn.flush())
}

fn differences(
    conn: &Connection,
    table: &str,
    sql: &str,
    what: &str,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let mut statement = conn.prepare_cached(&format!("{sql} LIMIT {DIFFERENCES_MAX}"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        // The first column of most projections is the journal row they point at.
        let at: Option<u64> = row.get(0).ok().filter(|_| table != "sessions");
        let sentence = match at {
            Some(at) => format!("the table `{table}` {what} (row {at})"),
            None => format!("the table `{table}` {what}"),
        };
        findings.add(FindingKind::ProjectionDiffers, at, sentence);
    }
    Ok(())
}
