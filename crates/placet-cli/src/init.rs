//! `placet init`: a `placet.toml` to start from, with every key explained, or a pack of rules for a purpose.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use placet_core::config::DEFAULT_FILE;
use placet_core::messages::{cannot, policy_file, refused};
use placet_core::render::SafeText;

use crate::args::{InitArgs, Pack};
use crate::exit::Exit;
use crate::{locale, output};

/// A rule that is in force, so that there is something to try.
const FIRST_RULE: &str = r#"
# A first rule. `placet policy test` tries its examples, `placet policy explain` says it in plain words.

[[rules]]
name = "force pushes need approval"
effect = "ask"
reason = "a force push can erase other people's work"
tool = "bash"
command = ["git push --force*", "git push -f*"]
matches = ["git push --force origin main", "cd repo && git push -f"]
not_matches = ["git push origin main", "git status"]
"#;

/// The text of a pack.
const fn text_of(pack: Pack) -> &'static str {
    match pack {
        Pack::Coding => include_str!("init/packs/coding.toml"),
        Pack::Database => include_str!("init/packs/database.toml"),
        Pack::Ci => include_str!("init/packs/ci.toml"),
        Pack::Strict => include_str!("init/packs/strict.toml"),
    }
}

/// Writes the file.
pub(crate) fn run(args: &InitArgs) -> anyhow::Result<Exit> {
    let path = args.dir.join("placet.toml");
    let shown = SafeText::line(&path.display().to_string());
    std::fs::create_dir_all(&args.dir)
        .with_context(|| locale::say(&cannot::make_folder(args.dir.display())))?;
    let written = write(&args.dir, &path, args).map_err(output::without_temporary_name);
    if !written.with_context(|| locale::say(&cannot::write(&shown)))? {
        bail!(locale::error(&refused::init_exists(&shown)));
    }
    output::print(&locale::say(&policy_file::written(shown)))?;
    Ok(Exit::Success)
}

/// Whether it was written: whole or not at all, and over another file only by `force`.
fn write(folder: &Path, path: &Path, args: &InitArgs) -> std::io::Result<bool> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    if let Some(pack) = args.pack {
        file.write_all(text_of(pack).as_bytes())?;
    } else {
        file.write_all(DEFAULT_FILE.as_bytes())?;
        file.write_all(FIRST_RULE.as_bytes())?;
    }
    file.as_file().sync_all()?;
    make_readable(file.as_file())?;
    let kept = if args.force {
        file.persist(path)
    } else {
        file.persist_noclobber(path)
    };
    match kept {
        Ok(_) => Ok(true),
        Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(failed) => Err(failed.error),
    }
}

/// Temporary files are for their owner only; this one holds no secrets and is meant to be shared.
#[cfg(unix)]
fn make_readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}
