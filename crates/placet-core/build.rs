//! Turns the catalogue of sentences (`messages/`, one folder per language) into code.
//!
//! A sentence that one language has and another lacks, or whose parameters differ between them, fails the build.

#![expect(
    clippy::disallowed_methods,
    reason = "the crate does no I/O; its build script reads the catalogue"
)]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

#[path = "build/catalogue.rs"]
mod catalogue;
#[path = "build/sentence.rs"]
mod sentence;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../messages");
    println!("cargo:rerun-if-changed={}", root.display());
    println!("cargo:rerun-if-changed=build");
    let code = catalogue::generate(&root)?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("messages.rs"), code)?;
    Ok(())
}
