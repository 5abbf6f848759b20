//! Commits that are written together: each stands or falls by itself.

use std::collections::BTreeMap;

use placet_core::journal::Event;
use placet_core::lease::{Fence, LeaseName};
use placet_core::listing::JournalPage;
use placet_core::outgoing::Change;
use placet_core::policy::Mode;
use placet_core::snapshot::Need;
use placet_core::step::Commit;
use placet_core::verdict::Decision;
use placet_store::{Store, StoreError};
use tokio::task::JoinSet;

use super::{everywhere, look};
use crate::world::*;

/// Hands commits to the store at once, so that it writes them as few groups.
async fn together(db: &Store, commits: &[Commit]) -> Vec<Result<(), StoreError>> {
    let mut running = JoinSet::new();
    for (place, commit) in commits.iter().enumerate() {
        let (db, commit) = (db.clone(), commit.clone());
        running.spawn(async move { (place, db.commit(commit).await) });
    }
    let mut results = running.join_all().await;
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

/// One grant was once claimed by several rivals, and an unrelated commit was refused in their place: the error of one commit in a
/// group was taken for that of the next.
#[tokio::test]
async fn of_rivals_for_one_grant_one_wins_and_commits_beside_them_are_not_touched() {
    everywhere(async |db| {
        for id in ["prize", "c0", "c1", "c2", "c3"] {
            let ls = call(id, "ls");
            store(&db, vec![received(&ls, Decision::Allow)]).await.unwrap();
        }
        let needs = |id: &str| [Need::CallHead(key(id))].into();
        let snapshot = db.load(needs("prize")).await.unwrap();
        let claim = |id: &str| Commit {
            versions: snapshot.versions().clone(),
            epoch: snapshot.epoch().map(|epoch| epoch.row),
            ..commit_in("s", db.now(), vec![claimed(id, 1)])
        };
        let names: Vec<String> = (0..32)
            .map(|number| match number % 8 {
                5 => format!("c{}", number / 8),
                _ => "prize".to_owned(),
            })
            .collect();
        let claims: Vec<Commit> = names.iter().map(|id| claim(id)).collect();
        let results = together(&db, &claims).await;
        let mut winners = Vec::new();
        for (id, result) in names.iter().zip(results) {
            match result {
                Ok(()) => winners.push(id.as_str()),
                Err(StoreError::Conflict { .. }) => assert_eq!(id, "prize"),
                Err(error) => panic!("{id}: {error}"),
            }
        }
        winners.sort_unstable();
        assert_eq!(winners, ["c0", "c1", "c2", "c3", "prize"]);
        let counts = look(&db, |stored| stored.counts(&()).copied()).await;
        assert_eq!((counts.rows, counts.claimed), (10, 5));
    })
    .await;
}

/// A commit that some other one of its group is likely to contradict. All kinds of conflicts are among them.
fn quarrelsome(number: u64, now: placet_core::time::Timestamp) -> Commit {
    let which = format!("c{}", number / 7 % 5);
    let plain = |event| commit_in("s", now, vec![event]);
    let lease = Fence {
        lease: LeaseName::timers(),
        number: 1 + number % 3,
    };
    match number % 7 {
        0 => plain(received(&call(&which, "ls"), Decision::Allow)),
        1 | 2 => plain(claimed(&which, 1)),
        3 => plain(finished(&which, 1)),
        4 => Commit {
            versions: BTreeMap::from([(session("s"), number / 7 % 4)]),
            ..plain(Event::ModeSet {
                mode: Mode::Yolo,
                by: person("ana"),
            })
        },
        5 => Commit {
            fences: vec![lease],
            ..plain(Event::ToolAllowed {
                tool: placet_core::ids::ToolName::new("bash").unwrap(),
                by: person("ana"),
            })
        },
        _ => changing(
            now,
            vec![Change::TakeLease {
                fence: lease,
                owner: "a".into(),
                until: now,
            }],
        ),
    }
}

/// What is acknowledged is stored, and nothing else is. That it fits together is checked by [`everywhere`].
#[tokio::test]
async fn a_group_stores_exactly_what_it_acknowledges() {
    everywhere(async |db| {
        // A fixed sequence that visits every remainder.
        let commits: Vec<Commit> = (0..210).map(|n| quarrelsome(n * 11 + n / 35, db.now())).collect();
        let mut acknowledged = Vec::new();
        for group in commits.chunks(35) {
            for (commit, result) in group.iter().zip(together(&db, group).await) {
                match result {
                    Ok(()) => {
                        acknowledged.extend(commit.events.iter().map(|(_, event)| format!("{event:?}")));
                    }
                    Err(StoreError::Conflict { .. } | StoreError::Fenced { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
        let all = JournalPage::of_all(0, 1000);
        let rows = look(&db, |stored| stored.journal(&all).cloned()).await;
        let mut stored: Vec<String> = rows.iter().map(|row| format!("{:?}", row.event)).collect();
        stored.sort_unstable();
        acknowledged.sort_unstable();
        assert_eq!(stored, acknowledged);
        assert!(acknowledged.len() > 15, "{acknowledged:?}");
    })
    .await;
}
