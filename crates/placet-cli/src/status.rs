//! `placet` without a command: where you are, and what to do next.

use std::path::Path;
use std::time::Duration;

use clap::Parser;
use placet_agent::configured;
use placet_client::{Client, Error};
use placet_core::config::Config;
use placet_core::listing::Counts;
use placet_core::messages::{Message, status};
use placet_core::render::SafeText;
use placet_store::Location;
use tokio::runtime::Runtime;

use crate::args::StoreArgs;
use crate::config_file::{self, Loaded, Source};
use crate::exit::Exit;
use crate::style::{self, paint};
use crate::{output, store};

/// How long the owner of the store may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(3);

/// The store that commands use when no flag names another; variables still do.
#[derive(Parser)]
struct Usual {
    #[command(flatten)]
    store: StoreArgs,
}

/// Who works on the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Serves,
    Works,
    Silent,
    Nobody,
}

/// Runs the command.
pub(crate) fn run() -> anyhow::Result<Exit> {
    let args = Usual::parse_from(["placet"]).store;
    let Loaded { config, source } = config_file::load(args.config.as_deref())?;
    let location = store::at(&args)?;
    let counts = match &location {
        Location::File(path) if store::is_newcomers(&args, path) => None,
        location => Some(store::look(location, |stored| stored.counts(&()).cloned())?),
    };
    let (owner, server) = Runtime::new()?.block_on(owner(&store::place(&args, &config)?.socket));
    let policy = match &source {
        Source::File(path) => status::rules(config.policy.rules().count(), path.display()),
        Source::BuiltIn => status::built_in(),
    };
    let requests = match &counts {
        None | Some(Counts { sessions: 0, .. }) => status::nothing_yet(),
        Some(Counts { pending: 0, .. }) => status::none_pending(),
        Some(counts) => status::pending(counts.pending),
    };
    let facts = [
        (status::server(), server),
        (status::requests(), requests),
        (status::policy(), policy),
        (
            status::store(),
            placet_core::messages::text::as_written(&location),
        ),
    ];
    let locale = config.locale(None);
    let title = concat!("Placet ", env!("CARGO_PKG_VERSION"));
    let mut lines = vec![paint(style::HEADING, title), String::new()];
    let labels = facts.iter().map(|(label, _)| width(&label.say(locale)));
    let column = labels.max().unwrap_or_default();
    for (label, fact) in facts {
        let label = label.say(locale);
        let gap = " ".repeat(column.saturating_sub(width(&label)));
        lines.push(format!("  {label}{gap}  {}", SafeText::line(&fact.say(locale))));
    }
    lines.push(String::new());
    lines.push(paint(style::HEADING, status::next().say(locale)));
    let steps = steps(&config, &source, owner, counts.as_ref());
    let column = steps
        .iter()
        .map(|(command, _)| command.len())
        .max()
        .unwrap_or_default();
    for (command, why) in steps {
        let why = paint(style::FAINT, why.say(locale));
        lines.push(format!("  {command:<column$}  {why}"));
    }
    lines.push(String::new());
    output::print(&lines.join("\n"))?;
    Ok(Exit::Success)
}

fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

async fn owner(socket: &Path) -> (Owner, Message) {
    match tokio::time::timeout(PATIENCE, Client::socket(socket).owner()).await {
        Ok(Ok(body)) => match body.url {
            Some(url) => (Owner::Serves, status::serving(url, body.workspace)),
            None => (Owner::Works, status::owner()),
        },
        Ok(Err(Error::NotRunning { .. })) => (Owner::Nobody, status::stopped()),
        Ok(Err(_)) | Err(_) => (Owner::Silent, status::silent()),
    }
}

/// What to do next, most useful first.
fn steps(
    config: &Config,
    source: &Source,
    owner: Owner,
    counts: Option<&Counts>,
) -> Vec<(&'static str, Message)> {
    let is_new = counts.is_none_or(|counts| counts.sessions == 0);
    let is_pending = counts.is_some_and(|counts| counts.pending > 0);
    let has_model = configured::model(config, None).is_ok();
    let is_built_in = matches!(source, Source::BuiltIn);
    [
        (is_pending, "placet inbox", status::review()),
        (is_new, "placet demo", status::demo()),
        (owner == Owner::Nobody, "placet serve", status::serve()),
        (
            owner == Owner::Serves && is_new,
            "placet serve --help",
            status::connect(),
        ),
        (is_built_in, "placet init", status::init()),
        (!is_built_in, "placet policy test", status::test()),
        (has_model, "placet chat", status::chat()),
        (!is_new, "placet audit list", status::audit()),
        (true, "placet --help", status::help()),
    ]
    .into_iter()
    .filter_map(|(applies, command, why)| applies.then_some((command, why)))
    .collect()
}
