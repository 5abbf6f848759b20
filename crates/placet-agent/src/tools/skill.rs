//! `skill`: instructions that are read when they are needed. A skill is a folder with a `SKILL.md`, in the workspace or where the
//! operator says.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::Category;
use serde_json::{Value, json};

use super::files::{self, Workspace};
use super::walk::printable;
use super::{Tool, object, text};

/// Where skills are in a workspace.
const FOLDER: &str = ".placet/skills";
/// The file that makes a folder a skill.
const FILE: &str = "SKILL.md";
/// The most skills that are told of.
const SKILLS_MAX: usize = 50;
/// The most that is told of one.
const SUMMARY_CHARS_MAX: usize = 300;

/// Hands out skills.
#[derive(Debug, Clone)]
pub struct Skill {
    folders: Vec<PathBuf>,
    description: String,
}

impl Skill {
    /// The skills of a workspace, and those of other folders. A skill of the workspace goes before one of the same name.
    pub fn new(workspace: &Workspace, folders: &[String]) -> Self {
        let mut all = vec![workspace.root().join(FOLDER)];
        all.extend(folders.iter().map(|folder| workspace.root().join(folder)));
        Self {
            description: described(&all),
            folders: all,
        }
    }

    fn find(&self, name: &str) -> Result<String, String> {
        let unknown = || format!("there is no skill `{}`", printable(name));
        if !is_name(name) {
            return Err(unknown());
        }
        let found = self.folders.iter().find_map(|folder| load(folder, name));
        found.ok_or_else(unknown)?
    }
}

/// A name is one plain word, so it cannot lead anywhere.
fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// The text of a skill; `None` when the folder has none of that name. A link may not lead out of the folder: no one is asked
/// before a skill is read.
fn load(folder: &Path, name: &str) -> Option<Result<String, String>> {
    let real = std::fs::canonicalize(folder.join(name).join(FILE)).ok()?;
    if !std::fs::canonicalize(folder).is_ok_and(|folder| real.starts_with(folder)) {
        return Some(Err(format!(
            "the skill `{name}` leads out of its folder, and is not read"
        )));
    }
    files::read(&real).transpose()
}

/// What the model is told of all skills.
fn described(folders: &[PathBuf]) -> String {
    let mut names: Vec<String> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_name(name))
        .collect();
    names.sort_unstable();
    names.dedup();
    let skills: Vec<(String, String)> = names
        .into_iter()
        .filter_map(|name| {
            let text = folders.iter().find_map(|folder| load(folder, &name))?.ok()?;
            let summary = summary(&text);
            Some((name, summary))
        })
        .collect();
    let mut told = "Reads a skill: instructions for a kind of work. ".to_owned();
    if skills.is_empty() {
        told.push_str("There are none here.");
        return told;
    }
    told.push_str("Read one before you do its kind of work. There are:");
    for (name, summary) in skills.iter().take(SKILLS_MAX) {
        let _ = write!(told, "\n- {name}: {summary}");
    }
    if skills.len() > SKILLS_MAX {
        let _ = write!(told, "\n[{SKILLS_MAX} of {} are listed]", skills.len());
    }
    told
}

/// The `description:` of the text's header, else its first line.
fn summary(text: &str) -> String {
    let header = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---"));
    let described = header.and_then(|(header, _)| {
        let line = header.lines().find_map(|line| line.strip_prefix("description:"));
        line.map(|line| line.trim().trim_matches(['"', '\'']))
    });
    let first = || {
        text.lines()
            .map(|line| line.trim_start_matches('#').trim())
            .find(|line| !line.is_empty())
    };
    let summary = described.or_else(first).unwrap_or_default();
    printable(summary).chars().take(SUMMARY_CHARS_MAX).collect()
}

#[async_trait]
impl Tool for Skill {
    fn name(&self) -> &'static str {
        "skill"
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        let properties = json!({ "name": { "type": "string", "minLength": 1 } });
        object(&["name"], properties)
    }

    async fn run(&self, call: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        let (skill, name) = (self.clone(), text(&call.args, "name")?.to_owned());
        files::blocking(move || skill.find(&name)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, name: &str, text: &str) {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join(FILE), text).unwrap();
    }

    #[test]
    fn skills_are_told_of_and_read_and_the_workspace_goes_first() {
        let (workspace, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = workspace.path().join(FOLDER);
        put(
            &own,
            "release",
            "---\nname: release\ndescription: \"How we release\"\n---\nTag it.",
        );
        put(other.path(), "release", "another");
        put(other.path(), "review", "# Reviewing\n\nRead it twice.");
        let folders = [other.path().to_str().unwrap().to_owned()];
        let skill = Skill::new(&Workspace::new(workspace.path()), &folders);
        assert!(
            skill
                .description()
                .ends_with("There are:\n- release: How we release\n- review: Reviewing")
        );
        assert!(skill.find("release").unwrap().ends_with("Tag it."));
        assert!(skill.find("review").unwrap().contains("Read it twice."));
        assert_eq!(skill.find("other").unwrap_err(), "there is no skill `other`");
    }

    #[test]
    fn a_skill_cannot_lead_out_of_its_folder() {
        let workspace = tempfile::tempdir().unwrap();
        let own = workspace.path().join(FOLDER);
        std::fs::create_dir_all(own.join("linked")).unwrap();
        std::fs::write(workspace.path().join(FILE), "outside").unwrap();
        let secret = workspace.path().join("secret");
        std::fs::write(&secret, "hunter2").unwrap();
        std::os::unix::fs::symlink(&secret, own.join("linked").join(FILE)).unwrap();
        std::os::unix::fs::symlink(workspace.path(), own.join("folder")).unwrap();
        let skill = Skill::new(&Workspace::new(workspace.path()), &[]);
        for name in ["../../etc", "..", ".", "/etc", "a/b", "", "linked", "folder"] {
            assert!(skill.find(name).is_err(), "{name}");
        }
        assert!(skill.description().ends_with("There are none here."));
    }
}
