//! Conversations: who sees what, and streams that lose and repeat nothing.

use placet_agent::chat::{ChatError, EventId, Response, Saying, Viewer, What};
use placet_core::ids::{AgentId, PersonId};
use placet_core::principal::Principal;
use placet_core::steps::AnswerRefusal;
use placet_store::StepError;
use serde_json::json;

use crate::support::{House, calls, id_of, lin, next, principal, question, rest, says, session, soon};

fn mal() -> PersonId {
    PersonId::new("mal").unwrap()
}

#[tokio::test]
async fn a_second_viewer_and_a_reconnect_at_any_event_see_the_same_events() {
    let house = House::new();
    let home = house
        .open(json!([
            calls(&[
                ("bash", json!({ "command": "echo hi | tee hi.txt" })),
                ("read", json!({ "path": "none" }))
            ]),
            says("Done."),
        ]))
        .await;
    let mut stream = home.say("Say hi").await;
    let mut seen = Vec::new();
    let asked = loop {
        let event = next(&mut stream).await.unwrap();
        seen.push(event.clone());
        if let What::Interaction { request } = event.what {
            break *request;
        }
    };
    home.answer(&asked, "approve", None).await;
    seen.extend(rest(&mut stream).await);
    let chat = home.agent.chat();
    let viewer = Viewer::Person(lin());
    let mut again = chat.attach(&session("s"), &viewer, None).await.unwrap();
    assert_eq!(rest(&mut again).await, seen, "a second viewer");
    for (n, event) in seen.iter().enumerate() {
        if event.what.is_last() {
            break;
        }
        // As it comes back in a header.
        let id: EventId = event.id.unwrap().to_string().parse().unwrap();
        let mut resumed = chat.attach(&session("s"), &viewer, Some(id)).await.unwrap();
        assert_eq!(rest(&mut resumed).await, seen[n + 1..], "after event {n}");
    }
    home.close().await;
}

#[tokio::test]
async fn the_words_of_the_model_are_heard_while_it_speaks() {
    let house = House::new();
    let home = house.open(json!([says("one two three")])).await;
    let mut stream = home.say("Count").await;
    let mut heard = String::new();
    while let Some(event) = soon(stream.next()).await.unwrap() {
        if let What::Saying { delta: piece, .. } = &event.what {
            assert_eq!((event.id, event.what.name()), (None, "THINKING"));
            heard.push_str(piece);
        }
    }
    // A late client may miss pieces; what is heard is what was said.
    assert!("one two three".ends_with(&heard), "{heard}");
    home.close().await;
}

#[tokio::test]
async fn nobody_sees_or_continues_a_conversation_of_somebody_else() {
    let house = House::new();
    let home = house.open(json!([says("Secret.")])).await;
    rest(&mut home.say("Tell me a secret").await).await;
    let chat = home.agent.chat();
    let stranger = Viewer::Person(mal());
    for session_name in ["s", "no-such", "placet"] {
        let refused = chat
            .attach(&session(session_name), &stranger, None)
            .await
            .err()
            .unwrap();
        assert!(matches!(refused, ChatError::NotFound(_)), "{refused}");
        let saying = Saying {
            session: Some(session(session_name)),
            text: "and?".into(),
            person: mal(),
            place: None,
        };
        let sent = chat.send(saying).await;
        assert_eq!(sent.is_err(), session_name != "no-such", "{session_name}");
    }
    assert!(chat.attach(&session("s"), &Viewer::Admin, None).await.is_ok());
    assert_eq!(chat.newest(&lin()).await.unwrap(), session("s"));
    home.close().await;
}

#[tokio::test]
async fn a_forged_event_id_is_refused() {
    let house = House::new();
    let home = house.open(json!([says("Hi.")])).await;
    rest(&mut home.say("Hi").await).await;
    let forged = Some(EventId::after_row(1 << 40));
    let refused = home
        .agent
        .chat()
        .attach(&session("s"), &Viewer::Admin, forged)
        .await
        .err()
        .unwrap();
    assert!(matches!(refused, ChatError::NoSuchEvent(_)));
    assert!("12".parse::<EventId>().is_err() && "-1.0".parse::<EventId>().is_err());
    home.close().await;
}

#[tokio::test]
async fn an_answer_counts_only_from_the_person_asked_and_for_the_session_it_names() {
    let house = House::new();
    let home = house
        .open(json!([
            calls(&[("bash", json!({ "command": "echo hi | tee hi.txt" }))]),
            says("Done.")
        ]))
        .await;
    let mut stream = home.say("Say hi").await;
    let asked = question(&mut stream).await;
    let response = |name: &str| Response {
        session: session(name),
        request: id_of(&asked),
        option: "approve".into(),
        feedback: None,
        data: None,
        shown: None,
    };
    let chat = home.agent.chat();
    let agent = Principal::Agent {
        agent: AgentId::new("placet").unwrap(),
    };
    for (session, by) in [("s", principal("mal")), ("s", agent), ("other", principal("lin"))] {
        let refused = chat.respond(response(session), by).await.unwrap_err();
        assert!(
            matches!(
                refused,
                StepError::Refused(AnswerRefusal::NotFound(_) | AnswerRefusal::Invalid(_))
            ),
            "{refused}"
        );
    }
    chat.respond(response("s"), principal("lin")).await.unwrap();
    rest(&mut stream).await;
    let late = chat.respond(response("s"), principal("lin")).await.unwrap_err();
    assert!(matches!(
        late,
        StepError::Refused(AnswerRefusal::AlreadyDecided { .. })
    ));
    home.close().await;
}

#[tokio::test]
async fn an_ended_session_takes_no_more_messages() {
    let house = House::new();
    let home = house.open(json!([says("Bye.")])).await;
    rest(&mut home.say("Bye").await).await;
    home.engine
        .broker()
        .end_session(&session("s"), "lin")
        .await
        .unwrap();
    let saying = Saying {
        session: Some(session("s")),
        text: "still there?".into(),
        person: lin(),
        place: None,
    };
    assert!(matches!(
        home.agent.chat().send(saying).await.err().unwrap(),
        ChatError::SessionOver(_)
    ));
    home.close().await;
}
