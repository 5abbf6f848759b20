//! Measured claims: how fast Placet decides, asks and resumes, and what a parked question costs.
//!
//! `cargo run --release -p placet-bench -- [--quick] [--json FILE] [--dir DIR] [NAME…]`. Every number is a median with its
//! extremes; rows that we promised something about show the promise beside them. Absolute times of a shared machine move by
//! a factor of two, so what touches the disk is measured beside the disk itself and beside a bare sketch of the same work.

mod agent;
mod cycle;
mod decide;
mod disk;
mod parked;
mod parsing;
mod people;
mod restart;
mod sample;
mod serve;
mod sketch;
mod table;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::table::Table;

const HELP: &str = "\
measures what we claim; prints a table

  cargo run --release -p placet-bench -- [--quick] [--json FILE] [--dir DIR] [NAME…]

  --quick      everything small: seconds instead of minutes, and numbers that mean little
  --json FILE  the same rows as JSON
  --dir DIR    where databases are made; must be on a disk. Default: beside this program
  NAME…        only these: ";

/// How thorough a run is.
#[derive(Debug, Clone)]
struct Plan {
    effort: Effort,
    dir: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effort {
    Full,
    Quick,
}

impl Plan {
    fn pick<T>(&self, full: T, quick: T) -> T {
        match self.effort {
            Effort::Full => full,
            Effort::Quick => quick,
        }
    }
}

/// One measurement: adds its rows to the table.
type Bench = fn(&Plan, &mut Table) -> anyhow::Result<()>;

const BENCHES: &[(&str, Bench)] = &[
    ("decide", decide::run),
    ("digest", parsing::digest),
    ("shell", parsing::shell),
    ("sql", parsing::sql),
    ("reply", people::reply),
    ("render", people::render),
    ("cycle", cycle::run),
    ("allowed", cycle::allowed),
    ("parked", parked::run),
    ("restart", restart::run),
    ("serve", serve::run),
    ("agent", agent::run),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some(parked::CHILD) => parked::child(&args),
        Some(serve::streams::CHILD) => serve::streams::child(&args),
        _ => run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> anyhow::Result<()> {
    let (mut effort, mut json, mut dir, mut names) = (Effort::Full, None, None, Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--quick" => effort = Effort::Quick,
            "--json" => json = Some(PathBuf::from(value()?)),
            "--dir" => dir = Some(PathBuf::from(value()?)),
            "--help" | "-h" => {
                println!("{HELP}{}", known().join(" "));
                return Ok(());
            }
            name if known().contains(&name) => names.push(name),
            other => bail!(
                "unknown `{other}`; there are --quick, --json, --dir and: {}",
                known().join(" ")
            ),
        }
    }
    // Beside the program is on the disk the repository is on; the system's temporary folder is often memory.
    let beside = || Some(std::env::current_exe().ok()?.parent()?.to_owned());
    let dir = dir
        .or_else(beside)
        .context("cannot tell where this program is; use --dir")?;
    let plan = Plan { effort, dir };

    let mut table = Table::new(&plan);
    println!("{}", table.heading());
    for (name, bench) in BENCHES {
        if names.is_empty() || names.contains(name) {
            bench(&plan, &mut table).with_context(|| format!("in `{name}`"))?;
        }
    }
    println!("{}", table.summary());
    if let Some(path) = json {
        table.write_json(&path)?;
    }
    Ok(())
}

fn known() -> Vec<&'static str> {
    BENCHES.iter().map(|(name, _)| *name).collect()
}
