//! Several processes on one database: a run is driven by one of them, and goes on at another when that one is gone, has stopped
//! or was paused for too long. Each process here is a thread with a runtime of its own, which can be ended or blocked whole.

use std::pin::Pin;
use std::sync::{Arc, mpsc as blocking};

use async_trait::async_trait;
use placet_agent::model::{Ended, Heard, Model, ModelError, Prompt, Spoken, SpokenCall};
use placet_agent::{Agent, Rest, Tools};
use placet_core::config::Config;
use placet_core::ids::AgentId;
use placet_core::journal::Event;
use placet_core::lease::LeaseName;
use placet_core::listing::JournalPage;
use placet_core::run::Usage;
use placet_engine::Engine;
use placet_store::Location;
use serde_json::json;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::server;
use crate::support::{CONFIG, Home, House, lin, session, soon};

/// Says what it is told to, when it is told to.
struct Prompted {
    asked: mpsc::UnboundedSender<()>,
    turns: Mutex<mpsc::UnboundedReceiver<Spoken>>,
}

#[async_trait]
impl Model for Prompted {
    fn name(&self) -> &'static str {
        "prompted"
    }

    async fn speak(&self, _: Prompt<'_>, _: &Heard<'_>) -> Result<Spoken, ModelError> {
        self.asked.send(()).unwrap();
        Ok(self.turns.lock().await.recv().await.unwrap())
    }
}

fn says(text: &str, calls: Vec<SpokenCall>) -> Spoken {
    Spoken {
        text: text.to_owned(),
        thinking: None,
        calls,
        usage: Usage::default(),
        ended: Ended::Whole,
    }
}

type Order = Box<dyn FnOnce(Home) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// A process with an agent.
struct Process {
    orders: mpsc::UnboundedSender<Order>,
    thread: std::thread::JoinHandle<()>,
    /// Its model was asked.
    asked: mpsc::UnboundedReceiver<()>,
    /// What its model says next.
    turns: mpsc::UnboundedSender<Spoken>,
}

impl Process {
    fn start(house: &House, url: &str) -> Self {
        let (tell_asked, asked) = mpsc::unbounded_channel();
        let (turns, next_turn) = mpsc::unbounded_channel();
        let model = Arc::new(Prompted {
            asked: tell_asked,
            turns: Mutex::new(next_turn),
        });
        let (orders, mut taken) = mpsc::unbounded_channel::<Order>();
        let (work, at) = (house.work(), Location::parse(url).unwrap());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let text = format!("{CONFIG}[store]\nlease = '1s'\n");
                let inspect = placet_inspect::builtin();
                let config = Config::parse(&text, "placet.toml", std::iter::empty(), inspect).unwrap();
                let tools = Tools::builtin(&work);
                let engine = Engine::builder(config)
                    .workspace(&work)
                    .toolbox(AgentId::built_in(), tools.clone());
                let engine = engine.start_at(&at).await.unwrap();
                let agent = Agent::builder(engine.clone(), tools).model(model);
                let agent = agent.start().await.unwrap();
                while let Some(order) = taken.recv().await {
                    let (agent, engine) = (agent.clone(), engine.clone());
                    order(Home { agent, engine }).await;
                }
            });
            // What was under way is not waited for.
            runtime.shutdown_background();
        });
        Self {
            orders,
            thread,
            asked,
            turns,
        }
    }

    /// Has the process do something, and waits until it is done.
    async fn does<T: Send + 'static, F: Future<Output = T> + 'static>(
        &self,
        what: impl FnOnce(Home) -> F + Send + 'static,
    ) -> T {
        let (done, told) = oneshot::channel();
        let order: Order = Box::new(move |home| {
            let doing = what(home);
            Box::pin(async move {
                let _ = done.send(doing.await);
            })
        });
        self.orders.send(order).unwrap();
        soon(told).await.unwrap()
    }

    /// Nothing of it goes on until what is returned is dropped.
    async fn pause(&self) -> blocking::Sender<()> {
        let (resume, paused) = blocking::channel::<()>();
        let (begun, has_begun) = oneshot::channel();
        let order: Order = Box::new(move |_| {
            let _ = begun.send(());
            let _ = paused.recv();
            Box::pin(async {})
        });
        self.orders.send(order).unwrap();
        soon(has_begun).await.unwrap();
        resume
    }

    /// It is gone, without a word.
    fn kill(self) {
        drop(self.orders);
        self.thread.join().unwrap();
    }

    async fn stop(self) {
        self.does(Home::close).await;
        self.kill();
    }

    /// Lin says something in the session `s`, and the model is asked.
    async fn begins(&mut self) {
        self.does(async |home: Home| {
            home.agent
                .tell(&session("s"), "Go on", &lin(), None)
                .await
                .unwrap();
        })
        .await;
        soon(self.asked.recv()).await.unwrap();
    }

    /// It drives the run now, and ends it.
    async fn ends_the_run(&mut self) {
        soon(self.asked.recv()).await.unwrap();
        self.turns.send(says("Done.", Vec::new())).unwrap();
        let rest = self.does(async |home: Home| home.agent.rest(&session("s")).await.unwrap());
        let rest = rest.await;
        assert!(matches!(rest, Rest::Ended { .. }), "{rest:?}");
        self.does(async |home: Home| {
            let verified = home.engine.store().verify(None).await.unwrap();
            assert!(verified.findings.is_empty(), "{:?}", verified.findings);
        })
        .await;
    }
}

#[tokio::test]
async fn a_run_whose_process_died_goes_on_at_another_one() {
    let (house, url) = (House::new(), server::database());
    let mut first = Process::start(&house, &url);
    first.begins().await;
    let mut second = Process::start(&house, &url);
    second.does(async |_| ()).await;
    first.kill();
    second.ends_the_run().await;
    second.stop().await;
}

#[tokio::test]
async fn a_run_whose_process_was_stopped_goes_on_at_another_one() {
    let (house, url) = (House::new(), server::database());
    let mut first = Process::start(&house, &url);
    first.begins().await;
    let mut second = Process::start(&house, &url);
    second.does(async |_| ()).await;
    first.stop().await;
    second.ends_the_run().await;
    second.stop().await;
}

#[tokio::test]
async fn a_process_that_wakes_up_after_its_run_was_taken_over_adds_nothing_to_it() {
    let (house, url) = (House::new(), server::database());
    let mut first = Process::start(&house, &url);
    first.begins().await;
    let mut second = Process::start(&house, &url);
    let paused = first.pause().await;
    soon(second.asked.recv()).await.unwrap();

    // The first one wakes up, and its model has spoken meanwhile.
    let touch = SpokenCall {
        tool: "bash".into(),
        args: json!({ "command": "touch stolen" }).to_string(),
    };
    first.turns.send(says("Mine.", vec![touch])).unwrap();
    drop(paused);
    let gives_up = first.does(async |home: Home| {
        while home
            .engine
            .hold(&LeaseName::run(&session("s")))
            .await
            .unwrap()
            .is_some()
        {
            tokio::task::yield_now().await;
        }
    });
    gives_up.await;

    second.turns.send(says("Done.", Vec::new())).unwrap();
    let rest = second.does(async |home: Home| home.agent.rest(&session("s")).await.unwrap());
    assert!(matches!(rest.await, Rest::Ended { .. }));
    let turns = second.does(async |home: Home| {
        let all = JournalPage::of_all(0, 1000);
        let rows = home.engine.store().look(|stored| stored.journal(&all).cloned());
        let turns = rows.await.unwrap().into_iter().filter_map(|row| match row.event {
            Event::ModelTurn(turn) => Some(turn.text),
            _ => None,
        });
        turns.collect::<Vec<_>>()
    });
    assert_eq!(turns.await, ["Done."]);
    assert!(house.file("stolen").is_none());
    first.stop().await;
    second.stop().await;
}
