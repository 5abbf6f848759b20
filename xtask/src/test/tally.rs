//! Counting tests from what the test programs print.
//!
//! Cargo gives one exit status for many test programs; how many tests there were is only in their output.

/// What all test programs together came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
    /// The tests that failed, as the test programs name them.
    pub(crate) failures: Vec<String>,
}

impl Tally {
    /// Takes one line of output into account; most lines say nothing countable.
    pub(crate) fn read(&mut self, line: &str) {
        let line = line.trim_end();
        if let Some(result) = line.strip_prefix("test result: ") {
            self.add(result);
        } else if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failures.push(name.to_owned());
        }
    }

    /// Adds `ok. 3 passed; 1 failed; 0 ignored; …`.
    fn add(&mut self, result: &str) {
        let counts = result.split_once(". ").map_or(result, |(_, counts)| counts);
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(output: &str) -> Tally {
        let mut tally = Tally::default();
        output.lines().for_each(|line| tally.read(line));
        tally
    }

    #[test]
    fn results_of_several_programs_are_summed_and_failures_are_named() {
        let output = "
running 2 tests
test a_late_answer_is_refused ... FAILED
test an_early_answer_counts ... ok

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests placet_core

test crates/placet-core/src/lib.rs - call (line 3) ... ok

test result: ok. 40 passed; 0 failed; 2 ignored; 0 measured; 7 filtered out; finished in 1.25s
";
        assert_eq!(
            tally(output),
            Tally {
                passed: 41,
                failed: 1,
                ignored: 2,
                failures: vec!["a_late_answer_is_refused".to_owned()]
            },
        );
    }

    #[test]
    fn lines_that_only_resemble_a_result_count_nothing() {
        assert_eq!(tally("the test result: ok. 9 passed"), Tally::default());
        assert_eq!(
            tally("test result: ok. many passed; few failed"),
            Tally::default()
        );
        assert_eq!(tally("test result:"), Tally::default());
    }
}
