//! Files of the workspace. Whether a path may be touched is the policy's business: outside the workspace is HIGH.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use placet_core::evidence::Evidence;
use tempfile::NamedTempFile;

/// The largest file that is read as a whole, in bytes.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A path as a model writes it: relative to the workspace, or absolute.
pub(super) fn resolve(workspace: &Path, path: &str) -> PathBuf {
    workspace.join(path)
}

/// A file's text; `None` when there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<String>, String> {
    let shown = path.display();
    let size = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(format!("`{shown}` is a folder")),
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("`{shown}` cannot be read: {error}")),
    };
    if size > FILE_BYTES_MAX {
        return Err(format!(
            "`{shown}` has {size} bytes; at most {FILE_BYTES_MAX} are read"
        ));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("`{shown}` cannot be read: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`{shown}` is not a text file (UTF-8)"))?;
    Ok(Some(text))
}

/// Refuses to touch a file that is not what people were shown when they allowed the change.
pub(super) fn as_shown(path: &str, file: &Path, shown: &[Evidence]) -> Result<(), String> {
    let seen = shown.iter().find_map(|evidence| match evidence {
        Evidence::Diff { path: of, before, .. } if of == path => Some(before),
        _ => None,
    });
    let Some(seen) = seen else { return Ok(()) };
    if read(file)? == *seen {
        return Ok(());
    }
    Err(format!(
        "`{path}` was not written: it has changed since a person was shown the change"
    ))
}

/// Puts a text in a file's place, whole or not at all. A link is followed: its target is replaced, not the link.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), String> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let failed = |error: std::io::Error| format!("`{}` cannot be written: {error}", path.display());
    let folder = target
        .parent()
        .ok_or_else(|| failed(ErrorKind::InvalidInput.into()))?;
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    match std::fs::metadata(&target) {
        Ok(metadata) => file
            .as_file()
            .set_permissions(metadata.permissions())
            .map_err(failed)?,
        Err(_) => usual_permissions(&file).map_err(failed)?,
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Temporary files are private; what an agent writes is for everybody who may look at the folder.
#[cfg(unix)]
fn usual_permissions(file: &NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.as_file()
        .set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn usual_permissions(_: &NamedTempFile) -> std::io::Result<()> {
    Ok(())
}

/// Runs something that waits for the disk beside the tasks that do not.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(format!("the tool failed: {error}")))
}
