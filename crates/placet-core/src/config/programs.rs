//! `[programs.NAME]`: records of programs that Placet does not know, their own examples tried.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_spanned::Spanned;

use super::error::Checker;
use crate::analysis::{Analysis, FixedPlaces, Programs, Record, shell};

/// What is built in and what the file adds. A record that is refused, or an example that does not hold, is reported.
pub(super) fn check(records: BTreeMap<Spanned<String>, Record>, checker: &mut Checker<'_>) -> Arc<Programs> {
    let mut programs = Programs::builtin();
    for (name, record) in records {
        let span = name.span();
        let one = BTreeMap::from([(name.into_inner(), record)]);
        let added = match programs.with(&one) {
            Ok(added) => Arc::new(added),
            Err(error) => {
                let help = Some("`docs/policy.md` lists the keys and words of a record".to_owned());
                checker.refuse(span, error, help);
                continue;
            }
        };
        let places = FixedPlaces {
            programs: Arc::clone(&added),
            ..FixedPlaces::of_examples()
        };
        for (line, risk) in one.values().flat_map(Record::examples) {
            let mut found = Analysis::nothing();
            shell::analyse(line, &places, &mut found);
            if found.risk() != risk {
                let message = format!("the example `{line}` is {} and not {risk}", found.risk());
                checker.refuse(span.clone(), message, None);
            }
        }
        programs = added;
    }
    programs
}
