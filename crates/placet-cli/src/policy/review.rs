//! `placet policy suggest` and `placet policy replay`: the journal's calls under the present policy, and under another.

use std::fmt::Write as _;
use std::path::Path;

use placet_core::ids::PersonId;
use placet_core::render::SafeText;
use placet_core::time::Timestamp;
use placet_engine::places::DiskPlaces;
use placet_engine::review::{self, CALLS_MAX, Change, PastCall, Replay, Suggestion};
use placet_store::Location;
use serde_json::{Value, json};

use crate::args::{ReplayArgs, StoreArgs, SuggestArgs};
use crate::config_file::{self, Loaded};
use crate::exit::Exit;
use crate::output::{self, counted};
use crate::store;
use crate::style::{self, paint};

/// What judged the calls, said with every report.
const BY: &str = "inspected by this version of placet, with the workspace as it is now";

/// Everything a report is made from.
struct Past {
    loaded: Loaded,
    places: DiskPlaces,
    calls: Vec<PastCall>,
}

fn past(args: &StoreArgs, since: Timestamp) -> anyhow::Result<Past> {
    let loaded = config_file::load(args.config.as_deref())?;
    let location = store::at(args)?;
    let (calls, workspace) = if let Location::File(path) = &location
        && store::is_newcomers(args, path)
    {
        (Vec::new(), None)
    } else {
        store::block_on(async {
            let store = store::read_only(&location).await?;
            let calls = review::past_calls(&store, since).await?;
            let workspace = store.look(|stored| stored.workspace(&()).cloned()).await?;
            anyhow::Ok((calls, workspace))
        })??
    };
    if calls.len() >= CALLS_MAX {
        output::warn(&format!("only the newest {CALLS_MAX} calls are looked at"));
    }
    let root = workspace.unwrap_or_else(|| loaded.config.workspace.root.clone());
    let places = DiskPlaces::new(Path::new(&root), std::env::home_dir().as_deref())?;
    Ok(Past {
        loaded,
        places,
        calls,
    })
}

pub(super) fn suggest(args: &SuggestArgs) -> anyhow::Result<Exit> {
    let past = past(&args.store, args.since)?;
    let min = usize::try_from(args.min).unwrap_or(usize::MAX);
    let found = review::suggest(&past.loaded.config, &past.places, &past.calls, min);
    if args.json {
        let suggestions: Vec<Value> = found.iter().map(suggestion_json).collect();
        let object = json!({
            "since": args.since.to_string(),
            "calls": past.calls.len(),
            "min": args.min,
            "judgedBy": BY,
            "suggestions": suggestions,
        });
        output::print(&format!("{object}\n"))?;
        return Ok(Exit::Success);
    }
    if found.is_empty() {
        output::warn(&format!(
            "nothing to suggest: no kind of call was approved {} or more since {} and never refused",
            if args.min == 1 {
                "once".to_owned()
            } else {
                format!("{} times", args.min)
            },
            args.since
        ));
    }
    let mut text = String::new();
    for suggestion in &found {
        let _ = writeln!(text, "# {}", SafeText::line(&counts(suggestion)));
        let _ = writeln!(text, "{}", suggestion.rule.to_toml());
    }
    output::print(&text)?;
    Ok(Exit::Success)
}

fn counts(suggestion: &Suggestion) -> String {
    let spared = &suggestion.spared;
    let people: Vec<&str> = spared.people.iter().map(PersonId::as_str).collect();
    format!(
        "approved {} by {}, in {} on {}; never refused",
        if spared.approved == 1 {
            "once".to_owned()
        } else {
            format!("{} times", spared.approved)
        },
        people.join(", "),
        counted(spared.sessions.len(), "session"),
        counted(spared.days, "day"),
    )
}

fn suggestion_json(suggestion: &Suggestion) -> Value {
    let spared = &suggestion.spared;
    json!({
        "name": suggestion.rule.name(),
        "covers": suggestion.rule.scope().describe(),
        "approved": spared.approved,
        "sessions": spared.sessions,
        "days": spared.days,
        "people": spared.people,
        "examples": spared.examples,
        "toml": suggestion.rule.to_toml(),
    })
}

pub(super) fn replay(args: &ReplayArgs) -> anyhow::Result<Exit> {
    let past = past(&args.store, args.since)?;
    let replay = review::replay(&past.loaded.config, &past.places, &past.calls);
    if args.json {
        let mut object = serde_json::to_value(&replay)?;
        if let Some(fields) = object.as_object_mut() {
            fields.insert("config".into(), past.loaded.source.to_string().into());
            fields.insert("since".into(), args.since.to_string().into());
            fields.insert("judgedBy".into(), BY.into());
        }
        output::print(&format!("{object}\n"))?;
    } else {
        output::print(&in_words(&replay, &past.loaded, args.since))?;
    }
    Ok(if replay.changes.iter().any(|change| change.refused_then) {
        Exit::Findings
    } else if replay.changed > 0 {
        Exit::Changes
    } else {
        Exit::Success
    })
}

fn in_words(replay: &Replay, loaded: &Loaded, since: Timestamp) -> String {
    let mut text = String::new();
    let source = SafeText::line(&loaded.source.to_string());
    let _ = writeln!(
        text,
        "{} since {since} under {source}: {} would be decided differently ({BY})",
        counted(replay.calls, "call"),
        if replay.changed == 0 {
            "none".to_owned()
        } else {
            replay.changed.to_string()
        }
    );
    for change in &replay.changes {
        text.push_str(&change_in_words(change));
    }
    text
}

fn change_in_words(change: &Change) -> String {
    let mut text = String::new();
    let heading = format!(
        "{} → {}: {}",
        change.from.as_str(),
        change.to.as_str(),
        counted(change.calls, "call")
    );
    let heading = if change.refused_then {
        paint(style::BAD, format!("{heading} that a person refused"))
    } else if change.to < change.from {
        paint(style::CAUTION, heading)
    } else {
        paint(style::HEADING, heading)
    };
    let _ = writeln!(text, "\n{heading}");
    for example in &change.examples {
        let times = format!("{:>5}×", example.times);
        let _ = writeln!(
            text,
            "  {}  {}",
            paint(style::FAINT, times),
            SafeText::line(&example.what)
        );
        let mut why = match &example.rule {
            Some(rule) => format!("rule `{rule}`: {}", example.reason),
            None => example.reason.clone(),
        };
        if let Some(by) = &example.refused_by {
            let _ = write!(why, "; refused by {by}");
        }
        let last = format!("row {}, session {}", example.row, example.session);
        let _ = writeln!(
            text,
            "          {}",
            paint(
                style::FAINT,
                format_args!("{} ({})", SafeText::line(&why), SafeText::line(&last))
            )
        );
    }
    let shown: usize = change.examples.iter().map(|example| example.times).sum();
    if shown < change.calls {
        let _ = writeln!(
            text,
            "          … and {} more",
            counted(change.calls - shown, "call")
        );
    }
    text
}
