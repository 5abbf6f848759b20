//! What an older version stored is listed as if this one had stored it.

use placet_core::call::Args;
use placet_core::history::{Edits, HistoryFilter, HistoryPage, InsightsOf};
use placet_core::interaction::{Action, Edited, Resolution, Subject};
use placet_core::journal::Event;
use placet_core::listing::Before;
use placet_core::outcome::Outcome;
use placet_core::verdict::Verdict;
use placet_store::{Options, Store};

use crate::server;
use crate::world::*;

/// Takes away what formats 11 to 14 (3 to 6 on a server) added.
pub(crate) const UNDO: &str = "DROP INDEX interactions_by_end; DROP TABLE deciders; DROP TABLE comments; DROP TABLE devices; DROP TABLE push_key; DROP TABLE shared;
    ALTER TABLE interactions DROP COLUMN asked_at; ALTER TABLE interactions DROP COLUMN settled_at;
    ALTER TABLE interactions DROP COLUMN outcome; ALTER TABLE interactions DROP COLUMN risk;
    ALTER TABLE interactions DROP COLUMN tool; ALTER TABLE interactions DROP COLUMN rule;
    ALTER TABLE interactions DROP COLUMN edited; ALTER TABLE calls DROP COLUMN rule;";

fn by_rule(event: Event) -> Event {
    match event {
        Event::CallReceived {
            call,
            digest,
            verdict,
            findings,
            policy,
            outcome,
        } => Event::CallReceived {
            call,
            digest,
            verdict: Box::new(Verdict {
                rule: Some("rule \"x\"".into()),
                ..*verdict
            }),
            findings,
            policy,
            outcome,
        },
        other => other,
    }
}

/// Questions that ended in different ways, one by a changed call, one still open.
async fn fill(db: &Store) {
    let (one, two, three, four) = (
        call("c1", "ls"),
        call("c2", "rm \\u0000"),
        call("c3", "make"),
        call("c4", "git push"),
    );
    let asked_by_rule = asking("int_1", &one).into_iter().map(by_rule).collect();
    store(db, asked_by_rule).await.unwrap();
    store(db, approving("int_1", &one)).await.unwrap();
    store(db, asking("int_2", &two)).await.unwrap();
    let edited = Outcome::Approved {
        by: vec![person("ana")],
        digest: two.digest(),
        edited: Some(Args::parse(br#"{"command":"rm a"}"#).unwrap()),
        judgement: None,
        instruction: None,
        remembered_until: None,
    };
    let events = vec![
        answered("int_2", Action::ApproveAndExecute),
        settled("c2", edited, Some(1)),
    ];
    store(db, events).await.unwrap();
    let mut changed = asked("int_3", &three);
    if let Subject::Call { edited, .. } = &mut changed.subject {
        *edited = Some(Box::new(Edited {
            by: person("bo"),
            args: Args::parse(b"{}").unwrap(),
            judgement: None,
        }));
    }
    let events = vec![received(&three, ask()), Event::Asked(Box::new(changed))];
    store(db, events).await.unwrap();
    let expired = Event::Resolved {
        interaction: question("int_3"),
        resolution: Resolution::Expired { option: None },
    };
    store(db, vec![expired, settled("c3", rejected("late"), None)])
        .await
        .unwrap();
    store(db, asking("int_4", &four)).await.unwrap();
}

/// What is listed, in short.
async fn listed(db: &Store) -> Vec<String> {
    let verified = db.verify(None).await.unwrap();
    assert_eq!(verified.findings, []);
    let page = |edited| HistoryPage {
        filter: HistoryFilter {
            edited,
            ..HistoryFilter::default()
        },
        part: Before {
            cursor: None,
            limit: 10,
        },
    };
    let of = InsightsOf {
        since: wall(0),
        until: wall(i64::MAX),
        ahead_minutes: 0,
        names_max: 9,
    };
    db.look(|stored| {
        let all = stored.history(&page(Edits::Any))?;
        let edited = stored.history(&page(Edits::Only))?;
        let counted = stored.insights(&of)?;
        Ok(vec![
            format!("{all:?}"),
            format!("{edited:?}"),
            format!("{:?} {:?} {:?}", counted.all, counted.rules, counted.people),
        ])
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn a_file_of_an_older_version_is_listed_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let db = Store::open(&path, Options::default()).unwrap();
    fill(&db).await;
    let before = listed(&db).await;
    assert!(
        before[1].contains("int_2") && before[1].contains("int_3"),
        "{before:?}"
    );
    db.close().await.unwrap();
    let older = rusqlite::Connection::open(&path).unwrap();
    older.execute_batch(UNDO).unwrap();
    older.pragma_update(None, "user_version", 10).unwrap();
    drop(older);
    let db = Store::open(&path, Options::default()).unwrap();
    assert_eq!(listed(&db).await, before);
    db.close().await.unwrap();
}

#[tokio::test]
async fn a_server_of_an_older_version_is_listed_as_before() {
    let url = server::database();
    let db = Store::connect(&url, Options::default()).await.unwrap();
    fill(&db).await;
    let before = listed(&db).await;
    db.close().await.unwrap();
    server::tamper(&url, &format!("{UNDO} UPDATE format SET version = 2"));
    let db = Store::connect(&url, Options::default()).await.unwrap();
    assert_eq!(listed(&db).await, before);
    db.close().await.unwrap();
}
