//! A person at a terminal: sees the screen, presses keys, and waits for what they expect to see, for so long and no longer.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::SCENE;
use crate::pty::{Pty, Room};

const PROGRAM: &str = "program::the_program_at_the_terminal";

/// A terminal with a program on it, and a person in front of it.
pub(crate) struct Person {
    folder: TempDir,
    pty: Pty,
}

/// How the terminal is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) room: Room,
    pub(crate) env: Vec<(&'static str, String)>,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            room: Room { cols: 90, rows: 30 },
            env: Vec::new(),
        }
    }
}

impl Deref for Person {
    type Target = Pty;

    fn deref(&self) -> &Pty {
        &self.pty
    }
}

impl DerefMut for Person {
    fn deref_mut(&mut self) -> &mut Pty {
        &mut self.pty
    }
}

impl Person {
    /// Sits down where one shell command needs approval.
    pub(crate) fn asked_about(command: &str) -> Self {
        Self::at(json!({ "calls": [bash(command)] }))
    }

    /// Sits down in front of a scene.
    pub(crate) fn at(scene: Value) -> Self {
        Self::sits(&Place::default(), scene)
    }

    pub(crate) fn sits(place: &Place, scene: Value) -> Self {
        Self::sits_in(tempfile::tempdir().unwrap(), place, scene)
    }

    pub(crate) fn sits_in(folder: TempDir, place: &Place, mut scene: Value) -> Self {
        scene["folder"] = json!(folder.path());
        if scene.get("locale").is_none() {
            scene["locale"] = json!("en");
        }
        let path = folder.path().join("scene.json");
        std::fs::write(&path, scene.to_string()).unwrap();
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args(["--exact", PROGRAM, "--nocapture"]);
        command.env(SCENE, &path);
        for name in ["NO_COLOR", "VISUAL", "EDITOR"] {
            command.env_remove(name);
        }
        for (name, value) in &place.env {
            command.env(name, value);
        }
        Self {
            pty: Pty::start(command, place.room),
            folder,
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Waits until keys count: they are drawn faint before.
    pub(crate) fn is_asked(&self) {
        self.waits_until("keys that count", |screen| {
            let (rows, cols) = screen.size();
            // Keys stand below the line that ends the question.
            let texts: Vec<String> = screen.rows(0, cols.get()).collect();
            let Some(rule) = texts.iter().rposition(|row| row.starts_with("────")) else {
                return false;
            };
            let below = u16::try_from(rule).unwrap() + 1..rows.get();
            let mut cells =
                below.flat_map(|row| (0..cols.get()).filter_map(move |col| screen.cell(row, col)));
            cells.any(|cell| matches!(cell.contents(), "[" | "›") && cell.bold() && !cell.dim())
        });
    }

    /// Presses keys, as soon as keys count.
    pub(crate) fn presses(&mut self, keys: &str) {
        self.is_asked();
        self.types(keys);
    }

    /// What came of everything, once the program is done.
    pub(crate) fn results(&mut self) -> Value {
        self.ends();
        serde_json::from_str(&std::fs::read_to_string(self.file("results.json")).unwrap()).unwrap()
    }

    /// What came of the only call.
    pub(crate) fn result(&mut self) -> Value {
        self.results()["calls"][0].clone()
    }

    pub(crate) fn leaves(self) -> TempDir {
        self.folder
    }
}

/// A shell call.
pub(crate) fn bash(command: &str) -> Value {
    json!({ "tool": "bash", "args": { "command": command } })
}
