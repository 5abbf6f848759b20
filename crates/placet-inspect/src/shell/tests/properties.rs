//! Properties over hostile lines, and a second parser's opinion.

use brush_parser::ast;
use placet_core::analysis::{Effect, Fact, FactKind};
use placet_core::tool::Risk;
use proptest::prelude::*;

use super::look;

/// Pieces that mean something to a shell, to be put together in any way.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "ls", "rm", "-rf", "/", " ", " ", "\n", ";", "&&", "||", "|", "&", "(", ")", "{ ", ";}", "$(", "`",
    "'", "\"", "\\", "$x", "${x", "}", "<<E\n", "\nE\n", ">", "<", "[[ ", " ]]", "[ ", " ]", "if ",
    "; then ", "; fi", "while ", "; do ", "; done", "case x in ", ") ", ";; esac", "x=", "f() ", "((",
    "))", "$((", "$'", "#", "!", "~", "*", "{a,b}", "2>&1", "<(", "env ", "eval ", "sh -c ", "é",
    "\u{3000}", "\t", "=", "==", "${x:-",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|pieces| pieces.concat())
}

/// One word quoted so that a shell gives it back as it was.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

/// Ways to run a line inside another one.
fn wrapped(way: usize, line: &str) -> String {
    match way {
        0 => format!("true; {line}"),
        1 => format!("false || {line} &"),
        2 => format!("ls | {line}"),
        3 => format!("({line})"),
        4 => format!("{{ {line}; }}"),
        5 => format!("if true; then {line}; fi"),
        6 => format!("while read x; do {line}; done < in"),
        7 => format!("f() {{ {line}; }}; f"),
        8 => format!("echo \"$({line})\""),
        9 => format!("x=$({line})"),
        10 => format!("cat <({line})"),
        11 => format!("sh -c {}", quoted(line)),
        12 => format!("eval {}", quoted(line)),
        13 => format!("bash <<'EOF'\n{line}\nEOF"),
        14 => format!("case a in a) {line};; esac"),
        15 => format!("[[ -n $({line}) ]]"),
        16 => format!("echo hi > $({line})"),
        17 => format!("su root -c {}", quoted(line)),
        18 => format!("ls\n{line}\nls"),
        _ => format!("cat <<EOF\n$({line})\nEOF"),
    }
}

#[rustfmt::skip]
const PREFIXES: &[&str] = &[
    "env ", "env A=1 ", "sudo ", "sudo -u x ", "doas ", "time ", "time -p ", "nohup ", "nice -n 5 ",
    "timeout 5 ", "stdbuf -oL ", "setsid ", "command ", "exec ", "xargs ", "strace -f ", "flock x ",
    "chroot / ", "ionice -c 3 ", "busybox ", "watch ", "> out ", "A=1 ", "! ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_panics_and_what_is_not_understood_is_never_low(line in prop_oneof![any::<String>(), soup()]) {
        let found = look(&line);
        let is_low = |fact: &Fact| fact.risk == Risk::Low;
        let knows = |fact: &Fact| match &fact.kind {
            FactKind::Command { effects, .. } => effects.iter().all(|effect| matches!(effect, Effect::Reads(_))),
            _ => true,
        };
        prop_assert!(found.facts.iter().all(|fact| !is_low(fact) || knows(fact)));
        prop_assert_eq!(found, look(&line));
    }

    #[test]
    fn quoted_words_come_back_as_they_were(words in prop::collection::vec("[^\\p{C}]{0,12}", 1..6)) {
        let line = format!("echo {}", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
        let facts = look(&line).facts;
        let FactKind::Command { argv, dynamic, .. } = &facts[0].kind else { panic!("{facts:?}") };
        prop_assert_eq!(&argv[1..], &words[..]);
        prop_assert!(!dynamic);
    }

    #[test]
    fn a_banned_command_is_found_under_any_wrapping(
        before in prop::collection::vec("[a-z]{1,6}", 0..3),
        prefix in prop::sample::select(PREFIXES),
        ways in prop::collection::vec(0_usize..20, 0..3),
    ) {
        let words: Vec<String> = before.iter().map(|word| quoted(word)).collect();
        let mut line = format!("{prefix}rm -rf {} /", words.join(" "));
        for way in ways {
            line = wrapped(way, &line);
        }
        let found = look(&line);
        prop_assert_eq!(found.risk(), Risk::High, "{}", line);
        let unclear = found.facts.iter().any(|fact| matches!(fact.kind, FactKind::Unreadable { .. }));
        prop_assert!(found.banned.is_some() || unclear, "{}", line);
    }

    /// The other parser may be right where ours is wrong: what it calls a command is listed here, or the line is HIGH.
    #[test]
    fn a_second_parser_finds_no_command_that_we_missed(line in soup()) {
        let found = look(&line);
        if found.risk() < Risk::High {
            let ours: Vec<&str> = found.facts.iter().filter_map(|fact| match &fact.kind {
                FactKind::Command { argv, .. } => argv.first().map(String::as_str),
                _ => None,
            }).collect();
            for name in second_opinion(&line) {
                prop_assert!(ours.contains(&name.as_str()), "`{}` in {:?}", name, line);
            }
        }
    }
}

/// The literal command names the other parser finds outside substitutions.
fn second_opinion(line: &str) -> Vec<String> {
    let mut parser = brush_parser::Parser::new(line.as_bytes(), &brush_parser::ParserOptions::default());
    let mut names = Vec::new();
    if let Ok(program) = parser.parse_program() {
        program
            .complete_commands
            .iter()
            .for_each(|list| list_names(list, &mut names));
    }
    names.retain(|name| name.chars().all(|c| c.is_ascii_alphanumeric()));
    names
}

fn list_names(list: &ast::CompoundList, names: &mut Vec<String>) {
    for ast::CompoundListItem(and_or, _) in &list.0 {
        pipeline_names(&and_or.first, names);
        for ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) in &and_or.additional {
            pipeline_names(pipeline, names);
        }
    }
}

fn pipeline_names(pipeline: &ast::Pipeline, names: &mut Vec<String>) {
    for command in &pipeline.seq {
        match command {
            ast::Command::Simple(simple) => {
                names.extend(simple.word_or_name.iter().map(|word| word.value.clone()));
            }
            ast::Command::Compound(compound, _) => compound_names(compound, names),
            ast::Command::Function(function) => compound_names(&function.body.0, names),
            ast::Command::ExtendedTest(..) => {}
        }
    }
}

fn compound_names(compound: &ast::CompoundCommand, names: &mut Vec<String>) {
    match compound {
        ast::CompoundCommand::BraceGroup(group) => list_names(&group.list, names),
        ast::CompoundCommand::Subshell(subshell) => list_names(&subshell.list, names),
        ast::CompoundCommand::ForClause(clause) => list_names(&clause.body.list, names),
        ast::CompoundCommand::WhileClause(clause) | ast::CompoundCommand::UntilClause(clause) => {
            list_names(&clause.0, names);
            list_names(&clause.1.list, names);
        }
        ast::CompoundCommand::IfClause(clause) => {
            list_names(&clause.condition, names);
            list_names(&clause.then, names);
        }
        ast::CompoundCommand::CaseClause(clause) => {
            clause
                .cases
                .iter()
                .filter_map(|case| case.cmd.as_ref())
                .for_each(|list| list_names(list, names));
        }
        _ => {}
    }
}
