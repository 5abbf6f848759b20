//! `placet policy explain`: what each rule means, for people who do not read rules.

use std::fmt::Write as _;

use anyhow::bail;
use placet_core::config::Config;
use placet_core::ids::PersonId;
use placet_core::interaction::Locale;
use placet_core::messages::{self, Message, explain, refused, risk, text};
use placet_core::policy::{Mode, Rule, RuleEffect};
use placet_core::render::SafeText;
use placet_core::verdict::{AnswerKind, Approvers, AskTerms};
use serde_json::{Value, json};

use super::source_of;
use crate::config_file::Loaded;
use crate::exit::Exit;
use crate::style::{self, paint};
use crate::{locale, output};

pub(super) fn run(loaded: &Loaded, wanted: Option<&str>, json: bool) -> anyhow::Result<Exit> {
    let rules = chosen(&loaded.config, wanted)?;
    let otherwise = wanted.is_none().then(|| otherwise(&loaded.config));
    let text = if json {
        // For programs: the same in every language.
        let otherwise = otherwise.map(|otherwise| otherwise.to_string());
        let rules: Vec<Value> = rules
            .iter()
            .map(|(number, rule)| as_json(*number, rule, &loaded.config))
            .collect();
        let object = json!({ "config": loaded.source.to_string(), "rules": rules, "otherwise": otherwise });
        format!("{object}\n")
    } else {
        in_words(&rules, otherwise.as_ref(), &loaded.config)
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
            bail!(locale::error(&refused::no_rules(wanted)))
        }
        None => {
            let names: Vec<_> = numbered()
                .map(|(number, rule)| format!("{number}. {}", rule.name))
                .collect();
            bail!(locale::error(&refused::no_rule(names.join("\n  "), wanted)))
        }
    }
}

fn as_json(number: usize, rule: &Rule, config: &Config) -> Value {
    let effect = match &rule.effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Ask(_) => "ask",
        RuleEffect::Deny => "deny",
    };
    let sentence = sentence(rule, config, Locale::English);
    json!({ "number": number, "name": rule.name, "effect": effect, "sentence": sentence })
}

fn in_words(rules: &[(usize, &Rule)], otherwise: Option<&Message>, config: &Config) -> String {
    let mut text = String::new();
    for (number, rule) in rules {
        let name = paint(style::HEADING, SafeText::line(&rule.name));
        let _ = writeln!(text, "{number:>3}. {name}");
        let _ = writeln!(
            text,
            "     {}\n",
            SafeText::line(&sentence(rule, config, locale::current()))
        );
    }
    if let Some(otherwise) = otherwise {
        let heading = if rules.is_empty() {
            explain::no_rules()
        } else {
            explain::otherwise()
        };
        let heading = paint(style::HEADING, locale::say(&heading));
        let _ = writeln!(text, "{heading}\n     {}", locale::say(otherwise));
    }
    text
}

/// When the rule applies and what follows from it.
fn sentence(rule: &Rule, config: &Config, locale: Locale) -> String {
    let when = when(&source_of(rule), locale).say(locale);
    let sentence = match &rule.effect {
        RuleEffect::Allow => explain::allowed(when),
        RuleEffect::Deny => explain::denied(when),
        RuleEffect::Ask(terms) => explain::asked(asking(terms, config, locale).say(locale), when),
    };
    match &rule.reason {
        Some(reason) => explain::reason(reason, sentence.say(locale)).say(locale),
        None => sentence.say(locale),
    }
}

fn when(source: &Value, locale: Locale) -> Message {
    let list = |key: &str| quoted(source.get(key), locale);
    let part = |message: Option<Message>| message.map(|message| message.say(locale)).unwrap_or_default();
    let effects = [
        ("command", explain::command as fn(String) -> Message),
        ("path", explain::path),
        ("host", explain::host),
        ("sql", explain::sql),
        ("table", explain::table),
    ];
    let mut clauses: Vec<Message> = effects
        .into_iter()
        .filter_map(|(key, clause)| Some(clause(list(key)?)))
        .collect();
    let arguments = source.get("args").and_then(Value::as_object);
    for (name, value) in arguments.into_iter().flatten() {
        let value = quoted(Some(value), locale).unwrap_or_default();
        clauses.push(explain::argument(name, value));
    }
    if let Some(category) = source.get("category").and_then(Value::as_str) {
        clauses.push(category_words(category));
    }
    if let Some(risk) = source.get("risk").and_then(Value::as_str) {
        clauses.push(explain::risk(risk_words(risk).say(locale)));
    }
    let clauses: Vec<String> = clauses.iter().map(|clause| clause.say(locale)).collect();
    let clauses = match clauses.as_slice() {
        [] => String::new(),
        clauses => explain::clauses(messages::enumerated(locale, clauses)).say(locale),
    };
    explain::when(
        list("agent")
            .map_or_else(explain::any_agent, explain::agent)
            .say(locale),
        part(list("channel").map(explain::channel)),
        clauses,
        part(list("session").map(explain::session)),
        list("tool")
            .map_or_else(explain::any_tool, explain::tool)
            .say(locale),
    )
}

fn category_words(category: &str) -> Message {
    match category {
        "read" => explain::reads(),
        "write" => explain::writes(),
        "command" => explain::runs(),
        "network" => explain::connects(),
        _ => explain::asks(),
    }
}

fn risk_words(name: &str) -> Message {
    match name {
        "LOW" => risk::low(),
        "MEDIUM" => risk::medium(),
        "HIGH" => risk::high(),
        other => text::as_written(other),
    }
}

fn asking(terms: &AskTerms, config: &Config, locale: Locale) -> Message {
    let mut said = match (&terms.approvers, terms.quorum) {
        (Approvers::SessionUser, _) => explain::by_user(),
        (Approvers::People(people), 0 | 1) => explain::by_one(messages::any_of(locale, &names(people))),
        (Approvers::People(people), quorum) => {
            explain::by_several(messages::enumerated(locale, &names(people)), quorum)
        }
    };
    if terms.not_requester {
        said = explain::not_requester(said.say(locale));
    }
    said = match terms.timeout {
        Some(timeout) => explain::expires(said.say(locale), timeout),
        None => explain::expires_by_channel(config.timeout(None, None, None), said.say(locale)),
    };
    if let Some(escalation) = &terms.escalate {
        let to = messages::all_of(locale, &names(&escalation.to));
        said = explain::escalates(escalation.after, to, said.say(locale));
    }
    let answers: Vec<_> = terms
        .answers
        .iter()
        .map(|kind| answer_words(kind).say(locale))
        .collect();
    explain::answers(messages::enumerated(locale, &answers), said.say(locale))
}

fn answer_words(kind: AnswerKind) -> Message {
    match kind {
        AnswerKind::Approve => explain::approve(),
        AnswerKind::Edit => explain::edit(),
        AnswerKind::Reject => explain::reject(),
        AnswerKind::Retry => explain::retry(),
        AnswerKind::Info => explain::info(),
        AnswerKind::Skip => explain::skip(),
        AnswerKind::Terminate => explain::terminate(),
    }
}

/// What happens where no rule applies.
fn otherwise(config: &Config) -> Message {
    let settings = config.policy.settings();
    if !settings.enabled {
        return explain::disabled();
    }
    let allowed = match (settings.strict, settings.mode) {
        (true, _) => explain::strict(),
        (false, Mode::Default) => explain::default(),
        (false, Mode::AutoEdit) => explain::auto_edit(),
        (false, Mode::Yolo) => explain::yolo(),
    };
    explain::high(allowed, config.timeout(None, None, None))
}

fn names(people: &[PersonId]) -> Vec<String> {
    people.iter().map(ToString::to_string).collect()
}

/// One text or a list of them, in quotes.
fn quoted(value: Option<&Value>, locale: Locale) -> Option<String> {
    let quote = |value: &Value| match value {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    };
    match value? {
        Value::Array(items) => Some(messages::any_of(
            locale,
            &items.iter().map(quote).collect::<Vec<_>>(),
        )),
        one => Some(quote(one)),
    }
}
