//! Inspection: what a call would really do, found in its arguments.
//!
//! Each lens of a tool reads one argument: as a shell line, SQL, a path or a URL. The result is a list of facts (commands,
//! statements, paths, hosts), each with its risk and the reason for it. What cannot be read is HIGH. Inspection raises the risk
//! of a call; only a line that is known to only read lowers it.
//!
//! `Programs` is what Placet knows (`programs.toml`, with the operator's records) and implements [`Inspect`], through which the
//! configuration and the engine inspect calls.

mod act;
mod arguments;
mod location;
pub mod path;
pub mod shell;
mod site;
pub mod sql;
#[cfg(test)]
mod tests;
pub mod url;

use std::collections::BTreeMap;
use std::sync::Arc;

use placet_core::analysis::{Analysis, Fact, FactKind, FixedPlaces, Inspect, Location, Places, Why};
use placet_core::call::Args;
use placet_core::findings::Findings;
use placet_core::tool::{ArgNames, Lens, Risk, SqlAccess, Tool};
use serde::Deserialize as _;

use shell::{Programs, Record};
pub use site::Site;

/// Inspection with the records that come with Placet.
pub fn builtin() -> Arc<dyn Inspect> {
    Programs::builtin()
}

impl Inspect for Programs {
    fn inspect(&self, tool: &Tool, args: &Args, places: &dyn Places) -> Findings {
        let analysis = analyse(tool, args, Site::new(places, self));
        let lines = shell_lines(tool, args);
        let act = if lines.is_empty() {
            act::of_arguments(tool, args, self.families())
        } else {
            act::of_line(&analysis)
        };
        let location = location::of(tool, args, &analysis, Site::new(places, self));
        Findings {
            analysis,
            lines,
            act: act.map(Box::new),
            location: Some(location).filter(Location::is_known).map(Box::new),
        }
    }

    fn with_program(&self, name: &str, record: toml::Table) -> Result<Arc<dyn Inspect>, Vec<String>> {
        let record = Record::deserialize(record).map_err(|error| vec![error.message().to_owned()])?;
        let one = BTreeMap::from([(name.to_owned(), record)]);
        let all = self.with(&one).map_err(|error| vec![error.to_string()])?;
        let places = FixedPlaces::of_examples();
        let failed = one
            .values()
            .flat_map(Record::examples)
            .filter_map(|(line, risk)| {
                let mut found = Analysis::nothing();
                shell::analyse(line, Site::new(&places, &all), &mut found);
                let found = found.risk();
                (found != risk).then(|| format!("the example `{line}` is {found} and not {risk}"))
            });
        let failed: Vec<String> = failed.collect();
        if failed.is_empty() {
            Ok(Arc::new(all))
        } else {
            Err(failed)
        }
    }

    fn knows_program(&self, name: &str) -> bool {
        self.knows(name)
    }

    fn is_sql_verb(&self, verb: &str) -> bool {
        sql::is_verb(verb)
    }
}

/// Applies every lens of `tool` to `args`.
fn analyse(tool: &Tool, args: &Args, places: Site<'_>) -> Analysis {
    let mut found = Analysis {
        home: places.home().map(str::to_owned),
        ..Analysis::nothing()
    };
    // Other arguments of an undeclared tool may hold the words, the folder and the input of its shell line.
    let is_unknown = tool.args == ArgNames::Unknown;
    let alone = |lens: &&Lens| !(is_unknown && matches!(lens, Lens::Shell { .. }));
    for lens in tool.lenses.iter().filter(alone) {
        lens_into(lens, args, places, &mut found);
    }
    if is_unknown {
        arguments::analyse(tool, args, places, &mut found);
    }
    found
}

/// The shell lines among `args`, whole, as they would run.
fn shell_lines(tool: &Tool, args: &Args) -> Vec<String> {
    if tool.args == ArgNames::Unknown
        && let Some(lines) = arguments::shell_lines(args)
    {
        return lines;
    }
    let arg = |lens: &Lens| match lens {
        Lens::Shell { arg } => args.text(arg).map(str::to_owned),
        _ => None,
    };
    tool.lenses.iter().filter_map(arg).collect()
}

fn lens_into(lens: &Lens, args: &Args, places: Site<'_>, found: &mut Analysis) {
    let arg = lens.arg();
    let Some(value) = args.get(arg) else { return };
    let Some(text) = value.as_str() else {
        // A list of words, a number, an object: how the tool uses it is unknown.
        found.facts.push(Fact {
            kind: FactKind::Unreadable { what: arg.to_owned() },
            risk: Risk::High,
            why: Some(Why::NotText { arg: arg.to_owned() }),
        });
        return;
    };
    match lens {
        Lens::Shell { .. } => shell::analyse(text, places, found),
        Lens::Sql { dialect, access, .. } => sql::analyse(text, *dialect, *access, found),
        Lens::SqlOf {
            database, dialects, ..
        } => {
            let dialect = args.text(database).and_then(|name| dialects.get(name)).copied();
            sql::analyse(text, dialect, SqlAccess::ReadOnly, found);
        }
        Lens::PathRead { .. } => path::analyse(text, path::Use::Read, places, found),
        Lens::PathWrite { .. } => path::analyse(text, path::Use::Write, places, found),
        Lens::Url { .. } => url::analyse(text, found),
    }
}
