//! `bash`: a command line in a shell of its own, with everything it starts. Ended together when its time is over.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::confine::{Confinement, Need, Writes};
use placet_core::evidence::Evidence;
use placet_core::ids::SessionId;
use placet_core::tool::{Category, Risk};
use serde_json::{Value, json};

use super::files::Workspace;
use super::jobs::Jobs;
use super::process::{End, Group};
use super::{Tool, object, text};
use crate::sandbox::{Guard, Sandbox};

/// How long a command may take when the model does not say.
const TIMEOUT_USUAL: Duration = Duration::from_mins(2);
/// How long it may take at most.
const TIMEOUT_MAX_SECONDS: u64 = 600;
/// How much of the output is kept: this much of the beginning, and as much of the end.
const HALF_BYTES_MAX: usize = 24 * 1024;

/// How long a purpose may be.
const PURPOSE_CHARS_MAX: usize = 200;

/// Runs command lines.
#[derive(Clone)]
pub struct Bash {
    workspace: Workspace,
    jobs: Jobs,
    /// Variables that commands do not get. What was once kept from them stays so.
    hidden: Arc<Mutex<BTreeSet<String>>>,
    sandbox: Sandbox,
}

impl Bash {
    pub(crate) const NAME: &'static str = "bash";

    /// Runs in this folder, and keeps what runs on in the background among these jobs.
    pub fn new(workspace: Workspace, jobs: Jobs, sandbox: Sandbox) -> Self {
        Self {
            sandbox,
            workspace,
            jobs,
            hidden: Arc::default(),
        }
    }

    /// Keeps these variables of the environment from commands: keys are for us, not for the agent.
    #[must_use]
    pub fn hiding(self, variables: impl IntoIterator<Item = String>) -> Self {
        self.hidden().extend(variables);
        self
    }

    fn hidden(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.hidden.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, line: &str, within: Option<(&Confinement, Risk)>) -> Result<Group, String> {
        let (cell, guard) = match within {
            Some((confinement, risk)) => {
                let cell = self.sandbox.cell(confinement)?;
                // Who approved a HIGH command knows that it changes such a file.
                let guards = risk < Risk::High && confinement.writes() == Writes::Workspace;
                let guard = guards
                    .then(|| Guard::new(self.workspace.root(), confinement))
                    .transpose();
                (
                    cell,
                    guard.map_err(|why| format!("nothing ran: {why}"))?.flatten(),
                )
            }
            None => (None, None),
        };
        Group::start(line, self.workspace.root(), &self.hidden(), cell, guard)
    }

    async fn run_line(
        &self,
        call: &ToolCall,
        within: Option<(&Confinement, Risk)>,
    ) -> Result<String, String> {
        let line = text(&call.args, "command")?;
        let wanted = call.args.get("timeoutSeconds").and_then(Value::as_u64);
        let wanted = wanted.map(Duration::from_secs);
        if call.args.get("background").and_then(Value::as_bool) == Some(true) {
            let start = || self.start(line, within);
            let id = self.jobs.add(&call.session, line, start, wanted)?;
            return Ok(format!(
                "running as `{id}`; read it with `bash_output`, end it with `kill_bash`"
            ));
        }
        let group = self.start(line, within)?;
        let timeout = wanted.unwrap_or(TIMEOUT_USUAL);
        let mut kept = Kept::default();
        let ended = group.follow(Some(timeout), |bytes| kept.push(bytes)).await;
        let sandboxed = ended.note().map_or(String::new(), |note| format!("\n{note}"));
        if ended.end.is_success() {
            return Ok(format!("{}{sandboxed}", kept.text()));
        }
        let note = match &ended.end {
            End::OutOfTime => format!("stopped after {} seconds", timeout.as_secs()),
            End::Itself(_) => ended.end.to_string(),
        };
        Err(format!("{}\n[{note}]{sandboxed}", kept.text()))
    }
}

/// The beginning and the end of an output, however long it is.
#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    bytes: usize,
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        let room = HALF_BYTES_MAX.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * HALF_BYTES_MAX {
            self.tail.drain(..self.tail.len() - HALF_BYTES_MAX);
        }
    }

    fn text(mut self) -> String {
        if self.tail.len() > HALF_BYTES_MAX {
            self.tail.drain(..self.tail.len() - HALF_BYTES_MAX);
        }
        let left_out = self.bytes - self.head.len() - self.tail.len();
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if left_out > 0 {
            let bytes = self.bytes;
            let _ = write!(text, "\n[{left_out} of {bytes} bytes are left out here]\n");
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }
}

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn description(&self) -> &'static str {
        "Runs a command line with bash in the workspace and returns what it prints. Nothing it starts outlives it. With \
         `background` it runs on as a job: read it with `bash_output`, end it with `kill_bash`. Commands may run confined: they \
         write only inside the workspace, read nothing of the home folder and have no network. A command that must do more says \
         so in `needs`, and what for in `purpose`; a person is asked then."
    }

    fn category(&self) -> Category {
        Category::Command
    }

    fn schema(&self) -> Value {
        let properties = json!({
            "command": { "type": "string", "minLength": 1 },
            "background": { "type": "boolean" },
            "timeoutSeconds": { "type": "integer", "minimum": 1, "maximum": TIMEOUT_MAX_SECONDS },
            "needs": { "type": "array", "items": { "enum": Need::ALL.map(Need::as_str) }, "minItems": 1, "uniqueItems": true },
            "purpose": { "type": "string", "minLength": 1, "maxLength": PURPOSE_CHARS_MAX },
        });
        object(&["command"], properties)
    }

    fn confinement(&self, call: &ToolCall) -> Option<Confinement> {
        self.sandbox.confinement(&call.args)
    }

    async fn run(&self, call: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        self.run_line(call, None).await
    }

    async fn run_within(
        &self,
        call: &ToolCall,
        _: &[Evidence],
        confinement: &Confinement,
        risk: Risk,
    ) -> Result<String, String> {
        self.run_line(call, Some((confinement, risk))).await
    }

    fn reload(&self, config: &Config) {
        // A name that is not text is no setting, and no secret's.
        let environment = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        self.hidden().extend(config.own_variables(environment));
        self.sandbox.reload(config);
    }

    fn end_session(&self, session: &SessionId) {
        self.jobs.end_session(session);
    }

    fn shut_down(&self) {
        self.jobs.end_all();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::sandbox::Support;
    use crate::tools::a_call;

    fn bash(folder: &Path) -> Bash {
        let sandbox = Sandbox::new(folder, Support::probe());
        Bash::new(Workspace::new(folder), Jobs::default(), sandbox)
    }

    async fn run(args: Value) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        bash(folder.path()).run(&a_call("bash", args), &[]).await
    }

    #[tokio::test]
    async fn what_is_printed_comes_back_in_order_and_a_failure_says_so() {
        assert_eq!(
            run(json!({"command": "echo a; echo b >&2; echo c"}))
                .await
                .unwrap(),
            "a\nb\nc\n"
        );
        let failed = run(json!({"command": "echo oops; exit 3"})).await.unwrap_err();
        assert_eq!(failed, "oops\n\n[exit status: 3]");
    }

    #[tokio::test]
    async fn a_command_that_takes_too_long_ends_with_everything_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let late = folder.path().join("late");
        let line = format!("echo begun; (sleep 3; touch {}) & sleep 60", late.display());
        let call = a_call("bash", json!({"command": line, "timeoutSeconds": 1}));
        let stopped = bash(folder.path()).run(&call, &[]).await.unwrap_err();
        assert!(stopped.starts_with("begun\n") && stopped.contains("stopped after 1 seconds"));
        let gone = std::process::Command::new("pgrep")
            .args(["-f", &line])
            .output()
            .unwrap();
        assert!(gone.stdout.is_empty(), "something is still running");
        assert!(!late.exists());
    }

    #[tokio::test]
    async fn a_background_job_neither_outlives_the_command_nor_keeps_it_waiting() {
        let started = std::time::Instant::now();
        assert_eq!(
            run(json!({"command": "sleep 50 & echo done"})).await.unwrap(),
            "done\n"
        );
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[tokio::test]
    async fn a_long_output_keeps_its_beginning_and_its_end_and_says_what_is_left_out() {
        let long = run(json!({"command": "seq 1 100000"})).await.unwrap();
        assert!(long.starts_with("1\n2\n") && long.ends_with("100000\n"));
        assert!(long.contains("bytes are left out here"));
        assert!(long.len() < 3 * HALF_BYTES_MAX);
    }

    #[tokio::test]
    async fn a_hidden_variable_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let call = a_call("bash", json!({"command": "echo \"[$PATH]\""}));
        let bash = bash(folder.path()).hiding(["CARGO_MANIFEST_DIR".to_owned()]);
        assert!(bash.run(&call, &[]).await.unwrap().len() > 3);
        let call = a_call("bash", json!({"command": "echo \"[$CARGO_MANIFEST_DIR]\""}));
        assert_eq!(bash.run(&call, &[]).await.unwrap(), "[]\n");
    }
    #[tokio::test]
    async fn what_a_new_configuration_keeps_to_itself_is_kept_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let bash = bash(folder.path());
        let call = a_call("bash", json!({"command": "echo \"[$CARGO_MANIFEST_DIR]\""}));
        assert_ne!(bash.run(&call, &[]).await.unwrap(), "[]\n");
        let file = "[server.tokens]\nadmin = 'env:CARGO_MANIFEST_DIR'\n";
        bash.reload(
            &Config::parse(file, "placet.toml", std::iter::empty(), placet_inspect::builtin()).unwrap(),
        );
        assert_eq!(bash.run(&call, &[]).await.unwrap(), "[]\n");
        // A token that was in force may be so again.
        bash.reload(&Config::builtin(placet_inspect::builtin()));
        assert_eq!(bash.run(&call, &[]).await.unwrap(), "[]\n");
    }
}
