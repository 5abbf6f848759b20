//! A checked call for people: the decision first, then why, then what was found.

use std::fmt::Write as _;

use placet_core::analysis::{Fact, FactKind};
use placet_core::ids::PersonId;
use placet_core::interaction::Locale;
use placet_core::policy::pattern::CommandPattern;
use placet_core::render::{SafeText, mask};
use placet_core::verdict::{Approvers, AskTerms, Decision};

use super::Checked;
use crate::output::shortened;
use crate::style::{self, paint};

/// Longer texts are shown by their beginning, which says how long they are.
const CHARS_MAX: usize = 2000;

pub(super) fn text(checked: &Checked) -> String {
    let verdict = &checked.verdict;
    let decision = verdict.decision.as_str().to_uppercase();
    let mut page = Page(format!(
        "{}  {}  {}\n\n",
        paint(style::of_decision(&verdict.decision), decision),
        paint(style::HEADING, SafeText::code_line(checked.call.tool.as_str())),
        paint(
            style::of_risk(verdict.risk),
            format_args!("{} risk", verdict.risk.as_str())
        ),
    ));
    page.field("step", &verdict.step.to_string());
    page.field("rule", &verdict.rule.as_deref().map_or("none".to_owned(), prose));
    page.field("reason", &prose(&verdict.reason.to_string()));
    page.field("risk", verdict.risk.as_str());
    page.field("category", verdict.category.as_str());
    let confinement = verdict.confinement.as_ref();
    let limits = confinement.and_then(|confinement| confinement.words(Locale::English));
    if let Some(limits) = limits.as_ref().or(checked.unconfined.as_ref()) {
        page.field("confined", &prose(limits));
    }
    if let Some(wants) = confinement.and_then(|confinement| confinement.wants(Locale::English)) {
        page.field("wants", &prose(&wants));
    }
    if let Some(banned) = &checked.analysis.banned {
        page.field("banned", &paint(style::BAD, prose(&banned.to_string())));
    }
    if let Decision::Ask(terms) = &verdict.decision {
        page.ask(terms, checked);
    }
    page.field("policy", &prose(&checked.source.to_string()));
    for (heading, is_listed) in SECTIONS {
        page.facts(
            heading,
            checked.analysis.facts.iter().filter(|fact| is_listed(&fact.kind)),
        );
    }
    page.0
}

type IsListed = fn(&FactKind) -> bool;

const SECTIONS: [(&str, IsListed); 6] = [
    ("commands", |kind| matches!(kind, FactKind::Command { .. })),
    ("redirections", |kind| matches!(kind, FactKind::Redirect { .. })),
    ("statements", |kind| matches!(kind, FactKind::Statement { .. })),
    ("paths", |kind| matches!(kind, FactKind::Path { .. })),
    ("hosts", |kind| matches!(kind, FactKind::Host { .. })),
    ("not readable", |kind| matches!(kind, FactKind::Unreadable { .. })),
];

struct Page(String);

impl Page {
    fn field(&mut self, name: &str, value: &str) {
        let _ = writeln!(
            self.0,
            "  {} {value}",
            paint(style::FAINT, format_args!("{name:<9}"))
        );
    }

    fn ask(&mut self, terms: &AskTerms, checked: &Checked) {
        let who = match &terms.approvers {
            Approvers::SessionUser => "the session's user, else any approver in the inbox".to_owned(),
            Approvers::People(people) => {
                let but = if terms.not_requester {
                    ", but not the requester"
                } else {
                    ""
                };
                format!("{} of {}{but}", terms.quorum, names(people))
            }
        };
        self.field("approver", &prose(&who));
        let later = terms.escalate.as_ref().map_or(String::new(), |escalate| {
            format!(", after {} also {}", escalate.after, names(&escalate.to))
        });
        self.field(
            "timeout",
            &prose(&format!("{}{later}; then rejected", checked.timeout)),
        );
        let answers = serde_json::to_value(&terms.answers).unwrap_or_default();
        let answers: Vec<&str> = answers
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|kind| kind.as_str())
            .collect();
        self.field("answers", &answers.join(", "));
    }

    fn facts<'f>(&mut self, heading: &str, facts: impl Iterator<Item = &'f Fact>) {
        let mut facts = facts.peekable();
        if facts.peek().is_none() {
            return;
        }
        let _ = writeln!(self.0, "\n  {}", paint(style::HEADING, heading));
        for fact in facts {
            let risk = paint(
                style::of_risk(fact.risk),
                format_args!("{:<6}", fact.risk.as_str()),
            );
            let _ = writeln!(self.0, "    {risk} {}", what(&fact.kind));
            if let Some(why) = &fact.why {
                let _ = writeln!(
                    self.0,
                    "           {}",
                    paint(style::FAINT, prose(&why.to_string()))
                );
            }
        }
    }
}

fn what(kind: &FactKind) -> String {
    match kind {
        FactKind::Command {
            argv,
            text,
            under,
            dynamic,
            ..
        } => {
            let dynamic = if *dynamic {
                "  (partly known only when it runs)"
            } else {
                ""
            };
            if under.is_empty() {
                return format!("{}{dynamic}", code(&mask::command(text)));
            }
            // The text of a wrapped command begins with its wrapper, which has a line of its own.
            let words = CommandPattern::quote(argv);
            format!(
                "{}  (under {}){dynamic}",
                code(&mask::command(&words)),
                prose(&under.join(" "))
            )
        }
        FactKind::Redirect {
            path,
            writes,
            contained,
            ..
        } => {
            let how = if *writes { "writes" } else { "reads" };
            let place = if *contained {
                "inside the workspace"
            } else {
                "outside the workspace"
            };
            format!("{how} {}  ({place})", code(path))
        }
        FactKind::Statement {
            verb,
            also,
            category,
            tables,
            text,
        } => {
            let verbs: Vec<&str> = std::iter::once(verb).chain(also).map(String::as_str).collect();
            let tables = if tables.is_empty() {
                "no table".to_owned()
            } else {
                prose(&tables.join(", "))
            };
            format!(
                "{}  ({} {}, {tables})",
                code(&mask::text(text)),
                prose(&verbs.join(", ")),
                category.as_str()
            )
        }
        FactKind::Path {
            given,
            resolved,
            inside,
            writes,
        } => {
            let how = if *writes { "writes" } else { "reads" };
            let place = if *inside {
                "inside the workspace"
            } else {
                "outside the workspace"
            };
            let real = if given == resolved {
                String::new()
            } else {
                format!(" → {}", code(resolved))
            };
            format!("{how} {}{real}  ({place})", code(given))
        }
        FactKind::Host { host, scheme, port } => {
            let port = port.map_or(String::new(), |port| format!(":{port}"));
            code(&format!("{scheme}://{host}{port}"))
        }
        FactKind::Unreadable { what } => code(&mask::command(what)),
    }
}

fn names(people: &[PersonId]) -> String {
    people.iter().map(PersonId::as_str).collect::<Vec<_>>().join(", ")
}

fn prose(text: &str) -> String {
    shortened(SafeText::line(&mask::text(text)).as_str(), CHARS_MAX)
}

fn code(text: &str) -> String {
    shortened(SafeText::code_line(text).as_str(), CHARS_MAX)
}
