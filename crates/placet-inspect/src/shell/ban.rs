//! What no approver can allow, in any mode. Few and certain: everything doubtful needs approval instead.

use placet_core::analysis::Ban;
use placet_core::paths::shorten;

use super::programs::{Banned, Parsed};
use super::word::Word;
use crate::Site;

/// Why this command is banned, if it is.
pub(super) fn banned(
    name: &str,
    parsed: &Parsed<'_, '_, '_>,
    words: &[Word<'_>],
    places: Site<'_>,
) -> Option<Ban> {
    let banned = parsed.banned()?;
    let known = &places.programs().facts().places;
    let is_target = |word: &&Word<'_>| match banned {
        Banned::DeletesAll => folder_of(word).is_some_and(|folder| known.roots.has(&folder)),
        Banned::ChangesAll => folder_of(word).is_some_and(|folder| folder == "/"),
        Banned::OverwritesDisk => word.value.strip_prefix("of=").is_some_and(|of| known.is_disk(of)),
        Banned::ErasesDisk => known.is_disk(&word.value),
        Banned::AnswersForPeople => false,
    };
    let target = words.iter().find(is_target).map(|word| word.raw.to_string());
    let name = name.to_owned();
    Some(match banned {
        Banned::DeletesAll => Ban::DeletesAll { path: target? },
        Banned::ChangesAll => Ban::ChangesAll { name, path: target? },
        Banned::OverwritesDisk => Ban::OverwritesDisk {
            device: target?.replacen("of=", "", 1),
        },
        Banned::ErasesDisk => Ban::ErasesDisk {
            name,
            device: target?,
        },
        Banned::AnswersForPeople => Ban::AnswersForPeople,
    })
}

/// The folder a word stands for when it means that folder or everything in it: `/`, `//`, `/./`, `/tmp/..`, `/*`,
/// `~/`, `$HOME`.
fn folder_of(word: &Word<'_>) -> Option<String> {
    let value = &*word.value;
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
