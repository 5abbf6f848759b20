//! `cargo xtask conformance`: docs/conformance.md, a row for every sentence of the five documents Placet started from.
//!
//! `conformance.txt` names the tests of each sentence. The page is made from the tests that exist, and a test of this module compares the
//! two, so neither a renamed test nor an edited page goes unnoticed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::shape::{read, rust_files, shown};
use crate::workspace::Workspace;

/// The sentences and the names of their tests.
const SENTENCES: &str = include_str!("conformance.txt");
/// The page, from the root of the workspace.
const PAGE: &str = "docs/conformance.md";

const HEAD: &str = "\
# The five documents, sentence by sentence

Made by `cargo xtask conformance` from the names of the tests; edit `xtask/src/conformance.txt`. A sentence is *tested* when every test named
for it exists, and *open* when it has none: Placet does not do that yet.
";

pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let workspace = Workspace::read()?;
    let page = page(SENTENCES, &tests(&workspace)?)?;
    fs::write(workspace.root.join(PAGE), page).with_context(|| format!("cannot write {PAGE}"))?;
    println!("wrote {PAGE}");
    Ok(ExitCode::SUCCESS)
}

/// Every test of the workspace by its name, with the files that have one.
fn tests(workspace: &Workspace) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for member in &workspace.members {
        for folder in ["src", "tests"].map(|name| member.folder.join(name)) {
            if !folder.is_dir() {
                continue;
            }
            for file in rust_files(&folder)? {
                let path = shown(&file, &workspace.root).to_string();
                for name in names_in(&read(&file)?) {
                    found.entry(name).or_default().push(path.clone());
                }
            }
        }
    }
    Ok(found)
}

/// The names of the tests in a file: the function after a test's attribute, whatever attributes stand between.
fn names_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) {
            names.push(
                rest.chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect(),
            );
            is_test = false;
        }
    }
    names
}

/// The page. A document is a line in brackets, a sentence a line, its tests the indented lines below it.
fn page(sentences: &str, tests: &BTreeMap<String, Vec<String>>) -> anyhow::Result<String> {
    let mut page = HEAD.to_owned();
    let (mut tested, mut open) = (0_usize, 0_usize);
    let mut lines = sentences
        .lines()
        .filter(|line| !line.trim().is_empty())
        .peekable();
    while let Some(line) = lines.next() {
        if let Some(document) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            write!(
                page,
                "\n## {document}\n\n| sentence | test | state |\n|---|---|---|\n"
            )?;
            continue;
        }
        if line.starts_with(' ') {
            bail!("the test `{}` stands below no sentence", line.trim());
        }
        let mut cells = Vec::new();
        while let Some(name) = lines.next_if(|line| line.starts_with(' ')).map(str::trim) {
            let Some(files) = tests.get(name) else {
                bail!("`{line}` names the test `{name}`, which does not exist");
            };
            cells.push(format!("`{name}` ({})", files.join(", ")));
        }
        let state = if cells.is_empty() { "open" } else { "tested" };
        *if cells.is_empty() { &mut open } else { &mut tested } += 1;
        writeln!(
            page,
            "| {} | {} | {state} |",
            line.replace('|', "\\|"),
            cells.join("<br>")
        )?;
    }
    write!(page, "\n{tested} sentences are tested, {open} are open.\n")?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_the_tests_do() {
        let workspace = Workspace::read().unwrap();
        let expected = page(SENTENCES, &tests(&workspace).unwrap()).unwrap();
        let found = read(&workspace.root.join(PAGE)).unwrap();
        assert!(
            found == expected,
            "{PAGE} is out of date; run `cargo xtask conformance`"
        );
    }

    #[test]
    fn a_test_that_does_not_exist_is_named_and_a_sentence_without_one_is_open() {
        let tests = BTreeMap::from([("it_works".to_owned(), vec!["a.rs".to_owned()])]);
        let made = page("[one.md]\nIt works.\n  it_works\nIt flies.\n", &tests).unwrap();
        assert!(
            made.contains("| It works. | `it_works` (a.rs) | tested |"),
            "{made}"
        );
        assert!(made.contains("| It flies. |  | open |"), "{made}");
        assert!(made.ends_with("1 sentences are tested, 1 are open.\n"), "{made}");
        let gone = page("[one.md]\nIt works.\n  it_worked\n", &tests)
            .unwrap_err()
            .to_string();
        assert!(gone.contains("`it_worked`, which does not exist"), "{gone}");
    }

    #[test]
    fn only_functions_that_are_tests_are_found() {
        let text = "#[test]\n#[cfg(unix)]\nfn a_test() {}\nfn no_test() {}\n#[tokio::test(flavor = \"x\")]\nasync fn another() {}\n";
        assert_eq!(names_in(text), ["a_test", "another"]);
    }
}
