//! Tells devices of new requests: follows the journal and puts a message into the outbox for each device whose person is asked.
//!
//! The key of a message is made from the request and the device, so however often a row is read, and by however many servers, one
//! message is sent. The outbox sends it, tries again, and gives it up; a device that is gone is forgotten.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use placet_channels::push::{PushMessage, VapidKey, WebPush};
use placet_channels::webhook::WebhookError;
use placet_core::config::{Config, Gist};
use placet_core::ids::{ChannelName, ChatId, InteractionId, PersonId};
use placet_core::interaction::Interaction;
use placet_core::journal::Event;
use placet_core::listing::{After, JournalPage};
use placet_core::messages::push;
use placet_core::outgoing::{Change, OutKind, Outgoing};
use placet_core::push::{CHANNEL, Device};
use placet_core::render::Block;
use placet_core::step::Step;
use placet_engine::Engine;
use placet_engine::channel::Channel;
use placet_store::{StepError, StoreError};
use serde_json::json;
use tokio::sync::{Mutex, mpsc};

use crate::access::{CredentialId, Holder};
use crate::state::State;

const PAGE: usize = 200;
/// How long to wait after the store failed.
const PAUSE: Duration = Duration::from_millis(500);
/// Characters of a gist in a notification; devices show about as many.
const GIST_CHARS_MAX: usize = 120;

/// The channel to devices, and what it finds out about them.
pub struct Push {
    channel: Arc<WebPush>,
    gone: Mutex<mpsc::Receiver<ChatId>>,
}

impl Push {
    /// The channel of a configuration, to be given to the engine and to the server.
    pub fn new(config: &Config) -> Result<Self, WebhookError> {
        let name = ChannelName::new(CHANNEL).map_err(|error| WebhookError::Client(error.to_string()))?;
        let (channel, gone) = WebPush::new(name, &config.push.contact)?;
        Ok(Self {
            channel: Arc::new(channel),
            gone: Mutex::new(gone),
        })
    }

    /// What the engine delivers to.
    pub fn channel(&self) -> Arc<dyn Channel> {
        Arc::clone(&self.channel) as Arc<dyn Channel>
    }

    /// Lets the channel sign with the key of the store, which is made at the first start. The public half.
    pub(crate) async fn start(&self, engine: &Engine) -> Result<String, StoreError> {
        let stored = async || engine.store().look(|stored| stored.push_key(&()).cloned()).await;
        let unusable = |error: placet_channels::push::VapidError| StoreError::Corrupt {
            what: error.to_string(),
        };
        if stored().await?.is_none() {
            let made = VapidKey::generate().map_err(unusable)?;
            store(engine, vec![Change::KeepPushKey(made)]).await?;
        }
        // Another server may have been first.
        let kept = stored().await?.unwrap_or_default();
        let key = VapidKey::read(&kept).map_err(unusable)?;
        Ok(self.channel.sign_with(key).public())
    }
}

/// Stores operational changes.
pub(crate) async fn store(engine: &Engine, changes: Vec<Change>) -> Result<(), StoreError> {
    let stored = engine.transact(|_, _| {
        let mut step = Step::nothing(());
        step.changes.clone_from(&changes);
        Ok::<_, placet_core::step::Stop<std::convert::Infallible>>(step)
    });
    stored.await.map_err(StepError::into_store_error)
}

/// Follows the journal until the server stops.
pub(crate) async fn run(state: State, push: Arc<Push>) {
    let stop = state.stop().clone();
    let follow = async {
        let mut after = None;
        loop {
            if let Err(error) = follow(&state, &mut after).await {
                if matches!(error, StoreError::Closed) {
                    return;
                }
                tracing::error!(%error, "devices could not be told of new requests; trying again");
                tokio::time::sleep(PAUSE).await;
            }
        }
    };
    let forget = async {
        let mut gone = push.gone.lock().await;
        while let Some(device) = gone.recv().await {
            if let Err(error) = store(state.engine(), vec![Change::RemoveDevice(device)]).await {
                tracing::error!(%error, "a device that is gone could not be forgotten");
            }
        }
    };
    let both = Box::pin(async { tokio::join!(follow, forget) });
    stop.run_until_cancelled(both).await;
}

/// Tells devices of what is pending, and then of what is asked from there on.
async fn follow(state: &State, after: &mut Option<u64>) -> Result<(), StoreError> {
    let engine = state.engine();
    let mut committed = engine.committed();
    if after.is_none() {
        let head = engine.store().look(|stored| stored.head(&()).copied()).await?;
        let mut cursor = None;
        loop {
            let part = After { cursor, limit: PAGE };
            let page = engine
                .store()
                .look(|stored| stored.pending(&part).cloned())
                .await?;
            let Some(last) = page.last() else { break };
            cursor = Some(last);
            for row in page.rows {
                tell(state, &row.id, None).await?;
            }
        }
        *after = Some(head);
    }
    loop {
        committed.mark_unchanged();
        let page = JournalPage::of_all(after.unwrap_or(0), PAGE);
        let rows = engine
            .store()
            .look(|stored| stored.journal_raw(&page).cloned())
            .await?;
        for row in &rows {
            match row.kind() {
                "asked" => {
                    let asked: Asked = row.fields().map_err(StoreError::from)?;
                    tell(state, &asked.id, None).await?;
                }
                "escalated" => {
                    let Event::Escalated { interaction, to } = row.fields().map_err(StoreError::from)? else {
                        continue;
                    };
                    tell(state, &interaction, Some(&to)).await?;
                }
                _ => {}
            }
            *after = Some(row.id);
        }
        if rows.is_empty() && committed.changed().await.is_err() {
            return Err(StoreError::Closed);
        }
    }
}

#[derive(serde::Deserialize)]
struct Asked {
    id: InteractionId,
}

/// Puts a message for each device whose person is asked into the outbox; of an escalation, only of those who are asked as well now.
async fn tell(
    state: &State,
    id: &InteractionId,
    only: Option<&BTreeSet<PersonId>>,
) -> Result<(), StoreError> {
    let devices = state
        .engine()
        .store()
        .look(|stored| stored.devices(&()).cloned())
        .await?;
    if devices.is_empty() {
        return Ok(());
    }
    let Some(question) = state.engine().broker().readable(id).await? else {
        return Ok(());
    };
    let Interaction::Pending(pending) = &question.interaction else {
        return Ok(());
    };
    let gist = |device: &Device| match state.config().push.gist {
        Gist::Hidden => None,
        Gist::Shown => question
            .document(device.locale)
            .blocks()
            .find_map(|block| match block {
                Block::Heading { text, .. } => {
                    Some(text.as_str().chars().take(GIST_CHARS_MAX).collect::<String>())
                }
                _ => None,
            }),
    };
    let Ok(channel) = ChannelName::new(CHANNEL) else {
        return Ok(());
    };
    let mut changes = Vec::new();
    for device in devices {
        let asks = holder(state, &device).is_some_and(|holder| pending.asks(&holder.principal()));
        if !asks || only.is_some_and(|only| !only.contains(&device.person)) {
            continue;
        }
        let payload = json!({
            "requestId": id,
            "url": format!("/q/{id}"),
            "title": push::needs_approval().say(device.locale),
            "body": gist(&device),
        });
        let message = PushMessage {
            endpoint: device.endpoint.clone(),
            key: hex::encode(&device.key),
            auth: hex::encode(&device.auth),
            until: pending.asked.deadline.as_millis(),
            payload: payload.to_string(),
        };
        let Ok(body) = serde_json::to_string(&message) else {
            continue;
        };
        changes.push(Change::Enqueue(Outgoing {
            key: format!("{CHANNEL}/{id}/{}", device.id),
            channel: channel.clone(),
            chat: device.id,
            interaction: Some(id.clone()),
            kind: OutKind::Message,
            body,
        }));
    }
    if changes.is_empty() {
        return Ok(());
    }
    store(state.engine(), changes).await
}

/// Whose device it is, as long as the credential it came with counts.
fn holder(state: &State, device: &Device) -> Option<Holder> {
    let credential = CredentialId::parse(&device.credential)?;
    let access = state.access();
    let holder = access.by_id(credential)?.holder.clone();
    match &holder {
        Holder::Person { person, .. } if *person == device.person => Some(holder),
        Holder::Person { .. } | Holder::Agent(_) => None,
    }
}
