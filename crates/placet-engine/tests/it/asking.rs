//! Asking: the six kinds of questions, quorum, separation, escalation, expiry, withdrawal, groups and caps.

use placet_core::ids::GroupId;
use placet_core::interaction::{
    Action, Answer, AnswerError, Cancellation, Interaction, InteractionRequest, RequestError, Resolution,
};
use placet_core::outcome::{Denial, OpenOf, Outcome};
use placet_core::record::CallState;
use placet_core::steps::{AnswerRefusal, AskRefusal, ClaimRefusal, How};
use placet_core::time::Millis;
use placet_engine::{Answered, Engine, GateError, Proposed};
use placet_store::StepError;
use serde_json::{Value, json};

use crate::support::*;

const HOUSE: &str = r#"
[approval]
open_questions_max = 3

[[people]]
name = "lin"
[[people]]
name = "wei"
[[people]]
name = "ana"

[groups]
ops = ["lin", "wei"]

[[rules]]
name = "production needs two others"
tool = "deploy"
args = { to = "production" }
effect = "ask"
approvers = ["group:ops", "ana"]
quorum = 2
not_requester = true
timeout = "30m"

[[rules]]
name = "wei is on duty"
tool = "deploy"
args = { to = "edge" }
effect = "ask"
approvers = ["wei"]
timeout = "30m"
escalate = { after = "10m", to = ["lin"] }
"#;

fn request(kind: &str, options: &Value) -> InteractionRequest {
    serde_json::from_value(json!({
        "sessionId": "s", "type": kind, "title": "A question", "message": "Which one?", "options": options,
    }))
    .unwrap()
}

async fn put(
    engine: &Engine,
    request: InteractionRequest,
) -> Result<placet_core::interaction::Asked, StepError<AskRefusal>> {
    engine.broker().ask(request, deploy("c", "x").origin).await
}

#[tokio::test]
async fn all_six_kinds_of_questions_are_put_and_answered() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let data = json!({ "answer": 42 }).as_object().cloned();
    let cases = [
        (
            "TOOL_APPROVAL",
            "APPROVE_AND_EXECUTE",
            choice("lin", "it"),
            Action::ApproveAndExecute,
        ),
        (
            "MISSING_INFO",
            "PROVIDE_INFO",
            Answer {
                data,
                ..choice("lin", "it")
            },
            Action::ProvideInfo,
        ),
        (
            "USER_CONFIRMATION",
            "APPROVE_AND_EXECUTE",
            choice("lin", "it"),
            Action::ApproveAndExecute,
        ),
        ("USER_CHOICE", "CUSTOM", choice("lin", "it"), Action::Custom),
        (
            "USER_INPUT",
            "RETRY_WITH_FEEDBACK",
            because("lin", "it", "blue"),
            Action::RetryWithFeedback,
        ),
        (
            "CUSTOM",
            "REJECT_WITH_REASON",
            because("lin", "it", "no"),
            Action::RejectWithReason,
        ),
    ];
    for (kind, action, answer, expected) in cases {
        let options = json!([
            { "optionId": "it", "label": "It", "action": action, "requiresInput": action.contains("FEEDBACK") },
            { "optionId": "other", "label": "Other", "action": "SKIP", "isDefault": true },
        ]);
        let asked = put(&engine, request(kind, &options)).await.unwrap();
        assert_eq!(serde_json::to_value(asked.kind()).unwrap(), kind);
        assert_eq!(
            say(&engine, &asked.id, answer.clone()).await.unwrap(),
            Answered::Decided { action: expected }
        );
        let Some(Resolution::Answered { ballot, action, by }) =
            soon(engine.broker().wait(&asked.id)).await.unwrap()
        else {
            panic!("{kind}")
        };
        assert_eq!((action, by), (expected, vec![person("lin")]));
        assert_eq!(
            (ballot.option.as_str(), ballot.feedback, ballot.data),
            ("it", answer.feedback, answer.data)
        );
    }
    verify(&engine).await;
}

#[tokio::test]
async fn a_question_nobody_answers_takes_its_default_and_says_that_time_ran_out() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let options = json!([
        { "optionId": "blue", "label": "Blue", "action": "CUSTOM", "isDefault": true },
        { "optionId": "red", "label": "Red", "action": "CUSTOM" },
    ]);
    let with_default = put(&engine, request("USER_CHOICE", &options)).await.unwrap();
    let mut plain = request(
        "USER_CHOICE",
        &json!([{ "optionId": "red", "label": "Red", "action": "CUSTOM" }]),
    );
    plain.timeout_seconds = Some(90);
    let without = put(&engine, plain).await.unwrap();
    house.pass(&engine, 60);
    let expired = soon(engine.broker().wait(&with_default.id)).await.unwrap();
    assert_eq!(
        expired,
        Some(Resolution::Expired {
            option: Some("blue".into())
        })
    );
    assert!(is_open(&engine, &without.id).await, "it has thirty seconds left");
    house.pass(&engine, 30);
    let expired = soon(engine.broker().wait(&without.id)).await.unwrap();
    assert_eq!(expired, Some(Resolution::Expired { option: None }));
}

#[tokio::test]
async fn a_question_that_cannot_be_answered_is_not_put() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let none = put(&engine, request("CUSTOM", &json!([]))).await;
    assert!(
        matches!(
            none,
            Err(StepError::Refused(AskRefusal::Invalid(RequestError::NoOptions)))
        ),
        "{none:?}"
    );
    let approves =
        json!([{ "optionId": "y", "label": "Y", "action": "APPROVE_AND_EXECUTE", "isDefault": true }]);
    let silent = put(&engine, request("TOOL_APPROVAL", &approves)).await;
    assert!(
        matches!(
            silent,
            Err(StepError::Refused(AskRefusal::Invalid(
                RequestError::DefaultApproves(_)
            )))
        ),
        "{silent:?}"
    );
    let fine = json!([{ "optionId": "y", "label": "Y", "action": "CUSTOM" }]);
    let mut named = request("CUSTOM", &fine);
    named.request_id = Some(placet_core::ids::InteractionId::new("mine").unwrap());
    put(&engine, named.clone()).await.unwrap();
    assert!(matches!(
        put(&engine, named).await,
        Err(StepError::Refused(AskRefusal::IdTaken(_)))
    ));
    assert_eq!(open(&engine).await.len(), 1);
}

#[tokio::test]
async fn a_quorum_counts_different_people_and_never_the_requester() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, for_user(deploy("c", "production"), "lin")).await;
    let own = say(&engine, &id, choice("lin", "approve")).await;
    assert!(
        matches!(
            own,
            Err(StepError::Refused(AnswerRefusal::Invalid(
                AnswerError::OwnRequest { .. }
            )))
        ),
        "{own:?}"
    );
    assert_eq!(
        say(&engine, &id, choice("wei", "approve")).await.unwrap(),
        Answered::Voted { needed: 1 }
    );
    let again = say(&engine, &id, choice("wei", "approve")).await;
    assert!(
        matches!(
            again,
            Err(StepError::Refused(AnswerRefusal::Invalid(
                AnswerError::VotedBefore { .. }
            )))
        ),
        "{again:?}"
    );
    say(&engine, &id, choice("ana", "approve")).await.unwrap();
    let Outcome::Approved { by, .. } = outcome(&engine, "c").await else {
        panic!()
    };
    assert_eq!(by, [person("ana"), person("wei")]);
}

#[tokio::test]
async fn one_no_is_enough_whatever_the_quorum() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "production")).await;
    say(&engine, &id, choice("wei", "approve")).await.unwrap();
    say(&engine, &id, because("ana", "reject", "no")).await.unwrap();
    assert!(matches!(outcome(&engine, "c").await, Outcome::Rejected { .. }));
}

#[tokio::test]
async fn those_a_question_escalates_to_are_asked_from_that_moment_on() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "edge")).await;
    let early = say(&engine, &id, choice("lin", "approve")).await;
    assert!(
        matches!(early, Err(StepError::Refused(AnswerRefusal::NotFound(_)))),
        "{early:?}"
    );
    let mut events = engine.subscribe(engine.head().await.unwrap(), Some(session("s")));
    house.pass(&engine, 600);
    assert_eq!(soon(events.next()).await.unwrap().event.name(), "escalated");
    say(&engine, &id, choice("lin", "approve")).await.unwrap();
    assert!(outcome(&engine, "c").await.permits());
}

#[tokio::test]
async fn a_call_nobody_answers_expires_at_its_deadline_and_not_a_millisecond_earlier() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "staging")).await;
    house.pass(&engine, 59);
    assert!(is_open(&engine, &id).await);
    house.clock.pass(1);
    let late = say(&engine, &id, choice("lin", "approve")).await;
    assert!(
        matches!(
            late,
            Err(StepError::Refused(
                AnswerRefusal::Invalid(AnswerError::TooLate { .. }) | AnswerRefusal::AlreadyDecided { .. }
            ))
        ),
        "{late:?}"
    );
    engine.look_at_the_clock();
    let expired = outcome(&engine, "c").await;
    assert_eq!(
        expired,
        Outcome::Expired {
            after: Millis::from_secs(60),
            default: None,
        }
    );
    let read = expired.result_for_model().unwrap();
    assert_eq!(
        (&read["outcome"], &read["executed"]),
        (&json!("expired"), &json!(false))
    );
    let StepError::Refused(AnswerRefusal::AlreadyDecided { how, .. }) =
        say(&engine, &id, choice("lin", "approve")).await.unwrap_err()
    else {
        panic!()
    };
    assert_eq!(how, How::Expired);
    park(&engine, deploy("c2", "staging")).await;
}

#[tokio::test]
async fn a_withdrawn_question_cancels_its_call() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "staging")).await;
    assert!(engine.broker().withdraw(&id, "the agent").await.unwrap());
    assert!(
        !engine.broker().withdraw(&id, "the agent").await.unwrap(),
        "only once"
    );
    let why = "the question was withdrawn by the agent".to_owned();
    assert_eq!(outcome(&engine, "c").await, Outcome::Cancelled { why });
    let Interaction::Resolved(resolved) = interaction(&engine, &id).await else {
        panic!()
    };
    let why = Cancellation::Withdrawn {
        by: "the agent".into(),
    };
    assert_eq!(resolved.resolution, Resolution::Cancelled { why });
}

#[tokio::test]
async fn ending_a_session_from_outside_cancels_what_is_open() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    park(&engine, deploy("c", "staging")).await;
    engine
        .broker()
        .end_session(&session("s"), "the operator")
        .await
        .unwrap();
    engine
        .broker()
        .end_session(&session("s"), "the operator")
        .await
        .unwrap();
    assert!(matches!(outcome(&engine, "c").await, Outcome::Cancelled { .. }));
    assert_eq!(
        settle(&engine, deploy("d", "staging")).await,
        Outcome::Denied {
            denial: Denial::SessionOver
        }
    );
    let options = json!([{ "optionId": "y", "label": "Y", "action": "CUSTOM" }]);
    assert!(matches!(
        put(&engine, request("CUSTOM", &options)).await,
        Err(StepError::Refused(AskRefusal::SessionOver))
    ));
}

#[tokio::test]
async fn the_same_call_twice_is_one_question_two_waiters_and_one_grant() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let first = park(&engine, deploy("a", "staging")).await;
    let second = park(&engine, deploy("b", "staging")).await;
    assert_eq!(first, second);
    assert_eq!(open(&engine).await, std::slice::from_ref(&first));
    let record = engine.gate().record(&key("b")).await.unwrap().unwrap();
    assert_eq!(record.state, CallState::SameAs(key("a")));

    let (gate, keys) = (engine.gate(), (key("a"), key("b")));
    let waiting = tokio::spawn(async move { tokio::join!(gate.wait(&keys.0), gate.wait(&keys.1)) });
    say(&engine, &first, choice("lin", "approve")).await.unwrap();
    let (a, b) = soon(waiting).await.unwrap();
    assert_eq!(a.unwrap(), b.unwrap());
    let permit = engine.gate().claim(&key("b"), None).await.unwrap();
    assert_eq!(permit.key(), &key("a"), "one call runs, whoever claims it");
    let other = engine.gate().claim(&key("a"), None).await;
    assert!(
        matches!(other, Err(GateError::Claim(ClaimRefusal::AlreadyClaimed(_)))),
        "{other:?}"
    );
    verify(&engine).await;
}

#[tokio::test]
async fn the_calls_of_one_turn_are_one_group_and_decided_one_by_one() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let turn = ["a", "b"].map(|id| {
        let mut call = deploy(id, id);
        call.group = Some(GroupId::new("turn-1").unwrap());
        call.into()
    });
    let mut questions = Vec::new();
    for proposed in engine.gate().propose_all(turn.into()).await {
        let Proposed::Parked { on, .. } = proposed.unwrap() else {
            panic!()
        };
        assert_eq!(
            asked(&engine, &on).await.group,
            Some(GroupId::new("turn-1").unwrap())
        );
        questions.push(on);
    }
    say(&engine, &questions[1], because("lin", "reject", "not b"))
        .await
        .unwrap();
    assert!(is_open(&engine, &questions[0]).await);
    say(&engine, &questions[0], choice("lin", "approve"))
        .await
        .unwrap();
    assert!(outcome(&engine, "a").await.permits());
    assert!(matches!(outcome(&engine, "b").await, Outcome::Rejected { .. }));
}

#[tokio::test]
async fn past_the_cap_calls_are_denied_and_questions_refused_saying_so() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    for id in ["a", "b", "c"] {
        park(&engine, deploy(id, id)).await;
    }
    assert_eq!(
        settle(&engine, deploy("d", "d")).await,
        Outcome::Denied {
            denial: Denial::TooManyOpen {
                max: 3,
                of: OpenOf::Session
            }
        }
    );
    park(&engine, deploy("a2", "a")).await;
    let options = json!([{ "optionId": "y", "label": "Y", "action": "CUSTOM" }]);
    assert!(matches!(
        put(&engine, request("CUSTOM", &options)).await,
        Err(StepError::Refused(AskRefusal::TooManyOpen { max: 3, .. }))
    ));
    park(&engine, in_session(deploy("e", "e"), "another")).await;
    let first = open(&engine).await.remove(0);
    say(&engine, &first, choice("lin", "skip")).await.unwrap();
    park(&engine, deploy("f", "f")).await;
}

#[tokio::test]
async fn one_agent_cannot_bury_the_inbox_by_asking_in_ever_new_sessions() {
    let house = House::new();
    let engine = house.open("[approval]\nagent_open_questions_max = 2\n").await;
    let at = |id: &str| in_session(deploy(id, id), id);
    park(&engine, at("a")).await;
    park(&engine, at("b")).await;
    let (max, of) = (2, OpenOf::Agent);
    let denial = Denial::TooManyOpen { max, of };
    assert_eq!(settle(&engine, at("c")).await, Outcome::Denied { denial });
    let options = json!([{ "optionId": "y", "label": "Y", "action": "CUSTOM" }]);
    assert!(matches!(
        put(&engine, request("CUSTOM", &options)).await,
        Err(StepError::Refused(AskRefusal::TooManyOpen {
            max: 2,
            of: OpenOf::Agent
        }))
    ));
    // Another agent is not held up.
    let mut other = at("d");
    other.origin.agent = placet_core::ids::AgentId::new("other").unwrap();
    park(&engine, other).await;
    let first = open(&engine).await.remove(0);
    say(&engine, &first, choice("lin", "skip")).await.unwrap();
    park(&engine, at("e")).await;
    verify(&engine).await;
}

#[tokio::test]
async fn one_person_is_named_by_a_bounded_number_of_open_questions() {
    let house = House::new();
    let config =
        "[approval]\nperson_open_questions_max = 1\n[[people]]\nname = 'lin'\n[[people]]\nname = 'wei'\n";
    let engine = house.open(config).await;
    let first = park(&engine, for_user(in_session(deploy("a", "a"), "a"), "lin")).await;
    let (max, of) = (1, OpenOf::Person(person("lin")));
    let denial = Denial::TooManyOpen { max, of };
    let second = settle(&engine, for_user(in_session(deploy("b", "b"), "b"), "lin")).await;
    assert_eq!(second, Outcome::Denied { denial });
    park(&engine, for_user(in_session(deploy("c", "c"), "c"), "wei")).await;
    say(&engine, &first, choice("lin", "skip")).await.unwrap();
    park(&engine, for_user(in_session(deploy("d", "d"), "d"), "lin")).await;
    verify(&engine).await;
}
