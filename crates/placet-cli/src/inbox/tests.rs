//! What other people and agents do while the inbox is open: it is on the next picture.

use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use placet_channels::terminal::palette::Palette;
use placet_client::{Client, socket};
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::ids::{InteractionId, PersonId};
use placet_core::interaction::{Answer, Locale, Shown};
use placet_core::messages::prompt;
use placet_core::principal::{Principal, Via};
use placet_engine::{Engine, Proposed};
use placet_server::Listen;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::app::{App, AppAction};
use super::{view, waiting};
use crate::owner::{Offered, Place};
use crate::wiring::{self, Plan, Work};

fn person(name: &str) -> Principal {
    Principal::Person {
        person: PersonId::new(name).unwrap(),
        via: Via::Inbox,
    }
}

/// An open inbox, the owner of a store behind its socket, and a clock moved by hand.
struct Desk {
    engine: Engine,
    client: Client,
    _data: TempDir,
    app: App,
    screen: Terminal<TestBackend>,
    now: Duration,
}

impl Desk {
    async fn new() -> Self {
        let data = TempDir::new().unwrap();
        let store = data.path().join("placet.db");
        let place = Place::file(&store);
        let plan = Plan {
            config: Config::builtin(placet_inspect::builtin()),
            source: "test".into(),
            data: data.path().to_owned(),
            store: placet_store::Location::from(store.as_path()),
            listen: Listen::Nowhere,
            work: Work::Answers,
            web: None,
        };
        let server = wiring::start(plan).await.unwrap();
        let engine = server.state().engine().clone();
        tokio::spawn(
            Offered::new(server, &place, place.claim().unwrap())
                .unwrap()
                .run(CancellationToken::new()),
        );
        Self {
            engine,
            client: Client::socket(&socket::path(&store)).as_person(&PersonId::new("lin").unwrap()),
            _data: data,
            app: App::new(person("lin"), Locale::English),
            screen: Terminal::new(TestBackend::new(120, 24)).unwrap(),
            now: Duration::from_secs(1),
        }
    }

    async fn ask(&self, id: &str, command: &str) -> InteractionId {
        let call: ToolCall = serde_json::from_value(json!({
            "id": id, "tool": "bash", "args": { "command": command }, "session": "job", "origin": { "agent": "a" },
        }))
        .unwrap();
        match self.engine.gate().propose(call).await.unwrap() {
            Proposed::Parked { on, .. } => on,
            other => panic!("expected a question, got {other:?}"),
        }
    }

    /// Half a second later, on the screen.
    async fn looks(&mut self) -> (String, Option<InteractionId>) {
        self.now += Duration::from_millis(500);
        let all = waiting::all(&self.client, Locale::English).await.unwrap();
        let gone = self.app.refresh(all.waiting, self.now);
        let (app, now) = (&mut self.app, self.now);
        self.screen
            .draw(|frame| view::draw(frame, app, Palette::Mono, now))
            .unwrap();
        self.app.drawn(self.now);
        (self.screen.backend().to_string(), gone)
    }

    fn presses(&mut self, code: KeyCode) -> AppAction {
        let key = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        self.app.take_all(&[key], self.now)
    }
}

#[tokio::test]
async fn what_is_asked_while_one_looks_appears_and_the_selection_stays() {
    let mut desk = Desk::new().await;
    assert!(desk.looks().await.0.contains("Nothing is pending."));
    desk.ask("call_1", "mkdir first").await;
    let (screen, _) = desk.looks().await;
    assert!(
        screen.contains("1 pending") && screen.contains("│ mkdir first"),
        "{screen}"
    );
    desk.ask("call_2", "mkdir second").await;
    let (screen, _) = desk.looks().await;
    assert!(
        screen.contains("2 pending") && screen.contains("bash Create the folder `secon"),
        "{screen}"
    );
    assert!(
        screen.contains("│ mkdir first"),
        "still the one that was chosen: {screen}"
    );
}

#[tokio::test]
async fn beside_the_list_a_question_shows_none_of_its_own_keys() {
    let mut desk = Desk::new().await;
    desk.ask("call_1", "mkdir first").await;
    let (screen, _) = desk.looks().await;
    assert!(
        screen.contains("s session · r risk") && !screen.contains("[s]") && !screen.contains("[r]"),
        "{screen}"
    );
    desk.presses(KeyCode::Enter);
    let (screen, _) = desk.looks().await;
    assert!(
        screen.contains("[N] Reject") && screen.contains("[?] more"),
        "{screen}"
    );
}

#[tokio::test]
async fn in_a_small_window_nothing_says_that_leaving_refuses() {
    let mut desk = Desk::new().await;
    desk.screen = Terminal::new(TestBackend::new(60, 8)).unwrap();
    desk.ask("call_1", "mkdir first").await;
    desk.looks().await;
    desk.presses(KeyCode::Enter);
    let (screen, _) = desk.looks().await;
    assert!(
        screen.contains("Too small") && screen.contains("leaves it pending") && !screen.contains("rejects"),
        "{screen}"
    );
    let leaving = Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert!(matches!(desk.app.take_all(&[leaving], desk.now), AppAction::Quit));
}

#[tokio::test]
async fn several_keys_at_one_stroke_open_a_question_at_most_and_decide_nothing() {
    let stroke = |codes: &[KeyCode]| {
        let key = |code: &KeyCode| Event::Key(KeyEvent::new(*code, KeyModifiers::NONE));
        codes.iter().map(key).collect::<Vec<_>>()
    };
    let (enter, yes) = (KeyCode::Enter, KeyCode::Char('y'));
    let mut desk = Desk::new().await;
    desk.ask("call_1", "mkdir first").await;
    desk.looks().await;
    let opened = desk.app.take_all(&stroke(&[enter, yes, enter, yes]), desk.now);
    assert!(matches!(opened, AppAction::Nothing));
    desk.looks().await;
    desk.looks().await;
    for codes in [&[yes, enter][..], &[yes, yes], &[KeyCode::Char('q'), yes]] {
        let effect = desk.app.take_all(&stroke(codes), desk.now);
        assert!(matches!(effect, AppAction::Nothing), "{codes:?}");
        assert!(
            desk.looks().await.0.contains(&prompt::one_key().to_string()),
            "{codes:?}"
        );
    }
    let alone = desk.app.take_all(&stroke(&[yes]), desk.now);
    assert!(matches!(alone, AppAction::Answer(..)));
}

#[tokio::test]
async fn a_question_answered_elsewhere_leaves_the_screen_and_no_key_reaches_the_next_one() {
    let mut desk = Desk::new().await;
    let first = desk.ask("call_1", "mkdir first").await;
    desk.ask("call_2", "mkdir second").await;
    desk.looks().await;
    desk.presses(KeyCode::Enter);
    desk.looks().await;
    let answer = Answer {
        by: person("wei"),
        option: "reject".into(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Program,
    };
    desk.engine.broker().answer(&first, answer).await.unwrap();
    let (screen, gone) = desk.looks().await;
    assert_eq!(gone, Some(first.clone()));
    assert!(
        screen.contains("1 pending") && !screen.contains("mkdir first"),
        "{screen}"
    );
    assert!(matches!(desk.presses(KeyCode::Char('y')), AppAction::Nothing));
    let came_to = waiting::came_to(&desk.client, &first, Locale::English)
        .await
        .unwrap();
    assert_eq!(came_to, "Rejected by wei.");
}
