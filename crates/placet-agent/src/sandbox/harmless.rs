//! What the gate lets run unasked really only reads. Thousands of lines that are judged LOW run for real in a workspace: confined to
//! reading, where nothing may be refused; and confined to the workspace, where nothing may have changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use placet_core::analysis::Analysis;
use placet_core::tool::Risk;
use placet_engine::places::DiskPlaces;
use placet_inspect::shell;

use super::*;

const RECORDS: &str = include_str!("../../../placet-inspect/src/programs.toml");

/// How many lines are made of two or three examples.
const MADE: usize = 4_000;

/// Programs that wait, that ask the kernel through a socket, or that read the list of packages, which no sandbox of ours shows.
const LEFT_OUT: &[&str] = &[
    "apt-cache",
    "npm",
    "pip",
    "vmstat",
    "dpkg",
    "sleep",
    "tail",
    "watch",
    "yes",
    "wait",
    "less",
    "more",
    "ss",
    "netstat",
    "lsof",
    "top",
    "cd",
    "exec",
    "exit",
    "return",
];

/// Every `low` example of every record.
fn examples() -> Vec<String> {
    fn collect(value: &toml::Value, found: &mut Vec<String>) {
        let Some(table) = value.as_table() else { return };
        for (key, value) in table {
            match value {
                toml::Value::Array(lines) if key == "low" => {
                    found.extend(lines.iter().filter_map(|line| line.as_str()).map(str::to_owned));
                }
                value => collect(value, found),
            }
        }
    }
    let mut found = Vec::new();
    collect(&toml::from_str(RECORDS).unwrap(), &mut found);
    let is_fit = |line: &String| !line.split_whitespace().any(|word| LEFT_OUT.contains(&word));
    found.retain(is_fit);
    found
}

/// The examples, and lines made of them by a fixed sequence of numbers.
fn lines(places: &DiskPlaces) -> Vec<String> {
    let examples = examples();
    assert!(examples.len() > 300, "{}", examples.len());
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut pick = |count: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % count as u64).unwrap()
    };
    let mut lines = examples.clone();
    for _ in 0..MADE {
        let glue = [" | ", " && ", "; ", " || "];
        let mut line = examples[pick(examples.len())].clone();
        for _ in 0..=pick(2) {
            line += glue[pick(glue.len())];
            line += &examples[pick(examples.len())];
        }
        lines.push(line);
    }
    let is_low = |line: &String| {
        let mut found = Analysis::nothing();
        shell::analyse(line, places, &mut found);
        found.risk() == Risk::Low
    };
    lines.retain(is_low);
    lines
}

fn workspace() -> (TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let work = std::fs::canonicalize(root.path()).unwrap().join("work");
    for folder in ["src", "tests", "docs", "sub"] {
        std::fs::create_dir_all(work.join(folder)).unwrap();
    }
    for (name, text) in [
        ("README.md", "# hello\n\nfoo bar\n"),
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        (
            "package.json",
            "{\"name\":\"x\",\"version\":\"1.0.0\",\"a\":{\"b\":[1,2]}}\n",
        ),
        ("src/main.rs", "fn main() {}\n// TODO foo\n"),
        ("src/lib.rs", "pub fn foo() {}\n"),
        ("a.txt", "a\nb\nc\n"),
        ("b.txt", "a\nc\nd\n"),
        ("data.txt", "x:1:foo\ny:2:bar\n"),
        ("f", "1 2 3\n"),
    ] {
        std::fs::write(work.join(name), text).unwrap();
    }
    let git = |args: &[&str]| {
        let done = Command::new("git")
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@example.org",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(args)
            .current_dir(&work)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(done.unwrap().success(), "{args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    (root, work)
}

/// Every file with its content. Git keeps what it found out about files in its index, and may write that anew.
fn tree(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.insert(entry.path(), Vec::new());
            tree(&entry.path(), found);
        } else if entry.file_name() != "index" {
            found.insert(entry.path(), std::fs::read(entry.path()).unwrap());
        }
    }
}

/// Runs the lines one after the other in one confined shell; gives back what each said on its standard error.
fn run(level: Level, work: &Path, lines: &[String]) -> Vec<String> {
    const MARK: &str = "-- line --";
    let cell = Cell::new(Confinement::whole(level), work, &[], &[]).unwrap();
    let mut script = String::new();
    for line in lines {
        writeln!(script, "echo '{MARK}' >&2\n( {line}\n) </dev/null >/dev/null").unwrap();
    }
    let mut command = Command::new("bash");
    command
        .arg("-c")
        .arg(&script)
        .current_dir(work)
        .env("LC_ALL", "C");
    for (name, value) in cell.environment() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let done = cell
        .spawn(|| command.stdin(Stdio::null()).stdout(Stdio::null()).output())
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let said: Vec<String> = said.split(MARK).skip(1).map(str::to_owned).collect();
    assert_eq!(said.len(), lines.len(), "the shell stopped early");
    said
}

#[test]
fn thousands_of_lines_judged_low_change_nothing_and_are_refused_nothing() {
    let (_root, work) = workspace();
    let places = DiskPlaces::new(&work, None).unwrap();
    let lines = lines(&places);
    assert!(lines.len() > 2_000, "{}", lines.len());
    let mut before = BTreeMap::new();
    tree(&work, &mut before);
    // Both at once: neither may change anything.
    let refused = std::thread::scope(|scope| {
        scope.spawn(|| {
            for lines in lines.chunks(100) {
                run(Level::Workspace, &work, lines);
            }
        });
        let mut refused = Vec::new();
        for lines in lines.chunks(100) {
            for (line, said) in lines.iter().zip(run(Level::ReadOnly, &work, lines)) {
                let signs = [
                    "Permission denied",
                    "Operation not permitted",
                    "Read-only file system",
                ];
                if signs.iter().any(|sign| said.contains(sign)) {
                    refused.push(format!("{line}\n    {}", said.trim()));
                }
            }
        }
        refused
    });
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let mut after = BTreeMap::new();
    tree(&work, &mut after);
    let changed: Vec<_> = before
        .iter()
        .filter(|(path, text)| after.get(*path) != Some(text))
        .map(|(path, _)| path)
        .chain(after.keys().filter(|path| !before.contains_key(*path)))
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
}

/// The programs that git starts for a line.
fn started(work: &Path, line: &str) -> Vec<String> {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let done = Command::new("bash")
        .args(["-c", line])
        .current_dir(work)
        .env("HOME", work)
        .env("GIT_TRACE2_EVENT", trace.path())
        .output();
    let done = done.unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{line}: {said}");
    let events = std::fs::read_to_string(trace.path()).unwrap();
    assert!(
        events.contains(r#""event":"start""#),
        "{line}: git was not traced"
    );
    let is_child = |event: &&str| event.contains(r#""event":"child_start""#);
    events.lines().filter(is_child).map(str::to_owned).collect()
}

/// Attributes only name drivers. What a driver runs is in the configuration, which inspection reads; git's own drivers run nothing.
#[test]
fn attributes_that_name_drivers_run_nothing_until_the_configuration_has_an_entry_for_them() {
    const LINES: [&str; 6] = [
        "git status",
        "git diff",
        "git log -p",
        "git show HEAD:a.txt",
        "git blame a.txt",
        "git grep --textconv foo",
    ];
    // As `gitattributes(5)` lists them.
    const OWN: &str = "ada bash bibtex cpp csharp css dts elixir fortran fountain golang html java kotlin markdown matlab objc pascal \
                       perl php python ruby rust scheme tex";
    let (_root, work) = workspace();
    let mut attributes =
        "*.txt filter=evil diff=evil merge=evil text working-tree-encoding=UTF-8 ident\n".to_owned();
    for driver in OWN.split_whitespace() {
        std::fs::write(work.join(format!("of.{driver}")), "foo\n").unwrap();
        writeln!(attributes, "of.{driver} diff={driver} filter={driver}").unwrap();
    }
    std::fs::write(work.join(".gitattributes"), attributes).unwrap();
    let commit = "git add . && git -c user.name=a -c user.email=a@example.org commit -qm second";
    started(&work, commit);
    std::fs::write(work.join("a.txt"), "changed foo\n").unwrap();
    std::fs::write(work.join("of.rust"), "changed foo\n").unwrap();
    let risk = |line: &str| {
        let mut found = Analysis::nothing();
        shell::analyse(line, &DiskPlaces::new(&work, None).unwrap(), &mut found);
        found.risk()
    };
    for line in LINES {
        assert_eq!(started(&work, line), [""; 0], "{line}");
        let is_low = risk(line) == Risk::Low;
        assert!(is_low || line.contains("--textconv"), "{line}");
    }
    let config = std::fs::read_to_string(work.join(".git/config")).unwrap();
    for (entry, line) in [
        ("[filter \"evil\"]\n\tclean = cat\n", "git diff"),
        ("[diff \"evil\"]\n\ttextconv = cat\n", "git diff"),
        ("[diff \"evil\"]\n\tcommand = true\n", "git diff"),
        ("[diff \"rust\"]\n\ttextconv = cat\n", "git diff of.rust"),
    ] {
        std::fs::write(work.join(".git/config"), format!("{config}{entry}")).unwrap();
        assert_ne!(started(&work, line), [""; 0], "{entry}");
        for line in LINES {
            assert_ne!(risk(line), Risk::Low, "{entry}{line}");
        }
    }
}
