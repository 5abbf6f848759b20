//! Repeated rejections: the person is asked how to go on.

use placet_core::ids::InteractionId;
use placet_core::interaction::Subject;
use placet_core::outcome::Outcome;
use placet_engine::Engine;

use crate::support::*;

const HOUSE: &str = "[approval]\nrejections_max = 2\n";

/// Two rejections, and the call that trips the breaker.
async fn tripped(engine: &Engine) -> InteractionId {
    for id in ["a", "b"] {
        decide(engine, deploy(id, id), because("lin", "reject", "no")).await;
    }
    let id = park(engine, deploy("c", "c")).await;
    let Subject::Breaker { rejections, call } = asked(engine, &id).await.subject else {
        panic!("an ordinary question")
    };
    assert_eq!((rejections, call), (2, key("c")));
    id
}

#[tokio::test]
async fn going_on_asks_about_the_parked_call_after_all() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let breaker = tripped(&engine).await;
    say(&engine, &breaker, choice("lin", "go_on")).await.unwrap();
    let [question] = open(&engine).await.try_into().unwrap();
    assert_ne!(question, breaker);
    assert!(
        matches!(asked(&engine, &question).await.subject, Subject::Call { call, .. } if call == key("c"))
    );
    say(&engine, &question, choice("lin", "approve")).await.unwrap();
    assert!(outcome(&engine, "c").await.permits());
    verify(&engine).await;
}

#[tokio::test]
async fn directions_reach_the_agent_instead_of_the_call() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let breaker = tripped(&engine).await;
    say(&engine, &breaker, because("lin", "retry", "only touch staging"))
        .await
        .unwrap();
    let feedback = "only touch staging".to_owned();
    assert_eq!(
        outcome(&engine, "c").await,
        Outcome::Retry {
            by: person("lin"),
            feedback,
            instruction: None
        }
    );
    let next = park(&engine, deploy("d", "d")).await;
    assert!(
        matches!(asked(&engine, &next).await.subject, Subject::Call { .. }),
        "counting starts again"
    );
}

#[tokio::test]
async fn ending_the_run_at_the_breaker_ends_the_session() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let breaker = tripped(&engine).await;
    say(&engine, &breaker, choice("lin", "terminate")).await.unwrap();
    assert_eq!(
        outcome(&engine, "c").await,
        Outcome::Terminated {
            by: person("lin"),
            reason: None
        }
    );
    assert!(matches!(
        settle(&engine, deploy("d", "d")).await,
        Outcome::Denied { .. }
    ));
}

#[tokio::test]
async fn an_approval_in_between_starts_the_count_again() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    decide(&engine, deploy("a", "a"), because("lin", "reject", "no")).await;
    decide(&engine, deploy("b", "b"), choice("lin", "approve")).await;
    decide(&engine, deploy("c", "c"), because("lin", "reject", "no")).await;
    let id = park(&engine, deploy("d", "d")).await;
    assert!(matches!(asked(&engine, &id).await.subject, Subject::Call { .. }));
}
