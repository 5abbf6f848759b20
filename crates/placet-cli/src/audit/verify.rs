//! `placet audit verify`: does the journal still say what was written?

use std::fmt::Write as _;
use std::time::Duration;

use indicatif::ProgressBar;
use placet_core::interaction::Locale;
use placet_core::messages::verify;
use placet_core::render::SafeText;
use placet_store::{Anchor, Location, Store, Verified, verify_file};
use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::style::{self, paint};

pub(super) async fn run(
    location: &Location,
    store: &Store,
    anchor: Option<Anchor>,
    json: bool,
    locale: Locale,
) -> anyhow::Result<Exit> {
    // Draws on standard error, and only when that is a terminal.
    let progress = ProgressBar::new_spinner().with_message(verify::progress().say(locale));
    progress.enable_steady_tick(Duration::from_millis(120));
    let verified = match location {
        Location::File(path) => verify_file(path, anchor.as_ref()).map_err(anyhow::Error::from),
        Location::Server(_) => store.verify(anchor).await.map_err(anyhow::Error::from),
    };
    progress.finish_and_clear();
    let verified = verified?;
    output::print(&if json {
        as_json(&verified)
    } else {
        as_text(&verified, locale)
    })?;
    Ok(if verified.is_sound() {
        Exit::Success
    } else {
        Exit::Findings
    })
}

fn as_json(verified: &Verified) -> String {
    let faults = verified
        .findings
        .iter()
        .map(|finding| json!({ "kind": finding.kind, "row": finding.row, "what": finding.sentence }));
    let object = json!({
        "ok": verified.is_sound(),
        "rows": verified.rows,
        "sessions": verified.sessions,
        "checkpoints": verified.checkpoints,
        "anchor": verified.anchor.to_string(),
        "faults": faults.collect::<Vec<_>>(),
    });
    format!("{object}\n")
}

fn as_text(verified: &Verified, locale: Locale) -> String {
    let mut text = String::new();
    for finding in &verified.findings {
        let row = finding
            .row
            .map_or_else(String::new, |row| verify::row(row).say(locale));
        let _ = writeln!(
            text,
            "{} {row}{}",
            paint(style::BAD, verify::wrong().say(locale)),
            SafeText::line(&finding.sentence)
        );
    }
    let verdict = match verified.findings.len() {
        0 => paint(style::GOOD, verify::sound().say(locale)),
        count => paint(style::BAD, verify::faults(count).say(locale)),
    };
    let Verified {
        rows,
        sessions,
        checkpoints,
        anchor,
        ..
    } = verified;
    let counts = verify::counts(anchor, *checkpoints, *rows, *sessions, verdict);
    let _ = writeln!(text, "{}", counts.say(locale));
    if verified.is_sound() {
        let hint = verify::keep_anchor().say(locale);
        let _ = writeln!(text, "{}", paint(style::FAINT, hint));
    }
    text
}
