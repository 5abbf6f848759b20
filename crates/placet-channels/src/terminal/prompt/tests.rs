//! The machine alone: no terminal, and a clock moved by hand.

use std::path::Path;

use expect_test::{Expect, expect};
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::ids::InteractionId;
use placet_core::interaction::Shown;
use placet_core::messages;
use placet_core::principal::Via;
use placet_core::standing::GrantReach;
use placet_engine::{Authority, Engine, Proposed};
use serde_json::json;

use super::super::guard::REACTION;
use super::*;

const ROOMY: Size = Size { cols: 100, rows: 40 };

/// A prompt about one shell line, and the time that has passed.
struct Play {
    engine: Engine,
    prompt: Prompt,
    now: Duration,
}

fn kim() -> Principal {
    Principal::Person {
        person: PersonId::new("kim").unwrap(),
        via: Via::Inbox,
    }
}

async fn engine() -> Engine {
    // A folder of the same name everywhere: screens show it.
    let builder = Engine::builder(Config::builtin(placet_inspect::builtin())).workspace(Path::new("/usr"));
    builder.start_in_memory().await.unwrap()
}

async fn ask(engine: &Engine, id: &str, command: &str) -> InteractionId {
    let call: ToolCall = serde_json::from_value(json!({
        "id": id, "tool": "bash", "args": { "command": command }, "session": id, "origin": { "agent": "a" },
    }))
    .unwrap();
    match engine.gate().propose(call).await.unwrap() {
        Proposed::Parked { on, .. } => on,
        other => panic!("a person must agree: {other:?}"),
    }
}

async fn decide(engine: &Engine, question: &InteractionId, option: &str) {
    let answer = Answer {
        by: kim(),
        option: option.into(),
        feedback: None,
        data: None,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Program,
    };
    engine.broker().answer(question, answer).await.unwrap();
}

impl Play {
    async fn about(command: &str) -> Self {
        Self::on(engine().await, command, Locale::English).await
    }

    async fn on(engine: Engine, command: &str, locale: Locale) -> Self {
        let on = ask(&engine, "job", command).await;
        let question = engine.broker().question(&on).await.unwrap().unwrap();
        let ask = Ask {
            scopes: engine.broker().offered(&question, &kim(), Authority::Admin),
            question,
            by: kim(),
            locale,
            interrupting: Interrupting::Refuses,
        };
        Self {
            engine,
            prompt: Prompt::new(ask, Duration::ZERO),
            now: Duration::from_secs(1),
        }
    }

    /// Looks up what a scope means, as the host of a prompt does.
    async fn previews(&mut self, effect: PromptAction) {
        let PromptAction::Preview(scope) = effect else {
            panic!("expected a scope to look up, got {effect:?}");
        };
        let preview = self.engine.broker().preview(self.prompt.question(), &scope).await;
        self.prompt.previewed(preview.unwrap().as_ref());
    }

    /// The screen without the title, which holds a code and a clock.
    fn shows(&mut self, size: Size, expected: &Expect) {
        let screen = self.draws(size);
        let (_, below) = screen.split_once('\n').unwrap();
        expected.assert_eq(below);
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

    fn key(&mut self, code: KeyCode) -> PromptAction {
        self.prompt
            .take(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)), self.now)
    }

    fn types(&mut self, text: &str) -> PromptAction {
        let mut last = PromptAction::Nothing;
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

fn answer(effect: PromptAction) -> Answer {
    match effect {
        PromptAction::Answer(answer) => *answer,
        other => panic!("expected an answer, got {other:?}"),
    }
}

#[tokio::test]
async fn nothing_counts_before_the_question_was_drawn_and_a_moment_after() {
    let mut play = Play::about("mkdir a").await;
    assert_eq!(play.types("y"), PromptAction::Nothing, "not drawn");
    play.draws(ROOMY);
    assert_eq!(play.types("y"), PromptAction::Nothing, "just drawn");
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
    assert_eq!(play.types("y"), PromptAction::Nothing);
    assert!(play.draws(low).contains("Read to the end first"));
    play.key(KeyCode::End);
    play.draws(low);
    assert_eq!(
        play.types("y"),
        PromptAction::Nothing,
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
    assert_eq!(play.types("y"), PromptAction::Nothing);
}

#[tokio::test]
async fn a_paste_is_text_and_never_an_answer() {
    let mut play = Play::about("mkdir a").await.seen(ROOMY);
    let paste = Event::Paste("y\n".into());
    assert_eq!(play.prompt.take(&paste, play.now), PromptAction::Nothing);
    play.types("r");
    assert_eq!(play.prompt.take(&paste, play.now), PromptAction::Nothing);
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
            PromptAction::Nothing,
            "{pasted:?}"
        );
        assert!(
            play.draws(ROOMY)
                .contains(&messages::prompt::one_key().to_string()),
            "{pasted:?}"
        );
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
        PromptAction::Nothing
    );
    let screen = play.draws(ROOMY);
    assert!(
        screen.contains("› hello y") && screen.contains("Enter sends it"),
        "{screen}"
    );
    assert_eq!(
        play.prompt.take_all(&keys("\u{1b}y"), play.now),
        PromptAction::Nothing,
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
    play.types("b\n");
    assert!(play.draws(ROOMY).contains("Changed by: kim"));
    let edited = answer(play.types("y")).edited_args.unwrap();
    assert_eq!(edited.canonical(), r#"{"command":"mkdir b"}"#);
    assert_eq!(
        play.types("yn"),
        PromptAction::Nothing,
        "the answer is on its way"
    );
    play.prompt.refused("it does not fit");
    let screen = play.draws(ROOMY);
    assert!(
        screen.contains("it does not fit") && screen.contains("› mkdir b"),
        "{screen}"
    );
}

#[tokio::test]
async fn five_keys_are_shown_and_the_others_are_one_key_away_and_count_all_the_same() {
    let mut play = Play::about("mkdir a").await.seen(ROOMY);
    let screen = play.draws(ROOMY);
    let row = screen.lines().last().unwrap();
    assert_eq!(row.matches('[').count(), 5, "{row}");
    play.types("?");
    let help = play.draws(ROOMY);
    for key in [
        "[y]", "[n]", "[e]", "[E]", "[r]", "[t]", "[s]", "[x]", "[a]", "[m]",
    ] {
        assert!(help.contains(key), "{key} {help}");
    }
    play.types("?");
    assert_eq!(answer(play.types("s")).option, "skip");
}

#[tokio::test]
async fn as_a_rule_shows_the_rule_and_its_past_before_it_counts() {
    let engine = engine().await;
    let earlier = ask(&engine, "earlier", "git fetch upstream").await;
    decide(&engine, &earlier, "approve").await;
    let mut play = Play::on(engine, "git fetch origin", Locale::English)
        .await
        .seen(ROOMY);
    play.types("a7");
    play.shows(
        ROOMY,
        &expect![[r#"
            Run `git fetch origin` [MEDIUM]
            Where: folder /usr
            Why you are asked: No rule allows this command, so someone has to approve it
            │ git fetch origin
              ↳ [MEDIUM]

            Asked by: a
            Arguments:
            │ command: "git fetch origin"
            ────────────────────────────────────────────────────────────────────────────────────────────────────
            Approve, and don't ask again for:
             1 This call: this exact `bash` call, in session `job` only
             2 In this conversation: `bash` lines in which every command is `git fetch origin`, in session 
            `job` only
             3 In this conversation: `bash` lines in which every command is `git fetch *`, in session `job` only
             4 In this project: `bash` lines in which every command is `git fetch origin`, in every session of 
            the project `/usr`
             5 In this project: `bash` lines in which every command is `git fetch *`, in every session of the 
            project `/usr`
             6 As a rule: `bash` lines in which every command is `git fetch origin`, in every session
            ›7 As a rule: `bash` lines in which every command is `git fetch *`, in every session
            For  15 minutes  1 hour  8 hours  1 day  7 days  30 days  ‹365 days›
            [y] Approve on these terms  [↑↓] What  [←→] How long  [N] Back
        "#]],
    );
    let effect = play.types("y");
    assert!(
        play.draws(ROOMY)
            .contains(&messages::prompt::looking_back().to_string())
    );
    play.previews(effect).await;
    play.shows(
        ROOMY,
        &expect![[r#"
            Don't ask again, as a rule
            Covers: `bash` lines in which every command is `git fetch *`, in every session

            The rule, with its examples:
            │ [[rules]]
            │ name = "approved before: git fetch *"
            │ effect = "allow"
            │ tool = "bash"
            │ command = ["git fetch *"]
            │ matches = ["git fetch origin"]
            In the last seven days it would have covered: 2 calls, 1 approved and 0 rejected by approvers
            For example: Run `git fetch upstream`
            For example: Run `git fetch origin`
            Afterwards: `placet grants` lists, revokes and exports it to placet.toml.
            ────────────────────────────────────────────────────────────────────────────────────────────────────
            Approve, and don't ask again for 365 days?
            [y] Yes  [N] Back
        "#]],
    );
    assert_eq!(play.types("y"), PromptAction::Nothing, "just drawn");
    play.now += REACTION;
    let remember = answer(play.types("y")).remember.unwrap();
    assert_eq!(remember.scope.reach(), GrantReach::Rule);
    assert_eq!(remember.lasts, GrantReach::Rule.lasts());
}

#[tokio::test]
async fn in_the_project_shows_its_past_and_enter_goes_back() {
    let mut play = Play::on(engine().await, "git fetch origin", Locale::Chinese)
        .await
        .seen(ROOMY);
    let effect = play.types("a5y");
    play.previews(effect).await;
    play.shows(
        Size { cols: 40, rows: 24 },
        &expect![[r#"
            不再询问：在本项目中
            涵盖：`bash` 中每条命令都是 `git
              fetch *` 的命令行，项目 `/usr`
              内的所有会话

            过去七天内会涵盖：1 次调用，其中 0
              次获批、0 次被拒绝
            例如：Run `git fetch origin`
            保存后：可用 `placet grants`
              查看和撤销。
            ────────────────────────────────────────
            批准，并在 30 天内不再询问？
            [y] 确定  [N] 返回
        "#]],
    );
    play.now += REACTION;
    assert_eq!(play.types("\n"), PromptAction::Nothing);
    play.shows(
        Size { cols: 40, rows: 24 },
        &expect![[r#"
            执行 `git fetch origin` [中]
            位置：目录 /usr
            审批原因：没有规则允许此命令，需人工
              审批
            │ git fetch origin
              ↳ [中]

            发起方：a
            参数：
            │ command: "git fetch origin"
            ────────────────────────────────────────
            批准，并且以下情况不再询问：
            ›5 本项目：`bash` 中每条命令都是 `git 
            fetch *` 的命令行，项目 `/usr` 
            内的所有会话
            ↑↓ 第 5 项，共 7 项
            期限  15 分钟  1 小时  8 小时  1 天
            7 天  ‹30 天›  365 天
            [y] 按此批准  [↑↓] 范围  [←→] 期限
            [N] 返回
        "#]],
    );
    play.key(KeyCode::Left);
    let effect = play.types("y");
    play.previews(effect).await;
    play.draws(ROOMY);
    play.now += REACTION;
    let remember = answer(play.types("y")).remember.unwrap();
    assert_eq!(remember.scope.reach(), GrantReach::Project);
    assert_eq!(remember.lasts, Millis::from_secs(7 * 24 * 3600));
}

#[tokio::test]
async fn in_the_conversation_no_second_step_is_needed_and_no_year_is_offered() {
    let mut play = Play::about("git fetch origin").await.seen(ROOMY);
    play.types("a2");
    assert!(!play.draws(ROOMY).contains("365 days"));
    let remember = answer(play.types("y")).remember.unwrap();
    assert_eq!(remember.scope.reach(), GrantReach::Session);
    assert_eq!(remember.lasts, Millis::from_secs(3600));
}

#[tokio::test]
async fn a_rule_is_granted_only_after_every_line_of_it_was_on_the_screen() {
    let low = Size { cols: 60, rows: 14 };
    let mut play = Play::about("git fetch origin").await.seen(low);
    let effect = play.types("a7y");
    play.previews(effect).await;
    play.draws(low);
    play.now += REACTION;
    assert_eq!(play.types("y"), PromptAction::Nothing);
    assert!(play.draws(low).contains("Read to the end first"));
    for _ in 0..20 {
        play.types(" ");
        play.draws(low);
    }
    assert!(answer(play.types("y")).remember.is_some());
}

#[tokio::test]
async fn what_covers_a_call_that_a_person_refused_is_shown_and_cannot_be_granted() {
    let engine = engine().await;
    let earlier = ask(&engine, "earlier", "git fetch origin").await;
    decide(&engine, &earlier, "reject").await;
    let mut play = Play::on(engine, "git fetch origin", Locale::English)
        .await
        .seen(ROOMY);
    let effect = play.types("a7y");
    play.previews(effect).await;
    let screen = play.draws(ROOMY);
    assert!(
        screen.contains("1 rejected by approvers")
            && screen.contains("cannot be used")
            && !screen.contains("[y]"),
        "{screen}"
    );
    play.now += REACTION;
    assert_eq!(play.types("y"), PromptAction::Nothing);
    assert!(
        play.draws(ROOMY)
            .contains(&messages::prompt::choose_narrower().to_string())
    );
}

#[tokio::test]
async fn a_preview_of_another_scope_is_not_taken_for_the_chosen_one() {
    let mut play = Play::about("git fetch origin").await.seen(ROOMY);
    let effect = play.types("a7y");
    play.types("6");
    play.previews(effect).await;
    assert!(!play.draws(ROOMY).contains("sure?"));
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
    for locale in [Locale::English, Locale::Chinese] {
        let mut play = Play::on(engine().await, "git fetch origin", locale)
            .await
            .seen(ROOMY);
        let effect = play.types("a7y");
        play.previews(effect).await;
        for cols in [2, 23, 24, 25, 31, 60, 133] {
            for rows in [1, 7, 8, 9, 15, 50] {
                play.draws(Size { cols, rows });
            }
        }
    }
}
