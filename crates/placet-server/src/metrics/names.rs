//! The names that metrics have: bounded, whatever agents invent.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use placet_core::config::Config;

/// Stands for all names past the bound.
const OTHER: &str = "other";

/// Names of one kind.
#[derive(Default)]
pub(super) struct Names {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Named in the configuration: always kept, and bounded by it.
    configured: BTreeSet<String>,
    /// Seen since the server started.
    seen: BTreeSet<String>,
    seen_max: usize,
}

impl Names {
    /// Names to keep from now on. What has a metric already keeps it.
    pub(super) fn configure(&self, names: impl IntoIterator<Item = String>, seen_max: u32) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.configured = names.into_iter().collect();
        kept.seen_max = usize::try_from(seen_max).unwrap_or(usize::MAX);
    }

    /// The name as a label.
    pub(super) fn label(&self, name: Option<&str>) -> String {
        let Some(name) = name else { return String::new() };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.configured.contains(name) || kept.seen.contains(name) {
            return name.to_owned();
        }
        if kept.seen.len() >= kept.seen_max {
            return OTHER.to_owned();
        }
        kept.seen.insert(name.to_owned());
        name.to_owned()
    }
}

/// The names of each kind.
#[derive(Default)]
pub(super) struct AllNames {
    pub(super) tools: Names,
    pub(super) rules: Names,
    pub(super) people: Names,
}

impl AllNames {
    pub(super) fn configure(&self, config: &Config) {
        let seen_max = config.server.metrics_names_max;
        let tools = config.tools.keys().map(ToString::to_string);
        self.tools.configure(tools, seen_max);
        let rules = config.policy.rules().map(|rule| rule.name.clone());
        self.rules.configure(rules, seen_max);
        let people = config.people.people().map(|person| person.name.to_string());
        self.people.configure(people, seen_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_names_share_a_label_past_the_bound_and_configured_ones_never_do() {
        let names = Names::default();
        names.configure(["deploy".to_owned()], 2);
        let labels: Vec<_> = ["a", "b", "c", "deploy", "a"]
            .map(|name| names.label(Some(name)))
            .into();
        assert_eq!(labels, ["a", "b", "other", "deploy", "a"]);
        assert_eq!(names.label(None), "");
    }
}
