//! The web inbox in a real browser: Node's test runner, Debian's Chromium, and the `placet` that was just built.
//!
//! The packages that drive the browser and check the formatting are fetched by name and version into the build folder:
//! nothing of them is in the repository, and the inbox itself needs none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use super::step::{Outcome, build_program, read_tests};
use super::tally::Tally;
use crate::cargo::{cargo, succeeds};
use crate::workspace::Workspace;

const PACKAGES: &[(&str, &str)] = &[
    ("axe-core", "4.14.0"),
    ("playwright-core", "1.65.0"),
    ("prettier", "3.9.10"),
];

/// Runs every test of `web/tests`.
pub(super) fn run(workspace: &Workspace, tally: &mut Tally) -> anyhow::Result<Outcome> {
    let target = target_folder()?;
    let packages = target.join("npm");
    install_packages(&packages)?;
    if !succeeds(
        Command::new(packages.join("node_modules/.bin/prettier"))
            .args(["--check", "--log-level", "warn"])
            .arg(workspace.root.join("web")),
    )? {
        return Ok(Outcome::Failed(
            "`target/npm/node_modules/.bin/prettier --write web` mends the formatting".to_owned(),
        ));
    }
    if !build_program()? {
        return Ok(Outcome::Failed("`placet` does not build; see above".to_owned()));
    }
    let mut child = Command::new("node")
        .args(["--test", "--test-reporter=tap"])
        .args(test_files(&workspace.root.join("web/tests"))?)
        .env("PLACET_BIN", target.join("debug/placet"))
        .env("PLACET_TARGET", &target)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start node")?;
    let mut own = Tally::default();
    read_tests(&mut child, &mut own)?;
    let node_succeeded = child.wait()?.success();
    let outcome = own.judge(node_succeeded);
    tally.add_all(own);
    Ok(outcome)
}

/// Where cargo builds.
fn target_folder() -> anyhow::Result<PathBuf> {
    let output = cargo(&["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .context("cannot start cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")?;
    let folder = metadata.get("target_directory").and_then(Value::as_str);
    Ok(folder.context("cargo metadata names no target folder")?.into())
}

fn test_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.js") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn install_packages(folder: &Path) -> anyhow::Result<()> {
    let missing: Vec<_> = PACKAGES
        .iter()
        .filter(|(name, version)| installed(folder, name).as_deref() != Some(version))
        .map(|(name, version)| format!("{name}@{version}"))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {} into the build folder", missing.join(" "));
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
    ])
    .arg(folder)
    .args(PACKAGES.iter().map(|(name, version)| format!("{name}@{version}")));
    if succeeds(&mut npm)? {
        Ok(())
    } else {
        bail!("npm could not install {}", missing.join(" "))
    }
}

/// The version of a package that is there already.
fn installed(folder: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(folder.join("node_modules").join(name).join("package.json")).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    Some(package.get("version")?.as_str()?.to_owned())
}
