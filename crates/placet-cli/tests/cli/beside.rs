//! `placet` running beside a test.

use std::process::{Child, Command, Stdio};

use crate::world::World;

/// Starts it in the folder of a world, as the user lin.
pub(crate) fn spawn(world: &World, args: &[&str]) -> Child {
    let placet = world.placet(args);
    let mut command = Command::new(placet.get_program());
    command.args(placet.get_args()).current_dir(world.path("."));
    for (name, value) in placet.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .env("USER", "lin")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}
