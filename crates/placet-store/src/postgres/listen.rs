//! Notices commits of other processes: through `NOTIFY` at once, and by polling in case a notification is lost.

use std::future::poll_fn;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;

use super::server::Server;
use crate::error::OpenError;

/// How often to look where nothing is heard: the server's notifications may be lost with their connection, and a connection that
/// is lost without a word is noticed late.
const LOOK: Duration = Duration::from_millis(100);
/// How long to wait before connecting again.
const PAUSE: Duration = Duration::from_millis(500);

/// Whether the store is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// It is.
    Yes,
    /// It has been closed.
    No,
}

/// Calls `look` whenever another process may have committed, one look after the other, until the store is closed.
pub(crate) fn listen<F: Future<Output = Open>>(server: &Server, look: impl Fn() -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    let news = Notify::new();
    let looking = async {
        while look().await == Open::Yes {
            // What is told of meanwhile is one look, too.
            let _ = tokio::time::timeout(LOOK, news.notified()).await;
        }
    };
    let hearing = async {
        loop {
            // A server that cannot be reached is reported by the connections that need an answer of it.
            let _ = hear(server, &news).await;
            tokio::time::sleep(PAUSE).await;
        }
    };
    runtime.block_on(async {
        tokio::select! {
            () = looking => {}
            () = hearing => {}
        }
    });
}

async fn hear(server: &Server, news: &Notify) -> Result<(), OpenError> {
    let (client, mut connection) = server.connect_with_messages().await?;
    let hearing = async {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(_) = message {
                news.notify_one();
            }
        }
    };
    let (listening, ()) = tokio::join!(client.batch_execute("LISTEN placet"), hearing);
    Ok(listening?)
}
