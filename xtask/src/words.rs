//! Checks on the words people read: every sentence of the catalogue is used, none stands in the code instead, and none has the habits
//! that CONTRIBUTING names.
//!
//! That languages have the same sentences, and that code names only sentences that exist, is checked by the build of `placet-core`.

use std::path::Path;

use crate::shape::{read, rust_files, shown};
use crate::workspace::Workspace;

mod habits;
mod prose;

/// Files of the catalogue whose sentences code finds by a value or a path, and so does not name.
const LOOKED_UP: [&str; 5] = ["codes", "format", "help", "reply", "web"];

/// Every sentence that is not used, every file that speaks on its own, and every phrase to rewrite.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let mut code = String::new();
    let mut faults = Vec::new();
    for member in workspace
        .members
        .iter()
        .filter(|member| member.folder.starts_with(workspace.root.join("crates")))
    {
        for path in rust_files(&member.folder.join("src"))? {
            let text = read(&path)?;
            let name = shown(&path, &workspace.root).to_string();
            let is_test = name.contains("/tests/") || name.ends_with("/tests.rs");
            if !is_test && speaks(&text) {
                faults.push(format!("{name}: move its Chinese sentences to messages/zh"));
            }
            code += &text;
        }
    }
    for id in ids(&workspace.root.join("messages/en"))? {
        if !code.contains(&id.replace('.', "::")) {
            faults.push(format!(
                "the sentence `{id}` is not used: delete it from messages/"
            ));
        }
    }
    faults.extend(habits::check(workspace)?);
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

/// Whether a module has a Chinese sentence of its own. Comments and tests may name examples in any language.
fn speaks(module: &str) -> bool {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    without_tests(module)
        .lines()
        .filter(is_code)
        .any(|line| line.contains(is_han))
}

/// A module up to its tests, where they stand in the same file.
fn without_tests(module: &str) -> &str {
    let tests = module.match_indices("\n#[cfg(test)]\nmod ").find(|(at, _)| {
        let declared = module.get(at + 1..).unwrap_or_default();
        declared.lines().nth(1).is_some_and(|line| line.ends_with('{'))
    });
    tests.map_or(module, |(at, _)| module.get(..at).unwrap_or(module))
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
    fn chinese_in_tests_and_comments_is_an_example_and_elsewhere_a_sentence() {
        let tests = "#[cfg(test)]\nmod tests {\n    \"同意\"\n}\n";
        assert!(!speaks(&format!("say(\"hi\");\n\n{tests}")));
        assert!(!speaks("/// `同意` approves.\nsay();\n"));
        assert!(speaks("say(\"同意\");\n"));
        assert!(speaks(
            "mod a;\n#[cfg(test)]\nmod tests;\nmod b;\n\nsay(\"同意\");\n"
        ));
    }
}
