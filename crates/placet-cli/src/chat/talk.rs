//! The conversation: keys and events in, lines out. One loop has the terminal; it lends it to the attendant for each question.

use std::collections::BTreeSet;
use std::io;

use anyhow::Context as _;
use crossterm::event::Event;
use placet_agent::chat::{ChatEvent, ChatStream, Saying, Viewer, What};
use placet_agent::{Agent, Tools};
use placet_channels::terminal::line::{Line, Role};
use placet_channels::terminal::prompt::Screen;
use placet_channels::terminal::{self, Attendant, Attended, Delivered, Inline, Raw};
use placet_core::call::Chat;
use placet_core::ids::{CallId, IdError, InteractionId, PersonId, SessionId};
use placet_core::interaction::Locale;
use placet_core::policy::Mode;
use placet_core::record::CallRecord;
use placet_core::steps::Said as Told;
use placet_store::StoreError;

use super::command::{self, Said};
use super::entry::{Entry, Typed};
use super::feed::Feed;
use super::keys::Keys;
use super::speech::Speech;
use super::{show, words};

/// Rows the line being typed may take.
const ENTRY_ROWS_MAX: usize = 6;

/// Who talks, with what.
pub(super) struct Seated {
    pub(super) agent: Agent,
    pub(super) tools: Tools,
    pub(super) person: PersonId,
    pub(super) place: Chat,
    pub(super) locale: Locale,
    pub(super) model: String,
    pub(super) usual_mode: Mode,
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
    /// This question is put to the person.
    Ask(InteractionId),
    /// The person leaves.
    Leave,
}

/// Something happened.
enum News {
    Key(Option<Event>),
    Event(Option<Result<ChatEvent, StoreError>>),
    Delivered(Delivered),
}

/// The terminal, while it is this loop's.
struct Desk {
    keys: Keys,
    _raw: Raw,
}

impl Desk {
    fn take() -> io::Result<Self> {
        Ok(Self {
            _raw: Raw::inline()?,
            keys: Keys::listen(),
        })
    }

    async fn leave(self) -> io::Result<()> {
        self.keys.stop().await
    }
}

impl Talk {
    pub(super) fn new(
        seated: Seated,
        attendant: Attendant,
        inline: Inline,
        entry: Entry,
    ) -> Result<Self, IdError> {
        Ok(Self {
            session: new_session()?,
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

    /// Talks until the person leaves. Which conversation they left, if there is anything to go on with.
    pub(super) async fn run(mut self, resumed: Option<SessionId>) -> anyhow::Result<Option<SessionId>> {
        let mut desk = Desk::take()?;
        match resumed {
            Some(session) => self.go_on_with(session).await?,
            None => self.welcome().await?,
        }
        self.attendant
            .catch_up(&self.seated.agent.engine().broker())
            .await?;
        loop {
            self.draw()?;
            let news = self.news(&mut desk.keys).await;
            match self.heed(news).await? {
                Then::GoOn => {}
                Then::Ask(id) => desk = self.ask(desk, &id).await?,
                Then::Leave => break,
            }
        }
        self.inline.clear()?;
        desk.leave().await?;
        let known = self.seated.agent.owner(&self.session).await?.is_some();
        Ok(known.then_some(self.session))
    }

    async fn heed(&mut self, news: News) -> anyhow::Result<Then> {
        match news {
            // The terminal is gone, or the store was closed.
            News::Key(None) | News::Event(Some(Err(StoreError::Closed))) => return Ok(Then::Leave),
            News::Key(Some(event)) => return self.typed(event).await,
            News::Event(None) => self.feed_ended(),
            News::Event(Some(event)) => match event? {
                ChatEvent {
                    what: What::Interaction { request },
                    ..
                } => return Ok(request.request_id.map_or(Then::GoOn, Then::Ask)),
                event => self.show(event).await?,
            },
            News::Delivered(Delivered::Messages(lines)) => self.inline.print(&lines)?,
            News::Delivered(Delivered::Question(id)) => {
                if self.is_elsewhere(&id).await? {
                    return Ok(Then::Ask(id));
                }
            }
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
        tokio::select! {
            biased;
            key = keys.next() => News::Key(key),
            event = feed => News::Event(event),
            delivered = self.attendant.delivered() => News::Delivered(delivered),
        }
    }

    /// The conversation itself brings its own questions, in their place; what the terminal is asked besides comes from runs that
    /// do a part of its work, and from other conversations.
    async fn is_elsewhere(&self, id: &InteractionId) -> Result<bool, StoreError> {
        let question = self.seated.agent.engine().broker().question(id).await?;
        Ok(question.is_some_and(|question| question.interaction.asked().session != self.session))
    }

    /// Lends the terminal to the attendant for a question.
    async fn ask(&mut self, desk: Desk, id: &InteractionId) -> anyhow::Result<Desk> {
        self.inline.clear()?;
        desk.leave().await?;
        let broker = self.seated.agent.engine().broker();
        match self.attendant.ask(&broker, id).await? {
            Attended::Settled => {
                self.settled_here.insert(id.clone());
            }
            Attended::Others => {
                self.others.insert(id.clone());
            }
            Attended::Past => {}
        }
        self.pressed = Pressed::Other;
        Ok(Desk::take()?)
    }

    fn feed_ended(&mut self) {
        self.feed = None;
        self.work = Work::Idle;
        self.others.clear();
    }

    async fn show(&mut self, event: ChatEvent) -> anyhow::Result<()> {
        let (cols, locale) = (terminal::size()?.cols, self.seated.locale);
        self.space(&event.what)?;
        let lines = match event.what {
            What::Started { message, begins, .. } => {
                let mut lines = show::said(&message);
                if begins {
                    self.work = Work::UnderWay;
                } else {
                    let waits = !self.others.is_empty();
                    lines.push(Line::new(
                        Role::Faint,
                        format!("  {}", words::queued(locale, waits)),
                    ));
                }
                lines.push(Line::default());
                lines
            }
            What::Saying { delta, thought, .. } => {
                if thought {
                    self.speech.thinks(&delta);
                } else {
                    self.speech.says(&delta);
                }
                self.speech.settled(cols)
            }
            What::BeginsAgain { why, .. } => vec![self.speech.begins_again(&why, locale)],
            What::Thinking { text, thinking, .. } => {
                self.calls.clear();
                self.speech.ends(&text, thinking.as_deref(), cols)
            }
            What::Action { call, tool, args, .. } => {
                self.calls.push((call, show::named(&tool, &args, cols)));
                vec![show::call(&tool, &args, cols)]
            }
            What::Observation { call, ok, output } => {
                let name = self.name_of(&call);
                vec![show::result(name, ok, &output, cols, locale)]
            }
            What::InteractionResolved { request, .. } => self.resolved(&request, cols).await?,
            What::Completed { how, .. } | What::Error { how } => {
                let unsaid = self.speech.breaks_off(cols);
                let ended = words::ended(&how, locale);
                let ended = ended.map(|words| {
                    let words = placet_core::render::SafeText::line(&words);
                    [Line::new(Role::Caution, words.as_str()), Line::default()]
                });
                unsaid.into_iter().chain(ended.into_iter().flatten()).collect()
            }
            // Lent the terminal to before it came here.
            What::Interaction { .. } => Vec::new(),
        };
        Ok(self.inline.print(&lines)?)
    }

    /// Calls stand together; words stand apart from them.
    fn space(&mut self, what: &What) -> io::Result<()> {
        let words = match what {
            What::Saying { .. } | What::BeginsAgain { .. } | What::Completed { .. } | What::Error { .. } => {
                true
            }
            What::Thinking { text, thinking, .. } => !text.trim().is_empty() || thinking.is_some(),
            What::Action { .. } | What::Observation { .. } => {
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
        let broker = self.seated.agent.engine().broker();
        let line = self.attendant.came_to(&broker, id).await?;
        let about = broker.question(id).await?.and_then(|question| question.call);
        Ok(vec![match about {
            Some(CallRecord { call, .. }) => {
                let name = show::named(call.tool.as_str(), call.args.as_value(), cols);
                line.and(Role::Faint, format!("  {name}"))
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
                let Seated { agent, person, .. } = &self.seated;
                if self.work == Work::UnderWay {
                    agent.interrupt(&self.session, person).await?;
                }
                Ok(Then::GoOn)
            }
            Typed::Line(line) => match command::read(&line) {
                Said::Message(text) => {
                    self.tell(&text).await?;
                    Ok(Then::GoOn)
                }
                Said::Command(command) => self.obey(command).await,
                Said::NoMode(typed) => {
                    self.notice(&words::no_mode(&typed, self.seated.locale))?;
                    Ok(Then::GoOn)
                }
                Said::Wrong(usage) => {
                    self.notice(&words::no_command(usage, self.seated.locale))?;
                    Ok(Then::GoOn)
                }
            },
        }
    }

    /// Says something to the agent.
    async fn tell(&mut self, text: &str) -> anyhow::Result<()> {
        let saying = Saying {
            session: Some(self.session.clone()),
            text: text.to_owned(),
            person: self.seated.person.clone(),
            place: Some(self.seated.place.clone()),
        };
        match self.seated.agent.chat().send(saying).await {
            Ok((told, stream)) if self.feed.is_none() || told == Told::Started => self.follow(stream),
            Ok(_) => {}
            Err(error) => self.notice(&error.to_string())?,
        }
        Ok(())
    }

    fn follow(&mut self, stream: ChatStream) {
        self.feed = Some(Feed::of(stream));
        self.work = Work::UnderWay;
    }

    /// Another conversation from the beginning.
    pub(super) async fn begin_anew(&mut self) -> anyhow::Result<()> {
        self.session = new_session()?;
        self.feed_ended();
        self.speech = Speech::default();
        self.welcome().await
    }

    /// Goes on with a conversation: its newest run is shown again, and then what follows.
    pub(super) async fn go_on_with(&mut self, session: SessionId) -> anyhow::Result<()> {
        self.session = session;
        self.feed_ended();
        self.speech = Speech::default();
        self.welcome().await?;
        let viewer = Viewer::Person(self.seated.person.clone());
        let chat = self.seated.agent.chat();
        let stream = chat.attach(&self.session, &viewer, None).await;
        self.follow(stream.context("the conversation cannot be read")?);
        Ok(())
    }

    async fn welcome(&mut self) -> anyhow::Result<()> {
        let mode = self.mode().await?;
        let Seated { model, locale, .. } = &self.seated;
        let [who, how] = words::welcome(model, mode, &self.session, *locale);
        let lines = [who, how, String::new()].map(|words| Line::new(Role::Faint, words));
        Ok(self.inline.print(&lines)?)
    }

    /// How freely the agent may act here.
    pub(super) async fn mode(&self) -> Result<Mode, StoreError> {
        let session = self.session.clone();
        let store = self.seated.agent.engine().store();
        let record = store.read(move |view, _| view.session(&session)).await?;
        Ok(record.mode.unwrap_or(self.seated.usual_mode))
    }

    /// Says something of the program's own.
    pub(super) fn notice(&mut self, words: &str) -> anyhow::Result<()> {
        let words = placet_core::render::SafeText::block(words);
        let lines = words
            .as_str()
            .split('\n')
            .map(|line| Line::new(Role::Faint, line));
        self.print(&lines.chain([Line::default()]).collect::<Vec<_>>())
    }

    pub(super) fn print(&mut self, lines: &[Line]) -> anyhow::Result<()> {
        Ok(self.inline.print(lines)?)
    }

    /// What may still change: what is being said, how it stands, and the line being typed.
    fn draw(&mut self) -> io::Result<()> {
        let (size, locale) = (terminal::size()?, self.seated.locale);
        let status = match (self.pressed, self.work, self.others.is_empty()) {
            (Pressed::Interrupt, ..) => Some(words::again_to_leave(locale)),
            (_, Work::UnderWay, true) => Some(words::working(locale)),
            (_, Work::UnderWay, false) => Some(words::others_decide(locale)),
            (_, Work::Idle, _) => None,
        };
        let entry = self.entry.rows(size.cols.saturating_sub(2), ENTRY_ROWS_MAX);
        let status: Vec<Line> = status
            .into_iter()
            .flat_map(|words| Line::new(Role::Faint, words).broken(size.cols))
            .collect();
        let room = size.rows.saturating_sub(status.len() + entry.texts.len());
        let mut lines = self.speech.growing(size.cols);
        lines.drain(..lines.len().saturating_sub(room));
        lines.extend(status);
        let row = lines.len() + entry.row;
        for (n, text) in entry.texts.into_iter().enumerate() {
            let mark = if n == 0 { "› " } else { "  " };
            lines.push(Line::new(Role::Key, mark).and(Role::Plain, text));
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
