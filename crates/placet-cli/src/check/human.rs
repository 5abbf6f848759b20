//! A checked call for people: the decision first, then why, then what was found.

use std::fmt::Write as _;

use placet_core::analysis::{Fact, FactKind};
use placet_core::ids::PersonId;
use placet_core::messages::{Explain as _, Message, checked};
use placet_core::policy::pattern::CommandPattern;
use placet_core::render::{SafeText, mask};
use placet_core::verdict::{Approvers, AskTerms, Decision};
use unicode_width::UnicodeWidthStr as _;

use super::Checked;
use crate::locale;
use crate::output::shortened;
use crate::style::{self, paint};

/// Longer texts are shown by their beginning, which says how long they are.
const CHARS_MAX: usize = 2000;
/// Labels are padded to so many columns.
const LABEL_COLUMNS: usize = 9;

pub(super) fn text(checked: &Checked) -> String {
    let verdict = &checked.verdict;
    let decision = verdict.decision.as_str().to_uppercase();
    let mut page = Page(format!(
        "{}  {}  {}\n\n",
        paint(style::of_decision(&verdict.decision), decision),
        paint(style::HEADING, SafeText::code_line(checked.call.tool.as_str())),
        paint(
            style::of_risk(verdict.risk),
            locale::say(&checked::risk_of(verdict.risk.label(locale::current())))
        ),
    ));
    let no_rule = || locale::say(&checked::no_rule());
    page.field(&checked::step(), &locale::say(&verdict.step.message()));
    page.field(
        &checked::rule(),
        &verdict.rule.as_deref().map_or_else(no_rule, prose),
    );
    page.field(
        &checked::reason(),
        &prose(&locale::say(&verdict.reason.message())),
    );
    page.field(&checked::risk(), verdict.risk.as_str());
    page.field(&checked::category(), verdict.category.as_str());
    let confinement = verdict.confinement.as_ref();
    let limits = confinement.and_then(|confinement| confinement.words(locale::current()));
    if let Some(limits) = limits.as_ref().or(checked.unconfined.as_ref()) {
        page.field(&checked::confined(), &prose(limits));
    }
    if let Some(wants) = confinement.and_then(|confinement| confinement.wants(locale::current())) {
        page.field(&checked::wants(), &prose(&wants));
    }
    if let Some(banned) = &checked.analysis.banned {
        page.field(
            &checked::banned(),
            &paint(style::BAD, prose(&locale::say(&banned.message()))),
        );
    }
    if let Decision::Ask(terms) = &verdict.decision {
        page.ask(terms, checked);
    }
    page.field(&checked::policy(), &prose(&checked.source.in_words()));
    for (heading, is_listed) in SECTIONS {
        page.facts(
            &heading(),
            checked.analysis.facts.iter().filter(|fact| is_listed(&fact.kind)),
        );
    }
    page.0
}

type IsListed = fn(&FactKind) -> bool;

const SECTIONS: [(fn() -> Message, IsListed); 6] = [
    (checked::commands, |kind| matches!(kind, FactKind::Command { .. })),
    (checked::redirections, |kind| {
        matches!(kind, FactKind::Redirect { .. })
    }),
    (checked::statements, |kind| {
        matches!(kind, FactKind::Statement { .. })
    }),
    (checked::paths, |kind| matches!(kind, FactKind::Path { .. })),
    (checked::hosts, |kind| matches!(kind, FactKind::Host { .. })),
    (checked::unreadable, |kind| {
        matches!(kind, FactKind::Unreadable { .. })
    }),
];

struct Page(String);

impl Page {
    fn field(&mut self, name: &Message, value: &str) {
        let name = locale::say(name);
        // By columns: a Chinese character takes two.
        let gap = " ".repeat(LABEL_COLUMNS.saturating_sub(name.as_str().width()));
        let _ = writeln!(self.0, "  {}{gap} {value}", paint(style::FAINT, name));
    }

    fn ask(&mut self, terms: &AskTerms, checked: &Checked) {
        let who = match &terms.approvers {
            Approvers::SessionUser => checked::session_user(),
            Approvers::People(people) if terms.not_requester => {
                checked::several_others(names(people), terms.quorum)
            }
            Approvers::People(people) => checked::several(names(people), terms.quorum),
        };
        self.field(&checked::approver(), &prose(&locale::say(&who)));
        let expires = match &terms.escalate {
            Some(escalate) => checked::escalates(escalate.after, names(&escalate.to), checked.timeout),
            None => checked::expires(checked.timeout),
        };
        self.field(&checked::timeout(), &prose(&locale::say(&expires)));
        let answers = serde_json::to_value(&terms.answers).unwrap_or_default();
        let answers: Vec<&str> = answers
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|kind| kind.as_str())
            .collect();
        self.field(&checked::answers(), &answers.join(", "));
    }

    fn facts<'f>(&mut self, heading: &Message, facts: impl Iterator<Item = &'f Fact>) {
        let mut facts = facts.peekable();
        if facts.peek().is_none() {
            return;
        }
        let _ = writeln!(self.0, "\n  {}", paint(style::HEADING, locale::say(heading)));
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
                    paint(style::FAINT, prose(&locale::say(&why.message())))
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
                in_parentheses(&checked::dynamic())
            } else {
                String::new()
            };
            if under.is_empty() {
                return format!("{}{dynamic}", code(&mask::command(text)));
            }
            // The text of a wrapped command begins with its wrapper, which has a line of its own.
            let words = CommandPattern::quote(argv);
            format!(
                "{}{}{dynamic}",
                code(&mask::command(&words)),
                in_parentheses(&checked::under(prose(&under.join(" "))))
            )
        }
        FactKind::Redirect {
            path,
            writes,
            contained,
            ..
        } => {
            format!("{} {}{}", how(*writes), code(path), place(*contained))
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
                locale::say(&checked::no_table())
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
            let real = if given == resolved {
                String::new()
            } else {
                format!(" → {}", code(resolved))
            };
            format!("{} {}{real}{}", how(*writes), code(given), place(*inside))
        }
        FactKind::Host { host, scheme, port } => {
            let port = port.map_or(String::new(), |port| format!(":{port}"));
            code(&format!("{scheme}://{host}{port}"))
        }
        FactKind::Unreadable { what } => code(&mask::command(what)),
    }
}

fn how(writes: bool) -> String {
    locale::say(&if writes {
        checked::writes()
    } else {
        checked::reads()
    })
}

fn place(inside: bool) -> String {
    in_parentheses(&if inside {
        checked::inside()
    } else {
        checked::outside()
    })
}

fn in_parentheses(message: &Message) -> String {
    format!("  ({})", locale::say(message))
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
