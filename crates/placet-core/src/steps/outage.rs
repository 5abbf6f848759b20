//! An outage: nothing was running, or the clock was set. What is pending keeps the time it had left.

use crate::ids::SessionId;
use crate::journal::{Event, SYSTEM_SESSION};
use crate::snapshot::{Snapshot, Undecided};
use crate::step::{Decided, Step};
use crate::time::Outage;

/// Records an outage, unless another process did.
pub fn record_outage(snapshot: &Snapshot, outage: Outage) -> Decided<()> {
    let session = SessionId::new(SYSTEM_SESSION).map_err(|error| Undecided::Corrupt {
        what: error.to_string(),
    })?;
    snapshot.session(&session)?;
    let Outage { from, until, after } = outage;
    let recorded = snapshot.epoch().is_some_and(|epoch| epoch.row != after);
    if from == until || recorded {
        return Ok(Step::nothing(()));
    }
    Ok(Step::new(()).event(session, Event::Outage { from, until }))
}
