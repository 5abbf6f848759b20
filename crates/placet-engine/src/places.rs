//! Real places, from disk: the one question analysis has for the outside world.
//!
//! Links are followed by hand and not by the system's own canonicalisation, because that gives up on a path that does not
//! exist yet, and a link to a file that is still to be created outside the workspace is exactly what must be seen.
//!
//! The answer is a snapshot. A caller that acts on it later must not follow links that have changed since.

mod unpack;

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use placet_core::analysis::Places;

/// A larger file is not a settings file.
const TEXT_BYTES_MAX: u64 = 64 * 1024;
/// More entries than these are not looked at one by one: the command that reads them needs approval instead.
const ENTRIES_MAX: usize = 10_000;

/// As many links as Linux follows before it calls it a loop.
const LINKS_MAX: usize = 40;

/// Answers from disk where a path really leads.
#[derive(Debug, Clone)]
pub struct DiskPlaces {
    workspace: String,
    home: Option<String>,
}

/// Why there is no workspace to judge paths against.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// It is not there, or may not be looked at.
    #[error("the workspace `{path}` cannot be opened")]
    Workspace {
        /// The folder asked for.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It is a file.
    #[error("the workspace `{0}` is not a folder")]
    NotAFolder(PathBuf),
    /// Its name cannot be written down.
    #[error("the path of the workspace `{0}` is not valid UTF-8")]
    NotUtf8(PathBuf),
}

impl DiskPlaces {
    /// Judges paths against `workspace`, with `~` standing for `home`.
    pub fn new(workspace: &Path, home: Option<&Path>) -> Result<Self, PlacesError> {
        let refused = |source| PlacesError::Workspace {
            path: workspace.to_owned(),
            source,
        };
        let real = fs::canonicalize(workspace).map_err(refused)?;
        if !real.is_dir() {
            return Err(PlacesError::NotAFolder(real));
        }
        let root = real
            .to_str()
            .ok_or_else(|| PlacesError::NotUtf8(real.clone()))?
            .to_owned();
        // A home that is relative or cannot be written down is no home: `~` is then unreadable, which is HIGH.
        let home = home
            .filter(|home| home.is_absolute())
            .and_then(Path::to_str)
            .map(str::to_owned);
        Ok(Self {
            workspace: root,
            home,
        })
    }
}

impl Places for DiskPlaces {
    fn workspace(&self) -> &str {
        &self.workspace
    }

    fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    fn real<'p>(&self, absolute: &'p str) -> Option<Cow<'p, str>> {
        // The way to the workspace was followed when it was opened, and nearly all that is looked at lies below.
        let real = match absolute.strip_prefix(&self.workspace) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                follow(PathBuf::from(&self.workspace), rest)
            }
            _ if absolute.starts_with('/') => follow(PathBuf::from("/"), absolute),
            _ => None,
        };
        real.map(Cow::Owned)
    }

    fn text(&self, absolute: &str) -> Option<String> {
        let entry = fs::metadata(absolute).ok()?;
        let is_small = entry.is_file() && entry.len() <= TEXT_BYTES_MAX;
        is_small.then(|| fs::read_to_string(absolute).ok())?
    }

    fn is_absent(&self, absolute: &str) -> bool {
        matches!(fs::symlink_metadata(absolute), Err(error) if error.kind() == ErrorKind::NotFound)
    }

    fn matching(&self, pattern: &str) -> Option<Vec<String>> {
        let (folder, pattern) = pattern.rsplit_once('/')?;
        if folder.contains(['*', '?', '[']) {
            return None;
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build().ok()?;
        let glob = glob.compile_matcher();
        let mut found = Vec::new();
        for (nth, entry) in fs::read_dir(folder).ok()?.enumerate() {
            let name = entry.ok()?.file_name().into_string().ok()?;
            if nth >= ENTRIES_MAX {
                return None;
            }
            // A star finds no name that begins with a dot, but a shell may be told otherwise.
            if glob.is_match(&name) {
                found.push(format!("{folder}/{name}"));
            }
        }
        Some(found)
    }

    fn unpacked(&self, absolute: &str) -> Option<Vec<String>> {
        unpack::names(Path::new(absolute))
    }

    fn below(&self, folder: &str) -> Option<Vec<String>> {
        let mut found = vec![folder.to_owned()];
        let mut next = 0;
        while let Some(path) = found.get(next) {
            next += 1;
            match fs::symlink_metadata(path) {
                Ok(entry) if entry.is_dir() => {}
                Ok(_) => continue,
                // What is not there is not read.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(_) => return None,
            }
            for entry in fs::read_dir(path.clone()).ok()? {
                found.push(entry.ok()?.path().into_os_string().into_string().ok()?);
                if found.len() > ENTRIES_MAX {
                    return None;
                }
            }
        }
        Some(found)
    }
}

/// Goes on from `place`, which is real, and follows every link on the way, also those that lead to nothing yet.
fn follow(mut place: PathBuf, path: &str) -> Option<String> {
    let mut links_left = LINKS_MAX;
    let mut ahead: Vec<String> = names_reversed(path).collect();
    while let Some(name) = ahead.pop() {
        if name == ".." {
            place.pop();
            continue;
        }
        place.push(&name);
        // What the links in there point to depends on the process that looks.
        if place.starts_with("/proc") || place.starts_with("/dev/fd") {
            return None;
        }
        match fs::symlink_metadata(&place) {
            Ok(entry) if entry.is_symlink() => {
                links_left = links_left.checked_sub(1)?;
                let target = fs::read_link(&place).ok()?;
                let target = target.to_str()?;
                place.pop();
                if target.starts_with('/') {
                    place = PathBuf::from("/");
                }
                ahead.extend(names_reversed(target));
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    place.to_str().map(str::to_owned)
}

fn names_reversed(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split('/')
        .rev()
        .filter(|name| !matches!(*name, "" | "."))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use placet_core::analysis::Analysis;
    use placet_core::tool::Risk;
    use placet_inspect::path::{Placed, Use, analyse, place};
    use tempfile::TempDir;

    use super::*;

    /// A workspace beside a folder outside the agent's reach.
    struct Disk {
        _root: TempDir,
        workspace: PathBuf,
        outside: PathBuf,
        places: DiskPlaces,
    }

    fn disk() -> Disk {
        let root = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(root.path()).unwrap();
        let (workspace, outside) = (real.join("work"), real.join("outside"));
        fs::create_dir_all(workspace.join("src")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(workspace.join("src/main.rs"), "").unwrap();
        fs::write(outside.join("secret"), "").unwrap();
        let places = DiskPlaces::new(&workspace, Some(&real)).unwrap();
        Disk {
            _root: root,
            workspace,
            outside,
            places,
        }
    }

    fn text(path: &Path) -> String {
        path.to_str().unwrap().to_owned()
    }

    #[test]
    fn files_of_the_workspace_are_inside_whether_they_exist_or_not() {
        let disk = disk();
        for path in ["src/main.rs", "src/new/file.rs", ".", "src/../x"] {
            assert!(
                matches!(place(path, &disk.places), Placed::Inside { .. }),
                "{path}"
            );
        }
    }

    #[test]
    fn a_link_out_of_the_workspace_leads_outside() {
        let disk = disk();
        symlink(&disk.outside, disk.workspace.join("docs")).unwrap();
        symlink("../outside/secret", disk.workspace.join("notes")).unwrap();
        let secret = text(&disk.outside.join("secret"));
        for path in ["docs/secret", "notes"] {
            assert_eq!(
                place(path, &disk.places),
                Placed::Outside {
                    resolved: secret.clone()
                },
                "{path}"
            );
        }
        assert_eq!(
            disk.places
                .real(&text(&disk.workspace.join("docs/new")))
                .as_deref(),
            Some(&*text(&disk.outside.join("new")))
        );
    }

    #[test]
    fn a_dangling_link_that_points_outside_leads_outside() {
        let disk = disk();
        let target = disk.outside.join("not-yet");
        symlink(&target, disk.workspace.join("out.txt")).unwrap();
        symlink("out.txt", disk.workspace.join("hop")).unwrap();
        for path in ["out.txt", "hop"] {
            let mut found = Analysis::nothing();
            analyse(path, Use::Write, &disk.places, &mut found);
            assert_eq!(found.risk(), Risk::High);
            assert_eq!(
                place(path, &disk.places),
                Placed::Outside {
                    resolved: text(&target)
                },
                "{path}"
            );
        }
    }

    #[test]
    fn a_dangling_link_inside_the_workspace_stays_inside() {
        let disk = disk();
        symlink("missing/../later", disk.workspace.join("soon")).unwrap();
        let resolved = text(&disk.workspace.join("later"));
        assert_eq!(
            place("soon", &disk.places),
            Placed::Inside {
                resolved,
                sensitive: None
            }
        );
    }

    #[test]
    fn going_up_from_behind_a_link_leaves_the_workspace_as_it_does_for_the_system() {
        let disk = disk();
        symlink(&disk.outside, disk.workspace.join("docs")).unwrap();
        let up = place("docs/../secret", &disk.places);
        assert_eq!(
            up,
            Placed::Outside {
                resolved: text(&disk.outside.with_file_name("secret"))
            }
        );
    }

    #[test]
    fn a_loop_of_links_counts_as_outside() {
        let disk = disk();
        symlink("b", disk.workspace.join("a")).unwrap();
        symlink("a", disk.workspace.join("b")).unwrap();
        symlink("self", disk.workspace.join("self")).unwrap();
        for path in ["a", "b/x", "self"] {
            assert!(
                matches!(place(path, &disk.places), Placed::Outside { .. }),
                "{path}"
            );
        }
    }

    #[test]
    fn links_that_depend_on_who_looks_count_as_outside() {
        let disk = disk();
        symlink("/proc/self/cwd", disk.workspace.join("here")).unwrap();
        for path in ["/proc/self/cwd/src/main.rs", "here/x", "/dev/fd/3"] {
            assert!(
                matches!(place(path, &disk.places), Placed::Outside { .. }),
                "{path}"
            );
        }
    }

    #[test]
    fn what_lies_beyond_a_file_or_a_closed_folder_cannot_be_told() {
        let disk = disk();
        assert_eq!(
            disk.places.real(&text(&disk.workspace.join("src/main.rs/x"))),
            None
        );
        let closed = disk.workspace.join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        // Root may look anyway, and then there is nothing to be told apart.
        let may_look = fs::read_dir(&closed).is_ok();
        assert_eq!(disk.places.real(&text(&closed.join("x"))).is_some(), may_look);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn a_workspace_that_is_missing_or_a_file_is_refused() {
        let disk = disk();
        let missing = DiskPlaces::new(&disk.workspace.join("missing"), None).unwrap_err();
        assert!(matches!(missing, PlacesError::Workspace { .. }));
        let file = DiskPlaces::new(&disk.workspace.join("src/main.rs"), None).unwrap_err();
        assert!(matches!(file, PlacesError::NotAFolder(_)));
    }

    #[test]
    fn a_workspace_reached_by_a_link_is_known_by_its_real_place() {
        let disk = disk();
        let link = disk.outside.join("link");
        symlink(&disk.workspace, &link).unwrap();
        let places = DiskPlaces::new(&link, None).unwrap();
        assert_eq!(places.workspace(), text(&disk.workspace));
        assert!(matches!(
            place(&text(&link.join("src/main.rs")), &places),
            Placed::Inside { .. }
        ));
    }
}
