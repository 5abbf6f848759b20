//! Real crashes: a real process on a real file, killed with SIGKILL hundreds of times while calls wait for approval,
//! answered and run. Afterwards the journal, the side effects on disk and the acknowledgements the process got must agree.
//!
//! | file | part |
//! |---|---|
//! | `scene.rs` | the rules, the people, the calls, and by hand what each call requires |
//! | `worker.rs`, `people.rs` | the process that is killed: agents and people around a real engine |
//! | `killer.rs` | starts it and kills it |
//! | `logs.rs` | what it leaves on disk beside the journal |
//! | `books.rs` | what must be true of all three together |
//! | `doctored.rs` | shows that the books find what they are for |
//!
//! A kill loses nothing that was written, only what was not: what a disk may lose is the simulator's business.

#[expect(dead_code, reason = "shared with the fault test of the program")]
mod books;
#[cfg(test)]
mod doctored;
mod killer;
mod logs;
mod people;
mod scene;
mod worker;

use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use books::{Books, Tally};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Data folders, each with a history of its own.
const HISTORIES: u64 = 8;
/// Kills in one history.
const KILLS: u32 = 40;
/// Histories under way at once.
const LANES: usize = 2;
/// Verifying reads everything from the first row, so it is not done after every kill.
const VERIFY_EVERY: u32 = 10;
/// Another seed draws other kill points and other answers.
const SEED: &str = "PLACET_CRASH_SEED";

#[test]
fn killed_hundreds_of_times_nothing_runs_twice_or_unapproved_and_nothing_acknowledged_is_lost() {
    let seed = seed();
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let lane = |first| {
            move || {
                (first..HISTORIES)
                    .step_by(LANES)
                    .map(|n| sound_history(seed + n))
                    .collect::<Vec<_>>()
            }
        };
        let lanes: Vec<_> = (0..HISTORIES)
            .take(LANES)
            .map(|first| scope.spawn(lane(first)))
            .collect();
        lanes
            .into_iter()
            .flat_map(|lane| lane.join().unwrap())
            .map(Result::unwrap)
            .collect()
    });
    let met = |count: fn(&Tally) -> usize| tallies.iter().map(count).sum::<usize>();
    for (what, times) in [
        ("effects", met(|tally| tally.effects)),
        ("acknowledgements", met(|tally| tally.acks)),
        ("killed between claim and result", met(|tally| tally.lost)),
        (
            "of those, killed after the effect",
            met(|tally| tally.lost_after_effect),
        ),
        ("read-only calls run again", met(|tally| tally.rerun)),
        ("calls a person had run again", met(|tally| tally.run_again)),
        ("calls a person edited", met(|tally| tally.edited)),
        ("calls that joined another", met(|tally| tally.joined)),
        ("questions that expired", met(|tally| tally.expired)),
    ] {
        println!("{times:>7} {what}");
        assert!(times > 0, "no history met: {what}");
    }
}

/// What every draw comes from.
fn seed() -> u64 {
    std::env::var(SEED)
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(2)
}

/// Does nothing in an ordinary run: this is the door through which the killer starts this program again as a worker, so that
/// no program exists only for tests.
#[test]
fn worker_entry() {
    if let Some(worked) = worker::from_environment() {
        worked.unwrap();
    }
}

/// One history in a folder of its own, which stays for debugging.
fn sound_history(seed: u64) -> Result<Tally, Failure> {
    let dir = tempfile::tempdir()?;
    let wrong = match history(dir.path(), seed, |kills| Ok(kills == KILLS)) {
        Ok(books) if books.findings.is_empty() => return Ok(books.tally),
        Ok(books) => books.findings.join("\n"),
        Err(error) => error.to_string(),
    };
    Err(format!("seed {seed}, kept in {}:\n{wrong}", dir.keep().display()).into())
}

/// Kills workers again and again until it is enough, and then lets one finish. Ends early when something is wrong.
fn history(dir: &Path, seed: u64, enough: impl Fn(u32) -> Result<bool, Failure>) -> Result<Books, Failure> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut books = Books::default();
    let mut kills = 0;
    while !enough(kills)? {
        // The first mark comes before recovery, the second after it: those are worth a visit of their own.
        let marks = if rng.random_ratio(1, 6) {
            rng.random_range(1..=2)
        } else {
            rng.random_range(3..160)
        };
        killer::kill_after(dir, rng.random(), marks)?;
        kills += 1;
        books.read_on(dir)?;
        if kills.is_multiple_of(VERIFY_EVERY) {
            books.verify(dir)?;
        }
        if !books.findings.is_empty() {
            return Ok(books);
        }
    }
    killer::let_finish(dir, rng.random())?;
    books.read_on(dir)?;
    books.verify(dir)?;
    books.close();
    Ok(books)
}
