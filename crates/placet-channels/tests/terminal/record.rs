//! Screens recorded in the documents. With `UPDATE_EXPECT=1` a file is written instead of compared.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Tests run side by side; a file is one.
static FILE: Mutex<()> = Mutex::new(());

/// The block of `name` in a document is this screen. What differs each time (the code, the clock) is written alike.
pub(crate) fn recorded(document: &str, name: &str, screen: &str) {
    let _one_at_a_time = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(document);
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
            "docs/{document} has drifted; UPDATE_EXPECT=1 records it again"
        );
    }
}

fn alike(screen: &str) -> String {
    let mut text = String::new();
    for line in screen.lines() {
        text.push_str(coded(&timed(&placed(line))).trim_end());
        text.push('\n');
    }
    text
}

/// Every temporary folder is `/home/lin/shop`.
fn placed(line: &str) -> String {
    let temporary = std::env::temp_dir().join(".tmp").display().to_string();
    match line.split_once(&temporary) {
        Some((before, after)) => {
            let rest = after.find(char::is_whitespace).and_then(|end| after.get(end..));
            format!("{before}/home/lin/shop{}", rest.unwrap_or_default())
        }
        None => line.to_owned(),
    }
}

/// Every clock reads `0:58` or `29:58`, as wide as it was.
fn timed(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut out = chars.clone();
    for colon in (1..chars.len()).filter(|at| chars[*at] == ':') {
        if digit(colon - 1) && digit(colon + 1) && digit(colon + 2) {
            out[colon + 1] = '5';
            out[colon + 2] = '8';
            if colon > 1 && digit(colon - 2) {
                out[colon - 2] = '2';
                out[colon - 1] = '9';
            } else {
                out[colon - 1] = '0';
            }
        }
    }
    out.into_iter().collect()
}

/// Every code is `K7QP`: four capitals or digits behind the title, or behind a risk in a list.
fn coded(line: &str) -> String {
    let mut out = line.to_owned();
    for lead in ["placet · ", "HIGH   ", "MEDIUM ", "LOW    "] {
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
