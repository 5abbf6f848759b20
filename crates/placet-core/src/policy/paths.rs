//! Path globs: how `path = "src/**"` is compared with where a call really reads and writes.
//!
//! A glob is absolute, below the home folder (`~/.ssh/**`), or relative to the workspace. `*` stays within one folder, `**` does not. Like command patterns, globs
//! are read narrowly for what allows (the resolved path itself) and broadly for what asks or denies (the path as given or
//! resolved, and everything below a folder that matches).

mod meet;

use std::borrow::Cow;

use globset::{GlobBuilder, GlobMatcher};

use crate::paths::shorten;

/// Why a text is not a path glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathGlobError {
    /// Not a glob.
    #[error("the path glob `{glob}` cannot be read: {why}")]
    Syntax {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        why: String,
    },
    /// `~name` and `..` mean different places to different readers.
    #[error(
        "the path glob `{0}` must be absolute, start with `~/`, or be relative to the workspace, and hold no `..`"
    )]
    Place(String),
}

/// One path glob.
#[derive(Debug, Clone)]
pub(crate) struct PathGlob {
    matcher: GlobMatcher,
    /// For `folder/**`, the folder itself.
    folder: Option<GlobMatcher>,
    base: Base,
    /// What every path it covers or touches starts with, seen from its base.
    start: Box<str>,
    /// As written, for comparing it with other patterns.
    text: Box<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Root,
    Home,
    Workspace,
}

/// The folders that globs start from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Roots<'a> {
    /// The workspace's real root.
    pub(crate) workspace: &'a str,
    /// The home folder, if there is one.
    pub(crate) home: Option<&'a str>,
}

impl PathGlob {
    /// Reads a glob.
    pub(crate) fn parse(text: &str) -> Result<Self, PathGlobError> {
        let text = text.strip_prefix("./").unwrap_or(text);
        let (base, text) = match text.strip_prefix("~/") {
            Some(below_home) => (Base::Home, below_home),
            None if text.starts_with('/') => (Base::Root, text),
            None => (Base::Workspace, text),
        };
        if text.is_empty() || text.starts_with('~') || text.split('/').any(|part| part == "..") {
            return Err(PathGlobError::Place(text.to_owned()));
        }
        let compile = |glob: &str| {
            GlobBuilder::new(glob)
                .literal_separator(true)
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| PathGlobError::Syntax {
                    glob: glob.to_owned(),
                    why: error.kind().to_string(),
                })
        };
        Ok(Self {
            matcher: compile(text)?,
            folder: text
                .strip_suffix("/**")
                .filter(|folder| !folder.is_empty())
                .map(compile)
                .transpose()?,
            base,
            // Where the home folder is, is only known when a call is looked at.
            start: if base == Base::Home { "" } else { fixed_start(text) }.into(),
            text: text.into(),
        })
    }

    /// Whether this very path, already resolved, is covered.
    pub(crate) fn covers(&self, resolved: &str, roots: Roots<'_>) -> bool {
        self.seen_from_base(resolved, roots)
            .is_some_and(|path| self.matcher.is_match(path))
    }

    /// What every path it covers or touches starts with: absolute for an absolute glob, else seen from the workspace.
    pub(super) fn start(&self) -> &str {
        &self.start
    }

    /// Whether this path, [normalised], lies at or below what the glob names.
    pub(crate) fn touches(&self, absolute: &str, roots: Roots<'_>) -> bool {
        let Some(path) = self.seen_from_base(absolute, roots) else {
            return false;
        };
        ancestors(path).any(|path| {
            self.matcher.is_match(path) || self.folder.as_ref().is_some_and(|folder| folder.is_match(path))
        })
    }

    /// Whether a shell could make a path that the glob touches of `pattern`, which is absolute.
    pub(crate) fn could_touch(&self, pattern: &str, roots: Roots<'_>) -> bool {
        let folder = match self.base {
            Base::Root => None,
            Base::Home => roots.home,
            Base::Workspace => Some(roots.workspace),
        };
        let own = folder.map_or(Cow::Borrowed(&*self.text), |folder| {
            Cow::Owned(format!("{folder}/{}", self.text))
        });
        meet::could_touch(&own, pattern)
    }

    fn seen_from_base<'p>(&self, absolute: &'p str, roots: Roots<'_>) -> Option<&'p str> {
        match self.base {
            Base::Root => Some(absolute),
            Base::Home => below(roots.home?, absolute),
            Base::Workspace => below(roots.workspace, absolute),
        }
    }
}

/// The part of a path below `folder`.
pub(super) fn below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(folder.trim_end_matches('/'))?.strip_prefix('/')
}

/// The glob's text before its first wildcard. A slash at its end goes too: `src/**` is also about `src` itself.
fn fixed_start(glob: &str) -> &str {
    let end = glob.find(['*', '?', '[', '{', '\\']).unwrap_or(glob.len());
    glob.get(..end).unwrap_or_default().trim_end_matches('/')
}

/// The path and each folder above it.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| {
        path.rsplit_once('/')
            .map(|(above, _)| above)
            .filter(|above| !above.is_empty())
    })
}

/// The path made absolute, without `.` and `..`. Links are not known here; analysis resolves them.
pub(super) fn normalised<'p>(path: &'p str, workspace: &str) -> Cow<'p, str> {
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    if path
        .strip_prefix('/')
        .is_some_and(|names| names.split('/').all(is_name))
    {
        return Cow::Borrowed(path);
    }
    Cow::Owned(if path.starts_with('/') {
        shorten(path)
    } else {
        shorten(&format!("{workspace}/{path}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOTS: Roots<'_> = Roots {
        workspace: "/workspace",
        home: Some("/home/ana"),
    };

    fn touches(glob: &PathGlob, path: &str) -> bool {
        glob.touches(&normalised(path, "/workspace"), ROOTS)
    }

    #[test]
    fn what_allows_covers_the_resolved_path_and_nothing_else() {
        let glob = PathGlob::parse("src/**").unwrap();
        assert!(glob.covers("/workspace/src/a/b.rs", ROOTS));
        assert!(!glob.covers("/workspace/vendor/src/a.rs", ROOTS));
        assert!(!glob.covers("/workspace2/src/a.rs", ROOTS));
        assert!(
            !PathGlob::parse("*.md")
                .unwrap()
                .covers("/workspace/docs/a.md", ROOTS)
        );
        assert!(PathGlob::parse("/etc/*").unwrap().covers("/etc/hosts", ROOTS));
    }

    #[test]
    fn what_asks_or_denies_is_not_evaded_by_spelling() {
        let glob = PathGlob::parse("secrets/**").unwrap();
        for path in [
            "secrets/a",
            "./secrets",
            "src/../secrets/a",
            "/workspace/secrets/deep/a",
            "secrets/",
        ] {
            assert!(touches(&glob, path), "{path}");
        }
        assert!(!touches(&glob, "src/secrets.rs"));
        assert!(touches(&PathGlob::parse("/etc/ssh").unwrap(), "/etc//ssh/./keys"));
    }

    #[test]
    fn a_glob_whose_place_depends_on_the_reader_is_refused() {
        for text in ["~bob/.ssh/**", "../x", "a/../b", ""] {
            assert!(
                matches!(PathGlob::parse(text), Err(PathGlobError::Place(_))),
                "{text}"
            );
        }
        assert!(matches!(
            PathGlob::parse("a[").unwrap_err(),
            PathGlobError::Syntax { .. }
        ));
    }
}
