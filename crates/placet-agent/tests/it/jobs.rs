//! Background jobs: whose they are, what is read of them, and that they end.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use placet_agent::Tools;
use placet_agent::tools::Tool;
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::ids::SessionId;
use placet_core::policy::Mode;
use placet_core::tool::{Category, OwnOpinion};
use placet_core::verdict::Step;
use placet_engine::toolbox::Toolbox as _;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{House, calls, last, on, question, rest, says, session, soon};

/// Makes a helper of this test program, and names the folder it works in.
const HELPER: &str = "PLACET_TEST_JOBS_HELPER";

fn call(tool: &str, session: &str, args: &Value) -> ToolCall {
    let call = json!({
        "id": "c", "tool": tool, "args": args, "session": session, "origin": { "agent": "placet" },
    });
    serde_json::from_value(call).unwrap()
}

async fn run(tools: &Tools, tool: &str, session: &str, args: Value) -> Result<String, String> {
    tools
        .get(tool)
        .unwrap()
        .run(&call(tool, session, &args), &[])
        .await
}

/// Starts a job and returns its name.
async fn start(tools: &Tools, session: &str, line: &str) -> String {
    let told = run(
        tools,
        "bash",
        session,
        json!({ "command": line, "background": true }),
    )
    .await
    .unwrap();
    told.split('`').nth(1).unwrap().to_owned()
}

async fn read(tools: &Tools, session: &str, id: &str) -> Result<String, String> {
    run(
        tools,
        "bash_output",
        session,
        json!({ "id": id, "waitSeconds": 60 }),
    )
    .await
}

/// Whether the process is there. One that has ended and was not waited for is not.
fn is_running(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Waits until a process is gone; what signals kill is gone soon.
async fn gone(process: &str) {
    let waiting = async {
        while is_running(process) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting)
        .await
        .unwrap_or_else(|_| panic!("{process} is still there"));
}

#[tokio::test]
async fn a_job_is_read_piece_by_piece_and_says_how_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::builtin(folder.path());
    let id = start(
        &tools,
        "s",
        "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3",
    )
    .await;
    assert_eq!(read(&tools, "s", &id).await.unwrap(), "one\n[it is running]");
    let nothing = run(&tools, "bash_output", "s", json!({ "id": id }))
        .await
        .unwrap();
    assert_eq!(nothing, "[nothing new; it is running]");
    std::fs::write(folder.path().join("go"), "").unwrap();
    let mut told = read(&tools, "s", &id).await.unwrap();
    if !told.contains("ended") {
        told.push_str(&read(&tools, "s", &id).await.unwrap());
    }
    assert!(
        told.starts_with("two\n") && told.ends_with("[it has ended: exit status: 3]"),
        "{told}"
    );
}

#[tokio::test]
async fn a_flood_of_output_is_kept_within_bounds_and_says_what_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::builtin(folder.path());
    let id = start(&tools, "s", "seq 1 200000; touch done; sleep 600").await;
    while !folder.path().join("done").exists() {
        tokio::task::yield_now().await;
    }
    let told = read(&tools, "s", &id).await.unwrap();
    assert!(told.len() < 64 * 1024);
    assert!(
        told.contains("were printed before this and not kept"),
        "{}",
        &told[..100]
    );
    assert!(told.ends_with("bytes more are waiting; read again]"));
    assert!(run(&tools, "kill_bash", "s", json!({ "id": id })).await.is_ok());
}

#[tokio::test]
async fn a_job_is_its_sessions_alone_and_ends_with_everything_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::builtin(folder.path());
    let id = start(&tools, "s", "sleep 600 & echo $!; wait").await;
    let child = read(&tools, "s", &id)
        .await
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .to_owned();
    for tool in ["bash_output", "kill_bash"] {
        let refused = run(&tools, tool, "other", json!({ "id": id })).await.unwrap_err();
        assert!(refused.contains("there is no job"), "{refused}");
        assert!(
            !refused.contains("sleep"),
            "another session's jobs are not shown: {refused}"
        );
    }
    assert!(is_running(&child));
    let killed = run(&tools, "kill_bash", "s", json!({ "id": id })).await.unwrap();
    assert!(killed.contains("[it has ended: signal: 9"), "{killed}");
    gone(&child).await;
}

#[tokio::test]
async fn a_session_may_end_its_own_job_unasked_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::builtin(folder.path());
    let id = start(&tools, "s", "sleep 600").await;
    for (session, id, opinion) in [
        ("s", id.as_str(), OwnOpinion::NotNeeded),
        ("other", id.as_str(), OwnOpinion::Silent),
        ("s", "job-000000", OwnOpinion::Silent),
    ] {
        let kill = call("kill_bash", session, &json!({ "id": id }));
        assert_eq!(
            tools.opinion(&kill, Mode::Default).await,
            opinion,
            "{session} {id}"
        );
    }
}

#[tokio::test]
async fn what_a_tool_says_of_its_own_call_counts_only_where_nothing_stricter_speaks() {
    let rule = "[[rules]]\nname = 'ask first'\ntool = 'kill_bash'\neffect = 'ask'\n";
    for (config, step) in [
        ("", Step::OwnOpinion),
        ("[approval]\nstrict = true\n", Step::Strict),
        (rule, Step::Rule),
    ] {
        let house = House::new();
        let tools = Tools::builtin(&house.work());
        let home = house.open_as(config, tools.clone(), json!([says("Well.")])).await;
        let id = start(&tools, "s", "sleep 600").await;
        let kill = call("kill_bash", "s", &json!({ "id": id }));
        let (verdict, _) = home.engine.gate().check(kill).await.unwrap();
        assert_eq!(verdict.step, step);
        home.close().await;
    }
}

#[tokio::test]
async fn only_so_many_jobs_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Tools::builtin(folder.path());
    for _ in 0..8 {
        start(&tools, "s", "sleep 600").await;
    }
    let refused = run(
        &tools,
        "bash",
        "s",
        json!({ "command": "true", "background": true }),
    )
    .await;
    assert!(refused.unwrap_err().contains("8 jobs are running already"));
    start(&tools, "other", "sleep 600").await;
}

/// The whole way: the job needs approval, its output and its end are not.
#[tokio::test]
async fn a_job_ends_when_the_agent_stops() {
    let house = House::new();
    let line = json!({ "command": "echo $$ > pid; exec sleep 600", "background": true });
    let home = house
        .open(json!([
            calls(&[("bash", line)]),
            on("running as", says("It runs."))
        ]))
        .await;
    let mut stream = home.say("Start the server").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "It runs.");
    let process = loop {
        match house.file("pid") {
            Some(process) if process.ends_with('\n') => break process,
            _ => tokio::task::yield_now().await,
        }
    };
    assert!(is_running(&process));
    home.close().await;
    gone(&process).await;
}

/// A tool that begins something in the background just when its session has ended.
#[derive(Default)]
struct Late {
    begun: Notify,
    ended: Notify,
    running: AtomicBool,
}

#[async_trait]
impl Tool for Late {
    fn name(&self) -> &'static str {
        "late"
    }

    fn description(&self) -> &'static str {
        "Begins something."
    }

    fn category(&self) -> Category {
        Category::Read
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn run(&self, _: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        self.begun.notify_one();
        self.ended.notified().await;
        self.running.store(true, Ordering::SeqCst);
        Ok("running".into())
    }

    fn end_session(&self, _: &SessionId) {
        self.running.store(false, Ordering::SeqCst);
        self.ended.notify_one();
    }
}

#[tokio::test]
async fn what_is_begun_while_the_session_ends_ends_with_it() {
    let house = House::new();
    let late = Arc::new(Late::default());
    let tools = Tools::builtin(&house.work()).with([Arc::clone(&late) as Arc<dyn Tool>]);
    let config = "[tools.late]\ncategory = 'read'\n";
    let home = house
        .open_as(config, tools, json!([calls(&[("late", json!({}))])]))
        .await;
    let mut stream = home.say("Begin").await;
    soon(late.begun.notified()).await;
    home.engine
        .broker()
        .end_session(&session("s"), "lin")
        .await
        .unwrap();
    assert_eq!(last(&rest(&mut stream).await, "COMPLETED")["how"], "terminated");
    assert!(!late.running.load(Ordering::SeqCst));
    home.close().await;
}

/// What [`nothing_survives_a_kill_9_of_placet`] starts: a process with a job in the background and a command in the foreground.
#[test]
fn jobs_helper() {
    let Some(folder) = std::env::var_os(HELPER) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let tools = Tools::builtin(Path::new(&folder));
        // A pipe tells when both are there.
        start(
            &tools,
            "s",
            "(sleep 600 & echo background $! > line; exec sleep 600)",
        )
        .await;
        let line = "sleep 600 & echo foreground $! > line; wait";
        run(
            &tools,
            "bash",
            "s",
            json!({ "command": line, "timeoutSeconds": 600 }),
        )
        .await
        .unwrap();
    });
}

#[tokio::test]
async fn nothing_survives_a_kill_9_of_placet() {
    let folder = tempfile::tempdir().unwrap();
    let line = folder.path().join("line");
    assert!(Command::new("mkfifo").arg(&line).status().unwrap().success());
    let mut helper = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "jobs::jobs_helper", "--nocapture", "--test-threads=1"])
        .env(HELPER, folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Open for writing, too: so it has no end before both have written.
    let told = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&line)
        .unwrap();
    let told = BufReader::new(told).lines().take(2);
    let started: Vec<String> = told.map(|line| line.unwrap()).collect();
    let processes: Vec<&str> = started
        .iter()
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    assert!(processes.iter().all(|process| is_running(process)), "{started:?}");
    helper.kill().unwrap();
    helper.wait().unwrap();
    for process in processes {
        gone(process).await;
    }
}
