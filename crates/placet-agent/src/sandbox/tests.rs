//! Real commands in real sandboxes.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use placet_core::confine::Need;
use placet_core::tool::Risk;
use serde_json::{Value, json};

use super::*;
use crate::tools::{Bash, BashOutput, Jobs, Tool as _, Workspace, a_call};

/// A workspace, and a folder outside it that the agent must not reach.
struct House {
    _root: TempDir,
    work: PathBuf,
    outside: PathBuf,
    jobs: Jobs,
    bash: Bash,
}

fn house_with(support: Support, config: &str) -> House {
    let root = tempfile::tempdir().unwrap();
    let real = std::fs::canonicalize(root.path()).unwrap();
    let (work, outside) = (real.join("work"), real.join(".ssh"));
    std::fs::create_dir(&work).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("id_ed25519"), "hunter2").unwrap();
    let jobs = Jobs::default();
    let bash = Bash::new(Workspace::new(&work), jobs.clone(), Sandbox::new(&work, support));
    bash.reload(
        &Config::parse(
            config,
            "placet.toml",
            std::iter::empty(),
            placet_inspect::builtin(),
        )
        .unwrap(),
    );
    House {
        _root: root,
        work,
        outside,
        jobs,
        bash,
    }
}

fn house() -> House {
    house_with(Support::Full, "")
}

/// A call of `bash` with more arguments than its line.
fn call(line: &str, more: &Value) -> placet_core::call::ToolCall {
    let mut args = more.clone();
    args["command"] = line.into();
    a_call("bash", args)
}

impl House {
    fn secret(&self) -> String {
        self.outside.join("id_ed25519").display().to_string()
    }

    /// Runs a line as the agent does: under what it promises.
    async fn run_as(&self, line: &str, more: Value, risk: Risk) -> Result<String, String> {
        let call = call(line, &more);
        let promised = self.bash.confinement(&call).unwrap();
        self.bash.run_within(&call, &[], &promised, risk).await
    }

    async fn run(&self, line: &str) -> Result<String, String> {
        self.run_as(line, json!({}), Risk::Medium).await
    }
}

#[test]
fn this_kernel_confines() {
    assert_eq!(Support::probe(), Support::Full);
}

#[tokio::test]
async fn a_confined_command_writes_inside_the_workspace_and_nowhere_else() {
    let house = house();
    house
        .run("mkdir -p a/b && echo x > a/b/c && mv a/b/c d && cat d")
        .await
        .unwrap();
    assert_eq!(std::fs::read_to_string(house.work.join("d")).unwrap(), "x\n");
    let secret = house.secret();
    for line in [
        format!("echo x > {}/new", house.outside.display()),
        format!("echo x > {secret}"),
        format!("truncate -s 0 {secret}"),
        format!("rm {secret}"),
        format!("mv {secret} ."),
        format!("ln -s {secret} link && echo x > link"),
        format!("ln {secret} hard"),
        format!("mkdir {}/new", house.outside.display()),
        "echo x > /tmp/placet-was-here".to_owned(),
        "mknod disk b 8 0".to_owned(),
        // Children inherit it.
        format!("bash -c 'sh -c \"echo x > {secret}\"'"),
        format!("(setsid sh -c 'echo x > {secret}')"),
    ] {
        let refused = house.run(&line).await.unwrap_err();
        assert!(refused.contains("ran confined"), "{line}: {refused}");
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "hunter2");
    assert_eq!(std::fs::read_dir(&house.outside).unwrap().count(), 1);
    assert!(!Path::new("/tmp/placet-was-here").exists());
}

#[tokio::test]
async fn a_confined_command_reads_the_system_and_not_the_home_folder() {
    let house = house();
    house
        .run("ls /usr/bin > /dev/null && cat /etc/passwd | head -1 && nproc")
        .await
        .unwrap();
    let home = std::env::home_dir().unwrap();
    for line in [
        format!("cat {}", house.secret()),
        format!("ln -s {} link && cat link", house.secret()),
        format!("cat /proc/self/root{}", house.secret()),
        format!("ls {}", home.display()),
        format!("ls {}", std::env::temp_dir().display()),
    ] {
        let refused = house.run(&line).await.unwrap_err();
        assert!(refused.contains("Permission denied"), "{line}: {refused}");
        assert!(!refused.contains("hunter2"), "{line}: {refused}");
    }
}

#[tokio::test]
async fn a_confined_command_reaches_no_process_outside() {
    let house = house();
    let us = std::process::id();
    for line in [
        format!("cat /proc/{us}/environ"),
        format!("cat /proc/{us}/maps"),
        format!("readlink /proc/{us}/cwd"),
        format!("cat /proc/{us}/root{}", house.secret()),
        format!("kill -0 {us}"),
        format!("kill -CONT {us}"),
    ] {
        assert!(house.run(&line).await.is_err(), "{line}");
    }
    // Its own processes are its own business.
    house
        .run("sleep 60 & kill $!; wait $!; test $? = 143")
        .await
        .unwrap();
}

const CONNECT: &str =
    "python3 -c 'import socket,sys; socket.create_connection((\"127.0.0.1\", int(sys.argv[1])))'";
const UNIX: &str = "python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])'";

#[tokio::test]
async fn a_confined_command_has_no_network_until_it_asks_for_it() {
    let house = house();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let daemon = house.work.join("daemon.sock");
    let unix = UnixListener::bind(&daemon).unwrap();
    unix.set_nonblocking(true).unwrap();
    let (connect, to_daemon) = (
        format!("{CONNECT} {port}"),
        format!("{UNIX} {}", daemon.display()),
    );
    let shell = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let netlink = "python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)'";
    for line in [&shell, &connect, &to_daemon, netlink] {
        let refused = house.run(line).await.unwrap_err();
        assert!(refused.contains("Permission denied"), "{line}: {refused}");
    }
    let nothing = std::io::ErrorKind::WouldBlock;
    assert_eq!(listener.accept().unwrap_err().kind(), nothing);
    assert_eq!(unix.accept().unwrap_err().kind(), nothing);
    let network = json!({ "needs": ["network"], "purpose": "a test" });
    house
        .run_as(&connect, network.clone(), Risk::Medium)
        .await
        .unwrap();
    listener.accept().unwrap();
    // A daemon of this machine is not the network.
    house
        .run_as(&to_daemon, network.clone(), Risk::Medium)
        .await
        .unwrap_err();
    let write = format!("echo x > {}", house.secret());
    house.run_as(&write, network, Risk::Medium).await.unwrap_err();
    // Who writes anywhere may talk to daemons, and still not to other machines.
    let outside = json!({ "needs": ["write outside"] });
    house
        .run_as(&connect, outside.clone(), Risk::Medium)
        .await
        .unwrap_err();
    house
        .run_as(&to_daemon, outside.clone(), Risk::Medium)
        .await
        .unwrap();
    house.run_as(&write, outside, Risk::Medium).await.unwrap();
    assert_eq!(std::fs::read_to_string(house.secret()).unwrap(), "x\n");
    let all = json!({ "needs": ["network", "write outside"] });
    house.run_as(&connect, all, Risk::Medium).await.unwrap();
}

#[tokio::test]
async fn a_command_in_the_background_is_confined_too_and_says_so_when_it_fails() {
    let house = house();
    let line = format!("cat {}", house.secret());
    let started = house
        .run_as(&line, json!({ "background": true }), Risk::Medium)
        .await;
    let started = started.unwrap();
    let id = started.split('`').nth(1).unwrap();
    let call = a_call("bash_output", json!({ "id": id, "waitSeconds": 30 }));
    let mut printed = String::new();
    while !printed.contains("exit status: 1") {
        printed += &BashOutput(house.jobs.clone()).run(&call, &[]).await.unwrap();
    }
    assert!(printed.contains("Permission denied"), "{printed}");
    assert!(printed.contains("ran confined"), "{printed}");
}

#[tokio::test]
async fn a_confined_command_has_a_folder_of_its_own_that_goes_with_it() {
    let house = house();
    let line = "echo x > \"$TMPDIR/x\" && echo y > ~/y && cat <<< z > /dev/null && python3 -c 'import tempfile; \
                tempfile.mkdtemp()' && echo \"$TMPDIR\"";
    let folder = house.run(line).await.unwrap();
    assert!(Path::new(folder.trim()).is_absolute());
    assert!(!Path::new(folder.trim()).parent().unwrap().exists());
}

#[tokio::test]
async fn ordinary_tools_work_confined() {
    let house = house();
    house.run("git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git status --short")
        .await
        .unwrap();
    house
        .run("python3 -c 'import json, subprocess; subprocess.run([\"true\"], check=True)'")
        .await
        .unwrap();
    house
        .run("diff <(echo a) <(echo a) && echo a | sort | tee out")
        .await
        .unwrap();
    let built = house
        .run("cargo new --vcs none hello 2>&1 && cd hello && cargo run --offline 2>&1")
        .await;
    assert!(built.unwrap().contains("Hello, world!"));
}

#[tokio::test]
async fn folders_of_the_configuration_are_readable_or_writable() {
    let more = tempfile::tempdir().unwrap();
    let more = std::fs::canonicalize(more.path()).unwrap();
    std::fs::create_dir_all(more.join("write")).unwrap();
    std::fs::write(more.join("x"), "told").unwrap();
    let config = format!(
        "[agent.sandbox]\nread = ['{}']\nwrite = ['{}']\n",
        more.display(),
        more.join("write").display()
    );
    let house = house_with(Support::Full, &config);
    let line = format!("cat {0}/x && echo x > {0}/write/y", more.display());
    assert_eq!(house.run(&line).await.unwrap(), "told");
    house
        .run(&format!("echo x > {}/x", more.display()))
        .await
        .unwrap_err();
    std::fs::remove_dir_all(&more).unwrap();
}

#[tokio::test]
async fn a_read_only_sandbox_writes_nothing_but_its_own_folder() {
    let house = house_with(Support::Full, "[agent.sandbox]\nmode = 'read-only'\n");
    house.run("ls && echo x > \"$TMPDIR/x\"").await.unwrap();
    house.run("echo x > new").await.unwrap_err();
    let inside = json!({ "needs": ["write inside"] });
    house.run_as("echo x > new", inside, Risk::Medium).await.unwrap();
    assert!(house.work.join("new").exists());
}

#[tokio::test]
async fn guarded_files_are_put_back_unless_a_person_approved_a_command_that_changes_them() {
    let house = house();
    house
        .run("git init -q . && git add . && echo '[approval]' > keep")
        .await
        .unwrap();
    std::fs::write(house.work.join("placet.toml"), "[approval]\nstrict = true\n").unwrap();
    let config = std::fs::read_to_string(house.work.join(".git/config")).unwrap();
    let line = "echo evil > .git/hooks/post-commit; chmod +x .git/hooks/*; echo evil >> .git/config; rm placet.toml; \
                mkdir .vscode; echo evil > .vscode/tasks.json; echo fine > fine; git add fine";
    let told = house.run(line).await.unwrap();
    assert!(
        told.contains("`.git/config`") && told.contains("put back"),
        "{told}"
    );
    assert!(!house.work.join(".git/hooks/post-commit").exists());
    assert!(!house.work.join(".vscode").exists());
    assert_eq!(
        std::fs::read_to_string(house.work.join(".git/config")).unwrap(),
        config
    );
    let kept = std::fs::read_to_string(house.work.join("placet.toml")).unwrap();
    assert_eq!(kept, "[approval]\nstrict = true\n");
    assert_eq!(house.run("git status --short fine").await.unwrap(), "A  fine\n");
    let approved = house
        .run_as("git config user.name lin", json!({}), Risk::High)
        .await;
    approved.unwrap();
    assert!(
        std::fs::read_to_string(house.work.join(".git/config"))
            .unwrap()
            .contains("lin")
    );
}

#[tokio::test]
async fn guarded_files_below_the_top_are_put_back_too() {
    let house = house();
    let kept = [
        "sub/AGENTS.md",
        "a/b/.cargo/config.toml",
        ".github/workflows/ci.yml",
    ];
    for path in kept {
        let path = house.work.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "mine").unwrap();
    }
    std::fs::write(house.outside.join("AGENTS.md"), "theirs").unwrap();
    let line = "echo evil > sub/AGENTS.md; rm -r a; ln -s \"$OUTSIDE\" a; echo evil > .github/workflows/ci.yml
                echo evil > .github/workflows/new.yml; mkdir -p web/.cargo locked; echo evil > web/.cargo/config.toml
                echo evil > locked/CLAUDE.md; chmod 000 locked; mkdir fine; echo fine > fine/x";
    let line = format!("OUTSIDE={}; {line}", house.outside.display());
    let told = house.run(&line).await.unwrap();
    for path in kept {
        assert_eq!(
            std::fs::read_to_string(house.work.join(path)).unwrap(),
            "mine",
            "{path}"
        );
        assert!(told.contains(&format!("`{path}`")), "{told}");
    }
    for path in [
        ".github/workflows/new.yml",
        "web/.cargo/config.toml",
        "locked/CLAUDE.md",
    ] {
        assert!(!house.work.join(path).exists(), "{path}");
        assert!(told.contains(&format!("`{path}`")), "{told}");
    }
    assert_eq!(
        std::fs::read_to_string(house.work.join("fine/x")).unwrap(),
        "fine\n"
    );
    // What the link led to is as it was.
    let theirs = std::fs::read_dir(&house.outside).unwrap().count();
    assert_eq!((theirs, house.work.join("a").is_symlink()), (2, false));
}

#[tokio::test]
async fn a_store_in_the_workspace_is_not_put_back_over_what_placet_wrote_meanwhile() {
    let house = house();
    let (store, gate) = (house.work.join("data/placet.db"), house.work.join("gate"));
    std::fs::create_dir(house.work.join("data")).unwrap();
    std::fs::write(&store, "before").unwrap();
    let made = std::process::Command::new("mkfifo").arg(&gate).status().unwrap();
    assert!(made.success());
    // The pipe opens once the command reads from it.
    let placet = tokio::task::spawn_blocking({
        let store = store.clone();
        move || {
            let mut opened = std::fs::OpenOptions::new().write(true).open(gate).unwrap();
            std::fs::write(store, "after").unwrap();
            std::io::Write::write_all(&mut opened, b"go\n").unwrap();
        }
    });
    house.run("read line < gate").await.unwrap();
    placet.await.unwrap();
    assert_eq!(std::fs::read_to_string(store).unwrap(), "after");
}

#[tokio::test]
async fn packages_are_installed_only_by_a_command_that_asks_for_more() {
    let house = house();
    let line = "mkdir -p web/node_modules/.bin && echo x > web/node_modules/.bin/tsc";
    let told = house.run(line).await.unwrap();
    assert!(told.contains("`web/node_modules/.bin/tsc`"), "{told}");
    let installed = house.work.join("web/node_modules/.bin/tsc");
    assert!(!installed.exists());
    let network = json!({ "needs": ["network"] });
    house.run_as(line, network, Risk::Medium).await.unwrap();
    assert!(installed.exists());
}

#[tokio::test]
async fn a_workspace_that_is_too_large_to_guard_is_said_to_be_unguarded_and_its_commands_are_asked_about() {
    let house = house();
    let promised = house.bash.confinement(&call("true", &json!({}))).unwrap();
    assert_eq!(promised.needs, []);
    let many = house.work.join("sub/.vscode");
    std::fs::create_dir_all(&many).unwrap();
    for n in 0..2_000 {
        std::fs::write(many.join(n.to_string()), "").unwrap();
    }
    let too_many = house.bash.confinement(&call("true", &json!({}))).unwrap();
    assert_eq!(too_many.needs, [Need::Unguarded]);
    std::fs::remove_dir_all(&many).unwrap();
    std::fs::write(house.work.join("AGENTS.md"), vec![b'x'; 1024 * 1024 + 1]).unwrap();
    let unguarded = house.bash.confinement(&call("true", &json!({}))).unwrap();
    assert_eq!(unguarded.needs, [Need::Unguarded]);
    // What was promised when the workspace was smaller is kept, or nothing runs.
    let line = call("echo evil > AGENTS.md", &json!({}));
    let refused = house
        .bash
        .run_within(&line, &[], &promised, Risk::Medium)
        .await
        .unwrap_err();
    assert!(refused.contains("nothing ran"), "{refused}");
    house
        .bash
        .run_within(&line, &[], &unguarded, Risk::Medium)
        .await
        .unwrap();
    assert_eq!(
        std::fs::read_to_string(house.work.join("AGENTS.md")).unwrap(),
        "evil\n"
    );
}

#[tokio::test]
async fn where_the_kernel_cannot_or_the_operator_does_not_want_it_nothing_is_promised() {
    let missing = Support::Missing("no Landlock here".into());
    let house = house_with(missing.clone(), "");
    let call = call("true", &json!({ "needs": ["network"] }));
    assert_eq!(house.bash.confinement(&call), None);
    // A promise of another process, or of another day, is kept or nothing runs.
    let promised = Confinement::whole(Level::Workspace);
    let refused = house.bash.run_within(&call, &[], &promised, Risk::Medium).await;
    assert!(
        refused
            .unwrap_err()
            .contains("nothing ran: the sandbox cannot be set up: no Landlock here")
    );
    let off = house_with(Support::Full, "[agent.sandbox]\nmode = 'off'\n");
    assert_eq!(off.bash.confinement(&call), None);
    let warning = |support, config: &str| {
        let sandbox = Sandbox::new(Path::new("/"), support);
        sandbox.reload(
            &Config::parse(
                config,
                "placet.toml",
                std::iter::empty(),
                placet_inspect::builtin(),
            )
            .unwrap(),
        );
        sandbox.warning()
    };
    assert_eq!(warning(Support::Full, ""), None);
    assert!(warning(missing, "").unwrap().contains("no Landlock here"));
    assert!(
        warning(Support::Full, "[agent.sandbox]\nmode = 'off'\n")
            .unwrap()
            .contains("off")
    );
}

#[test]
fn a_call_that_asks_for_more_says_so_in_its_confinement() {
    let house = house();
    let call = call(
        "true",
        &json!({ "needs": ["write outside", "write inside", "network"], "purpose": "registry" }),
    );
    let promised = house.bash.confinement(&call).unwrap();
    assert_eq!(promised.needs, [Need::Network, Need::WriteOutside]);
    assert_eq!(promised.purpose.as_deref(), Some("registry"));
}
