//! `cargo xtask fuzz`: hostile input for one target, for a while.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::cargo::{answers, cargo, succeeds};
use crate::workspace::Workspace;

const SECONDS_DEFAULT: u32 = 60;

/// What was asked for on the command line.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    List,
    Run { target: String, seconds: u32 },
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<ExitCode> {
    let wish = parse(args)?;
    let root = Workspace::read()?.root;
    let targets = targets(&root.join("fuzz/fuzz_targets"))?;
    let (target, seconds) = match wish {
        Wish::List => {
            println!("{}", targets.join("\n"));
            return Ok(ExitCode::SUCCESS);
        }
        Wish::Run { target, seconds } => (target, seconds),
    };
    if !targets.contains(&target) {
        bail!(
            "there is no fuzz target `{target}`; there are: {}",
            targets.join(", ")
        );
    }
    if !answers(&mut cargo(&["fuzz", "--version"])) {
        bail!(
            "cargo-fuzz is not installed; `cargo install cargo-fuzz` installs it \
             (building a target also needs a C++ compiler: `apt-get install g++`)"
        );
    }
    // Without a sanitizer a stable compiler will do. Our code has no `unsafe`: what we hunt is panics and
    // disagreements, which need none.
    let limit = format!("-max_total_time={seconds}");
    // What is found is kept in the first folder; the second is part of the repository.
    let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}"));
    fs::create_dir_all(root.join(&corpus)).with_context(|| format!("cannot make {corpus}"))?;
    let mut command = cargo(&["fuzz", "run", "--sanitizer", "none", "--features", "libfuzzer"]);
    command.args([&target, &corpus, &seeds, "--", &limit]);
    Ok(if succeeds(command.current_dir(root))? {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn parse(args: &[String]) -> anyhow::Result<Wish> {
    let mut target = None;
    let mut seconds = SECONDS_DEFAULT;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seconds" => {
                let value = args.next().context("`--seconds` needs a number")?;
                seconds = value
                    .parse()
                    .with_context(|| format!("`{value}` is not a number of seconds"))?;
            }
            flag if flag.starts_with('-') => bail!("unknown option `{flag}`; try `cargo xtask help`"),
            name => {
                if let Some(first) = target.replace(name.to_owned()) {
                    bail!("one target at a time: `{first}` or `{name}`");
                }
            }
        }
    }
    Ok(target.map_or(Wish::List, |target| Wish::Run { target, seconds }))
}

/// The names of the targets: one file each.
fn targets(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(line: &str) -> anyhow::Result<Wish> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_target_runs_for_the_seconds_asked_or_a_minute() {
        let shell = |seconds| Wish::Run {
            target: "shell".to_owned(),
            seconds,
        };
        assert_eq!(parse_words("shell --seconds 5").unwrap(), shell(5));
        assert_eq!(parse_words("shell").unwrap(), shell(SECONDS_DEFAULT));
        assert_eq!(parse_words("").unwrap(), Wish::List);
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        for (line, named) in [
            ("shell --seconds", "`--seconds` needs"),
            ("shell --seconds soon", "`soon`"),
            ("shell --fast", "`--fast`"),
            ("shell sql", "`shell` or `sql`"),
        ] {
            let error = parse_words(line).unwrap_err().to_string();
            assert!(error.contains(named), "{line}: {error}");
        }
    }
}
