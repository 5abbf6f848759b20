//! Names of files and folders that hold credentials, history, or what Placet itself keeps: one list, for paths and for the words
//! of a shell line alike.
//!
//! Names are compared in lowercase, because some disks ignore case. Who asks decides what counts as a part of a path.

use super::shell::glob;

/// Names that mean something: anywhere, or only somewhere below certain folders and elsewhere they are ordinary words.
pub(super) struct Names {
    /// Sorted, since they are searched by halves.
    pub(super) anywhere: &'static [&'static str],
    pub(super) below: &'static [(&'static str, &'static [&'static str])],
}

impl Names {
    /// Whether `name` is one of them; `is_below` says whether a folder of that name is above it.
    pub(super) fn hold(&self, name: &str, is_below: impl Fn(&str) -> bool) -> bool {
        let placed =
            |(own, folders): &(&str, &[&str])| *own == name && folders.iter().any(|above| is_below(above));
        self.anywhere.binary_search(&name).is_ok() || self.below.iter().any(placed)
    }

    /// Whether globbing could make one of them of `pattern`. A pattern that says little (`*.json`) is not held against
    /// anybody.
    pub(super) fn could_hold(&self, pattern: &str, is_below: impl Fn(&str) -> bool) -> bool {
        let becomes = |name: &str| says_enough(pattern, name) && glob::could_be(pattern, name);
        let placed =
            |(own, folders): &(&str, &[&str])| becomes(own) && folders.iter().any(|above| is_below(above));
        self.anywhere.iter().any(|name| becomes(name)) || self.below.iter().any(placed)
    }
}

/// Whether a pattern begins like the name, or spells out half of it and more than an ending.
fn says_enough(pattern: &str, name: &str) -> bool {
    let stem = pattern.find(['*', '?', '[', '{', '(']).unwrap_or(pattern.len());
    let only_ending = pattern.starts_with("*.");
    pattern.starts_with('.') || stem > 2 || (!only_ending && glob::literal_chars(pattern) * 2 >= name.len())
}

#[rustfmt::skip]
const SECRETS: Names = Names {
    anywhere: &[
        ".aws", ".azure", ".bash_history", ".docker", ".dockercfg", ".env", ".git-credentials", ".gnupg", ".htpasswd", ".kube",
        ".my.cnf", ".mysql_history", ".netrc", ".npmrc", ".password-store", ".pgpass", ".psql_history", ".pypirc",
        ".python_history", ".ssh", ".vault-token", ".zsh_history", "_netrc", "application_default_credentials.json",
        "credentials.json", "id_dsa", "id_ecdsa", "id_ed25519", "id_rsa", "keychains", "placet.db", "placet.db-shm",
        "placet.db-wal", "placet.db.lock", "service-account.json", "tokens.toml",
    ],
    below: &[
        ("shadow", &["etc"]), ("gshadow", &["etc"]), ("sudoers", &["etc"]), ("sudoers.d", &["etc"]), ("environ", &["proc"]),
        ("gcloud", &[".config"]), ("gh", &[".config"]), ("credentials", &[".cargo"]), ("credentials.toml", &[".cargo"]),
        // The folder where Placet keeps its journal and the tokens of people: who reads it can answer for them.
        ("placet", &["share"]),
    ],
};

/// Files that end like this hold keys.
const ENDINGS: &[&str] = &[
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
];

/// `.env.local` is as secret as `.env`; these are made to be shown.
const SAMPLES: &[&str] = &[
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
];

/// Whether the file or folder `name` is secret; `is_below` says whether a folder of that name is above it.
pub(super) fn is_name(name: &str, is_below: impl Fn(&str) -> bool) -> bool {
    SECRETS.hold(name, &is_below)
        || (name.starts_with(".env.") && !SAMPLES.contains(&name))
        || (name.ends_with(".db.lock") && is_below("placet"))
}

/// Whether globbing could make a secret name of `pattern`.
pub(super) fn could_be(pattern: &str, is_below: impl Fn(&str) -> bool) -> bool {
    pattern.starts_with(".env.") || SECRETS.could_hold(pattern, is_below)
}

/// Whether a file of this name holds keys.
pub(super) fn is_key_file(name: &str) -> bool {
    name.contains('.') && ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Analysis, FixedPlaces, path, shell};
    use crate::tool::Risk;

    /// Every secret as a path in the workspace.
    fn paths() -> impl Iterator<Item = String> {
        let anywhere = SECRETS.anywhere.iter().map(ToString::to_string);
        let below = SECRETS
            .below
            .iter()
            .map(|(name, folders)| format!("{}/{name}", folders[0]));
        let endings = ENDINGS.iter().map(|ending| format!("server{ending}"));
        let others = [".env.local", "placet/other.db.lock", "ID_RSA"].map(str::to_owned);
        anywhere.chain(below).chain(endings).chain(others)
    }

    #[test]
    fn every_secret_is_seen_as_a_path_and_in_a_shell_line() {
        let places = FixedPlaces::of_examples();
        for path in paths().flat_map(|path| [format!("sub/{path}"), path]) {
            let mut found = Analysis::nothing();
            path::analyse(&path, path::Use::Read, &places, &mut found);
            assert_eq!(found.risk(), Risk::High, "{path}");
            for line in [
                format!("cat {path}"),
                format!("cat < {path}"),
                format!("x --from={path}"),
            ] {
                let mut found = Analysis::nothing();
                shell::analyse(&line, &places, &mut found);
                assert_eq!(found.risk(), Risk::High, "{line}");
            }
        }
    }

    #[test]
    fn ordinary_names_are_not_secret() {
        let places = FixedPlaces::of_examples();
        for path in [
            "shadow",
            "src/environ",
            "bin/gh",
            "placet",
            "src/placet/main.rs",
            "x.db.lock",
            ".env.example",
        ] {
            let mut found = Analysis::nothing();
            path::analyse(path, path::Use::Read, &places, &mut found);
            assert_eq!(found.risk(), Risk::Low, "{path}");
            let mut found = Analysis::nothing();
            shell::analyse(&format!("cat {path}"), &places, &mut found);
            assert_eq!(found.risk(), Risk::Low, "{path}");
        }
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(SECRETS.anywhere.is_sorted());
    }
}
