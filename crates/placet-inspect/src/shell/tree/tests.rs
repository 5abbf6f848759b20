//! Which pipelines the grammar is shown as lists, and which lines are read as they are.

use super::*;

fn listed(line: &str) -> Option<String> {
    let (mut twin, pipes) = (ascii_twin(line), pipes(line.as_bytes()));
    put(b';', &pipes, &mut twin);
    (pipes.len() > 1).then(|| String::from_utf8(twin).unwrap())
}

fn is_read_as_list(line: &str) -> bool {
    let twin = listed(line).unwrap_or_default();
    let pipes = pipes(line.as_bytes());
    pipes.len() > 1 && Tree::of(twin.as_bytes()).unwrap().separates_commands(&pipes)
}

#[test]
fn only_the_pipes_of_longer_pipelines_are_listed() {
    assert_eq!(listed("a | b | c").as_deref(), Some("a ; b ; c"));
    assert_eq!(
        listed("a 'x | y' | b \"| z\" | c").as_deref(),
        Some("a 'x | y' ; b \"| z\" ; c")
    );
    for line in [
        "a | b",
        "a || b || c",
        "a |& b |& c",
        "a|b|c",
        "(a | b | c)",
        "a >| b | c",
        "cat <<E | a | b",
    ] {
        assert_eq!(listed(line), None, "{line}");
    }
}

#[test]
fn a_pipe_that_does_not_separate_two_commands_is_read_as_it_is() {
    assert!(is_read_as_list("cd x && a 2>&1 | b -c | d e > f && g"));
    assert!(is_read_as_list("a | b | cd x && c"));
    for line in [
        "a | b | ",
        "a | | b",
        "| a | b",
        "a | b | ; c",
        "a | b | && c",
        "if a | then b | c; fi",
        "for x in a | b | c; do d; done",
        "case x in a | b | c) d;; esac",
        "[[ a | b | c ]]",
        "a & | b | c",
        "a | b | FOO=1 c",
        "a | b | >x",
        "f() a | b | c; }",
        "a | b | if",
    ] {
        assert!(!is_read_as_list(line), "{line}");
    }
}
