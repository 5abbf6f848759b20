//! The stage: a folder with files and a database, made for the demo and gone after it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::TempDir;

/// Where the demo plays.
pub(super) struct Stage {
    /// Present in the process that made it.
    made: Option<TempDir>,
    folder: PathBuf,
    work: PathBuf,
    store: PathBuf,
}

impl Stage {
    /// Makes the folder and everything in it.
    pub(super) fn build() -> anyhow::Result<Self> {
        let made = tempfile::Builder::new()
            .prefix("placet-demo-")
            .tempdir()
            .context("a folder for the demo cannot be made")?;
        let mut stage = Self::at(made.path());
        stage.made = Some(made);
        fs::create_dir(&stage.work)?;
        fs::create_dir(stage.work.join("archive"))?;
        fs::write(stage.work.join("archive/2025.csv"), "order,total\n1,20\n2,35\n")?;
        fs::write(
            stage.work.join("notes.txt"),
            "Raise the timeout, remove cancelled orders, publish 1.1.\n",
        )?;
        fs::write(stage.work.join("shop.toml"), SHOP)?;
        let db = rusqlite::Connection::open(stage.database())?;
        db.execute_batch(ORDERS)?;
        Ok(stage)
    }

    /// A stage that another process made.
    pub(super) fn at(folder: &Path) -> Self {
        Self {
            made: None,
            folder: folder.to_owned(),
            work: folder.join("work"),
            store: folder.join("placet.db"),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder the agent works in.
    pub(super) fn work(&self) -> &Path {
        &self.work
    }

    /// Placet's own file; not in the agent's folder.
    pub(super) fn store(&self) -> &Path {
        &self.store
    }

    /// The shop's database.
    pub(super) fn database(&self) -> PathBuf {
        self.work.join("shop.db")
    }

    /// Leaves the folder behind.
    pub(super) fn keep(mut self) {
        if let Some(made) = self.made.take() {
            let _ = made.keep();
        }
    }
}

const SHOP: &str = "\
name = \"Tea and Books\"
timeout = 30
currency = \"EUR\"
";

const ORDERS: &str = "
CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER NOT NULL, status TEXT NOT NULL);
INSERT INTO orders (total, status) VALUES
    (20, 'paid'), (35, 'paid'), (12, 'cancelled'), (80, 'paid'), (7, 'cancelled'), (15, 'cancelled');
";
