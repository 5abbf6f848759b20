//! Going through a folder as `glob` and `grep` do: in order, without what `.gitignore` leaves out, never through a link.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;

use super::files::Workspace;

/// How long one walk may take. It is on a thread that nobody can stop from outside.
const TIME_MAX: Duration = Duration::from_secs(20);
/// The longest output, in bytes.
pub(super) const OUTPUT_BYTES_MAX: usize = 48 * 1024;

/// Where a walk begins: the real place, links followed once and for all.
pub(super) struct Start {
    root: PathBuf,
    /// The workspace's real place, when the walk is inside it.
    workspace: Option<PathBuf>,
}

/// How far a walk came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    /// Everywhere.
    Through,
    /// Not everywhere in the time there was.
    OutOfTime,
}

impl Start {
    pub(super) fn new(workspace: &Workspace, path: &Path) -> Result<Self, String> {
        let real = |path: &Path| {
            std::fs::canonicalize(path)
                .map_err(|error| format!("`{}` cannot be read: {error}", path.display()))
        };
        let (root, workspace) = (real(path)?, real(workspace.root())?);
        Ok(Self {
            workspace: root.starts_with(&workspace).then_some(workspace),
            root,
        })
    }

    pub(super) fn is_file(&self) -> bool {
        self.root.is_file()
    }

    pub(super) fn is_inside(&self) -> bool {
        self.workspace.is_some()
    }

    /// A file as it is told to the model: as it may be given back as a `path`.
    pub(super) fn shown(&self, file: &Path) -> String {
        let workspace = self.workspace.as_deref();
        let below = workspace.and_then(|workspace| file.strip_prefix(workspace).ok());
        printable(&below.unwrap_or(file).to_string_lossy()).into_owned()
    }

    /// A file as seen from where the walk begins.
    pub(super) fn below<'f>(&self, file: &'f Path) -> &'f Path {
        match file.strip_prefix(&self.root) {
            Ok(below) if below.as_os_str().is_empty() => file.file_name().map_or(file, Path::new),
            Ok(below) => below,
            Err(_) => file,
        }
    }

    /// Visits every ordinary file. A link is no ordinary file, wherever it leads.
    pub(super) fn files(&self, mut visit: impl FnMut(&Path)) -> Went {
        let deadline = Instant::now() + TIME_MAX;
        let walk = WalkBuilder::new(&self.root)
            .follow_links(false)
            // Names with a dot are no secret; what is, policy knows.
            .hidden(false)
            .require_git(false)
            .git_global(false)
            .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
            .sort_by_file_name(Ord::cmp)
            .build();
        for entry in walk {
            if deadline <= Instant::now() {
                return Went::OutOfTime;
            }
            // What cannot be looked into has nothing to show.
            let Ok(entry) = entry else { continue };
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                visit(entry.path());
            }
        }
        Went::Through
    }
}

impl Went {
    /// What the model is told of a walk that was cut short.
    pub(super) fn note(self) -> Option<String> {
        (self == Self::OutOfTime).then(|| {
            let seconds = TIME_MAX.as_secs();
            format!("[stopped after {seconds} seconds; there may be more. Give a narrower `path`]")
        })
    }
}

/// A pattern of file names. Without a `/` it is about names in every folder.
pub(super) fn pattern(text: &str) -> Result<GlobMatcher, String> {
    if text.starts_with('/') || text.split('/').any(|name| name == "..") {
        return Err(format!(
            "`{text}` leads out of the folder; give that folder as `path`"
        ));
    }
    let anywhere = if text.contains('/') {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("**/{text}"))
    };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    Ok(glob
        .map_err(|error| format!("`{text}` is no pattern: {}", error.kind()))?
        .compile_matcher())
}

/// A text on one line: what would break the line, or move the cursor, is written out.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() && c != '\t';
    if !text.contains(breaks) {
        return Cow::Borrowed(text);
    }
    let written = |c: char| {
        if breaks(c) {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    Cow::Owned(text.chars().map(written).collect())
}
