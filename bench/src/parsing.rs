//! Digests, canonical JSON, and looking into shell lines and SQL.

use anyhow::ensure;
use placet_core::analysis::{Analysis, FixedPlaces};
use placet_core::call::Args;
use placet_core::tool::{SqlAccess, SqlDialect};
use placet_inspect::{shell as shell_lines, sql as statements};

use crate::Plan;
use crate::sample::{Cost, time};
use crate::table::{Row, Table};
use crate::world::{self, SHELL_LINE};

const CTE_DELETE: &str = "WITH stale AS (SELECT o.id FROM orders o JOIN customers c ON c.id = o.customer_id \
    WHERE c.closed_at < now() - interval '90 days' AND o.status IN ('cancelled', 'expired') ORDER BY o.id LIMIT 500) \
    DELETE FROM orders WHERE id IN (SELECT id FROM stale) AND archived = true";
const UPDATE: &str = "UPDATE orders SET status = 'shipped' WHERE id = 42";

fn row(name: &str, cost: &Cost) -> Row {
    Row::new(name, "µs", cost.nanos.scaled(1e-3)).allocations(cost.allocations)
}

pub(crate) fn digest(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    let call = world::call("deploy", world::args(1), 1, "digest")?;
    let text = call.args.canonical();
    table.add(row(
        "read 2 KiB of arguments",
        &time(plan, || Args::parse(text.as_bytes())),
    ));
    table.add(row(
        "canonical JSON, 2 KiB",
        &time(plan, || call.args.canonical()),
    ));
    table.add(row("digest of a call, 2 KiB", &time(plan, || call.digest())));
    Ok(())
}

/// A parser for the bare grammar.
pub(crate) fn grammar() -> anyhow::Result<tree_sitter::Parser> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into())?;
    Ok(parser)
}

pub(crate) fn shell(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    ensure!(SHELL_LINE.len() == 223, "the line has {} bytes", SHELL_LINE.len());
    let places = FixedPlaces::of_examples();
    let cost = time(plan, || {
        let mut found = Analysis::nothing();
        shell_lines::analyse(SHELL_LINE, &places, &mut found);
        found
    });
    table.add(row("shell analysis, 223-byte line", &cost));
    let mut parser = grammar()?;
    // What we give the grammar instead of the line: see `tree.rs` of the shell analysis.
    let listed = SHELL_LINE.replace(" | ", " ; ");
    for (name, text) in [
        ("the bare grammar, 223-byte line", SHELL_LINE),
        ("the bare grammar, its pipes as a list", &listed),
    ] {
        table.add(row(name, &time(plan, || parser.parse(text, None))));
    }
    Ok(())
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every measurement has the same signature"
)]
pub(crate) fn sql(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    for (name, text, dialect) in [
        (
            "SQL analysis, CTE DELETE, PostgreSQL",
            CTE_DELETE,
            Some(SqlDialect::Postgresql),
        ),
        ("SQL analysis, CTE DELETE, any dialect", CTE_DELETE, None),
        (
            "SQL analysis, simple UPDATE, PostgreSQL",
            UPDATE,
            Some(SqlDialect::Postgresql),
        ),
        ("SQL analysis, simple UPDATE, any dialect", UPDATE, None),
    ] {
        let cost = time(plan, || {
            let mut found = Analysis::nothing();
            statements::analyse(text, dialect, SqlAccess::Unrestricted, &mut found);
            found
        });
        table.add(row(name, &cost));
    }
    Ok(())
}
