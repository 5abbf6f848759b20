//! What nobody may allow, in any mode. Few and certain: everything doubtful is asked about instead.

use super::super::path::shorten;
use super::judge::{Args, Hit};
use super::target::is_block_device;
use super::word::Word;

/// Folders whose loss is the loss of the machine or the person's work.
const ROOTS: &[&str] = &[
    "/",
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/boot",
    "/dev",
    "/opt",
    "/proc",
    "/root",
    "/sys",
    "/var",
    "/home",
    "/Users",
    "/System",
    "/Library",
    "/Applications",
    "~",
];

/// Why this command is banned, if it is.
pub(super) fn banned(name: &str, args: &Args<'_, '_>) -> Option<String> {
    let paths = || args.words.iter().filter(|word| !word.value.starts_with('-'));
    match name {
        "rm" if args.flag(&["-r", "-R", "--recursive", "--no-preserve-root"]) == Hit::Yes => {
            let word = paths().find(|word| is_root(word))?;
            Some(format!("`rm` would delete everything below `{}`", word.raw))
        }
        "chmod" | "chown" | "chgrp" if args.flag(&["-R", "--recursive"]) == Hit::Yes => {
            let word = paths().find(|word| root_of(word).as_deref() == Some("/"))?;
            Some(format!("`{name}` would change everything below `{}`", word.raw))
        }
        "dd" => {
            let device = args
                .words
                .iter()
                .filter_map(|word| word.value.strip_prefix("of="))
                .find(|of| is_block_device(of))?;
            Some(format!("`dd` would overwrite the disk `{device}`"))
        }
        _ if name == "mkfs" || name.starts_with("mkfs.") => {
            let device = paths().find(|word| is_block_device(&word.value))?;
            Some(format!("`{name}` would erase the disk `{}`", device.raw))
        }
        _ => None,
    }
}

fn is_root(word: &Word<'_>) -> bool {
    root_of(word).is_some_and(|path| ROOTS.contains(&path.as_str()))
}

/// The folder a word stands for when it means that folder or everything in it: `/`, `//`, `/./`, `/tmp/..`, `/*`,
/// `~/`, `$HOME`.
fn root_of(word: &Word<'_>) -> Option<String> {
    let value = word.value.as_str();
    let home = ["${HOME}", "$HOME", "~"]
        .iter()
        .find_map(|home| value.strip_prefix(home));
    let home = home.filter(|_| {
        !word.raw.starts_with(['\'', '\\']) && (!value.starts_with('~') || word.raw.starts_with('~'))
    });
    let inner = match home {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("/~{rest}"),
        _ if value.starts_with('/') => value.to_owned(),
        _ => return None,
    };
    // `/*`, `/.*` and `/{*,.*}` are all of it.
    let everything =
        |last: &str| !last.is_empty() && last.chars().all(|c| "*.?{},".contains(c)) && last.contains('*');
    let inner = match inner.rsplit_once('/') {
        Some((above, last)) if everything(last) => format!("{above}/"),
        _ => inner,
    };
    let flat = shorten(&inner);
    Some(match flat.strip_prefix("/~") {
        Some("") => "~".to_owned(),
        _ => flat,
    })
}
