//! Interrupting what an agent does: the model, a call, a question. Each leaves the conversation where a person can go on.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use placet_agent::chat::{ChatStream, EventId, Viewer, What};
use placet_agent::{Rest, Tool, Tools};
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::ids::{AgentId, CallId};
use placet_core::interaction::CallKey;
use placet_core::journal::Event;
use placet_core::listing::JournalPage;
use placet_core::run::{Limits, RunEnd};
use placet_core::steps::{self, ClaimRefusal, Ending, MessageOutcome, RunHost, UserMessage};
use placet_core::tool::Category;
use placet_engine::GateError;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::models::{BOTH, home_with};
use crate::provider::{Provider, Reply};
use crate::support::{
    CONFIG, Home, House, calls, last, lin, names, next, on, question, rest, says, session, soon,
};

async fn interrupts(home: &Home) {
    assert!(home.agent.interrupt(&session("s"), &lin()).await.unwrap());
}

/// A run that waits for a person.
async fn parked(house: &House) -> (Home, ChatStream) {
    let home = house
        .open(json!([
            on("again", says("Here I am.")),
            calls(&[("bash", json!({ "command": "touch x" }))]),
            says("never"),
        ]))
        .await;
    let mut stream = home.say("Touch").await;
    question(&mut stream).await;
    (home, stream)
}

/// Reads on until the model has begun to speak.
async fn hears(stream: &mut ChatStream) {
    loop {
        let event = soon(stream.next()).await.unwrap().unwrap();
        if let What::Saying { .. } = event.what {
            return;
        }
    }
}

#[tokio::test]
async fn an_interrupted_model_is_heard_no_more_and_the_next_message_is_answered() {
    for protocol in BOTH {
        let house = House::new();
        let begun = protocol.stream("Let me think about it for a very long time", &[]);
        let half = begun[..begun.len() / 2].to_owned();
        let provider = Provider::start(vec![
            Reply::Silence { body: half },
            protocol.whole("Here I am.", &[]),
        ])
        .await;
        let home = home_with(&house, protocol.model(&provider.url)).await;
        let mut stream = home.say("Think").await;
        hears(&mut stream).await;
        interrupts(&home).await;
        let events = rest(&mut stream).await;
        assert_eq!(last(&events, "COMPLETED")["how"], "interrupted");
        let events = rest(&mut home.say("Are you there?").await).await;
        assert_eq!(last(&events, "COMPLETED")["text"], "Here I am.");
        let told = provider.asked()[1].body.to_string();
        assert!(told.contains("lin interrupted you here"), "{told}");
        home.close().await;
    }
}

#[tokio::test]
async fn an_interrupted_call_is_stopped_and_its_result_says_so() {
    let house = House::new();
    // Reading a pipe waits for its writer.
    let pipe = std::process::Command::new("mkfifo")
        .arg(house.work().join("begun"))
        .status();
    assert!(pipe.unwrap().success());
    let home = house
        .open(json!([
            on("again", says("Here I am.")),
            calls(&[(
                "bash",
                json!({ "command": "echo begun > begun; sleep 100; echo late > late" })
            )]),
            says("never"),
        ]))
        .await;
    let mut stream = home.say("Sleep").await;
    let asked = question(&mut stream).await;
    home.answer(&asked, "approve", None).await;
    let begun = house.work().join("begun");
    let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(begun));
    assert_eq!(soon(read).await.unwrap().unwrap(), "begun\n");
    interrupts(&home).await;
    let events = rest(&mut stream).await;
    let output = last(&events, "OBSERVATION")["output"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(output.contains("may have happened in part"), "{output}");
    assert_eq!(last(&events, "COMPLETED")["how"], "interrupted");
    let events = rest(&mut home.say("Hello again").await).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "Here I am.");
    assert!(house.file("late").is_none());
    home.close().await;
}

#[tokio::test]
async fn interrupting_a_parked_run_withdraws_its_question_and_nothing_runs() {
    let house = House::new();
    let (home, mut stream) = parked(&house).await;
    interrupts(&home).await;
    let events = rest(&mut stream).await;
    assert!(names(&events).contains(&"INTERACTION_RESOLVED"), "{events:?}");
    assert_eq!(last(&events, "OBSERVATION")["output"]["outcome"], "cancelled");
    assert_eq!(last(&events, "COMPLETED")["how"], "interrupted");
    assert_eq!(home.engine.broker().pending(None, 9).await.unwrap().len(), 0);
    let events = rest(&mut home.say("Hello again").await).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "Here I am.");
    assert!(house.file("x").is_none());
    home.close().await;
}

#[tokio::test]
async fn what_is_said_while_an_interrupted_call_still_ends_is_answered_by_a_run_of_its_own() {
    let house = House::new();
    let (home, mut stream) = parked(&house).await;
    // The message may come before or after the run's end: it is answered either way.
    let (here, person) = (session("s"), lin());
    assert!(home.agent.interrupt(&here, &person).await.unwrap());
    let told = home.agent.tell(&here, "Hello again", &person, None).await;
    let events = rest(&mut stream).await;
    if told.unwrap() == MessageOutcome::Queued {
        assert_eq!(
            last(&events, "COMPLETED")["text"],
            "Here I am.",
            "one conversation"
        );
    }
    let ended = soon(home.agent.rest(&session("s"))).await.unwrap();
    let (how, text) = (RunEnd::Completed, "Here I am.".to_owned());
    assert_eq!(ended, Rest::Ended { how, text });
    home.close().await;
}

#[tokio::test]
async fn an_interruption_is_in_the_journal_and_of_no_use_where_nothing_goes_on() {
    let house = House::new();
    let home = house
        .open(json!([calls(&[("bash", json!({ "command": "touch x" }))])]))
        .await;
    let mut stream = home.say("Touch").await;
    question(&mut stream).await;
    interrupts(&home).await;
    rest(&mut stream).await;
    let again = home.agent.interrupt(&session("s"), &lin()).await.unwrap();
    assert!(!again);
    let rows = home.engine.store();
    let rows = rows
        .look(|stored| stored.journal(&JournalPage::of(&session("s"), 0, 100)).cloned())
        .await
        .unwrap();
    let by: Vec<_> = rows
        .iter()
        .filter_map(|row| match &row.event {
            Event::RunInterrupted { by } => Some(by.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(by, ["lin"]);
    home.close().await;
}

/// A tool that takes its time to find out what it can show.
#[derive(Clone)]
struct Slow {
    begun: Arc<Semaphore>,
    may_go_on: Arc<Semaphore>,
}

#[async_trait]
impl Tool for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn description(&self) -> &'static str {
        "Counts first."
    }

    fn category(&self) -> Category {
        Category::Command
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn evidence(&self, _: &ToolCall) -> Result<Vec<Evidence>, String> {
        self.begun.add_permits(1);
        self.may_go_on.acquire().await.unwrap().forget();
        Ok(Vec::new())
    }

    async fn run(&self, _: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        Ok("ran".into())
    }
}

#[tokio::test]
async fn a_call_on_its_way_to_the_gate_when_its_run_is_stopped_is_never_asked_about() {
    let house = House::new();
    let slow = Slow {
        begun: Arc::new(Semaphore::new(0)),
        may_go_on: Arc::new(Semaphore::new(0)),
    };
    let tools = Tools::builtin(&house.work()).with([Arc::new(slow.clone()) as Arc<dyn Tool>]);
    let turns = json!([
        on("ran", says("It ran.")),
        calls(&[("slow", json!({}))]),
        calls(&[("slow", json!({}))])
    ]);
    let home = house.open_as(CONFIG, tools, turns).await;
    let mut stream = home.say("Count").await;
    soon(slow.begun.acquire()).await.unwrap().forget();
    interrupts(&home).await;
    // The preview of the tool is not waited for.
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["how"], "interrupted");
    assert!(!names(&events).contains(&"INTERACTION"), "{events:?}");

    // The same call is a question of its own in the next run, and its approval runs it.
    slow.may_go_on.add_permits(2);
    let mut stream = home.say("Count again").await;
    let asked = question(&mut stream).await;
    assert_eq!(home.engine.broker().pending(None, 9).await.unwrap().len(), 1);
    home.answer(&asked, "approve", None).await;
    let events = rest(&mut stream).await;
    assert_eq!(last(&events, "COMPLETED")["text"], "It ran.");
    home.close().await;
}

#[tokio::test]
async fn a_call_that_was_allowed_is_not_begun_once_its_run_is_interrupted() {
    let house = House::new();
    let home = house
        .open(json!([calls(&[("bash", json!({ "command": "touch x" }))])]))
        .await;
    let asked = question(&mut home.say("Touch").await).await;
    // No process runs it while it is approved, and then the run is interrupted.
    home.agent.clone().shutdown().await;
    home.answer(&asked, "approve", None).await;
    let call = asked.context["callId"].as_str().unwrap();
    let key = CallKey {
        agent: AgentId::built_in(),
        call: CallId::new(call).unwrap(),
    };
    interrupts(&home).await;
    let claimed = home.engine.gate().claim(&key, None).await;
    assert!(
        matches!(claimed, Err(GateError::Claim(ClaimRefusal::RunStopped(_)))),
        "{claimed:?}"
    );
    home.engine.shutdown().await.unwrap();
}

/// A process in a folder where this agent does not work.
fn elsewhere() -> RunHost {
    RunHost {
        agent: AgentId::built_in(),
        workspace: "elsewhere".into(),
        models: BTreeSet::from(["scripted".into()]),
        usual_model: "scripted".into(),
        limits: Limits::USUAL,
        channels: BTreeSet::new(),
    }
}

/// A session whose run is driven by the test.
struct Driven {
    home: Home,
}

impl Driven {
    async fn new(house: &House) -> Self {
        let home = house.open(json!([])).await;
        let driven = Self { home };
        assert_eq!(driven.hears("begin").await, MessageOutcome::Started);
        driven
    }

    async fn hears(&self, text: &str) -> MessageOutcome {
        let message = UserMessage {
            session: session("s"),
            text: text.into(),
            by: lin(),
            chat: None,
            model: None,
            workflow: None,
            allowed: BTreeSet::new(),
        };
        let engine = &self.home.engine;
        let tell = engine.transact(|snapshot, now| steps::tell(snapshot, now, &elsewhere(), &message));
        tell.await.unwrap()
    }

    async fn is_interrupted(&self) {
        let engine = &self.home.engine;
        let interrupt = engine
            .transact(|snapshot, _| steps::interrupt_run(snapshot, &elsewhere(), &session("s"), &lin()));
        assert!(interrupt.await.unwrap());
    }

    async fn ends(&self, how: RunEnd) {
        let ending = Ending {
            session: session("s"),
            how,
            seen: (0, 1),
            words: String::new(),
            next: Some("do this instead".into()),
        };
        let engine = &self.home.engine;
        let end = engine.transact(|snapshot, _| steps::end_run(snapshot, &ending));
        end.await.unwrap();
    }

    async fn watch(&self, after: Option<EventId>) -> ChatStream {
        let (chat, viewer) = (self.home.agent.chat(), Viewer::Person(lin()));
        chat.attach(&session("s"), &viewer, after).await.unwrap()
    }
}

#[tokio::test]
async fn what_is_said_after_an_interruption_is_answered_also_when_time_ends_the_run() {
    let house = House::new();
    let run = Driven::new(&house).await;
    run.is_interrupted().await;
    assert_eq!(run.hears("do this instead").await, MessageOutcome::Queued);
    let mut stream = run.watch(None).await;
    let [begun, said] = [next(&mut stream).await.unwrap(), next(&mut stream).await.unwrap()];
    assert_eq!([begun.what.name(), said.what.name()], ["STARTED", "STARTED"]);
    // A client that comes back afterwards hears the answer as well.
    let mut again = run.watch(said.id).await;
    run.ends(RunEnd::TimedOut).await;
    for stream in [&mut stream, &mut again] {
        assert_eq!(next(stream).await.unwrap().what.name(), "ERROR");
        let what = next(stream).await.unwrap().what;
        assert!(
            matches!(&what, What::Started { message, begins: true, .. } if message == "do this instead"),
            "{what:?}"
        );
    }
    run.home.close().await;
}

#[tokio::test]
async fn a_conversation_is_over_when_its_session_is_ended_whatever_was_said_before() {
    let house = House::new();
    let run = Driven::new(&house).await;
    run.is_interrupted().await;
    run.hears("do this instead").await;
    let mut stream = run.watch(None).await;
    let engine = &run.home.engine;
    let end = engine.transact(|snapshot, _| steps::end_session(snapshot, &session("s"), "lin"));
    end.await.unwrap();
    run.ends(RunEnd::Terminated { by: "lin".into() }).await;
    assert_eq!(
        names(&rest(&mut stream).await),
        ["STARTED", "STARTED", "COMPLETED"]
    );
    run.home.close().await;
}
