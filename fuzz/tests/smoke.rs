//! The properties, on the seeds and on thousands of mutations of them; the same ones in every run.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, and its indices are drawn from the lengths"
)]

use std::fs;
use std::path::Path;

use placet_fuzz::{PROPERTIES, Property};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// How many mutated inputs each property gets. A fuzzer gets millions; this is what fits into a test run.
const INPUTS: usize = 20_000;

/// Pieces that mean something to a reader.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "\n", " ", ";", "&&", "||", "|", "&", "(", ")", "{", "}", "$(", "`", "'", "\"", "\\", "$x", "<<E\n", ">", "[[ ", "#", "=",
    "rm -rf /", "sudo ", "env ", "sh -c ", "eval ", "--force", "-rf", "*", "?", "..", "/", "yes", "no", "K7QP", "批准", "不",
    "all", ":", "：", "\u{200b}", "\u{202e}", "\0", "\u{ff}", "1e400", "9007199254740993", "-0.0", "{\"a\":1}", "[[rules]]\n",
    "effect = \"deny\"\n", "timeout = \"", "DELETE FROM t", "SELECT ", "WITH x AS (", "--", "/*", "*/", "$$", "E'", "INTO ", "@x ",
];

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no seed", folder.display());
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

fn mutated(seeds: &[Vec<u8>], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut input = seeds[random.random_range(0..seeds.len())].clone();
    for _ in 0..random.random_range(1..6) {
        let at = random.random_range(0..=input.len());
        let end = random.random_range(at..=input.len().min(at + 16));
        match random.random_range(0..5) {
            0 => drop(input.drain(at..end)),
            1 => {
                let part = input[at..end].to_vec();
                input.splice(at..at, part);
            }
            2 if at < input.len() => input[at] ^= 1 << random.random_range(0..8),
            3 => {
                let other = &seeds[random.random_range(0..seeds.len())];
                let from = random.random_range(0..=other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => {
                let piece = PIECES[random.random_range(0..PIECES.len())];
                input.splice(at..at, piece.bytes());
            }
        }
    }
    input.truncate(2048);
    input
}

fn check(name: &str) {
    let (_, property): (_, Property) = *PROPERTIES.iter().find(|(known, _)| *known == name).unwrap();
    let seeds = seeds(name);
    for seed in &seeds {
        property(seed).unwrap();
    }
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..INPUTS {
        let input = mutated(&seeds, &mut random);
        if let Err(broken) = property(&input) {
            panic!("{broken}\nthe input was {:?}", String::from_utf8_lossy(&input));
        }
    }
}

#[test]
fn canonical_json_has_one_text_and_one_digest_per_value() {
    check("canonical");
}

#[test]
fn any_configuration_is_accepted_whole_or_refused_with_a_place() {
    check("config");
}

#[test]
fn a_message_counts_only_when_signed_and_then_says_just_what_it_says() {
    check("inbound");
}

#[test]
fn only_the_secret_makes_a_signature_and_only_for_this_body_and_this_time() {
    check("signature");
}

#[test]
fn only_a_message_that_is_nothing_but_a_yes_approves() {
    check("reply");
}

#[test]
fn a_pattern_never_allows_what_it_would_not_deny() {
    check("rules");
}

#[test]
fn nothing_that_follows_a_destructive_command_hides_it() {
    check("shell");
}

#[test]
fn a_second_shell_parser_finds_no_command_that_was_missed() {
    check("shell_cross");
}

#[test]
fn what_changes_anything_never_passes_as_a_query() {
    check("sql");
}

#[test]
fn every_property_has_a_target() {
    for (name, _) in PROPERTIES {
        let target = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz_targets")
            .join(format!("{name}.rs"));
        assert!(
            fs::read_to_string(target)
                .unwrap()
                .contains(&format!("placet_fuzz::{name},")),
            "{name}"
        );
    }
}
