//! `placet audit verify`: does the journal still say what was written?

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use indicatif::ProgressBar;
use placet_core::render::SafeText;
use placet_store::{Anchor, Verified, verify_file};
use serde_json::json;

use crate::exit::Exit;
use crate::output;
use crate::style::{self, paint};

pub(super) fn run(path: &Path, anchor: Option<&Anchor>, json: bool) -> anyhow::Result<Exit> {
    // Draws on standard error, and only when that is a terminal.
    let progress = ProgressBar::new_spinner().with_message("following every chain and replaying every event");
    progress.enable_steady_tick(Duration::from_millis(120));
    let verified = verify_file(path, anchor);
    progress.finish_and_clear();
    let verified = verified?;
    output::print(&if json {
        as_json(&verified)
    } else {
        as_text(&verified)
    })?;
    Ok(if verified.is_sound() {
        Exit::Success
    } else {
        Exit::Findings
    })
}

fn as_json(verified: &Verified) -> String {
    let object = json!({
        "ok": verified.is_sound(),
        "rows": verified.rows,
        "sessions": verified.sessions,
        "checkpoints": verified.checkpoints,
        "anchor": verified.anchor.to_string(),
        "findings": verified.findings,
    });
    format!("{object}\n")
}

fn as_text(verified: &Verified) -> String {
    let mut text = String::new();
    for finding in &verified.findings {
        let row = finding.row.map_or(String::new(), |row| format!("row {row}: "));
        let _ = writeln!(
            text,
            "{} {row}{}",
            paint(style::BAD, "wrong"),
            SafeText::line(&finding.sentence)
        );
    }
    let verdict = match verified.findings.len() {
        0 => paint(style::GOOD, "sound"),
        1 => paint(style::BAD, "1 finding"),
        count => paint(style::BAD, format_args!("{count} findings")),
    };
    let Verified {
        rows,
        sessions,
        checkpoints,
        anchor,
        ..
    } = verified;
    let _ = writeln!(
        text,
        "{verdict}: {rows} rows, {sessions} sessions, {checkpoints} checkpoints"
    );
    let _ = writeln!(text, "anchor {anchor}");
    if verified.is_sound() {
        let hint = "keep the anchor somewhere else and pass it to a later check with --anchor";
        let _ = writeln!(text, "{}", paint(style::FAINT, hint));
    }
    text
}
