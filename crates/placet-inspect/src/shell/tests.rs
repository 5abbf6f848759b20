//! What a line comes to, as a table; the named bypasses of the field; and properties over hostile lines.

mod bypasses;
mod expansions;
mod harmless;
mod hosts;
mod ordinary;
mod outside;
mod properties;
mod table;
mod uses;

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use placet_core::analysis::{Analysis, FactKind, FixedPlaces};

use super::analyse;

/// A workspace at `/w` with a link out of it, and a home beside it.
pub(super) fn places() -> FixedPlaces {
    FixedPlaces {
        home: Some("/home/ana".to_owned()),
        links: BTreeMap::from([
            ("/w/link".to_owned(), Some("/etc".to_owned())),
            ("/w/loop".to_owned(), None),
        ]),
        ..FixedPlaces::at("/w")
    }
}

pub(super) fn look(line: &str) -> Analysis {
    let mut found = Analysis::nothing();
    analyse(line, &places(), &mut found);
    found
}

/// One line per fact: risk, what it is, why.
fn check(line: &str, expected: &Expect) {
    use std::fmt::Write;
    let found = look(line);
    let mut text = String::new();
    for fact in &found.facts {
        let (what, note) = match &fact.kind {
            FactKind::Command {
                argv,
                dynamic,
                assignments,
                under,
                ..
            } => {
                let mut note = String::new();
                if *dynamic {
                    note += " dynamic";
                }
                if !assignments.is_empty() {
                    write!(note, " with {}", assignments.join(" ")).unwrap();
                }
                if !under.is_empty() {
                    write!(note, " under {}", under.join(" > ")).unwrap();
                }
                (format!("{argv:?}"), note)
            }
            FactKind::Redirect {
                path,
                writes,
                contained,
                ..
            } => {
                let arrow = if *writes { ">" } else { "<" };
                (
                    format!("{arrow} {path}"),
                    if *contained {
                        String::new()
                    } else {
                        " not contained".to_owned()
                    },
                )
            }
            FactKind::Unreadable { .. } => ("unreadable".to_owned(), String::new()),
            other => (format!("{other:?}"), String::new()),
        };
        let why = fact
            .why
            .as_ref()
            .map_or(String::new(), |why| format!(": {why:?}"));
        writeln!(text, "{} {what}{note}{why}", fact.risk).unwrap();
    }
    if let Some(banned) = &found.banned {
        writeln!(text, "BANNED: {banned:?}").unwrap();
    }
    expected.assert_eq(&text);
}

#[test]
fn ordinary_lines_are_medium_and_every_command_is_listed() {
    check(
        "git status && cargo test -p core 2>&1 | tee log.txt; echo 'done it'",
        &expect![[r#"
            LOW ["git", "status"]
            MEDIUM ["cargo", "test", "-p", "core"]
            MEDIUM ["tee", "log.txt"]
            LOW ["echo", "done it"]
        "#]],
    );
    check(
        "for f in *.rs; do if [ -f \"$f\" ]; then wc -l \"$f\"; fi; done > out/count.txt < in.txt",
        &expect![[r#"
            MEDIUM ["[", "-f", "\"$f\"", "]"] dynamic
            MEDIUM ["wc", "-l", "\"$f\""] dynamic
            MEDIUM > out/count.txt
            LOW < in.txt
        "#]],
    );
    check(
        "case $x in a) ls;; *) (cd sub && pwd);; esac; ! true & { date; }",
        &expect![[r#"
            LOW ["ls"]
            LOW ["cd", "sub"]
            LOW ["pwd"]
            LOW ["true"]
            LOW ["date"]
        "#]],
    );
}

#[test]
fn words_are_shown_after_quote_removal_and_as_written_when_only_known_later() {
    check(
        r#"e"ch"o 'a b'\ c "d\"e" $'f\tg' "$x/y" *.rs {a,b} ~/z ~bob"#,
        &expect![[r#"
            HIGH unreadable: Doubtful(WordsUnclear)
            MEDIUM ["echo", "a b", "c", "d\"e", "f\tg", "\"$x/y\"", "*.rs", "a", "b", "~/z", "~bob"] dynamic
        "#]],
    );
}

#[test]
fn substitutions_are_searched_wherever_they_hide() {
    check(
        r#"a=$(c1) b "$(c2)" > "$(c3)" `c4` <(c5) ${x:-$(c6)} $((1+$(c7))) [[ -n $(c8) ]]"#,
        &expect![[r#"
            MEDIUM ["b", "\"$(c2)\"", "`c4`", "<(c5)", "${x:-$(c6)}", "$((1+$(c7)))", "[[", "-n", "$(c8)", "]]"] dynamic with a=$(c1)
            MEDIUM ["c1"]
            MEDIUM ["c2"]
            MEDIUM ["c4"]
            MEDIUM ["c5"]
            MEDIUM ["c6"]
            MEDIUM ["c7"]
            MEDIUM ["c8"]
            MEDIUM ["c3"]
            HIGH > "$(c3)" not contained: LeadsLater { word: "\"$(c3)\"" }
        "#]],
    );
    check(
        "[[ -n $(c8) ]] && x=(1 $(c9))\ncat <<EOF\nhello $(c10)\nEOF",
        &expect![[r#"
            MEDIUM ["[[", "-n", "$(c8)", "]]"] dynamic
            MEDIUM ["c8"]
            MEDIUM [] with x=(1 $(c9))
            MEDIUM ["c9"]
            LOW ["cat"]
            MEDIUM ["c10"]
        "#]],
    );
}

#[test]
fn wrappers_show_what_they_run_and_name_themselves() {
    check(
        "env -u A B=1 timeout -k 5 10 nice -n 5 git push",
        &expect![[r#"
            MEDIUM ["env", "-u", "A", "B=1", "timeout", "-k", "5", "10", "nice", "-n", "5", "git", "push"]
            LOW ["timeout", "-k", "5", "10", "nice", "-n", "5", "git", "push"] under env
            LOW ["nice", "-n", "5", "git", "push"] under env > timeout
            MEDIUM ["git", "push"] under env > timeout > nice
        "#]],
    );
    check(
        "find . -name '*.o' -exec grep -l x {} + -execdir sh -c 'ls; date' \\;",
        &expect![[r#"
            LOW ["find", ".", "-name", "*.o", "-exec", "grep", "-l", "x", "{}", "+", "-execdir", "sh", "-c", "ls; date", ";"]
            MEDIUM ["grep", "-l", "x", "{}"] dynamic under find
            HIGH ["sh", "-c", "ls; date"] dynamic under find: Doubtful(InnerLater)
            LOW ["ls"] under find > sh
            LOW ["date"] under find > sh
        "#]],
    );
    check(
        "bash -euo pipefail -c 'cd sub && make' && eval 'ls -l' && ssh host 'rm x'",
        &expect![[r#"
            LOW ["bash", "-euo", "pipefail", "-c", "cd sub && make"]
            LOW ["cd", "sub"] under bash
            MEDIUM ["make"] under bash
            MEDIUM ["eval", "ls -l"]
            LOW ["ls", "-l"] under eval
            HIGH ["ssh", "host", "rm x"]: Does { what: "ssh", deed: OtherMachine }
            HIGH Host { host: "host", scheme: "ssh", port: None }: Url(Nearby)
            MEDIUM ["rm", "x"] under ssh
        "#]],
    );
    check(
        "ls | xargs -0 -n 1 wc -l | xargs rm",
        &expect![[r#"
            LOW ["ls"]
            MEDIUM ["xargs", "-0", "-n", "1", "wc", "-l"]
            MEDIUM ["wc", "-l"] dynamic under xargs
            MEDIUM ["xargs", "rm"]
            HIGH ["rm"] dynamic under xargs: MayDo { name: "rm", deed: DeletesFolders }
        "#]],
    );
    check(
        "sudo -u bob ls; command -v ls; exec -a x ls; time -p ls; watch -n 1 'ls | wc'",
        &expect![[r#"
            HIGH ["sudo", "-u", "bob", "ls"]: Does { what: "sudo", deed: OtherUser }
            LOW ["ls"] under sudo
            LOW ["command", "-v", "ls"]
            LOW ["exec", "-a", "x", "ls"]
            LOW ["ls"] under exec
            LOW ["time", "-p", "ls"]
            LOW ["ls"] under time
            LOW ["watch", "-n", "1", "ls | wc"]
            LOW ["ls"] under watch
            LOW ["wc"] under watch
        "#]],
    );
    check(
        "env --what ls; sudo $X ls; xargs $X; timeout $T ls",
        &expect![[r#"
            HIGH ["env", "--what", "ls"]: Doubtful(InnerUnclear)
            HIGH ["sudo", "$X", "ls"] dynamic: Does { what: "sudo", deed: OtherUser }
            HIGH ["$X", "ls"] dynamic under sudo: CommandLater { word: "$X" }
            MEDIUM ["xargs", "$X"] dynamic
            HIGH ["$X"] dynamic under xargs: CommandLater { word: "$X" }
            HIGH ["timeout", "$T", "ls"] dynamic: Doubtful(InnerUnclear)
        "#]],
    );
}

#[test]
fn redirections_are_judged_by_where_they_lead() {
    check(
        "a > in/x >> ../out 2> /dev/null &> ~/log >| link/passwd < /etc/hosts",
        &expect![[r#"
            MEDIUM ["a"]
            MEDIUM > in/x
            HIGH > ../out not contained: MaybeOutside { word: "../out" }
            LOW > /dev/null
            HIGH > ~/log not contained: MaybeOutside { word: "~/log" }
            HIGH > link/passwd not contained: MaybeOutside { word: "link/passwd" }
            HIGH < /etc/hosts not contained: MaybeOutside { word: "/etc/hosts" }
        "#]],
    );
    check(
        "a > $x; a > loop/x; a < .env; a > .git/hooks/pre-commit; a >&2; a > >(b)",
        &expect![[r#"
            MEDIUM ["a"]
            HIGH > $x not contained: LeadsLater { word: "$x" }
            MEDIUM ["a"]
            HIGH > loop/x not contained: MaybeOutside { word: "loop/x" }
            MEDIUM ["a"]
            HIGH < .env: Does { what: ".env", deed: TouchesCredentials }
            MEDIUM ["a"]
            HIGH > .git/hooks/pre-commit: Does { what: ".git/hooks/pre-commit", deed: TouchesStartup }
            MEDIUM ["a"]
            MEDIUM ["a"]
            MEDIUM ["b"]
        "#]],
    );
    check(
        "cd sub && a > x; cd .. ; a > y; cd /tmp; a > z",
        &expect![[r#"
            LOW ["cd", "sub"]
            MEDIUM ["a"]
            MEDIUM > x
            MEDIUM ["cd", ".."]
            MEDIUM ["a"]
            HIGH > y not contained: MaybeOutside { word: "y" }
            HIGH ["cd", "/tmp"]: Does { what: "cd", deed: TouchesOutside }
            MEDIUM ["a"]
            HIGH > z not contained: MaybeOutside { word: "z" }
        "#]],
    );
    check(
        "while b; do a > x; cd ..; done; a > /w/y",
        &expect![[r#"
            MEDIUM ["b"]
            MEDIUM ["a"]
            HIGH > x not contained: MaybeOutside { word: "x" }
            MEDIUM ["cd", ".."]
            MEDIUM ["a"]
            MEDIUM > /w/y
        "#]],
    );
}

#[test]
fn a_word_after_a_redirection_is_an_argument_and_not_a_second_file() {
    check(
        "echo hi > out rm -rf; >x rm -rf y",
        &expect![[r#"
            LOW ["echo", "hi", "rm", "-rf"]
            MEDIUM > out
            HIGH ["rm", "-rf", "y"]: Does { what: "rm", deed: DeletesFolders }
            MEDIUM > x
        "#]],
    );
}

#[test]
fn a_here_document_given_to_a_shell_is_read_as_a_line() {
    check(
        "bash <<'EOF'\nrm -rf /\nEOF",
        &expect![[r#"
            HIGH ["bash"]: Doubtful(InnerInput)
            HIGH ["rm", "-rf", "/"] under bash: Does { what: "rm", deed: DeletesFolders }
            BANNED: DeletesAll { path: "/" }
        "#]],
    );
    check(
        "cat <<EOF | sh\nrm -rf /\nEOF",
        &expect![[r#"
            LOW ["cat"]
            HIGH ["sh"]: Doubtful(InnerInput)
            HIGH ["rm", "-rf", "/"] under sh: Does { what: "rm", deed: DeletesFolders }
            BANNED: DeletesAll { path: "/" }
        "#]],
    );
    check(
        "git commit -m \"$(cat <<'EOF'\nfeat: it's `fine` $(really)\nEOF\n)\"",
        &expect![[r#"
            MEDIUM ["git", "commit", "-m", "\"$(cat <<'EOF'\nfeat: it's `fine` $(really)\nEOF\n)\""] dynamic
            LOW ["cat"]
        "#]],
    );
}

#[test]
fn variables_that_change_other_commands_are_high() {
    check(
        "FOO=1 ls; LD_PRELOAD=./x.so ls; PATH=.; env GIT_PAGER=x git log; X=1 Y=2",
        &expect![[r#"
            MEDIUM ["ls"] with FOO=1
            HIGH ["ls"] with LD_PRELOAD=./x.so: Variable { name: "LD_PRELOAD" }
            HIGH [] with PATH=.: Variable { name: "PATH" }
            HIGH ["env", "GIT_PAGER=x", "git", "log"]: Variable { name: "GIT_PAGER" }
            LOW ["git", "log"] under env
            MEDIUM [] with X=1 Y=2
        "#]],
    );
}
