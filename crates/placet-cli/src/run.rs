//! `placet run`: the built-in agent, for scripts. Does a task and says how it ended; a run that waits for people is left in the
//! store, and `--resume` goes on with it.

use std::path::Path;

use anyhow::{Context as _, bail};
use placet_agent::chat::What;
use placet_agent::{Agent, Rest};
use placet_channels::terminal::Seat;
use placet_core::config::{Config, Workflow};
use placet_core::ids::{AgentId, IdError, PersonId, SessionId};
use placet_core::render::SafeText;
use placet_core::run::RunEnd;
use placet_engine::Engine;
use placet_server::builtin;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio_util::task::AbortOnDropHandle;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::{config_file, output, store};

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    let config = config_file::load(args.store.config.as_deref())?.config;
    Runtime::new()?.block_on(work(args, config))
}

async fn work(args: &RunArgs, config: Config) -> anyhow::Result<Exit> {
    let workflow = match &args.workflow {
        Some(named) => Some(workflow(&config, named)?),
        None => None,
    };
    let named = args
        .model
        .as_deref()
        .or(workflow.as_ref().and_then(|workflow| workflow.model.as_deref()));
    let model = builtin::model(&config, named)?;
    // A run that is resumed may have begun with another one.
    let others = builtin::other_models(&config, model.name());
    let person = Seat::of_user(&config.people)?.person;
    let path = store::path(&args.store)?;
    let data = path.parent().unwrap_or(Path::new("."));
    if let Some(warning) = builtin::sandbox(&config).warning() {
        output::warn(&warning);
    }
    let (tools, limits) = (builtin::all_tools(&config, data).await?, config.agent.limits);
    let elsewhere: Vec<_> = builtin::channels_elsewhere(&config).collect();
    let engine = Engine::builder(config)
        .channels_elsewhere(elsewhere)
        .toolbox(AgentId::built_in(), tools.clone())
        .start(&path)
        .await
        .with_context(|| format!("the store `{}` cannot be opened", path.display()))?;
    // Whatever else waits in the store belongs to other folders, other people or another day.
    let builder = Agent::builder(engine.clone(), tools)
        .model(model)
        .limits(limits)
        .resuming_nothing();
    let agent = others
        .into_iter()
        .fold(builder, placet_agent::Builder::model)
        .start()
        .await?;
    let session = session(args)?;
    let watching = watch(&agent, &session).await?;
    begin(args, &agent, &session, &person, workflow.as_ref()).await?;
    let rest = agent.rest(&session).await?;
    drop(watching);
    agent.shutdown().await;
    engine.shutdown().await?;
    report(args, &session, &rest)
}

/// Says on standard error when the model is asked again: whoever waits knows what for.
async fn watch(agent: &Agent, session: &SessionId) -> anyhow::Result<AbortOnDropHandle<()>> {
    let mut stream = agent.chat().listen(session).await?;
    let watching = tokio::spawn(async move {
        while let Ok(Some(event)) = stream.next().await {
            if let What::BeginsAgain { why, .. } = event.what {
                output::warn(&format!("{why}; trying again"));
            }
        }
    });
    Ok(AbortOnDropHandle::new(watching))
}

/// The session to work in.
fn session(args: &RunArgs) -> Result<SessionId, IdError> {
    match args.resume.as_ref().or(args.session.as_ref()) {
        Some(session) => Ok(session.clone()),
        None => SessionId::new(format!("run_{}", uuid::Uuid::now_v7().simple())),
    }
}

/// Begins a run, or goes on with one.
async fn begin(
    args: &RunArgs,
    agent: &Agent,
    session: &SessionId,
    person: &PersonId,
    workflow: Option<&Workflow>,
) -> anyhow::Result<()> {
    if args.resume.is_some() {
        return match agent.owner(session).await? {
            Some(owner) if owner == *person => Ok(agent.resume(session).await?),
            _ => bail!("there is no run `{session}` of yours"),
        };
    }
    let task = args.task.as_deref();
    if let Some(workflow) = workflow {
        let begun = agent.start_workflow(session, workflow, task, person, None);
        return Ok(begun.await?);
    }
    let task = task.context("say what is to be done")?;
    agent.tell(session, task, person, None).await?;
    Ok(())
}

/// Reads a workflow: one of the configuration by its name, else a file.
fn workflow(config: &Config, named: &str) -> anyhow::Result<Workflow> {
    let path = config.workflows.get(named).map_or(named, String::as_str);
    let text = std::fs::read_to_string(path).with_context(|| {
        let listed: Vec<&str> = config.workflows.keys().map(String::as_str).collect();
        let known = if listed.is_empty() {
            "none".to_owned()
        } else {
            listed.join(", ")
        };
        format!("there is no workflow `{named}`: `{path}` cannot be read, and `[workflows]` names {known}")
    })?;
    Ok(Workflow::parse(&text, path)?)
}

fn report(args: &RunArgs, session: &SessionId, rest: &Rest) -> anyhow::Result<Exit> {
    let (state, text, questions, exit) = match rest {
        Rest::Never => bail!("nothing was begun in `{session}`"),
        Rest::Parked { questions } => ("parked", String::new(), questions.as_slice(), Exit::Parked),
        Rest::Ended { how, text } => {
            let exit = match how {
                RunEnd::Completed => Exit::Success,
                RunEnd::Terminated { .. } | RunEnd::Interrupted { .. } => Exit::Terminated,
                RunEnd::Failed { .. } | RunEnd::LimitReached { .. } | RunEnd::TimedOut => Exit::Findings,
            };
            let text = if *how == RunEnd::Completed {
                text.clone()
            } else {
                how.to_string()
            };
            (how.name(), text, [].as_slice(), exit)
        }
    };
    if args.json {
        let report = json!({ "sessionId": session, "state": state, "text": text, "requestIds": questions });
        output::print(&format!("{report}\n"))?;
        return Ok(exit);
    }
    if questions.is_empty() {
        output::print(&format!("{}\n", SafeText::block(&text)))?;
        return Ok(exit);
    }
    let waits: Vec<String> = questions.iter().map(ToString::to_string).collect();
    output::print(&format!(
        "{session} waits for people: {}\nAnswer with `placet inbox`, then `placet run --resume {session}`.\n",
        waits.join(", ")
    ))?;
    Ok(exit)
}
