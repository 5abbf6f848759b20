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
        } else if let Some(name) = line.strip_prefix("not ok ") {
            let name = name.split_once(" - ").map_or(name, |(_, name)| name);
            self.failures.push(name.to_owned());
        } else if let Some(count) = line.strip_prefix("# ") {
            self.add_tap(count);
        }
    }

    /// Adds `pass 31`, as the tests of the web inbox end in (TAP). A test left out or put off is ignored.
    fn add_tap(&mut self, count: &str) {
        let Some((what, number)) = count.split_once(' ') else {
            return;
        };
        let Ok(number) = number.parse::<u64>() else {
            return;
        };
        match what {
            "pass" => self.passed += number,
            "fail" | "cancelled" => self.failed += number,
            "skipped" | "todo" => self.ignored += number,
            _ => {}
        }
    }

    /// Takes in what another runner counted.
    pub(crate) fn add_all(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.failures.extend(other.failures);
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
    fn what_node_prints_is_counted_too() {
        let output = "
TAP version 13
# Subtest: a late answer is refused
not ok 1 - a late answer is refused
  ---
  error: 'not ok 9 - this is only quoted'
ok 2 - an early answer counts
1..2
# tests 2
# pass 1
# fail 1
# cancelled 0
# skipped 0
# todo 0
# duration_ms 326.49
";
        assert_eq!(
            tally(output),
            Tally {
                passed: 1,
                failed: 1,
                ignored: 0,
                failures: vec!["a late answer is refused".to_owned()]
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
