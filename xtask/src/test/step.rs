//! The steps of `cargo xtask test`: what each checks and how.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use anyhow::Context;

use super::tally::Tally;
use super::{api, needs, web};
use crate::cargo::{answers, cargo, succeeds};
use crate::workspace::Workspace;
use crate::{arrows, shape, words};

/// One thing to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Needs,
    Fmt,
    Clippy,
    Docs,
    Arrows,
    Shape,
    Words,
    Deny,
    Tests,
    Web,
    Api,
}

/// What is tested besides what is built by default; the same in every step, so that nothing is built twice.
const OPTIONAL: &str = "placet-cli/otel";

/// Builds `placet` as the tests do: with what they are built with besides, so that nothing is built twice.
pub(super) fn build_program() -> anyhow::Result<bool> {
    let args = [
        "test",
        "--workspace",
        "--features",
        OPTIONAL,
        "--no-run",
        "--test",
        "serve",
    ];
    succeeds(&mut cargo(&args))
}

/// What a step came to.
pub(super) enum Outcome {
    Ok,
    /// Found something wrong; the sentence says what, or what to do.
    Failed(String),
    /// Not checked, and why; not a failure of this step.
    NotRun(&'static str),
}

impl Step {
    /// In the order they run: cheap and telling ones first.
    pub(super) const ALL: [Self; 11] = [
        Self::Needs,
        Self::Fmt,
        Self::Arrows,
        Self::Shape,
        Self::Words,
        Self::Deny,
        Self::Clippy,
        Self::Docs,
        Self::Tests,
        Self::Web,
        Self::Api,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Needs => "needs",
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Docs => "docs",
            Self::Arrows => "arrows",
            Self::Shape => "shape",
            Self::Words => "words",
            Self::Deny => "deny",
            Self::Tests => "tests",
            Self::Web => "web",
            Self::Api => "api",
        }
    }

    pub(super) fn purpose(self) -> &'static str {
        match self {
            Self::Needs => "what the checks need from this machine",
            Self::Fmt => "formatting",
            Self::Clippy => "lints, warnings denied",
            Self::Docs => "documentation, warnings denied",
            Self::Arrows => "which crate may know which",
            Self::Shape => "workspace lints in every crate, a header on every module",
            Self::Words => "every sentence of messages/ is used, and none stands in the code",
            Self::Deny => "licences, banned crates and sources of dependencies",
            Self::Tests => "every test and doctest",
            Self::Web => "the web inbox in a real browser",
            Self::Api => "the HTTP API against its own description, with made-up requests",
        }
    }

    /// Whether the step compiles the workspace, which is pointless when the machine cannot.
    pub(super) fn builds(self) -> bool {
        matches!(
            self,
            Self::Clippy | Self::Docs | Self::Tests | Self::Web | Self::Api
        )
    }

    pub(super) fn run(self, workspace: &Workspace, tally: &mut Tally) -> anyhow::Result<Outcome> {
        match self {
            Self::Needs => {
                Ok(needs::meet().map_or_else(|e| Outcome::Failed(format!("{e:#}")), |()| Outcome::Ok))
            }
            Self::Fmt => expect(
                &mut cargo(&["fmt", "--all", "--check"]),
                "`cargo fmt --all` mends it",
            ),
            Self::Clippy => expect(
                &mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
                "see the warnings above",
            ),
            Self::Docs => expect(
                cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
                "see the warnings above",
            ),
            Self::Arrows => Ok(faults(&arrows::check(&workspace.members))),
            Self::Shape => Ok(faults(&shape::check(workspace)?)),
            Self::Words => Ok(faults(&words::check(workspace)?)),
            Self::Deny => deny(),
            Self::Tests => tests(tally),
            Self::Web => web::run(workspace, tally),
            Self::Api => api::run(workspace),
        }
    }
}

fn expect(command: &mut Command, hint: &str) -> anyhow::Result<Outcome> {
    Ok(if succeeds(command)? {
        Outcome::Ok
    } else {
        Outcome::Failed(hint.to_owned())
    })
}

fn faults(faults: &[String]) -> Outcome {
    for fault in faults {
        println!("{fault}");
    }
    match faults {
        [] => Outcome::Ok,
        [only] => Outcome::Failed(only.clone()),
        [first, others @ ..] => Outcome::Failed(format!("{first} (and {} more above)", others.len())),
    }
}

fn deny() -> anyhow::Result<Outcome> {
    if !answers(&mut cargo(&["deny", "--version"])) {
        println!("cargo-deny is not installed: licences, bans and sources were not checked");
        return Ok(Outcome::NotRun("cargo-deny is not installed"));
    }
    expect(
        &mut cargo(&["deny", "--offline", "check", "licenses", "bans", "sources"]),
        "see deny.toml for what is allowed and why",
    )
}

/// Runs every test program to its end, showing the output as it comes while counting.
fn tests(tally: &mut Tally) -> anyhow::Result<Outcome> {
    let mut child = cargo(&["test", "--workspace", "--no-fail-fast", "--features", OPTIONAL])
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo test")?;
    read_tests(&mut child, tally)?;
    Ok(tally.judge(child.wait()?.success()))
}

/// Shows what a test runner prints as it comes, while counting.
pub(super) fn read_tests(child: &mut Child, tally: &mut Tally) -> anyhow::Result<()> {
    let mut output = BufReader::new(child.stdout.take().context("the tests have no output")?);
    let mut shown = std::io::stdout().lock();
    let mut line = Vec::new();
    // Bytes, not strings: a failing test may print anything.
    while output.read_until(b'\n', &mut line)? > 0 {
        shown.write_all(&line)?;
        shown.flush()?;
        tally.read(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(())
}

impl Tally {
    /// The runner's own word counts beside the tally: a test program that dies prints no result to count.
    pub(super) fn judge(&self, runner_succeeded: bool) -> Outcome {
        if !self.failures.is_empty() {
            Outcome::Failed(self.failures.join(", "))
        } else if !runner_succeeded || self.failed > 0 {
            Outcome::Failed("a test program did not build or did not finish; see above".to_owned())
        } else if self.passed == 0 {
            Outcome::Failed("no test ran".to_owned())
        } else if self.ignored > 0 {
            Outcome::Failed(format!(
                "{} tests are ignored; mend them or remove them",
                self.ignored
            ))
        } else {
            Outcome::Ok
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(passed: u64) -> Tally {
        Tally {
            passed,
            ..Tally::default()
        }
    }

    #[test]
    fn tests_are_ok_only_when_some_ran_and_all_passed() {
        assert!(matches!(passed(3).judge(true), Outcome::Ok));
        assert!(matches!(passed(0).judge(true), Outcome::Failed(_)));
    }

    #[test]
    fn a_test_program_that_died_without_a_result_is_a_failure() {
        assert!(matches!(passed(3).judge(false), Outcome::Failed(_)));
    }

    #[test]
    fn an_ignored_test_is_a_failure() {
        assert!(matches!(
            Tally {
                ignored: 1,
                ..passed(3)
            }
            .judge(true),
            Outcome::Failed(_)
        ));
    }

    #[test]
    fn a_failed_test_is_named() {
        let tally = Tally {
            failed: 1,
            failures: vec!["it_holds".to_owned()],
            ..passed(3)
        };
        assert!(matches!(tally.judge(false), Outcome::Failed(what) if what == "it_holds"));
    }

    #[test]
    fn every_step_is_run_once() {
        for step in Step::ALL {
            assert_eq!(
                Step::ALL
                    .iter()
                    .filter(|other| other.name() == step.name())
                    .count(),
                1
            );
        }
    }
}
