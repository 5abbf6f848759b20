//! `[programs.NAME]`: records of programs that Placet does not know, their own examples tried.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_spanned::Spanned;

use super::error::Checker;
use super::mistake;
use crate::analysis::Inspect;
use crate::messages::{config, text};

/// A record as written; inspection knows its keys.
pub(super) type Record = BTreeMap<Spanned<String>, toml::Value>;

/// Inspection that knows these programs too. A record that is refused, or an example that does not hold, is reported.
pub(super) fn check(
    records: BTreeMap<Spanned<String>, Record>,
    mut inspect: Arc<dyn Inspect>,
    checker: &mut Checker<'_>,
) -> Arc<dyn Inspect> {
    for (name, record) in records {
        let spans: BTreeMap<String, _> = record
            .keys()
            .map(|key| (key.get_ref().clone(), key.span()))
            .collect();
        let table = record
            .into_iter()
            .map(|(key, value)| (key.into_inner(), value))
            .collect();
        match inspect.with_program(name.get_ref(), table) {
            Ok(more) => inspect = more,
            Err(errors) => {
                for error in errors {
                    let (message, help) = mistake::in_words(&error, |_| (text::as_written(&error), None));
                    let key = error.split('`').nth(1).and_then(|key| spans.get(key));
                    let span = key.cloned().unwrap_or_else(|| name.span());
                    checker.refuse_in_words(span, message, Some(help.unwrap_or_else(config::record_keys)));
                }
            }
        }
    }
    inspect
}
