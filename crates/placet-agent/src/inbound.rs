//! Messages from chats: takes them from the queue, oldest first. What becomes of each is decided in
//! [`take_chat_message`](steps::take_chat_message).

use std::sync::Arc;

use placet_core::ids::SessionId;
use placet_core::steps::{self, ChatMessage, Taken};
use placet_store::{StepError, StoreError};

use crate::agent::Inner;

/// Takes the queued messages of a chat. Does nothing in chats that are another agent's.
pub(crate) async fn take(agent: &Arc<Inner>, session: &SessionId) -> Result<(), StoreError> {
    let engine = &agent.engine;
    loop {
        let queued = engine.store().look(|stored| stored.next_queued(session).cloned());
        let Some((row, message)) = queued.await? else {
            return Ok(());
        };
        let message = engine.with_config(|config| ChatMessage::new(config, session.clone(), row, message));
        let take =
            engine.transact(|snapshot, now| steps::take_chat_message(snapshot, now, &agent.host, &message));
        if take.await.map_err(StepError::into_store_error)? == Taken::Left {
            return Ok(());
        }
    }
}
