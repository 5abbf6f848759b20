//! Who is changing which file: one call at a time, so that none undoes what another has just written.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

/// Files that are being changed, and those who wait for it. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Changing(Arc<Mutex<BTreeMap<PathBuf, Weak<tokio::sync::Mutex<()>>>>>);

impl Changing {
    /// Waits until no other call changes a file, and keeps others out until the guard is dropped. The file is named by its
    /// real place.
    pub(super) async fn alone(&self, file: PathBuf) -> OwnedMutexGuard<()> {
        self.door(file).lock_owned().await
    }

    fn door(&self, file: PathBuf) -> Arc<tokio::sync::Mutex<()>> {
        let mut doors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        doors.retain(|_, door| door.strong_count() > 0);
        if let Some(door) = doors.get(&file).and_then(Weak::upgrade) {
            return door;
        }
        let door = Arc::default();
        doors.insert(file, Arc::downgrade(&door));
        door
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_nobody_changes_any_more_is_forgotten() {
        let changing = Changing::default();
        drop(changing.alone("a".into()).await);
        let held = changing.alone("b".into()).await;
        let files: Vec<PathBuf> = changing.0.lock().unwrap().keys().cloned().collect();
        assert_eq!(files, [PathBuf::from("b")]);
        drop(held);
    }
}
