//! `placet demo`: a scripted agent, and you decide. Real files, a real shell and a real database, in a folder that is gone
//! afterwards.
//!
//! | file | part |
//! |---|---|
//! | `script.rs` | what the agent does, scene by scene, and what `--yes` answers |
//! | `stage.rs` | the folder, its files and its database |
//! | `tools.rs` | the tools: how each runs, and what it can show beforehand |
//! | `house.rs` | the engine, with a person at the terminal or a script instead |

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use placet_channels::terminal;
use placet_core::interaction::Locale;
use placet_core::messages::{cannot, demo, prompt, refused};
use placet_core::outcome::Outcome;
use placet_core::render::SafeText;
use placet_engine::Finished;
use tokio::runtime::Runtime;

use crate::args::{AuditCommand, Color, DemoArgs, ListArgs, StoreArgs};
use crate::exit::Exit;
use crate::style::{self, paint};
use crate::{audit, locale, output, store};

mod house;
mod script;
mod stage;
mod tools;

use house::{House, Who};
use script::{SCENES, Scene};
use stage::Stage;

/// How long the second process has to put its question before something is wrong.
const PUT_MAX: Duration = Duration::from_secs(30);
/// How long the next scene waits after Ctrl-C, for another one.
const AGAIN_WITHIN: Duration = Duration::from_secs(2);

/// Runs the command.
pub(crate) fn run(args: &DemoArgs, color: Color) -> anyhow::Result<Exit> {
    let locale = args.locale.unwrap_or_else(locale::current);
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
        terminal::attended().map_err(|why| locale::error(&refused::no_terminal_demo(why)))?;
        #[cfg(unix)]
        terminal::restore_on_other_signals()?;
    }
    let stage = Stage::build()?;
    let (folder, store) = (stage.work().display(), stage.store().display());
    output::print(&demo::welcome(folder, store).say(locale))?;
    let played = runtime.block_on(play_or_leave(&stage, who, locale));
    // A scene that was left may still wait for a key.
    runtime.shutdown_background();
    if played? == Played::Left {
        terminal::restore();
        drop(stage);
        output::print(&demo::left().say(locale))?;
        return Ok(Exit::Success);
    }
    prove(&stage, locale)?;
    output::print(&demo::next().say(locale))?;
    if args.keep {
        output::print(&demo::kept(stage.folder().display()).say(locale))?;
        stage.keep();
    }
    Ok(Exit::Success)
}

/// How far the demo came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Played {
    /// To the end of the story, or of the run.
    Through,
    /// The person left.
    Left,
}

/// Plays until the end, or until Ctrl-C while no request is on the screen.
async fn play_or_leave(stage: &Stage, who: Who, locale: Locale) -> anyhow::Result<Played> {
    tokio::select! {
        played = play(stage, who, locale) => played,
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| Played::Left).map_err(Into::into),
    }
}

async fn play(stage: &Stage, who: Who, locale: Locale) -> anyhow::Result<Played> {
    let mut was_interrupted = false;
    for (number, scene) in SCENES.iter().enumerate() {
        output::print(&heading(number, scene, locale))?;
        if scene.killed {
            let killed = kill_while_it_waits(stage, who, locale).await?;
            output::print(&demo::after_the_kill(killed).say(locale))?;
        }
        // A house for each scene: once it is closed nothing draws on the terminal, and the demo can print.
        let house = House::open(stage, who, locale).await?;
        let finished = house.play(scene).await?;
        house.close().await?;
        output::print(&ending(&finished, locale))?;
        let interrupted = is_interruption(&finished, locale);
        match (interrupted, was_interrupted) {
            (true, true) => return Ok(Played::Left),
            (true, false) => {
                output::print(&format!("{}\n", demo::again_to_leave().say(locale)))?;
                // Ctrl-C during this time ends `play_or_leave`.
                tokio::time::sleep(AGAIN_WITHIN).await;
            }
            (false, _) => {
                if let Some(comment) = script::comment(scene, &finished) {
                    output::print(&format!("{}\n", paint(style::FAINT, comment.say(locale))))?;
                }
            }
        }
        was_interrupted = interrupted;
        if matches!(&finished, Finished::NotRun(Outcome::Terminated { .. })) {
            break;
        }
    }
    Ok(Played::Through)
}

/// Whether Ctrl-C rejected the call: the prompt gives that as the reason.
fn is_interruption(finished: &Finished, locale: Locale) -> bool {
    let Finished::NotRun(Outcome::Rejected { reason, .. }) = finished else {
        return false;
    };
    reason.as_deref() == Some(&prompt::interrupted().say(locale))
}

/// The last scene, begun by a second process that is killed as soon as its question is on disk. Returns its process id.
async fn kill_while_it_waits(stage: &Stage, who: Who, locale: Locale) -> anyhow::Result<u32> {
    let before = pending(stage.store()).await?;
    let mut second =
        Command::new(std::env::current_exe().with_context(|| locale::say(&cannot::find_program()))?);
    second.arg("demo").arg("--doomed").arg(stage.folder());
    second.stdout(Stdio::null());
    if matches!(who, Who::Script) {
        second.arg("--yes");
    }
    second.args(["--locale", locale.tag()]);
    let mut child = second
        .spawn()
        .with_context(|| locale::say(&cannot::start_process()))?;
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
    // No output is read: the process lives until it is killed, or its parent is gone for a minute.
    tokio::time::sleep(Duration::from_mins(1)).await;
    Ok(Exit::BadInput)
}

fn prove(stage: &Stage, locale: Locale) -> anyhow::Result<()> {
    output::print(&demo::before_the_proof().say(locale))?;
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
    let title = format!("{}/{}  {}", number + 1, SCENES.len(), (scene.title)().say(locale));
    let advice = (scene.advice)().say(locale);
    format!("\n{}\n{advice}\n", paint(style::HEADING, title))
}

fn ending(finished: &Finished, locale: Locale) -> String {
    let (mark, text) = match finished {
        Finished::Ran { result, .. } if result.ok => {
            ("✔", format!("{}\n{}", demo::ran().say(locale), result.output))
        }
        Finished::Ran { result, .. } => ("✘", format!("{}\n{}", demo::failed().say(locale), result.output)),
        Finished::NotRun(outcome) => {
            let seen = outcome.result_for_model().unwrap_or_default();
            ("✘", format!("{}\n{seen}", demo::not_run().say(locale)))
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
