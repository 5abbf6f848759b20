//! From text and environment to one tree of settings: the seeds' spellings made ours, variables laid over the file.

use std::borrow::Cow;
use std::ops::Range;

use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::Checker;
use super::mistake;

/// Environment variables that are settings start with this.
const PREFIX: &str = "PLACET_";

/// The camelCase names of the designs Placet grew from, by section. `*` is every entry of a section.
const ALIASES: &[(&[&str], &str, &str)] = &[
    (&["approval"], "approvalMode", "mode"),
    (&["approval"], "approvalTimeout", "timeout"),
    (&["approval"], "approvalTools", "auto_approved_tools"),
    (&["approval"], "autoApprovedTools", "auto_approved_tools"),
    (&["approval"], "memoryWindow", "memory"),
    (&["approval"], "onOtherReply", "on_other_reply"),
    (&["approval"], "openQuestionsMax", "open_questions_max"),
    (&["approval"], "rejectionsMax", "rejections_max"),
    (&["approval"], "strictMode", "strict"),
    (&["approval"], "toolOverrides", "tool_overrides"),
    (&["rules", "*"], "notMatches", "not_matches"),
    (&["rules", "*"], "notRequester", "not_requester"),
    (&["workflow", "config", "*"], "maxSteps", "max_steps"),
    (&["workflow", "config", "*"], "toolApproval", "tool_approval"),
    (
        &["workflow", "config", "*", "tool_approval"],
        "approvalTimeout",
        "timeout",
    ),
    (
        &["workflow", "config", "*", "tool_approval"],
        "autoApprovedTools",
        "auto_approved_tools",
    ),
];

/// Reads the text, renames aliases and lays the variables over it.
pub(super) fn read<'t>(
    text: &'t str,
    variables: &'t [(String, String)],
    checker: &mut Checker<'t>,
) -> Option<Spanned<DeTable<'t>>> {
    let mut tree = match DeTable::parse(text) {
        Ok(tree) => tree,
        Err(error) => {
            mistake::refuse_syntax(&error, checker);
            return None;
        }
    };
    for (section, alias, key) in ALIASES {
        rename(tree.get_mut(), section, alias, key, checker);
    }
    for (index, (variable, value)) in variables.iter().enumerate() {
        let span = checker.span_of_variable(index);
        if !set(tree.get_mut(), &path_of(variable), &span, value) {
            checker.refuse(span, "names something that is not a section", None);
        }
    }
    Some(tree)
}

/// Whether a variable is a setting. A name without `__` is one only if it is a whole section, so that variables of the program
/// itself (such as the place of the configuration) are left alone.
pub(super) fn is_setting(variable: &str, sections: &[&str]) -> bool {
    variable
        .strip_prefix(PREFIX)
        .is_some_and(|rest| rest.contains("__") || sections.contains(&rest.to_lowercase().as_str()))
}

/// Those variables that are settings.
pub(super) fn settings_in(
    environment: impl Iterator<Item = (String, String)>,
    sections: &[&str],
) -> Vec<(String, String)> {
    let mut settings: Vec<_> = environment
        .filter(|(name, _)| is_setting(name, sections))
        .collect();
    // A whole section before its parts.
    settings.sort();
    settings
}

/// Where a variable belongs. Capitals are how variables are written, so a part in capitals is read in lowercase; a part with a lowercase
/// letter is a name as it is (`getWeather`). Names of tools may hold `__` themselves.
pub(super) fn path_of(variable: &str) -> Vec<String> {
    let part = |part: &str| {
        if part.contains(char::is_lowercase) {
            part.to_owned()
        } else {
            part.to_lowercase()
        }
    };
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable);
    let (section, rest) = name.split_once("__").unwrap_or((name, ""));
    let mut path = vec![section.to_lowercase()];
    match rest.split_once("__") {
        Some((key, tool)) if part(key) == "tool_overrides" => path.extend([part(key), part(tool)]),
        _ if rest.is_empty() => {}
        _ => path.extend(rest.split("__").map(part)),
    }
    path
}

fn rename<'t>(table: &mut DeTable<'t>, section: &[&str], alias: &str, key: &str, checker: &mut Checker<'t>) {
    match section {
        [] => {
            let Some((found, value)) = table.remove_entry(alias) else {
                return;
            };
            if table.contains_key(key) {
                let help = format!("they mean the same; keep `{key}`");
                checker.refuse(
                    found.span(),
                    format!("both `{key}` and `{alias}` are given"),
                    Some(help),
                );
            } else {
                table.insert(Spanned::new(found.span(), Cow::Owned(key.to_owned())), value);
            }
        }
        [name, rest @ ..] => {
            // A section written once may be a table or a list of tables.
            let rest = rest.strip_prefix(&["*"]).unwrap_or(rest);
            for_each_table(table.get_mut(*name), &mut |inner| {
                rename(inner, rest, alias, key, checker);
            });
        }
    }
}

fn for_each_table<'t>(value: Option<&mut Spanned<DeValue<'t>>>, visit: &mut dyn FnMut(&mut DeTable<'t>)) {
    match value.map(Spanned::get_mut) {
        Some(DeValue::Table(table)) => visit(table),
        Some(DeValue::Array(items)) => items
            .iter_mut()
            .for_each(|item| for_each_table(Some(item), visit)),
        _ => {}
    }
}

/// Puts `text` at `path`, as the TOML value it reads as, else as a string. `false` when something on the way is no table.
fn set<'t>(table: &mut DeTable<'t>, path: &[String], span: &Range<usize>, text: &'t str) -> bool {
    let Some((name, rest)) = path.split_first() else {
        return false;
    };
    let key = Spanned::new(span.clone(), Cow::Owned(name.clone()));
    if rest.is_empty() {
        let value = match DeValue::parse(text) {
            Ok(value) => moved(value, span),
            Err(_) => Spanned::new(span.clone(), DeValue::String(Cow::Borrowed(text))),
        };
        table.remove(name.as_str());
        table.insert(key, value);
        return true;
    }
    if !table.contains_key(name.as_str()) {
        table.insert(key, Spanned::new(span.clone(), DeValue::Table(DeTable::new())));
    }
    match table.get_mut(name.as_str()).map(Spanned::get_mut) {
        Some(DeValue::Table(inner)) => set(inner, rest, span, text),
        _ => false,
    }
}

/// The same value, everything in it at `span`.
fn moved<'t>(value: Spanned<DeValue<'t>>, span: &Range<usize>) -> Spanned<DeValue<'t>> {
    let value = match value.into_inner() {
        DeValue::Array(items) => DeValue::Array(items.into_iter().map(|item| moved(item, span)).collect()),
        DeValue::Table(fields) => {
            let field = |(name, value): (Spanned<_>, _)| {
                (Spanned::new(span.clone(), name.into_inner()), moved(value, span))
            };
            DeValue::Table(fields.into_iter().map(field).collect())
        }
        leaf => leaf,
    };
    Spanned::new(span.clone(), value)
}
