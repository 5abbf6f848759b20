//! A line to a database server that can fail: cut, fallen silent, or with another server at its end.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A port that leads to a server.
pub(crate) struct Line {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    ends: Mutex<Vec<TcpStream>>,
    /// Connections on which the client says this hear nothing more from the server.
    silent_after: Mutex<Option<&'static [u8]>>,
    /// What the server says, and what the client hears instead.
    replace: Mutex<Option<(Vec<u8>, Vec<u8>)>>,
    /// What becomes of the next commit.
    commit: Mutex<Option<Lost>>,
}

/// What is lost with a connection in the middle of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The commit, on its way to the server.
    Commit,
    /// The server's answer.
    Answer,
}

impl Line {
    /// A line to a port of this machine.
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::<Shared>::default();
        let line = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming() {
                // A server that is down: the client finds the connection closed.
                if let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", server))) {
                    line.connect(client, server);
                }
            }
        });
        Self { port, shared }
    }

    /// The address of a database, over this line.
    pub(crate) fn url(&self, direct: &str) -> String {
        let (host, database) = direct.rsplit_once('/').unwrap();
        let (host, _) = host.rsplit_once(':').unwrap();
        format!("{host}:{}/{database}", self.port)
    }

    /// Ends all connections.
    pub(crate) fn cut(&self) {
        for end in self.shared.ends.lock().unwrap().drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Lets connections on which the client says `what` fall silent: they stay open, and nothing arrives.
    pub(crate) fn silence_after(&self, what: &'static [u8]) {
        *self.shared.silent_after.lock().unwrap() = Some(what);
    }

    /// Loses the connection in the middle of the next commit.
    pub(crate) fn lose_commit(&self, lost: Lost) {
        *self.shared.commit.lock().unwrap() = Some(lost);
    }

    /// Replaces what the server says.
    pub(crate) fn replace(&self, from: &[u8], to: &[u8]) {
        *self.shared.replace.lock().unwrap() = Some((from.to_vec(), to.to_vec()));
    }
}

impl Shared {
    fn connect(self: &Arc<Self>, client: TcpStream, server: TcpStream) {
        for end in [&client, &server] {
            end.set_nodelay(true).unwrap();
            self.ends.lock().unwrap().push(end.try_clone().unwrap());
        }
        let silent = Arc::new(AtomicBool::new(false));
        let ends_with_answer = Arc::new(AtomicBool::new(false));
        let (line, is_silent, ends) = (
            Arc::clone(self),
            Arc::clone(&silent),
            Arc::clone(&ends_with_answer),
        );
        let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || {
            carry(from, to, |said| {
                let what = *line.silent_after.lock().unwrap();
                if what.is_some_and(|what| place_of(what, said).is_some()) {
                    is_silent.store(true, Ordering::SeqCst);
                }
                let commits = place_of(b"COMMIT\0", said).is_some();
                match line.commit.lock().unwrap().take_if(|_| commits) {
                    None => Then::Pass,
                    Some(Lost::Commit) => Then::End,
                    Some(Lost::Answer) => {
                        ends.store(true, Ordering::SeqCst);
                        Then::Pass
                    }
                }
            });
        });
        let line = Arc::clone(self);
        thread::spawn(move || {
            carry(server, client, |said| {
                if let Some((from, to)) = &*line.replace.lock().unwrap()
                    && let Some(at) = place_of(from, said)
                {
                    said.splice(at..at + from.len(), to.iter().copied());
                }
                if ends_with_answer.load(Ordering::SeqCst) {
                    Then::End
                } else if silent.load(Ordering::SeqCst) {
                    Then::Drop
                } else {
                    Then::Pass
                }
            });
        });
    }
}

/// What becomes of bytes.
enum Then {
    Pass,
    Drop,
    /// They are lost with the connection.
    End,
}

/// Carries bytes until either end is closed.
fn carry(mut from: TcpStream, mut to: TcpStream, mut pass: impl FnMut(&mut Vec<u8>) -> Then) {
    let mut room = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut room) {
        let mut said = room[..count].to_vec();
        match pass(&mut said) {
            Then::Pass if to.write_all(&said).is_ok() => {}
            Then::Drop => {}
            Then::Pass | Then::End => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

fn place_of(what: &[u8], within: &[u8]) -> Option<usize> {
    within.windows(what.len()).position(|window| window == what)
}
