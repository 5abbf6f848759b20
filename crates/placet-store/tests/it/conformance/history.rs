//! Closed questions, searched and counted; comments; devices.

use placet_core::history::{Edits, Ending, HistoryFilter, HistoryPage, InsightsOf};
use placet_core::ids::{ChatId, ToolName};
use placet_core::interaction::{Action, Locale, Resolution};
use placet_core::journal::Event;
use placet_core::listing::Before;
use placet_core::outgoing::Change;
use placet_core::push::Device;
use placet_core::tool::Risk;
use placet_store::Store;

use super::{contradicts, everywhere, look};
use crate::world::*;

fn page(filter: HistoryFilter, cursor: Option<u64>, limit: usize) -> HistoryPage {
    HistoryPage {
        filter,
        part: Before { cursor, limit },
    }
}

async fn found(db: &Store, filter: HistoryFilter) -> Vec<String> {
    let wanted = page(filter, None, 10);
    let found = look(db, |stored| stored.history(&wanted).cloned()).await;
    found.into_iter().map(|(_, id)| id.to_string()).collect()
}

/// Three questions: approved after two seconds, expired, and one still open.
async fn three(db: &Store) {
    let (ls, rm) = (call("c1", "ls"), call("c2", "rm"));
    store(db, asking("int_1", &ls)).await.unwrap();
    let later = |millis| placet_core::time::Timestamp::from_millis(db.now().as_millis() + millis);
    db.commit(commit_in("s", later(2000), approving("int_1", &ls)))
        .await
        .unwrap();
    store(db, asking("int_2", &rm)).await.unwrap();
    let expired = Event::Resolved {
        interaction: question("int_2"),
        resolution: Resolution::Expired { option: None },
    };
    let refused = settled("c2", rejected("late"), None);
    db.commit(commit_in("s", later(5000), vec![expired, refused]))
        .await
        .unwrap();
    store(db, asking("int_3", &call("c3", "make"))).await.unwrap();
}

#[tokio::test]
async fn closed_questions_are_found_by_what_they_are() {
    everywhere(async |db| {
        three(&db).await;
        let all = HistoryFilter::default();
        assert_eq!(found(&db, all.clone()).await, ["int_2", "int_1"]);
        let first = page(all.clone(), None, 1);
        let (cursor, _) = look(&db, |stored| stored.history(&first).cloned()).await[0];
        let rest = page(all.clone(), Some(cursor), 10);
        assert_eq!(
            look(&db, |stored| stored.history(&rest).cloned()).await[0].1,
            question("int_1")
        );
        for (filter, wanted) in [
            (
                HistoryFilter {
                    person: Some(person("ana")),
                    ..all.clone()
                },
                vec!["int_1"],
            ),
            (
                HistoryFilter {
                    person: Some(person("bo")),
                    ..all.clone()
                },
                vec![],
            ),
            (
                HistoryFilter {
                    outcome: Some(Ending::Expired),
                    ..all.clone()
                },
                vec!["int_2"],
            ),
            (
                HistoryFilter {
                    risk: Some(Risk::Medium),
                    ..all.clone()
                },
                vec!["int_2", "int_1"],
            ),
            (
                HistoryFilter {
                    risk: Some(Risk::High),
                    ..all.clone()
                },
                vec![],
            ),
            (
                HistoryFilter {
                    tool: Some(ToolName::new("bash").unwrap()),
                    ..all.clone()
                },
                vec!["int_2", "int_1"],
            ),
            (
                HistoryFilter {
                    rule: Some("x".into()),
                    ..all.clone()
                },
                vec![],
            ),
            (
                HistoryFilter {
                    edited: Edits::Only,
                    ..all.clone()
                },
                vec![],
            ),
            (
                HistoryFilter {
                    from: Some(wall(3000)),
                    ..all.clone()
                },
                vec!["int_2"],
            ),
            (
                HistoryFilter {
                    to: Some(wall(3000)),
                    ..all.clone()
                },
                vec!["int_1"],
            ),
        ] {
            assert_eq!(found(&db, filter.clone()).await, wanted, "{filter:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn closed_questions_are_counted() {
    everywhere(async |db| {
        three(&db).await;
        let of = InsightsOf {
            since: wall(0),
            until: wall(60_000),
            ahead_minutes: 0,
            names_max: 5,
        };
        let counted = look(&db, |stored| stored.insights(&of).cloned()).await;
        assert_eq!(counted.days, [(0, Ending::Approved, 1), (0, Ending::Expired, 1)]);
        assert_eq!(
            (
                counted.all.requests,
                counted.all.decided,
                counted.all.hasty,
                counted.all.expired
            ),
            (2, 1, 1, 1)
        );
        assert_eq!(counted.took.iter().sum::<u64>(), 1);
        assert_eq!(counted.took[0], 1, "two seconds are hasty");
        assert_eq!(counted.median.unwrap().get(), 2000);
        assert_eq!(counted.tools.len(), 1);
        assert_eq!(
            counted.people,
            [(
                Some("ana".to_owned()),
                placet_core::history::Tally {
                    requests: 1,
                    decided: 1,
                    approved: 1,
                    expired: 0,
                    ..counted.all
                }
            )]
        );
        let none = InsightsOf {
            since: wall(50_000),
            ..of
        };
        let counted = look(&db, |stored| stored.insights(&none).cloned()).await;
        assert_eq!((counted.all.requests, counted.median), (0, None));
    })
    .await;
}

#[tokio::test]
async fn comments_stay_with_their_question() {
    everywhere(async |db| {
        let said = |id: &str, text: &str| Event::Commented {
            interaction: question(id),
            by: person("bo"),
            text: text.to_owned(),
        };
        contradicts(&db, vec![said("int_1", "nothing is asked yet")]).await;
        let ls = call("c1", "ls");
        store(&db, asking("int_1", &ls)).await.unwrap();
        store(&db, vec![said("int_1", "why?")]).await.unwrap();
        store(
            &db,
            vec![
                answered("int_1", Action::Skip),
                settled("c1", rejected("no"), None),
            ],
        )
        .await
        .unwrap();
        store(&db, vec![said("int_1", "I see")]).await.unwrap();
        let comments = look(&db, |stored| stored.comments(&question("int_1")).cloned()).await;
        let texts: Vec<_> = comments.iter().map(|comment| comment.text.as_str()).collect();
        assert_eq!(texts, ["why?", "I see"]);
    })
    .await;
}

#[tokio::test]
async fn devices_and_the_first_key_are_kept() {
    everywhere(async |db| {
        let device = |id: &str, at| Device {
            id: ChatId::new(id).unwrap(),
            person: person("ana"),
            credential: "00".into(),
            endpoint: format!("https://push.example.com/{id}"),
            key: vec![4; 65],
            auth: vec![1; 16],
            locale: Locale::Chinese,
            added_at: wall(at),
        };
        let change = async |change| db.commit(changing(db.now(), vec![change])).await.unwrap();
        change(Change::AddDevice(device("b", 1))).await;
        change(Change::AddDevice(device("a", 2))).await;
        change(Change::AddDevice(Device {
            auth: vec![2; 16],
            ..device("b", 3)
        }))
        .await;
        let devices = look(&db, |stored| stored.devices(&()).cloned()).await;
        assert_eq!(
            devices,
            [
                device("a", 2),
                Device {
                    auth: vec![2; 16],
                    ..device("b", 3)
                }
            ]
        );
        change(Change::RemoveDevice(ChatId::new("a").unwrap())).await;
        assert_eq!(look(&db, |stored| stored.devices(&()).cloned()).await.len(), 1);
        change(Change::KeepPushKey(vec![7])).await;
        change(Change::KeepPushKey(vec![8])).await;
        assert_eq!(
            look(&db, |stored| stored.push_key(&()).cloned()).await,
            Some(vec![7])
        );
    })
    .await;
}
