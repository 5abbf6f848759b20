//! A program on a pty, and a model of the screen it draws. Waits are for something, and have an end.

use std::io::{Read as _, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// What has not happened by then will never happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// How large a terminal is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) cols: u16,
    pub(crate) rows: u16,
}

/// A terminal with a program on it.
pub(crate) struct Pty {
    keys: Box<dyn Write + Send>,
    terminal: Box<dyn MasterPty + Send>,
    program: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Room {
    fn size(self) -> PtySize {
        PtySize {
            rows: self.rows,
            cols: self.cols,
            pixel_width: 0,
            pixel_height: 0,
        }
    }
}

impl Pty {
    /// Starts a program on a terminal of its own.
    pub(crate) fn start(mut command: CommandBuilder, room: Room) -> Self {
        let pty = native_pty_system().openpty(room.size()).unwrap();
        command.env("TERM", "xterm-256color");
        let program = pty.slave.spawn_command(command).unwrap();
        let (rows, cols) = (room.rows.try_into().unwrap(), room.cols.try_into().unwrap());
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, cols, 5000)));
        let mut output = pty.master.try_clone_reader().unwrap();
        let watched = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                watched.lock().unwrap().process(&bytes[..read]);
            }
        });
        Self {
            keys: pty.master.take_writer().unwrap(),
            terminal: pty.master,
            program,
            screen,
        }
    }

    /// The screen as text.
    pub(crate) fn screen(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// The screen once it stands still: a picture is not drawn at one stroke.
    pub(crate) fn still(&self) -> String {
        let mut seen = self.screen();
        let mut since = Instant::now();
        let until = Instant::now() + PATIENCE;
        while since.elapsed() < Duration::from_millis(200) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
            let now = self.screen();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
        }
        seen
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

    /// Waits until the screen shows a text in bold.
    pub(crate) fn sees_bold(&self, text: &str) {
        self.waits_until(&format!("`{text}` in bold"), |screen| {
            let (rows, cols) = screen.size();
            (0..rows.get()).any(|row| {
                let mut line = String::new();
                let cells = (0..cols.get()).filter_map(|col| screen.cell(row, col));
                let starts: Vec<_> = cells
                    .map(|cell| {
                        let start = line.len();
                        line.push_str(if cell.has_contents() { cell.contents() } else { " " });
                        (start, cell)
                    })
                    .collect();
                let at = line.find(text);
                starts
                    .iter()
                    .any(|(start, cell)| Some(*start) == at && cell.bold() && !cell.dim())
            })
        });
    }

    /// Waits until the screen no longer shows a text.
    pub(crate) fn sees_no_more(&self, text: &str) {
        self.waits_until(&format!("`{text}` to go"), |screen| {
            !screen.contents().contains(text)
        });
    }

    /// Presses keys now, whatever is on the screen.
    pub(crate) fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Types a text, looks at it, and sends it: Enter at the same stroke would be a paste.
    pub(crate) fn enters(&mut self, text: &str) {
        let before = self.with_screen(vt100::Screen::cursor_position);
        self.types(text);
        self.waits_until("the text", |screen| screen.cursor_position() != before);
        self.still();
        self.types("\r");
    }

    pub(crate) fn resizes(&self, room: Room) {
        let (rows, cols) = (room.rows.try_into().unwrap(), room.cols.try_into().unwrap());
        self.screen.lock().unwrap().screen_mut().set_size(rows, cols);
        self.terminal.resize(room.size()).unwrap();
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

    pub(crate) fn with_screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.screen.lock().unwrap().screen())
    }
}
