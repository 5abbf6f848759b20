//! The people: each answers every question they learn of, whether it is theirs or not.

use std::sync::Arc;

use placet_core::call::Args;
use placet_core::ids::{InteractionId, PersonId};
use placet_core::interaction::{Answer, AnswerError, Interaction, Locale, Shown, Subject};
use placet_core::journal::Event;
use placet_core::principal::{Principal, Via};
use placet_core::question::Question;
use placet_core::steps::{AnswerRefusal, Answered};
use placet_store::StepError;
use rand::RngExt as _;
use rand::rngs::StdRng;
use serde_json::json;

use crate::Failure;
use crate::logs::Ack;
use crate::scene::LAPSES;
use crate::worker::{Worker, mark};

/// More questions than are ever open at once.
pub(crate) const PENDING_MAX: usize = 1000;

/// One person on one device: first what is open already, then whatever is asked.
pub(crate) async fn answer_everything(
    worker: Arc<Worker>,
    person: &'static str,
    mut rng: StdRng,
) -> Result<(), Failure> {
    // The head is read first: a question asked in between is seen twice rather than never.
    let mut feed = worker.engine.subscribe(worker.engine.head().await?, None);
    for open in worker.engine.broker().pending(None, PENDING_MAX).await? {
        answer(&worker, person, &mut rng, &open.id).await?;
    }
    loop {
        if let Event::Asked(asked) = feed.next().await?.event {
            answer(&worker, person, &mut rng, &asked.id).await?;
        }
    }
}

async fn answer(worker: &Worker, person: &str, rng: &mut StdRng, id: &InteractionId) -> Result<(), Failure> {
    let broker = worker.engine.broker();
    let question = broker
        .question(id)
        .await?
        .ok_or_else(|| format!("{id} was asked and is gone"))?;
    let Interaction::Pending(_) = question.interaction else {
        return Ok(());
    };
    if question
        .call
        .as_ref()
        .is_some_and(|record| record.call.tool.as_str() == LAPSES)
    {
        return Ok(());
    }
    let (option, taken) = loop {
        let (option, edited_args) = choose(rng, &question)?;
        let answer = Answer {
            by: Principal::Person {
                person: PersonId::new(person)?,
                via: Via::Inbox,
            },
            option: option.to_owned(),
            feedback: Some("because".into()),
            data: None,
            edited_args,
            instruction: None,
            remember: None,
            shown: Shown::Whole(question.document(Locale::English).digest()),
        };
        mark()?;
        match broker.answer(id, answer).await {
            // What is not offered is refused, and the question stays open: they choose again.
            Err(StepError::Refused(AnswerRefusal::Invalid(AnswerError::NoSuchOption { .. }))) => {}
            taken => break (option, taken),
        }
    };
    let (question, by) = (id.clone(), person.to_owned());
    match taken {
        Ok(Answered::Voted { .. }) => worker.acked(&Ack::Voted { question, by }),
        Ok(Answered::Decided { .. }) => worker.acked(&Ack::Decided {
            question,
            by,
            option: option.into(),
        }),
        Ok(Answered::AskedAnew { question: next }) => worker.acked(&Ack::AskedAnew { question, next }),
        // Not theirs, decided by another person, or their own other device was faster.
        Err(StepError::Refused(
            AnswerRefusal::NotFound(_) | AnswerRefusal::AlreadyDecided { .. } | AnswerRefusal::Invalid(_),
        )) => Ok(()),
        Err(refusal) => Err(format!("{person}'s `{option}` on {id} was not taken: {refusal}").into()),
    }
}

/// What a person chooses. Not all of it is always offered.
fn choose(rng: &mut StdRng, question: &Question) -> Result<(&'static str, Option<Args>), Failure> {
    let roll = rng.random_range(0..100_u32);
    Ok(match &question.interaction.asked().subject {
        Subject::Call { .. } => match roll {
            0..60 => ("approve", None),
            60..72 => (
                "approve",
                Some(Args::from_value(json!({ "target": format!("edited {roll}") }))?),
            ),
            72..82 => ("reject", None),
            82..88 => ("skip", None),
            88..94 => ("retry", None),
            94..98 => ("info", None),
            _ => ("terminate", None),
        },
        Subject::UnknownOutcome { .. } => match roll {
            0..50 => ("run_again", None),
            50..74 => ("treat_as_done", None),
            74..98 => ("skip", None),
            _ => ("terminate", None),
        },
        Subject::Breaker { .. } => match roll {
            0..70 => ("go_on", None),
            70..95 => ("retry", None),
            _ => ("terminate", None),
        },
        Subject::Request { .. } => return Err("no agent here asks questions of its own".into()),
    })
}
