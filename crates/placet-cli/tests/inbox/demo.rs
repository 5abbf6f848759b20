//! The demo as a newcomer plays it: every key on a real pty.

use portable_pty::CommandBuilder;

use crate::pty::{Pty, Room};

#[test]
fn a_newcomer_plays_the_whole_demo() {
    let mut command = CommandBuilder::new(assert_cmd::cargo::cargo_bin("placet"));
    command.args(["demo"]);
    command.env("USER", "newcomer");
    let mut pty = Pty::start(command, Room { cols: 100, rows: 40 });
    pty.sees("2/6");
    pty.sees("+timeout = 90");
    pty.sees_bold("[y]");
    pty.types("y");
    pty.sees("3/6");
    pty.sees("deletes whole folders");
    pty.sees_bold("[y]");
    pty.types("r");
    pty.sees("Why not?");
    pty.enters("keep the archive");
    pty.sees("4/6");
    pty.sees("Rows it would touch: 3");
    pty.sees_bold("[y]");
    pty.types("y");
    pty.sees("5/6");
    pty.sees("release 1.0");
    pty.sees_bold("[y]");
    pty.types("s");
    pty.sees("6/6");
    pty.sees("Its question was on disk");
    pty.sees_bold("[y]");
    // VERSION was skipped, so this fails; that it was run is what counts.
    pty.types("y");
    pty.sees("sound: ");
    pty.ends();
}
