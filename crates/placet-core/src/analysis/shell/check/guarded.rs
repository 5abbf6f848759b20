//! Files that decide what runs or what is asked, given to a program that may write them.
//!
//! Nobody can list all that write (`gpg -o`, `tar -C`, `xxd -r`, `prettier --write`, whatever comes next year), so those that only
//! look are listed.

use super::super::judge::{Args, Hit};
use super::super::word::{Known, Word};
use super::super::{looks, named, wrapper};

/// Programs that leave what they are given as it is, or whose rows in the table say when they do not.
#[rustfmt::skip]
const LOOKERS: &[&str] = &[
    "ack", "ag", "awk", "b2sum", "cd", "chdir", "cksum", "cmp", "column", "comm", "curl", "cut", "diff", "du", "egrep",
    "fd", "fdfind", "fgrep", "file", "find", "fold", "gawk", "git", "grep", "gsed", "jq", "ls", "mawk", "md5sum", "nawk",
    "paste", "placet", "pushd", "popd", "readlink", "realpath", "rg", "sed", "sha1sum", "sha256sum", "sha512sum", "shellcheck", "shuf",
    "sort", "stat", "sum", "tree", "wc", "wget", "xargs", "yamllint", "zgrep",
];

/// Whether a program that is not known to only look is given such a file.
pub(in super::super) fn is_given(name: &str, args: &Args<'_, '_>) -> bool {
    let looks = match name {
        "xxd" => args.flag(&["-r"]) == Hit::No,
        "yq" => args.flag(&["-i", "--inplace"]) == Hit::No,
        _ => only_looks(name),
    };
    if looks {
        return false;
    }
    let mut words = args.words;
    // A script is read.
    if super::interpreter::is_one(name)
        && let Some((first, rest)) = words.split_first()
        && !first.value.starts_with('-')
    {
        words = rest;
    }
    words.iter().any(|word| holds_guarded(word, args))
}

fn only_looks(name: &str) -> bool {
    LOOKERS.contains(&name)
        || looks::only_talks(name)
        || looks::shows_files(name)
        || wrapper::is_prefix(name)
        || wrapper::is_shell(name)
}

/// Whether a word, or what is attached to an option in it, is such a file. Of a pattern only its folder counts: `*.json` is most
/// often meant for others.
fn holds_guarded(word: &Word<'_>, args: &Args<'_, '_>) -> bool {
    let guards = |part: &str| {
        let part = match part.find(['*', '?', '[']) {
            Some(at) if word.known != Known::Fully => {
                let fixed = part.get(..at).unwrap_or_default();
                fixed.rsplit_once('/').map_or("", |(folder, _)| folder)
            }
            _ => part,
        };
        !part.is_empty() && !part.starts_with('-') && args.standing.guards(part, args.places)
    };
    let mut found = false;
    match word.guess() {
        Some(guess) => named::parts(&guess, &mut |part| found |= guards(part)),
        None => named::parts(&word.value, &mut |part| found |= guards(part)),
    }
    found
}
