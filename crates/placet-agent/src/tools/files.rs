//! Files of the workspace. Whether a path may be touched is the policy's business: outside the workspace is HIGH.

use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use placet_core::call::{Args, ToolCall};
use placet_core::config::Config;
use placet_core::evidence::Evidence;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::changing::Changing;
use super::resolved_path::{self, ResolvedPath};
use super::text;
use super::unasked::InForce;

/// The largest file that is read as a whole, in bytes.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The folder an agent works in. Tools that change its files take clones of one: then no two calls change a file at once.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    changing: Changing,
    in_force: InForce,
}

impl Workspace {
    /// This folder.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            changing: Changing::default(),
            in_force: InForce::new(Config::builtin(placet_inspect::builtin())),
        }
    }

    /// Another configuration is in force from now on, for all clones.
    pub(super) fn reload(&self, config: &Config) {
        self.in_force.reload(config.clone());
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn in_force(&self) -> &InForce {
        &self.in_force
    }

    /// Where the argument `path` of a call that reads leads now, if that is the place that was judged. Without the argument it
    /// is the workspace.
    pub(super) fn to_read(&self, call: &ToolCall, shown: &[Evidence]) -> Result<ResolvedPath, String> {
        let landing = self.landing(&call.args)?;
        landing.check_read(call, shown, &self.in_force)?;
        Ok(landing)
    }

    /// What people are shown of a call that reads: of which real place.
    pub(super) async fn place(&self, args: &Args) -> Result<Vec<Evidence>, String> {
        let (workspace, args) = (self.clone(), args.clone());
        blocking(move || {
            let path = workspace.landing(&args)?.name().to_owned();
            Ok(vec![Evidence::Place { path }])
        })
        .await
    }

    fn landing(&self, args: &Args) -> Result<ResolvedPath, String> {
        ResolvedPath::of(&self.root, args.text("path").unwrap_or("."))
    }
}

/// The schema of an argument `path`.
pub(super) fn path_schema() -> Value {
    json!({ "type": "string", "minLength": 1, "description": "Relative to the workspace, or absolute." })
}

/// A file's text after a change of it. Given its text before; `None` when there is no such file.
pub(super) type After = Box<dyn FnOnce(Option<&str>) -> Result<String, String> + Send>;

/// What people are shown of a change: of which real place, and how.
pub(super) async fn shown(workspace: &Workspace, args: &Args, after: After) -> Result<Vec<Evidence>, String> {
    let (root, path) = (workspace.root.clone(), text(args, "path")?.to_owned());
    blocking(move || {
        let landing = ResolvedPath::of(&root, &path)?;
        let before = read(landing.file())?;
        let after = Some(after(before.as_deref())?);
        Ok(vec![Evidence::Diff {
            path: landing.name().to_owned(),
            before,
            after,
        }])
    })
    .await
}

/// Changes a file, if it is still the one that was judged and what people were shown. Returns how many bytes it has now. No
/// other call changes it between reading and replacing; a caller that is dropped while it waits has changed nothing.
pub(super) async fn change(
    workspace: &Workspace,
    call: &ToolCall,
    shown: &[Evidence],
    after: After,
) -> Result<usize, String> {
    let path = text(&call.args, "path")?.to_owned();
    let (root, in_force) = (workspace.root.clone(), workspace.in_force.clone());
    let (call, shown) = (call.clone(), shown.to_vec());
    let find = move || ResolvedPath::of(&root, &path);
    let (landing, find) = blocking(move || Ok((find()?, find))).await?;
    let alone = workspace.changing.alone(landing.file().to_owned()).await;
    blocking(move || {
        // A write is not cancelled with its caller, and neither is this.
        let _alone = alone;
        if find()? != landing {
            return Err("nothing was written: the path leads elsewhere than a moment ago".into());
        }
        landing.check_write(&call, &shown, &in_force)?;
        let before = read(landing.file())?;
        as_shown(landing.name(), before.as_deref(), &shown)?;
        let after = after(before.as_deref())?;
        replace(landing.file(), &after)?;
        Ok(after.len())
    })
    .await
}

/// The text of the file at a real place; `None` when there is no such file. No link is followed.
pub(super) fn read(real: &Path) -> Result<Option<String>, String> {
    let shown = real.display();
    let failed = |error: std::io::Error| format!("`{shown}` cannot be read: {error}");
    let file = match resolved_path::open(real) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(format!("`{shown}` is a folder"));
    }
    // A pipe or a device may never end.
    if !metadata.is_file() {
        return Err(format!("`{shown}` is not an ordinary file"));
    }
    let mut bytes = Vec::new();
    let size = metadata.len();
    // It may grow while it is read.
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if size.max(bytes.len() as u64) > FILE_BYTES_MAX {
        return Err(format!(
            "`{shown}` has {size} bytes; at most {FILE_BYTES_MAX} are read"
        ));
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("`{shown}` is not a text file (UTF-8)"))?;
    Ok(Some(text))
}

/// Refuses to touch a file that is not what people were shown when they allowed the change.
fn as_shown(path: &str, before: Option<&str>, shown: &[Evidence]) -> Result<(), String> {
    let changed = shown.iter().any(|evidence| match evidence {
        Evidence::Diff {
            path: of,
            before: seen,
            ..
        } => of == path && seen.as_deref() != before,
        _ => false,
    });
    if changed {
        return Err(format!(
            "`{path}` was not written: it has changed since a person was shown the change"
        ));
    }
    Ok(())
}

/// Puts a text in the place of the file `target`, whole or not at all. A link that has come in its way since is not followed.
fn replace(target: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("`{}` cannot be written: {error}", target.display());
    let folder = target
        .parent()
        .ok_or_else(|| failed(ErrorKind::InvalidInput.into()))?;
    std::fs::create_dir_all(folder).map_err(failed)?;
    if std::fs::canonicalize(folder).map_err(failed)? != folder {
        return Err(failed(std::io::Error::other("a link has come in its way")));
    }
    let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    match std::fs::symlink_metadata(target) {
        Ok(metadata) => file
            .as_file()
            .set_permissions(metadata.permissions())
            .map_err(failed)?,
        Err(_) => usual_permissions(&file).map_err(failed)?,
    }
    file.as_file().sync_all().map_err(failed)?;
    file.persist(target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Temporary files are private; what an agent writes is for all users of the folder.
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
