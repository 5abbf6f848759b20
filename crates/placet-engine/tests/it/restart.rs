//! Restarts: what waited still waits with the time it had left, and what was running may have happened.

use placet_core::interaction::{Action, Interaction, Resolution, Subject};
use placet_core::journal::CallResult;
use placet_core::outcome::{Denial, Outcome};
use placet_core::policy::Mode;
use placet_core::record::{CallState, GrantState};
use placet_core::steps::{ClaimRefusal, FinishRefusal};
use placet_core::time::Millis;
use placet_engine::{Engine, Finished, GateError, Proposed};
use serde_json::json;

use crate::recorder::Recorder;
use crate::support::*;

const HOUSE: &str = r#"
[[people]]
name = "lin"
[[people]]
name = "wei"
"#;

async fn restarted(house: &House, engine: Engine) -> Engine {
    engine.shutdown().await.unwrap();
    house.open(HOUSE).await
}

async fn time_left(engine: &Engine, id: &placet_core::ids::InteractionId) -> Millis {
    asked(engine, id)
        .await
        .deadline
        .remaining_from(engine.store().now())
}

#[tokio::test]
async fn a_question_has_the_time_left_that_it_had_however_long_nobody_was_there() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "staging")).await;
    house.pass(&engine, 20);
    assert_eq!(time_left(&engine, &id).await, Millis::from_secs(40));
    engine.shutdown().await.unwrap();
    house.clock.pass(3600);
    let engine = house.open(HOUSE).await;
    assert_eq!(down_for(&engine), Millis::from_secs(3600));
    assert_eq!(
        time_left(&engine, &id).await,
        Millis::from_secs(40),
        "an hour of darkness is nobody's hour"
    );
    house.clock.jump(86_400);
    assert_eq!(
        time_left(&engine, &id).await,
        Millis::from_secs(40),
        "nor is a day the wall clock jumped"
    );
    house.clock.jump(-2 * 86_400);
    house.pass(&engine, 39);
    assert!(is_open(&engine, &id).await);
    house.pass(&engine, 1);
    assert_eq!(
        outcome(&engine, "c").await,
        Outcome::Expired {
            after: Millis::from_secs(60),
            default: None,
        }
    );
    verify(&engine).await;
}

#[tokio::test]
async fn whoever_waited_comes_back_by_the_calls_id() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let id = park(&engine, deploy("c", "staging")).await;
    let before = tokio::spawn({
        let gate = engine.gate();
        async move { gate.wait(&key("c")).await }
    });
    let engine = restarted(&house, engine).await;
    assert!(
        soon(before).await.unwrap().is_err(),
        "the old wait ends with the old engine"
    );

    let known = engine.gate().propose(deploy("c", "staging")).await.unwrap();
    let Proposed::Known(record) = known else {
        panic!("{known:?}")
    };
    assert_eq!(record.state, CallState::Parked { on: id.clone() });
    let running = tokio::spawn({
        let gate = engine.gate();
        async move {
            gate.call(deploy("c", "staging"), async |_| Ok("done".to_owned()))
                .await
        }
    });
    say(&engine, &id, choice("lin", "approve")).await.unwrap();
    assert!(matches!(
        soon(running).await.unwrap().unwrap(),
        Finished::Ran { .. }
    ));
}

#[tokio::test]
async fn decisions_and_results_survive() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    decide(&engine, deploy("approved", "a"), choice("lin", "approve")).await;
    decide(&engine, deploy("rejected", "b"), because("lin", "reject", "no")).await;
    let read = call("read", "read", json!({ "path": "a" }));
    engine
        .gate()
        .call(read.clone(), async |_| Ok("contents".to_owned()))
        .await
        .unwrap();
    let engine = restarted(&house, engine).await;
    assert!(outcome(&engine, "approved").await.permits());
    assert!(matches!(
        settle(&engine, deploy("again", "b")).await,
        Outcome::Denied {
            denial: Denial::RejectedBefore { .. }
        }
    ));
    let known = engine
        .gate()
        .call(read, async |_| Err("it ran again".to_owned()))
        .await
        .unwrap();
    assert!(matches!(known, Finished::Ran { result, .. } if result.output == "contents"));
    let permit = engine.gate().claim(&key("approved"), None).await.unwrap();
    assert_eq!(permit.grant(), 1);
}

/// A call that was claimed in a process that is gone, and the question it is asked back with.
async fn lost(house: &House) -> (Engine, placet_core::ids::InteractionId) {
    let engine = house.open(HOUSE).await;
    decide(&engine, deploy("c", "staging"), choice("lin", "approve")).await;
    let _running = engine.gate().claim(&key("c"), None).await.unwrap();
    let engine = restarted(house, engine).await;
    let [id] = open(&engine).await.try_into().unwrap();
    assert!(matches!(
        asked(&engine, &id).await.subject,
        Subject::UnknownOutcome { .. }
    ));
    (engine, id)
}

#[tokio::test]
async fn a_read_that_was_running_simply_runs_again_under_a_second_grant() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let read = call("r", "read", json!({ "path": "a" }));
    assert_eq!(settle(&engine, read.clone()).await, Outcome::Allowed);
    let _running = engine.gate().claim(&key("r"), None).await.unwrap();
    let engine = restarted(&house, engine).await;
    assert!(open(&engine).await.is_empty());
    let record = engine.gate().record(&key("r")).await.unwrap().unwrap();
    assert!(
        matches!(record.state, CallState::Granted { grant, .. } if grant.number == 2 && grant.state == GrantState::Issued)
    );
    let again = engine
        .gate()
        .call(read, async |_| Ok("contents".to_owned()))
        .await
        .unwrap();
    assert!(matches!(
        again,
        Finished::Ran {
            outcome: Outcome::Allowed,
            ..
        }
    ));
    verify(&engine).await;
}

#[tokio::test]
async fn what_may_have_happened_is_asked_back_and_can_be_run_again() {
    let house = House::new();
    let (engine, id) = lost(&house).await;
    let question = engine.broker().question(&id).await.unwrap().unwrap();
    let options = question
        .interaction
        .asked()
        .options(placet_core::interaction::Locale::English);
    let offered: Vec<_> = options
        .iter()
        .map(|option| (option.option_id.as_str(), option.action))
        .collect();
    assert_eq!(
        offered,
        [
            ("run_again", Action::ApproveAndExecute),
            ("treat_as_done", Action::ProvideInfo),
            ("skip", Action::Skip),
            ("terminate", Action::Terminate),
        ]
    );
    assert!(matches!(
        engine.gate().claim(&key("c"), None).await,
        Err(GateError::Claim(ClaimRefusal::StillPending(_)))
    ));
    say(&engine, &id, choice("wei", "run_again")).await.unwrap();
    assert!(outcome(&engine, "c").await.permits());
    let permit = engine.gate().claim(&key("c"), None).await.unwrap();
    assert_eq!(
        (permit.grant(), permit.digest()),
        (2, deploy("c", "staging").digest())
    );
    engine
        .gate()
        .finish(&key("c"), CallResult::new(true, "done"))
        .await
        .unwrap();
    verify(&engine).await;
}

#[tokio::test]
async fn it_can_be_treated_as_done_or_left_or_end_the_run_and_nothing_runs() {
    for (option, expected) in [
        (
            "treat_as_done",
            Outcome::Info {
                by: person("lin"),
                feedback: None,
                data: None,
                instruction: None,
            },
        ),
        (
            "skip",
            Outcome::Skipped {
                by: person("lin"),
                instruction: None,
            },
        ),
        (
            "terminate",
            Outcome::Terminated {
                by: person("lin"),
                reason: None,
            },
        ),
    ] {
        let house = House::new();
        let (engine, id) = lost(&house).await;
        say(&engine, &id, choice("lin", option)).await.unwrap();
        let expected = Outcome::MayHaveRun {
            then: Box::new(expected),
        };
        assert_eq!(outcome(&engine, "c").await, expected);
        assert_ne!(
            expected.result_for_model().unwrap()["executed"],
            false,
            "nobody can say that it did not run"
        );
        let claim = engine.gate().claim(&key("c"), None).await;
        assert!(
            matches!(claim, Err(GateError::Claim(ClaimRefusal::NotGranted { .. }))),
            "{option}: {claim:?}"
        );
        verify(&engine).await;
    }
}

#[tokio::test]
async fn a_result_that_arrives_late_withdraws_the_question_and_wakes_whoever_waits() {
    let house = House::new();
    let (engine, id) = lost(&house).await;
    let waiting = tokio::spawn({
        let gate = engine.gate();
        async move { gate.wait(&key("c")).await }
    });
    tokio::task::yield_now().await;
    let result = CallResult::new(true, "it had happened");
    engine.gate().finish(&key("c"), result.clone()).await.unwrap();
    engine.gate().finish(&key("c"), result.clone()).await.unwrap();
    assert!(soon(waiting).await.unwrap().unwrap().permits());
    let Interaction::Resolved(resolved) = interaction(&engine, &id).await else {
        panic!()
    };
    assert!(matches!(resolved.resolution, Resolution::Cancelled { .. }));
    let known = engine
        .gate()
        .call(deploy("c", "staging"), async |_| Err("it ran again".to_owned()))
        .await
        .unwrap();
    assert!(matches!(known, Finished::Ran { result: known, .. } if known == result));
    let other = engine
        .gate()
        .finish(&key("c"), CallResult::new(false, "no"))
        .await;
    assert!(
        matches!(other, Err(GateError::Finish(FinishRefusal::AlreadyFinished(_)))),
        "{other:?}"
    );
    verify(&engine).await;
}

#[tokio::test]
async fn a_lease_outlives_the_process_and_ends_by_itself() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    decide(&engine, deploy("c", "staging"), choice("lin", "approve")).await;
    let _running = engine
        .gate()
        .claim(&key("c"), Some(Millis::from_secs(30)))
        .await
        .unwrap();
    let engine = restarted(&house, engine).await;
    assert!(
        open(&engine).await.is_empty(),
        "the claimant may still be at work"
    );
    let mut events = engine.subscribe(engine.head().await.unwrap(), None);
    house.pass(&engine, 30);
    assert_eq!(soon(events.next()).await.unwrap().event.name(), "lostTrack");
    assert_eq!(soon(events.next()).await.unwrap().event.name(), "asked");
}

#[tokio::test]
async fn what_may_have_happened_in_a_session_that_was_ended_can_still_be_answered() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    decide(&engine, deploy("c", "staging"), choice("lin", "approve")).await;
    let _running = engine.gate().claim(&key("c"), None).await.unwrap();
    engine.broker().end_session(&session("s"), "lin").await.unwrap();
    let engine = restarted(&house, engine).await;
    let [id] = open(&engine).await.try_into().unwrap();
    say(&engine, &id, choice("lin", "terminate")).await.unwrap();
    assert!(
        matches!(outcome(&engine, "c").await, Outcome::MayHaveRun { then } if matches!(*then, Outcome::Terminated { .. }))
    );
    verify(&engine).await;
}

#[tokio::test]
async fn two_engines_cannot_share_a_file() {
    let house = House::new();
    let engine = house.open(HOUSE).await;
    let second = house.builder(HOUSE).start(&house.file()).await;
    assert!(
        second
            .err()
            .is_some_and(|error| error.to_string().contains("in use by another placet"))
    );
    engine.shutdown().await.unwrap();
    house.open(HOUSE).await;
}

#[tokio::test]
async fn what_may_have_happened_is_asked_in_the_inbox_when_its_chat_is_gone() {
    let house = House::new();
    let channel = Recorder::new("feishu");
    let engine = house.start(house.builder(HOUSE).channel(channel)).await;
    for (id, user) in [("a", Some("feishu:ou_zoe")), ("b", None)] {
        let call = in_chat(deploy(id, id), &chat("feishu", "oc_1"), user);
        let call = placet_core::call::ToolCall {
            session: session(id),
            ..call
        };
        engine
            .broker()
            .set_mode(&session(id), Mode::Yolo, &person("lin"))
            .await
            .unwrap();
        assert_eq!(settle(&engine, call).await, Outcome::Allowed);
        let _running = engine.gate().claim(&key(id), None).await.unwrap();
    }
    // Another kind of process, which knows nothing of that channel.
    let engine = restarted(&house, engine).await;
    let open = open(&engine).await;
    assert_eq!(open.len(), 2);
    for id in open {
        let asked = asked(&engine, &id).await;
        assert!(
            matches!(asked.subject, Subject::UnknownOutcome { .. }),
            "{asked:?}"
        );
    }
    verify(&engine).await;
}

/// What was sealed with the lost key stays sealed; only this process works on the file, so nothing else is lost.
#[tokio::test]
async fn a_file_whose_sealing_key_was_lost_goes_on_with_a_new_one() {
    let house = House::new();
    let key = house.file().with_file_name("seal.key");
    let engine = house.open(HOUSE).await;
    let sealed = engine.seal_for("a purpose", "k-123").unwrap();
    engine.shutdown().await.unwrap();
    std::fs::remove_file(&key).unwrap();
    let engine = house.open(HOUSE).await;
    assert_eq!(engine.open_for("a purpose", &sealed), None);
    let sealed = engine.seal_for("a purpose", "k-456").unwrap();
    let engine = restarted(&house, engine).await;
    assert_eq!(engine.open_for("a purpose", &sealed).as_deref(), Some("k-456"));
    verify(&engine).await;
}
