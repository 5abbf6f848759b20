//! What inspection costs, in allocations: they do not depend on the machine.

use placet_core::analysis::{Analysis, FixedPlaces};
use placet_core::tool::SqlAccess;
use placet_inspect::{shell, sql};

/// The line that `bench/` measures.
const LINE: &str = "cd api && git fetch origin main 2>/dev/null && \
    cargo build --release --locked 2>&1 | tee build.log | grep -E '^(warning|error)' | sort | uniq -c | head -20 && \
    cp target/release/api \"dist/api-$(git rev-parse HEAD)\" || exit 1";

fn allocations(line: &str) -> u64 {
    let places = FixedPlaces::of_examples();
    let inspect = || {
        let mut found = Analysis::nothing();
        shell::analyse(line, &places, &mut found);
        found
    };
    // The first time the records are read.
    drop(inspect());
    allocation_counter::measure(|| drop(inspect())).count_total
}

#[test]
fn the_line_of_the_bench_takes_at_most_200_allocations() {
    assert_eq!(LINE.len(), 223);
    let count = allocations(LINE);
    assert!(count <= 200, "{count}");
}

#[test]
fn a_short_line_takes_few() {
    for (line, most) in [("ls -la", 24), ("git status", 32)] {
        let count = allocations(line);
        assert!(count <= most, "{line}: {count}");
    }
}

#[test]
fn a_long_select_costs_in_proportion() {
    let count = |items: usize| {
        let items: Vec<String> = (0..items).map(|n| format!("t.col{n} = {n}")).collect();
        let text = format!("SELECT {} FROM t", items.join(", "));
        let inspect = || {
            let mut found = Analysis::nothing();
            sql::analyse(&text, None, SqlAccess::Unrestricted, &mut found);
            found
        };
        drop(inspect());
        allocation_counter::measure(|| drop(inspect())).count_total
    };
    let (few, many) = (count(30), count(300));
    assert!(many <= 10 * few, "{few} for 30 items, {many} for 300");
}
