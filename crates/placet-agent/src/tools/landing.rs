//! Where a change of a file lands: the place that was judged, or nowhere.
//!
//! Hours may lie between the judgement and the change, and what was a folder then may be a link now. So the path is followed
//! once more when the change is made, and from there on no link is. If people were shown a change, it must be the change of that
//! very place. If nobody was asked, the place must be one that nobody needs to be asked about.

use std::path::{Path, PathBuf};

use placet_core::analysis::path::{Use, place};
use placet_core::analysis::{FixedPlaces, Places as _};
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::Risk;
use placet_core::verdict::Decision;
use placet_engine::places::DiskPlaces;

use super::unasked::{InForce, Unasked};

/// A real place: links have been followed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Landing {
    workspace: String,
    file: PathBuf,
    name: String,
}

impl Landing {
    /// Where `path`, as seen from the workspace, leads now.
    pub(super) fn of(root: &Path, path: &str) -> Result<Self, String> {
        let places = DiskPlaces::new(root, None).map_err(|error| error.to_string())?;
        let workspace = places.workspace().to_owned();
        let written = Path::new(&workspace).join(path);
        let real = written.to_str().and_then(|written| places.real(written));
        let real = real.ok_or_else(|| format!("it cannot be told where `{path}` leads"))?;
        let file = PathBuf::from(&real);
        let below = file.strip_prefix(&workspace).ok().and_then(Path::to_str);
        let name = below.filter(|below| !below.is_empty()).map(str::to_owned);
        Ok(Self {
            workspace,
            name: name.unwrap_or(real),
            file,
        })
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// As people are shown it: as seen from the workspace, or in full when it is outside.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Refuses a place that is not the one that was judged.
    pub(super) fn check(
        &self,
        call: &ToolCall,
        shown: &[Evidence],
        in_force: &InForce,
    ) -> Result<(), String> {
        let name = &self.name;
        let judged = shown.iter().find_map(|evidence| match evidence {
            Evidence::Diff { path, .. } => Some(path),
            _ => None,
        });
        if let Some(judged) = judged
            && judged != name
        {
            return Err(format!(
                "nothing was written: the path leads to `{name}` now, and led to `{judged}` when a person was shown the change"
            ));
        }
        let unasked = Unasked::new(in_force, Path::new(&self.workspace), call, call.tool.as_str())?;
        match unasked.decide(&self.file) {
            Decision::Allow => Ok(()),
            Decision::Ask(_) if judged.is_some() || self.risk() < Risk::High => Ok(()),
            Decision::Ask(_) => Err(format!(
                "nothing was written: the path leads to `{name}`, which nobody was asked about"
            )),
            Decision::Deny => Err(format!(
                "nothing was written: the path leads to `{name}`, and changing that is denied"
            )),
        }
    }

    fn risk(&self) -> Risk {
        let places = FixedPlaces {
            workspace: self.workspace.clone(),
            home: None,
        };
        let (risk, _) = place(&self.file.to_string_lossy(), &places).risk(Use::Write);
        risk
    }
}

#[cfg(test)]
mod tests;
