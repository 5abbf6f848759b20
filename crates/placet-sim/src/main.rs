//! Runs the simulator by hand: `cargo xtask sim --seeds 100000 --from 0`.

use std::process::ExitCode;
use std::time::Instant;

use placet_sim::sabotage::Sabotage;
use placet_sim::{run, run_many};

const HELP: &str = "Usage: placet-sim [--seeds N] [--from SEED] [--sabotage NAME] [--verbose]

Runs N seeded histories (default 20000) and checks the promises after every step. A failure prints its seed and story.
  --from SEED       the first seed (default 0)
  --sabotage NAME   breaks the world on purpose and expects to be caught; NAME is one of the list below
  --verbose         prints the story of a single seed
";

fn main() -> ExitCode {
    let mut seeds = 20_000;
    let mut from = 0;
    let mut sabotage = Sabotage::None;
    let mut verbose = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|value| value.parse::<u64>().ok());
        let understood = match arg.as_str() {
            "--seeds" => number().map(|n| seeds = n),
            "--from" => number().map(|n| from = n),
            "--sabotage" => args
                .next()
                .and_then(|name| Sabotage::parse(&name))
                .map(|found| sabotage = found),
            "--verbose" => {
                verbose = true;
                Some(())
            }
            _ => None,
        };
        if understood.is_none() {
            println!("{HELP}\nsabotage: {:?}", Sabotage::ALL);
            return if arg == "--help" || arg == "-h" {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(2)
            };
        }
    }
    let started = Instant::now();
    let result = if verbose {
        placet_sim::world::World::new(from, sabotage).narrated().run()
    } else if seeds == 1 {
        run(from, sabotage)
    } else {
        run_many(from, seeds, sabotage)
    };
    match result {
        Ok(tally) => {
            println!(
                "{seeds} histories from seed {from} kept every promise in {:.1?}: {tally:?}",
                started.elapsed()
            );
            if sabotage == Sabotage::None {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(broken) => {
            println!("{broken}");
            if sabotage == Sabotage::None {
                ExitCode::FAILURE
            } else {
                ExitCode::SUCCESS
            }
        }
    }
}
