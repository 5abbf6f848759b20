//! `placet policy explain`: what each rule means, for people who do not read rules.

use std::fmt::Write as _;

use anyhow::bail;
use placet_core::config::Config;
use placet_core::ids::PersonId;
use placet_core::policy::{Mode, Rule, RuleEffect};
use placet_core::render::SafeText;
use placet_core::verdict::{AnswerKind, Approvers, AskTerms};
use serde_json::{Value, json};

use super::source_of;
use crate::config_file::Loaded;
use crate::exit::Exit;
use crate::output;
use crate::style::{self, paint};

pub(super) fn run(loaded: &Loaded, wanted: Option<&str>, json: bool) -> anyhow::Result<Exit> {
    let rules = chosen(&loaded.config, wanted)?;
    let otherwise = wanted.is_none().then(|| otherwise(&loaded.config));
    let text = if json {
        let rules: Vec<Value> = rules
            .iter()
            .map(|(number, rule)| as_json(*number, rule, &loaded.config))
            .collect();
        let object = json!({ "config": loaded.source.to_string(), "rules": rules, "otherwise": otherwise });
        format!("{object}\n")
    } else {
        in_words(&rules, otherwise.as_deref(), &loaded.config)
    };
    output::print(&text)?;
    Ok(Exit::Success)
}

/// The rules asked for, each with its number.
fn chosen<'c>(config: &'c Config, wanted: Option<&str>) -> anyhow::Result<Vec<(usize, &'c Rule)>> {
    let numbered = || {
        config
            .policy
            .rules()
            .enumerate()
            .map(|(index, rule)| (index + 1, rule))
    };
    let Some(wanted) = wanted else {
        return Ok(numbered().collect());
    };
    // A name first: a rule may be called `2`.
    let by_name = numbered().find(|(_, rule)| rule.name == wanted);
    let by_number = || numbered().find(|(number, _)| wanted.parse() == Ok(*number));
    match by_name.or_else(by_number) {
        Some(found) => Ok(vec![found]),
        None if numbered().next().is_none() => {
            bail!("there is no rule `{wanted}`: the configuration has none")
        }
        None => {
            let names: Vec<_> = numbered()
                .map(|(number, rule)| format!("{number}. {}", rule.name))
                .collect();
            bail!(
                "there is no rule `{wanted}`; the rules are:\n  {}",
                names.join("\n  ")
            )
        }
    }
}

fn as_json(number: usize, rule: &Rule, config: &Config) -> Value {
    let effect = match &rule.effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Ask(_) => "ask",
        RuleEffect::Deny => "deny",
    };
    json!({ "number": number, "name": rule.name, "effect": effect, "sentence": sentence(rule, config) })
}

fn in_words(rules: &[(usize, &Rule)], otherwise: Option<&str>, config: &Config) -> String {
    let mut text = String::new();
    for (number, rule) in rules {
        let name = paint(style::HEADING, SafeText::line(&rule.name));
        let _ = writeln!(text, "{number:>3}. {name}");
        let _ = writeln!(text, "     {}\n", SafeText::line(&sentence(rule, config)));
    }
    if let Some(otherwise) = otherwise {
        let heading = if rules.is_empty() {
            "Without any rule"
        } else {
            "What no rule is about"
        };
        let _ = writeln!(text, "{}\n     {otherwise}", paint(style::HEADING, heading));
    }
    text
}

/// When the rule applies and what follows from it.
fn sentence(rule: &Rule, config: &Config) -> String {
    let source = source_of(rule);
    let mut text = when(&source);
    match &rule.effect {
        RuleEffect::Allow => text.push_str(
            ", it may run without anybody being asked, as long as everything it would do is covered by this rule.",
        ),
        RuleEffect::Deny => text.push_str(", it is refused. Nobody can allow it, in any mode."),
        RuleEffect::Ask(terms) => {
            text.push_str(", it waits for people. ");
            text.push_str(&asking(terms, config));
        }
    }
    if let Some(reason) = &rule.reason {
        let _ = write!(text, " The reason given: {reason}.");
    }
    text
}

fn when(source: &Value) -> String {
    let list = |key: &str| quoted(source.get(key), " or ");
    let mut text = match list("agent") {
        Some(agents) => format!("When an agent named {agents}"),
        None => "When an agent".to_owned(),
    };
    if let Some(channels) = list("channel") {
        let _ = write!(text, ", on the channel {channels},");
    }
    if let Some(sessions) = list("session") {
        let _ = write!(text, ", in a session named {sessions},");
    }
    match list("tool") {
        Some(tools) => write!(text, " uses the tool {tools}"),
        None => write!(text, " uses any tool"),
    }
    .unwrap_or_default();
    let effects = [
        ("command", "to run a command like"),
        ("path", "on a file or folder like"),
        ("host", "to reach the address"),
        ("sql", "to run SQL like"),
        ("table", "on the database table"),
    ];
    let mut clauses: Vec<String> = effects
        .into_iter()
        .filter_map(|(key, words)| Some(format!("{words} {}", list(key)?)))
        .collect();
    for (name, value) in source
        .get("args")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let value = quoted(Some(value), "").unwrap_or_default();
        clauses.push(format!("with the argument `{name}` like {value}"));
    }
    if let Some(category) = source.get("category").and_then(Value::as_str) {
        clauses.push(category_words(category).to_owned());
    }
    if let Some(risk) = source.get("risk").and_then(Value::as_str) {
        clauses.push(format!("at {risk} risk or more"));
    }
    if !clauses.is_empty() {
        let _ = write!(text, " {}", clauses.join(", "));
    }
    text
}

fn category_words(category: &str) -> &'static str {
    match category {
        "read" => "only reading",
        "write" => "changing files or data",
        "command" => "running a program",
        "network" => "using the network",
        _ => "asking a person something",
    }
}

fn asking(terms: &AskTerms, config: &Config) -> String {
    let mut text = match (&terms.approvers, terms.quorum) {
        (Approvers::SessionUser, _) => "The person the agent works for must approve.".to_owned(),
        (Approvers::People(people), 0 | 1) => format!("{} must approve.", names(people, " or ")),
        (Approvers::People(people), quorum) => {
            format!("{quorum} of these people must approve: {}.", names(people, ", "))
        }
    };
    if terms.not_requester {
        text.push_str(" The person the agent works for does not count.");
    }
    let timeout = terms.timeout.map_or_else(
        || {
            let inbox = config.timeout(None, None, None);
            format!("as long as the channel gives them ({inbox} in the inbox)")
        },
        |timeout| timeout.to_string(),
    );
    let _ = write!(text, " They have {timeout}; when time runs out, it does not run.");
    if let Some(escalation) = &terms.escalate {
        let (after, to) = (escalation.after, names(&escalation.to, " and "));
        let _ = write!(text, " If it is still open after {after}, {to} may answer too.");
    }
    let answers: Vec<_> = terms.answers.iter().map(answer_words).collect();
    let _ = write!(text, " They can {}.", joined(&answers, " or "));
    text
}

const fn answer_words(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::Approve => "approve it",
        AnswerKind::Edit => "approve it with changes",
        AnswerKind::Reject => "refuse it with a reason",
        AnswerKind::Retry => "tell the agent to think again",
        AnswerKind::Info => "give it information",
        AnswerKind::Skip => "skip it",
        AnswerKind::Terminate => "end the run",
    }
}

/// What holds where no rule applies.
fn otherwise(config: &Config) -> String {
    let settings = config.policy.settings();
    if !settings.enabled {
        return "Approvals are switched off: everything runs without anybody being asked, apart from what no one may run \
                and an agent's own questions."
            .to_owned();
    }
    let allowed = match (settings.strict, settings.mode) {
        (true, _) => "Only low risk, such as reading, runs without being asked about.",
        (false, Mode::Default) => {
            "Reading runs without being asked about. Changes, programs and the network wait for a person."
        }
        (false, Mode::AutoEdit) => {
            "Reading and changing files run without being asked about. Programs and the network wait for a person."
        }
        (false, Mode::Yolo) => "Everything of low or medium risk runs without being asked about.",
    };
    format!(
        "{allowed} High risk always waits for a person. They have {} in the inbox.",
        config.timeout(None, None, None)
    )
}

fn names(people: &[PersonId], last: &str) -> String {
    let people: Vec<_> = people.iter().map(PersonId::as_str).collect();
    joined(&people, last)
}

/// One text or a list of them, in quotes.
fn quoted(value: Option<&Value>, last: &str) -> Option<String> {
    let quote = |value: &Value| match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    };
    match value? {
        Value::Array(items) => Some(joined(&items.iter().map(quote).collect::<Vec<_>>(), last)),
        one => Some(quote(one)),
    }
}

/// `a, b or c`.
fn joined<T: AsRef<str>>(words: &[T], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [beginning @ .., end] => {
            let beginning: Vec<_> = beginning.iter().map(AsRef::as_ref).collect();
            format!("{}{last}{}", beginning.join(", "), end.as_ref())
        }
    }
}
