//! Waiting for a run to come to rest: ended, or parked until a decision. A run with delegated tasks rests when the runs
//! that do it rest, and waits for what they wait for.

use std::collections::BTreeMap;

use placet_core::ids::{InteractionId, SessionId};
use placet_core::run::{Run, RunEnd, Stage};
use placet_store::StoreError;

use crate::agent::{Agent, ReplayError};

/// Where a run came to rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// No run has ever begun in this session.
    Never,
    /// It ended.
    Ended {
        /// How.
        how: RunEnd,
        /// What the model said last.
        text: String,
    },
    /// It waits for people.
    Parked {
        /// The questions it waits for, and those of the runs it handed work to.
        questions: Vec<InteractionId>,
    },
}

impl Agent {
    /// Where the run of a session rests at this moment; `None` while it goes on.
    pub async fn resting(&self, session: &SessionId) -> Result<Option<Rest>, StoreError> {
        let store = self.engine().store();
        if store.look(|stored| Ok(stored.run(session)?.is_none())).await? {
            return Ok(Some(Rest::Never));
        }
        let mut family = Family::default();
        family.read_on(self, session).await?;
        Ok(family.at_rest(session))
    }

    /// Waits until the run of a session has ended or can only wait for people.
    pub async fn rest(&self, session: &SessionId) -> Result<Rest, StoreError> {
        let store = self.engine().store();
        if store.look(|stored| Ok(stored.run(session)?.is_none())).await? {
            return Ok(Rest::Never);
        }
        // Before anything is read, so that what happens meanwhile is heard of.
        let mut journal = self.engine().subscribe(self.engine().head().await?, None);
        let mut family = Family::default();
        loop {
            family.read_on(self, session).await?;
            if let Some(rest) = family.at_rest(session) {
                return Ok(rest);
            }
            while !family.0.contains_key(&journal.next().await?.session) {}
        }
    }
}

/// A run and those that do its calls, each with the last row it has seen.
#[derive(Default)]
struct Family(BTreeMap<SessionId, (Run, u64)>);

impl Family {
    async fn read_on(&mut self, agent: &Agent, root: &SessionId) -> Result<(), StoreError> {
        let mut next = vec![root.clone()];
        while let Some(session) = next.pop() {
            let begun = || (Run::new(session.clone()), 0);
            let (run, after) = self.0.entry(session.clone()).or_insert_with(begun);
            let read = agent.inner.read_on(run, *after, &mut |_| {}).await;
            *after = read.map_err(ReplayError::into_store)?;
            next.extend(run.children().cloned());
        }
        Ok(())
    }

    fn at_rest(&self, session: &SessionId) -> Option<Rest> {
        let (run, _) = self.0.get(session)?;
        if let Stage::Ended(how) = run.stage() {
            let (how, text) = (how.clone(), run.last_words().to_owned());
            return Some(Rest::Ended { how, text });
        }
        let mut questions = Vec::new();
        self.parked_on(session, &mut questions)?;
        questions.dedup();
        Some(Rest::Parked { questions })
    }

    /// Collects what a run waits for; `None` when something can still happen without people.
    fn parked_on(&self, session: &SessionId, questions: &mut Vec<InteractionId>) -> Option<()> {
        let (run, _) = self.0.get(session).filter(|(run, _)| run.is_parked())?;
        let before = questions.len();
        questions.extend(
            run.slots()
                .iter()
                .filter_map(|slot| Some(slot.question()?.id.clone())),
        );
        for child in run.children() {
            self.parked_on(child, questions)?;
        }
        (questions.len() > before).then_some(())
    }
}
