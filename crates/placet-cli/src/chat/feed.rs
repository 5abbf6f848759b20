//! What happens in a conversation, on its way to the screen: its events, and questions of the runs that do a part of its work.

use placet_client::events::Events;
use placet_client::{Client, Error, Heard};
use placet_core::ids::{InteractionId, SessionId};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

/// Events read ahead of what is drawn.
const AHEAD_MAX: usize = 256;

/// The events of a conversation, read on a task of their own: a reader that is interrupted halfway would lose one.
pub(super) struct Feed {
    pub(super) events: mpsc::Receiver<Result<Heard, Error>>,
    _reader: AbortOnDropHandle<()>,
}

impl Feed {
    pub(super) fn of(mut stream: Events) -> Self {
        let (sender, events) = mpsc::channel(AHEAD_MAX);
        let reader = tokio::spawn(async move {
            loop {
                let heard = match stream.heard().await {
                    Ok(Some(heard)) => Ok(heard),
                    // A stream that ends before its run does was cut off.
                    Ok(None) => Err(Error::Lost("the stream of the conversation broke off".into())),
                    Err(error) => Err(error),
                };
                let is_last = matches!(heard, Err(_) | Ok(Heard::Ended { .. }));
                if sender.send(heard).await.is_err() || is_last {
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

/// Questions asked in the sessions that a conversation handed work to. Those of other conversations are not among them.
pub(super) struct Helpers {
    pub(super) asked: mpsc::Receiver<InteractionId>,
    _reader: AbortOnDropHandle<()>,
}

impl Helpers {
    /// Listens from now on, and looks at what is open already.
    pub(super) fn of(client: &Client, root: &SessionId) -> Self {
        let (sender, asked) = mpsc::channel(AHEAD_MAX);
        let (client, root) = (client.clone(), root.clone());
        let reader = tokio::spawn(async move {
            // The conversation's own stream says that the owner is gone.
            let _ = listen(&client, &root, &sender).await;
        });
        Self {
            asked,
            _reader: AbortOnDropHandle::new(reader),
        }
    }
}

async fn listen(client: &Client, root: &SessionId, asked: &mpsc::Sender<InteractionId>) -> Result<(), Error> {
    let mut journal = client.journal(None).await?;
    for record in client.pending().await?.items {
        let open = record.question.interaction.asked();
        tell(client, root, &open.session, &open.id, asked).await?;
    }
    while let Some(row) = journal.next().await {
        let row = row?;
        if row.event != "asked" {
            continue;
        }
        let row: Value = serde_json::from_str(&row.data)?;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let session = SessionId::new(text(row.get("sessionId")));
        let id = InteractionId::new(text(row.pointer("/event/id")));
        if let (Ok(session), Ok(id)) = (session, id) {
            tell(client, root, &session, &id, asked).await?;
        }
    }
    Ok(())
}

async fn tell(
    client: &Client,
    root: &SessionId,
    session: &SessionId,
    id: &InteractionId,
    asked: &mpsc::Sender<InteractionId>,
) -> Result<(), Error> {
    // The conversation brings its own questions, in their place.
    if session != root && client.holds(root, session).await? {
        let _ = asked.send(id.clone()).await;
    }
    Ok(())
}
