//! Hears of what other processes commit.

use std::future::poll_fn;
use std::time::Duration;

use tokio::sync::mpsc::WeakSender;
use tokio_postgres::AsyncMessage;

use super::server::Server;
use crate::error::OpenError;

/// How long to wait before connecting again, and how soon a store that was closed is noticed.
const PAUSE: Duration = Duration::from_millis(500);

/// Sends `message()` whenever another process commits, until the store is closed. What is missed while the connection is lost
/// is found by whoever looks at intervals, and by the first message after it.
pub(crate) fn listen<M: Send>(server: &Server, queue: &WeakSender<M>, message: impl Fn() -> M) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        while queue.upgrade().is_some() {
            // A server that cannot be reached is reported by the connections that need an answer of it.
            let _ = hear(server, queue, &message).await;
            tokio::time::sleep(PAUSE).await;
        }
    });
}

async fn hear<M: Send>(
    server: &Server,
    queue: &WeakSender<M>,
    message: &impl Fn() -> M,
) -> Result<(), OpenError> {
    let (client, mut connection) = server.connect_with_messages().await?;
    let listening = client.batch_execute("LISTEN placet");
    let hearing = async {
        loop {
            let heard = poll_fn(|context| connection.poll_message(context));
            match tokio::time::timeout(PAUSE, heard).await {
                Ok(Some(Ok(AsyncMessage::Notification(_)))) => {
                    let Some(queue) = queue.upgrade() else { return };
                    // A full queue has a writer that is about to look anyway.
                    let _ = queue.try_send(message());
                }
                Ok(Some(Err(_)) | None) => return,
                Err(_) if queue.upgrade().is_none() => return,
                Ok(Some(Ok(_))) | Err(_) => {}
            }
        }
    };
    let (listening, ()) = tokio::join!(listening, hearing);
    listening?;
    Ok(())
}
