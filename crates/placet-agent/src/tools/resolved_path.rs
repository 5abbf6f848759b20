//! Where a call that reads or changes a file lands: the place that was judged, or nowhere.
//!
//! Hours may lie between the judgement and the act, and what was a folder then may be a link now. So the path is followed once
//! more when the call runs, and from there on no link is. If an approver was shown a place, it must be that very place. If no
//! approver was asked, policy must allow the place without one.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use placet_core::analysis::{FixedPlaces, Places as _};
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::Risk;
use placet_core::verdict::Decision;
use placet_engine::places::DiskPlaces;
use placet_inspect::path::{Use, place};
use rustix::fs::{Mode, OFlags};

use super::unasked::{InForce, Unasked};

/// A real place: links have been followed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResolvedPath {
    workspace: String,
    file: PathBuf,
    name: String,
}

impl ResolvedPath {
    /// Where `path`, as seen from the workspace, leads now.
    pub(super) fn of(root: &Path, path: &str) -> Result<Self, String> {
        let places = DiskPlaces::new(root, None).map_err(|error| error.to_string())?;
        let workspace = places.workspace().to_owned();
        let written = Path::new(&workspace).join(path);
        let real = written.to_str().and_then(|written| places.real(written));
        let real = real
            .map(Cow::into_owned)
            .ok_or_else(|| format!("it cannot be told where `{path}` leads"))?;
        let file = PathBuf::from(&real);
        let below = file.strip_prefix(&workspace).ok().and_then(Path::to_str);
        let name = below.filter(|below| !below.is_empty()).map(str::to_owned);
        Ok(Self {
            workspace,
            name: name.unwrap_or(real),
            file,
        })
    }

    /// The workspace's real place.
    pub(super) fn workspace(&self) -> &str {
        &self.workspace
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// As people are shown it: as seen from the workspace, or in full when it is outside.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Refuses to change a place that is not the one that was judged.
    pub(super) fn check_write(
        &self,
        call: &ToolCall,
        shown: &[Evidence],
        in_force: &InForce,
    ) -> Result<(), String> {
        // Below HIGH a mode, a list or a standing grant may have allowed it without a question.
        self.check(call, shown, in_force, "written", self.risk() < Risk::High)
    }

    /// Refuses to read a place that is not the one that was judged.
    pub(super) fn check_read(
        &self,
        call: &ToolCall,
        shown: &[Evidence],
        in_force: &InForce,
    ) -> Result<(), String> {
        self.check(call, shown, in_force, "read", false)
    }

    fn check(
        &self,
        call: &ToolCall,
        shown: &[Evidence],
        in_force: &InForce,
        done: &str,
        unasked_allowed: bool,
    ) -> Result<(), String> {
        let name = &self.name;
        let judged = shown.iter().find_map(|evidence| match evidence {
            Evidence::Diff { path, .. } | Evidence::Place { path } => Some(path),
            Evidence::Rows { .. }
            | Evidence::Note { .. }
            | Evidence::Said { .. }
            | Evidence::Failed { .. } => None,
        });
        if let Some(judged) = judged
            && judged != name
        {
            return Err(format!(
                "nothing was {done}: the path leads to `{name}` now, and led to `{judged}` when a person was asked"
            ));
        }
        let unasked = Unasked::new(in_force, Path::new(&self.workspace), call, call.tool.as_str())?;
        match unasked.decide(&self.file) {
            Decision::Allow => Ok(()),
            Decision::Ask(_) if judged.is_some() || unasked_allowed => Ok(()),
            Decision::Ask(_) => Err(format!(
                "nothing was {done}: the path leads to `{name}`, which was not approved"
            )),
            Decision::Deny => Err(format!(
                "nothing was {done}: the path leads to `{name}`, which is denied"
            )),
        }
    }

    fn risk(&self) -> Risk {
        let places = FixedPlaces::at(&self.workspace);
        let (risk, _) = place(&self.file.to_string_lossy(), &places).risk(Use::Write);
        risk
    }
}

/// Opens a real place to read it, and fails if a link has come in its way since.
pub(super) fn open(real: &Path) -> io::Result<File> {
    // Nonblocking, because opening a pipe would wait for its writer.
    open_without_links(real, OFlags::RDONLY | OFlags::NONBLOCK)
}

/// Whether there is something at a real place, and no link on the way to it.
pub(super) fn is_there(real: &Path) -> bool {
    open_without_links(real, PASSING).is_ok()
}

fn open_without_links(real: &Path, flags: OFlags) -> io::Result<File> {
    let open_in = |folder: BorrowedFd<'_>, name: &OsStr, flags: OFlags| {
        rustix::fs::openat(
            folder,
            name,
            flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )
    };
    let mut place = OwnedFd::from(File::open("/")?);
    let mut names = real.components().skip(1).peekable();
    while let Some(name) = names.next() {
        let Component::Normal(name) = name else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let flags = match names.peek() {
            Some(_) => PASSING | OFlags::DIRECTORY,
            None => flags,
        };
        place = open_in(place.as_fd(), name, flags)?;
    }
    Ok(File::from(place))
}

/// A folder on the way need not be readable.
#[cfg(target_os = "linux")]
const PASSING: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASSING: OFlags = OFlags::NONBLOCK;

#[cfg(test)]
mod tests;
