//! Paths: where one really leads, and whether that is a place an agent may touch unasked.
//!
//! Two readings of `..` exist. The system follows a link first and then goes up; many programs shorten the text first.
//! `link/../x` is a different file in each, so both are resolved and both must be inside the workspace. A leading `~` is the
//! home folder for some programs and a name like any other for the rest: likewise. A `file:` URL is opened as a URL by some
//! and as a relative path by most, which share nothing, so it is no path at all.

mod known;

use std::borrow::Cow;

use placet_core::analysis::{Analysis, Fact, FactKind, PathConcern, Why};
use placet_core::paths::{join, or_root, walk};
use placet_core::tool::Risk;

use crate::Site;

pub(super) use self::known::KnownPlaces;

/// What a path is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    /// Inside the workspace, links followed.
    Inside {
        /// The real place.
        resolved: String,
        /// Why it is not an ordinary file: it holds secrets, or writing it changes what runs later or what is asked.
        sensitive: Option<PathConcern>,
    },
    /// Outside the workspace, or it cannot be told.
    Outside {
        /// The real place, or the path as far as it could be followed.
        resolved: String,
    },
    /// It means nothing certain.
    Unreadable {
        /// Why.
        why: PathConcern,
    },
}

/// Analyses a path.
pub fn analyse<'a>(path: &str, usage: Use, site: impl Into<Site<'a>>, found: &mut Analysis) {
    let leads = place(path, site);
    let (risk, why) = leads.risk(usage);
    let given = path.to_owned();
    let inside = matches!(leads, Placed::Inside { .. });
    let kind = match leads {
        Placed::Inside { resolved, .. } | Placed::Outside { resolved } => FactKind::Path {
            given,
            resolved,
            inside,
            writes: usage == Use::Write,
        },
        Placed::Unreadable { .. } => FactKind::Unreadable { what: given },
    };
    found.facts.push(Fact {
        kind,
        risk,
        why: why.map(|path| Why::Path { path }),
    });
}

impl Placed {
    fn outside(resolved: String) -> Self {
        Self::Outside { resolved }
    }

    /// How bad it is to use the place this way, and why.
    pub fn risk(&self, usage: Use) -> (Risk, Option<PathConcern>) {
        let special = match self {
            Self::Unreadable { why } => Some(*why),
            Self::Outside { .. } => Some(PathConcern::Outside),
            Self::Inside { sensitive, .. } => {
                sensitive.filter(|concern| usage == Use::Write || *concern == PathConcern::Secrets)
            }
        };
        match (special, usage) {
            (Some(_), _) => (Risk::High, special),
            (None, Use::Write) => (Risk::Medium, None),
            (None, Use::Read) => (Risk::Low, None),
        }
    }
}

/// Finds out where a path leads. Relative paths start at the workspace; `~` is the home folder, and a name.
pub fn place<'a>(path: &str, site: impl Into<Site<'a>>) -> Placed {
    let site = site.into();
    place_from(site.workspace(), path, site)
}

/// The same for a path seen from `folder`.
pub(super) fn place_from(folder: &str, path: &str, places: Site<'_>) -> Placed {
    let leads = match absolute(folder, path, places) {
        Ok((start, rest)) => place_absolute(start, rest, places),
        Err(why) => return Placed::Unreadable { why },
    };
    if path.starts_with('~')
        && let outside @ Placed::Outside { .. } = place_absolute(folder, path, places)
    {
        return outside;
    }
    leads
}

/// The places that `path`, seen from `folder`, may mean: shortened as text, and with links followed in both readings. Made for
/// rules that ask or deny, so nothing is refused: what is no path to analysis is the name of a file here.
pub(super) fn meanings(folder: &str, path: &str, places: Site<'_>) -> impl Iterator<Item = String> {
    let (start, rest) = match places.home().zip(path.strip_prefix('~')) {
        Some((home, rest)) if rest.is_empty() || rest.starts_with('/') => (home, rest),
        _ if path.starts_with('/') => ("", path),
        _ => (folder, path),
    };
    let followed = climbs(path).then(|| follow(start, rest, places).unwrap_or_else(|far| far));
    let shortened = join(start, rest);
    let real = places.real(&shortened).filter(|real| *real != shortened);
    let real = real.map(Cow::into_owned);
    [Some(shortened), real, followed].into_iter().flatten()
}

fn place_absolute(start: &str, rest: &str, places: Site<'_>) -> Placed {
    let is_outside = |place: &str| !is_inside(place, places.workspace());
    // The system follows links before it goes up. Without `..` the two readings are the same.
    let followed = (climbs(start) || climbs(rest)).then(|| follow(start, rest, places));
    let followed = match followed.transpose() {
        Ok(followed) if !followed.as_deref().is_some_and(is_outside) => followed,
        Ok(outside) => return Placed::outside(outside.unwrap_or_default()),
        Err(resolved) => return Placed::outside(resolved),
    };
    let shortened = join(start, rest);
    // A hook is a hook also when `.git/hooks` is a link to an ordinary folder, so the name as written counts as well.
    let as_written = special_below(&shortened, places);
    let real = match real(shortened, places) {
        Ok(real) if !is_outside(&real) => real,
        Ok(resolved) | Err(resolved) => return Placed::outside(resolved),
    };
    let readings = followed.iter().chain([&real]);
    let followed_to = readings.filter_map(|place| special_below(place, places));
    Placed::Inside {
        sensitive: as_written.into_iter().chain(followed_to).min(),
        resolved: followed.unwrap_or(real),
    }
}

/// The real place, without a copy where there are no links. `Err` when it cannot be resolved.
fn real(place: String, places: Site<'_>) -> Result<String, String> {
    let real = places
        .real(&place)
        .map(|real| (*real != place).then(|| real.into_owned()));
    match real {
        Some(moved) => Ok(moved.unwrap_or(place)),
        None => Err(place),
    }
}

/// What is special about a path; a folder above the workspace does not make every file in it special.
fn special_below(path: &str, places: Site<'_>) -> Option<PathConcern> {
    let root = places.workspace().trim_end_matches('/');
    let below = path.strip_prefix(root).filter(|_| is_inside(path, root));
    places.programs().facts().places.of_path(below.unwrap_or(path))
}

fn climbs(path: &str) -> bool {
    path.contains("..") && path.split('/').any(|name| name == "..")
}

/// The path from the root, in two parts and with nothing shortened or followed yet.
fn absolute<'p>(folder: &'p str, path: &'p str, places: Site<'p>) -> Result<(&'p str, &'p str), PathConcern> {
    if path.is_empty() {
        return Err(PathConcern::Empty);
    }
    if path.chars().any(char::is_control) {
        return Err(PathConcern::ControlCharacters);
    }
    let start = path.split(['/', '\\']).next().unwrap_or_default();
    match start.split_once(':').map(|(scheme, _)| scheme) {
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => return Err(PathConcern::FileUrl),
        Some(drive) if drive.len() == 1 => return Err(PathConcern::DriveLetter),
        Some(_) if path.contains("://") => return Err(PathConcern::Url),
        _ => {}
    }
    if path.contains('\\') {
        return Err(PathConcern::Backslash);
    }
    if path.starts_with('/') {
        return Ok(("", path));
    }
    match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = places.home().ok_or(PathConcern::NoHome)?;
            Ok((home, rest))
        }
        Some(_) => Err(PathConcern::OtherHome),
        None => Ok((folder, path)),
    }
}

/// Follows links as the system does: each `..` goes up from where the links before it lead. `Err` is how far it got.
fn follow(start: &str, rest: &str, places: Site<'_>) -> Result<String, String> {
    let mut place = String::new();
    for name in start.split('/').chain(rest.split('/')) {
        if name == ".." {
            place = real(or_root(place), places)?;
        }
        walk(&mut place, name);
    }
    real(or_root(place), places)
}

fn is_inside(path: &str, workspace: &str) -> bool {
    let root = workspace.trim_end_matches('/');
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
