//! Going through a folder as `glob` and `grep` do: in order, without what `.gitignore` leaves out, never through a link.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;

use super::files::Workspace;
use super::resolved_path;

/// How long one walk may take. It is on a thread that cannot be stopped from outside.
const TIME_MAX: Duration = Duration::from_secs(20);
/// The longest output, in bytes.
pub(super) const OUTPUT_BYTES_MAX: usize = 48 * 1024;

/// Where a walk begins: the real place, links followed once and for all.
pub(super) struct Start {
    root: PathBuf,
    is_file: bool,
    /// The workspace's real place.
    workspace: PathBuf,
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
    /// At the place a call was judged by, or not at all.
    pub(super) fn new(workspace: &Workspace, call: &ToolCall, shown: &[Evidence]) -> Result<Self, String> {
        let landing = workspace.to_read(call, shown)?;
        let root = landing.file().to_owned();
        let metadata = resolved_path::open(&root).and_then(|opened| opened.metadata());
        let metadata = metadata.map_err(|error| format!("`{}` cannot be read: {error}", root.display()))?;
        Ok(Self {
            root,
            is_file: metadata.is_file(),
            workspace: PathBuf::from(landing.workspace()),
        })
    }

    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Whether the call named a file and not a folder.
    pub(super) fn named_a_file(&self) -> bool {
        self.is_file
    }

    /// Whether the call named this very file.
    pub(super) fn is_file(&self, file: &Path) -> bool {
        self.is_file && file == self.root
    }

    pub(super) fn is_inside(&self) -> bool {
        self.root.starts_with(&self.workspace)
    }

    /// A file as it is told to the model: as it may be given back as a `path`.
    pub(super) fn shown(&self, file: &Path) -> String {
        let below = file.strip_prefix(&self.workspace);
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

    /// Visits every ordinary file. A link is no ordinary file, wherever it leads. A folder may become one during the walk, so
    /// the visitor opens a file with [`resolved_path::open`] before it tells anything of it.
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
