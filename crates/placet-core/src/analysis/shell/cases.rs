//! Single programs whose danger takes more than a row of the table to tell.

use super::judge::{Args, Hit, changes_others, is_variable};
use super::options::{PG_RESTORE, Part, parts};
use super::target;
use super::word::{Known, Word};

fn yes_if(is: bool) -> Hit {
    if is { Hit::Yes } else { Hit::No }
}

/// `tar cIf COMMAND o.tar x`: the first word holds options also without a dash.
pub(super) fn tar_runs_old_style(args: &Args<'_, '_>) -> Hit {
    let old_style = |word: &&Word<'_>| word.value.bytes().all(|b| b.is_ascii_alphabetic());
    let first = args.words.first().filter(old_style);
    yes_if(first.is_some_and(|word| word.value.contains(['I', 'F', 'P'])))
}

/// `rename CODE files`: some are Perl programs and run their first word. Others replace it as it is.
pub(super) fn renames_by_code(args: &Args<'_, '_>) -> Hit {
    let code = args
        .words
        .iter()
        .find(|word| !word.value.starts_with('-') || word.value.starts_with("-e"));
    match code {
        None => Hit::No,
        Some(option) if option.value.starts_with('-') => Hit::Yes,
        Some(word) if word.fixed().is_none() => Hit::Maybe,
        Some(word) => yes_if(!is_plain_name(&word.value) && !is_plain_substitution(&word.value)),
    }
}

fn is_plain_name(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

/// `s/a/b/g` with nothing inside that Perl would run: `@{[…]}`, `${…}`, `(?{…})`, the flag `e`.
fn is_plain_substitution(code: &str) -> bool {
    let parts = code.strip_prefix(['s', 'y']).or_else(|| code.strip_prefix("tr"));
    let Some(parts) = parts.and_then(|parts| parts.strip_prefix('/')) else {
        return false;
    };
    let mut parts = parts.split('/');
    let (Some(from), Some(to), Some(flags), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let is_group =
        |after: &str| after.is_empty() || after.starts_with(|c: char| c.is_ascii_digit() || c == ')');
    let is_plain = |part: &str| {
        !part.contains(['@', '\\']) && !part.contains("(?") && part.split('$').skip(1).all(is_group)
    };
    let escapes = from.replace("\\.", "");
    is_plain(&escapes) && is_plain(to) && flags.chars().all(|c| "gimsx".contains(c))
}

/// `. FILE`, but for the script that every Python environment has for this.
pub(super) fn sources_other_than_venv(args: &Args<'_, '_>) -> Hit {
    let is_venv = |word: &Word<'_>| {
        let own = word.fixed().is_some_and(|path| path.ends_with("/bin/activate"));
        own && args.standing.contains(word, args.places)
    };
    match args.words {
        [word] if is_venv(word) && !args.open => Hit::No,
        _ => Hit::Yes,
    }
}

/// `export NAME=value` is judged as `NAME=value` is; with anything else nobody knows which names it sets.
pub(super) fn exports_more_than_names(args: &Args<'_, '_>) -> Hit {
    let is_harmless = |word: &Word<'_>| {
        let (name, value) = word.value.split_once('=').unwrap_or((&word.value, ""));
        let is_name = is_variable(name) && !name.contains(['[', '+']);
        // To some shells what is not in quotes becomes several words, each with a name.
        let in_quotes = word.raw.split_once('=').is_some_and(|(_, raw)| {
            let inside = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
            inside.is_some_and(|inside| !inside.contains(['"', '@']))
        });
        let outside = target::points_away(value) && !args.standing.contains_path(value, args.places);
        is_name
            && !changes_others(&name.to_ascii_uppercase())
            && (word.known == Known::Fully || in_quotes)
            && !word.raw.starts_with(['\'', '"'])
            && !outside
    };
    yes_if(args.open || args.words.is_empty() || !args.words.iter().all(is_harmless))
}

/// `kubectl get secret -o yaml`; their names alone are no secret.
pub(super) fn shows_secrets(args: &Args<'_, '_>) -> Hit {
    let is_secret = |word: &Word<'_>| {
        let mut kinds = word
            .value
            .split(',')
            .map(|kind| kind.split(['/', '.']).next().unwrap_or(kind));
        kinds.any(|kind| matches!(kind, "secret" | "secrets"))
    };
    let mut before = "";
    let mut in_full = false;
    for word in args.words {
        let value = word.value.as_str();
        let attached = ["--output=", "-o=", "-o"]
            .iter()
            .find_map(|option| value.strip_prefix(option));
        let format = match before {
            "-o" | "--output" => Some(value),
            _ => attached.filter(|format| !format.is_empty()),
        };
        in_full |= format.is_some_and(|format| !matches!(format, "wide" | "name"))
            || value.starts_with("--template");
        before = value;
    }
    yes_if(in_full && args.words.iter().any(is_secret))
}

/// `npm config set script-shell x`, `npm set x`.
pub(super) fn npm_changes_settings(args: &Args<'_, '_>) -> Hit {
    let mut plain = args
        .words
        .iter()
        .map(|word| word.value.as_str())
        .filter(|word| !word.starts_with('-'));
    yes_if(match plain.next() {
        Some("set") => true,
        Some("config" | "c") => plain
            .next()
            .is_some_and(|sub| matches!(sub, "set" | "edit" | "delete" | "rm")),
        _ => false,
    })
}

/// `git rm -rf x`; with `--cached` the files stay.
pub(super) fn git_removes_folders(args: &Args<'_, '_>) -> Hit {
    let removes = args.words.iter().any(|word| word.value == "rm");
    let stay = args.words.iter().any(|word| word.value == "--cached");
    if removes && !stay {
        args.flag(&["-r"]).min(args.flag(&["-f", "--force"]))
    } else {
        Hit::No
    }
}

/// `pg_restore --clean` drops what is there before.
pub(super) fn drops_before_restoring(args: &Args<'_, '_>) -> Hit {
    let cleans = |part: &Part<'_>| matches!(part, Part::Short('c', _)) || part.is_long(&["clean"]);
    yes_if(parts(args.words, &PG_RESTORE).iter().any(cleans))
}
