//! `placet grants`: list, revoke and export standing grants.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::bail;
use placet_core::ids::{PersonId, StandingGrantId};
use placet_core::interaction::Locale;
use placet_core::listing::StandingRow;
use placet_core::messages::{grants, refused};
use placet_core::render::{SafeText, mask};
use placet_core::standing::{GrantReach, ProposedRule};
use placet_core::time::{Millis, Timestamp};
use placet_store::{Clock as _, Location, SystemClock};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::args::{GrantsArgs, GrantsCommand, StoreArgs};
use crate::exit::Exit;
use crate::style::{self, paint};
use crate::wiring::Work;
use crate::{config_file, locale, output, store, who};

/// Runs the command.
pub(crate) fn run(args: &GrantsArgs) -> anyhow::Result<Exit> {
    match &args.command {
        GrantsCommand::List { json } => list(&args.store, *json),
        GrantsCommand::Export => export(&args.store),
        GrantsCommand::Revoke { id, by } => revoke(&args.store, id, by.as_ref()),
    }
}

fn list(args: &StoreArgs, json: bool) -> anyhow::Result<Exit> {
    let location = store::at(args)?;
    if let Some(path) = newcomers(args, &location) {
        let nothing = grants::empty(path.display()).say(locale::current());
        output::print(if json { "[]\n" } else { &nothing })?;
        return Ok(Exit::Success);
    }
    let now = SystemClock.wall();
    let rows = standing(&location, now)?;
    if json {
        let grants: Vec<Value> = rows.iter().map(as_json).collect();
        output::print(&format!("{}\n", Value::from(grants)))?;
        return Ok(Exit::Success);
    }
    let locale = locale::current();
    if rows.is_empty() {
        output::warn(&grants::none().say(locale));
    }
    let text: String = rows.iter().map(|row| in_words(row, now, locale)).collect();
    output::print(&text)?;
    Ok(Exit::Success)
}

fn newcomers<'l>(args: &StoreArgs, location: &'l Location) -> Option<&'l Path> {
    store::missing_file(location).filter(|path| store::is_newcomers(args, path))
}

fn standing(location: &Location, now: Timestamp) -> anyhow::Result<Vec<StandingRow>> {
    store::look(location, |stored| stored.all_standing(&now).cloned())
}

/// The rules that people made from questions, as TOML for `placet.toml`.
fn export(args: &StoreArgs) -> anyhow::Result<Exit> {
    let location = store::at(args)?;
    let rows = match newcomers(args, &location) {
        Some(_) => Vec::new(),
        None => standing(&location, SystemClock.wall())?,
    };
    let locale = locale::current();
    let mut text = String::new();
    let in_force = rows.iter().filter(|row| row.state() == "inForce");
    let in_force = in_force.filter(|row| row.grant.scope.reach() == GrantReach::Rule);
    for StandingRow { grant, uses, .. } in in_force {
        let (id, by) = (
            SafeText::line(grant.id.as_str()),
            SafeText::line(grant.by.as_str()),
        );
        let Some(rule) = ProposedRule::of(grant, &placet_inspect::builtin()) else {
            let what = SafeText::line(&grant.scope.describe_in(locale));
            output::warn(&grants::not_a_rule(id, what).say(locale));
            continue;
        };
        let _ = writeln!(
            text,
            "# {}\n{}",
            grants::exported(grant.given_at, by, id, *uses).say(locale),
            rule.to_toml()
        );
    }
    if text.is_empty() {
        output::warn(&grants::no_rules().say(locale));
    }
    output::print(&text)?;
    Ok(Exit::Success)
}

fn as_json(row: &StandingRow) -> Value {
    let StandingRow { grant, uses, .. } = row;
    json!({
        "id": grant.id,
        "state": row.state(),
        "covers": grant.scope.describe(),
        "reach": grant.scope.reach(),
        "scope": mask::json(&json!(grant.scope)),
        "by": grant.by,
        "givenAt": grant.given_at.to_string(),
        "endsAt": grant.ends_at.to_string(),
        "uses": uses,
        "usesMax": grant.uses_max,
    })
}

fn in_words(row: &StandingRow, now: Timestamp, locale: Locale) -> String {
    let StandingRow { grant, uses, .. } = row;
    let (word, colour) = match row.state() {
        "revoked" => (grants::revoked(), style::BAD),
        "usedUp" => (grants::used_up(), style::FAINT),
        _ => (grants::in_force(), style::GOOD),
    };
    let left = u64::try_from(grant.ends_at.as_millis() - now.as_millis()).unwrap_or(0);
    // Milliseconds would only distract.
    let left = Millis::from_secs(left / 1000);
    let mut text = String::new();
    let id = paint(style::HEADING, SafeText::line(grant.id.as_str()));
    let _ = writeln!(text, "{id}  {}", paint(colour, word.say(locale)));
    let _ = writeln!(text, "  {}", SafeText::line(&grant.scope.describe_in(locale)));
    let (at, by) = (grant.given_at, SafeText::line(grant.by.as_str()));
    let terms = match grant.uses_max {
        Some(max) => grants::terms_max(at, by, left, max, *uses),
        None => grants::terms(at, by, left, *uses),
    };
    let _ = writeln!(text, "  {}", paint(style::FAINT, terms.say(locale)));
    text
}

fn revoke(args: &StoreArgs, id: &StandingGrantId, by: Option<&PersonId>) -> anyhow::Result<Exit> {
    let config = config_file::load(args.config.as_deref())?.config;
    let by = who::is_here(by, &config.people)?;
    let place = store::place(args, &config)?;
    let memory = config.approval.memory;
    let revoked = Runtime::new()?.block_on(async {
        let owner = store::answering(config, place, &by, Work::Answers).await?;
        let revoked = owner.client.revoke(id).await;
        owner.close().await?;
        anyhow::Ok(revoked)
    })?;
    match revoked {
        Err(error) if error.code() == Some("no-such-grant") => {
            bail!(locale::error(&refused::no_grant(id)))
        }
        revoked => revoked?,
    }
    let (id, by) = (SafeText::line(id.as_str()), SafeText::line(by.as_str()));
    let mut text = locale::say(&grants::revoked_by(by, id)) + "\n";
    if memory != Millis::ZERO {
        let _ = writeln!(text, "{}", locale::say(&grants::memory_counts(memory)));
    }
    output::print(&text)?;
    Ok(Exit::Success)
}
