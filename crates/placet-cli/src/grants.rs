//! `placet grants`: list, revoke and export standing grants.

use std::fmt::Write as _;

use anyhow::bail;
use placet_core::ids::{PersonId, StandingGrantId};
use placet_core::render::{SafeText, mask};
use placet_core::standing::{GrantReach, ProposedRule, StandingGrant};
use placet_core::steps::RevokeRefusal;
use placet_core::time::{Millis, Timestamp};
use placet_store::{Clock as _, StepError, SystemClock};
use serde_json::{Value, json};

use crate::args::{GrantsArgs, GrantsCommand, StoreArgs};
use crate::exit::Exit;
use crate::style::{self, paint};
use crate::{config_file, output, store, who};

/// A grant, how often it was used, and whether it was taken back.
type Row = (StandingGrant, u32, bool);

/// Runs the command.
pub(crate) fn run(args: &GrantsArgs) -> anyhow::Result<Exit> {
    match &args.command {
        GrantsCommand::List { json } => list(&args.store, *json),
        GrantsCommand::Export => export(&args.store),
        GrantsCommand::Revoke { id, by } => revoke(&args.store, id, by.as_ref()),
    }
}

fn list(args: &StoreArgs, json: bool) -> anyhow::Result<Exit> {
    let path = store::path(args)?;
    if store::is_newcomers(args, &path) {
        let nothing = format!(
            "No standing grants: nothing has been asked yet at `{}`.\n\
             A question's \"don't ask again\" gives one (`placet demo` shows how it looks); --db FILE or --data DIR names another place.\n",
            path.display()
        );
        output::print(if json { "[]\n" } else { &nothing })?;
        return Ok(Exit::Success);
    }
    let found = store::read_only(&path)?;
    let now = SystemClock.wall();
    let rows = found.read(|view| view.all_standing(now))?;
    if json {
        let grants: Vec<Value> = rows.iter().map(as_json).collect();
        output::print(&format!("{}\n", Value::from(grants)))?;
        return Ok(Exit::Success);
    }
    if rows.is_empty() {
        output::warn("no standing grant is in force; every question is asked");
    }
    let text: String = rows.iter().map(|row| in_words(row, now)).collect();
    output::print(&text)?;
    Ok(Exit::Success)
}

/// The rules that people made from questions, as TOML for `placet.toml`.
fn export(args: &StoreArgs) -> anyhow::Result<Exit> {
    let path = store::path(args)?;
    let rows = if store::is_newcomers(args, &path) {
        Vec::new()
    } else {
        store::read_only(&path)?.read(|view| view.all_standing(SystemClock.wall()))?
    };
    let mut text = String::new();
    let in_force = rows.iter().filter(|row| state(row) == "inForce");
    for (grant, uses, _) in in_force.filter(|(grant, ..)| grant.scope.reach() == GrantReach::Rule) {
        let (id, by) = (
            SafeText::line(grant.id.as_str()),
            SafeText::line(grant.by.as_str()),
        );
        let Some(rule) = ProposedRule::of(grant) else {
            let what = SafeText::line(&grant.scope.describe());
            output::warn(&format!("{id} cannot be written as a rule: {what}"));
            continue;
        };
        let _ = writeln!(
            text,
            "# {id}, given by {by} at {}, used {uses} times\n{}",
            grant.given_at,
            rule.to_toml()
        );
    }
    if text.is_empty() {
        output::warn("no rule was made from a question");
    }
    output::print(&text)?;
    Ok(Exit::Success)
}

fn state((grant, uses, revoked): &Row) -> &'static str {
    match grant.uses_max {
        _ if *revoked => "revoked",
        Some(max) if *uses >= max => "usedUp",
        _ => "inForce",
    }
}

fn as_json(row: &Row) -> Value {
    let (grant, uses, _) = row;
    json!({
        "id": grant.id,
        "state": state(row),
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

fn in_words(row: &Row, now: Timestamp) -> String {
    let (grant, uses, _) = row;
    let (word, colour) = match state(row) {
        "revoked" => ("taken back", style::BAD),
        "usedUp" => ("used up", style::FAINT),
        _ => ("in force", style::GOOD),
    };
    let left = u64::try_from(grant.ends_at.as_millis() - now.as_millis()).unwrap_or(0);
    // To the second: nobody plans by milliseconds.
    let left = Millis::from_secs(left / 1000);
    let most = grant.uses_max.map(|max| format!(" of {max}")).unwrap_or_default();
    let mut text = String::new();
    let id = paint(style::HEADING, SafeText::line(grant.id.as_str()));
    let _ = writeln!(text, "{id}  {}", paint(colour, word));
    let _ = writeln!(text, "  {}", SafeText::line(&grant.scope.describe()));
    let by = SafeText::line(grant.by.as_str());
    let _ = writeln!(
        text,
        "  {}",
        paint(
            style::FAINT,
            format_args!(
                "by {by} at {}, ends in {left}, used {uses}{most} times",
                grant.given_at
            )
        )
    );
    text
}

fn revoke(args: &StoreArgs, id: &StandingGrantId, by: Option<&PersonId>) -> anyhow::Result<Exit> {
    let config = config_file::load(args.config.as_deref())?.config;
    let by = who::is_here(by, &config.people)?;
    let path = store::path(args)?;
    let memory = config.approval.memory;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let revoked = runtime.block_on(async {
        let beside = store::join(config, &path).await?;
        let revoked = beside.broker().revoke_standing(id, &by).await;
        beside.close().await?;
        anyhow::Ok(revoked)
    })?;
    match revoked {
        Ok(()) => {}
        Err(StepError::Refused(RevokeRefusal::NotFound(id))) => {
            bail!("there is no standing grant `{id}` in force; `placet grants list` shows them")
        }
        Err(StepError::Store(error)) => return Err(error.into()),
    }
    let (id, by) = (SafeText::line(id.as_str()), SafeText::line(by.as_str()));
    let mut text = format!("{id} is taken back by {by}: from now on people are asked again\n");
    if memory != Millis::ZERO {
        let _ = writeln!(
            text,
            "(exactly a call that was approved in a chat counts for {memory} all the same)"
        );
    }
    output::print(&text)?;
    Ok(Exit::Success)
}
