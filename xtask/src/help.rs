//! What `cargo xtask help` says.

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask: the commands of this repository

  test [--only STEP,…]      everything CI checks, then a summary; exit 1 if anything failed
                            steps: needs fmt arrows shape words deny clippy docs tests web api
  arrows                    only the crate arrows: who may depend on whom
  conformance               write docs/conformance.md: the five documents, sentence by sentence, with their tests
  sim --seeds N --from S    run N simulated histories, starting at seed S (release build)
  bench [--quick] [--json FILE]
                            measure the claims we make (release build)
  fuzz [TARGET] [--seconds N]
                            throw hostile input at one target; without TARGET, list the targets
  help                      this page

examples
  cargo xtask test                          before every push; also what .ci/run does
  cargo xtask test --only fmt,clippy        the quick half, while writing
  cargo xtask sim --from 4711 --seeds 1     replay the history a failure printed
  cargo xtask bench --quick                 a rough table in a minute
  cargo xtask fuzz reply --seconds 300      five minutes of hostile replies

`sim` and `bench` pass every argument on: `cargo xtask sim --help` shows what they take.
";

/// Prints the page.
pub(crate) fn print() -> ExitCode {
    print!("{HELP}");
    ExitCode::SUCCESS
}
