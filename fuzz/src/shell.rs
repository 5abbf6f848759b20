//! Shell lines: what destroys everything is HIGH wherever it stands, and a second parser finds nothing that we missed.

use brush_parser::ast;
use placet_core::analysis::{Analysis, Effect, FactKind, FixedPlaces};
use placet_core::tool::Risk;
use placet_inspect::shell as lines;

use crate::{Broken, must, text};

/// Lines in which `rm -rf /` runs first, whatever is put in place of `{}`.
const RUINS: [&str; 6] = [
    "rm -rf /; {}",
    "sudo rm -rf / && {}",
    "rm -rf / | {}",
    "x=$(rm -rf /); {}",
    "'rm' \"-rf\" /\n{}",
    "env A=1 timeout 5 rm -r -f / || {}",
];

/// No line panics, is read in two ways, or holds a command of LOW risk that does more than read; and nothing that follows hides what
/// came before.
pub fn shell(data: &[u8]) -> Result<(), Broken> {
    let line = text(data);
    let found = look(&line);
    must(found == look(&line), || format!("{line:?} is read in two ways"))?;
    let does_more = |kind: &FactKind| match kind {
        FactKind::Command { effects, .. } => !effects.iter().all(|effect| matches!(effect, Effect::Reads(_))),
        _ => false,
    };
    let low = found
        .facts
        .iter()
        .find(|fact| fact.risk == Risk::Low && does_more(&fact.kind));
    must(low.is_none(), || {
        format!("{line:?} holds a LOW command that does more than read: {low:?}")
    })?;
    for ruin in RUINS {
        let line = ruin.replace("{}", &line);
        let found = look(&line);
        must(found.risk() == Risk::High, || {
            format!("{line:?} is not HIGH: {found:?}")
        })?;
    }
    Ok(())
}

/// What another parser calls a command is a command to us as well, or the line is HIGH.
pub fn shell_cross(data: &[u8]) -> Result<(), Broken> {
    let line = text(data);
    let found = look(&line);
    if found.risk() == Risk::High {
        return Ok(());
    }
    let ours: Vec<&str> = found
        .facts
        .iter()
        .filter_map(|fact| match &fact.kind {
            FactKind::Command { argv, .. } => argv.first().map(String::as_str),
            _ => None,
        })
        .collect();
    match second_opinion(&line)
        .into_iter()
        .find(|name| !ours.contains(&name.as_str()))
    {
        Some(missed) => Err(format!(
            "the command `{missed}` of {line:?} was missed; found: {ours:?}"
        )),
        None => Ok(()),
    }
}

fn look(line: &str) -> Analysis {
    let mut found = Analysis::nothing();
    lines::analyse(line, &FixedPlaces::of_examples(), &mut found);
    found
}

/// The plain command names the other parser finds outside substitutions, which it leaves unparsed.
fn second_opinion(line: &str) -> Vec<String> {
    let mut parser = brush_parser::Parser::new(line.as_bytes(), &brush_parser::ParserOptions::default());
    let mut names = Vec::new();
    if let Ok(program) = parser.parse_program() {
        for list in &program.complete_commands {
            in_list(list, &mut names);
        }
    }
    names.retain(|name| name.chars().all(|c| c.is_ascii_alphanumeric()));
    names
}

fn in_list(list: &ast::CompoundList, names: &mut Vec<String>) {
    for ast::CompoundListItem(and_or, _) in &list.0 {
        in_pipeline(&and_or.first, names);
        for ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) in &and_or.additional {
            in_pipeline(pipeline, names);
        }
    }
}

fn in_pipeline(pipeline: &ast::Pipeline, names: &mut Vec<String>) {
    for command in &pipeline.seq {
        match command {
            ast::Command::Simple(simple) => {
                names.extend(simple.word_or_name.iter().map(|word| word.value.clone()));
            }
            ast::Command::Compound(compound, _) => in_compound(compound, names),
            ast::Command::Function(function) => in_compound(&function.body.0, names),
            ast::Command::ExtendedTest(..) => {}
        }
    }
}

fn in_compound(compound: &ast::CompoundCommand, names: &mut Vec<String>) {
    match compound {
        ast::CompoundCommand::BraceGroup(group) => in_list(&group.list, names),
        ast::CompoundCommand::Subshell(subshell) => in_list(&subshell.list, names),
        ast::CompoundCommand::ForClause(clause) => in_list(&clause.body.list, names),
        ast::CompoundCommand::WhileClause(clause) | ast::CompoundCommand::UntilClause(clause) => {
            in_list(&clause.0, names);
            in_list(&clause.1.list, names);
        }
        ast::CompoundCommand::IfClause(clause) => {
            in_list(&clause.condition, names);
            in_list(&clause.then, names);
        }
        ast::CompoundCommand::CaseClause(clause) => {
            clause
                .cases
                .iter()
                .filter_map(|case| case.cmd.as_ref())
                .for_each(|list| in_list(list, names));
        }
        _ => {}
    }
}
