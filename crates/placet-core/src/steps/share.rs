//! Values that the first process to need them sets for all.

use crate::outgoing::Change;
use crate::shared::{SharedKey, SharedValue};
use crate::snapshot::Snapshot;
use crate::step::{Decided, Step};
use crate::time::Timestamp;

/// The stored value; `first` becomes it when nothing is stored.
pub fn share_first(snapshot: &Snapshot, _: Timestamp, key: &SharedKey, first: &str) -> Decided<String> {
    if let Some(there) = snapshot.shared(key)? {
        return Ok(Step::nothing(there.text.clone()));
    }
    Ok(Step::new(first.to_owned()).change(Change::Share {
        key: key.clone(),
        was: None,
        value: SharedValue::lasting(first),
    }))
}

/// Replaces what is there.
pub fn share_instead(snapshot: &Snapshot, _: Timestamp, key: &SharedKey, new: &str) -> Decided<()> {
    let was = snapshot.shared(key)?.as_ref().map(|there| there.text.clone());
    if was.as_deref() == Some(new) {
        return Ok(Step::nothing(()));
    }
    Ok(Step::new(()).change(Change::Share {
        key: key.clone(),
        was,
        value: SharedValue::lasting(new),
    }))
}
