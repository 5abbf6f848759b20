//! What a line comes to, as a table; the named bypasses of the field; and properties over hostile lines.

mod bypasses;
mod properties;

use expect_test::{Expect, expect};

use super::super::{Analysis, FactKind, Places};
use super::analyse;

/// A workspace at `/w` with a link out of it, and a home beside it.
pub(super) struct Desk;

impl Places for Desk {
    fn workspace(&self) -> &'static str {
        "/w"
    }

    fn home(&self) -> Option<&str> {
        Some("/home/ana")
    }

    fn real(&self, absolute: &str) -> Option<String> {
        if absolute.starts_with("/w/loop") {
            return None;
        }
        Some(match absolute.strip_prefix("/w/link") {
            Some(rest) => format!("/etc{rest}"),
            None => absolute.to_owned(),
        })
    }
}

pub(super) fn look(line: &str) -> Analysis {
    let mut found = Analysis::nothing();
    analyse(line, &Desk, &mut found);
    found
}

/// One line per fact: risk, what it is, why.
fn check(line: &str, expected: &Expect) {
    use std::fmt::Write;
    let found = look(line);
    let mut text = String::new();
    for fact in &found.facts {
        let (what, note) = match &fact.kind {
            FactKind::Command {
                argv,
                dynamic,
                assignments,
                under,
                ..
            } => {
                let mut note = String::new();
                if *dynamic {
                    note += " dynamic";
                }
                if !assignments.is_empty() {
                    note += &format!(" with {}", assignments.join(" "));
                }
                if !under.is_empty() {
                    note += &format!(" under {}", under.join(" > "));
                }
                (format!("{argv:?}"), note)
            }
            FactKind::Redirect {
                path,
                writes,
                contained,
            } => {
                let arrow = if *writes { ">" } else { "<" };
                (
                    format!("{arrow} {path}"),
                    if *contained {
                        String::new()
                    } else {
                        " not contained".to_owned()
                    },
                )
            }
            FactKind::Unreadable { .. } => ("unreadable".to_owned(), String::new()),
            other => (format!("{other:?}"), String::new()),
        };
        let why = if fact.why.is_empty() {
            String::new()
        } else {
            format!(": {}", fact.why)
        };
        writeln!(text, "{} {what}{note}{why}", fact.risk).unwrap();
    }
    if let Some(banned) = &found.banned {
        writeln!(text, "BANNED: {banned}").unwrap();
    }
    expected.assert_eq(&text);
}
