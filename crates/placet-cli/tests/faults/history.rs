//! What the clients wrote down, and what must be true of it, of what ran, and of the journal together.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use placet_core::ids::AgentId;
use placet_store::{Location, Store, Verified};

use crate::books::Books;
use crate::cluster::{Cluster, Fault};
use crate::logs::{Ack, SideEffect};

/// How long a client waits for news.
const MOMENT: Duration = Duration::from_millis(200);
/// How long everything that was begun may take to end.
const WIND_UP: Duration = Duration::from_mins(3);

/// What happens, in the order in which it was written down.
#[derive(Default)]
pub(crate) struct History {
    lines: Mutex<Vec<String>>,
    effects: Mutex<Vec<SideEffect>>,
    acks: Mutex<Vec<Ack>>,
    findings: Mutex<Vec<String>>,
    pub(crate) runs: AtomicUsize,
    pub(crate) strangers: AtomicUsize,
    /// Something was acknowledged.
    news: Condvar,
    wound_up: OnceLock<Instant>,
}

impl History {
    /// A line of the story: who asked what, and what came back.
    pub(crate) fn note(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    pub(crate) fn acknowledged(&self, ack: Ack) {
        self.acks.lock().unwrap().push(ack);
        self.news.notify_all();
    }

    /// Waits until a client is told something, or for a moment: what servers do by themselves no client is told.
    pub(crate) fn wait_for_news(&self) {
        let acks = self.acks.lock().unwrap();
        drop(self.news.wait_timeout(acks, MOMENT).unwrap());
    }

    pub(crate) fn ran(&self, effect: SideEffect) {
        self.effects.lock().unwrap().push(effect);
    }

    /// Something that no client may ever be told.
    pub(crate) fn find(&self, finding: String) {
        self.findings.lock().unwrap().push(finding);
    }

    /// How much was acknowledged.
    pub(crate) fn acks(&self) -> usize {
        self.acks.lock().unwrap().len()
    }

    /// Nothing new is begun from here on.
    pub(crate) fn wind_up(&self) {
        self.wound_up.get_or_init(Instant::now);
        self.news.notify_all();
    }

    pub(crate) fn is_winding_up(&self) -> bool {
        self.wound_up.get().is_some()
    }

    /// What has not ended by now is stuck.
    pub(crate) fn is_over(&self) -> bool {
        self.wound_up.get().is_some_and(|began| began.elapsed() > WIND_UP)
    }
}

/// A history that is over.
pub(crate) struct Told {
    pub(crate) rows: Vec<(u64, String, String)>,
    pub(crate) effects: Vec<SideEffect>,
    pub(crate) acks: Vec<Ack>,
    /// What the commands of the built-in agent wrote.
    pub(crate) written: String,
    findings: Vec<String>,
    lines: Vec<String>,
    verified: Verified,
    tally: Tally,
    pub(crate) cluster: Cluster,
}

/// How often the history has met what it is made for.
#[derive(Debug, Clone, Default)]
#[expect(dead_code, reason = "printed")]
pub(crate) struct Tally {
    pub(crate) faults: BTreeMap<Fault, usize>,
    pub(crate) acks: usize,
    pub(crate) answers: usize,
    pub(crate) effects: usize,
    pub(crate) runs: usize,
    pub(crate) strangers: usize,
    pub(crate) rows: usize,
    pub(crate) lost_claims: usize,
}

/// Checks a store from its first row.
pub(crate) fn verified(url: &str) -> Verified {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::look_at(&Location::parse(url).unwrap()).await.unwrap();
        store.verify(None).await.unwrap()
    })
}

impl Told {
    pub(crate) fn new(cluster: Cluster, history: History, faults: BTreeMap<Fault, usize>) -> Self {
        let (effects, acks) = (
            history.effects.into_inner().unwrap(),
            history.acks.into_inner().unwrap(),
        );
        let rows = cluster.journal();
        let answers = acks.iter().filter(|ack| {
            matches!(
                ack,
                Ack::Voted { .. } | Ack::Decided { .. } | Ack::AskedAnew { .. }
            )
        });
        let tally = Tally {
            faults,
            acks: acks.len(),
            answers: answers.count(),
            effects: effects.len(),
            runs: history.runs.into_inner(),
            strangers: history.strangers.into_inner(),
            rows: rows.len(),
            lost_claims: rows
                .iter()
                .filter(|(_, _, body)| body.contains("\"type\":\"lostTrack\""))
                .count(),
        };
        let written = cluster.written();
        cluster.tidy_up();
        Self {
            verified: verified(&cluster.url),
            written,
            findings: history.findings.into_inner().unwrap(),
            lines: history.lines.into_inner().unwrap(),
            rows,
            effects,
            acks,
            tally,
            cluster,
        }
    }

    /// What is wrong with it.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut findings = self.findings.clone();
        findings.extend(Self::check(
            &self.rows,
            &self.effects,
            &self.acks,
            &self.written,
            &self.verified,
        ));
        findings
    }

    /// What is wrong with a history, as the books see it.
    pub(crate) fn check(
        rows: &[(u64, String, String)],
        effects: &[SideEffect],
        acks: &[Ack],
        written: &str,
        verified: &Verified,
    ) -> Vec<String> {
        let mut books = Books::default();
        for (id, session, body) in rows {
            if let Err(error) = books.enter_row(*id, session.clone(), body) {
                books.findings.push(error.to_string());
            }
        }
        if let Err(error) = books.compare_with(effects.to_vec(), acks.to_vec()) {
            books.findings.push(error.to_string());
        }
        books.take_verified(verified);
        books.close();
        let mut findings = std::mem::take(&mut books.findings);
        // A command cannot say under which grant it ran, so it is counted: what it wrote against how often it was claimed.
        let mut claimed: BTreeMap<String, usize> = BTreeMap::new();
        for (call, times) in books.calls_of(&AgentId::built_in()) {
            let command = call.args.text("command").unwrap_or_default();
            let word = command.split(' ').nth(1).unwrap_or_default();
            *claimed.entry(word.to_owned()).or_default() += times;
        }
        let mut ran: BTreeMap<&str, usize> = BTreeMap::new();
        for line in written.lines() {
            *ran.entry(line).or_default() += 1;
        }
        for (word, times) in ran {
            let allowed = claimed.get(word).copied().unwrap_or_default();
            if times > allowed {
                findings.push(format!(
                    "`{word}` was written {times} times and claimed {allowed} times"
                ));
            }
        }
        findings
    }

    pub(crate) fn verified(&self) -> &Verified {
        &self.verified
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What happened, for finding out why.
    pub(crate) fn story(&self) -> String {
        let path = std::env::temp_dir().join(format!("placet-faults-{}.log", std::process::id()));
        std::fs::write(&path, self.lines.join("\n")).unwrap();
        format!("the history is in {}", path.display())
    }
}
