//! Design §4: every way to answer, what becomes of the call, and what the model reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use placet_core::call::CallDigest;
use placet_core::interaction::{Action, Answer, AnswerError};
use placet_core::outcome::{Denial, Outcome};
use placet_core::principal::Principal;
use placet_core::steps::{AnswerRefusal, ClaimRefusal};
use placet_core::time::Timestamp;
use placet_engine::{Answered, Finished, GateError, Proposed};
use placet_store::StepError;
use serde_json::json;

use crate::support::*;

pub(crate) const HOUSE: &str = r#"
[tools.deploy]
schema = { type = "object", required = ["to"], properties = { to = { type = "string" } }, additionalProperties = false }

[[people]]
name = "lin"
[[people]]
name = "wei"
[[people]]
name = "ana"

[groups]
ops = ["lin", "wei", "ana"]

[[rules]]
name = "nobody deploys to the moon"
tool = "deploy"
args = { to = "moon" }
effect = "deny"

[[rules]]
name = "production needs two"
tool = "deploy"
args = { to = "production*" }
effect = "ask"
approvers = ["group:ops"]
quorum = 2

[[rules]]
name = "surveys want facts"
tool = "survey"
effect = "ask"
answers = ["approve", "reject", "info"]
"#;

fn approved(by: &[&str], digest: CallDigest) -> Outcome {
    Outcome::Approved {
        by: by.iter().map(|name| person(name)).collect(),
        digest,
        edited: None,
        judgement: None,
        instruction: None,
        remembered_until: Some(Timestamp::from_millis(BEGINNING + 300_000)),
    }
}

#[tokio::test]
async fn an_approved_call_runs_exactly_once_and_its_output_is_the_result() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let runs = Arc::new(AtomicU32::new(0));
    let call = deploy("c", "staging");
    let running = tokio::spawn({
        let (gate, call, runs) = (engine.gate(), call.clone(), Arc::clone(&runs));
        async move {
            gate.call(call, async |call| {
                runs.fetch_add(1, Ordering::SeqCst);
                Ok(format!("deployed to {}", call.args.text("to").unwrap()))
            })
            .await
        }
    });
    let mut events = engine.subscribe(0, None);
    let id = loop {
        if let placet_core::journal::Event::Asked(asked) = soon(events.next()).await.unwrap().event {
            break asked.id;
        }
    };
    assert_eq!(runs.load(Ordering::SeqCst), 0, "nothing runs before the answer");
    assert_eq!(
        say(&engine, &id, choice("lin", "approve")).await.unwrap(),
        Answered::Decided {
            action: Action::ApproveAndExecute
        }
    );
    let finished = soon(running).await.unwrap().unwrap();
    let Finished::Ran {
        result,
        outcome,
        args,
    } = &finished
    else {
        panic!("{finished:?}")
    };
    assert_eq!((result.ok, result.output.as_str()), (true, "deployed to staging"));
    assert_eq!(*outcome, approved(&["lin"], call.digest()));
    assert_eq!((outcome.result_for_model(), args), (None, &call.args));

    let again = engine
        .gate()
        .call(call, async |_| -> Result<String, String> {
            panic!("it ran twice")
        })
        .await;
    assert_eq!(
        again.unwrap(),
        finished,
        "the same call dispatched again gets the same result"
    );
    let claim = engine.gate().claim(&key("c"), None).await;
    assert!(
        matches!(claim, Err(GateError::Claim(ClaimRefusal::AlreadyClaimed(_)))),
        "{claim:?}"
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(
        story(&engine, "s").await,
        [
            "callReceived",
            "asked",
            "resolved",
            "settled",
            "claimed",
            "processed",
            "finished"
        ]
    );
    verify(&engine).await;
}

#[tokio::test]
async fn a_failing_tool_hands_back_its_failure_and_is_not_run_again() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let call = call("c", "read", json!({ "path": "README.md" }));
    let failed = engine
        .gate()
        .call(call, async |_| Err("no such file".to_owned()))
        .await
        .unwrap();
    let Finished::Ran { result, outcome, .. } = failed else {
        panic!()
    };
    assert_eq!(
        (result.ok, result.output.as_str(), outcome),
        (false, "no such file", Outcome::Allowed)
    );
}

#[tokio::test]
async fn each_answer_has_an_outcome_of_its_own_and_a_result_that_is_no_success() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let by = || person("lin");
    let data = json!({ "rows": 7 }).as_object().cloned();
    let survey = call("info", "survey", json!({}));
    let said = Answer {
        data: data.clone(),
        ..because("lin", "info", "ask the DBA")
    };
    let cases = [
        (
            deploy("reject", "a"),
            because("lin", "reject", "not on Friday"),
            Outcome::Rejected {
                by: by(),
                reason: Some("not on Friday".into()),
                instruction: None,
            },
            json!({ "executed": false, "outcome": "rejected_by_person", "reason": "not on Friday" }),
        ),
        (
            deploy("retry", "b"),
            because("lin", "retry", "try canary"),
            Outcome::Retry {
                by: by(),
                feedback: "try canary".into(),
                instruction: None,
            },
            json!({ "executed": false, "outcome": "try_again_with_feedback", "feedback": "try canary" }),
        ),
        (
            survey,
            said,
            Outcome::Info {
                by: by(),
                feedback: Some("ask the DBA".into()),
                data,
                instruction: None,
            },
            json!({
                "executed": false, "outcome": "information_provided", "feedback": "ask the DBA", "data": { "rows": 7 }
            }),
        ),
        (
            deploy("skip", "c"),
            choice("lin", "skip"),
            Outcome::Skipped {
                by: by(),
                instruction: None,
            },
            json!({ "executed": false, "outcome": "skipped_by_person" }),
        ),
        (
            deploy("terminate", "d"),
            because("lin", "terminate", "wrong repository"),
            Outcome::Terminated {
                by: by(),
                reason: Some("wrong repository".into()),
            },
            json!({ "executed": false, "outcome": "run_terminated_by_person", "reason": "wrong repository" }),
        ),
    ];
    for (call, answer, expected, model_reads) in cases {
        let id = call.id.to_string();
        let outcome = decide(&engine, call, answer).await;
        assert_eq!(outcome, expected);
        assert_eq!(outcome.result_for_model(), Some(model_reads));
        let claim = engine.gate().claim(&key(&id), None).await;
        assert!(
            matches!(claim, Err(GateError::Claim(ClaimRefusal::NotGranted { .. }))),
            "{id}: {claim:?}"
        );
    }
    verify(&engine).await;
}

#[tokio::test]
async fn an_answer_that_needs_words_and_has_none_is_refused_and_the_question_stays_open() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "staging")).await;
    let refused = say(&engine, &id, choice("lin", "retry")).await;
    assert!(
        matches!(
            refused,
            Err(StepError::Refused(AnswerRefusal::Invalid(
                AnswerError::InputMissing { .. }
            )))
        ),
        "{refused:?}"
    );
    let refused = say(&engine, &id, choice("lin", "yes please")).await;
    assert!(
        matches!(
            refused,
            Err(StepError::Refused(AnswerRefusal::Invalid(
                AnswerError::NoSuchOption { .. }
            )))
        ),
        "{refused:?}"
    );
    assert!(is_open(&engine, &id).await);
}

#[tokio::test]
async fn an_instruction_travels_with_the_outcome() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let answer = Answer {
        instruction: Some("tell me when it is done".into()),
        ..choice("lin", "approve")
    };
    let outcome = decide(&engine, deploy("c", "staging"), answer).await;
    assert_eq!(outcome.instruction(), Some("tell me when it is done"));
}

#[tokio::test]
async fn the_same_call_rejected_before_in_the_session_is_refused_without_asking() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    decide(
        &engine,
        deploy("c", "staging"),
        because("lin", "reject", "frozen"),
    )
    .await;
    let again = settle(&engine, deploy("c2", "staging")).await;
    let denial = Denial::RejectedBefore {
        by: person("lin"),
        reason: Some("frozen".into()),
    };
    assert_eq!(again, Outcome::Denied { denial });
    assert_eq!(
        again.result_for_model().unwrap()["explanation"],
        "lin rejected exactly this call before: frozen"
    );
    assert!(open(&engine).await.is_empty());
    park(&engine, deploy("c3", "canary")).await;
    park(&engine, in_session(deploy("c4", "staging"), "another")).await;
}

#[tokio::test]
async fn ending_the_run_withdraws_its_other_questions_and_unclaimed_grants() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    decide(&engine, deploy("granted", "a"), choice("lin", "approve")).await;
    let other = park(&engine, deploy("other", "b")).await;
    let elsewhere = park(&engine, in_session(deploy("elsewhere", "b"), "another")).await;
    decide(&engine, deploy("c", "c"), because("lin", "terminate", "enough")).await;

    let ended = Outcome::Terminated {
        by: person("lin"),
        reason: Some("enough".into()),
    };
    assert_eq!(outcome(&engine, "other").await, ended);
    assert!(!is_open(&engine, &other).await);
    let claim = engine.gate().claim(&key("granted"), None).await;
    assert!(
        matches!(claim, Err(GateError::Claim(ClaimRefusal::SessionOver(_)))),
        "{claim:?}"
    );
    assert_eq!(
        settle(&engine, deploy("late", "d")).await,
        Outcome::Denied {
            denial: Denial::SessionOver
        }
    );
    let harmless = call("read", "read", json!({ "path": "a" }));
    assert_eq!(
        settle(&engine, harmless).await,
        Outcome::Denied {
            denial: Denial::SessionOver
        }
    );
    assert!(is_open(&engine, &elsewhere).await, "another session goes on");
    verify(&engine).await;
}

#[tokio::test]
async fn of_two_who_answer_one_decides_and_the_other_is_told_by_whom_and_when() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "staging")).await;
    let (lin, wei) = tokio::join!(
        say(&engine, &id, choice("lin", "approve")),
        say(&engine, &id, because("wei", "reject", "no")),
    );
    let (winner, loser) = match (lin, wei) {
        (Ok(_), Err(refused)) => ("`approve` by lin", refused),
        (Err(refused), Ok(_)) => ("`reject` by wei", refused),
        other => panic!("{other:?}"),
    };
    let StepError::Refused(AnswerRefusal::AlreadyDecided { how, at, .. }) = loser else {
        panic!("{loser:?}")
    };
    assert_eq!(
        (how.to_string().as_str(), at),
        (winner, Timestamp::from_millis(BEGINNING))
    );
}

#[tokio::test]
async fn a_stranger_learns_nothing_and_an_agent_never_answers() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "production")).await;
    let agent = Principal::Agent {
        agent: key("c").agent,
    };
    for stage in ["open", "decided"] {
        let stranger = say(&engine, &id, choice("mallory", "approve")).await;
        assert!(
            matches!(stranger, Err(StepError::Refused(AnswerRefusal::NotFound(_)))),
            "{stage}: {stranger:?}"
        );
        let by_agent = say(
            &engine,
            &id,
            Answer {
                by: agent.clone(),
                ..choice("lin", "approve")
            },
        )
        .await;
        assert!(
            matches!(
                by_agent,
                Err(StepError::Refused(
                    AnswerRefusal::Invalid(AnswerError::NotAPerson { .. }) | AnswerRefusal::NotFound(_)
                ))
            ),
            "{stage}: {by_agent:?}"
        );
        if stage == "open" {
            assert!(is_open(&engine, &id).await);
            say(&engine, &id, because("lin", "reject", "no")).await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_id_used_again_for_another_call_is_refused() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "staging")).await;
    let known = engine.gate().propose(deploy("c", "staging")).await.unwrap();
    assert!(matches!(known, Proposed::Known(_)), "{known:?}");
    let taken = engine.gate().propose(deploy("c", "canary")).await;
    assert_eq!(
        taken.unwrap_err().to_string(),
        "the call id `c` was used before for a different call"
    );
    assert_eq!(open(&engine).await, [id]);
}
