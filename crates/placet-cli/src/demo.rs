//! `placet demo`: a scripted agent, and you decide. Real files, a real shell and a real database, in a folder that is gone
//! afterwards.
//!
//! | file | part |
//! |---|---|
//! | `script.rs` | what the agent does, scene by scene, and what `--yes` answers |
//! | `stage.rs` | the folder, its files and its database |
//! | `tools.rs` | the tools: how each runs, and what it can show beforehand |
//! | `house.rs` | the engine, with somebody at the terminal or a script instead |

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use placet_channels::terminal;
use placet_core::interaction::Locale;
use placet_core::render::SafeText;
use placet_engine::Finished;
use tokio::runtime::Runtime;

use crate::args::{AuditCommand, Color, DemoArgs, ListArgs, StoreArgs};
use crate::exit::Exit;
use crate::style::{self, paint};
use crate::{audit, output, store};

mod house;
mod script;
mod stage;
mod tools;

use house::{House, Who};
use script::{SCENES, Scene};
use stage::Stage;

/// How long the second process has to put its question before something is wrong.
const PUT_MAX: Duration = Duration::from_secs(30);

/// Runs the command.
pub(crate) fn run(args: &DemoArgs, color: Color) -> anyhow::Result<Exit> {
    let locale = if args.chinese {
        Locale::Chinese
    } else {
        Locale::English
    };
    let who = if args.yes {
        Who::Script
    } else {
        Who::Person { color }
    };
    let runtime = Runtime::new()?;
    if let Some(folder) = &args.doomed {
        let stage = Stage::at(folder);
        return runtime.block_on(wait_to_be_killed(&stage, who, locale));
    }
    if let Who::Person { .. } = who {
        terminal::attended().map_err(|why| anyhow!("{why}; `placet demo --yes` needs no terminal"))?;
        #[cfg(unix)]
        terminal::restore_on_signals()?;
    }
    let stage = Stage::build()?;
    output::print(&script::welcome(locale, &stage))?;
    runtime.block_on(play(&stage, who, locale))?;
    prove(&stage, locale)?;
    output::print(&script::farewell(locale, args.keep.then(|| stage.folder())))?;
    if args.keep {
        stage.keep();
    }
    Ok(Exit::Success)
}

async fn play(stage: &Stage, who: Who, locale: Locale) -> anyhow::Result<()> {
    for (number, scene) in SCENES.iter().enumerate() {
        output::print(&heading(number, scene, locale))?;
        if scene.killed {
            let killed = kill_while_it_waits(stage, who, locale).await?;
            output::print(&script::after_the_kill(locale, killed))?;
        }
        // A house for each scene: once it is closed nobody draws on the terminal any more, and it can be printed on.
        let house = House::open(stage, who, locale).await?;
        let finished = house.play(scene).await?;
        house.close().await?;
        output::print(&ending(&finished, locale))?;
        if matches!(&finished, Finished::NotRun(outcome) if outcome.status().as_str() == "terminated") {
            break;
        }
    }
    Ok(())
}

/// The last scene, begun by a second process that is killed as soon as its question is on disk. Returns its process id.
async fn kill_while_it_waits(stage: &Stage, who: Who, locale: Locale) -> anyhow::Result<u32> {
    let before = pending(stage.store()).await?;
    let mut second = Command::new(std::env::current_exe().context("this program cannot be found")?);
    second.arg("demo").arg("--doomed").arg(stage.folder());
    second.stdout(Stdio::null());
    if matches!(who, Who::Script) {
        second.arg("--yes");
    }
    if locale == Locale::Chinese {
        second.arg("--chinese");
    }
    let mut child = second.spawn().context("a second process cannot be started")?;
    let deadline = Instant::now() + PUT_MAX;
    let put = loop {
        if pending(stage.store()).await? > before {
            break Ok(());
        }
        if child.try_wait()?.is_some() || Instant::now() > deadline {
            break Err(anyhow::anyhow!("the second process put no question"));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    // SIGKILL: it gets no chance to tidy up.
    child.kill()?;
    child.wait()?;
    put.map(|()| child.id())
}

async fn pending(path: &Path) -> anyhow::Result<u64> {
    let store = store::read_only(&path.into()).await?;
    Ok(store.look(|stored| Ok(stored.counts(&())?.pending)).await?)
}

/// What the second process does: puts the last scene's question, and waits for an answer it will not live to see.
async fn wait_to_be_killed(stage: &Stage, who: Who, locale: Locale) -> anyhow::Result<Exit> {
    let house = House::open_unattended(stage, who, locale).await?;
    let Some(scene) = SCENES.iter().find(|scene| scene.killed) else {
        bail!("no scene is made for this");
    };
    house.propose(scene).await?;
    // Nobody reads the other end: the process lives until it is killed, or its parent is gone for a minute.
    tokio::time::sleep(Duration::from_mins(1)).await;
    Ok(Exit::BadInput)
}

fn prove(stage: &Stage, locale: Locale) -> anyhow::Result<()> {
    output::print(&script::before_the_proof(locale))?;
    let store = StoreArgs {
        data: None,
        db: Some(stage.store().to_owned()),
        store: None,
        config: None,
    };
    let told = ["callReceived", "settled", "finished"];
    let list = AuditCommand::List(ListArgs {
        session: None,
        since: None,
        types: told.map(str::to_owned).to_vec(),
        limit: 100,
        json: false,
    });
    audit::tell(&store, &list, locale)?;
    let verify = AuditCommand::Verify {
        anchor: None,
        json: false,
    };
    match audit::tell(&store, &verify, locale)? {
        Exit::Success => Ok(()),
        _ => bail!("the journal of the demo does not verify; please report this"),
    }
}

fn heading(number: usize, scene: &Scene, locale: Locale) -> String {
    let title = format!("{}/{}  {}", number + 1, SCENES.len(), scene.title(locale));
    format!("\n{}\n{}\n", paint(style::HEADING, title), scene.advice(locale))
}

fn ending(finished: &Finished, locale: Locale) -> String {
    let (mark, text) = match finished {
        Finished::Ran { result, .. } if result.ok => {
            ("✔", format!("{}\n{}", script::ran(locale), result.output))
        }
        Finished::Ran { result, .. } => ("✘", format!("{}\n{}", script::failed(locale), result.output)),
        Finished::NotRun(outcome) => {
            let seen = outcome.result_for_model().unwrap_or_default();
            ("✘", format!("{}\n{seen}", script::not_run(locale)))
        }
    };
    let mut shown = format!("{mark} ");
    for line in SafeText::block(text.trim_end()).as_str().lines() {
        shown.push_str(line);
        shown.push_str("\n  ");
    }
    shown.truncate(shown.trim_end().len());
    shown.push('\n');
    shown
}
