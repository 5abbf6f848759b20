//! What every backend must do. Each story runs in memory, in a file, and on a PostgreSQL server.

use std::collections::BTreeSet;
use std::sync::Arc;

use placet_core::call::{Chat, ToolCall};
use placet_core::ids::{ChannelName, ChatId};
use placet_core::interaction::{Asked, CallKey};
use placet_core::journal::Event;
use placet_core::listing::{After, DueBy, ToSend};
use placet_core::record::CallState;
use placet_core::snapshot::{Need, ProposedCall, Snapshot, Surroundings, Undecided};
use placet_core::time::Timestamp;
use placet_store::{Store, StoreError};

use crate::server;
use crate::world::*;

mod calls;
mod groups;
mod history;
mod leases;
mod questions;
mod shared;
mod surroundings;

/// Runs a story on each kind of store, and checks the journal it leaves behind.
async fn everywhere<F: Future<Output = ()>>(story: impl Fn(Store) -> F) {
    let clock = Arc::new(HandClock::default());
    let in_memory = Store::open_in_memory(options(&clock)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let in_a_file = Store::open(&folder.path().join("placet.db"), options(&clock)).unwrap();
    let on_a_server = Store::connect(&server::database(), options(&clock))
        .await
        .unwrap();
    for each in [in_memory, in_a_file, on_a_server] {
        story(each.clone()).await;
        let verified = each.verify(None).await.unwrap();
        assert_eq!(verified.findings, []);
        each.close().await.unwrap();
    }
}

async fn look<T>(store: &Store, read: impl Fn(&Snapshot) -> Result<T, Undecided>) -> T {
    store.look(read).await.unwrap()
}

fn by(at: Timestamp, limit: usize) -> DueBy {
    DueBy {
        at,
        limit,
        process: String::new(),
    }
}

fn to_send(at: Timestamp, busy: BTreeSet<ChannelName>) -> ToSend {
    ToSend { at, busy, limit: 4 }
}

fn after(cursor: Option<u64>, limit: usize) -> After {
    After { cursor, limit }
}

async fn waiting_on(store: &Store, asked: Asked) -> Option<CallKey> {
    let call = asked.call()?.clone();
    let head = look(store, |stored| stored.call_head(&call).cloned()).await?;
    let waits = matches!(&head.state, CallState::Parked { on } if *on == asked.id);
    waits.then_some(head.key)
}

async fn state(store: &Store, call: &'static str) -> CallState {
    look(store, |stored| stored.call(&key(call)).cloned())
        .await
        .unwrap()
        .state
}

async fn contradicts(db: &Store, events: Vec<Event>) {
    let before = look(db, |stored| stored.counts(&()).copied()).await;
    let error = store(db, events).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error}");
    assert_eq!(look(db, |stored| stored.counts(&()).copied()).await, before);
}

/// What is stored around a call that is proposed.
async fn around(db: &Store, call: &ToolCall) -> Surroundings {
    let proposed = ProposedCall::new(call, call.digest());
    let needs = BTreeSet::from([Need::Surroundings(proposed.clone())]);
    db.load(needs)
        .await
        .unwrap()
        .surroundings(&proposed)
        .unwrap()
        .clone()
}

fn chat() -> Chat {
    Chat {
        channel: ChannelName::new("ops").unwrap(),
        id: ChatId::new("room").unwrap(),
    }
}
