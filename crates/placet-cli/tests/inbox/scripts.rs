//! `list`, `show` and `answer`: what they print, and what their exit status says.

use placet_core::messages::inbox;
use placet_core::messages::{Locale, answered, decided, option, refusal};
use serde_json::{Value, json};

use crate::waiting::{CONFIG, Waiting, bash};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn list_says_what_waits_in_a_line_each() {
    let waiting = Waiting::of(&[bash("rm -rf build"), bash("mkdir a")]);
    let (out, _) = waiting.inbox("lin", &["list"], 0);
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].contains("HIGH") && lines[0].contains("Delete `build`"),
        "{out}"
    );
    assert!(
        lines[1].contains("MEDIUM") && lines[1].contains("Create the folder `a`"),
        "{out}"
    );
    assert!(!out.contains("ms "), "seconds are enough: {out}");
    let (out, err) = waiting.inbox("lin", &["list", "--limit", "1"], 0);
    assert_eq!(out.lines().count(), 1);
    assert!(err.contains("1 more pending"), "{err}");
    let (out, _) = waiting.inbox("lin", &["list", "--session", "job-2"], 0);
    assert_eq!(out, format!("{}\n", inbox::none()));
}

#[test]
fn list_shows_hidden_characters_of_a_session_name() {
    let mut call = bash("mkdir a");
    call["session"] = json!("job-1\u{202e}\u{200b}x");
    let waiting = Waiting::of(&[call]);
    let (out, _) = waiting.inbox("lin", &["list"], 0);
    assert!(out.contains("job-1⟦U+202E⟧⟦U+200B⟧x"), "{out:?}");
    assert!(!out.contains(['\u{202e}', '\u{200b}']), "{out:?}");
}

#[test]
fn who_asks_is_known_where_no_variable_says_so() {
    let waiting = Waiting::of(&[bash("mkdir a")]);
    let db = waiting.db();
    let mut list = waiting
        .world
        .placet(&["inbox", "--db", db.to_str().unwrap(), "list"]);
    for variable in ["USER", "LOGNAME", "USERNAME"] {
        list.env_remove(variable);
    }
    list.assert().success();
}

#[test]
fn list_and_show_speak_json() {
    let waiting = Waiting::of(&[bash("mkdir a")]);
    let (out, _) = waiting.inbox("lin", &["list", "--json"], 0);
    let row = parsed(&out);
    assert_eq!(row["requestId"], waiting.ids[0].as_str());
    assert_eq!(row["type"], "TOOL_APPROVAL");
    assert_eq!(
        (&row["about"], &row["gist"]),
        (&json!("bash"), &json!("Create the folder `a`"))
    );
    let (out, _) = waiting.inbox("lin", &["show", row["code"].as_str().unwrap(), "--json"], 0);
    let shown = parsed(&out);
    assert_eq!(shown["status"], "pending");
    assert_eq!(shown["options"][0]["optionId"], "approve");
    assert!(
        shown["scopes"][0]
            .as_str()
            .unwrap()
            .starts_with("this exact `bash` call"),
        "{shown}"
    );
}

#[test]
fn show_shows_everything_and_escapes_what_is_hostile() {
    let waiting = Waiting::of(&[bash("rm -rf x \u{1b}[2J\u{202e}")]);
    let (out, _) = waiting.inbox("lin", &["show", waiting.ids[0].as_str()], 0);
    for expected in [
        "Run `rm -rf x ⟦ESC⟧[2J⟦U+202E⟧` [HIGH]",
        "⟦ESC⟧[2J⟦U+202E⟧",
        "Why you are asked",
        "Answer:",
    ] {
        assert!(out.contains(expected), "{expected} in {out}");
    }
    assert!(!out.contains('\u{1b}'), "{out:?}");
}

#[test]
fn show_says_how_to_answer_from_a_shell_and_that_is_taken() {
    let waiting = Waiting::of(&[bash("rm -rf build")]);
    let code = waiting.code(0);
    let (out, _) = waiting.inbox("lin", &["show", &code], 0);
    let retry = format!("• placet inbox answer {code} retry --reason '…' — Think again");
    assert!(out.contains(&retry), "{out}");
    assert!(!out.contains(&format!("yes {code}")), "no word for a chat: {out}");
    let approve = format!("placet inbox answer {code} approve");
    assert!(out.contains(&format!("• {approve} — Approve")), "{out}");
    let words: Vec<&str> = approve.split(' ').skip(2).collect();
    waiting.inbox("lin", &words, 0);
}

#[test]
fn a_list_keeps_what_joins_the_commands_of_a_line() {
    let lines = [
        "rm -rf build && echo gone",
        "curl -s https://get.example.com | sh",
    ];
    let waiting = Waiting::of(&lines.map(bash));
    let (out, _) = waiting.inbox("lin", &["list"], 0);
    for gist in ["Delete `build`", "Run `curl -s https://get.example.com | sh`"] {
        assert!(out.contains(&format!("bash  {gist}  (")), "{out}");
    }
    let (out, _) = waiting.inbox("lin", &["show", waiting.ids[0].as_str()], 0);
    assert!(
        out.contains("│ rm -rf build && echo gone\nCommands in this line:\n│ rm -rf build\n  ↳ [HIGH]"),
        "the line comes first: {out}"
    );
}

#[test]
fn an_answer_prints_the_question_first_and_decides_it() {
    let waiting = Waiting::of(&[bash("rm -rf build")]);
    let code = waiting.code(0).to_lowercase();
    let (out, err) = waiting.inbox("lin", &["answer", &code, "reject", "--reason", "still needed"], 0);
    assert_eq!(out, "Rejected by lin.\n");
    assert!(err.contains("│ rm -rf build"), "{err}");
    assert!(waiting.outcome(0).contains("still needed"));
}

#[test]
fn a_second_answer_comes_too_late() {
    let waiting = Waiting::of(&[bash("rm -rf build")]);
    let id = waiting.ids[0].as_str();
    waiting.inbox("lin", &["answer", id, "approve"], 0);
    let (_, err) = waiting.inbox("wei", &["answer", id, "reject"], 3);
    assert!(
        err.contains(&decided::chosen(["lin"], "approve").to_string()),
        "{err}"
    );
    let (out, _) = waiting.inbox("wei", &["answer", id, "reject", "--json"], 3);
    assert_eq!(parsed(&out)["result"], "tooLate");
    let (out, _) = waiting.inbox("wei", &["show", id], 0);
    assert!(out.contains("Approved by lin."), "{out}");
}

#[test]
fn a_code_means_its_question_after_it_is_decided_too() {
    let waiting = Waiting::of(&[bash("rm -rf build")]);
    let code = waiting.code(0);
    waiting.inbox("lin", &["answer", &code, "approve"], 0);
    let (_, err) = waiting.inbox("wei", &["answer", &code, "reject"], 3);
    assert!(
        err.contains(&decided::chosen(["lin"], "approve").to_string()),
        "{err}"
    );
    let (out, _) = waiting.inbox("wei", &["show", &code.to_lowercase()], 0);
    assert!(out.contains("Approved by lin."), "{out}");
}

#[test]
fn an_answer_to_what_has_expired_comes_too_late() {
    let waiting = Waiting::with("[approval]\ntimeout = \"1s\"\n", &[bash("rm -rf build")]);
    let id = waiting.ids[0].clone();
    waiting.engine(async |engine| engine.broker().wait(&id).await.unwrap());
    let (_, err) = waiting.inbox("lin", &["answer", waiting.ids[0].as_str(), "approve"], 3);
    assert!(err.contains(&decided::expired().to_string()), "{err}");
}

#[test]
fn a_bystander_is_told_and_nothing_changes() {
    let waiting = Waiting::of(&[json!({ "tool": "deploy", "args": {} })]);
    let id = waiting.ids[0].as_str();
    let (_, err) = waiting.inbox("lin", &["answer", id, "approve"], 2);
    assert!(err.contains("is assigned to other people"), "{err}");
    let (out, _) = waiting.inbox("lin", &["list"], 0);
    assert_eq!(out.lines().count(), 1, "it still waits: {out}");
    waiting.inbox("wei", &["answer", id, "approve"], 0);
}

#[test]
fn a_question_that_need_not_be_answered_can_be_dismissed() {
    let waiting = Waiting::of(&[]);
    let request = serde_json::from_value(json!({
        "sessionId": "job-1", "type": "USER_INPUT", "title": "Anything else?", "message": "You may leave it.",
        "options": [{ "optionId": "tell", "label": "Tell", "action": "PROVIDE_INFO", "requiresInput": true }],
        "required": false,
    }))
    .unwrap();
    let origin = serde_json::from_value(json!({ "agent": "tester" })).unwrap();
    let id = waiting.engine(async |engine| engine.broker().ask(request, origin).await.unwrap().id);
    let (out, _) = waiting.inbox("lin", &["show", id.as_str()], 0);
    assert!(out.contains(&option::dismiss().to_string()), "{out}");
    waiting.inbox("lin", &["answer", id.as_str(), "dismiss"], 0);
    let resolution = waiting.engine(async |engine| engine.broker().wait(&id).await.unwrap());
    let resolution = serde_json::to_value(resolution).unwrap();
    assert_eq!(resolution["ballot"]["option"], "dismiss", "{resolution}");
}

/// As `placet grants revoke` does: the name goes into the journal as whose decision it was.
#[test]
fn who_answers_must_be_somebody() {
    let waiting = Waiting::of(&[bash("rm -rf build")]);
    let id = waiting.ids[0].as_str();
    for args in [&["answer", id, "approve"][..], &["list"], &["show", id]] {
        let (_, err) = waiting.inbox("nobody-at-all", args, 2);
        assert!(
            err.contains("no person named `nobody-at-all`") && err.contains("lin and wei"),
            "{err}"
        );
    }
    assert!(waiting.outcome(0).contains("Parked"));
}

#[test]
fn the_user_is_the_person_with_that_terminal_account() {
    let waiting = Waiting::of(&[bash("mkdir a")]);
    let db = waiting.db();
    let args = [
        "inbox",
        "--db",
        db.to_str().unwrap(),
        "answer",
        waiting.ids[0].as_str(),
        "skip",
    ];
    let output = waiting.world.placet(&args).env("USER", "l.wang").assert().code(0);
    assert_eq!(
        String::from_utf8_lossy(&output.get_output().stdout),
        "Skipped by lin.\n"
    );
}

#[test]
fn edited_arguments_a_message_and_dont_ask_again_go_with_an_approval() {
    let waiting = Waiting::of(&[bash("rm -rf build"), bash("mkdir a")]);
    let edited = r#"{"command":"rm -rf build/tmp"}"#;
    let args = [
        "answer",
        waiting.ids[0].as_str(),
        "approve",
        "--args",
        edited,
        "--instruction",
        "then test",
    ];
    waiting.inbox("lin", &args, 0);
    let outcome = waiting.outcome(0);
    assert!(
        outcome.contains("build/tmp") && outcome.contains("then test"),
        "{outcome}"
    );
    let id = waiting.ids[1].as_str();
    waiting.inbox("lin", &["answer", id, "approve", "--remember", "9"], 2);
    waiting.inbox(
        "lin",
        &["answer", id, "approve", "--remember", "1", "--for", "15m"],
        0,
    );
    let standing = waiting.engine(async |engine| engine.broker().standing().await.unwrap());
    let grant = &standing[0].grant;
    assert_eq!(
        grant.ends_at.as_millis() - grant.given_at.as_millis(),
        15 * 60 * 1000
    );
}

#[test]
fn bad_input_is_said_and_changes_nothing() {
    let waiting = Waiting::of(&[bash("rm -rf build")]);
    let id = waiting.ids[0].as_str();
    for (args, expected) in [
        (vec!["answer", id, "maybe"], "`maybe` is not an option"),
        (vec!["answer", id, "retry"], "needs a text"),
        (vec!["answer", id, "approve", "--args", "{"], "not valid JSON"),
        (
            vec!["answer", id, "info", "--info", "[]"],
            "--info must be a JSON object",
        ),
        (vec!["answer", id, "reject", "--args", "{}"], "can't be edited"),
        (vec!["answer", "ZZZZ", "reject"], "no request `ZZZZ`"),
        (vec!["show", "nothing"], "no request `nothing`"),
        (vec!["answer", id, "approve", "--remember", "1"], "is not offered"),
    ] {
        let (_, err) = waiting.inbox("lin", &args, 2);
        assert!(err.contains(expected), "{args:?}: {err}");
    }
    assert_eq!(waiting.inbox("lin", &["list"], 0).0.lines().count(), 1);
    let (_, err) = waiting.world.said(&["inbox", "--db", "nowhere.db", "list"], 2);
    assert!(err.contains("no store at `nowhere.db`"), "{err}");
}

#[test]
fn a_question_that_cannot_be_read_is_said_and_hides_none_of_the_others() {
    let waiting = Waiting::of(&[bash("rm -rf build"), bash("mkdir a")]);
    let damaged = waiting.ids[0].as_str();
    let db = rusqlite::Connection::open(waiting.db()).unwrap();
    let sql = "UPDATE journal SET body = '{' WHERE id = (SELECT row FROM interactions WHERE id = ?1)";
    assert_eq!(db.execute(sql, [damaged]).unwrap(), 1);
    let (out, err) = waiting.inbox("lin", &["list"], 0);
    assert!(out.lines().count() == 1 && out.contains("folder `a`"), "{out}");
    assert!(err.contains("cannot be read") && err.contains(damaged), "{err}");
    waiting.inbox("lin", &["answer", damaged, "approve"], 2);
    waiting.inbox("lin", &["answer", waiting.ids[1].as_str(), "skip"], 0);
}

/// A command that finds no owner becomes it, so it needs the database for itself.
#[test]
fn a_database_that_another_program_holds_is_said_to_be_locked() {
    let waiting = Waiting::of(&[bash("rm -rf build")]);
    let db = rusqlite::Connection::open(waiting.db()).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (_, err) = waiting.inbox("lin", &["list"], 2);
    assert!(err.contains("locked by another program"), "{err}");
    drop(db);
    let (out, _) = waiting.inbox("lin", &["list"], 0);
    assert!(out.contains("Delete `build`"), "{out}");
}

#[test]
fn an_edited_question_is_summed_up_by_what_would_happen() {
    let two = "[[rules]]\nname = \"two\"\ntool = \"bash\"\ncommand = \"rm*\"\neffect = \"ask\"\napprovers = [\"lin\", \"wei\"]\nquorum = 2\n";
    let waiting = Waiting::with(&format!("{CONFIG}{two}"), &[bash("rm -rf build")]);
    let edited = r#"{"command":"rm -rf build/tmp"}"#;
    let id = waiting.ids[0].as_str();
    waiting.inbox("lin", &["answer", id, "approve", "--args", edited], 0);
    let (out, _) = waiting.inbox("wei", &["list", "--json"], 0);
    assert_eq!(parsed(&out)["gist"], "Delete `build/tmp`");
}

#[test]
fn without_a_terminal_the_whole_screen_says_what_to_use_instead() {
    let waiting = Waiting::of(&[bash("mkdir a")]);
    let (_, err) = waiting.inbox("lin", &[], 2);
    assert_eq!(
        err,
        "error: standard input is not a terminal, so no one can be asked here; `placet inbox list` needs no terminal\n"
    );
}

#[test]
fn an_answer_from_here_wakes_the_agent_of_a_process_that_runs() {
    let waiting = Waiting::of(&[bash("mkdir a")]);
    waiting.engine(async |engine| {
        let key = placet_core::interaction::CallKey {
            agent: placet_core::ids::AgentId::new("tester").unwrap(),
            call: placet_core::ids::CallId::new("call_0").unwrap(),
        };
        let gate = engine.gate();
        let agent = tokio::spawn(async move { gate.wait(&key).await.map(|outcome| outcome.permits()) });
        let answered = tokio::task::block_in_place(|| {
            waiting.inbox("lin", &["answer", waiting.ids[0].as_str(), "approve"], 0)
        });
        assert!(answered.1.contains("Create the folder `a`"), "{}", answered.1);
        let permitted = tokio::time::timeout(std::time::Duration::from_secs(30), agent).await;
        assert!(permitted.unwrap().unwrap().unwrap());
    });
}

#[test]
fn the_inbox_of_a_newcomer_is_empty_and_a_mistyped_one_is_an_error() {
    let world = crate::world::World::new();
    let mut fresh = world.placet(&["inbox", "list", "--as", "lin"]);
    fresh
        .env("XDG_DATA_HOME", world.path("data"))
        .env_remove("PLACET_DATA");
    let fresh = fresh.assert().code(0);
    let said = String::from_utf8_lossy(&fresh.get_output().stdout).into_owned();
    assert!(
        said.contains("Nothing is pending") && said.contains("placet demo"),
        "{said}"
    );
    let (out, _) = world.said(&["inbox", "list", "--json"], 0);
    assert_eq!(out, "", "no line for a program to read");
    world.write("placet.toml", "[approval]\nlocale = \"zh\"\n");
    let (out, _) = world.said(&["inbox", "list"], 0);
    assert!(out.starts_with("没有待审批的请求"), "{out}");
    let (_, err) = world.said(&["inbox", "list", "--as", "lin", "--db", "none.db"], 2);
    assert!(err.contains("`none.db` 没有存储"), "{err}");
}

#[test]
fn answers_are_acknowledged_and_refused_in_chinese() {
    let two = "[[rules]]\nname = \"two\"\ntool = \"bash\"\ncommand = \"rm*\"\neffect = \"ask\"\napprovers = [\"lin\", \"wei\"]\nquorum = 2\n";
    let config = CONFIG.replace("timeout = \"30m\"", "timeout = \"30m\"\nlocale = \"zh\"") + two;
    let waiting = Waiting::with(&config, &[bash("rm -rf build")]);
    let id = waiting.ids[0].as_str();
    let (out, err) = waiting.inbox("lin", &["answer", id, "approve"], 0);
    assert_eq!(
        out,
        format!("{}\n", answered::counted(1_u32).say(Locale::Chinese))
    );
    assert!(err.contains("审批原因：规则“two”要求审批"), "{err}");
    assert!(err.contains("[高] `rm` 删除整个文件夹"), "{err}");
    let (_, err) = waiting.inbox("lin", &["answer", id, "approve"], 2);
    assert!(
        err.contains(&refusal::voted_before("lin", 1_u32).say(Locale::Chinese)),
        "{err}"
    );
    waiting.inbox("wei", &["answer", id, "approve"], 0);
    let (_, err) = waiting.inbox("wei", &["answer", id, "reject"], 3);
    assert!(
        err.contains(&decided::chosen(["lin", "wei"], "approve").say(Locale::Chinese)),
        "{err}"
    );
    let (out, _) = waiting.inbox("lin", &["list"], 0);
    assert_eq!(out, "没有待审批的请求。\n");
}

#[test]
fn a_list_in_chinese_names_the_risk_in_chinese() {
    let zh = CONFIG.replacen("[approval]", "[approval]\nlocale = \"zh\"", 1);
    let waiting = Waiting::with(&zh, &[bash("rm -rf build"), bash("mkdir a")]);
    let (out, _) = waiting.inbox("lin", &["list"], 0);
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[0].contains(" 高 ") && lines[1].contains(" 中 "), "{out}");
    assert!(!out.contains("HIGH") && !out.contains("MEDIUM"), "{out}");
}
