//! The repository's own commands, run as `cargo xtask …`.
//!
//! [`mod@test`] is what CI runs. The rest are short names for longer cargo commands, so that you need not remember
//! a package name or a flag.

mod arrows;
mod cargo;
mod conformance;
mod forward;
mod fuzz;
mod help;
mod shape;
mod test;
mod walk;
mod words;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_else(|| "help".to_owned());
    let rest: Vec<String> = args.collect();

    match dispatch(&command, &rest) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(command: &str, rest: &[String]) -> anyhow::Result<ExitCode> {
    // `bench` and `sim` have a `--help` of their own, which knows more than this program does.
    let wants_help = rest.iter().any(|arg| arg == "--help" || arg == "-h");
    match command {
        "help" | "--help" | "-h" => Ok(help::print()),
        "bench" => forward::run("placet-bench", rest),
        "sim" => forward::run("placet-sim", rest),
        "test" | "arrows" | "conformance" | "fuzz" if wants_help => Ok(help::print()),
        "test" => test::run(rest),
        "arrows" => arrows::run(),
        "conformance" => conformance::run(),
        "fuzz" => fuzz::run(rest),
        unknown => anyhow::bail!("there is no command `{unknown}`; `cargo xtask help` lists them"),
    }
}
