//! Whose a session is, and what others can do to it.

use super::*;

#[tokio::test]
async fn a_session_remembers_what_was_said_and_is_nobody_elses() {
    let house = House::new();
    let turns = || json!([on("second", says("You said it before.")), says("Good day.")]);
    let session = SessionId::new("one").unwrap();
    let mine = assistant(&house, &turns())
        .user("lin")
        .store(house.store())
        .start()
        .await
        .unwrap();
    for (message, reply) in [("first", "Good day."), ("second", "You said it before.")] {
        let message = Message::new(message).session(session.clone());
        assert_eq!(soon(mine.send_message(message)).await.unwrap().text, reply);
    }
    mine.shutdown().await.unwrap();
    let theirs = assistant(&house, &turns())
        .user("wei")
        .store(house.store())
        .start()
        .await
        .unwrap();
    let refused = soon(theirs.send_message(Message::new("hello").session(session))).await;
    assert!(matches!(refused, Err(SendError::NotYours(_))), "{refused:?}");
    assert!(matches!(
        theirs.send_message(Message::new(" ")).await,
        Err(SendError::Empty)
    ));
    theirs.shutdown().await.unwrap();
}

/// A message that is refused changes nothing: not what may run unasked there, and not who decides.
#[tokio::test]
async fn a_message_to_somebody_elses_session_allows_nothing_in_it_and_decides_nothing() {
    let house = House::new();
    let session = SessionId::new("kept").unwrap();
    let turns = json!([calls(&[write("a.txt")]), says("Written.")]);
    let mine = assistant(&house, &turns).user("lin").store(house.store());
    let mine = mine.start().await.unwrap();
    let message = Message::new("go").write().session(session.clone());
    let mut exchange = mine.stream_message(message).await.unwrap();
    while !matches!(
        soon(exchange.next()).await.unwrap().unwrap().what,
        What::Interaction { .. }
    ) {}
    mine.shutdown().await.unwrap();

    let asked = Asked::default();
    let theirs = assistant(&house, &turns).user("wei").store(house.store());
    let theirs = theirs.approval_tools(["write", "bash"]).start().await.unwrap();
    let message = Message::new("hello").session(session.clone());
    let refused = soon(theirs.stream_message(message.on_tool_approve(asked.yes()))).await;
    assert!(matches!(refused, Err(SendError::NotYours(_))));
    let store = theirs.engine().store();
    let record = store
        .look(|stored| stored.session(&session).cloned())
        .await
        .unwrap();
    assert!(record.allow_list.is_empty(), "{:?}", record.allow_list);
    // Stopped, it has done whatever it was about to do.
    theirs.shutdown().await.unwrap();
    assert!(asked.names().is_empty(), "{:?}", asked.names());
    assert!(house.file("a.txt").is_none());
}
