//! Agents and people, each a thread that talks to whichever server answers. What is lost on the way is asked again elsewhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use placet_core::call::{Args, ToolCall};
use placet_core::ids::InteractionId;
use placet_core::interaction::CallKey;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::cluster::{Cluster, Fault, PATIENCE, TASKS, task, token};
use crate::history::{History, Told};
use crate::logs::{Ack, SideEffect};
use crate::process::say_within;
use crate::scene::{self, AGENTS, LAPSES, PEOPLE, REQUESTER};

/// Calls that an agent has under way at once.
const CALLS_AT_ONCE: usize = 3;
/// Runs of the built-in agent at once.
const RUNS_AT_ONCE: usize = 3;
/// How long a claimant promises to take, in seconds. What it promised to servers that then fail it is asked back.
const CLAIM_SECONDS: u32 = 2;
/// A client of the cluster.
struct Client<'c> {
    name: String,
    token: String,
    cluster: &'c Cluster,
    history: &'c History,
    rng: StdRng,
    /// How many requests it has made: the order of its own history.
    asked: usize,
}

impl<'c> Client<'c> {
    fn new(name: &str, cluster: &'c Cluster, history: &'c History, rng: &mut StdRng) -> Self {
        Self {
            name: name.to_owned(),
            token: token(name),
            cluster,
            history,
            rng: rng.fork(),
            asked: 0,
        }
    }

    /// Asks one of the servers. Nothing when the answer was lost, or is that the server cannot do it now.
    fn ask(&mut self, method: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
        let address = self.cluster.any(&mut self.rng);
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let answer = say_within(PATIENCE, &address, &self.token, method, path, &text);
        self.asked += 1;
        let told = answer.as_ref().map(|(status, told)| format!("{status} {told}"));
        let (name, asked, told) = (&self.name, self.asked, told.unwrap_or_else(|| "lost".into()));
        self.history.note(format!(
            "{name} {asked} {address} {method} {path} {text} -> {told}"
        ));
        match answer? {
            (503 | 429, _) => None,
            (status @ 500.., problem) => {
                self.history
                    .find(format!("{name} was told {status} for {method} {path}: {problem}"));
                None
            }
            answer => Some(answer),
        }
    }

    /// Asks one server after another until one answers.
    fn insist(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        loop {
            if let Some(answer) = self.ask(method, path, body) {
                return answer;
            }
            self.history.wait_for_news();
        }
    }
}

/// Runs the cluster under load through so many faults, and lets everything that was begun come to its end.
pub(crate) fn under_load(seed: u64, rounds: u64) -> Told {
    let cluster = Cluster::start();
    let history = History::default();
    let mut rng = StdRng::seed_from_u64(seed);
    let mut faults = BTreeMap::new();
    let (known, leave) = (Mutex::new(BTreeSet::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for agent in 0..AGENTS {
            let name = scene::agent_id(agent).unwrap();
            let client = Client::new(name.as_str(), &cluster, &history, &mut rng);
            workers.push(scope.spawn(move || work(client, agent)));
        }
        let client = Client::new(REQUESTER, &cluster, &history, &mut rng);
        workers.push(scope.spawn(move || give_tasks(client)));
        for person in PEOPLE {
            let client = Client::new(person, &cluster, &history, &mut rng);
            let (known, leave) = (&known, &leave);
            scope.spawn(move || answer_everything(client, known, leave));
        }
        let stranger = scene::agent_id(0).unwrap();
        let stranger = Client::new(stranger.as_str(), &cluster, &history, &mut rng);
        scope.spawn(|| answer_as_agent(stranger, &known, &leave));

        for round in 0..rounds {
            let fault = match Fault::ALL.get(usize::try_from(round).unwrap()) {
                Some(fault) => *fault,
                None => Fault::ALL[rng.random_range(0..Fault::ALL.len())],
            };
            cluster.suffer(fault, &mut rng, &history);
            *faults.entry(fault).or_default() += 1;
        }
        history.wind_up();
        for worker in workers {
            worker.join().unwrap();
        }
        leave.store(true, Ordering::SeqCst);
    });
    cluster.stop();
    Told::new(cluster, history, faults)
}

/// One call on its way.
struct Open {
    call: ToolCall,
    proposed: bool,
}

/// An agent: makes calls, and brings each to its end.
fn work(mut client: Client<'_>, agent: u32) {
    let (mut open, mut next) = (VecDeque::new(), 0);
    loop {
        while open.len() < CALLS_AT_ONCE && !client.history.is_winding_up() {
            let call = scene::call(agent, next).unwrap();
            open.push_back(Open {
                call,
                proposed: false,
            });
            next += 1;
        }
        let Some(mut call) = open.pop_front() else { return };
        if client.history.is_over() {
            let key = CallKey::of(&call.call);
            client.history.find(format!("{key:?} did not end"));
            return;
        }
        if !go_on(&mut client, &mut call) {
            open.push_back(call);
            client.history.wait_for_news();
        }
    }
}

/// Does what can be done for a call. Whether it has come to its end.
fn go_on(client: &mut Client<'_>, open: &mut Open) -> bool {
    let (call, key) = (&open.call, CallKey::of(&open.call));
    let path = format!("/v1/calls/{}", call.id);
    let seen = if open.proposed {
        client.insist("GET", &format!("{path}?wait=1"), &Value::Null)
    } else {
        let new = json!({
            "sessionId": call.session, "callId": call.id, "tool": call.tool, "args": call.args, "userId": REQUESTER,
        });
        client.insist("POST", "/v1/calls", &new)
    };
    let (200 | 201, seen) = seen else {
        client.history.find(format!("{key:?} was not taken: {seen:?}"));
        return true;
    };
    let first = !std::mem::replace(&mut open.proposed, true);
    let status = seen["status"].as_str().unwrap_or_default();
    let known = serde_json::from_value(seen["status"].clone());
    match (status, known) {
        ("pending", _) => {
            if first && let Ok(question) = serde_json::from_value(seen["requestId"].clone()) {
                client.history.acknowledged(Ack::Parked { call: key, question });
            }
            false
        }
        ("allowed" | "approved", Ok(status)) => {
            if first && seen["status"] == "allowed" {
                client.history.acknowledged(Ack::Settled { call: key, status });
            }
            match seen["grant"]["state"].as_str() {
                Some("done") => true,
                Some("issued") => run(client, &open.call),
                // Claimed in a request whose answer was lost, or by an agent that died: asked back by and by.
                _ => false,
            }
        }
        (_, Ok(status)) => {
            client.history.acknowledged(Ack::Told { call: key, status });
            true
        }
        (_, Err(error)) => {
            client
                .history
                .find(format!("{key:?} has an unknown status: {error}"));
            true
        }
    }
}

/// Claims a call and runs it, unless the agent dies meanwhile. Whether it has come to its end.
fn run(client: &mut Client<'_>, call: &ToolCall) -> bool {
    let path = format!("/v1/calls/{}", call.id);
    let promise = json!({ "leaseSeconds": CLAIM_SECONDS });
    let Some((status, claim)) = client.ask("POST", &format!("{path}/claim"), &promise) else {
        return false;
    };
    if status != 200 {
        // Its twin was claimed, its session was ended, or a request whose answer was lost claimed it.
        return claim["code"] == "session-over";
    }
    let grant = u32::try_from(claim["grant"].as_u64().unwrap()).unwrap();
    let key = CallKey::of(call);
    client.history.acknowledged(Ack::Claimed {
        call: key.clone(),
        grant,
    });
    let dies = client.rng.random_range(0..100_u32);
    if dies < 6 {
        return false;
    }
    let args = Args::from_value(claim["args"].clone()).unwrap();
    client.history.ran(SideEffect {
        call: key.clone(),
        tool: call.tool.clone(),
        grant,
        digest: call.with_args(args).digest(),
    });
    if dies < 12 {
        return false;
    }
    let result = json!({ "ok": true, "output": format!("ran under grant {grant}") });
    let (status, _) = client.insist("POST", &format!("{path}/result"), &result);
    if status == 204 {
        client.history.acknowledged(Ack::Finished { call: key, grant });
    }
    status == 204
}

/// Gives tasks to the built-in agent, a few at a time, and follows each to its end.
fn give_tasks(mut client: Client<'_>) {
    let mut open: VecDeque<(usize, bool)> = VecDeque::new();
    let mut next = 0;
    loop {
        while open.len() < RUNS_AT_ONCE && next < TASKS && !client.history.is_winding_up() {
            open.push_back((next, false));
            next += 1;
        }
        let Some((number, begun)) = open.pop_front() else {
            return;
        };
        if client.history.is_over() {
            client
                .history
                .find(format!("the run of {} did not end", task(number)));
            return;
        }
        client.history.wait_for_news();
        let session = format!("run-{}", task(number));
        if !begun {
            let new = json!({ "task": format!("do {}", task(number)), "sessionId": session });
            // Said twice, it would be another message: whether the first one came is looked up.
            let told = client.ask("POST", "/v1/runs", &new);
            let known = told.is_some_and(|(status, _)| status == 201)
                || client
                    .insist("GET", &format!("/v1/runs/{session}"), &Value::Null)
                    .0
                    == 200;
            open.push_back((number, known));
            continue;
        }
        let (status, run) = client.insist("GET", &format!("/v1/runs/{session}"), &Value::Null);
        if status != 200 {
            client
                .history
                .find(format!("the run of {session} is gone: {status} {run}"));
            return;
        }
        match run["state"].as_str() {
            Some("running" | "parked") => open.push_back((number, true)),
            _ => {
                client.history.runs.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

/// Questions that were assigned to others, for those who try to answer what is not theirs.
type Known = Mutex<BTreeSet<InteractionId>>;

/// A person: answers what is open, and now and then what another person was asked.
fn answer_everything(mut client: Client<'_>, known: &Known, leave: &AtomicBool) {
    while !leave.load(Ordering::SeqCst) {
        let list = "/v1/interactions?status=pending&limit=200";
        let Some((200, page)) = client.ask("GET", list, &Value::Null) else {
            client.history.wait_for_news();
            continue;
        };
        for question in page["items"].as_array().unwrap() {
            let Ok(id) = serde_json::from_value::<InteractionId>(question["requestId"].clone()) else {
                continue;
            };
            known.lock().unwrap().insert(id.clone());
            if question["call"]["tool"] != LAPSES {
                answer(&mut client, &id, question);
            }
        }
        let others = known.lock().unwrap().last().cloned();
        if let Some(id) = others.filter(|_| client.name == "mal") {
            let body = json!({ "selectedOptionId": "approve" });
            refused(&mut client, &id, &body);
        }
        client.history.wait_for_news();
    }
}

/// An agent that tries to answer, which none may.
fn answer_as_agent(mut client: Client<'_>, known: &Known, leave: &AtomicBool) {
    while !leave.load(Ordering::SeqCst) {
        let id = known.lock().unwrap().last().cloned();
        if let Some(id) = id {
            refused(&mut client, &id, &json!({ "selectedOptionId": "approve" }));
        }
        client.history.wait_for_news();
    }
}

/// Answers a question that is assigned to others.
fn refused(client: &mut Client<'_>, id: &InteractionId, body: &Value) {
    let Some((status, told)) = client.ask("POST", &format!("/v1/interactions/{id}/answer"), body) else {
        return;
    };
    if (400..500).contains(&status) {
        client.history.strangers.fetch_add(1, Ordering::SeqCst);
    } else {
        let name = &client.name;
        client
            .history
            .find(format!("{name} answered {id}, and was told {status} {told}"));
    }
}

fn answer(client: &mut Client<'_>, id: &InteractionId, question: &Value) {
    let (option, edited) = choose(&mut client.rng, question);
    let mut body = json!({ "selectedOptionId": option, "feedback": "because" });
    if let Some(edited) = edited {
        body["editedArgs"] = edited;
    }
    let Some((200, told)) = client.ask("POST", &format!("/v1/interactions/{id}/answer"), &body) else {
        return;
    };
    let (question, by) = (id.clone(), client.name.clone());
    client
        .history
        .acknowledged(match told["status"].as_str().unwrap() {
            "voted" => Ack::Voted { question, by },
            "decided" => Ack::Decided { question, by, option },
            _ => Ack::AskedAnew {
                question,
                next: serde_json::from_value(told["question"].clone()).unwrap(),
            },
        });
}

/// What a person chooses of what is offered.
fn choose(rng: &mut StdRng, question: &Value) -> (String, Option<Value>) {
    let options = question["options"].as_array().unwrap();
    let offered: Vec<&str> = options
        .iter()
        .filter_map(|option| option["optionId"].as_str())
        .collect();
    let usual = ["approve", "run_again", "go_on"]
        .into_iter()
        .find(|usual| offered.contains(usual));
    let roll = rng.random_range(0..100_u32);
    match usual {
        Some("approve") if roll < 10 && question["call"]["tool"] != "bash" => (
            "approve".into(),
            Some(json!({ "target": format!("edited {roll}") })),
        ),
        Some(usual) if roll < 75 => (usual.to_owned(), None),
        // Ending a whole session is rare.
        _ => {
            let rest: Vec<&str> = offered
                .into_iter()
                .filter(|option| Some(*option) != usual && (*option != "terminate" || roll > 96))
                .collect();
            match rest.len() {
                0 => (usual.unwrap_or("skip").to_owned(), None),
                count => (rest[rng.random_range(0..count)].to_owned(), None),
            }
        }
    }
}
