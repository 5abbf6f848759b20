//! Claims of which this process does not know whether they are stored: the database was lost in their commit and did not come back
//! in time. The caller was told of the error and runs nothing. A claim that is stored all the same would last as long as this
//! process, so it is given up once the database is back.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use placet_core::interaction::CallKey;
use placet_core::steps;
use placet_store::{StepError, StoreError};

use crate::engine::Engine;

/// The calls whose claims are in doubt.
#[derive(Default)]
pub(crate) struct Doubts(Mutex<BTreeSet<CallKey>>);

impl Doubts {
    fn calls(&self) -> MutexGuard<'_, BTreeSet<CallKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Hears how the commit of a claim went.
    pub(crate) fn heed_claim<T, E>(&self, key: &CallKey, claim: &Result<T, StepError<E>>) {
        if let Err(StepError::Store(error)) = claim
            && error.may_pass()
        {
            self.doubt_claim(key);
        }
    }

    /// A claim is given up, if it is stored.
    pub(crate) fn doubt_claim(&self, key: &CallKey) {
        self.inner.doubts.calls().insert(key.clone());
    }

    /// Gives up the claims in doubt that are stored.
    pub(crate) async fn settle_doubts(&self) -> Result<(), StoreError> {
        let calls = self.inner.doubts.calls().clone();
        for key in calls {
            let (in_force, fresh) = (self.in_force(), Self::fresh());
            let fresh = fresh.map_err(|error| StoreError::Corrupt {
                what: error.to_string(),
            })?;
            let process = self.inner.leases.owner();
            let disown = self.transact(|snapshot, now| {
                steps::disown(&in_force.rules(), snapshot, now, &key, process, &fresh)
            });
            disown.await.map_err(StepError::into_store_error)?;
            self.inner.doubts.calls().remove(&key);
        }
        Ok(())
    }
}
