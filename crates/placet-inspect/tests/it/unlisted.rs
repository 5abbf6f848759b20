//! A property over every record: what its program's record does not list makes a line neither LOW nor covered by a wildcard.

use std::sync::LazyLock;

use proptest::prelude::*;

use placet_core::policy::Policy;
use placet_core::tool::Risk;
use placet_core::verdict::Decision;

use crate::support::{line as verdict, load, policy};

const RECORDS: &str = include_str!("../../src/programs.toml");

/// [`harmless_lines`], read once.
static LINES: LazyLock<Vec<String>> = LazyLock::new(harmless_lines);

/// The example lines of every record that only read.
fn harmless_lines() -> Vec<String> {
    fn collect(value: &toml::Value, lines: &mut Vec<String>) {
        let Some(table) = value.as_table() else { return };
        // `echo` and its like list every word: each is a text, also one that looks like an option.
        if table.get("args").and_then(toml::Value::as_str) == Some("words") {
            return;
        }
        for (key, value) in table {
            match value.as_array().filter(|_| key == "low") {
                Some(examples) => lines.extend(
                    examples
                        .iter()
                        .filter_map(|line| line.as_str())
                        .map(str::to_owned),
                ),
                None => collect(value, lines),
            }
        }
    }
    let mut lines = Vec::new();
    collect(&toml::from_str(RECORDS).unwrap(), &mut lines);
    lines
}

/// A rule that allows everything that may be said about the program of `line` with a wildcard, where such a rule can be written.
fn allowing(line: &str) -> Option<Policy> {
    let program = line.split_whitespace().next()?;
    let text = format!("[[rules]]\nname='all of it'\ntool='bash'\ncommand='{program} *'\neffect='allow'\n");
    Some(load(&text).ok()?.policy)
}

/// Ways to add something to a line that no record lists.
fn unlisted(line: &str, way: usize, name: &str) -> String {
    let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
    let upper = name.to_ascii_uppercase();
    match way {
        0 => format!("{program} --{name} {rest}"),
        1 => format!("{program} --{name}=x {rest}"),
        2 => format!("{upper}=1 {line}"),
        3 => format!("env {upper}=1 {line}"),
        4 => format!("{line} > {name}"),
        5 => format!("{program} ${name} {rest}"),
        6 => format!("{program} $({name}) {rest}"),
        7 => format!("xargs {line}"),
        8 => format!("./{line}"),
        _ => format!("{name} {line}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_line_with_anything_outside_the_records_is_not_low_and_no_wildcard_covers_it(
        nth in any::<prop::sample::Index>(),
        way in 0_usize..10,
        name in "zq[a-z]{4,10}",
    ) {
        let line = nth.get(&LINES);
        let odd = unlisted(line, way, &name);
        let plain = verdict(&policy(""), &odd);
        prop_assert!(plain.risk > Risk::Low, "{odd}: {plain:?}");
        prop_assert!(plain.decision != Decision::Allow, "{odd}: {plain:?}");
        if let Some(rules) = allowing(line) {
            let covered = verdict(&rules, &odd);
            prop_assert!(covered.decision != Decision::Allow, "{odd}: {covered:?}");
        }
    }
}
