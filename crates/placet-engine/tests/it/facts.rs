//! Facts are stored, once: a call is inspected when it is proposed, and everything after that is read from its row.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::findings::StoredFindings;
use placet_core::ids::{AgentId, InteractionId};
use placet_core::interaction::{Asked, Locale, Remember, Subject};
use placet_core::journal::Event;
use placet_core::listing::JournalPage;
use placet_core::outcome::Outcome;
use placet_core::policy::Mode;
use placet_core::question::Question;
use placet_core::render::{Markup, Surface, to_text};
use placet_core::step::Commit;
use placet_core::steps::AnswerRefusal;
use placet_core::time::Millis;
use placet_core::tool::{Category, Risk};
use placet_core::verdict::Reason;
use placet_engine::toolbox::Toolbox;
use placet_engine::{Answered, Engine, audit_text};
use placet_store::{StepError, StoreError};
use serde_json::json;

use crate::support::*;

fn text(question: &Question, locale: Locale) -> String {
    let surface = Surface {
        width: None,
        chars_max: None,
        markup: Markup::Plain,
        elsewhere: None,
    };
    to_text(&question.document(locale), &surface).text
}

async fn question(engine: &Engine, id: &InteractionId) -> Question {
    engine.broker().question(id).await.unwrap().unwrap()
}

/// The rows of a question about a call, as another version might have written them, and the id of that question.
async fn park_changed(
    engine: &Engine,
    id: &str,
    line: &str,
    change: impl FnOnce(&mut Event),
) -> InteractionId {
    let model = park(engine, call("model", "bash", json!({ "command": line }))).await;
    let rows = engine
        .store()
        .look(|stored| stored.journal(&JournalPage::of(&session("s"), 0, 100)).cloned())
        .await
        .unwrap();
    engine.broker().withdraw(&model, "test").await.unwrap();
    let mut received = None;
    let mut question = None;
    for row in rows {
        match row.event {
            Event::CallReceived { .. } => received = Some(row.event),
            Event::Asked(asked) => question = Some(asked),
            _ => {}
        }
    }
    let (mut received, asked) = (received.unwrap(), question.unwrap());
    if let Event::CallReceived { call, .. } = &mut received {
        call.id = key(id).call;
    }
    change(&mut received);
    let mut asked: Asked = *asked;
    asked.id = InteractionId::new(format!("int_{id}")).unwrap();
    if let Subject::Call { call, .. } = &mut asked.subject {
        *call = key(id);
    }
    let parked = asked.id.clone();
    let events = vec![
        (session("s"), received),
        (session("s"), Event::Asked(Box::new(asked))),
    ];
    let commit = Commit {
        now: engine.store().now(),
        versions: BTreeMap::new(),
        epoch: None,
        fences: Vec::new(),
        events,
        changes: Vec::new(),
    };
    engine.store().commit(commit).await.unwrap();
    parked
}

#[tokio::test]
async fn a_question_shows_what_was_found_when_the_call_was_proposed_and_not_what_is_there_now() {
    let house = House::new();
    let engine = house
        .open("[tools.write]\ncategory = 'write'\nwrite_path = 'path'")
        .await;
    let folder = house.file().parent().unwrap().join("docs");
    std::fs::create_dir(&folder).unwrap();
    let write = call("c", "write", json!({ "path": "docs/a.txt", "content": "x" }));
    let id = park(&engine, write).await;
    let then = question(&engine, &id).await;
    std::fs::remove_dir(&folder).unwrap();
    symlink("/etc", &folder).unwrap();
    let now = question(&engine, &id).await;
    assert_eq!(now.findings, then.findings);
    assert!(now.findings.unwrap().analysis.risk() < Risk::High);
    assert_eq!(
        engine.broker().scopes(&then),
        engine.broker().scopes(&question(&engine, &id).await)
    );
}

#[tokio::test]
async fn a_question_of_an_older_version_is_shown_with_what_is_missing_and_can_be_answered() {
    let house = House::new();
    let engine = house.open("").await;
    let id = park_changed(&engine, "old", "rm -rf build", |received| {
        if let Event::CallReceived {
            verdict, findings, ..
        } = received
        {
            verdict.reason = Reason::Written("the risk is HIGH: it deletes".into());
            *findings = None;
        }
    })
    .await;
    let asked = question(&engine, &id).await;
    assert_eq!(asked.findings, None);
    assert_eq!(asked.interaction.asked().risk, Risk::High);
    for (locale, missing) in [(Locale::English, "older version"), (Locale::Chinese, "旧版本")] {
        let shown = text(&asked, locale);
        for part in [missing, "rm -rf build", "the risk is HIGH: it deletes"] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    }
    assert_eq!(engine.broker().scopes(&asked), []);
    let answered = say(&engine, &id, choice("lin", "approve")).await.unwrap();
    assert!(matches!(answered, Answered::Decided { .. }));
    assert!(outcome(&engine, "old").await.permits());
    verify(&engine).await;
}

#[tokio::test]
async fn a_question_whose_findings_are_damaged_is_not_shown_at_all() {
    let house = House::new();
    let engine = house.open("").await;
    let id = park_changed(&engine, "damaged", "rm -rf build", |received| {
        if let Event::CallReceived { findings, .. } = received {
            let beyond: StoredFindings = serde_json::from_value(json!({ "lines": [[0, 999]] })).unwrap();
            *findings = Some(beyond);
        }
    })
    .await;
    let error = engine.broker().question(&id).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(engine.broker().readable(&id).await.unwrap().is_none());
}

#[tokio::test]
async fn nothing_is_remembered_for_a_call_whose_findings_are_not_stored() {
    let house = House::new();
    let engine = house.open("").await;
    let make = |id| call(id, "bash", json!({ "command": "make" }));
    let id = park(&engine, make("c")).await;
    let offered = engine.broker().scopes(&question(&engine, &id).await);
    engine.broker().withdraw(&id, "test").await.unwrap();
    let mut answer = choice("lin", "approve");
    answer.remember = Some(Remember {
        scope: offered.last().unwrap().clone(),
        lasts: Millis::from_secs(60),
        uses_max: None,
    });
    let old = park_changed(&engine, "old", "make", |received| {
        if let Event::CallReceived { findings, .. } = received {
            *findings = None;
        }
    })
    .await;
    let refused = say(&engine, &old, answer.clone()).await;
    assert!(
        matches!(refused, Err(StepError::Refused(AnswerRefusal::ScopeMismatch))),
        "{refused:?}"
    );
    engine.broker().withdraw(&old, "test").await.unwrap();
    let new = park(&engine, make("new")).await;
    say(&engine, &new, answer).await.unwrap();
}

/// Shows something of every call, and counts how often it was asked to.
#[derive(Clone, Default)]
struct Showing(Arc<AtomicU32>);

#[async_trait::async_trait]
impl Toolbox for Showing {
    async fn evidence(&self, _: &ToolCall) -> Result<Vec<Evidence>, String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(vec![Evidence::Place { path: "a.txt".into() }])
    }
}

async fn open_showing(house: &House, config: &str) -> (Engine, Showing) {
    let showing = Showing::default();
    let config = format!("{config}\n[tools.write]\ncategory = 'write'\n");
    let builder = house.builder(&config);
    let builder = builder.toolbox(AgentId::new("coder").unwrap(), showing.clone());
    (house.start(builder).await, showing)
}

fn write(id: &str, content: &str) -> ToolCall {
    call(id, "write", json!({ "content": content }))
}

#[tokio::test]
async fn a_question_has_its_evidence_where_the_session_asks_and_the_configuration_would_not() {
    for mode in ["yolo", "autoEdit"] {
        let house = House::new();
        let (engine, showing) = open_showing(&house, &format!("[approval]\nmode = '{mode}'")).await;
        assert_eq!(settle(&engine, write("free", "x")).await, Outcome::Allowed);
        let mode = Mode::Default;
        engine
            .broker()
            .set_mode(&session("s"), mode, &person("lin"))
            .await
            .unwrap();
        let id = park(&engine, write("c", "y")).await;
        assert_eq!(
            asked(&engine, &id).await.evidence,
            [Evidence::Place { path: "a.txt".into() }]
        );
        assert_eq!(showing.0.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn no_evidence_is_gathered_for_what_the_session_allows_or_has_asked_or_has_refused() {
    let house = House::new();
    let (engine, showing) = open_showing(&house, "").await;
    let id = park(&engine, write("c", "x")).await;
    assert_eq!(park(&engine, write("same", "x")).await, id);
    say(&engine, &id, because("lin", "reject", "no")).await.unwrap();
    assert!(!settle(&engine, write("again", "x")).await.permits());
    let mode = Mode::AutoEdit;
    engine
        .broker()
        .set_mode(&session("s"), mode, &person("lin"))
        .await
        .unwrap();
    assert_eq!(settle(&engine, write("allowed", "y")).await, Outcome::Allowed);
    assert_eq!(showing.0.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_of_one_turn_are_one_question_also_when_they_have_evidence() {
    let house = House::new();
    let (engine, showing) = open_showing(&house, "").await;
    let turn = vec![
        write("a", "x").into(),
        write("b", "x").into(),
        write("c", "y").into(),
    ];
    let parked: Vec<_> = engine
        .gate()
        .propose_all(turn)
        .await
        .into_iter()
        .map(|proposed| proposed.unwrap().parked_on().unwrap().0)
        .collect();
    assert_eq!(parked[0], parked[1]);
    assert_ne!(parked[0], parked[2]);
    assert_eq!(open(&engine).await.len(), 2);
    // The second one joins the question of the first, which has its evidence.
    assert_eq!(showing.0.load(Ordering::SeqCst), 2);
}

const ASKS: &str = "[[rules]]\nname = 'bash'\ntool = 'bash'\neffect = 'ask'";

fn list() -> ToolCall {
    call("c", "bash", json!({ "command": "ls -l" }))
}

/// `ls -l` needs approval, and is approved as `rm -rf build`.
async fn edited(engine: &Engine) -> InteractionId {
    let id = park(engine, list()).await;
    assert!(asked(engine, &id).await.risk < Risk::High);
    let answered = say(engine, &id, edit("lin", json!({ "command": "rm -rf build" }))).await;
    assert!(matches!(answered, Ok(Answered::Decided { .. })), "{answered:?}");
    id
}

#[tokio::test]
async fn the_record_of_an_edited_call_says_the_risk_of_what_ran() {
    let house = House::new();
    let engine = house.open(ASKS).await;
    let id = edited(&engine).await;
    let ran = outcome(&engine, "c").await;
    let judgement = ran.judgement().unwrap();
    assert_eq!(judgement.verdict.risk, Risk::High);
    assert_eq!(judgement.verdict.reason, Reason::RuleAsks { rule: "bash".into() });
    assert_eq!(judgement.findings.lines, ["rm -rf build"]);
    assert_eq!(judgement.findings.analysis.risk(), Risk::High);
    let shown = question(&engine, &id).await;
    assert_eq!(
        (shown.risk(), shown.verdict().unwrap().risk),
        (Some(Risk::High), Risk::High)
    );
    assert_eq!(shown.findings.as_ref(), Some(&judgement.findings));
    let page = text(&shown, Locale::English);
    for part in ["[HIGH]", "rm -rf build", "ls -l", "Changed by: lin"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let told = engine.store().look(|stored| {
        let rows = stored.journal(&JournalPage::of(&session("s"), 0, 100))?;
        let settled = rows.iter().find(|row| matches!(row.event, Event::Settled { .. }));
        Ok(audit_text::sentence(
            stored,
            &settled.unwrap().event,
            Locale::English,
        ))
    });
    let told = told.await.unwrap();
    assert!(told.as_str().contains("HIGH risk"), "{told}");
    verify(&engine).await;
}

#[tokio::test]
async fn a_read_that_was_edited_into_something_else_is_asked_back_after_a_crash() {
    let house = House::new();
    let engine = house.open(ASKS).await;
    edited(&engine).await;
    let record = engine.gate().record(&key("c")).await.unwrap().unwrap();
    assert_eq!(record.verdict.category, Category::Read);
    let _running = engine.gate().claim(&key("c"), None).await.unwrap();
    engine.shutdown().await.unwrap();
    let engine = house.open(ASKS).await;
    let [id] = open(&engine).await.try_into().unwrap();
    let back = question(&engine, &id).await;
    assert!(matches!(
        back.interaction.asked().subject,
        Subject::UnknownOutcome { .. }
    ));
    assert_eq!(back.verdict().unwrap().risk, Risk::High);
    assert_eq!(back.findings.unwrap().lines, ["rm -rf build"]);
    say(&engine, &id, choice("lin", "run_again")).await.unwrap();
    let again = outcome(&engine, "c").await;
    assert_eq!(again.judgement().unwrap().verdict.risk, Risk::High);
    verify(&engine).await;
}
