//! The inbox on a real terminal: keys from it, questions from the store, answers to the broker.

use std::io::stdout;
use std::time::{Duration, Instant};

use crossterm::event;
use placet_channels::terminal::palette::Palette;
use placet_channels::terminal::{self, Colours, Raw, burst};
use placet_client::Error;
use placet_core::ids::InteractionId;
use placet_core::interaction::Answer;
use placet_core::messages::{self, refused};
use placet_core::standing::Scope;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::answer::goes_on;
use super::app::{App, AppAction};
use super::{Inbox, view, waiting};
use crate::args::Color;
use crate::exit::Exit;
use crate::locale;

/// How often the store is looked at: another process may have asked or answered.
const LOOK: Duration = Duration::from_millis(500);
/// How long a key is waited for before the clocks are drawn again.
const BEAT: Duration = Duration::from_millis(100);

pub(super) fn run(inbox: &Inbox, color: Color) -> anyhow::Result<Exit> {
    let colours = match color {
        Color::Auto => Colours::Auto,
        Color::Always => Colours::Always,
        Color::Never => Colours::Never,
    };
    let palette = Palette::of(colours);
    let raw = Raw::whole().map_err(|why| locale::error(&refused::no_terminal_inbox(why)))?;
    #[cfg(unix)]
    terminal::restore_on_signals()?;
    let mut screen = Terminal::new(CrosstermBackend::new(stdout()))?;
    let mut app = App::new(inbox.by.clone(), inbox.locale);
    let started = Instant::now();
    let mut looked: Option<Instant> = None;
    loop {
        if looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            inbox.refresh(&mut app, started.elapsed())?;
            looked = Some(Instant::now());
        }
        screen.draw(|frame| view::draw(frame, &mut app, palette, started.elapsed()))?;
        app.drawn(started.elapsed());
        if !event::poll(BEAT)? {
            continue;
        }
        let (happened, when) = (event::read()?, started.elapsed());
        match app.take_all(&burst::with(happened)?, when) {
            AppAction::Nothing => continue,
            AppAction::Preview(scope) => {
                // Looking back may take a moment; the note says so.
                screen.draw(|frame| view::draw(frame, &mut app, palette, started.elapsed()))?;
                inbox.preview(&mut app, &scope)?;
            }
            AppAction::Quit => return Ok(Exit::Success),
            AppAction::Answer(id, answer) => inbox.answer(&mut app, &id, *answer)?,
            AppAction::AnswerAll(answers) => inbox.answer_all(&mut app, answers)?,
            AppAction::Withdraw(id) => {
                inbox.runtime.block_on(inbox.client.withdraw(&id))?;
                let note = inbox.came_to(&id)?;
                app.done(&note);
            }
            AppAction::Edit(text) => {
                let edited = raw.lend(|| terminal::edit(&text, inbox.locale))?;
                if let Some(prompt) = &mut app.prompt {
                    prompt.edited(edited);
                }
                screen.clear()?;
            }
        }
        looked = None;
    }
}

impl Inbox {
    fn preview(&self, app: &mut App, scope: &Scope) -> anyhow::Result<()> {
        if let Some(prompt) = &app.prompt {
            let preview = waiting::preview(&self.client, prompt.question(), scope);
            let preview = self.runtime.block_on(preview)?;
            app.previewed(preview.as_ref());
        }
        Ok(())
    }

    fn refresh(&self, app: &mut App, now: Duration) -> anyhow::Result<()> {
        let found = self.runtime.block_on(waiting::all(&self.client, self.locale))?;
        let warning = found.warning(self.locale).filter(|_| app.note.is_none());
        if let Some(warning) = warning {
            app.say(&warning);
        }
        if let Some(gone) = app.refresh(found.waiting, now)
            && app.note.is_none()
        {
            let note = self.came_to(&gone)?;
            app.say(&note);
        }
        Ok(())
    }

    fn answer(&self, app: &mut App, id: &InteractionId, answer: Answer) -> anyhow::Result<()> {
        let answering = self.client.answer(id, answer, self.locale);
        match self.runtime.block_on(answering) {
            Ok(answered) => {
                let note = match goes_on(&answered, self.locale) {
                    Some(words) => words,
                    None => self.came_to(id)?,
                };
                app.done(&note);
            }
            Err(Error::Refused(problem)) if problem.code == "already-decided" => {
                let note = self.came_to(id)?;
                app.done(&note);
            }
            Err(Error::Refused(problem)) => {
                if let Some(prompt) = &mut app.prompt {
                    prompt.refused(&problem.detail);
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn answer_all(&self, app: &mut App, answers: Vec<(InteractionId, Answer)>) -> anyhow::Result<()> {
        let (mut counted, mut refused) = (0, Vec::new());
        for (id, answer) in answers {
            let answering = self.client.answer(&id, answer, self.locale);
            match self.runtime.block_on(answering) {
                Ok(_) => counted += 1,
                Err(Error::Refused(problem)) => refused.push(problem.detail),
                Err(error) => return Err(error.into()),
            }
        }
        let mut note = messages::inbox::counted(counted).say(self.locale);
        if let Some(first) = refused.first() {
            note = format!("{note} {first}");
        }
        app.done(&note);
        Ok(())
    }

    /// What became of a question, in a sentence.
    fn came_to(&self, id: &InteractionId) -> anyhow::Result<String> {
        let sentence = waiting::came_to(&self.client, id, self.locale);
        self.runtime.block_on(sentence)
    }
}
