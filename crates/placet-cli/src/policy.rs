//! `placet policy`: the rules in force, and whether they do what they say.
//!
//! A rule's examples are tried whenever a file is loaded, so a file that loads has passed them; `test` says which rules have
//! how many, which have none, and which can never apply.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use placet_core::ids::ToolName;
use placet_core::messages::policy_file;
use placet_core::policy::{Rule, RuleEffect};
use placet_core::render::SafeText;
use placet_store::Location;
use serde_json::{Map, Value, json};

use crate::args::{PolicyCommand, StoreArgs};
use crate::config_file::{self, Loaded};
use crate::exit::Exit;
use crate::style::{self, paint};
use crate::{locale, output, store};

mod explain;
mod review;

/// Runs the command.
pub(crate) fn run(command: &PolicyCommand) -> anyhow::Result<Exit> {
    match command {
        PolicyCommand::Test(args) => test(args),
        PolicyCommand::Explain { rule, config, json } => explain::run(
            &config_file::load(config.config.as_deref())?,
            rule.as_deref(),
            *json,
        ),
        PolicyCommand::Suggest(args) => review::suggest(args),
        PolicyCommand::Replay(args) => review::replay(args),
        PolicyCommand::Show { config, json } => {
            let loaded = config_file::load(config.config.as_deref())?;
            let text = if *json { show_json(&loaded)? } else { show(&loaded) };
            output::print(&text)?;
            Ok(Exit::Success)
        }
    }
}

fn test(args: &StoreArgs) -> anyhow::Result<Exit> {
    let loaded = config_file::load(args.config.as_deref())?;
    let dead = loaded.config.dead_rules(&tools_used(args)?);
    let mut text = String::new();
    let (mut rules, mut examples) = (0_usize, 0_usize);
    let mut untested = Vec::new();
    for rule in loaded.config.policy.rules() {
        let tried = examples_of(rule);
        let name = SafeText::line(&rule.name);
        rules += 1;
        examples += tried;
        if tried == 0 {
            untested.push(name.clone());
        }
        let mark = if tried == 0 {
            paint(style::CAUTION, "--")
        } else {
            paint(style::GOOD, "ok")
        };
        let _ = writeln!(
            text,
            "{mark}  {}  {name}",
            paint(
                style::FAINT,
                format_args!("{:>12}", locale::say(&policy_file::examples(tried)))
            )
        );
    }
    let source = SafeText::line(&loaded.source.in_words());
    let _ = writeln!(
        text,
        "{}",
        locale::say(&policy_file::valid(examples, rules, source))
    );
    output::print(&text)?;
    for name in untested {
        output::warn(&locale::say(&policy_file::untested(name)));
    }
    for rule in &dead {
        output::complain(&locale::say(&policy_file::dead_rule(rule)));
    }
    Ok(if dead.is_empty() {
        Exit::Success
    } else {
        Exit::Findings
    })
}

/// The tools that calls in the journal named; none where there is no journal yet.
fn tools_used(args: &StoreArgs) -> anyhow::Result<BTreeSet<ToolName>> {
    let location = store::at(args)?;
    if let Location::File(path) = &location
        && store::is_newcomers(args, path)
    {
        return Ok(BTreeSet::new());
    }
    store::look(&location, |stored| stored.tools_used(&()).cloned())
}

fn show(loaded: &Loaded) -> String {
    let policy = &loaded.config.policy;
    let mut text = String::new();
    let source = SafeText::line(&loaded.source.in_words());
    let _ = writeln!(
        text,
        "{} {source}",
        paint(style::HEADING, locale::say(&policy_file::from()))
    );
    let settings = serde_json::to_value(policy.settings()).unwrap_or_default();
    for (name, value) in fields(&settings) {
        let _ = writeln!(
            text,
            "  {} {}",
            paint(style::FAINT, format_args!("{name:<20}")),
            SafeText::line(&value.to_string())
        );
    }
    for (number, rule) in policy.rules().enumerate() {
        let (word, style) = match &rule.effect {
            RuleEffect::Allow => ("allow", style::GOOD),
            RuleEffect::Ask(_) => ("ask", style::CAUTION),
            RuleEffect::Deny => ("deny", style::BAD),
        };
        let name = paint(style::HEADING, SafeText::line(&rule.name));
        let _ = writeln!(
            text,
            "\n{:>3}. {} {name}",
            number + 1,
            paint(style, format_args!("{word:<5}"))
        );
        let source = source_of(rule);
        for (name, value) in fields(&source).filter(|(name, _)| !matches!(name.as_str(), "name" | "effect")) {
            let value = SafeText::code_line(&value.to_string());
            let _ = writeln!(
                text,
                "     {} {value}",
                paint(style::FAINT, format_args!("{name:<13}"))
            );
        }
    }
    text
}

fn show_json(loaded: &Loaded) -> serde_json::Result<String> {
    let policy = &loaded.config.policy;
    let rules: Vec<Value> = policy.rules().map(source_of).collect();
    let object = json!({
        "config": loaded.source.to_string(),
        "policy": policy.version(),
        "settings": serde_json::to_value(policy.settings())?,
        "rules": rules,
    });
    Ok(format!("{object}\n"))
}

/// The rule as it was written in the file.
fn source_of(rule: &Rule) -> Value {
    serde_json::from_str(rule.source()).unwrap_or_default()
}

fn examples_of(rule: &Rule) -> usize {
    let source = source_of(rule);
    let count = |key| source.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    count("matches") + count("not_matches")
}

fn fields(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flat_map(Map::iter)
}
