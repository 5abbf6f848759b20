//! The machine alone: no terminal, and a clock moved by hand.

use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::interaction::Shown;
use placet_core::principal::Via;
use placet_engine::{Engine, Proposed};
use serde_json::json;

use super::super::guard::REACTION;
use super::*;

const ROOMY: Size = Size { cols: 100, rows: 40 };

/// A prompt about one shell line, and the time that has passed.
struct Play {
    prompt: Prompt,
    now: Duration,
}

impl Play {
    async fn about(command: &str) -> Self {
        let engine = Engine::builder(Config::builtin())
            .start_in_memory()
            .await
            .unwrap();
        let call: ToolCall = serde_json::from_value(json!({
            "id": "call_1", "tool": "bash", "args": { "command": command }, "session": "job", "origin": { "agent": "a" },
        }))
        .unwrap();
        let Proposed::Parked { on, .. } = engine.gate().propose(call).await.unwrap() else {
            panic!("a person must agree");
        };
        let question = engine.broker().question(&on).await.unwrap().unwrap();
        let ask = Ask {
            scopes: engine.broker().scopes(&question),
            question,
            by: Principal::Person {
                person: PersonId::new("kim").unwrap(),
                via: Via::Inbox,
            },
            locale: Locale::English,
            interrupting: Interrupting::Refuses,
        };
        Self {
            prompt: Prompt::new(ask, Duration::ZERO),
            now: Duration::from_secs(1),
        }
    }

    /// Draws, and waits until keys count.
    fn seen(mut self, size: Size) -> Self {
        self.draws(size);
        self.now += REACTION;
        self
    }

    fn draws(&mut self, size: Size) -> String {
        let screen = self.prompt.draw(size, self.now);
        self.prompt.drawn(self.now);
        assert!(
            screen.lines.len() <= size.rows,
            "{} lines in {size:?}",
            screen.lines.len()
        );
        for line in &screen.lines {
            assert!(
                line.width() <= size.cols,
                "too wide for {size:?}: {}",
                line.text()
            );
        }
        screen.lines.iter().map(|line| line.text() + "\n").collect()
    }

    fn key(&mut self, code: KeyCode) -> Effect {
        self.prompt
            .take(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)), self.now)
    }

    fn types(&mut self, text: &str) -> Effect {
        let mut last = Effect::Nothing;
        for c in text.chars() {
            last = self.key(if c == '\n' {
                KeyCode::Enter
            } else {
                KeyCode::Char(c)
            });
        }
        last
    }
}

fn answer(effect: Effect) -> Answer {
    match effect {
        Effect::Answer(answer) => *answer,
        other => panic!("expected an answer, got {other:?}"),
    }
}

#[tokio::test]
async fn nothing_counts_before_the_question_was_drawn_and_a_moment_after() {
    let mut play = Play::about("mkdir a").await;
    assert_eq!(play.types("y"), Effect::Nothing, "not drawn");
    play.draws(ROOMY);
    assert_eq!(play.types("y"), Effect::Nothing, "just drawn");
    play.now += REACTION;
    let answer = answer(play.types("y"));
    assert_eq!(answer.option, "approve");
    assert!(matches!(answer.shown, Shown::Whole(_)));
}

#[tokio::test]
async fn enter_takes_the_default_and_an_interruption_says_why() {
    let mut play = Play::about("rm -rf a").await.seen(ROOMY);
    assert_eq!(answer(play.types("\n")).option, "reject");
    let mut play = Play::about("rm -rf a").await.seen(ROOMY);
    let interrupt = Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    let answer = answer(play.prompt.take(&interrupt, play.now));
    assert_eq!(answer.feedback.as_deref(), Some("interrupted at the terminal"));
}

#[tokio::test]
async fn high_is_approved_only_after_every_line_was_on_the_screen() {
    let lines: Vec<String> = (0..20).map(|n| format!("rm -rf a{n}")).collect();
    let low = Size { cols: 80, rows: 14 };
    let mut play = Play::about(&lines.join(" && ")).await.seen(low);
    assert_eq!(play.types("y"), Effect::Nothing);
    assert!(play.draws(low).contains("Read it to the end first"));
    play.key(KeyCode::End);
    play.draws(low);
    assert_eq!(
        play.types("y"),
        Effect::Nothing,
        "jumping to the end is not reading"
    );
    play.key(KeyCode::Home);
    while play.prompt.sheet().unseen() > 0 {
        play.draws(low);
        play.types(" ");
    }
    assert!(matches!(answer(play.types("y")).shown, Shown::Whole(_)));
}

#[tokio::test]
async fn another_width_is_another_text_and_must_be_read_again() {
    let lines: Vec<String> = (0..20).map(|n| format!("rm -rf a{n}")).collect();
    let mut play = Play::about(&lines.join(" && "))
        .await
        .seen(Size { cols: 90, rows: 80 });
    assert_eq!(play.prompt.sheet().unseen(), 0);
    play.draws(Size { cols: 60, rows: 14 });
    assert_eq!(play.types("y"), Effect::Nothing);
}

#[tokio::test]
async fn a_paste_is_text_and_never_an_answer() {
    let mut play = Play::about("mkdir a").await.seen(ROOMY);
    let paste = Event::Paste("y\n".into());
    assert_eq!(play.prompt.take(&paste, play.now), Effect::Nothing);
    play.types("r");
    assert_eq!(play.prompt.take(&paste, play.now), Effect::Nothing);
    assert_eq!(answer(play.types("\n")).feedback.as_deref(), Some("y "));
}

fn keys(text: &str) -> Vec<Event> {
    let code = |c: char| match c {
        '\n' => KeyCode::Enter,
        '\u{1b}' => KeyCode::Esc,
        c => KeyCode::Char(c),
    };
    text.chars()
        .map(|c| Event::Key(KeyEvent::new(code(c), KeyModifiers::NONE)))
        .collect()
}

/// A terminal without bracketed paste delivers a paste as keys.
#[tokio::test]
async fn several_keys_at_one_stroke_decide_nothing_whatever_they_are() {
    for pasted in [
        "y\n",
        "yy",
        "y ",
        "n\n",
        "ny",
        "\ny",
        "x y",
        "sy\n",
        "yes please\n",
        "?y",
        "\u{1b}y",
    ] {
        let mut play = Play::about("mkdir build").await.seen(ROOMY);
        assert_eq!(
            play.prompt.take_all(&keys(pasted), play.now),
            Effect::Nothing,
            "{pasted:?}"
        );
        assert!(play.draws(ROOMY).contains("Several keys at once"), "{pasted:?}");
        let answer = answer(play.key(KeyCode::Char('y')));
        assert_eq!(answer.option, "approve", "and one key alone decides as before");
    }
}

#[tokio::test]
async fn several_keys_at_one_stroke_fill_a_text_and_never_send_it() {
    let mut play = Play::about("mkdir build").await.seen(ROOMY);
    play.key(KeyCode::Char('m'));
    // A message to the agent, a line break, and what would be an approval.
    assert_eq!(
        play.prompt.take_all(&keys("hello\ny\n"), play.now),
        Effect::Nothing
    );
    let screen = play.draws(ROOMY);
    assert!(
        screen.contains("› hello y") && screen.contains("Enter sends it"),
        "{screen}"
    );
    assert_eq!(
        play.prompt.take_all(&keys("\u{1b}y"), play.now),
        Effect::Nothing,
        "nor leaves it"
    );
    play.key(KeyCode::Enter);
    let answer = answer(play.key(KeyCode::Char('y')));
    assert_eq!(answer.instruction.as_deref(), Some("hello yy"));
}

#[tokio::test]
async fn an_interruption_among_several_keys_refuses() {
    let mut play = Play::about("mkdir build").await.seen(ROOMY);
    let mut stroke = keys("yy");
    stroke.push(Event::Key(KeyEvent::new(
        KeyCode::Char('c'),
        KeyModifiers::CONTROL,
    )));
    assert_eq!(answer(play.prompt.take_all(&stroke, play.now)).option, "reject");
}

#[tokio::test]
async fn a_refused_edit_comes_back_as_text_to_mend() {
    let mut play = Play::about("mkdir a").await.seen(ROOMY);
    play.types("e");
    play.key(KeyCode::Backspace);
    play.types(",\"x\":1}\n");
    assert!(play.draws(ROOMY).contains("Changed by: kim"));
    let edited = answer(play.types("y")).edited_args.unwrap();
    assert_eq!(edited.canonical(), r#"{"command":"mkdir a","x":1}"#);
    assert_eq!(play.types("yn"), Effect::Nothing, "the answer is on its way");
    play.prompt.refused("it does not fit");
    let screen = play.draws(ROOMY);
    assert!(
        screen.contains("it does not fit") && screen.contains(r#"› {"command":"mkdir a","x":1}"#),
        "{screen}"
    );
}

#[tokio::test]
async fn no_size_of_the_terminal_breaks_the_drawing_in_any_mode() {
    for keys in ["", "a", "e", "r", "x", "?", "m"] {
        let mut play = Play::about(&format!("mkdir {}", "中文 路径/".repeat(30)))
            .await
            .seen(ROOMY);
        play.types(keys);
        for cols in [2, 23, 24, 25, 31, 60, 133] {
            for rows in [1, 7, 8, 9, 15, 50] {
                play.draws(Size { cols, rows });
            }
        }
    }
}
