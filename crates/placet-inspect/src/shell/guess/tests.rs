//! What a word comes to when variables are empty and defaults are taken.

use super::*;

#[test]
fn variables_are_empty_and_defaults_are_taken() {
    for (word, expected) in [
        ("${a:-/etc/shadow}", "/etc/shadow"),
        ("${a:-${b-.env}}", ".env"),
        ("/etc/sha${x}dow", "/etc/shadow"),
        (".e$(echo (a) b)nv", ".env"),
        ("a`x`b$c-d$1e", "ab-de"),
        ("$HOME/x", "~/x"),
        ("${HOME}", "~"),
        ("$dir/file", "./file"),
        ("$(pwd)/file", "./file"),
        ("${a:1:2}${b#x}", ""),
        ("${a[0]:=x}", "x"),
    ] {
        assert_eq!(of(word), expected, "{word}");
    }
}
