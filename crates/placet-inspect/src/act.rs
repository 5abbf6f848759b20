//! What a call comes to, in a code with parameters: the title of its question.
//!
//! A line has the act of its one riskiest command. Where that has none, or several commands are equally risky, the line itself is the
//! better title. A tool has an act when its name and the names of its arguments are those of a family in `programs.toml`.

use placet_core::analysis::{Act, ActCode, Analysis, FactKind};
use placet_core::call::Args;
use placet_core::policy::Wild;
use placet_core::tool::{Category, Risk, Tool};
use serde::Deserialize;
use serde_json::Value;

use crate::shell::List;

/// Tools that do the same, whatever they are called exactly.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    act: ActCode,
    /// The same act with a place.
    act_to: Option<ActCode>,
    /// Their names, in lowercase and without separators.
    tools: List<Wild>,
    /// Arguments that such a tool has; one of each text.
    needs: Vec<List<Box<str>>>,
    /// Arguments that say what it is done to; the first of each text.
    of: Vec<List<Box<str>>>,
    /// Arguments that say where to.
    #[serde(default)]
    to: List<Box<str>>,
}

/// The act of a shell line.
pub(crate) fn of_line(found: &Analysis) -> Option<Act> {
    let mut most: Option<(usize, Risk)> = None;
    let (mut ties, mut active) = (0_usize, 0_usize);
    for (at, fact) in found.facts.iter().enumerate() {
        match &fact.kind {
            FactKind::Command { .. } if fact.risk == Risk::Low => continue,
            FactKind::Command { .. } | FactKind::Redirect { writes: true, .. } => active += 1,
            FactKind::Unreadable { .. } => return None,
            _ => continue,
        }
        match most {
            Some((_, risk)) if risk > fact.risk => {}
            Some((_, risk)) if risk == fact.risk => ties += 1,
            _ => (most, ties) = (Some((at, fact.risk)), 0),
        }
    }
    let (at, _) = most.filter(|_| ties == 0)?;
    let (_, act) = found.acts.iter().find(|(own, _)| *own == at)?;
    Some(Act {
        more: active.saturating_sub(1),
        ..act.clone()
    })
}

/// The act of a tool, by its arguments. A tool that only reads does nothing of the kind.
pub(crate) fn of_arguments(tool: &Tool, args: &Args, families: &[Family]) -> Option<Act> {
    if tool.category == Category::Read {
        return None;
    }
    let name = last_name(tool.name.as_str());
    let first = |names: &List<Box<str>>| names.iter().find_map(|name| texts(args, name));
    let fits = |family: &&Family| {
        family.tools.matches(&name) && family.needs.iter().all(|names| first(names).is_some())
    };
    let family = families.iter().find(fits)?;
    let of: Vec<String> = family.of.iter().filter_map(first).flatten().collect();
    let to = first(&family.to).map(|texts| texts.join(", "));
    let act = match (&to, family.act_to) {
        (Some(_), Some(act)) => act,
        _ => family.act,
    };
    (of.len() >= act.of_min()).then_some(Act {
        act,
        of,
        to,
        with: None,
        more: 0,
    })
}

/// `mcp__mail__send_email` is `sendemail`.
fn last_name(tool: &str) -> String {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

/// The texts of an argument: one, or a list of them.
fn texts(args: &Args, name: &str) -> Option<Vec<String>> {
    let same = |own: &str| own.chars().filter(|c| *c != '_' && *c != '-').collect::<String>();
    let (_, value) = args
        .iter()
        .find(|(own, _)| same(own).eq_ignore_ascii_case(name))?;
    let text = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        Value::Array(items) if !items.is_empty() => items.iter().map(text).collect(),
        other => Some(vec![text(other)?]),
    }
}
