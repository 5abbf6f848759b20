//! Checks on the words people read: every sentence of the catalogue is used, and none stands in the code instead.
//!
//! That languages have the same sentences, and that code names only sentences that exist, is checked by the build of `placet-core`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::shape::{read, rust_files, shown};
use crate::workspace::Workspace;

/// Files of the catalogue whose sentences code finds by a value or a path, and so does not name.
const LOOKED_UP: [&str; 4] = ["codes", "format", "help", "web"];

/// Files that still hold Chinese of their own. The list only gets shorter.
const HOLD_CHINESE: &str = include_str!("words/hold-chinese.txt");

/// Every sentence that is not used, and every file that speaks on its own.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let mut code = String::new();
    let mut faults = Vec::new();
    let known: BTreeSet<&str> = HOLD_CHINESE.lines().filter(|line| !line.is_empty()).collect();
    let mut speaking = BTreeSet::new();
    for member in workspace
        .members
        .iter()
        .filter(|member| member.folder.starts_with(workspace.root.join("crates")))
    {
        for path in rust_files(&member.folder.join("src"))? {
            let text = read(&path)?;
            let name = shown(&path, &workspace.root).to_string();
            let is_test = name.contains("/tests/") || name.ends_with("/tests.rs");
            if !is_test && without_tests(&text).contains(is_han) {
                speaking.insert(name);
            }
            code += &text;
        }
    }
    for name in speaking.iter().filter(|name| !known.contains(name.as_str())) {
        faults.push(format!("{name}: move its Chinese sentences to messages/zh"));
    }
    for name in known.iter().filter(|name| !speaking.contains(**name)) {
        faults.push(format!(
            "{name} holds no Chinese: take it off xtask/src/words/hold-chinese.txt"
        ));
    }
    for id in ids(&workspace.root.join("messages/en"))? {
        if !code.contains(&id.replace('.', "::")) {
            faults.push(format!(
                "the sentence `{id}` is not used: delete it from messages/"
            ));
        }
    }
    Ok(faults)
}

/// The ids of the sentences that have a function.
fn ids(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut ids = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let file = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        if !LOOKED_UP.contains(&file) {
            ids.extend(ids_in(&read(&path)?));
        }
    }
    ids.sort();
    Ok(ids)
}

fn ids_in(file: &str) -> Vec<String> {
    let mut table = "";
    let mut ids = Vec::new();
    for line in file.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = name;
        } else if let Some((key, _)) = line.split_once(" = ")
            && !line.starts_with('#')
        {
            ids.push(format!("{table}.{key}"));
        }
    }
    ids
}

/// A module up to its tests, which may name examples in any language.
fn without_tests(module: &str) -> &str {
    module
        .split_once("\n#[cfg(test)]\nmod ")
        .map_or(module, |(own, _)| own)
}

fn is_han(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_a_file_are_its_keys_in_their_tables() {
        let file = "# a = b\n[chat]\nended = \"It has ended.\"\n\n[refusal]\ntoo_long = \"a = b\"\n";
        assert_eq!(ids_in(file), ["chat.ended", "refusal.too_long"]);
    }

    #[test]
    fn chinese_in_tests_is_an_example_and_elsewhere_a_sentence() {
        let module = "say(\"hi\");\n\n#[cfg(test)]\nmod tests {\n    \"同意\"\n}\n";
        assert!(!without_tests(module).contains(is_han));
        assert!(without_tests("say(\"同意\");\n").contains(is_han));
    }
}
