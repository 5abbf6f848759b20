//! `cargo xtask test`: everything that must hold before a change goes in, then a summary.
//!
//! A failed step does not stop the ones after it: one run tells everything there is to mend.

mod needs;
mod step;
mod tally;
mod web;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use self::step::{Outcome, Step};
use self::tally::Tally;
use crate::workspace::Workspace;

/// A step that is over.
struct Done {
    step: Step,
    outcome: Outcome,
    took: Duration,
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let steps = parse(args)?;
    let workspace = Workspace::read()?;
    std::env::set_current_dir(&workspace.root).context("cannot enter the workspace")?;

    let started = Instant::now();
    let mut tally = Tally::default();
    let mut done: Vec<Done> = Vec::new();
    for &step in &steps {
        println!("\n== {}: {}", step.name(), step.purpose());
        let started = Instant::now();
        let outcome = if step.builds() && !needs::c_compiles() {
            Outcome::Failed("pointless without a C compiler that works; see `needs`".to_owned())
        } else {
            step.run(&workspace, &mut tally)
                .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")))
        };
        done.push(Done {
            step,
            outcome,
            took: started.elapsed(),
        });
    }

    summarise(&done, started.elapsed());
    if steps.contains(&Step::Tests) || steps.contains(&Step::Web) {
        println!("\n{} passed, {} failed", tally.passed, tally.failed);
    }
    Ok(if done.iter().any(Done::failed) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// All steps, or those named after `--only`, always in the order they run.
fn parse(args: &[String]) -> anyhow::Result<Vec<Step>> {
    let names = match args {
        [] => return Ok(Step::ALL.to_vec()),
        [only, names] if only == "--only" => names,
        [only] if only == "--only" => bail!("`--only` needs steps, such as `--only fmt,clippy`"),
        _ => bail!("unknown options `{}`; try `cargo xtask help`", args.join(" ")),
    };
    let names: Vec<&str> = names.split(',').collect();
    for name in &names {
        if !Step::ALL.iter().any(|step| step.name() == *name) {
            let known: Vec<_> = Step::ALL.iter().map(|step| step.name()).collect();
            bail!("there is no step `{name}`; there are: {}", known.join(", "));
        }
    }
    Ok(Step::ALL
        .into_iter()
        .filter(|step| names.contains(&step.name()))
        .collect())
}

impl Done {
    fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_))
    }
}

fn summarise(done: &[Done], total: Duration) {
    println!("\n== summary");
    for Done { step, outcome, took } in done {
        let (word, note) = match outcome {
            Outcome::Ok => ("ok", ""),
            Outcome::Failed(what) => ("FAILED", what.as_str()),
            Outcome::NotRun(why) => ("not run", *why),
        };
        let line = format!(
            "{:<8} {word:<8} {:>7.1} s  {note}",
            step.name(),
            took.as_secs_f64()
        );
        println!("{}", line.trim_end());
    }
    println!("{:<17} {:>7.1} s", "total", total.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(line: &str) -> anyhow::Result<Vec<Step>> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn without_options_every_step_runs() {
        assert_eq!(parse_words("").unwrap(), Step::ALL);
    }

    #[test]
    fn chosen_steps_run_in_their_own_order() {
        assert_eq!(
            parse_words("--only clippy,fmt").unwrap(),
            [Step::Fmt, Step::Clippy]
        );
    }

    #[test]
    fn a_misspelt_step_is_refused_rather_than_skipped() {
        let error = parse_words("--only fmt,clipy").unwrap_err().to_string();
        assert!(error.starts_with("there is no step `clipy`"), "{error}");
        assert!(parse_words("--only").is_err());
        assert!(parse_words("--skip fmt").is_err());
    }
}
