//! Paths: where one really leads, and whether that is a place an agent may touch unasked.
//!
//! Two readings of `..` exist. The system follows a link first and then goes up; many programs shorten the text first.
//! `link/../x` is a different file in each, so both are resolved and both must be inside the workspace. A leading `~` is the
//! home folder for some programs and a name like any other for the rest: likewise. A `file:` URL is opened as a URL by some
//! and as a relative path by most, which share nothing, so it is no path at all.

mod sensitive;

use super::why::{PathConcern, Why};
use super::{Analysis, Fact, FactKind, Places};
use crate::tool::Risk;

pub use self::sensitive::Sensitive;
pub(super) use self::sensitive::could_be_guarded;

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
        /// Why it is not an ordinary file.
        sensitive: Option<Sensitive>,
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
pub fn analyse(path: &str, usage: Use, places: &dyn Places, found: &mut Analysis) {
    let leads = place(path, places);
    let (risk, why) = leads.risk(usage);
    let writes = usage == Use::Write;
    let given = path.to_owned();
    let kind = match leads {
        Placed::Inside { resolved, .. } => FactKind::Path {
            given,
            resolved,
            inside: true,
            writes,
        },
        Placed::Outside { resolved } => FactKind::Path {
            given,
            resolved,
            inside: false,
            writes,
        },
        Placed::Unreadable { .. } => FactKind::Unreadable { what: given },
    };
    found.facts.push(Fact {
        kind,
        risk,
        why: why.map(Why::Path),
    });
}

impl Placed {
    /// How bad it is to use the place this way, and why.
    pub fn risk(&self, usage: Use) -> (Risk, Option<PathConcern>) {
        match (self, usage) {
            (Self::Unreadable { why }, _)
            | (
                Self::Inside {
                    sensitive: Some(Sensitive::Guarded(why)),
                    ..
                },
                Use::Write,
            ) => (Risk::High, Some(*why)),
            (Self::Outside { .. }, _) => (Risk::High, Some(PathConcern::Outside)),
            (
                Self::Inside {
                    sensitive: Some(Sensitive::Secret),
                    ..
                },
                _,
            ) => (Risk::High, Some(PathConcern::Secrets)),
            (Self::Inside { .. }, Use::Write) => (Risk::Medium, None),
            (Self::Inside { .. }, Use::Read) => (Risk::Low, None),
        }
    }
}

/// Finds out where a path leads. Relative paths start at the workspace; `~` is the home folder, and a name.
pub fn place(path: &str, places: &dyn Places) -> Placed {
    let workspace = places.workspace();
    let leads = match absolute(workspace, path, places) {
        Ok(absolute) => place_absolute(&absolute, places),
        Err(why) => return Placed::Unreadable { why },
    };
    if path.starts_with('~')
        && let outside @ Placed::Outside { .. } = place_absolute(&format!("{workspace}/{path}"), places)
    {
        return outside;
    }
    leads
}

/// The real place of a path seen from `folder`, if that is inside the workspace.
pub(super) fn inside(folder: &str, path: &str, places: &dyn Places) -> Option<String> {
    let absolute = absolute(folder, path, places).ok()?;
    let reading = readings(&absolute, &shorten(&absolute), places).ok()?;
    reading.into_iter().next()
}

/// The places that `path`, seen from `folder`, may mean: shortened as text, and with links followed in both readings. Made for
/// rules that ask or deny, so nothing is refused: what is no path to analysis is the name of a file here.
pub(super) fn meanings(folder: &str, path: &str, places: &dyn Places) -> Vec<String> {
    let home = || places.home().zip(path.strip_prefix('~'));
    let absolute = match home() {
        Some((home, rest)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ if path.starts_with('/') => path.to_owned(),
        _ => format!("{folder}/{path}"),
    };
    let shortened = shorten(&absolute);
    let climbs = absolute.split('/').any(|name| name == "..");
    let followed = climbs.then(|| follow(&absolute, places).unwrap_or_else(|far| far));
    let real = places.real(&shortened);
    [Some(shortened), real, followed].into_iter().flatten().collect()
}

fn place_absolute(absolute: &str, places: &dyn Places) -> Placed {
    let shortened = shorten(absolute);
    let mut names = match readings(absolute, &shortened, places) {
        Ok(real) => real,
        Err(resolved) => return Placed::Outside { resolved },
    };
    // A hook is a hook also when `.git/hooks` is a link to an ordinary folder, so the name as written counts as well.
    names.push(shortened);
    names.dedup();
    let sensitive = names
        .iter()
        .filter_map(|name| sensitive::of(within(name, places.workspace())))
        .max();
    let resolved = names.into_iter().next().unwrap_or_default();
    Placed::Inside { resolved, sensitive }
}

/// Where both readings of a path lead, when that is inside the workspace; `Err` is the first that is not.
fn readings(absolute: &str, shortened: &str, places: &dyn Places) -> Result<Vec<String>, String> {
    let mut inside = Vec::with_capacity(3);
    let mut add = |reading: Result<String, String>| {
        let real = reading?;
        if !is_inside(&real, places.workspace()) {
            return Err(real);
        }
        inside.push(real);
        Ok(())
    };
    // Without `..` the two are the same.
    if absolute.split('/').any(|name| name == "..") {
        add(follow(absolute, places))?;
    }
    add(places.real(shortened).ok_or_else(|| shortened.to_owned()))?;
    Ok(inside)
}

/// The path from the root, with nothing shortened or followed yet.
fn absolute(folder: &str, path: &str, places: &dyn Places) -> Result<String, PathConcern> {
    check(path)?;
    let scheme = path
        .split(['/', '\\'])
        .next()
        .and_then(|start| start.split_once(':'))
        .map(|(scheme, _)| scheme);
    match scheme {
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => return Err(PathConcern::FileUrl),
        Some(drive) if drive.len() == 1 => return Err(PathConcern::DriveLetter),
        Some(_) if path.contains("://") => return Err(PathConcern::Url),
        _ => {}
    }
    if path.contains('\\') {
        return Err(PathConcern::Backslash);
    }
    if path.starts_with('/') {
        return Ok(path.to_owned());
    }
    match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            let home = places.home().ok_or(PathConcern::NoHome)?;
            Ok(format!("{home}{rest}"))
        }
        Some(_) => Err(PathConcern::OtherHome),
        None => Ok(format!("{folder}/{path}")),
    }
}

fn check(path: &str) -> Result<(), PathConcern> {
    if path.is_empty() {
        return Err(PathConcern::Empty);
    }
    if path.chars().any(char::is_control) {
        return Err(PathConcern::ControlCharacters);
    }
    Ok(())
}

/// Follows links as the system does: each `..` goes up from where the links before it lead. `Err` is how far it got.
fn follow(absolute: &str, places: &dyn Places) -> Result<String, String> {
    let mut place = String::new();
    for name in absolute.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                place = places.real(or_root(&place)).ok_or(place)?;
                place.truncate(place.rfind('/').unwrap_or(0));
            }
            name => {
                place.push('/');
                place.push_str(name);
            }
        }
    }
    places.real(or_root(&place)).ok_or(place)
}

/// Takes `.`, `..` and `//` out of the text without asking where links lead.
pub(crate) fn shorten(absolute: &str) -> String {
    let mut short = String::with_capacity(absolute.len() + 1);
    for name in absolute.split('/') {
        match name {
            "" | "." => {}
            ".." => short.truncate(short.rfind('/').unwrap_or(0)),
            name => {
                short.push('/');
                short.push_str(name);
            }
        }
    }
    if short.is_empty() {
        short.push('/');
    }
    short
}

fn or_root(place: &str) -> &str {
    if place.is_empty() { "/" } else { place }
}

fn is_inside(path: &str, workspace: &str) -> bool {
    let root = workspace.trim_end_matches('/');
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The part of the path below the workspace; a folder above it does not make every file in it sensitive.
fn within<'a>(path: &'a str, workspace: &str) -> &'a str {
    if is_inside(path, workspace) {
        path.strip_prefix(workspace.trim_end_matches('/')).unwrap_or(path)
    } else {
        path
    }
}

#[cfg(test)]
mod tests;
