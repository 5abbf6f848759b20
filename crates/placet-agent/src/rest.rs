//! Waiting for a run to come to rest: ended, or parked until somebody decides.

use placet_core::ids::{InteractionId, SessionId};
use placet_core::run::{Message, Run, RunEnd, Stage};
use placet_store::StoreError;

use crate::agent::Agent;

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
        /// The questions it waits for.
        questions: Vec<InteractionId>,
    },
}

impl Agent {
    /// Waits until the run of a session has ended or can only wait for people.
    pub async fn rest(&self, session: &SessionId) -> Result<Rest, StoreError> {
        let mut journal = self.engine().subscribe(0, Some(session.clone()));
        let looked = session.clone();
        let store = self.engine().store();
        if store.read(move |view, _| view.run(&looked)).await?.is_none() {
            return Ok(Rest::Never);
        }
        let mut run = Run::new(session.clone());
        loop {
            let row = journal.next().await?;
            run.evolve(&row.event).map_err(|error| StoreError::Corrupt {
                what: format!("row {}: {error}", row.id),
            })?;
            // What is already stored is read to its end first: a run that was parked once may be long past it.
            if let Some(rest) = at_rest(&run)
                && !has_more(self, session, row.id).await?
            {
                return Ok(rest);
            }
        }
    }
}

async fn has_more(agent: &Agent, session: &SessionId, after: u64) -> Result<bool, StoreError> {
    let session = session.clone();
    let store = agent.engine().store();
    store
        .read(move |view, _| Ok(!view.journal(after, 1, Some(&session))?.is_empty()))
        .await
}

fn at_rest(run: &Run) -> Option<Rest> {
    if let Stage::Ended(how) = run.stage() {
        let last = run.transcript().iter().rev().find_map(|message| match message {
            Message::Model { text, .. } => Some(text.clone()),
            Message::User { .. } | Message::Result { .. } => None,
        });
        return Some(Rest::Ended {
            how: how.clone(),
            text: last.unwrap_or_default(),
        });
    }
    let questions = run.slots().iter().filter_map(|slot| slot.question());
    let mut questions: Vec<InteractionId> = questions.map(|asked| asked.id.clone()).collect();
    questions.dedup();
    (run.is_parked() && !questions.is_empty()).then_some(Rest::Parked { questions })
}
