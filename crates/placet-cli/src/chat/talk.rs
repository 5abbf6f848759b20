//! The conversation: keys and events in, lines out. One loop has the terminal; it lends it to the attendant for each question.

use std::collections::BTreeSet;
use std::io;

use anyhow::Context as _;
use crossterm::event::Event;
use placet_channels::terminal::line::{Line, SpanStyle};
use placet_channels::terminal::prompt::Screen;
use placet_channels::terminal::{self, Attendant, Attended, Inline, Raw};
use placet_client::events::Events;
use placet_client::{Client, Error, Heard, MessageOutcome};
use placet_core::ids::{CallId, IdError, InteractionId, SessionId};
use placet_core::interaction::Locale;
use placet_core::messages::{allow_list, cannot, refused, talk};
use placet_core::policy::Mode;
use placet_core::record::CallRecord;

use super::command::{self, ChatInput};
use super::entry::{Entry, Typed};
use super::feed::{Feed, Helpers};
use super::keys::Keys;
use super::questions::AtOwner;
use super::speech::Speech;
use super::{show, words};
use crate::locale;
use crate::owner::{Owner, Reach};

/// Rows the line being typed may take.
const ENTRY_ROWS_MAX: usize = 6;

/// Who talks, and with whose agent.
pub(super) struct Seated {
    pub(super) reach: Reach,
    pub(super) owner: Owner,
    /// The model that was asked for by name.
    pub(super) model: Option<String>,
    pub(super) locale: Locale,
}

/// A conversation at a terminal.
pub(super) struct Talk {
    pub(super) seated: Seated,
    attendant: Attendant,
    inline: Inline,
    entry: Entry,
    speech: Speech,
    /// The calls of the turn, and how each is named.
    calls: Vec<(CallId, String)>,
    pub(super) session: SessionId,
    feed: Option<Feed>,
    helpers: Helpers,
    work: Work,
    /// Open questions that others decide.
    others: BTreeSet<InteractionId>,
    /// Questions that were settled on this screen.
    settled_here: BTreeSet<InteractionId>,
    pressed: Pressed,
    /// What stands above.
    above: Above,
}

/// What was printed last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    Words,
    Calls,
}

/// Whether the agent is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Idle,
    UnderWay,
}

/// Whether the last key was an interruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pressed {
    Other,
    Interrupt,
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Then {
    /// Nothing in particular.
    GoOn,
    /// This question is assigned to the person.
    Ask(InteractionId),
    /// The person leaves.
    Leave,
}

/// Something happened.
enum News {
    Key(Option<Event>),
    Event(Option<Result<Heard, Error>>),
    /// A run that does a part of the work asks.
    Asked(InteractionId),
}

/// The terminal, while it is this loop's.
struct Desk {
    keys: Keys,
    raw: Option<Raw>,
}

impl Desk {
    fn take() -> io::Result<Self> {
        Ok(Self {
            raw: Some(Raw::inline()?),
            keys: Keys::listen(),
        })
    }

    /// Lets another reader have the terminal, until it is taken again.
    async fn lend(&mut self) -> io::Result<()> {
        self.keys.stop().await?;
        self.raw = None;
        Ok(())
    }

    async fn leave(mut self) -> io::Result<()> {
        self.lend().await
    }
}

impl Talk {
    pub(super) fn new(
        seated: Seated,
        attendant: Attendant,
        inline: Inline,
        entry: Entry,
    ) -> Result<Self, IdError> {
        let session = new_session()?;
        Ok(Self {
            helpers: Helpers::of(&seated.owner.client, &session),
            session,
            seated,
            attendant,
            inline,
            entry,
            speech: Speech::default(),
            calls: Vec::new(),
            feed: None,
            work: Work::Idle,
            others: BTreeSet::new(),
            settled_here: BTreeSet::new(),
            pressed: Pressed::Other,
            above: Above::Words,
        })
    }

    /// Talks until the person leaves. Which conversation they left, if it can be continued.
    pub(super) async fn run(mut self, resumed: Option<SessionId>) -> anyhow::Result<Option<SessionId>> {
        let mut desk = Desk::take()?;
        let talked = self.talk(&mut desk, resumed).await;
        self.inline.clear()?;
        desk.leave().await?;
        let known = self.client().run(&self.session, 0).await.is_ok();
        self.seated.owner.close().await?;
        talked?;
        Ok(known.then_some(self.session))
    }

    async fn talk(&mut self, desk: &mut Desk, resumed: Option<SessionId>) -> anyhow::Result<()> {
        match resumed {
            Some(session) => self.go_on_with(session).await?,
            None => self.welcome().await?,
        }
        loop {
            self.draw()?;
            let news = self.news(&mut desk.keys).await;
            let then = match self.heed(news).await {
                Err(error) if is_gone(&error) => self.rejoin().await?,
                then => then?,
            };
            match then {
                Then::GoOn => {}
                Then::Ask(id) => match self.ask(desk, &id).await {
                    Err(error) if is_gone(&error) => {
                        self.rejoin().await?;
                    }
                    asked => asked?,
                },
                Then::Leave => return Ok(()),
            }
        }
    }

    /// The owner of the store.
    pub(super) fn client(&self) -> &Client {
        &self.seated.owner.client
    }

    /// The owner has ended: finds the next one, or becomes it, and continues the conversation.
    async fn rejoin(&mut self) -> anyhow::Result<Then> {
        self.notice(&talk::owner_gone().say(self.seated.locale))?;
        let model = self.seated.model.as_deref();
        self.seated.owner = self.seated.reach.owner_with_agent(model).await?;
        self.helpers = Helpers::of(&self.seated.owner.client, &self.session);
        let was_following = self.feed.is_some();
        self.feed_ended();
        self.speech = Speech::default();
        if was_following {
            self.client().resume_run(&self.session).await?;
            self.attach().await?;
        }
        Ok(Then::GoOn)
    }

    async fn heed(&mut self, news: News) -> anyhow::Result<Then> {
        match news {
            // The terminal is gone.
            News::Key(None) => return Ok(Then::Leave),
            News::Key(Some(event)) => return self.typed(event).await,
            News::Event(None) => self.feed_ended(),
            News::Event(Some(event)) => match event? {
                Heard::Interaction { request } => return Ok(Then::Ask(request)),
                event => self.show(event).await?,
            },
            News::Asked(id) => return Ok(Then::Ask(id)),
        }
        Ok(Then::GoOn)
    }

    async fn news(&mut self, keys: &mut Keys) -> News {
        let feed = async {
            match &mut self.feed {
                Some(feed) => feed.events.recv().await,
                None => std::future::pending().await,
            }
        };
        let helpers = async {
            match self.helpers.asked.recv().await {
                Some(id) => id,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            key = keys.next() => News::Key(key),
            event = feed => News::Event(event),
            id = helpers => News::Asked(id),
        }
    }

    /// Lends the terminal to the attendant for a question.
    async fn ask(&mut self, desk: &mut Desk, id: &InteractionId) -> anyhow::Result<()> {
        self.inline.clear()?;
        desk.lend().await?;
        let questions = AtOwner(self.client().clone());
        let watch = questions.watch(id, self.attendant.settle(), self.seated.locale);
        let attended = self.attendant.ask(&questions, id).await;
        drop(watch);
        self.pressed = Pressed::Other;
        *desk = Desk::take()?;
        match attended? {
            Attended::Settled => {
                self.settled_here.insert(id.clone());
            }
            Attended::Others => {
                self.others.insert(id.clone());
            }
            Attended::Past => {}
        }
        Ok(())
    }

    fn feed_ended(&mut self) {
        self.feed = None;
        self.work = Work::Idle;
        self.others.clear();
    }

    async fn show(&mut self, event: Heard) -> anyhow::Result<()> {
        let (cols, locale) = (terminal::size()?.cols, self.seated.locale);
        self.space(&event)?;
        let lines = match event {
            Heard::Started { message, begins, .. } => {
                let mut lines = show::said(&message);
                if begins {
                    self.work = Work::UnderWay;
                } else {
                    let queued = if self.others.is_empty() {
                        talk::queued()
                    } else {
                        talk::queued_open()
                    };
                    lines.push(Line::new(SpanStyle::Faint, format!("  {}", queued.say(locale))));
                }
                lines.push(Line::default());
                lines
            }
            Heard::Saying { delta, thought, .. } => {
                if thought {
                    self.speech.thinks(&delta);
                } else {
                    self.speech.says(&delta);
                }
                self.speech.settled(cols)
            }
            Heard::BeginsAgain { why, .. } => vec![self.speech.begins_again(&why, locale)],
            Heard::Thinking { text, thinking, .. } => {
                self.calls.clear();
                self.speech.ends(&text, thinking.as_deref(), cols)
            }
            Heard::Action { call, tool, args, .. } => {
                self.calls.push((call, show::named(&tool, &args, cols, locale)));
                vec![show::call(&tool, &args, cols, locale)]
            }
            Heard::Observation { call, ok, output } => {
                let name = self.name_of(&call);
                vec![show::result(name, ok, &output, cols, locale)]
            }
            Heard::InteractionResolved { request, .. } => self.resolved(&request, cols).await?,
            Heard::Ended { how } => {
                let unsaid = self.speech.breaks_off(cols);
                let ended = words::ended(&how).map(|message| {
                    let words = placet_core::render::SafeText::line(&message.say(locale));
                    [Line::new(SpanStyle::Caution, words.as_str()), Line::default()]
                });
                unsaid.into_iter().chain(ended.into_iter().flatten()).collect()
            }
            // Lent the terminal to before it came here.
            Heard::Interaction { .. } => Vec::new(),
        };
        Ok(self.inline.print(&lines)?)
    }

    /// Calls stand together; words stand apart from them.
    fn space(&mut self, what: &Heard) -> io::Result<()> {
        let words = match what {
            Heard::Saying { .. } | Heard::BeginsAgain { .. } | Heard::Ended { .. } => true,
            Heard::Thinking { text, thinking, .. } => !text.trim().is_empty() || thinking.is_some(),
            Heard::Action { .. } | Heard::Observation { .. } => {
                self.above = Above::Calls;
                false
            }
            _ => false,
        };
        if words && self.above == Above::Calls {
            self.above = Above::Words;
            self.inline.print(&[Line::default()])?;
        }
        Ok(())
    }

    /// A call of the turn by name, unless it is the only one.
    fn name_of(&self, call: &CallId) -> Option<&str> {
        if self.calls.len() < 2 {
            return None;
        }
        let named = self.calls.iter().find(|(id, _)| id == call);
        named.map(|(_, name)| name.as_str())
    }

    /// What became of a question that was not settled on this screen, and which call it was about.
    async fn resolved(&mut self, id: &InteractionId, cols: usize) -> anyhow::Result<Vec<Line>> {
        self.others.remove(id);
        if self.settled_here.contains(id) {
            return Ok(Vec::new());
        }
        let questions = AtOwner(self.client().clone());
        let line = self.attendant.came_to(&questions, id).await?;
        let about = self.client().question(id).await?;
        let about = about.and_then(|record| record.question.call);
        Ok(vec![match about {
            Some(CallRecord { call, .. }) => {
                let locale = self.seated.locale;
                let name = show::named(call.tool.as_str(), call.args.as_value(), cols, locale);
                line.and(SpanStyle::Faint, format!("  {name}"))
            }
            None => line,
        }])
    }

    async fn typed(&mut self, event: Event) -> anyhow::Result<Then> {
        let typed = self.entry.take(event);
        let before = self.pressed;
        self.pressed = if typed == Typed::Interrupt {
            Pressed::Interrupt
        } else {
            Pressed::Other
        };
        match typed {
            Typed::Nothing => Ok(Then::GoOn),
            Typed::Leave => Ok(Then::Leave),
            Typed::Interrupt if before == Pressed::Interrupt => Ok(Then::Leave),
            Typed::Interrupt => {
                self.entry.clear();
                if self.work == Work::UnderWay {
                    self.client().interrupt(&self.session).await?;
                }
                Ok(Then::GoOn)
            }
            Typed::Line(line) => match command::read(&line) {
                ChatInput::Message(text) => {
                    self.tell(&text).await?;
                    Ok(Then::GoOn)
                }
                ChatInput::Command(command) => self.run_command(command).await,
                ChatInput::NoMode(typed) => {
                    self.notice(&words::no_mode(&typed).say(self.seated.locale))?;
                    Ok(Then::GoOn)
                }
                ChatInput::NoTool(typed) => {
                    self.notice(&allow_list::not_a_tool(&typed).say(self.seated.locale))?;
                    Ok(Then::GoOn)
                }
                ChatInput::Wrong(usage) => {
                    self.notice(&talk::no_command(usage).say(self.seated.locale))?;
                    Ok(Then::GoOn)
                }
            },
        }
    }

    /// Says something to the agent.
    async fn tell(&mut self, text: &str) -> anyhow::Result<()> {
        match self.client().say(&self.session, text, self.seated.locale).await {
            Ok((told, stream)) if self.feed.is_none() || told == MessageOutcome::Started => {
                self.follow(stream);
            }
            Ok(_) => {}
            Err(Error::Refused(problem)) => self.notice(&problem.detail)?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn follow(&mut self, stream: Events) {
        self.feed = Some(Feed::of(stream));
        self.work = Work::UnderWay;
    }

    /// Shows the newest run of the conversation again, and then what follows.
    async fn attach(&mut self) -> anyhow::Result<()> {
        let stream = self.client().attach(&self.session, None).await;
        self.follow(stream.with_context(|| locale::say(&cannot::read_chat()))?);
        Ok(())
    }

    /// Another conversation from the beginning.
    pub(super) async fn begin_anew(&mut self) -> anyhow::Result<()> {
        self.session = new_session()?;
        self.helpers = Helpers::of(self.client(), &self.session);
        self.feed_ended();
        self.speech = Speech::default();
        self.welcome().await
    }

    /// Continues a conversation: its newest run is shown again, and then what follows.
    pub(super) async fn go_on_with(&mut self, session: SessionId) -> anyhow::Result<()> {
        self.session = session;
        self.helpers = Helpers::of(self.client(), &self.session);
        self.feed_ended();
        self.speech = Speech::default();
        self.welcome().await?;
        self.attach().await
    }

    async fn welcome(&mut self) -> anyhow::Result<()> {
        let mode = self.mode().await?;
        let model = self.seated.owner.body.agent.as_ref();
        let model = model.map_or("", |agent| agent.model.as_str());
        let [who, how] = words::welcome(model, mode, &self.session, self.seated.locale);
        let lines = [who, how, String::new()].map(|words| Line::new(SpanStyle::Faint, words));
        Ok(self.inline.print(&lines)?)
    }

    /// How freely the agent may act here.
    pub(super) async fn mode(&self) -> anyhow::Result<Mode> {
        let usual = self.seated.owner.body.agent.as_ref().map(|agent| agent.mode);
        let mode = self.client().mode(&self.session).await?.or(usual);
        mode.with_context(|| locale::say(&refused::no_agent()))
    }

    /// Says something of the program's own.
    pub(super) fn notice(&mut self, words: &str) -> anyhow::Result<()> {
        let words = placet_core::render::SafeText::block(words);
        let lines = words
            .as_str()
            .split('\n')
            .map(|line| Line::new(SpanStyle::Faint, line));
        self.print(&lines.chain([Line::default()]).collect::<Vec<_>>())
    }

    pub(super) fn print(&mut self, lines: &[Line]) -> anyhow::Result<()> {
        Ok(self.inline.print(lines)?)
    }

    /// What may still change: what is being said, how it stands, and the line being typed.
    fn draw(&mut self) -> io::Result<()> {
        let (size, locale) = (terminal::size()?, self.seated.locale);
        let status = match (self.pressed, self.work, self.others.is_empty()) {
            (Pressed::Interrupt, ..) => Some(talk::again_to_leave()),
            (_, Work::UnderWay, true) => Some(talk::working()),
            (_, Work::UnderWay, false) => Some(talk::others_decide()),
            (_, Work::Idle, _) => None,
        };
        let entry = self.entry.rows(size.cols.saturating_sub(2), ENTRY_ROWS_MAX);
        let status: Vec<Line> = status
            .into_iter()
            .flat_map(|status| Line::new(SpanStyle::Faint, status.say(locale)).broken(size.cols))
            .collect();
        let room = size.rows.saturating_sub(status.len() + entry.texts.len());
        let mut lines = self.speech.growing(size.cols);
        lines.drain(..lines.len().saturating_sub(room));
        lines.extend(status);
        let row = lines.len() + entry.row;
        for (n, text) in entry.texts.into_iter().enumerate() {
            let mark = if n == 0 { "› " } else { "  " };
            lines.push(Line::new(SpanStyle::Key, mark).and(SpanStyle::Plain, text));
        }
        self.inline.paint(&Screen {
            lines,
            cursor: Some((row, entry.column + 2)),
        })
    }
}

fn new_session() -> Result<SessionId, IdError> {
    SessionId::new(format!("chat_{}", uuid::Uuid::now_v7().simple()))
}

/// Whether the owner of the store has ended.
fn is_gone(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| cause.downcast_ref::<Error>().is_some_and(Error::is_gone))
}
