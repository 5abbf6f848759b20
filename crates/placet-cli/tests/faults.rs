//! Three real servers on one real PostgreSQL, under a load of agents and people, while servers are killed and paused, connections
//! are cut and the database is restarted. Afterwards what the clients were told, what ran and the journal must agree.
//!
//! | file | part |
//! |---|---|
//! | `cluster.rs` | the database and the servers, and what is done to them |
//! | `clients.rs` | agents and people; each writes down what it asked and what it was told |
//! | `history.rs` | what they wrote down, and what must be true of it and the journal together |
//! | `doctored.rs` | shows that a broken promise is found |
//!
//! The scene and the books are those of the engine's crash test.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[path = "../../placet-engine/tests/crash/books.rs"]
#[expect(dead_code, reason = "shared with the crash test of the engine")]
mod books;
#[path = "faults/clients.rs"]
mod clients;
#[path = "faults/cluster.rs"]
mod cluster;
#[path = "../../placet-store/tests/it/server.rs"]
#[expect(dead_code, reason = "shared with the tests of the store")]
mod database;
#[path = "faults/doctored.rs"]
mod doctored;
#[path = "faults/history.rs"]
mod history;
#[path = "../../placet-engine/tests/crash/logs.rs"]
#[expect(dead_code, reason = "shared with the crash test of the engine")]
mod logs;
#[path = "serve/process.rs"]
#[expect(dead_code, reason = "shared with the tests of the server")]
mod process;
#[path = "../../placet-engine/tests/crash/scene.rs"]
#[expect(dead_code, reason = "shared with the crash test of the engine")]
mod scene;

use std::sync::LazyLock;

use cluster::Fault;
use history::Told;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How many faults there are; each kind once, unless the environment says more.
const ROUNDS: &str = "PLACET_FAULT_ROUNDS";
/// What every draw comes from.
const SEED: &str = "PLACET_FAULT_SEED";

/// The history that the tests of this program look at.
static TOLD: LazyLock<Told> = LazyLock::new(|| {
    let rounds = number(ROUNDS).unwrap_or(Fault::ALL.len() as u64);
    clients::under_load(number(SEED).unwrap_or(1), rounds)
});

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn servers_that_are_killed_paused_and_cut_off_keep_every_promise() {
    let findings = TOLD.findings();
    assert_eq!(findings, Vec::<String>::new(), "{}", TOLD.story());
    let tally = TOLD.tally();
    println!("{tally:#?}");
    for (what, times) in [
        ("acknowledged answers", tally.answers),
        ("effects", tally.effects),
        ("runs that ended", tally.runs),
        ("answers refused to strangers", tally.strangers),
    ] {
        assert!(times > 0, "the history met no {what}: {tally:?}");
    }
}
