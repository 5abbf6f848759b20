//! Words that become others before a command sees them: braces, globs, defaults, variables of loops.

use placet_core::analysis::FactKind;
use placet_core::tool::Risk;

use super::look;

fn missed<'l>(lines: &[&'l str], risk: Risk) -> Vec<&'l str> {
    let differs = |line: &&&str| (look(line).risk() == Risk::High) != (risk == Risk::High);
    lines.iter().filter(differs).copied().collect()
}

/// The words of the first command.
fn argv(line: &str) -> Vec<String> {
    let first = look(line).facts.into_iter().next();
    match first.map(|fact| fact.kind) {
        Some(FactKind::Command { argv, .. }) => argv,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn braces_are_judged_by_the_words_they_become() {
    let high = [
        "echo x | tee {/etc/passwd,y}",
        "chmod 777 {/etc/passwd,x}",
        "rm {/etc/hostname,x}",
        "mv a {../../x,b}",
        "cat /etc/{shadow,x}",
        "cat {a,/etc/shadow}",
        "cat {.env,x}",
        "git push origin {+main,x}",
        "cat {a,{b,.env}}",
        "cat .e{n..o}v",
        "cat .e{n..n}v",
        "cat {'.env',x}",
        "rm {-r,x}",
        "cat < {.env,x}",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "mkdir -p src/{a,b}/{c,d}",
        "touch file{1..20}.txt",
        "cp config.{yaml,bak}",
        "git show stash@{0}",
        "git rev-parse @{u}",
        "find . -name x -exec cat {} +",
        "echo {1..5}",
        "wc -l {src,tests}/*.rs",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn braces_become_the_words_bash_makes_of_them() {
    for (line, words) in [
        ("x a{b,c}d", "abd acd"),
        ("x {a,b}{1..2}", "a1 a2 b1 b2"),
        ("x {a,{b,c}d}e {c..a} {5..1}", "ae bde cde c b a 5 4 3 2 1"),
        (
            "x {a} {} a,b} @{1}..@{2} {a}{b,c}",
            "{a} {} a,b} @{1}..@{2} {a}b {a}c",
        ),
        ("x '{a,b}' \"{a,b}\" \\{a,b} {a\\,b,c}", "{a,b} {a,b} {a,b} a,b c"),
        ("x {,a}b {a,b}} {a..a}", "b ab a} b} a"),
    ] {
        assert_eq!(argv(line)[1..].join(" "), words, "{line}");
    }
}

#[test]
fn sequences_with_steps_or_zeros_and_braces_without_a_partner_are_high() {
    let high = [
        "x {01..3}",
        "x {1..7..3}",
        "x {-2..1}",
        "x {a{b,c}}",
        "x {a..{b,c}}",
        "x {a,{b,c}",
        "x {a,b",
        "x {},a}",
        "x {a}b,c}",
        "x {-..},}",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
}

#[test]
fn a_list_of_more_words_than_can_be_judged_is_high_and_costs_nothing() {
    let lines = [
        "x {1..100000000000}".to_owned(),
        "x {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}".to_owned(),
        format!("x {}", "{0..9}{0..9} ".repeat(700)),
        format!("x {}1{}", "{".repeat(60), ",2,3,4}".repeat(60)),
    ];
    for line in lines {
        let found = look(&line);
        assert_eq!(found.risk(), Risk::High, "{line}");
        let words = |kind: &FactKind| matches!(kind, FactKind::Command { argv, .. } if argv.len() > 2_000);
        assert!(!found.facts.iter().any(|fact| words(&fact.kind)), "{line}");
    }
}

/// Plain `sh` knows no braces, and `p/{q/../../z,r/../../y}` is one path to it.
#[test]
fn a_list_that_climbs_is_high() {
    assert_eq!(missed(&["rm p/{q/../../z,r/../../y}"], Risk::High), [""; 0]);
}

#[test]
fn globs_and_defaults_are_judged_by_what_they_could_become() {
    let high = [
        "cat /et*/shadow",
        "cat /etc/s[h]adow",
        "cat ?etc/../.env*",
        "cat id_*",
        "cat ?okens.toml",
        "cat ${a:-/etc/shadow}",
        "cat \"${a:-.env}\"",
        "cat ${a:-${b-.env}}",
        "cat /etc/sha${x}dow",
        "cat .e$(true)nv",
        "x=.env; cat $x",
        "for f in .env; do cat $f; done",
        "for f in {a,.env}; do cat $f; done",
        "shopt -s dotglob; cat ?env",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "cat *.json",
        "wc -l */*.rs",
        "cat ${a:-README.md}",
        "cat \"$dir/file\"",
        "cat src/*.toml",
        "for f in *.rs; do wc -l \"$f\"; done",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}

#[test]
fn variables_that_change_other_commands_are_high_also_when_a_loop_or_read_sets_them() {
    let high = [
        "for PATH in ./bin; do ls; done",
        "for HOME in .; do git log; done",
        "select PATH in ./bin; do ls; done",
        "read PATH <<< ./bin; ls",
        "read -r x LD_PRELOAD < f",
        "printf -v PATH %s ./bin; ls",
        "mapfile -t PATH < f",
        "getopts a PATH",
    ];
    assert_eq!(missed(&high, Risk::High), [""; 0]);
    let ordinary = [
        "while read -r path; do wc -l \"$path\"; done < list",
        "for i in 1 2; do ls; done",
    ];
    assert_eq!(missed(&ordinary, Risk::Medium), [""; 0]);
}
