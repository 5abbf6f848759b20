//! Paths in words, and values of variables.

use super::*;

fn all(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    parts(text, &mut |part| found.push(part));
    found.retain(|part| *part != text && !part.is_empty());
    found.dedup();
    found
}

#[test]
fn a_path_is_found_wherever_a_word_may_hold_one() {
    assert_eq!(all("HEAD:a/b"), ["HEAD", "a/b"]);
    assert_eq!(all("@a/b"), ["a/b"]);
    assert!(all("--mount=type=bind,source=a/b,target=/c").contains(&"a/b"));
    assert!(all("-tsecrets").contains(&"secrets"));
    assert!(all("-nnnfa/b").contains(&"a/b"));
    assert!(all("-itv./a:/b").contains(&"./a"));
    assert!(all("https://example.com/a:b").is_empty());
    assert_eq!(all("secrets: rotate"), [" rotate"]);
    assert!(all("secrets::rotate").is_empty());
}

#[test]
fn a_word_comes_to_every_value_its_variables_had() {
    let mut values = Values::default();
    values.assign("x='sec'");
    values.assign("y=rets");
    values.set("y", "tion");
    let filled: Vec<String> = values.fill("$x${y}/key").collect();
    assert_eq!(filled, ["section/key", "secrets/key", "section/key"]);
    assert_eq!(values.fill("$z").count(), 0);
    // A variable made of itself grows no further, and what no system opens is not built.
    values.assign("x=$x$x$x");
    values.assign("z=$x");
    assert!(values.fill("$z/key").any(|filled| filled.contains("sec")));
    values.set("long", &"a".repeat(4_000));
    assert!(values.fill("$x/key").all(|filled| filled.len() < 64));
    assert_eq!(values.fill(&"$long/".repeat(100)).count(), 0);
}
