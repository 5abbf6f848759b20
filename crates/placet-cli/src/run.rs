//! `placet run`: the built-in agent, for scripts. Does a task and says how it ended. A run that needs an approval stays in the
//! store, and `--resume` continues it; with `--wait` the command waits for the approval itself.
//!
//! The run happens in the owner of the store: the process that serves it, or this one. It belongs to the folder it was started
//! in, so an owner that works in another folder refuses it.

use std::time::Duration;

use anyhow::{Context as _, bail};
use placet_channels::terminal::TerminalUser;
use placet_client::events::Events;
use placet_client::{Client, Error, Heard};
use placet_core::config::Config;
use placet_core::ids::{IdError, SessionId};
use placet_core::interaction::Locale;
use placet_core::messages::{cannot, policy_file, refused, run};
use placet_core::render::SafeText;
use placet_core::wire::run::{NewRun, RunBody};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::owner::{Reach, workspace};
use crate::wiring::Work;
use crate::{config_file, locale, output, store};

/// How long one request waits for a run to come to rest.
const WAIT_SECONDS: u32 = 60;
/// How long the last events of a run may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let config = config_file::load(args.store.config.as_deref())?.config;
    Runtime::new()?.block_on(work(args, config))
}

async fn work(args: &RunArgs, config: Config) -> anyhow::Result<Exit> {
    let workflow = match &args.workflow {
        Some(named) => Some(Workflow::read(&config, named)?),
        None => None,
    };
    let model = args
        .model
        .clone()
        .or_else(|| workflow.as_ref().and_then(|workflow| workflow.model.clone()));
    let session = session(args)?;
    let run = NewRun {
        task: args.task.clone(),
        session_id: Some(session.clone()),
        workspace: workspace(&config),
        workflow: workflow.as_ref().map(|workflow| workflow.path.clone()),
        workflow_text: workflow.map(|workflow| workflow.text),
    };
    if run.workflow.is_none() && run.task.is_none() && args.resume.is_none() {
        bail!(locale::error(&run::no_task()));
    }
    let reach = Reach {
        place: store::place(&args.store, &config)?,
        person: TerminalUser::of_user(&config.people)?.person,
        work: Work::Asked { model: model.clone() },
        config,
    };
    let owner = reach.owner_with_agent(model.as_deref()).await?;
    owner.warn_of_missing_sandbox(&reach.config);
    let locale = reach.config.locale(None);
    let came_to = until_rest(&owner.client, args, &run, &session, locale).await;
    owner.close().await?;
    report(args, &came_to?, locale)
}

/// Starts or continues a run, and waits until it has ended or needs an approval; with `--wait`, until it has ended.
async fn until_rest(
    client: &Client,
    args: &RunArgs,
    run: &NewRun,
    session: &SessionId,
    locale: Locale,
) -> anyhow::Result<RunBody> {
    if !args.allow.is_empty() {
        client.allow_tools(session, args.allow.clone()).await?;
    }
    let begun = match &args.resume {
        Some(session) => client.resume_run(session).await,
        None => client.begin_run(run).await,
    };
    let watching = tokio::spawn(watch(begun?));
    let mut announced = Vec::new();
    let came_to = loop {
        let run = or_resume(client.run(session, WAIT_SECONDS).await, session, locale)?;
        let pending = run
            .request_ids
            .first()
            .filter(|_| args.wait && run.state == "parked");
        match pending {
            Some(id) => {
                if announced != run.request_ids {
                    announced.clone_from(&run.request_ids);
                    output::warn(&run::waiting(&run.request_ids).say(locale));
                }
                or_resume(client.settled(id).await, session, locale)?;
            }
            None if run.state == "running" => {}
            None => break run,
        }
    };
    if came_to.state == "parked" {
        watching.abort();
    }
    // The stream of a run ends with it; what it said before is on the screen by then.
    let _ = tokio::time::timeout(LAST_WORDS, watching).await;
    Ok(came_to)
}

/// What the owner of the store answered. When it has ended, the error says how to continue.
fn or_resume<T>(answered: Result<T, Error>, session: &SessionId, locale: Locale) -> anyhow::Result<T> {
    match answered {
        Err(error @ (Error::Lost(_) | Error::NotRunning { .. })) => {
            Err(error).with_context(|| run::owner_gone(session).say(locale))
        }
        answered => Ok(answered?),
    }
}

/// Says on standard error when the model is asked again, so that a silence has its reason.
async fn watch(mut events: Events) {
    while let Ok(Some(heard)) = events.heard().await {
        if let Heard::BeginsAgain { why } = heard {
            output::warn(&format!("{why}; trying again"));
        }
    }
}

/// The session to work in.
fn session(args: &RunArgs) -> Result<SessionId, IdError> {
    match args.resume.as_ref().or(args.session.as_ref()) {
        Some(session) => Ok(session.clone()),
        None => SessionId::new(format!("run_{}", uuid::Uuid::now_v7().simple())),
    }
}

/// A workflow as it is written.
struct Workflow {
    path: String,
    text: String,
    model: Option<String>,
}

impl Workflow {
    /// One of the configuration by its name, else a file.
    fn read(config: &Config, named: &str) -> anyhow::Result<Self> {
        let path = config.workflows.get(named).map_or(named, String::as_str);
        let text = std::fs::read_to_string(path).with_context(|| {
            let listed: Vec<&str> = config.workflows.keys().map(String::as_str).collect();
            let known = if listed.is_empty() {
                locale::say(&policy_file::none())
            } else {
                listed.join(", ")
            };
            locale::say(&cannot::read_workflow(known, named, path))
        })?;
        let model = placet_core::config::Workflow::parse(&text, path)?.model;
        Ok(Self {
            path: path.to_owned(),
            text,
            model,
        })
    }
}

fn report(args: &RunArgs, run: &RunBody, locale: Locale) -> anyhow::Result<Exit> {
    let RunBody {
        session_id,
        state,
        text,
        request_ids,
        ..
    } = run;
    let exit = match state.as_str() {
        "parked" => Exit::Parked,
        "completed" => Exit::Success,
        "terminated" | "interrupted" => Exit::Terminated,
        "failed" | "limitReached" | "timedOut" => Exit::Findings,
        _ => bail!(locale::error(&refused::no_run(session_id))),
    };
    if args.json {
        let report =
            json!({ "sessionId": session_id, "state": state, "text": text, "requestIds": request_ids });
        output::print(&format!("{report}\n"))?;
        return Ok(exit);
    }
    if request_ids.is_empty() {
        output::print(&format!("{}\n", SafeText::block(text)))?;
        return Ok(exit);
    }
    output::print(&run::parked(request_ids, session_id).say(locale))?;
    Ok(exit)
}
