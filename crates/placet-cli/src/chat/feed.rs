//! The events of a conversation, on their way to the screen.

use placet_agent::chat::{ChatEvent, ChatStream};
use placet_store::StoreError;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

/// Events read ahead of what is drawn.
const AHEAD_MAX: usize = 256;

/// The events of a conversation, read on a task of their own: a reader that is interrupted halfway would lose one.
pub(super) struct Feed {
    pub(super) events: mpsc::Receiver<Result<ChatEvent, StoreError>>,
    _reader: AbortOnDropHandle<()>,
}

impl Feed {
    pub(super) fn of(mut stream: ChatStream) -> Self {
        let (sender, events) = mpsc::channel(AHEAD_MAX);
        let reader = tokio::spawn(async move {
            while let Some(event) = stream.next().await.transpose() {
                if sender.send(event).await.is_err() {
                    break;
                }
            }
        });
        Self {
            events,
            _reader: AbortOnDropHandle::new(reader),
        }
    }
}
