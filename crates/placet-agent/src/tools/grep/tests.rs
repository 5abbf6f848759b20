//! Searching, and what must not be found.

use super::*;
use crate::tools::a_call;

fn configured(root: &Path, config: &str, args: Value) -> Result<String, String> {
    let config = Config::parse(
        config,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let grep = Grep::new(Workspace::new(root));
    grep.reload(&config);
    grep.search(&a_call("grep", args), &[])
}

fn grep(root: &Path, args: Value) -> Result<String, String> {
    configured(root, "", args)
}

fn a_tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
    folder
}

#[test]
fn lines_come_with_file_and_number_and_can_be_narrowed() {
    let folder = a_tree(&[
        (".gitignore", "out/\n"),
        ("a.rs", "one\nTwo\nthree\n"),
        ("b/c.txt", "two\n"),
        ("out/d.rs", "two\n"),
    ]);
    let root = folder.path();
    assert_eq!(grep(root, json!({"pattern": "two"})).unwrap(), "b/c.txt:1:two");
    assert_eq!(
        grep(
            root,
            json!({"pattern": "two", "ignoreCase": true, "glob": "*.rs", "context": 1})
        )
        .unwrap(),
        "a.rs-1-one\na.rs:2:Two\na.rs-3-three"
    );
    assert_eq!(
        grep(root, json!({"pattern": "(?i)two", "filesOnly": true})).unwrap(),
        "a.rs\nb/c.txt"
    );
    assert_eq!(
        grep(root, json!({"pattern": "ne", "path": "a.rs"})).unwrap(),
        "a.rs:1:one"
    );
    assert_eq!(
        grep(root, json!({"pattern": "four"})).unwrap(),
        "[nothing matches]"
    );
    assert!(
        grep(root, json!({"pattern": "("}))
            .unwrap_err()
            .contains("no regular expression")
    );
}

#[test]
fn a_link_out_of_the_workspace_is_not_searched() {
    let outside = a_tree(&[("key", "hunter2\n")]);
    let folder = a_tree(&[("a", "nothing\n")]);
    std::os::unix::fs::symlink(outside.path(), folder.path().join("folder")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("key"), folder.path().join("file")).unwrap();
    assert_eq!(
        grep(folder.path(), json!({"pattern": "hunter2"})).unwrap(),
        "[nothing matches]"
    );
}

#[test]
fn a_secret_is_not_found_by_searching_the_folder_around_it() {
    let folder = a_tree(&[(".env", "KEY=hunter2\n"), ("a", "hunter\n")]);
    let found = grep(folder.path(), json!({"pattern": "hunter"})).unwrap();
    assert!(
        found.starts_with("a:1:hunter\n[1 files were not searched"),
        "{found}"
    );
    // Named, it is searched when an approver approved this very file.
    let call = a_call("grep", json!({"pattern": "hunter", "path": ".env"}));
    let searched = |shown: &[Evidence]| Grep::new(Workspace::new(folder.path())).search(&call, shown);
    let shown = [Evidence::Place { path: ".env".into() }];
    assert_eq!(searched(&shown).unwrap(), ".env:1:KEY=hunter2");
    assert!(searched(&[]).unwrap_err().contains("was not approved"));
}

#[test]
fn what_a_rule_guards_is_not_found_by_searching_the_folder_around_it() {
    let rules = "[[rules]]\nname = 'hands off'\neffect = 'deny'\npath = 'private/**'\n\
                 [[rules]]\nname = 'ask first'\neffect = 'ask'\npath = 'drafts/**'\n";
    let folder = a_tree(&[("private/a", "x1\n"), ("drafts/b", "x2\n"), ("c", "x3\n")]);
    let found = configured(folder.path(), rules, json!({"pattern": "x."})).unwrap();
    assert!(found.starts_with("c:1:x3\n[2 files were not searched"), "{found}");
}

#[test]
fn a_file_that_must_not_be_read_is_not_searched_under_its_own_name_either() {
    let rules = "[[rules]]\nname = 'hands off'\neffect = 'deny'\ntool = 'read'\npath = 'private.txt'\n\
                 [[rules]]\nname = 'ask first'\neffect = 'ask'\ntool = 'read'\npath = 'draft.txt'\n";
    let folder = a_tree(&[("private.txt", "x1\n"), ("draft.txt", "x2\n")]);
    std::os::unix::fs::symlink("private.txt", folder.path().join("link")).unwrap();
    for path in ["private.txt", "link"] {
        let found = configured(folder.path(), rules, json!({"pattern": ".", "path": path}));
        let denied = "this file was not searched: reading it is denied";
        assert_eq!(found.unwrap_err(), denied, "{path}");
    }
    // If a request was needed, it named this very file.
    let found = configured(folder.path(), rules, json!({"pattern": ".", "path": "draft.txt"})).unwrap();
    assert_eq!(found, "draft.txt:1:x2");
}

#[test]
fn a_long_result_is_cut_and_says_what_is_left_out() {
    let folder = a_tree(&[("a", &"same line\n".repeat(20_000)), ("b", &"y".repeat(10_000))]);
    let found = grep(folder.path(), json!({"pattern": "same"})).unwrap();
    assert!(found.len() < 2 * OUTPUT_BYTES_MAX);
    assert!(
        found.contains("of 20000 matches in 1 files are shown"),
        "{}",
        &found[found.len() - 100..]
    );
    let found = grep(folder.path(), json!({"pattern": "y"})).unwrap();
    assert!(found.ends_with(" […]") && found.len() < 500);
}

#[test]
fn a_binary_file_and_a_line_full_of_escapes_do_no_harm() {
    let folder = a_tree(&[("a", "x\0y needle\n"), ("b", "needle \u{1b}[2Jgone\n")]);
    let found = grep(folder.path(), json!({"pattern": "needle"})).unwrap();
    assert_eq!(found, "b:1:needle \\u{1b}[2Jgone");
}
