//! Screens recorded in `docs/terminal.md`. With `UPDATE_EXPECT=1` the file is written instead of compared.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Tests run side by side; the file is one.
static FILE: Mutex<()> = Mutex::new(());

/// The block of `name` in the file is this screen. What differs each time (the code, the clock) is written alike.
pub(crate) fn recorded(name: &str, screen: &str) {
    let _one_at_a_time = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/terminal.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let opening = format!("<!-- screen: {name} -->\n```text\n");
    let (before, rest) = text
        .split_once(&opening)
        .unwrap_or_else(|| panic!("no block `{name}` in the file"));
    let (block, after) = rest.split_once("```\n").unwrap();
    let screen = alike(screen);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, format!("{before}{opening}{screen}```\n{after}")).unwrap();
    } else {
        assert_eq!(
            block, screen,
            "docs/terminal.md has drifted; UPDATE_EXPECT=1 records it again"
        );
    }
}

fn alike(screen: &str) -> String {
    let mut text = String::new();
    for line in screen.lines() {
        text.push_str(coded(&timed(line)).trim_end());
        text.push('\n');
    }
    text
}

/// Every clock reads `0:58`.
fn timed(line: &str) -> String {
    let mut out = line.to_owned();
    for seconds in 50..60 {
        out = out.replace(&format!("0:{seconds}"), "0:58");
    }
    out.replace("1:00", "0:58")
}

/// Every code is `K7QP`: four capitals or digits behind the title, or behind a risk in a list.
fn coded(line: &str) -> String {
    let mut out = line.to_owned();
    for lead in ["placet · ", "HIGH ", "MED  ", "LOW  "] {
        let Some(at) = out.find(lead).map(|at| at + lead.len()) else {
            continue;
        };
        let is_code = |text: &str| text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        if out.get(at..at + 4).is_some_and(is_code) {
            out.replace_range(at..at + 4, "K7QP");
        }
    }
    out
}
