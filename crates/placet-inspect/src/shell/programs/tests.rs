//! The records that come with Placet are read, and their examples hold.

use std::collections::BTreeMap;

use placet_core::analysis::{Analysis, FixedPlaces};
use placet_core::tool::Risk;

use super::super::analyse;
use super::super::tests::look;
use super::{Facts, Programs, Record};
use crate::{Site, path};

const BUILTIN: &str = include_str!("../../programs.toml");

fn records() -> BTreeMap<String, Record> {
    toml::from_str::<Facts>(BUILTIN).unwrap().programs
}

#[test]
fn every_record_that_comes_with_placet_is_read() {
    Programs::parse(BUILTIN).unwrap();
}

/// A build whose own data does not read must not make anything look better than it is.
#[test]
fn without_readable_records_every_command_and_every_path_is_high() {
    for text in [
        "",
        "not = 'the data'",
        &BUILTIN.replace("[programs.rm]", "[programs.rm]\nwhat = 1"),
    ] {
        let (places, programs) = (FixedPlaces::of_examples(), Programs::read_or_nothing(text));
        let site = Site::new(&places, &programs);
        for line in [
            "ls",
            "git status",
            "rm -r x",
            "mytool",
            "A=1",
            "> out",
            "cat < README.md",
        ] {
            let mut found = Analysis::nothing();
            analyse(line, site, &mut found);
            assert_eq!(found.risk(), Risk::High, "{line}");
        }
        let mut found = Analysis::nothing();
        path::analyse("README.md", path::Use::Read, site, &mut found);
        assert_eq!(found.risk(), Risk::High);
    }
}

#[test]
fn every_example_of_a_record_has_the_risk_it_names() {
    let mut missed = Vec::new();
    for (name, record) in records() {
        for (line, risk) in record.examples() {
            let found = look(line);
            if found.risk() != risk {
                let whys: Vec<_> = found
                    .facts
                    .iter()
                    .filter_map(|fact| fact.why.as_ref())
                    .map(ToString::to_string)
                    .collect();
                missed.push(format!(
                    "{name}: `{line}` is {} and not {risk}: {whys:?}",
                    found.risk()
                ));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn every_record_has_an_example() {
    let silent: Vec<String> = records()
        .into_iter()
        .filter(|(_, record)| record.examples().is_empty())
        .map(|(name, _)| name)
        .collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn an_option_a_variable_or_a_word_outside_the_record_is_never_low() {
    for line in [
        "ls -la src",
        "git log --oneline -5",
        "grep -rn x src",
        "wc -l README.md",
    ] {
        assert_eq!(look(line).risk(), Risk::Low, "{line}");
        let (program, rest) = line.split_once(' ').unwrap();
        for odd in [
            format!("{program} --no-such-option {rest}"),
            format!("{line} --no-such-option"),
            format!("{line} --no-such-option=x"),
            format!("NO_SUCH_VARIABLE=1 {line}"),
            format!("{line} $x"),
            format!("{line} \"$x\""),
            format!("{line} $(date)"),
            format!("xargs {line}"),
            format!("{line} > out"),
            format!("./{line}"),
        ] {
            assert!(look(&odd).risk() > Risk::Low, "{odd}");
        }
    }
}
