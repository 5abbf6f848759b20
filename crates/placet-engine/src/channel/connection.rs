//! Long connections: each is kept by one process at a time, and made again whenever it is lost.

use std::sync::Arc;
use std::time::Duration;

use placet_core::ids::ChannelName;
use placet_core::lease::LeaseName;
use placet_core::time::Millis;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::{Channel, ChannelFault, ConnectionError, ConnectionFuture, ConnectionState, Host};
use crate::engine::Engine;
use crate::leases::Held;
use crate::timers::backoff;

/// How long a connection may take to end once it is told to.
const GOODBYE: Duration = Duration::from_secs(5);
/// A connection that was up for so long begins again with short pauses.
const SETTLED: Millis = Millis::from_secs(60);
/// The pause after a platform refused the credentials.
const REFUSED: Millis = Millis::from_secs(300);

/// Why a connection is no longer kept.
enum Ended {
    /// It was lost, or could not be made.
    Lost(ConnectionError),
    /// Another process has its lease.
    Taken,
    /// The engine stops.
    Stopped,
}

/// Keeps a channel's connection until the engine stops. Returns at once for a channel without one.
pub(crate) async fn keep(engine: Engine, channel: Arc<dyn Channel>, stop: CancellationToken) {
    let name = channel.name().clone();
    let healths = &engine.inner.healths;
    let mut losses = 0;
    loop {
        let end = stop.child_token();
        let (host, under) = Host::connecting(engine.clone(), name.clone());
        let Some(connection) = Arc::clone(&channel).run(host, end.clone()) else {
            return;
        };
        let Some(lease) = stop.run_until_cancelled(take(&engine, &name)).await else {
            return;
        };
        // What the connection hears is stored under this.
        let lease = under.get_or_init(|| lease);
        healths.connection(&name, ConnectionState::Connecting);
        let error = match run(connection, lease, &end).await {
            Ended::Lost(error) => error,
            Ended::Taken => {
                healths.connection(&name, ConnectionState::Elsewhere);
                continue;
            }
            Ended::Stopped => return,
        };
        // Another process may have better luck meanwhile.
        if let Err(error) = engine.release(lease.clone()).await {
            tracing::warn!(%error, channel = %name, "the lease of a lost connection could not be given back");
        }
        let now = engine.store().now();
        if let Some(ConnectionState::Connected { since }) = healths.connection_of(&name)
            && now.remaining_from(since) >= SETTLED
        {
            losses = 0;
        }
        let pause = pause_after(&error, losses);
        losses += 1;
        let error = error.to_string();
        tracing::warn!(%error, channel = %name, pause = %pause, "a connection was lost");
        healths.lost(&name, ChannelFault { at: now, error }, now + pause);
        let pause = tokio::time::sleep(Duration::from_millis(pause.get()));
        if stop.run_until_cancelled(pause).await.is_none() {
            return;
        }
    }
}

/// Waits until this process may keep the connection.
async fn take(engine: &Engine, name: &ChannelName) -> Held {
    let lease = LeaseName::connection(name);
    loop {
        match engine.hold(&lease).await {
            Ok(Some(held)) => return held,
            Ok(None) => engine.inner.healths.connection(name, ConnectionState::Elsewhere),
            Err(error) => {
                tracing::error!(%error, channel = %name, "the lease of a connection could not be taken");
            }
        }
        tokio::time::sleep(engine.lease_renewal()).await;
    }
}

async fn run(connection: ConnectionFuture, lease: &Held, end: &CancellationToken) -> Ended {
    // In a task of its own, so that a panic is an end like others.
    let mut running = AbortOnDropHandle::new(tokio::spawn(connection));
    let ended = tokio::select! {
        ended = &mut running => {
            return Ended::Lost(match ended {
                Ok(Ok(())) => ConnectionError::Lost("the connection ended".to_owned()),
                Ok(Err(error)) => error,
                Err(_) => ConnectionError::Lost("the channel panicked".to_owned()),
            });
        }
        () = lease.lost() => Ended::Taken,
        () = end.cancelled() => Ended::Stopped,
    };
    end.cancel();
    // What does not end in time is cut off.
    let _ = tokio::time::timeout(GOODBYE, running).await;
    ended
}

fn pause_after(error: &ConnectionError, losses: u32) -> Millis {
    let pause = match error {
        ConnectionError::Lost(_) => backoff(losses),
        ConnectionError::Busy { pause, .. } => backoff(losses).max(*pause),
        ConnectionError::Refused(_) => REFUSED,
    };
    // Processes that lost their connections together do not come back together.
    Millis::new(pause.get() + rand::random_range(0..=pause.get() / 4))
}
