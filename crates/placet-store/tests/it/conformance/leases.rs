//! Leases: one owner at a time, and a stale fence stores nothing.

use placet_core::lease::{Fence, Lease, LeaseName, LeaseOwner};
use placet_core::outgoing::Change;
use placet_core::step::Commit;
use placet_core::steps::take_lease;
use placet_core::time::Millis;
use placet_core::verdict::Decision;

use super::*;

fn fence(number: u64) -> Fence {
    Fence {
        lease: LeaseName::timers(),
        number,
    }
}

fn take(number: u64, owner: &str, until: Timestamp) -> Commit {
    let taken = Change::TakeLease {
        fence: fence(number),
        owner: owner.to_owned(),
        until,
    };
    changing(wall(0), vec![taken])
}

fn under(number: u64, id: &str) -> Commit {
    Commit {
        fences: vec![fence(number)],
        ..commit_in("s", wall(0), vec![received(&call(id, "ls"), Decision::Allow)])
    }
}

#[tokio::test]
async fn a_commit_under_a_lease_that_another_process_has_taken_stores_nothing() {
    everywhere(async |db| {
        db.commit(take(1, "a", wall(100))).await.unwrap();
        db.commit(under(1, "c1")).await.unwrap();
        db.commit(take(2, "b", wall(200))).await.unwrap();
        let stale = db.commit(under(1, "c2")).await;
        assert_eq!(
            stale,
            Err(StoreError::Fenced {
                lease: LeaseName::timers()
            })
        );
        db.commit(under(2, "c3")).await.unwrap();
        let counts = look(&db, |stored| stored.counts(&()).copied()).await;
        assert_eq!(counts.rows, 2, "nothing of the stale commit");
    })
    .await;
}

#[tokio::test]
async fn of_two_processes_that_take_a_lease_at_once_one_gets_it() {
    everywhere(async |db| {
        db.commit(take(1, "a", wall(100))).await.unwrap();
        let second = db.commit(take(1, "b", wall(100))).await;
        assert!(matches!(second, Err(StoreError::Conflict { .. })), "{second:?}");
        let lease = look(&db, |stored| stored.lease(&LeaseName::timers()).cloned()).await;
        let expected = Lease {
            owner: Some("a".into()),
            fence: 1,
            until: wall(100),
        };
        assert_eq!(lease, Some(expected));
    })
    .await;
}

#[tokio::test]
async fn a_lease_is_renewed_by_its_owner_until_another_process_takes_it_or_it_is_given_back() {
    everywhere(async |db| {
        db.commit(take(1, "a", wall(100))).await.unwrap();
        let renew = async |now: i64, until: i64| {
            let (owner, until) = ("a".to_owned(), wall(until));
            let renewed = changing(wall(now), vec![Change::RenewLeases { owner, until }]);
            db.commit(renewed).await.unwrap();
            let lease = look(&db, |stored| stored.lease(&LeaseName::timers()).cloned()).await;
            lease.unwrap().until
        };
        assert_eq!(renew(99, 199).await, wall(199));
        assert_eq!(
            renew(205, 305).await,
            wall(305),
            "it was over, and no other process took it"
        );
        db.commit(take(2, "b", wall(400))).await.unwrap();
        assert_eq!(
            renew(405, 505).await,
            wall(400),
            "it is over, and of another process"
        );
        db.commit(take(3, "a", wall(500))).await.unwrap();
        let released = changing(wall(199), vec![Change::ReleaseLease(fence(3))]);
        db.commit(released).await.unwrap();
        let owner = LeaseOwner("a".to_owned());
        assert!(
            look(&db, |stored| stored.leases_of(&owner).cloned())
                .await
                .is_empty()
        );
        db.commit(take(4, "b", wall(300))).await.unwrap();
    })
    .await;
}

/// No other process takes such a lease, so its end is all that says that the process is gone.
#[tokio::test]
async fn a_process_whose_own_lease_is_over_stores_nothing_under_it_until_it_renews_it() {
    everywhere(async |db| {
        let now = db.now();
        let fence = |lease| Fence { lease, number: 1 };
        let (alive, run) = (fence(LeaseName::process("p")), fence(LeaseName::timers()));
        let take = |fence: &Fence, until| Change::TakeLease {
            fence: fence.clone(),
            owner: "p".into(),
            until,
        };
        let taken = vec![take(&alive, now), take(&run, now)];
        db.commit(changing(now, taken)).await.unwrap();
        let under = |fence: &Fence, id: &str| Commit {
            fences: vec![fence.clone()],
            ..commit_in("s", now, vec![received(&call(id, "ls"), Decision::Allow)])
        };
        let lease = alive.lease.clone();
        assert_eq!(
            db.commit(under(&alive, "c1")).await,
            Err(StoreError::Fenced { lease })
        );
        db.commit(under(&run, "c2")).await.unwrap();
        let (owner, until) = ("p".to_owned(), now + Millis::from_secs(3600));
        let renewed = vec![Change::RenewLeases { owner, until }];
        db.commit(changing(now, renewed)).await.unwrap();
        db.commit(under(&alive, "c3")).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_checkpoint_is_written_by_the_process_that_has_the_lease() {
    everywhere(async |db| {
        db.commit(take(1, "a", wall(100))).await.unwrap();
        db.commit(take(2, "b", wall(200))).await.unwrap();
        store(&db, vec![received(&call("c1", "ls"), Decision::Allow)])
            .await
            .unwrap();
        let written = async || look(&db, |stored| stored.checkpoints(&()).copied()).await;
        let before = written().await;
        let lease = LeaseName::timers();
        assert_eq!(
            db.checkpoint(vec![fence(1)]).await,
            Err(StoreError::Fenced { lease })
        );
        assert_eq!(written().await, before);
        db.checkpoint(vec![fence(2)]).await.unwrap();
        assert_ne!(written().await, before);
    })
    .await;
}

/// The run of a conversation was once lost this way: given back in one millisecond, wanted by a decision of the one before.
#[tokio::test]
async fn a_lease_that_was_given_back_is_free_for_a_decision_made_before_that() {
    everywhere(async |db| {
        db.commit(take(1, "a", wall(100))).await.unwrap();
        let released = changing(wall(50), vec![Change::ReleaseLease(fence(1))]);
        db.commit(released).await.unwrap();
        let stored = db
            .load(BTreeSet::from([Need::Lease(LeaseName::timers())]))
            .await
            .unwrap();
        let taken = take_lease(&stored, wall(49), &LeaseName::timers(), "b", Millis::from_secs(1));
        assert_eq!(taken.unwrap().value, fence(2));
    })
    .await;
}

#[tokio::test]
async fn a_claim_is_lost_when_the_lease_of_its_process_is_over() {
    everywhere(async |db| {
        let alive = Change::TakeLease {
            fence: Fence {
                lease: LeaseName::process("p"),
                number: 1,
            },
            owner: "p".into(),
            until: wall(100),
        };
        db.commit(changing(wall(0), vec![alive])).await.unwrap();
        let claimed = Event::Claimed {
            call: key("c1"),
            grant: 1,
            lease: None,
            process: Some("p".into()),
            child: None,
        };
        let allowed = received(&call("c1", "ls"), Decision::Allow);
        store(&db, vec![allowed, claimed]).await.unwrap();
        let lost = async |at: i64, process: &str| {
            let by = DueBy {
                process: process.to_owned(),
                ..by(wall(at), 9)
            };
            look(&db, |stored| Ok(stored.due(&by)?.claims.clone())).await
        };
        assert_eq!(lost(99, "q").await, []);
        assert_eq!(lost(100, "q").await, [key("c1")]);
        assert_eq!(lost(100, "p").await, [], "its own to finish");
    })
    .await;
}
