//! Approving with other arguments: a new call, checked and judged again.

use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::ids::AgentId;
use placet_core::interaction::{Answer, AnswerError, Interaction, Resolution};
use placet_core::outcome::Outcome;
use placet_core::steps::AnswerRefusal;
use placet_core::tool::Risk;
use placet_engine::toolbox::Toolbox;
use placet_engine::{Answered, Proposed, Submission};
use placet_store::StepError;
use serde_json::json;

use crate::answers::HOUSE;
use crate::support::*;

#[tokio::test]
async fn edited_arguments_run_instead_and_both_are_known() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let outcome = decide(
        &engine,
        deploy("c", "staging"),
        edit("lin", json!({ "to": "canary" })),
    )
    .await;
    let edited = deploy("c", "canary");
    let Outcome::Approved {
        digest,
        edited: Some(new),
        ..
    } = &outcome
    else {
        panic!("{outcome:?}")
    };
    assert_eq!((*digest, new), (edited.digest(), &edited.args));
    let permit = engine.gate().claim(&key("c"), None).await.unwrap();
    assert_eq!((permit.call(), permit.digest()), (&edited, edited.digest()));
    let record = engine.gate().record(&key("c")).await.unwrap().unwrap();
    assert_eq!(
        record.call.args,
        args(json!({ "to": "staging" })),
        "what was asked for stays on record"
    );
    verify(&engine).await;
}

#[tokio::test]
async fn an_edit_that_does_not_fit_or_that_policy_denies_is_refused_and_the_question_stays_open() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "staging")).await;
    for misfit in [
        json!({ "to": 7 }),
        json!({}),
        json!({ "to": "canary", "force": true }),
    ] {
        let refused = say(&engine, &id, edit("lin", misfit)).await;
        assert!(
            matches!(refused, Err(StepError::Refused(AnswerRefusal::EditInvalid(_)))),
            "{refused:?}"
        );
    }
    let refused = say(&engine, &id, edit("lin", json!({ "to": 7, "force": true }))).await;
    let Err(StepError::Refused(AnswerRefusal::EditInvalid(complaints))) = refused else {
        panic!("{refused:?}");
    };
    for field in ["to: ", "force"] {
        assert!(complaints.contains(field), "every field at once: {complaints}");
    }
    let denied = say(&engine, &id, edit("lin", json!({ "to": "moon" }))).await;
    assert!(
        matches!(denied, Err(StepError::Refused(AnswerRefusal::EditDenied(_)))),
        "{denied:?}"
    );
    let with_a_no = Answer {
        option: "reject".into(),
        ..edit("lin", json!({ "to": "canary" }))
    };
    let refused = say(&engine, &id, with_a_no).await;
    assert!(
        matches!(
            refused,
            Err(StepError::Refused(AnswerRefusal::Invalid(
                AnswerError::EditNotOffered { .. }
            )))
        ),
        "{refused:?}"
    );
    assert!(is_open(&engine, &id).await);
    say(&engine, &id, choice("lin", "approve")).await.unwrap();
}

#[tokio::test]
async fn an_edit_that_others_must_agree_to_voids_earlier_votes_and_counts_the_editors() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let first = park(&engine, deploy("c", "production-eu")).await;
    assert_eq!(
        say(&engine, &first, choice("wei", "approve")).await.unwrap(),
        Answered::Voted { needed: 1 }
    );
    let answered = say(&engine, &first, edit("lin", json!({ "to": "production" })))
        .await
        .unwrap();
    let Answered::AskedAnew { question } = answered else {
        panic!("{answered:?}")
    };

    let Interaction::Resolved(old) = interaction(&engine, &first).await else {
        panic!()
    };
    assert_eq!(old.resolution, Resolution::Superseded { by: question.clone() });
    let Interaction::Pending(new) = interaction(&engine, &question).await else {
        panic!()
    };
    assert_eq!(
        new.votes.keys().cloned().collect::<Vec<_>>(),
        [person("lin")],
        "wei agreed to something else"
    );

    let twice = say(&engine, &question, choice("lin", "approve")).await;
    assert!(
        matches!(
            twice,
            Err(StepError::Refused(AnswerRefusal::Invalid(
                AnswerError::VotedBefore { needed: 1, .. }
            )))
        ),
        "{twice:?}"
    );
    say(&engine, &question, choice("wei", "approve")).await.unwrap();
    let Outcome::Approved { by, edited, .. } = outcome(&engine, "c").await else {
        panic!()
    };
    assert_eq!(by, [person("lin"), person("wei")]);
    assert_eq!(edited, Some(args(json!({ "to": "production" }))));
    let permit = engine.gate().claim(&key("c"), None).await.unwrap();
    assert_eq!(permit.call().args.text("to"), Some("production"));
    verify(&engine).await;
}

#[tokio::test]
async fn arguments_sent_back_unchanged_are_a_plain_approval() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "production-eu")).await;
    say(&engine, &id, choice("wei", "approve")).await.unwrap();
    say(&engine, &id, edit("lin", json!({ "to": "production-eu" })))
        .await
        .unwrap();
    let Outcome::Approved { by, edited, .. } = outcome(&engine, "c").await else {
        panic!()
    };
    assert_eq!((by, edited), (vec![person("lin"), person("wei")], None));
}

/// Says what it would touch.
struct Counting;

#[async_trait::async_trait]
impl Toolbox for Counting {
    async fn evidence(&self, call: &ToolCall) -> Result<Vec<Evidence>, String> {
        Ok(vec![Evidence::Note {
            title: "touches".into(),
            text: call.args.text("to").unwrap_or_default().to_owned(),
        }])
    }
}

#[tokio::test]
async fn whoever_is_asked_about_an_edit_sees_what_the_new_call_would_do_and_at_least_the_risk_declared() {
    let house = House::new();
    let engine = house
        .start(
            house
                .builder(HOUSE)
                .toolbox(AgentId::new("coder").unwrap(), Counting),
        )
        .await;
    let submission = Submission {
        risk: Some(Risk::High),
        ..Submission::from(deploy("c", "production-eu"))
    };
    let Proposed::Parked { on, .. } = engine.gate().propose(submission).await.unwrap() else {
        panic!("a person must agree")
    };
    assert_eq!(asked(&engine, &on).await.risk, Risk::High);
    let answered = say(&engine, &on, edit("lin", json!({ "to": "production" }))).await;
    let Ok(Answered::AskedAnew { question }) = answered else {
        panic!("{answered:?}")
    };
    let anew = asked(&engine, &question).await;
    assert_eq!(anew.risk, Risk::High);
    let [Evidence::Note { text, .. }] = anew.evidence.as_slice() else {
        panic!("{anew:?}")
    };
    assert_eq!(text, "production");
}
