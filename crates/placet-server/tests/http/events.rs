//! Server-sent events: nothing lost, nothing twice, nothing of others.

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use placet_core::call::ToolCall;
use serde_json::{Value, json};

use crate::house::{House, LIN, OTHER, PEOPLE, WEI};
use crate::signed_in::Browser;

/// An open stream, read event by event.
pub(crate) struct Stream {
    body: Incoming,
    text: String,
    pub(crate) last_id: u64,
}

impl Stream {
    pub(crate) async fn open(house: &House, token: &str, query: &str, last_event_id: Option<u64>) -> Self {
        let bearer = format!("Bearer {token}");
        let last = last_event_id.map(|id| id.to_string());
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(last.as_deref().map(|last| ("last-event-id", last)));
        Self::open_with(house, query, &headers).await
    }

    /// The events of a signed-in browser.
    pub(crate) async fn of_browser(house: &House, browser: &Browser) -> Self {
        let proof = browser.proof("GET", "/v1/events", "");
        Self::open_with(house, "", &[("placet-proof", &proof)]).await
    }

    async fn open_with(house: &House, query: &str, headers: &[(&str, &str)]) -> Self {
        let response = house
            .raw("GET", &format!("/v1/events{query}"), headers, "".into())
            .await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut stream = Self {
            body: response.into_body(),
            text: String::new(),
            last_id: 0,
        };
        // The first block says where it starts.
        assert!(stream.block().await.unwrap().starts_with("retry: "));
        stream
    }

    /// The next block; `None` at the end.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                if let Some(id) = block.lines().find_map(|line| line.strip_prefix("id: ")) {
                    self.last_id = id.parse().unwrap();
                }
                return Some(block);
            }
            let frame = tokio::time::timeout(Duration::from_secs(30), self.body.frame());
            let frame = frame.await.unwrap_or_else(|_| panic!("nothing comes"))?.unwrap();
            self.text
                .push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    /// The next event's data.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            let block = self.block().await?;
            if let Some(data) = block.lines().find_map(|line| line.strip_prefix("data: ")) {
                let data: Value = serde_json::from_str(data).unwrap();
                assert_eq!(data["id"], self.last_id);
                let kind = block
                    .lines()
                    .find_map(|line| line.strip_prefix("event: "))
                    .unwrap();
                assert_eq!(
                    (&data["type"], &data["event"]["type"]),
                    (&json!(kind), &json!(kind))
                );
                return Some(data);
            }
        }
    }

    async fn kinds(&mut self, count: usize) -> Vec<String> {
        let mut kinds = Vec::new();
        for _ in 0..count {
            kinds.push(self.next().await.unwrap()["type"].as_str().unwrap().to_owned());
        }
        kinds
    }
}

impl Stream {
    /// The next event of the interaction shape: its name, and its data.
    async fn next_interaction(&mut self) -> (String, Value) {
        loop {
            let block = self.block().await.unwrap();
            let line = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            if let (Some(kind), Some(data)) = (line("event: "), line("data: ")) {
                return (kind.to_owned(), serde_json::from_str(data).unwrap());
            }
        }
    }
}

#[tokio::test]
async fn the_interaction_events_are_on_v1_events_in_the_documents_shapes() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let mut lin = Stream::open(&house, LIN, "?shape=interactions", None).await;
    let mut other = Stream::open(&house, OTHER, "?shape=interactions", None).await;
    let id = house
        .ask(
            &agent,
            "c1",
            "pay",
            json!({"amount": 5, "apiKey": "sk-live-1234567890abcdef"}),
        )
        .await;
    let (kind, asked) = lin.next_interaction().await;
    let first = lin.last_id;
    assert_eq!(
        (kind.as_str(), &asked["type"]),
        ("USER_INTERACTION_REQUESTED", &json!("USER_INTERACTION_REQUESTED"))
    );
    assert_eq!(
        (
            &asked["interactionId"],
            &asked["operationType"],
            &asked["workflowId"]
        ),
        (&json!(id), &json!("TOOL_APPROVAL"), &json!(""))
    );
    assert!(
        asked["threadId"].is_string() && asked["nodeId"].is_string(),
        "{asked}"
    );
    let tool = &asked["metadata"]["toolApproval"];
    assert_eq!(
        (&tool["toolName"], &tool["toolParameters"]["amount"]),
        (&json!("pay"), &json!(5))
    );
    assert!(
        !asked.to_string().contains("sk-live"),
        "people see no secret: {asked}"
    );

    let answer = json!({"selectedOptionId": "approve", "instruction": "only once"});
    house.answer(LIN, &id, answer).await.ok();
    let (kind, responded) = lin.next_interaction().await;
    assert_eq!(kind, "USER_INTERACTION_RESPONDED");
    assert_eq!(
        (
            &responded["inputData"]["approved"],
            &responded["inputData"]["userInstruction"]
        ),
        (&json!(true), &json!("only once"))
    );
    house.post(&agent, "/v1/calls/c1/claim", json!({})).await.ok();
    let (kind, processed) = lin.next_interaction().await;
    assert_eq!(kind, "USER_INTERACTION_PROCESSED");
    assert_eq!(processed["results"], responded["inputData"]);

    // A stream resumes after the row that it has seen, and another agent sees nothing of it.
    let mut again = Stream::open(&house, LIN, "?shape=interactions", Some(first)).await;
    assert_eq!(
        again.next_interaction().await,
        ("USER_INTERACTION_RESPONDED".to_owned(), responded)
    );
    let question = json!({"sessionId": "other", "type": "USER_INPUT", "title": "t", "message": "Which?",
        "options": [{"optionId": "say", "label": "Say", "action": "PROVIDE_INFO", "requiresInput": true}]});
    house.post(OTHER, "/v1/interactions", question).await.ok();
    let (_, own) = other.next_interaction().await;
    assert_eq!(
        (&own["prompt"], &own["operationType"]),
        (&json!("Which?"), &json!("ADD_MESSAGE"))
    );
    let refused = house.get(LIN, "/v1/events?shape=rows").await;
    assert_eq!(refused.problem(), (400, "bad-request".into()));
    house.close().await;
}

#[tokio::test]
async fn everybody_sees_what_concerns_them_and_nothing_else() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let approver = house.token("approver");
    let mut admin = Stream::open(&house, WEI, "", None).await;
    let mut lin = Stream::open(&house, LIN, "", None).await;
    let mut local = Stream::open(&house, &approver, "", None).await;
    let mut own = Stream::open(&house, &agent, "", None).await;
    let mut other = Stream::open(&house, OTHER, "", None).await;

    let id = house.ask(&agent, "c1", "pay", json!({"amount": 5})).await;
    house
        .answer(LIN, &id, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    let others = json!({"sessionId": "other", "callId": "c1", "tool": "read", "args": {"path": "a"}});
    house.post(OTHER, "/v1/calls", others).await.ok();
    house.ask(&agent, "c2", "bash", json!({"command": "make"})).await;

    let all = [
        "callReceived",
        "asked",
        "resolved",
        "settled",
        "callReceived",
        "callReceived",
        "asked",
    ];
    assert_eq!(admin.kinds(7).await, all);
    assert_eq!(lin.kinds(3).await, ["asked", "resolved", "asked"]);
    assert_eq!(
        local.kinds(1).await,
        ["asked"],
        "what only lin may answer is not shown to others"
    );
    assert_eq!(
        own.kinds(6).await,
        [
            "callReceived",
            "asked",
            "resolved",
            "settled",
            "callReceived",
            "asked"
        ]
    );
    assert_eq!(other.kinds(1).await, ["callReceived"]);
    house.close().await;
}

#[tokio::test]
async fn a_stream_resumes_where_it_broke_off_through_a_restart() {
    let house = House::plain().await;
    let (agent, admin) = (house.token("agent"), house.token("admin"));
    let mut stream = Stream::open(&house, &admin, "?sessionId=job", None).await;
    let mut seen = Vec::new();
    for number in 0..5 {
        house
            .propose(&agent, &format!("c{number}"), "read", json!({"path": "a"}))
            .await;
        seen.push(stream.next().await.unwrap()["seq"].as_u64().unwrap());
    }
    let last = stream.last_id;
    drop(stream);
    house
        .propose(&agent, "missed", "read", json!({"path": "a"}))
        .await;
    let data = house.close().await;
    let house = House::open(data, "").await;
    house.propose(&agent, "later", "read", json!({"path": "a"})).await;
    let mut stream = Stream::open(&house, &admin, "?sessionId=job&after=head", Some(last)).await;
    for _ in 0..2 {
        seen.push(stream.next().await.unwrap()["seq"].as_u64().unwrap());
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    house.close().await;
}

#[tokio::test]
async fn a_reader_that_fell_far_behind_gets_every_row_once() {
    let house = House::plain().await;
    let admin = house.token("admin");
    // Opened and not read while more happens than is kept in memory.
    let mut slow = Stream::open(&house, &admin, "", None).await;
    let start = slow.last_id;
    let gate = house.state.engine().gate();
    let call = |number: u64| -> ToolCall {
        serde_json::from_value(json!({
            "id": format!("c{number}"), "tool": "read", "args": {"path": format!("{number}")},
            "session": format!("job-{}", number % 7), "origin": {"agent": "test"},
        }))
        .unwrap()
    };
    let count = 6000;
    for batch in 0..count / 100 {
        let proposals = (0..100).map(|number| gate.propose(call(batch * 100 + number)));
        for proposed in futures_util::future::join_all(proposals).await {
            proposed.unwrap();
        }
    }
    for expected in start + 1..=start + count {
        assert_eq!(slow.next().await.unwrap()["id"], expected);
    }
    // One that starts from the beginning, of one session only.
    let mut session = Stream::open(&house, &admin, "?sessionId=job-3&after=0", None).await;
    for expected in 1..=count / 7 {
        let row = session.next().await.unwrap();
        assert_eq!(
            (&row["seq"], &row["sessionId"]),
            (&json!(expected), &json!("job-3"))
        );
    }
    house.close().await;
}

#[tokio::test]
async fn an_id_that_never_was_is_refused() {
    let house = House::plain().await;
    let admin = house.token("admin");
    for forged in ["999999", "18446744073709551615", "-1", "abc", "1e3"] {
        let answer = house.get(&admin, &format!("/v1/events?after={forged}")).await;
        assert_eq!(answer.problem(), (400, "bad-event-id".into()), "{forged}");
        let bearer = format!("Bearer {admin}");
        let headers = [("authorization", bearer.as_str()), ("last-event-id", forged)];
        let answer = house.say("GET", "/v1/events", &headers, None).await;
        assert_eq!(answer.problem(), (400, "bad-event-id".into()), "{forged}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_session_that_concerns_somebody_is_shown_to_them_whole_and_to_others_not_at_all() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    house.ask(&agent, "c1", "pay", json!({"amount": 5})).await;
    let mut lin = Stream::open(&house, LIN, "?sessionId=job&after=0", None).await;
    assert_eq!(lin.kinds(2).await, ["callReceived", "asked"]);
    let local = house
        .get(&house.token("approver"), "/v1/events?sessionId=job")
        .await;
    assert_eq!(local.problem(), (404, "no-such-session".into()));
    house.close().await;
}

#[tokio::test]
async fn secrets_are_masked_for_people_and_not_for_the_agent_that_has_them() {
    let house = House::plain().await;
    let (agent, admin) = (house.token("agent"), house.token("admin"));
    let mut person = Stream::open(&house, &admin, "", None).await;
    let mut own = Stream::open(&house, &agent, "", None).await;
    let args = json!({"url": "https://example.com", "headers": {"Authorization": "Bearer sk-abcdef0123456789abcdef"}});
    house.propose(&agent, "c1", "http_request", args.clone()).await;
    let shown = person.next().await.unwrap();
    assert!(!shown.to_string().contains("sk-abcdef"), "{shown}");
    assert_eq!(own.next().await.unwrap()["event"]["call"]["args"], args);
    house.close().await;
}

#[tokio::test]
async fn a_token_that_is_taken_back_ends_its_streams() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let mut lin = Stream::open(&house, LIN, "", None).await;
    house.reload("rules = []\npeople = []\n");
    house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    assert_eq!(lin.next().await, None);
    assert_eq!(house.get(LIN, "/v1/me").await.status, 401);
    house.close().await;
}

#[tokio::test]
async fn a_sign_out_ends_the_streams_of_that_browser_and_of_no_other() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let (here, elsewhere) = (house.browser_of(LIN).await, house.browser_of(LIN).await);
    let proof = |browser: &Browser| browser.proof("GET", "/v1/events", "");
    let mut ended = Stream::open_with(&house, "", &[("placet-proof", &proof(&here))]).await;
    let mut kept = Stream::open_with(&house, "", &[("placet-proof", &proof(&elsewhere))]).await;
    house.sign_out(&here).await;
    house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    assert_eq!(ended.next().await, None);
    assert_eq!(kept.kinds(1).await, ["asked"]);
    house.close().await;
}

#[tokio::test]
async fn somebody_whose_role_changed_keeps_no_stream_of_the_old_one() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let mut admin = Stream::open(&house, WEI, "", None).await;
    let mut lin = Stream::open(&house, LIN, "", None).await;
    house.reload(&PEOPLE.replace(r#"admins = ["wei"]"#, "admins = []"));
    house.ask(&agent, "c1", "pay", json!({"amount": 5})).await;
    assert_eq!(admin.next().await, None, "only lin is asked, and wei is no admin");
    assert_eq!(
        lin.kinds(1).await,
        ["asked"],
        "whose rights are the same notices nothing"
    );
    house.close().await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_reader_who_may_see_nothing_of_a_busy_server_is_told_that_it_lives() {
    let house = House::with_people().await;
    let agent = house.token("agent");
    let mut lin = Stream::open(&house, LIN, "", None).await;
    for number in 0..5 {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(4)).await;
        tokio::time::resume();
        house
            .propose(&agent, &format!("c{number}"), "read", json!({"path": "a"}))
            .await;
    }
    // Twenty seconds of rows that are not for lin.
    let told = tokio::time::timeout(Duration::from_secs(5), lin.block()).await;
    let told = told.unwrap_or_else(|_| panic!("nothing comes")).unwrap();
    assert!(told.starts_with(": \nid: "), "{told}");
    house.close().await;
}
