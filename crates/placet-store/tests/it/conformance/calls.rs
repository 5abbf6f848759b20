//! Calls and their grants.

use placet_core::interaction::{Action, Cancellation, Interaction, Resolution, Subject};
use placet_core::journal::{CallResult, Event};
use placet_core::outcome::{Denial, Outcome};
use placet_core::record::{CallState, GrantState};
use placet_core::verdict::{Decision, Reason};

use super::{by, contradicts, everywhere, look, state, waiting_on};
use crate::world::*;

#[tokio::test]
async fn a_call_is_asked_about_approved_claimed_and_finished_once() {
    everywhere(async |db| {
        let ls = call("c1", "ls");
        store(&db, asking("int_1", &ls)).await.unwrap();
        assert_eq!(
            state(&db, "c1").await,
            CallState::Parked {
                on: question("int_1")
            }
        );
        assert_eq!(waiting_on(&db, asked("int_1", &ls)).await, Some(key("c1")));
        assert_eq!(
            look(&db, |stored| stored.session(&session("s")).cloned())
                .await
                .open_questions,
            1
        );

        store(&db, approving("int_1", &ls)).await.unwrap();
        let CallState::Granted {
            grant,
            question: settled_by,
            ..
        } = state(&db, "c1").await
        else {
            panic!("not granted");
        };
        assert_eq!((grant.number, grant.state), (1, GrantState::Issued));
        assert_eq!(settled_by, Some(question("int_1")));
        assert_eq!(waiting_on(&db, asked("int_1", &ls)).await, None);
        assert_eq!(
            look(&db, |stored| stored.session(&session("s")).cloned())
                .await
                .open_questions,
            0
        );

        store(&db, vec![claimed("c1", 1)]).await.unwrap();
        assert_eq!(
            look(&db, |stored| stored.claimed_by_process(&wall(0)).cloned()).await,
            [key("c1")]
        );
        contradicts(&db, vec![claimed("c1", 1)]).await;
        store(&db, vec![finished("c1", 1)]).await.unwrap();
        contradicts(&db, vec![finished("c1", 1)]).await;
        contradicts(&db, vec![claimed("c1", 1)]).await;
        let CallState::Granted { grant, .. } = state(&db, "c1").await else {
            panic!("not granted");
        };
        assert_eq!(grant.state, GrantState::Done(CallResult::new(true, "out")));

        let processed = Event::Processed {
            interaction: question("int_1"),
        };
        store(&db, vec![processed.clone()]).await.unwrap();
        contradicts(&db, vec![processed]).await;
        let interaction = look(&db, |stored| stored.interaction(&question("int_1")).cloned()).await;
        assert!(matches!(interaction, Some(Interaction::Processed(_))));
    })
    .await;
}

#[tokio::test]
async fn policy_alone_grants_and_refuses() {
    everywhere(async |db| {
        store(&db, vec![received(&call("yes", "ls"), Decision::Allow)])
            .await
            .unwrap();
        store(&db, vec![received(&call("no", "rm"), Decision::Deny)])
            .await
            .unwrap();
        let CallState::Granted {
            outcome,
            grant,
            question,
        } = state(&db, "yes").await
        else {
            panic!("not granted");
        };
        assert_eq!(
            (outcome, grant.state, question),
            (Outcome::Allowed, GrantState::Issued, None)
        );
        let denial = Denial::Policy {
            reason: Reason::Written("because".into()),
        };
        let refused = CallState::Refused {
            outcome: Outcome::Denied { denial },
            question: None,
        };
        assert_eq!(state(&db, "no").await, refused);
        contradicts(&db, vec![claimed("no", 1)]).await;
        contradicts(&db, vec![received(&call("yes", "ls"), Decision::Allow)]).await;
    })
    .await;
}

#[tokio::test]
async fn a_call_that_must_be_asked_about_cannot_be_left_in_the_air() {
    everywhere(async |db| {
        contradicts(&db, vec![received(&call("c1", "ls"), ask())]).await;
        let denied = Outcome::Denied {
            denial: Denial::SessionOver,
        };
        store(
            &db,
            vec![received(&call("c1", "ls"), ask()), settled("c1", denied, None)],
        )
        .await
        .unwrap();
        assert!(matches!(
            state(&db, "c1").await,
            CallState::Refused { question: None, .. }
        ));
    })
    .await;
}

/// Design §4: nothing runs twice unasked.
#[tokio::test]
async fn a_lost_call_is_asked_about_and_a_late_result_still_counts() {
    everywhere(async |db| {
        let ls = call("c1", "ls");
        store(&db, vec![received(&ls, Decision::Allow), claimed("c1", 1)])
            .await
            .unwrap();
        let lost = || Event::LostTrack {
            call: key("c1"),
            grant: 1,
        };
        store(&db, vec![lost()]).await.unwrap();
        contradicts(&db, vec![lost()]).await;
        contradicts(&db, vec![claimed("c1", 1)]).await;
        let subject = Subject::UnknownOutcome {
            call: key("c1"),
            digest: ls.digest(),
            edited: None,
            judgement: None,
        };
        store(&db, vec![Event::Asked(Box::new(about("int_1", subject)))])
            .await
            .unwrap();
        assert_eq!(
            state(&db, "c1").await,
            CallState::Parked {
                on: question("int_1")
            }
        );
        let arrived = Event::Resolved {
            interaction: question("int_1"),
            resolution: Resolution::Cancelled {
                why: Cancellation::ResultArrived,
            },
        };
        store(&db, vec![finished("c1", 1), arrived]).await.unwrap();
        let CallState::Granted { outcome, grant, .. } = state(&db, "c1").await else {
            panic!("not granted");
        };
        assert_eq!(outcome, Outcome::Allowed);
        assert!(matches!(grant.state, GrantState::Done(_)));
    })
    .await;
}

#[tokio::test]
async fn a_lost_call_runs_again_only_under_a_new_grant() {
    everywhere(async |db| {
        let ls = call("c1", "ls");
        let lost = Event::LostTrack {
            call: key("c1"),
            grant: 1,
        };
        store(&db, vec![received(&ls, Decision::Allow), claimed("c1", 1), lost])
            .await
            .unwrap();
        let subject = Subject::UnknownOutcome {
            call: key("c1"),
            digest: ls.digest(),
            edited: None,
            judgement: None,
        };
        store(&db, vec![Event::Asked(Box::new(about("int_1", subject)))])
            .await
            .unwrap();
        let again = |grant| {
            vec![
                answered("int_1", Action::ApproveAndExecute),
                settled("c1", approved(&ls, None), Some(grant)),
            ]
        };
        contradicts(&db, again(1)).await;
        store(&db, again(2)).await.unwrap();
        contradicts(&db, vec![finished("c1", 1)]).await;
        contradicts(&db, vec![claimed("c1", 1)]).await;
        store(&db, vec![claimed("c1", 2), finished("c1", 2)])
            .await
            .unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_ends_is_found() {
    everywhere(async |db| {
        let leased = Event::Claimed {
            call: key("c1"),
            grant: 1,
            lease: Some(wall(500)),
            process: None,
            child: None,
        };
        store(&db, vec![received(&call("c1", "ls"), Decision::Allow), leased])
            .await
            .unwrap();
        assert_eq!(
            look(&db, |stored| stored.claimed_by_process(&wall(0)).cloned()).await,
            []
        );
        assert_eq!(
            look(&db, |stored| Ok(stored.due(&by(wall(499), 9))?.claims.clone())).await,
            []
        );
        assert_eq!(
            look(&db, |stored| Ok(stored.due(&by(wall(500), 9))?.claims.clone())).await,
            [key("c1")]
        );
        assert_eq!(
            look(&db, |stored| stored.next_due(&wall(0)).copied()).await,
            Some(wall(500))
        );
        store(&db, vec![finished("c1", 1)]).await.unwrap();
        assert_eq!(look(&db, |stored| stored.next_due(&wall(0)).copied()).await, None);
    })
    .await;
}
