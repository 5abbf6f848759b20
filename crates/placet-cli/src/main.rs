//! `placet`: ask the policy, test the rules, answer requests, read the audit log.
//!
//! Each command is a file of its own. A command prints what it has to say and returns an [`Exit`]; an error is printed here,
//! with what to do next, and exits with 2.

mod args;
mod audit;
mod chat;
mod check;
mod config_file;
mod demo;
mod exit;
mod generate;
mod grants;
mod help;
mod inbox;
mod init;
mod locale;
mod moment;
mod output;
mod owner;
mod policy;
mod run;
mod serve;
mod status;
mod store;
mod style;
mod usage_error;
mod who;
mod wiring;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use args::{Cli, Color, Command};
use exit::Exit;

/// A server that answers thousands of small requests a second spends much of its time in the allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let locale = locale::choose(std::env::args_os());
    let parsed = help::command(locale)
        .try_get_matches()
        .and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage_error::print(&error, locale).into(),
    };
    cli.color.apply();
    match run(cli.color, cli.command) {
        Ok(exit) => exit.into(),
        Err(error) if output::is_broken_pipe(&error) => Exit::Success.into(),
        Err(error) => {
            output::explain(&error);
            Exit::BadInput.into()
        }
    }
}

fn run(color: Color, command: Option<Command>) -> anyhow::Result<Exit> {
    match command {
        None => status::run(),
        Some(command) => dispatch(color, command),
    }
}

fn dispatch(color: Color, command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Demo(args) => demo::run(&args, color),
        Command::Init(args) => init::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Chat(args) => chat::run(&args, color),
        Command::Policy { command } => policy::run(&command),
        Command::Audit { store, command } => audit::run(&store, &command),
        Command::Store { command } => store::run(&command),
        Command::Grants(args) => grants::run(&args),
        Command::Inbox {
            store,
            person,
            command,
        } => inbox::run(&store, person.as_ref(), command.as_ref(), color),
        Command::Serve(args) => serve::run(&args),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man => generate::man(),
    }
}
