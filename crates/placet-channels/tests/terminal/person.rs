//! A person at a terminal: sees the screen, presses keys, and waits for what they expect to see, for so long and no longer.

use std::io::{Read as _, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::SCENE;

/// What has not happened by then will never happen.
const PATIENCE: Duration = Duration::from_secs(30);
const PROGRAM: &str = "program::the_program_at_the_terminal";

/// A terminal with a program on it, and somebody in front of it.
pub(crate) struct Person {
    folder: TempDir,
    keys: Box<dyn Write + Send>,
    terminal: Box<dyn MasterPty + Send>,
    program: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<vt100::Parser>>,
}

/// How the terminal is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) cols: u16,
    pub(crate) rows: u16,
    pub(crate) env: Vec<(&'static str, String)>,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            cols: 90,
            rows: 30,
            env: Vec::new(),
        }
    }
}

impl Person {
    /// Sits down where one shell command is asked about.
    pub(crate) fn asked_about(command: &str) -> Self {
        Self::at(json!({ "calls": [bash(command)] }))
    }

    /// Sits down in front of a scene.
    pub(crate) fn at(scene: Value) -> Self {
        Self::sits(Place::default(), scene)
    }

    pub(crate) fn sits(place: Place, scene: Value) -> Self {
        Self::sits_in(tempfile::tempdir().unwrap(), place, scene)
    }

    pub(crate) fn sits_in(folder: TempDir, place: Place, mut scene: Value) -> Self {
        scene["folder"] = json!(folder.path());
        if scene.get("locale").is_none() {
            scene["locale"] = json!("en");
        }
        let path = folder.path().join("scene.json");
        std::fs::write(&path, scene.to_string()).unwrap();
        let size = PtySize {
            rows: place.rows,
            cols: place.cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pty = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args(["--exact", PROGRAM, "--nocapture"]);
        command.env(SCENE, &path);
        command.env("TERM", "xterm-256color");
        for name in ["NO_COLOR", "VISUAL", "EDITOR"] {
            command.env_remove(name);
        }
        for (name, value) in &place.env {
            command.env(name, value);
        }
        let program = pty.slave.spawn_command(command).unwrap();
        let screen = Arc::new(Mutex::new(vt100::Parser::new(
            place.rows.try_into().unwrap(),
            place.cols.try_into().unwrap(),
            5000,
        )));
        let mut output = pty.master.try_clone_reader().unwrap();
        let watched = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                watched.lock().unwrap().process(&bytes[..read]);
            }
        });
        Self {
            folder,
            keys: pty.master.take_writer().unwrap(),
            terminal: pty.master,
            program,
            screen,
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The screen as text.
    pub(crate) fn screen(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until the screen is as expected.
    pub(crate) fn waits_until(&self, what: &str, expected: impl Fn(&vt100::Screen) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !expected(self.screen.lock().unwrap().screen()) {
            assert!(
                Instant::now() < until,
                "waited in vain for {what}; the screen shows:\n{}",
                self.screen()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the screen shows a text.
    pub(crate) fn sees(&self, text: &str) {
        self.waits_until(&format!("`{text}`"), |screen| screen.contents().contains(text));
    }

    /// Waits until the screen no longer shows a text.
    pub(crate) fn sees_no_more(&self, text: &str) {
        self.waits_until(&format!("`{text}` to go"), |screen| {
            !screen.contents().contains(text)
        });
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

    /// Presses keys now, whatever is on the screen.
    pub(crate) fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    pub(crate) fn resizes(&self, cols: u16, rows: u16) {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        self.screen
            .lock()
            .unwrap()
            .screen_mut()
            .set_size(rows.try_into().unwrap(), cols.try_into().unwrap());
        self.terminal.resize(size).unwrap();
    }

    pub(crate) fn kills_the_program(&mut self, signal: &str) {
        let id = self.program.process_id().unwrap().to_string();
        let status = std::process::Command::new("kill")
            .args([signal, &id])
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// Waits for the program to end.
    pub(crate) fn ends(&mut self) {
        let until = Instant::now() + PATIENCE;
        while self.program.try_wait().unwrap().is_none() {
            assert!(
                Instant::now() < until,
                "the program goes on; the screen shows:\n{}",
                self.screen()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What came of everything, once the program is done.
    pub(crate) fn results(&mut self) -> Value {
        self.sees("the program is done");
        self.ends();
        serde_json::from_str(&std::fs::read_to_string(self.file("results.json")).unwrap()).unwrap()
    }

    /// What came of the only call.
    pub(crate) fn result(&mut self) -> Value {
        self.results()["calls"][0].clone()
    }

    pub(crate) fn with_screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.screen.lock().unwrap().screen())
    }

    pub(crate) fn leaves(self) -> TempDir {
        self.folder
    }
}

/// A shell call.
pub(crate) fn bash(command: &str) -> Value {
    json!({ "tool": "bash", "args": { "command": command } })
}
