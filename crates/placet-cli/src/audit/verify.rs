//! `placet audit verify`: does the journal still say what was written?

use std::fmt::Write as _;
use std::time::Duration;

use indicatif::ProgressBar;
use placet_core::interaction::Locale;
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
    let progress = ProgressBar::new_spinner().with_message("following every chain and replaying every event");
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
        let row = finding.row.map_or(String::new(), |row| match locale {
            Locale::English => format!("row {row}: "),
            Locale::Chinese => format!("第 {row} 行："),
        });
        let _ = writeln!(
            text,
            "{} {row}{}",
            paint(style::BAD, locale.pick("wrong", "有误")),
            SafeText::line(&finding.sentence)
        );
    }
    let verdict = match (verified.findings.len(), locale) {
        (0, _) => paint(style::GOOD, locale.pick("sound", "完好")),
        (1, Locale::English) => paint(style::BAD, "1 fault"),
        (count, Locale::English) => paint(style::BAD, format_args!("{count} faults")),
        (count, Locale::Chinese) => paint(style::BAD, format_args!("{count} 处有误")),
    };
    let Verified {
        rows,
        sessions,
        checkpoints,
        anchor,
        ..
    } = verified;
    let _ = match locale {
        Locale::English => writeln!(
            text,
            "{verdict}: {rows} rows, {sessions} sessions, {checkpoints} checkpoints\nanchor {anchor}"
        ),
        Locale::Chinese => writeln!(
            text,
            "{verdict}：{rows} 行，{sessions} 个会话，{checkpoints} 个检查点\n锚点 {anchor}"
        ),
    };
    if verified.is_sound() {
        let hint = locale.pick(
            "keep the anchor somewhere else and pass it to a later check with --anchor",
            "请把锚点存放在别处，以后用 --anchor 核对",
        );
        let _ = writeln!(text, "{}", paint(style::FAINT, hint));
    }
    text
}
