//! `placet policy suggest` and `placet policy replay`: the journal's calls under the present policy, and under another.

use std::fmt::Write as _;
use std::path::Path;

use placet_core::ids::PersonId;
use placet_core::messages;
use placet_core::render::SafeText;
use placet_core::time::Timestamp;
use placet_engine::places::DiskPlaces;
use placet_engine::review::{self, CALLS_MAX, Change, PastCall, Replay, Suggestion};
use placet_store::Location;
use serde_json::{Value, json};

use crate::args::{ReplayArgs, StoreArgs, SuggestArgs};
use crate::config_file::{self, Loaded};
use crate::exit::Exit;
use crate::style::{self, paint};
use crate::{locale, output, store};

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
        output::warn(&locale::say(&messages::review::newest_only(CALLS_MAX)));
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
            "judgedBy": messages::review::judged_by().to_string(),
            "suggestions": suggestions,
        });
        output::print(&format!("{object}\n"))?;
        return Ok(Exit::Success);
    }
    if found.is_empty() {
        output::warn(&locale::say(&messages::review::nothing(args.min, args.since)));
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
    locale::say(&messages::review::counts(
        spared.approved,
        spared.days,
        people.join(", "),
        spared.sessions.len(),
    ))
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
            fields.insert(
                "judgedBy".into(),
                messages::review::judged_by().to_string().into(),
            );
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
    let source = SafeText::line(&loaded.source.in_words());
    let how = locale::say(&messages::review::judged_by());
    let said = messages::review::replayed(replay.calls, replay.changed, how, since, source);
    let _ = writeln!(text, "{}", locale::say(&said));
    for change in &replay.changes {
        text.push_str(&change_in_words(change));
    }
    text
}

fn change_in_words(change: &Change) -> String {
    let mut text = String::new();
    let heading = locale::say(&messages::review::change(
        change.calls,
        change.from.as_str(),
        change.to.as_str(),
    ));
    let heading = if change.refused_then {
        paint(
            style::BAD,
            locale::say(&messages::review::change_refused(heading)),
        )
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
            Some(rule) => locale::say(&messages::review::rule(&example.reason, rule)),
            None => example.reason.clone(),
        };
        if let Some(by) = &example.refused_by {
            why = locale::say(&messages::review::rejected_by(by, why));
        }
        let why = locale::say(&messages::review::row(example.row, &example.session, why));
        let _ = writeln!(text, "          {}", paint(style::FAINT, SafeText::line(&why)));
    }
    let shown: usize = change.examples.iter().map(|example| example.times).sum();
    if shown < change.calls {
        let more = locale::say(&messages::review::more(change.calls - shown));
        let _ = writeln!(text, "          {more}");
    }
    text
}
