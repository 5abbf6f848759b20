//! Hostile input: for everything that reads what others wrote, a property that must hold for *any* bytes.
//!
//! Each property is one function here and is run in two ways: by `cargo xtask fuzz NAME`, where libFuzzer looks for bytes that
//! break it for as long as it is let, and by `tests/smoke.rs` in every test run, on `seeds/NAME` and mutations of them. What a
//! fuzzer finds becomes a seed here and a named test where the mistake was.

mod canonical;
mod config;
mod reply;
mod shell;
mod sql;
mod webhook;

use std::borrow::Cow;

pub use canonical::canonical;
pub use config::{config, rules};
pub use reply::reply;
pub use shell::{shell, shell_cross};
pub use sql::sql;
pub use webhook::{inbound, signature};

/// Why a property does not hold, in a sentence.
pub type Broken = String;

/// Something that must hold for any bytes.
pub type Property = fn(&[u8]) -> Result<(), Broken>;

/// Every property by the name of its target.
pub const PROPERTIES: [(&str, Property); 9] = [
    ("canonical", canonical),
    ("config", config),
    ("inbound", inbound),
    ("reply", reply),
    ("rules", rules),
    ("shell", shell),
    ("shell_cross", shell_cross),
    ("signature", signature),
    ("sql", sql),
];

/// Checks a property, and panics when it is broken.
///
/// # Panics
/// When it is broken.
#[expect(clippy::panic, reason = "a panic is how a fuzzer is told")]
pub fn hold(property: Property, data: &[u8]) {
    if let Err(broken) = property(data) {
        panic!("{broken}");
    }
}

/// What the bytes say, as the edge would read them: never refused here for their encoding alone.
fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

fn must(holds: bool, otherwise: impl FnOnce() -> Broken) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
