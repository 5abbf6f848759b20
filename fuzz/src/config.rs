//! Configuration and rules: any text is accepted whole or refused with a place, and what allows is never wider than what denies.

use placet_core::config::{Config, Place, Workflow};
use placet_core::policy::pattern::{Breadth, CommandPattern};

use crate::{Broken, must, text};

/// Any text is a configuration, the same each time, or is refused with at least one problem at a place inside it.
pub fn config(data: &[u8]) -> Result<(), Broken> {
    let text = text(data);
    // A workflow's file is read by the same machinery; that it does not panic is all there is to say of it.
    let _ = Workflow::parse(&text, "workflow.toml");
    let read = || {
        Config::parse(
            &text,
            "placet.toml",
            std::iter::empty(),
            placet_inspect::builtin(),
        )
    };
    let error = match read() {
        Ok(config) => {
            let same = read().is_ok_and(|again| format!("{again:?}") == format!("{config:?}"));
            return must(same, || format!("{text:?} is read in two ways"));
        }
        Err(error) => error,
    };
    must(!error.problems.is_empty(), || {
        format!("{text:?} is refused without a reason")
    })?;
    for problem in error.problems {
        let inside = match &problem.place {
            Place::Text { line, column, span } => {
                *line >= 1
                    && *line <= text.matches('\n').count() + 1
                    && *column >= 1
                    && span.start <= text.len()
            }
            Place::Environment(_) => false,
        };
        must(inside && !problem.message.to_string().is_empty(), || {
            format!("{text:?} is refused at a place it does not have: {problem:?}")
        })?;
    }
    Ok(())
}

/// The first line is a command pattern, every other line a word of a command. A pattern that covers the command for what
/// allows also catches it for what denies; and the pattern made of the command's own words covers exactly it.
pub fn rules(data: &[u8]) -> Result<(), Broken> {
    let text = text(data);
    let (pattern, words) = text.split_once('\n').unwrap_or((&text, "ls"));
    let argv: Vec<String> = words.split('\n').map(str::to_owned).collect();
    if let Ok(pattern) = CommandPattern::parse(pattern) {
        let (narrow, broad) = (
            pattern.matches(&argv, Breadth::Narrow),
            pattern.matches(&argv, Breadth::Broad),
        );
        must(broad || !narrow, || {
            format!("{pattern:?} allows {argv:?}, but would not deny it")
        })?;
    }
    let quoted = CommandPattern::quote(&argv);
    match CommandPattern::parse(&quoted) {
        Ok(exact) => {
            must(exact.matches(&argv, Breadth::Narrow), || {
                format!("{quoted:?} does not match its own {argv:?}")
            })?;
            let mut longer = argv.clone();
            longer.push("more".to_owned());
            must(!exact.matches(&longer, Breadth::Narrow), || {
                format!("{quoted:?} matches more than {argv:?}")
            })
        }
        Err(error) => Err(format!("{quoted:?}, made of {argv:?}, is refused: {error}")),
    }?;
    rule_file(pattern)
}

/// A rule with this command is accepted exactly when its pattern is.
fn rule_file(pattern: &str) -> Result<(), Broken> {
    let quoted = serde_json::to_string(pattern)
        .unwrap_or_default()
        .replace('\u{7f}', "\\u007f");
    let file =
        format!("[[rules]]\nname = \"fuzzed\"\neffect = \"deny\"\ntool = \"bash\"\ncommand = {quoted}\n");
    let accepted = Config::parse(
        &file,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    );
    let expected = CommandPattern::parse(pattern).is_ok();
    must(accepted.is_ok() == expected, || {
        format!("the rule with `command = {quoted}` is {accepted:?}")
    })
}
