//! Values that all processes share: set by compare-and-set, gone after their end.

use placet_core::outgoing::Change;
use placet_core::shared::{SharedKey, SharedKind, SharedValue};
use placet_core::step::{Decided, Turn, turn};
use placet_core::steps::{
    CodeRefusal, ProofRefusal, current_challenge, give_code, sign_out, use_code, use_proof,
};

use super::*;

fn pin(name: &str) -> SharedKey {
    SharedKind::Tool.named(name)
}

async fn set(db: &Store, key: SharedKey, was: Option<&str>, value: SharedValue) -> Result<(), StoreError> {
    let was = was.map(str::to_owned);
    db.commit(changing(wall(0), vec![Change::Share { key, was, value }]))
        .await
}

async fn text(db: &Store, key: &SharedKey) -> Option<String> {
    look(db, |stored| stored.shared(key).cloned())
        .await
        .map(|value| value.text)
}

#[tokio::test]
async fn a_shared_value_is_set_once_and_changed_only_by_a_process_that_knows_it() {
    everywhere(async |db| {
        let key = pin("mcp__a__b");
        let lasting = SharedValue::lasting;
        set(&db, key.clone(), None, lasting("{\"a\": 1}")).await.unwrap();
        for (was, why) in [(None, "it is there"), (Some("else"), "it is not that")] {
            let refused = set(&db, key.clone(), was, lasting("later")).await;
            assert!(
                matches!(refused, Err(StoreError::Conflict { .. })),
                "{why}: {refused:?}"
            );
        }
        assert_eq!(text(&db, &key).await.as_deref(), Some("{\"a\": 1}"));
        set(&db, key.clone(), Some("{\"a\": 1}"), lasting("new"))
            .await
            .unwrap();
        assert_eq!(text(&db, &key).await.as_deref(), Some("new"));
        let elsewhere = SharedKind::Token.named("mcp__a__b");
        assert_eq!(text(&db, &elsewhere).await, None, "kinds have names of their own");
        set(&db, pin("z"), None, lasting("last")).await.unwrap();
        let all = look(&db, |stored| stored.shared_of(&SharedKind::Tool).cloned()).await;
        let all: Vec<_> = all
            .iter()
            .map(|(name, value)| (name.as_str(), value.text.as_str()))
            .collect();
        assert_eq!(all, [("mcp__a__b", "new"), ("z", "last")]);
    })
    .await;
}

#[tokio::test]
async fn what_has_ended_is_forgotten_and_what_stays_is_not() {
    everywhere(async |db| {
        for (name, until) in [
            ("over", Some(wall(99))),
            ("not yet", Some(wall(100))),
            ("stays", None),
        ] {
            let value = SharedValue {
                text: "x".into(),
                until,
            };
            set(&db, pin(name), None, value).await.unwrap();
        }
        let forget = Change::ForgetShared { before: wall(100) };
        db.commit(changing(wall(100), vec![forget])).await.unwrap();
        assert_eq!(text(&db, &pin("over")).await, None);
        assert!(text(&db, &pin("not yet")).await.is_some() && text(&db, &pin("stays")).await.is_some());
    })
    .await;
}

/// Loads, decides and commits a step at a moment.
async fn at<T, E>(
    db: &Store,
    now: Timestamp,
    decide: impl Fn(&Snapshot, Timestamp) -> Decided<T, E>,
) -> Result<T, E> {
    let mut snapshot = Snapshot::default();
    loop {
        match turn(&mut snapshot, now, &decide) {
            Turn::Load(needs) => snapshot = db.load(needs).await.unwrap(),
            Turn::Commit(commit, value) => {
                db.commit(commit).await.unwrap();
                return Ok(value);
            }
            Turn::Answer(value) => return Ok(value),
            Turn::Refused(refusal) => return Err(refusal),
            Turn::Corrupt(what) => unreachable!("{what}"),
        }
    }
}

const MINUTE: i64 = 60_000;

#[tokio::test]
async fn a_challenge_is_accepted_for_twice_the_time_it_is_given_out_and_a_proof_counts_once() {
    everywhere(async |db| {
        let challenge = async |now: i64, fresh: &'static str| {
            let current = at(&db, wall(now), |stored, now| {
                current_challenge(stored, now, fresh)
            });
            current.await.unwrap().text
        };
        let prove = async |now: i64, challenge: &'static str, id: u128| {
            at(&db, wall(now), |stored, now| {
                use_proof(stored, now, "ticket", challenge, id)
            })
            .await
        };
        assert_eq!(challenge(0, "first").await, "first");
        assert_eq!(challenge(2 * MINUTE - 1, "x").await, "first");
        assert_eq!(challenge(2 * MINUTE, "second").await, "second");
        assert_eq!(prove(3 * MINUTE, "first", 7).await, Ok(()));
        assert_eq!(prove(3 * MINUTE, "first", 7).await, Err(ProofRefusal::Used));
        assert_eq!(
            prove(3 * MINUTE, "second", 7).await,
            Ok(()),
            "of another challenge"
        );
        assert_eq!(
            prove(3 * MINUTE, "never given out", 8).await,
            Err(ProofRefusal::TooOld)
        );
        assert_eq!(prove(4 * MINUTE, "first", 9).await, Err(ProofRefusal::TooOld));
        // The clean-up takes a challenge and its proofs together, so a clock that is set back revives neither.
        let forget = Change::ForgetShared {
            before: wall(4 * MINUTE + 1),
        };
        db.commit(changing(wall(5 * MINUTE), vec![forget])).await.unwrap();
        assert_eq!(prove(3 * MINUTE, "first", 7).await, Err(ProofRefusal::TooOld));
        assert_eq!(
            challenge(-9 * MINUTE, "third").await,
            "third",
            "the clock was set back"
        );
    })
    .await;
}

#[tokio::test]
async fn a_ticket_that_was_signed_out_proves_nothing() {
    everywhere(async |db| {
        at(&db, wall(0), |stored, now| current_challenge(stored, now, "c"))
            .await
            .unwrap();
        for _ in 0..2 {
            at(&db, wall(1), |stored, now| {
                sign_out(stored, now, "gone", wall(9 * MINUTE))
            })
            .await
            .unwrap();
        }
        let prove = async |ticket: &'static str| {
            at(&db, wall(2), |stored, now| use_proof(stored, now, ticket, "c", 1)).await
        };
        assert_eq!(prove("gone").await, Err(ProofRefusal::SignedOut));
        assert_eq!(prove("other").await, Ok(()));
    })
    .await;
}

#[tokio::test]
async fn a_code_is_good_once_and_for_half_an_hour() {
    everywhere(async |db| {
        for code in ["one", "two"] {
            at(&db, wall(0), |stored, now| give_code(stored, now, code, "admin"))
                .await
                .unwrap();
        }
        let take = async |now: i64, code: &'static str| {
            at(&db, wall(now), |stored, now| use_code(stored, now, code)).await
        };
        assert_eq!(take(1, "no such code").await, Err(CodeRefusal::Unknown));
        assert_eq!(take(30 * MINUTE - 1, "one").await.as_deref(), Ok("admin"));
        assert_eq!(take(30 * MINUTE - 1, "one").await, Err(CodeRefusal::Used));
        assert_eq!(take(30 * MINUTE, "two").await, Err(CodeRefusal::Used), "too old");
    })
    .await;
}
