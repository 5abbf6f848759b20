//! The house of the demo: an engine on the stage's store, with a person at the terminal or a script in their place.

use std::sync::Arc;

use anyhow::bail;
use placet_channels::terminal::{self, Colours, Terminal, TerminalUser};
use placet_core::call::{Args, Origin, ToolCall};
use placet_core::config::Config;
use placet_core::ids::{AgentId, CallId, InteractionId, PersonId, SessionId, ToolName};
use placet_core::interaction::{Answer, Locale};
use placet_core::principal::{Principal, Via};
use placet_core::render::{Markup, Surface, to_text};
use placet_engine::{Engine, Finished, Proposed};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::script::Scene;
use super::stage::Stage;
use super::tools::Tools;
use crate::args::Color;
use crate::owner::{Hosted, Place};
use crate::style::{self, paint};
use crate::{output, wiring};

/// Ten minutes for each question: a demo should not hurry anyone.
const CONFIG: &str = "[approval]\ntimeout = \"10m\"\nmemory = \"0s\"\n";
/// The agent of the demo.
const AGENT: &str = "demo-agent";
/// As wide as the plainest terminal.
const WIDTH: u16 = 80;

/// Who answers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    /// The person at this terminal.
    Person {
        /// When to use colours.
        color: Color,
    },
    /// The script: `--yes`.
    Script,
}

/// A running engine and who answers its questions.
pub(super) struct House {
    engine: Engine,
    tools: Tools,
    locale: Locale,
    desk: Desk,
    /// Offers the store's socket, so that `placet inbox` works beside the demo.
    hosted: Hosted,
}

enum Desk {
    Terminal {
        terminal: Arc<Terminal>,
        attendant: Option<JoinHandle<Result<(), terminal::AttendError>>>,
        stop: CancellationToken,
    },
    Script,
}

impl House {
    pub(super) async fn open(stage: &Stage, who: Who, locale: Locale) -> anyhow::Result<Self> {
        Self::furnish(stage, who, locale, true).await
    }

    /// The same without an attendant at the terminal: questions are asked and stay open.
    pub(super) async fn open_unattended(stage: &Stage, who: Who, locale: Locale) -> anyhow::Result<Self> {
        Self::furnish(stage, who, locale, false).await
    }

    async fn furnish(stage: &Stage, who: Who, locale: Locale, attended: bool) -> anyhow::Result<Self> {
        let config = Config::parse(CONFIG, "demo", std::iter::empty(), placet_inspect::builtin())?;
        let tools = Tools::on(stage);
        let agent = AgentId::new(AGENT)?;
        let builder = |config| {
            Engine::builder(config)
                .workspace(stage.work())
                .toolbox(agent.clone(), tools.clone())
        };
        let (engine, desk) = match who {
            Who::Script => (builder(config).start(stage.store()).await?, Desk::Script),
            Who::Person { color } => {
                let seat = TerminalUser::of_user(&config.people)?;
                let (terminal, attendant) = terminal::open(seat, locale, colours(color))?;
                let engine = builder(config)
                    .channel(Arc::clone(&terminal) as Arc<dyn placet_engine::channel::Channel>)
                    .start(stage.store())
                    .await?;
                let stop = CancellationToken::new();
                let attendant = attended.then(|| tokio::spawn(attendant.run(engine.clone(), stop.clone())));
                let desk = Desk::Terminal {
                    terminal,
                    attendant,
                    stop,
                };
                (engine, desk)
            }
        };
        let place = Place::file(stage.store());
        let server = wiring::around(engine.clone(), &place.data).await?;
        Ok(Self {
            hosted: Hosted::start(server, &place, place.claim()?)?,
            engine,
            tools,
            locale,
            desk,
        })
    }

    /// Plays a scene to its end: decided, and run if that was the decision.
    pub(super) async fn play(&self, scene: &Scene) -> anyhow::Result<Finished> {
        if let (Desk::Script, Some(question)) = (&self.desk, self.propose(scene).await?) {
            self.answer_by_script(&question, scene).await?;
        }
        let tools = self.tools.clone();
        let run = async move |call: ToolCall| {
            let done = tokio::task::spawn_blocking(move || tools.run(&call)).await;
            done.unwrap_or_else(|error| Err(error.to_string()))
        };
        Ok(self.engine.gate().call(self.call(scene)?, run).await?)
    }

    /// Puts a scene's call to the gate, and says which question it waits for.
    pub(super) async fn propose(&self, scene: &Scene) -> anyhow::Result<Option<InteractionId>> {
        let proposed = self.engine.gate().propose(self.call(scene)?).await?;
        Ok(match &proposed {
            Proposed::Settled { .. } => None,
            Proposed::Parked { .. } | Proposed::Known(_) => {
                proposed.parked_on().map(|(question, _)| question)
            }
        })
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        if let Desk::Terminal {
            attendant: Some(attendant),
            stop,
            ..
        } = self.desk
        {
            stop.cancel();
            attendant.await??;
        }
        self.hosted.close().await
    }

    fn call(&self, scene: &Scene) -> anyhow::Result<ToolCall> {
        let agent = AgentId::new(AGENT)?;
        let origin = match &self.desk {
            Desk::Terminal { terminal, .. } => terminal.origin(agent),
            Desk::Script => Origin {
                agent,
                agent_path: Vec::new(),
                chat: None,
                user: None,
            },
        };
        Ok(ToolCall {
            id: CallId::new(scene.id)?,
            tool: ToolName::new(scene.tool)?,
            args: Args::from_value(scene.args())?,
            session: SessionId::new("demo")?,
            origin,
            group: None,
            description: None,
        })
    }

    /// Shows the question as a person would see it, and gives the answer the script has for it.
    async fn answer_by_script(&self, id: &InteractionId, scene: &Scene) -> anyhow::Result<()> {
        let broker = self.engine.broker();
        let Some(question) = broker.question(id).await? else {
            bail!("the question {id} is gone");
        };
        let surface = Surface {
            width: Some(WIDTH),
            chars_max: None,
            markup: Markup::Plain,
            elsewhere: None,
        };
        let shown = to_text(&question.document(self.locale), &surface);
        let said = scene.answer();
        let options = question.interaction.asked().options(self.locale);
        let chosen = options.iter().find(|option| option.option_id == said.option);
        let label = chosen.map_or(said.option, |option| &option.label);
        output::print(&format!(
            "\n{}\n{}\n",
            shown.text.trim_end(),
            paint(style::HEADING, said.line(label, self.locale))
        ))?;
        let answer = Answer {
            by: Principal::Person {
                person: PersonId::new("script")?,
                via: Via::Inbox,
            },
            option: said.option.into(),
            feedback: said.feedback.as_ref().map(|feedback| feedback.say(self.locale)),
            data: None,
            edited_args: said.edited.map(Args::from_value).transpose()?,
            instruction: None,
            remember: None,
            shown: shown.shown(),
        };
        broker.answer(id, answer).await?;
        Ok(())
    }
}

fn colours(color: Color) -> Colours {
    match color {
        Color::Auto => Colours::Auto,
        Color::Always => Colours::Always,
        Color::Never => Colours::Never,
    }
}
