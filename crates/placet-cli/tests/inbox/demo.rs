//! The demo as a newcomer plays it: every key on a real pty.

use std::path::{Path, PathBuf};

use portable_pty::CommandBuilder;

use crate::pty::{Pty, Room};
use placet_core::messages::prompt;

#[test]
fn a_newcomer_plays_the_whole_demo() {
    let mut command = CommandBuilder::new(assert_cmd::cargo::cargo_bin("placet"));
    let folder = tempfile::tempdir().unwrap();
    command.args(["demo"]);
    command.env("USER", "newcomer");
    command.env("TMPDIR", folder.path());
    let mut pty = Pty::start(command, Room { cols: 100, rows: 40 });
    pty.sees("2/6");
    pty.sees("+timeout = 90");
    pty.sees_bold("[y]");
    // The demo owns its store, and the inbox beside it is its client.
    let store = socket_in(folder.path()).unwrap().with_extension("db");
    let world = crate::world::World::new();
    let (listed, _) = world.said(&["inbox", "list", "--db", store.to_str().unwrap()], 0);
    assert!(listed.contains("shop.toml"), "{listed}");
    pty.types("y");
    pty.sees("3/6");
    pty.sees("deletes whole folders");
    pty.sees_bold("[y]");
    pty.types("r");
    pty.sees(&prompt::ask_reason().to_string());
    pty.enters("keep the archive");
    pty.sees("4/6");
    pty.sees("Rows affected: 3");
    pty.sees_bold("[y]");
    pty.types("y");
    pty.sees("5/6");
    pty.sees("release 1.0");
    pty.sees_bold("[y]");
    pty.types("s");
    pty.sees("6/6");
    pty.sees("Its request was on disk");
    pty.sees_bold("[y]");
    // VERSION was skipped, so this fails; that it was run is what counts.
    pty.types("y");
    pty.sees("intact: ");
    pty.ends();
}

/// The socket somewhere below a folder.
fn socket_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries.into_iter().find_map(|path| {
        if path.is_dir() {
            return socket_in(&path);
        }
        path.extension().is_some_and(|ext| ext == "sock").then_some(path)
    })
}
