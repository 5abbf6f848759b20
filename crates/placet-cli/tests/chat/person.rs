//! Lin at a terminal, talking to the agent.

use std::ops::{Deref, DerefMut};

use portable_pty::CommandBuilder;

use crate::pty::{Pty, Room};
use crate::world::World;

const ROOM: Room = Room { cols: 86, rows: 40 };

/// A model that writes a file and says so.
pub(crate) const WRITES: &str = "
[[turns]]
text = 'I write a file.'
calls = [{ tool = 'write', args = { path = 'a.txt', content = 'a' } }]
[[turns]]
text = 'Written.'
";

/// Half an hour for each question, a scripted model, and a second person.
pub(crate) const CONFIG: &str = "[approval]\ntimeout = '30m'\nmemory = '0s'\n[models.main]\nprovider = 'scripted'\nscript = 'script.toml'\n\
    [[people]]\nname = 'lin'\n[[people]]\nname = 'wei'\n";

/// A folder with a configuration and a script.
pub(crate) fn house(script: &str) -> World {
    house_with(CONFIG, script)
}

pub(crate) fn house_with(config: &str, script: &str) -> World {
    let world = World::new();
    world.write("placet.toml", config);
    world.write("script.toml", script);
    world
}

/// Lin, and the program.
pub(crate) struct Lin {
    pty: Pty,
}

impl Lin {
    /// Sits down and begins to talk.
    pub(crate) fn talks(world: &World, args: &[&str]) -> Self {
        let lin = Self::starts(world, args);
        lin.sees("placet chat · main");
        lin.sees("› ");
        lin
    }

    /// Starts the program, whatever comes of it.
    pub(crate) fn starts(world: &World, args: &[&str]) -> Self {
        let mut command = CommandBuilder::new(assert_cmd::cargo::cargo_bin("placet"));
        command.arg("chat");
        command.args(args);
        command.args(["--db", "placet.db"]);
        command.cwd(world.path(""));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PLACET_"))
        {
            command.env_remove(name);
        }
        command.env("HOME", world.path(""));
        command.env("USER", "lin");
        command.env("LC_ALL", "C");
        command.env_remove("NO_COLOR");
        Self {
            pty: Pty::start(command, ROOM),
        }
    }

    /// Says something, and sees that it was said.
    pub(crate) fn says(&mut self, text: &str) {
        self.enters(text);
    }

    /// Waits until the keys of a question count: they are faint before.
    pub(crate) fn is_asked(&self) {
        self.sees_bold("[y]");
    }

    /// Leaves, and the terminal is as it was.
    pub(crate) fn leaves(mut self) {
        self.types("\u{4}");
        self.ends();
        self.waits_until("the cursor", |screen| !screen.hide_cursor());
    }

    /// The name of the conversation, from the line the program says at its end.
    pub(crate) fn session(&self) -> String {
        let screen = self.screen();
        let at = screen.rfind("chat_").unwrap();
        screen[at..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect()
    }
}

impl Deref for Lin {
    type Target = Pty;

    fn deref(&self) -> &Pty {
        &self.pty
    }
}

impl DerefMut for Lin {
    fn deref_mut(&mut self) -> &mut Pty {
        &mut self.pty
    }
}
