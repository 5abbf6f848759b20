//! Keys, read beside the conversation. A question reads its own: this reader is stopped first, and what it had read and was not
//! used is forgotten.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{self, Event};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long a key is waited for before the reader checks whether it is still needed.
const BEAT: Duration = Duration::from_millis(20);
/// Keys read ahead of the conversation.
const AHEAD_MAX: usize = 256;

/// A reader of keys.
pub(super) struct Keys {
    events: mpsc::Receiver<Event>,
    stop: Arc<AtomicBool>,
    reader: JoinHandle<io::Result<()>>,
}

impl Keys {
    /// Reads from now on.
    pub(super) fn listen() -> Self {
        let (sender, events) = mpsc::channel(AHEAD_MAX);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        // Reading blocks, so it is done beside the runtime.
        let reader = tokio::task::spawn_blocking(move || {
            while !stopped.load(Ordering::SeqCst) {
                if event::poll(BEAT)? && sender.blocking_send(event::read()?).is_err() {
                    break;
                }
            }
            Ok(())
        });
        Self { events, stop, reader }
    }

    /// The next key; `None` once the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Stops reading, so that another reader may start.
    pub(super) async fn stop(&mut self) -> io::Result<()> {
        self.stop.store(true, Ordering::SeqCst);
        self.events.close();
        (&mut self.reader).await.map_err(io::Error::other)?
    }
}

impl Drop for Keys {
    /// A reader without a listener would keep the program from ending.
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}
