//! What a pattern could become.

use super::*;

#[test]
fn a_pattern_could_be_what_a_shell_makes_of_it() {
    for (pattern, name) in [
        ("et*", "etc"),
        ("[s]hadow", "shadow"),
        ("?hadow", "shadow"),
        ("s*d*w", "shadow"),
        (".e*", ".env"),
        ("id_@(rsa|dsa)", "id_rsa"),
        ("*", "etc"),
    ] {
        assert!(Glob::parse(pattern).could_be(name), "{pattern}");
    }
    for (pattern, name) in [
        ("*", ".env"),
        ("?env", ".env"),
        ("*.rs", "shadow"),
        ("s", "shadow"),
        ("a*w", "shadow"),
    ] {
        assert!(!Glob::parse(pattern).could_be(name), "{pattern}");
    }
    assert_eq!(Glob::parse("?ok[e]ns.t*").literal_chars, 6);
}
