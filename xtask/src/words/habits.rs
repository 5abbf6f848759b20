//! Phrases that make a sentence hard to read: none in the catalogue, in a comment, in a text of the code or in the documentation.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::prose::{self, Language, Prose};
use crate::shape::{read, shown};
use crate::workspace::Workspace;

/// A phrase a line, and what to write instead.
const HABITS: &str = include_str!("habits.txt");

/// File names that a reader cannot guess the content from.
const POOR_NAMES: [&str; 23] = [
    "cases",
    "chronicle",
    "common",
    "connect",
    "edge",
    "helpers",
    "kept",
    "landing",
    "lasting",
    "letters",
    "looks",
    "misc",
    "named",
    "obey",
    "offer",
    "rest",
    "seat",
    "sends",
    "sheet",
    "sound",
    "stall",
    "tell",
    "utils",
];

/// The extensions of files that people write.
const WRITTEN: [&str; 9] = ["rs", "js", "mjs", "css", "html", "md", "toml", "sql", "sh"];

/// Folders that hold nothing of ours, or text that quotes others.
const PASSED_OVER: [&str; 5] = ["node_modules", "target", ".git", "zh", "corpus"];

/// Its lines are the names of tests and the sentences of the documents Placet started from.
const QUOTES: &str = "conformance.md";

/// Every line with such a phrase, and every file with such a name.
pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let mut faults = Vec::new();
    for path in files(&workspace.root)? {
        let name = shown(&path, &workspace.root).to_string();
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        let is_ours = path
            .extension()
            .is_some_and(|extension| WRITTEN.iter().any(|own| extension == *own));
        if is_ours && POOR_NAMES.contains(&stem) {
            faults.push(format!(
                "{name}: name the file for what a newcomer would search for"
            ));
        }
        let is_test = name.contains("tests/") || stem == "tests";
        let prose = match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => of_program(&read(&path)?, Language::Rust, is_test),
            Some("js" | "mjs") => of_program(&read(&path)?, Language::JavaScript, is_test),
            Some("md") => prose::of_text(&read(&path)?),
            Some("toml") => prose::of_toml(&read(&path)?),
            _ => continue,
        };
        for (number, said) in prose {
            for (phrase, instead) in found(&said) {
                faults.push(format!("{name}:{number}: “{phrase}”; write instead: {instead}"));
            }
        }
    }
    Ok(faults)
}

/// Tests say what they like in their strings; their comments are for readers like all others.
fn of_program(text: &str, language: Language, is_test: bool) -> Prose {
    let own = if is_test { "" } else { super::without_tests(text) };
    let tests = text.get(own.len()..).unwrap_or_default();
    let lines_before = own.matches('\n').count();
    let mut prose = prose::of_code(own, language, true);
    let comments = prose::of_code(tests, language, false).into_iter();
    prose.extend(comments.map(|(line, said)| (line + lines_before, said)));
    prose
}

fn files(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let is_passed_over = PASSED_OVER.iter().any(|other| name == *other) || name == QUOTES;
            if is_passed_over {
                continue;
            }
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The phrases in a text. What stands between backticks is a name.
fn found(text: &str) -> Vec<(&'static str, &'static str)> {
    let prose: String = text
        .split('`')
        .step_by(2)
        .collect::<Vec<_>>()
        .join("`")
        .to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    let habits = HABITS.lines().filter(|line| !line.starts_with('#'));
    let habits = habits.filter_map(|line| line.split_once(": "));
    let occurs = |phrase: &str| {
        prose.match_indices(phrase).any(|(at, _)| {
            let before = prose.get(..at).and_then(|before| before.chars().next_back());
            let after = prose
                .get(at + phrase.len()..)
                .and_then(|after| after.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    };
    habits.filter(|(phrase, _)| occurs(phrase)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<&'static str> {
        found(text).into_iter().map(|(phrase, _)| phrase).collect()
    }

    #[test]
    fn a_phrase_is_found_as_whole_words_outside_of_names() {
        assert_eq!(phrases("Nobody waits, and whoever asks"), ["nobody", "whoever"]);
        assert_eq!(phrases("see `nobody` and nobody-to-ask"), [""; 0]);
        assert_eq!(phrases("`a` is asked about `b`"), ["is asked about"]);
        assert_eq!(phrases("[reason](errors/nobody.md)"), [""; 0]);
    }

    #[test]
    fn every_habit_says_what_to_write_instead() {
        for line in HABITS.lines().filter(|line| !line.starts_with('#')) {
            let (phrase, instead) = line.split_once(": ").unwrap_or_default();
            assert!(!phrase.is_empty() && !instead.is_empty(), "{line}");
            assert_eq!(phrase, phrase.to_lowercase());
        }
    }
}
