//! Which commands a pattern matches, narrowly and broadly.

use proptest::prelude::*;

use super::*;

fn argv(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn check(breadth: Breadth, pattern: &str, matched: &[&str], not_matched: &[&str]) {
    let parsed = CommandPattern::parse(pattern).unwrap();
    for line in matched {
        assert!(
            parsed.matches(&argv(line), breadth),
            "`{pattern}` should match `{line}`"
        );
    }
    for line in not_matched {
        assert!(
            !parsed.matches(&argv(line), breadth),
            "`{pattern}` should not match `{line}`"
        );
    }
}

#[test]
fn an_allowing_pattern_matches_word_by_word_and_nothing_more() {
    let narrow = |pattern, matched, not_matched| check(Breadth::Narrow, pattern, matched, not_matched);
    narrow(
        "git status",
        &["git status"],
        &["git status -s", "git", "/tmp/git status", "git -c x=y status"],
    );
    narrow(
        "git log *",
        &["git log", "git log -p --stat"],
        &["git -C / log", "gitlog"],
    );
    narrow(
        "git push --force*",
        &["git push --force", "git push --force-with-lease origin"],
        &["git push origin --force"],
    );
    narrow(
        "cargo test ?",
        &["cargo test a"],
        &["cargo test", "cargo test ab"],
    );
    narrow("*", &["rm -rf /", "ls"], &[]);
}

#[test]
fn a_path_wildcard_that_allows_covers_one_file_inside_the_folder() {
    check(
        Breadth::Narrow,
        "cat src/*",
        &["cat src/a", "cat src/deep/b"],
        &["cat src/a /etc/shadow", "cat src/../../etc/shadow", "cat src/.."],
    );
    check(
        Breadth::Narrow,
        "cat *.md",
        &["cat a.md"],
        &["cat --output=a.md", "cat ../a.md"],
    );
}

#[test]
fn flag_order_does_not_get_round_an_asking_pattern() {
    check(
        Breadth::Broad,
        "git push --force*",
        &[
            "git push --force",
            "git push origin main --force",
            "git -C . push origin main --force",
            "git push --force-with-lease=main origin",
            "/usr/bin/git push --force",
            "git push --forc",
        ],
        &[
            "git push origin main",
            "git fetch --force",
            "hub push --force",
            "git push --",
        ],
    );
}

#[test]
fn a_bundle_of_short_flags_matches_in_any_spelling() {
    check(
        Breadth::Broad,
        "rm -rf",
        &[
            "rm -rf x",
            "rm -fr x",
            "rm -r -f x",
            "rm x -r -v -f",
            "rm -rvf x",
            "/bin/rm -rf x",
        ],
        &["rm -r x", "rm -f x", "rm --recursive --force x", "rm rf"],
    );
    check(
        Breadth::Broad,
        "find -delete",
        &["find . -name x -delete"],
        &["find . -depth -type l -empty"],
    );
}

#[test]
fn a_long_flag_matches_with_its_value_and_shortened() {
    check(
        Breadth::Broad,
        "rm --recursive",
        &["rm --recursive x", "rm --recurs x", "rm x --recursive=yes"],
        &["rm -r x", "rm --", "rm --verbose x"],
    );
}

#[test]
fn other_words_must_come_in_order() {
    check(
        Breadth::Broad,
        "kubectl delete pod *",
        &["kubectl -n x delete --now pod a"],
        &["kubectl get pod delete"],
    );
    check(
        Breadth::Broad,
        "/usr/bin/curl *",
        &["curl x", "/opt/curl x"],
        &["wget x"],
    );
}

#[test]
fn quoted_wildcards_are_themselves() {
    check(Breadth::Narrow, "ls '*'", &["ls *"], &["ls a"]);
    check(Breadth::Narrow, r"ls \*", &["ls *"], &["ls a"]);
}

#[test]
fn what_is_not_one_simple_command_is_refused() {
    let refused = |text: &str| CommandPattern::parse(text).unwrap_err();
    assert_eq!(refused("  "), PatternError::Empty);
    assert_eq!(refused("echo 'a"), PatternError::Unclosed("echo 'a".into()));
    assert_eq!(refused("echo \\"), PatternError::Unclosed("echo \\".into()));
    assert_eq!(
        refused("FOO=1 make"),
        PatternError::Assignment("FOO=1 make".into())
    );
    for operator in ['|', '&', ';', '<', '>', '`', '('] {
        assert!(matches!(
            refused(&format!("a {operator} b")),
            PatternError::Operator { .. }
        ));
    }
}

#[test]
fn rules_are_found_by_the_base_name_of_the_program_and_a_fixed_word() {
    let found_by = |text| {
        let pattern = CommandPattern::parse(text).unwrap();
        let program = pattern.program().and_then(Wild::literal).map(str::to_owned);
        (program, pattern.first_fixed_word().map(str::to_owned))
    };
    let (git, push) = (|| Some("git".to_owned()), || Some("push".to_owned()));
    assert_eq!(found_by("/usr/bin/git push"), (git(), push()));
    assert_eq!(found_by("git --force or* push *"), (git(), push()));
    assert_eq!(found_by("git* push"), (None, push()));
    assert_eq!(found_by("*"), (None, None));
}

proptest! {
    #[test]
    fn a_quoted_command_matches_itself_and_no_other(
        words in prop::collection::vec("[a-z=*?' \\\\\"$|-]{0,6}", 1..5),
        other in prop::collection::vec("[a-z*? -]{0,6}", 1..5),
    ) {
        let pattern = CommandPattern::parse(&CommandPattern::quote(&words)).unwrap();
        prop_assert!(pattern.matches(&words, Breadth::Narrow));
        prop_assert_eq!(pattern.matches(&other, Breadth::Narrow), words == other);
    }

    #[test]
    fn what_an_allow_rule_would_match_a_deny_rule_also_matches(
        pattern in "[a-c*?/-]{1,4}( [a-c*?/-]{1,4}){0,3}",
        words in prop::collection::vec("[a-c/-]{1,4}", 1..5),
    ) {
        let pattern = CommandPattern::parse(&pattern).unwrap();
        if pattern.matches(&words, Breadth::Narrow) {
            prop_assert!(pattern.matches(&words, Breadth::Broad), "{pattern:?} {words:?}");
        }
    }

    #[test]
    fn any_text_is_a_pattern_or_refused(text in any::<String>()) {
        let _ = CommandPattern::parse(&text);
    }
}
