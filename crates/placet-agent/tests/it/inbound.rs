//! What people write in chats: told to the agent once, answered in the chat; strangers and bots begin nothing.

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use placet_agent::model::{Script, Scripted};
use placet_agent::{Agent, Builder, Tools};
use placet_core::config::Config;
use placet_core::digest::Digest;
use placet_core::ids::{AgentId, ChannelName, ChatId, SessionId};
use placet_core::interaction::Shown;
use placet_core::journal::{Author, Event, InboundMessage};
use placet_core::listing::JournalPage;
use placet_core::messages::{chat, resume};
use placet_core::render::Surface;
use placet_core::steps::InboundOutcome;
use placet_engine::Engine;
use placet_engine::channel::{Channel, Content, Delivery, DeliveryError, Receipt};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::support::{Home, House, calls, lin, on, says, soon};

const CONFIG: &str = "[approval]\ntimeout = '10m'\nmemory = '0s'\non_other_reply = 'queue'\n[[people]]\nname = 'lin'\nops = 'u_lin'\n\
                      [[people]]\nname = 'wei'\nops = 'u_wei'\n\
                      [channels.ops]\ntype = 'webhook'\nurl = 'https://chat.example.com'\nsecret = 'env:OPS'\n";

/// A channel that writes down what it was given for the room.
struct Wall {
    name: ChannelName,
    given: Mutex<Vec<String>>,
    count: watch::Sender<usize>,
}

impl Wall {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            name: ChannelName::new("ops").unwrap(),
            given: Mutex::default(),
            count: watch::Sender::new(0),
        })
    }

    /// Waits until this was given.
    async fn shows(&self, text: &str) {
        let mut seen = self.count.subscribe();
        let shown = |_: &usize| self.given.lock().unwrap().iter().any(|given| given == text);
        soon(seen.wait_for(shown)).await.unwrap();
    }

    /// Everything given so far, once it is `count` things.
    async fn given(&self, count: usize) -> Vec<String> {
        let mut seen = self.count.subscribe();
        soon(seen.wait_for(|given| *given >= count)).await.unwrap();
        self.given.lock().unwrap().clone()
    }
}

#[async_trait]
impl Channel for Wall {
    fn name(&self) -> &ChannelName {
        &self.name
    }

    fn surface(&self) -> Surface {
        Surface::UNBOUNDED
    }

    async fn deliver(&self, delivery: Delivery<'_>) -> Result<Receipt, DeliveryError> {
        let text = match delivery.content {
            Content::Question { .. } => "(a question)".to_owned(),
            Content::Decided { .. } => "(it was decided)".to_owned(),
            Content::Message { text } => text.to_owned(),
        };
        // An approver sees a question in their own chat as well.
        if delivery.chat.as_str() == "room" {
            self.given.lock().unwrap().push(text);
            self.count.send_modify(|count| *count += 1);
        }
        Ok(Receipt {
            reference: None,
            shown: Shown::Whole(Digest::of("test", &[])),
        })
    }
}

/// An engine with a channel, and an agent that listens there if it is told to.
async fn open(house: &House, wall: &Arc<Wall>, turns: Value, listens: &[&str]) -> Home {
    let model = Scripted::new("scripted", script(&turns));
    let channels = listens.iter().map(|name| ChannelName::new(*name).unwrap());
    open_as(house, wall, &house.work(), model, |builder| {
        builder.channels(channels)
    })
    .await
}

/// In some folder, with some model, as some user.
async fn open_as(
    house: &House,
    wall: &Arc<Wall>,
    work: &Path,
    model: Scripted,
    how: impl FnOnce(Builder) -> Builder,
) -> Home {
    let config = Config::parse(
        CONFIG,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let tools = Tools::builtin(work);
    let engine = Engine::builder(config)
        .workspace(work)
        .toolbox(AgentId::built_in(), tools.clone())
        .channel(Arc::clone(wall) as Arc<dyn Channel>)
        .start(&house.store())
        .await
        .unwrap();
    let builder = Agent::builder(engine.clone(), tools).model(Arc::new(model));
    let agent = how(builder).start().await.unwrap();
    Home { agent, engine }
}

fn script(turns: &Value) -> Script {
    Script::from_json(json!({ "turns": turns })).unwrap()
}

fn listening(builder: Builder) -> Builder {
    builder.channels([ChannelName::new("ops").unwrap()])
}

/// A chat whose run waits for a person, left by the process that drove it.
async fn left_waiting(house: &House, wall: &Arc<Wall>) {
    let turns = json!([calls(&[("bash", json!({ "command": "touch done" }))])]);
    let home = open(house, wall, turns, &["ops"]).await;
    writes(&home, "u_lin", "m1", "tidy up", Author::Human).await;
    assert_eq!(wall.given(1).await, ["(a question)"]);
    home.close().await;
}

async fn writes(home: &Home, sender: &str, id: &str, text: &str, author: Author) -> InboundOutcome {
    let message = InboundMessage {
        channel: ChannelName::new("ops").unwrap(),
        chat_id: ChatId::new("room").unwrap(),
        sender_id: sender.into(),
        message_id: id.into(),
        content: text.into(),
        author,
    };
    home.engine.bus().publish_inbound(message, author).await.unwrap()
}

fn room() -> SessionId {
    SessionId::new("ops:room").unwrap()
}

async fn counted(home: &Home, is: impl Fn(&Event) -> bool) -> usize {
    let rows = home
        .engine
        .store()
        .look(|stored| stored.journal(&JournalPage::of_all(0, 1000)).cloned())
        .await
        .unwrap();
    rows.iter().filter(|row| is(&row.event)).count()
}

#[tokio::test]
async fn a_message_in_a_chat_begins_a_run_and_its_last_words_go_back() {
    let (house, wall) = (House::new(), Wall::new());
    let turns = json!([
        on("tidy", calls(&[("bash", json!({ "command": "touch done" }))])),
        on("and now", says("Nothing more.")),
        says("Tidied."),
    ]);
    let home = open(&house, &wall, turns, &["ops"]).await;
    assert_eq!(
        writes(&home, "u_lin", "m1", "tidy up", Author::Human).await,
        InboundOutcome::Queued
    );
    assert_eq!(wall.given(1).await, ["(a question)"]);
    // The next message answers the question, and the agent never hears it.
    let answered = writes(&home, "u_lin", "m2", "yes", Author::Human).await;
    assert!(matches!(answered, InboundOutcome::Consumed(_)), "{answered:?}");
    wall.shows("Tidied.").await;
    assert!(house.work().join("done").exists());

    writes(&home, "u_lin", "m3", "and now?", Author::Human).await;
    wall.shows("Nothing more.").await;
    assert_eq!(
        counted(&home, |event| matches!(event, Event::RunStarted(_))).await,
        2
    );
    home.close().await;
}

#[tokio::test]
async fn a_message_written_while_no_agent_works_is_heard_at_the_next_start_and_once() {
    let (house, wall) = (House::new(), Wall::new());
    let turns = json!([says("Here I am.")]);
    let home = open(&house, &wall, turns.clone(), &["ops"]).await;
    home.agent.clone().shutdown().await;
    writes(&home, "u_lin", "m1", "are you there?", Author::Human).await;
    home.engine.shutdown().await.unwrap();

    let home = open(&house, &wall, turns.clone(), &["ops"]).await;
    assert_eq!(wall.given(1).await, ["Here I am."]);
    home.close().await;
    let home = open(&house, &wall, turns, &["ops"]).await;
    assert_eq!(
        writes(&home, "u_lin", "m1", "are you there?", Author::Human).await,
        InboundOutcome::Duplicate
    );
    assert_eq!(
        counted(&home, |event| matches!(event, Event::RunStarted(_))).await,
        1
    );
    let verified = home.engine.store().verify(None).await.unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    home.close().await;
}

#[tokio::test]
async fn strangers_are_refused_kindly_and_bots_are_left_alone() {
    let (house, wall) = (House::new(), Wall::new());
    let home = open(&house, &wall, json!([on("", says("At your service."))]), &["ops"]).await;
    writes(&home, "u_bot", "m0", "beep", Author::Bot).await;
    writes(&home, "u_zoe", "m1", "hello", Author::Human).await;
    assert_eq!(wall.given(1).await[0], chat::unknown_sender().to_string());
    writes(&home, "u_lin", "m2", "hello", Author::Human).await;
    assert_eq!(wall.given(2).await[1], "At your service.");
    assert_eq!(
        counted(&home, |event| matches!(event, Event::RunStarted(_))).await,
        1
    );
    home.close().await;
}

#[tokio::test]
async fn members_of_a_group_talk_to_the_agent_each_message_with_its_sender_and_approving_stays_as_ruled() {
    let (house, wall) = (House::new(), Wall::new());
    let command = calls(&[("bash", json!({ "command": "touch done && echo touched" }))]);
    let turns = json!([
        on("lin: hello", command),
        on("touched", says("Done.")),
        on("wei: thanks", says("Gladly."))
    ]);
    let home = open(&house, &wall, turns, &["ops"]).await;
    writes(&home, "u_lin", "m1", "hello", Author::Human).await;
    wall.shows("(a question)").await;
    // Wei is known and may talk, and a yes of theirs decides nothing of lin's.
    let tried = writes(&home, "u_wei", "m2", "yes", Author::Human).await;
    assert!(matches!(tried, InboundOutcome::Consumed(_)), "{tried:?}");
    assert_eq!(home.engine.broker().pending(None, 9).await.unwrap().len(), 1);
    let decided = writes(&home, "u_lin", "m3", "yes", Author::Human).await;
    assert!(matches!(decided, InboundOutcome::Consumed(_)), "{decided:?}");
    wall.shows("Done.").await;
    writes(&home, "u_wei", "m4", "thanks", Author::Human).await;
    wall.shows("Gladly.").await;
    assert!(house.work().join("done").exists());
    home.close().await;
}

#[tokio::test]
async fn a_channel_the_agent_does_not_listen_on_keeps_its_messages_for_other_agents() {
    let (house, wall) = (House::new(), Wall::new());
    let home = open(&house, &wall, json!([]), &[]).await;
    writes(&home, "u_lin", "m1", "for somebody else", Author::Human).await;
    let message = soon(home.engine.bus().consume_inbound(&room())).await.unwrap();
    assert_eq!(message.content, "for somebody else");
    home.close().await;
}

#[tokio::test]
async fn a_chat_whose_run_lost_its_model_is_answered_by_another_one() {
    let (house, wall) = (House::new(), Wall::new());
    left_waiting(&house, &wall).await;
    let other = Scripted::new("another", script(&json!([on("hello again", says("Here I am."))])));
    let home = open_as(&house, &wall, &house.work(), other, listening).await;
    let answered = writes(&home, "u_lin", "m2", "no", Author::Human).await;
    assert!(matches!(answered, InboundOutcome::Consumed(_)), "{answered:?}");
    writes(&home, "u_lin", "m3", "hello again", Author::Human).await;
    wall.shows("Here I am.").await;
    let given = wall.given(0).await;
    let no_model = resume::no_model("scripted", "ops:room").to_string();
    assert!(given.iter().any(|text| text.contains(&no_model)), "{given:?}");
    let verified = home.engine.store().verify(None).await.unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    home.close().await;
}

#[tokio::test]
async fn a_question_of_a_run_that_lost_its_model_is_withdrawn_when_another_one_begins() {
    let (house, wall) = (House::new(), Wall::new());
    left_waiting(&house, &wall).await;
    let other = Scripted::new("another", script(&json!([on("hello", says("Here I am."))])));
    let home = open_as(&house, &wall, &house.work(), other, listening).await;
    let queued = writes(&home, "u_lin", "m2", "hello", Author::Human).await;
    assert_eq!(queued, InboundOutcome::Queued);
    wall.shows("Here I am.").await;
    assert!(home.engine.broker().pending(None, 9).await.unwrap().is_empty());
    assert!(!house.work().join("done").exists());
    home.close().await;
}

#[tokio::test]
async fn a_chat_whose_run_works_in_another_folder_is_told_so_for_each_message() {
    let (house, wall) = (House::new(), Wall::new());
    left_waiting(&house, &wall).await;
    let folder = tempfile::tempdir().unwrap();
    let same = Scripted::new(
        "scripted",
        script(&json!([on("once more", says("Something else, then."))])),
    );
    let home = open_as(&house, &wall, folder.path(), same, listening).await;
    let answered = writes(&home, "u_lin", "m2", "no", Author::Human).await;
    assert!(matches!(answered, InboundOutcome::Consumed(_)), "{answered:?}");
    for (before, id) in [(3, "m3"), (4, "m4")] {
        assert_eq!(wall.given(before).await.len(), before);
        writes(&home, "u_lin", id, "hello again", Author::Human).await;
        let told = wall.given(before + 1).await;
        assert!(
            told[before].contains(&*house.work().to_string_lossy()),
            "{told:?}"
        );
    }
    assert_eq!(
        counted(&home, |event| matches!(event, Event::UserSaid { .. })).await,
        0
    );

    // Interrupted, it is over, and the chat can begin something else.
    assert!(home.agent.interrupt(&room(), &lin()).await.unwrap());
    wall.shows("the run was interrupted by lin").await;
    writes(&home, "u_lin", "m5", "hello once more", Author::Human).await;
    wall.shows("Something else, then.").await;
    home.close().await;
}

#[tokio::test]
async fn a_chat_of_another_agent_keeps_its_messages_for_that_one() {
    let (house, wall) = (House::new(), Wall::new());
    let turns = json!([says("At your service.")]);
    let home = open(&house, &wall, turns, &["ops"]).await;
    writes(&home, "u_lin", "m1", "hello", Author::Human).await;
    wall.shows("At your service.").await;
    home.agent.clone().shutdown().await;
    writes(&home, "u_lin", "m2", "hello again", Author::Human).await;
    home.engine.shutdown().await.unwrap();

    let model = Scripted::new("scripted", script(&json!([])));
    let other = |builder: Builder| listening(builder.named(AgentId::new("other").unwrap()));
    let home = open_as(&house, &wall, &house.work(), model, other).await;
    // It looks at its queue first of all, and has done so when it has stopped.
    home.agent.clone().shutdown().await;
    assert_eq!(
        counted(&home, |event| matches!(event, Event::RunStarted(_))).await,
        1
    );
    let message = soon(home.engine.bus().consume_inbound(&room())).await.unwrap();
    assert_eq!(message.content, "hello again");
    home.engine.shutdown().await.unwrap();
}
