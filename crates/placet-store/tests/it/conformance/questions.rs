//! Questions, from asked to settled.

use placet_core::call::ToolCall;
use placet_core::interaction::{Action, Escalating, Interaction, Resolution};
use placet_core::journal::Event;
use placet_core::record::CallState;

use super::{after, around, by, chat, contradicts, everywhere, look, state, waiting_on};
use crate::world::*;

#[tokio::test]
async fn a_question_is_settled_once_and_its_call_only_after_it() {
    everywhere(async |db| {
        let ls = call("c1", "ls");
        store(&db, asking("int_1", &ls)).await.unwrap();
        contradicts(&db, vec![settled("c1", approved(&ls, None), Some(1))]).await;
        contradicts(&db, vec![claimed("c1", 1)]).await;
        let answer = || answered("int_1", Action::ApproveAndExecute);
        contradicts(&db, vec![answer(), settled("c1", approved(&ls, None), Some(2))]).await;
        contradicts(&db, vec![answer(), settled("c1", approved(&ls, None), None)]).await;
        contradicts(&db, vec![answer(), settled("c1", rejected("no"), Some(1))]).await;
        store(&db, approving("int_1", &ls)).await.unwrap();
        contradicts(&db, approving("int_1", &ls)).await;
        contradicts(&db, vec![answered("int_2", Action::Skip)]).await;
    })
    .await;
}

#[tokio::test]
async fn the_same_call_twice_is_one_question_with_two_waiters() {
    everywhere(async |db| {
        let ls = call("c1", "ls");
        store(&db, asking("int_1", &ls)).await.unwrap();
        let same = async |call: &ToolCall| around(&db, call).await.pending_same;
        assert_eq!(
            same(&call("c2", "ls")).await,
            Some((question("int_1"), key("c1")))
        );
        let joined = |of: &str| Event::Joined {
            call: key("c2"),
            same_as: key(of),
            interaction: question("int_1"),
        };
        contradicts(&db, vec![received(&call("c2", "ls"), ask()), joined("c9")]).await;
        store(&db, vec![received(&call("c2", "ls"), ask()), joined("c1")])
            .await
            .unwrap();
        assert_eq!(state(&db, "c2").await, CallState::SameAs(key("c1")));
        assert_eq!(waiting_on(&db, asked("int_1", &ls)).await, Some(key("c1")));
        store(&db, approving("int_1", &ls)).await.unwrap();
        assert_eq!(same(&call("c3", "ls")).await, None);
        let elsewhere = ToolCall {
            session: session("x"),
            ..call("c4", "ls")
        };
        assert_eq!(same(&elsewhere).await, None);
    })
    .await;
}

#[tokio::test]
async fn votes_are_durable_and_one_person_counts_once() {
    everywhere(async |db| {
        let ls = call("c1", "ls");
        let mut two = asked("int_1", &ls);
        two.quorum = 2;
        two.escalation = Some(Escalating {
            at: wall(10),
            to: [person("cy")].into(),
        });
        store(&db, vec![received(&ls, ask()), Event::Asked(Box::new(two))])
            .await
            .unwrap();
        let vote = || Event::Voted {
            interaction: question("int_1"),
            ballot: ballot("ana"),
        };
        store(&db, vec![vote()]).await.unwrap();
        contradicts(&db, vec![vote()]).await;

        assert_eq!(
            look(&db, |stored| Ok(stored.due(&by(wall(9), 9))?.escalations.clone())).await,
            []
        );
        assert_eq!(
            look(&db, |stored| Ok(stored
                .due(&by(wall(10), 9))?
                .escalations
                .clone()))
            .await,
            [question("int_1")]
        );
        assert_eq!(
            look(&db, |stored| stored.next_due(&wall(0)).copied()).await,
            Some(wall(10))
        );
        let escalated = || Event::Escalated {
            interaction: question("int_1"),
            to: [person("cy")].into(),
        };
        store(&db, vec![escalated()]).await.unwrap();
        contradicts(&db, vec![escalated()]).await;
        assert_eq!(
            look(&db, |stored| Ok(stored
                .due(&by(wall(10), 9))?
                .escalations
                .clone()))
            .await,
            []
        );
        assert_eq!(
            look(&db, |stored| stored.next_due(&wall(0)).copied()).await,
            Some(wall(60_000))
        );

        let Some(Interaction::Pending(pending)) =
            look(&db, |stored| stored.interaction(&question("int_1")).cloned()).await
        else {
            panic!("not pending");
        };
        assert!(pending.escalated);
        assert_eq!(pending.votes.into_keys().collect::<Vec<_>>(), [person("ana")]);
    })
    .await;
}

#[tokio::test]
async fn a_superseded_question_hands_its_call_to_the_new_one() {
    everywhere(async |db| {
        let ls = call("c1", "ls");
        store(&db, asking("int_1", &ls)).await.unwrap();
        let again = || Event::Asked(Box::new(asked("int_2", &ls)));
        contradicts(&db, vec![again()]).await;
        let superseded = Event::Resolved {
            interaction: question("int_1"),
            resolution: Resolution::Superseded {
                by: question("int_2"),
            },
        };
        store(&db, vec![superseded, again()]).await.unwrap();
        assert_eq!(
            state(&db, "c1").await,
            CallState::Parked {
                on: question("int_2")
            }
        );
        assert_eq!(
            look(&db, |stored| stored.session(&session("s")).cloned())
                .await
                .open_questions,
            1
        );
    })
    .await;
}

#[tokio::test]
async fn open_questions_are_listed_by_page_by_chat_by_session_and_by_deadline() {
    everywhere(async |db| {
        for number in 1..=5 {
            let ls = call(&format!("c{number}"), &format!("ls {number}"));
            let mut asked = asked(&format!("int_{number}"), &ls);
            asked.deadline = wall(100 * (6 - number));
            asked.chat = (number > 3).then(chat);
            store(&db, vec![received(&ls, ask()), Event::Asked(Box::new(asked))])
                .await
                .unwrap();
        }
        let names = |page: &[placet_core::listing::PendingRow]| {
            page.iter().map(|row| row.id.to_string()).collect::<Vec<_>>()
        };
        let first = look(&db, |stored| stored.pending(&after(None, 2)).cloned()).await;
        assert_eq!(names(&first.rows), ["int_1", "int_2"]);
        let rest = look(&db, |stored| stored.pending(&after(first.last(), 9)).cloned()).await;
        assert_eq!(names(&rest.rows), ["int_3", "int_4", "int_5"]);
        let in_chat = look(&db, |stored| stored.pending_in_chat(&chat()).cloned()).await;
        assert_eq!(
            in_chat
                .asked
                .iter()
                .map(|asked| asked.id.as_str())
                .collect::<Vec<_>>(),
            ["int_4", "int_5"]
        );
        assert_eq!(
            look(&db, |stored| stored.pending_in_session(&session("s")).cloned())
                .await
                .len(),
            5
        );
        assert_eq!(
            look(&db, |stored| Ok(stored.due(&by(wall(200), 9))?.questions.clone())).await,
            [question("int_5"), question("int_4")]
        );
        assert_eq!(
            look(&db, |stored| Ok(stored.due(&by(wall(99), 9))?.questions.clone())).await,
            []
        );
        assert_eq!(look(&db, |stored| stored.counts(&()).copied()).await.pending, 5);
    })
    .await;
}
