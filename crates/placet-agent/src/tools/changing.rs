//! Who is changing which file: one call at a time, so that none undoes what another has just written.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;

/// Files that are being changed, and those who wait for it. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Changing(Arc<Mutex<BTreeMap<PathBuf, Weak<tokio::sync::Mutex<()>>>>>);

impl Changing {
    /// Waits until nobody else changes a file, and keeps it so until the guard is dropped. The file is named by [`real`].
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

/// One name for a file, however it is written: links are followed as far as there is anything to follow.
pub(super) fn real(path: &Path) -> PathBuf {
    let found = path
        .ancestors()
        .find_map(|there| Some((std::fs::canonicalize(there).ok()?, path.strip_prefix(there).ok()?)));
    let Some((mut real, missing)) = found else {
        return path.to_owned();
    };
    for part in missing.components() {
        match part {
            // Nothing is there yet, so no link either: up is up.
            Component::ParentDir => {
                real.pop();
            }
            part => real.push(part),
        }
    }
    real
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name_whether_it_is_there_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.txt"), "").unwrap();
        std::os::unix::fs::symlink(root.join("src"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("src/a.txt"), root.join("b.txt")).unwrap();
        for (written, name) in [
            ("src/a.txt", "src/a.txt"),
            ("./src/../link/a.txt", "src/a.txt"),
            ("b.txt", "src/a.txt"),
            ("link/new.txt", "src/new.txt"),
            ("link/deep/er/../new.txt", "src/deep/new.txt"),
        ] {
            assert_eq!(real(&folder.path().join(written)), root.join(name), "{written}");
        }
    }

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
