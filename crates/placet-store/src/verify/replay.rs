//! The second pass: the projections, built again from the journal and compared.
//!
//! The projections are built by the same code that built them the first time, into temporary tables of the same names:
//! SQLite looks for an unqualified name among temporary tables first. The caller's rollback removes them.

use std::collections::HashSet;

use placet_core::ids::SessionId;
use placet_core::journal::{Event, genesis};
use rusqlite::{Connection, params};

use super::{FindingKind, Findings};
use crate::error::StoreError;
use crate::project::{self, At};
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

const PROJECTIONS: [Projection; 13] = [
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
    whole("allow_list"),
    whole("rejected"),
    whole("standing"),
    whole("runs"),
    whole("members"),
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
    make_tables(conn)?;
    if let Err((row, error)) = replay(conn)? {
        let sentence = format!("row {row} cannot follow from the rows before it: {error}");
        findings.add(FindingKind::ProjectionDiffers, Some(row), sentence);
        return Ok(());
    }
    for projection in &PROJECTIONS {
        let Projection { table, columns, .. } = projection;
        let stored = format!("SELECT {columns} FROM main.{table} EXCEPT SELECT {columns} FROM temp.{table}");
        differences(conn, table, &stored, "holds what no event put there", findings)?;
        if projection.may_shrink == MayShrink::No {
            let built =
                format!("SELECT {columns} FROM temp.{table} EXCEPT SELECT {columns} FROM main.{table}");
            differences(conn, table, &built, "lacks what an event put there", findings)?;
        }
    }
    Ok(())
}

fn make_tables(conn: &Connection) -> Result<(), StoreError> {
    let sql = "SELECT sql FROM main.sqlite_schema WHERE tbl_name = ?1 AND sql IS NOT NULL ORDER BY type DESC";
    let mut statement = conn.prepare(sql)?;
    for projection in &PROJECTIONS {
        let definitions = statement
            .query_map([projection.table], |row| row.get(0))?
            .collect::<Result<Vec<String>, _>>()?;
        for definition in definitions {
            let temporary = definition
                .replacen("CREATE TABLE ", "CREATE TEMP TABLE ", 1)
                .replacen("CREATE INDEX ", "CREATE INDEX temp.", 1)
                .replacen("CREATE UNIQUE INDEX ", "CREATE UNIQUE INDEX temp.", 1);
            conn.execute_batch(&temporary)?;
        }
    }
    Ok(())
}

/// Applies every event. The inner error is about the journal, with the row it was found at; the outer about reading it.
fn replay(conn: &Connection) -> Result<Result<(), (u64, StoreError)>, StoreError> {
    let sql = "SELECT journal.id, journal.session, name, at, body FROM journal
               JOIN main.sessions AS named ON named.id = journal.session ORDER BY journal.id";
    let mut statement = conn.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut known = HashSet::new();
    while let Some(found) = rows.next()? {
        let (row, session): (u64, u64) = (found.get(0)?, found.get(1)?);
        let name = SessionId::new(found.get::<_, String>(2)?)
            .map_err(|error| StoreError::corrupt(error.to_string()))?;
        if known.insert(session) {
            conn.prepare_cached(
                "INSERT INTO sessions (id, name, head_seq, head_hash) VALUES (?1, ?2, 0, ?3)",
            )?
            .execute(params![session, name.as_str(), genesis().as_bytes()])?;
        }
        let event: Event = parse_body(found, 4, row)?;
        let at = At {
            row,
            session,
            name: &name,
            wall: found.get(3)?,
        };
        if let Err(error) = project::apply(conn, at, &event) {
            return Ok(Err((row, error)));
        }
    }
    Ok(Ok(()))
}

fn differences(
    conn: &Connection,
    table: &str,
    sql: &str,
    what: &str,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let mut statement = conn.prepare(&format!("{sql} LIMIT {DIFFERENCES_MAX}"))?;
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
