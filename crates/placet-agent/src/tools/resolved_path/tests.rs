//! Links that appear between the judgement and the act.

use std::fs;
use std::os::unix::fs::symlink;

use placet_core::config::Config;
use serde_json::{Value, json};

use super::*;
use crate::tools::files::Workspace;
use crate::tools::{Glob, Grep, Ls, Read, Tool as _, Write, a_call};

/// A workspace beside a folder outside the agent's reach.
struct Disk {
    _root: tempfile::TempDir,
    workspace: PathBuf,
    outside: PathBuf,
    write: Write,
}

fn disk(config: &str) -> Disk {
    let root = tempfile::tempdir().unwrap();
    let real = fs::canonicalize(root.path()).unwrap();
    let (workspace, outside) = (real.join("work"), real.join("outside"));
    fs::create_dir_all(workspace.join("out")).unwrap();
    fs::create_dir(&outside).unwrap();
    let write = Write(Workspace::new(&workspace));
    write.reload(
        &Config::parse(
            config,
            "placet.toml",
            std::iter::empty(),
            placet_inspect::builtin(),
        )
        .unwrap(),
    );
    Disk {
        _root: root,
        workspace,
        outside,
        write,
    }
}

fn to(path: &str) -> Value {
    json!({ "path": path, "content": "new" })
}

impl Disk {
    async fn evidence(&self, path: &str) -> Vec<Evidence> {
        self.write.evidence(&a_call("write", to(path))).await.unwrap()
    }

    async fn write(&self, path: &str, shown: &[Evidence]) -> Result<String, String> {
        self.write.run(&a_call("write", to(path)), shown).await
    }

    fn replace_by_link(&self, name: &str, target: &Path) {
        let _ = fs::remove_dir_all(self.workspace.join(name));
        symlink(target, self.workspace.join(name)).unwrap();
    }

    fn outside_is_empty(&self) -> bool {
        fs::read_dir(&self.outside).unwrap().next().is_none()
    }
}

#[test]
fn a_file_has_one_name_whether_it_is_there_or_not() {
    let disk = disk("");
    symlink(disk.workspace.join("out"), disk.workspace.join("link")).unwrap();
    symlink("later.txt", disk.workspace.join("dangling")).unwrap();
    for (written, name) in [
        ("out/a.txt", "out/a.txt"),
        ("./out/../link/a.txt", "out/a.txt"),
        ("link/new/er/../x", "out/new/x"),
        ("dangling", "later.txt"),
        ("~/x", "~/x"),
        ("file:/a?/x", "file:/a?/x"),
    ] {
        assert_eq!(
            ResolvedPath::of(&disk.workspace, written).unwrap().name(),
            name,
            "{written}"
        );
    }
    let outside = disk.outside.join("x");
    let landing = ResolvedPath::of(&disk.workspace, "../outside/x").unwrap();
    assert_eq!(landing.name(), outside.to_str().unwrap());
}

#[tokio::test]
async fn a_folder_that_became_a_link_since_the_change_was_shown_is_not_followed() {
    let disk = disk("");
    let shown = disk.evidence("out/new.txt").await;
    disk.replace_by_link("out", &disk.outside);
    let refused = disk.write("out/new.txt", &shown).await.unwrap_err();
    assert!(
        refused.contains("led to `out/new.txt` when a person was asked"),
        "{refused}"
    );
    assert!(disk.outside_is_empty());
}

#[tokio::test]
async fn a_folder_that_became_a_link_is_not_followed_when_nobody_was_asked_either() {
    let disk = disk("");
    disk.replace_by_link("out", &disk.outside);
    let refused = disk.write("out/new.txt", &[]).await.unwrap_err();
    assert!(refused.contains("was not approved"), "{refused}");
    assert!(disk.outside_is_empty());
    // Into the workspace again, but to where git would run it.
    disk.replace_by_link("out", &disk.workspace.join(".git/hooks"));
    let refused = disk.write("out/pre-commit", &[]).await.unwrap_err();
    assert!(refused.contains("`.git/hooks/pre-commit`"), "{refused}");
}

#[tokio::test]
async fn a_place_outside_is_written_when_that_very_place_was_shown_or_policy_allows_it() {
    let shown_one = disk("");
    let target = shown_one.outside.join("new.txt");
    let path = target.to_str().unwrap();
    let shown = shown_one.evidence(path).await;
    assert!(matches!(&shown[..], [Evidence::Diff { path: of, .. }] if of == path));
    shown_one.write(path, &shown).await.unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    let allowed = disk("[approval]\nenabled = false\n");
    let target = allowed.outside.join("new.txt");
    allowed.write(target.to_str().unwrap(), &[]).await.unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
}

#[tokio::test]
async fn what_a_rule_denies_is_not_reached_through_a_link() {
    let disk = disk("[[rules]]\nname = 'no'\npath = 'private/**'\neffect = 'deny'\n");
    disk.replace_by_link("out", Path::new("private"));
    let refused = disk.write("out/a.txt", &[]).await.unwrap_err();
    assert!(refused.contains("is denied"), "{refused}");
    assert!(!disk.workspace.join("private").exists());
}

#[tokio::test]
async fn a_link_inside_the_workspace_is_followed_and_stays_a_link() {
    let disk = disk("");
    symlink("out/real.txt", disk.workspace.join("link")).unwrap();
    let shown = disk.evidence("link").await;
    disk.write("link", &shown).await.unwrap();
    assert_eq!(
        fs::read_to_string(disk.workspace.join("out/real.txt")).unwrap(),
        "new"
    );
    assert!(disk.workspace.join("link").is_symlink());
}

/// Calls of every tool that reads, through the link `notes` into the folder `out` or the folder of secrets.
fn reading(workspace: &Path, config: &Config) -> Vec<(Box<dyn crate::tools::Tool>, ToolCall)> {
    let workspace = Workspace::new(workspace);
    let tools: [(Box<dyn crate::tools::Tool>, Value); 5] = [
        (
            Box::new(Read(workspace.clone())),
            json!({ "path": "notes/a.txt" }),
        ),
        (
            Box::new(Grep::new(workspace.clone())),
            json!({ "path": "notes/a.txt", "pattern": "." }),
        ),
        (
            Box::new(Grep::new(workspace.clone())),
            json!({ "path": "notes", "pattern": "." }),
        ),
        (Box::new(Ls(workspace.clone())), json!({ "path": "notes" })),
        (
            Box::new(Glob(workspace)),
            json!({ "path": "notes", "pattern": "*" }),
        ),
    ];
    tools
        .into_iter()
        .map(|(tool, args)| {
            tool.reload(config);
            let call = a_call(tool.name(), args);
            (tool, call)
        })
        .collect()
}

/// Replaces the link `notes` again and again until it is dropped: `out` and `secret` take turns behind it, and behind the folder
/// `turning`, which is a folder at times and a link at others.
struct Flipping {
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Flipping {
    fn start(workspace: PathBuf, secret: PathBuf) -> Self {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = std::sync::Arc::clone(&stop);
        let flip = move || {
            let (link, new) = (workspace.join("notes"), workspace.join("new"));
            let (turning, aside) = (workspace.join("turning"), workspace.join("aside"));
            while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
                for target in [Path::new("out"), &secret, Path::new("turning")] {
                    symlink(target, &new).unwrap();
                    fs::rename(&new, &link).unwrap();
                }
                // The link has been followed; now the folder itself turns into one.
                fs::rename(&turning, &aside).unwrap();
                symlink(&secret, &turning).unwrap();
                fs::remove_file(&turning).unwrap();
                fs::rename(&aside, &turning).unwrap();
            }
        };
        let thread = Some(std::thread::spawn(flip));
        Self { stop, thread }
    }
}

impl Drop for Flipping {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[tokio::test]
async fn a_link_that_flips_while_a_tool_reads_never_gives_away_what_was_not_judged() {
    let disk = disk("");
    let inside = disk.workspace.join("private");
    for (folder, file, text) in [
        (disk.workspace.join("out"), "a.txt", "harmless"),
        (disk.workspace.join("turning"), "a.txt", "harmless"),
        (disk.outside.clone(), "a.txt", "hunter2"),
        (disk.outside.clone(), "hunter2.txt", "hunter2"),
        (inside.clone(), "a.txt", "hunter2"),
        (inside.clone(), "hunter2.txt", "hunter2"),
    ] {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
    }
    symlink("out", disk.workspace.join("notes")).unwrap();
    let rule = "[[rules]]\nname = 'no'\npath = 'private/**'\neffect = 'deny'\n\
                [[rules]]\nname = 'nor'\npath = 'private'\neffect = 'deny'\n";
    let config = Config::parse(rule, "placet.toml", std::iter::empty(), placet_inspect::builtin()).unwrap();
    for secret in [disk.outside.clone(), inside] {
        let _flipping = Flipping::start(disk.workspace.clone(), secret);
        for (tool, call) in reading(&disk.workspace, &config) {
            for _ in 0..150 {
                // Judged while the link led to `out`: policy allows that, so no approver was asked.
                if let Ok(read) = tool.run(&call, &[]).await {
                    assert!(!read.contains("hunter2"), "{}: {read}", tool.name());
                }
            }
        }
    }
}

#[tokio::test]
async fn a_place_is_read_when_that_very_place_was_shown() {
    let disk = disk("");
    let key = disk.outside.join("key.txt");
    fs::write(&key, "one").unwrap();
    fs::write(disk.outside.join("other.txt"), "two").unwrap();
    disk.replace_by_link("link", &key);
    let (read, call) = (
        Read(Workspace::new(&disk.workspace)),
        a_call("read", json!({ "path": "link" })),
    );
    let shown = read.evidence(&call).await.unwrap();
    assert!(matches!(&shown[..], [Evidence::Place { path }] if path == key.to_str().unwrap()));
    assert_eq!(read.run(&call, &shown).await.unwrap(), "one");
    fs::remove_file(disk.workspace.join("link")).unwrap();
    disk.replace_by_link("link", &disk.outside.join("other.txt"));
    let refused = read.run(&call, &shown).await.unwrap_err();
    assert!(refused.contains("when a person was asked"), "{refused}");
}
