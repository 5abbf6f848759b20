//! A folder of its own for each test, and `placet` run in it without other settings.

use std::path::PathBuf;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn placet(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("placet").unwrap();
        let inherited = std::env::vars_os().map(|(name, _)| name);
        for name in inherited.filter(|name| name.to_string_lossy().starts_with("PLACET_")) {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C");
        command
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path());
        command
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Assert {
        self.placet(args).assert()
    }

    /// Runs, expects an exit status and returns standard output and standard error, this folder written as `DIR`.
    pub(crate) fn said(&self, args: &[&str], status: i32) -> (String, String) {
        let assert = self.run(args).code(status);
        let output = assert.get_output();
        let folder = std::fs::canonicalize(self.folder.path()).unwrap();
        let text = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec())
                .unwrap()
                .replace(folder.to_str().unwrap(), "DIR")
        };
        (text(&output.stdout), text(&output.stderr))
    }
}
