//! The 175 ordinary commands of docs/verdicts.md: each has the risk that the table says, and most that only read are allowed.

use placet_core::tool::Risk;

use super::look;

const TABLE: &str = include_str!("../../../../../docs/verdicts.md");

/// The commands of one half of the table, with the risk it names.
fn rows(half: &str) -> Vec<(String, &str)> {
    let row = |line: &'static str| {
        let (command, risk) = line.strip_prefix("| `")?.rsplit_once("` | ")?;
        Some((command.replace("\\|", "|"), risk.trim_end_matches(" |")))
    };
    let (reading, others) = TABLE.split_once("## Other commands").unwrap();
    let text = if half == "reading" { reading } else { others };
    text.lines().filter_map(row).collect()
}

#[test]
fn every_row_of_the_table_has_the_risk_it_names() {
    let rows = [rows("reading"), rows("others")].concat();
    assert_eq!(rows.len(), 175);
    let wrong: Vec<String> = rows
        .iter()
        .filter(|(command, risk)| look(command).risk().as_str() != *risk)
        .map(|(command, _)| format!("{command} => {}", look(command).risk()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn four_of_five_commands_that_only_read_are_allowed() {
    let reading = rows("reading");
    let low = reading
        .iter()
        .filter(|(command, _)| look(command).risk() == Risk::Low)
        .count();
    assert!(low * 5 >= reading.len() * 4, "{low} of {}", reading.len());
}
