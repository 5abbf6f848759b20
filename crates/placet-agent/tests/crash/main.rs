//! Real crashes: a process with a run of many turns, killed with SIGKILL again and again and resumed each time. Afterwards every
//! effect has happened exactly once, or a person was asked.
//!
//! The model is scripted; engine, store, shell and files are real. The killer starts this test program itself as the worker,
//! so that no program exists only for tests.

mod books;
mod worker;

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use books::{Books, Tally};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Folders, each with a run of its own.
const HISTORIES: u64 = 4;
/// Kills of one run at most; a run that ends before is not killed any more.
const KILLS: u32 = 40;
/// Another seed draws other kill points and other answers.
const SEED: &str = "PLACET_CRASH_SEED";

#[test]
fn a_run_killed_again_and_again_goes_on_and_every_effect_happens_once_or_is_asked_about() {
    let seed = std::env::var(SEED)
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1_u64);
    let mut all = Tally::default();
    for history in 0..HISTORIES {
        all.add(&sound_history(seed + history).unwrap());
    }
    println!("{all:?}");
    assert!(all.kills > 20 && all.effects > 0, "{all:?}");
    // One for every turn of every history, however often it was killed.
    let expected = usize::try_from(HISTORIES).unwrap() * usize::try_from(worker::TURNS).unwrap();
    assert_eq!(all.children, expected, "{all:?}");
    assert!(
        all.lost > 0,
        "no kill fell between a claim and its result: {all:?}"
    );
}

#[test]
fn worker_entry() {
    if let Some(worked) = worker::from_environment() {
        worked.unwrap();
    }
}

/// One history in a folder of its own, which stays for debugging.
fn sound_history(seed: u64) -> Result<Tally, Failure> {
    let dir = tempfile::tempdir()?;
    let wrong = match history(dir.path(), seed) {
        Ok(books) if books.findings.is_empty() => return Ok(books.tally),
        Ok(books) => books.findings.join("\n"),
        Err(error) => error.to_string(),
    };
    Err(format!("seed {seed}, kept in {}:\n{wrong}", dir.keep().display()).into())
}

fn history(dir: &Path, seed: u64) -> Result<Books, Failure> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut kills = 0;
    while kills < KILLS {
        let mut worker = start(dir, rng.random())?;
        let wanted = rng.random_range(1..40);
        let reached = marks_seen(&mut worker, wanted)?;
        if reached < wanted {
            let status = worker.wait()?;
            if !status.success() {
                return Err(format!("the worker ended by itself: {status}").into());
            }
            break;
        }
        worker.kill()?;
        worker.wait()?;
        kills += 1;
    }
    let mut worker = start(dir, rng.random())?;
    marks_seen(&mut worker, usize::MAX)?;
    if !worker.wait()?.success() {
        return Err("the worker could not finish".into());
    }
    Books::of(dir, kills)
}

fn start(dir: &Path, seed: u64) -> Result<Child, Failure> {
    Ok(Command::new(std::env::current_exe()?)
        .args(["--exact", "worker_entry", "--nocapture", "--test-threads=1"])
        .env(worker::DIR, dir)
        .env(worker::SEED, seed.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?)
}

/// Waits for so many marks of progress, or for the end of the worker.
fn marks_seen(worker: &mut Child, wanted: usize) -> Result<usize, Failure> {
    let mut progress = worker.stdout.take().ok_or("the worker has no output")?;
    let (mut seen, mut byte) = (0, [0]);
    while seen < wanted && progress.read(&mut byte)? > 0 {
        // The test harness of the worker writes here too.
        seen += usize::from(byte == [worker::MARK]);
    }
    // Kept open until the kill: a worker that cannot write ends by itself.
    worker.stdout = Some(progress);
    Ok(seen)
}
