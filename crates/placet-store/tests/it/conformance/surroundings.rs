//! What surrounds calls and questions: sessions, memory, standing grants, outbox, queue, journal.

use std::collections::BTreeSet;

use placet_core::call::ToolCall;
use placet_core::ids::{ChannelName, ChatId, StandingGrantId, ToolName};
use placet_core::interaction::Action;
use placet_core::journal::{Author, Event, InboundMessage};
use placet_core::listing::{Before, JournalPage};
use placet_core::outgoing::{Change, OutKind, OutState, Outgoing};
use placet_core::policy::Mode;
use placet_core::snapshot::MessageKey;
use placet_core::snapshot::place;
use placet_core::standing::{Covers, Scope, StandingGrant};
use placet_core::time::Timestamp;
use placet_store::StoreError;

use super::{around, chat, contradicts, everywhere, look, to_send};
use crate::world::*;

#[tokio::test]
async fn a_rejection_is_remembered_in_its_session_and_an_approval_calms_it() {
    everywhere(async |db| {
        let rm = call("c1", "rm");
        store(&db, asking("int_1", &rm)).await.unwrap();
        let no = vec![
            answered("int_1", Action::RejectWithReason),
            settled("c1", rejected("no"), None),
        ];
        store(&db, no).await.unwrap();
        assert_eq!(
            around(&db, &rm).await.rejected,
            Some((person("ana"), Some("no".into())))
        );
        let elsewhere = ToolCall {
            session: session("t"),
            ..call("c9", "rm")
        };
        assert_eq!(around(&db, &elsewhere).await.rejected, None);
        assert_eq!(
            look(&db, |stored| stored.session(&session("s")).cloned())
                .await
                .rejections,
            1
        );

        let ls = call("c2", "ls");
        store(&db, asking("int_2", &ls)).await.unwrap();
        store(&db, approving("int_2", &ls)).await.unwrap();
        assert_eq!(
            look(&db, |stored| stored.session(&session("s")).cloned())
                .await
                .rejections,
            0
        );
    })
    .await;
}

#[tokio::test]
async fn an_approval_is_remembered_in_its_chat_and_nowhere_else() {
    everywhere(async |db| {
        let mut ls = call("c1", "ls");
        ls.origin.chat = Some(chat());
        let until = Timestamp::from_millis(300_000);
        store(&db, asking("int_1", &ls)).await.unwrap();
        let yes = answered("int_1", Action::ApproveAndExecute);
        store(&db, vec![yes, settled("c1", approved(&ls, Some(until)), Some(1))])
            .await
            .unwrap();
        assert_eq!(place(&ls), "ops:room");
        let elsewhere = call("c2", "ls");
        assert_eq!(around(&db, &ls).await.remembered_until, Some(until));
        assert_eq!(around(&db, &elsewhere).await.remembered_until, None);
    })
    .await;
}

#[tokio::test]
async fn a_standing_grant_is_counted_and_ends_by_use_by_time_and_by_revocation() {
    everywhere(async |db| {
        let bash = || ToolName::new("bash").unwrap();
        let given = |id: &str, uses_max| {
            Event::StandingGiven(Box::new(StandingGrant {
                id: StandingGrantId::new(id).unwrap(),
                scope: Scope {
                    tool: bash(),
                    session: None,
                    workspace: None,
                    covers: Covers::Commands(vec!["ls".into()]),
                },
                by: person("ana"),
                given_at: Timestamp::from_millis(0),
                ends_at: Timestamp::from_millis(1000),
                uses_max,
                examples: Vec::new(),
            }))
        };
        let used = |id: &str| Event::StandingUsed {
            id: StandingGrantId::new(id).unwrap(),
            call: key("c1"),
        };
        let revoked = |id: &str| Event::StandingRevoked {
            id: StandingGrantId::new(id).unwrap(),
            by: person("ana"),
        };
        store(&db, vec![given("sg_once", Some(1)), given("sg_many", None)])
            .await
            .unwrap();
        store(&db, vec![used("sg_once"), used("sg_many"), used("sg_many")])
            .await
            .unwrap();
        contradicts(&db, vec![used("sg_once")]).await;
        let alive = async |at: i64| {
            let around = around(&db, &call("c2", "ls")).await;
            let alive = around.standing_at(Timestamp::from_millis(at));
            alive.iter().map(|grant| grant.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(alive(999).await, ["sg_many"]);
        assert_eq!(alive(1000).await, [""; 0]);
        store(&db, vec![revoked("sg_many")]).await.unwrap();
        contradicts(&db, vec![revoked("sg_many")]).await;
        contradicts(&db, vec![used("sg_many")]).await;
        assert_eq!(alive(0).await, [""; 0]);
        let all = look(&db, |stored| {
            stored.all_standing(&Timestamp::from_millis(0)).cloned()
        })
        .await;
        assert_eq!(
            all.iter().map(|row| (row.uses, row.revoked)).collect::<Vec<_>>(),
            [(1, false), (2, true)]
        );
    })
    .await;
}

#[tokio::test]
async fn a_session_keeps_its_mode_its_list_and_its_end() {
    everywhere(async |db| {
        let by = || person("ana");
        let tool = ToolName::new("bash").unwrap();
        let allowed = Event::ToolAllowed {
            tool: tool.clone(),
            by: by(),
        };
        store(
            &db,
            vec![
                allowed,
                Event::ModeSet {
                    mode: Mode::AutoEdit,
                    by: by(),
                },
            ],
        )
        .await
        .unwrap();
        store(&db, vec![Event::SessionEnded { by: "ana".into() }])
            .await
            .unwrap();
        let record = look(&db, |stored| stored.session(&session("s")).cloned()).await;
        assert_eq!((record.ended, record.mode), (true, Some(Mode::AutoEdit)));
        assert_eq!(record.allow_list, [tool].into());
        contradicts(&db, vec![Event::SessionEnded { by: "ana".into() }]).await;
        assert!(
            !look(&db, |stored| stored.session(&session("unknown")).cloned())
                .await
                .ended
        );
        let newest = Before {
            cursor: None,
            limit: 9,
        };
        let sessions = look(&db, |stored| stored.sessions_before(&newest).cloned()).await;
        assert_eq!(sessions, [(1, session("s"))]);
    })
    .await;
}

#[tokio::test]
async fn a_queued_message_waits_until_it_is_taken() {
    everywhere(async |db| {
        let message = InboundMessage {
            channel: ChannelName::new("ops").unwrap(),
            chat_id: ChatId::new("room").unwrap(),
            sender_id: "u1".into(),
            message_id: "m1".into(),
            content: "and the tests?".into(),
            author: Author::Human,
        };
        store(&db, vec![Event::MessageQueued(Box::new(message.clone()))])
            .await
            .unwrap();
        assert_eq!(
            look(&db, |stored| stored.next_queued(&session("s")).cloned()).await,
            Some((1, message))
        );
        let take = || db.commit(changing(db.now(), vec![Change::Took { queue_id: 1 }]));
        take().await.unwrap();
        assert_eq!(
            look(&db, |stored| stored.next_queued(&session("s")).cloned()).await,
            None
        );
        take().await.unwrap_err();
    })
    .await;
}

#[tokio::test]
async fn what_waits_for_a_busy_channel_hides_nothing_that_waits_for_another() {
    everywhere(async |db| {
        let enqueue = |key: String, channel: &str| {
            Change::Enqueue(Outgoing {
                key,
                channel: ChannelName::new(channel).unwrap(),
                chat: ChatId::new("room").unwrap(),
                interaction: None,
                kind: OutKind::Message,
                body: "hello".into(),
            })
        };
        let mut changes: Vec<_> = (0..9)
            .map(|number| enqueue(format!("slow/{number}"), "slow"))
            .collect();
        changes.push(enqueue("quick".into(), "quick"));
        for change in changes {
            db.commit(changing(db.now(), vec![change])).await.unwrap();
        }
        let busy = |names: &[&str]| {
            names
                .iter()
                .map(|name| ChannelName::new(*name).unwrap())
                .collect()
        };
        let (none, slow, both): (BTreeSet<_>, _, _) = (busy(&[]), busy(&["slow"]), busy(&["slow", "quick"]));
        let due = async |busy: &BTreeSet<ChannelName>| {
            let wanted = to_send(wall(1000), busy.clone());
            let found = look(&db, |stored| stored.sendable(&wanted).cloned()).await;
            let first = found.items.first().map(|item| item.key.clone());
            (found.items.len(), first, found.next.is_some())
        };
        assert_eq!(due(&none).await, (4, Some("slow/0".into()), true));
        assert_eq!(due(&slow).await, (1, Some("quick".into()), true));
        assert_eq!(due(&both).await, (0, None, false));
    })
    .await;
}

#[tokio::test]
async fn an_outbox_item_is_sent_once_however_often_it_is_enqueued() {
    everywhere(async |db| {
        store(&db, asking("int_1", &call("c1", "ls"))).await.unwrap();
        let change = async |change: Change| db.commit(changing(db.now(), vec![change])).await;
        let outgoing = |id: &str| {
            Change::Enqueue(Outgoing {
                key: "int_1/ops".into(),
                channel: ChannelName::new("ops").unwrap(),
                chat: ChatId::new("room").unwrap(),
                interaction: Some(question(id)),
                kind: OutKind::Question,
                body: "{}".into(),
            })
        };
        change(outgoing("int_9")).await.unwrap_err();
        change(outgoing("int_1")).await.unwrap();
        change(outgoing("int_1")).await.unwrap();
        let due = look(&db, |stored| {
            Ok(stored.sendable(&to_send(wall(0), BTreeSet::new()))?.items.clone())
        })
        .await;
        assert_eq!(due.len(), 1);
        let id = due[0].id;
        change(Change::Failed {
            id,
            error: "503".into(),
            next: wall(70),
        })
        .await
        .unwrap();
        assert_eq!(
            look(&db, |stored| Ok(stored
                .sendable(&to_send(wall(69), BTreeSet::new()))?
                .items
                .clone()))
            .await,
            []
        );
        assert_eq!(
            look(&db, |stored| Ok(stored
                .sendable(&to_send(wall(0), BTreeSet::new()))?
                .next))
            .await,
            Some(wall(70))
        );
        change(Change::Sent {
            id,
            receipt: Some("card 7".into()),
        })
        .await
        .unwrap();
        change(Change::Sent { id, receipt: None }).await.unwrap_err();
        assert_eq!(
            look(&db, |stored| Ok(stored
                .sendable(&to_send(wall(0), BTreeSet::new()))?
                .next))
            .await,
            None
        );
        let items = look(&db, |stored| stored.copies(&question("int_1")).cloned()).await;
        assert_eq!((items[0].attempts, items[0].state), (2, OutState::Sent));
        assert_eq!(
            (items[0].receipt.as_deref(), items[0].last_error.as_deref()),
            (Some("card 7"), Some("503"))
        );
        let forget = || Change::ForgetOutbox {
            before: Timestamp::from_millis(1),
        };
        change(forget()).await.unwrap();
        let items = look(&db, |stored| stored.copies(&question("int_1")).cloned()).await;
        assert_eq!(
            items.len(),
            1,
            "the question is open, and its copy is to be updated"
        );
        let processed = Event::Processed {
            interaction: question("int_1"),
        };
        store(
            &db,
            [approving("int_1", &call("c1", "ls")), vec![processed]].concat(),
        )
        .await
        .unwrap();
        change(forget()).await.unwrap();
        assert_eq!(
            look(&db, |stored| stored.copies(&question("int_1")).cloned()).await,
            []
        );
    })
    .await;
}

#[tokio::test]
async fn a_message_is_seen_once_per_channel() {
    everywhere(async |db| {
        let ops = || ChannelName::new("ops").unwrap();
        let seen = Change::SeenInbound {
            channel: ops(),
            message_id: "m1".into(),
            at: Timestamp::from_millis(5),
        };
        let see = || db.commit(changing(db.now(), vec![seen.clone()]));
        see().await.unwrap();
        // A second process that received it too decides again, and then finds it seen.
        assert!(matches!(see().await, Err(StoreError::Conflict { .. })));
        assert!(
            look(&db, |stored| stored
                .is_seen(&MessageKey {
                    channel: ops().clone(),
                    message_id: "m1".into()
                })
                .copied())
            .await
        );
        assert!(
            !look(&db, |stored| stored
                .is_seen(&MessageKey {
                    channel: ChannelName::new("feishu").unwrap().clone(),
                    message_id: "m1".into()
                })
                .copied())
            .await
        );
    })
    .await;
}

#[tokio::test]
async fn the_journal_is_read_whole_and_by_session() {
    everywhere(async |db| {
        for number in 0..6 {
            let name = if number % 2 == 0 { "even" } else { "odd" };
            let event = Event::ModeSet {
                mode: Mode::Yolo,
                by: person("ana"),
            };
            db.commit(commit_in(name, db.now(), vec![event])).await.unwrap();
        }
        let rows = look(&db, |stored| stored.journal(&JournalPage::of_all(2, 3)).cloned()).await;
        assert_eq!(
            rows.iter().map(|row| (row.id, row.seq)).collect::<Vec<_>>(),
            [(3, 2), (4, 2), (5, 3)]
        );
        let odd = look(&db, |stored| {
            stored.journal(&JournalPage::of(&session("odd"), 2, 9)).cloned()
        })
        .await;
        assert_eq!(
            odd.iter().map(|row| (row.id, row.seq)).collect::<Vec<_>>(),
            [(4, 2), (6, 3)]
        );
        assert_eq!(
            look(&db, |stored| stored
                .journal(&JournalPage::of(&session("none"), 0, 9))
                .cloned())
            .await,
            []
        );
    })
    .await;
}
