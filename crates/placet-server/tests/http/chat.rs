//! The chat endpoints, with the names of the interaction document and a scripted model.

use std::time::Duration;

use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::house::{House, LIN, OTHER, PEOPLE, WEI};

const STREAM: &str = "/api/agent/chat/react/stream";
const RESPONSE: &str = "/api/agent/chat/react/interaction_response";

const SCRIPT: &str = "
[[turns]]
on = 'rejected_by_person'
text = 'I left it.'
[[turns]]
text = 'I write a file.'
calls = [{ tool = 'write', args = { path = 'a.txt', content = 'from the agent' } }]
[[turns]]
text = 'Written.'
";

/// A house with an agent that wants to write one file.
async fn house() -> House {
    scripted(SCRIPT).await
}

/// A house with an agent that says what a script says.
async fn scripted(turns: &str) -> House {
    let data = tempfile::tempdir().unwrap();
    let script = data.path().join("script.toml");
    std::fs::write(&script, turns).unwrap();
    let config = format!(
        "{PEOPLE}\n[workspace]\nroot = '{}'\n[models.main]\nprovider = 'scripted'\nscript = '{}'\n",
        data.path().display(),
        script.display()
    );
    House::open(data, &config).await
}

struct Conversation {
    body: Incoming,
    text: String,
    last_id: Option<String>,
}

impl Conversation {
    async fn open(
        house: &House,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Self {
        let mut headers = headers.to_vec();
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        if !body.is_empty() {
            headers.push(("content-type", "application/json"));
        }
        let response = house.raw(method, path, &headers, body.into()).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            body: response.into_body(),
            text: String::new(),
            last_id: None,
        }
    }

    async fn says(house: &House, token: &str, body: Value) -> Self {
        let bearer = format!("Bearer {token}");
        Self::open(house, "POST", STREAM, &[("authorization", &bearer)], Some(body)).await
    }

    async fn watches(house: &House, token: &str, query: &str, last_id: Option<&str>) -> Self {
        let bearer = format!("Bearer {token}");
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(last_id.map(|id| ("last-event-id", id)));
        Self::open(house, "GET", &format!("{STREAM}{query}"), &headers, None).await
    }

    /// The next event; `None` at the end. Comments are passed over.
    async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
                self.last_id = field("id: ").map(str::to_owned).or(self.last_id.take());
                let Some(data) = field("data: ") else { continue };
                let data: Value = serde_json::from_str(data).unwrap();
                assert_eq!(data["type"], field("event: ").unwrap());
                return Some(data);
            }
            let frame = tokio::time::timeout(Duration::from_secs(30), self.body.frame());
            let frame = frame.await.unwrap_or_else(|_| panic!("nothing comes"))?.unwrap();
            self.text
                .push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    async fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("no {kind}"));
            if event["type"] == kind {
                return event;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_leads_to_steps_a_question_an_answer_and_an_end() {
    let house = house().await;
    // Who speaks is whose token it is; the body's `userId` is not believed.
    let mut talk = Conversation::says(&house, LIN, json!({"message": "write it", "userId": "wei"})).await;
    let started = talk.until("STARTED").await;
    assert_eq!(started["data"]["by"], "lin");
    assert_eq!(talk.until("ACTION").await["data"]["tool"], "write");
    let asked = talk.until("INTERACTION").await["data"].clone();
    let options: Vec<_> = asked["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| &o["optionId"])
        .collect();
    assert!(options.contains(&&json!("approve")), "{asked}");
    assert!(
        asked["details"]
            .as_str()
            .unwrap()
            .contains("from the agent⟦no line break⟧"),
        "{asked}"
    );
    assert!(asked["document"]["head"].is_array(), "{asked}");

    let answer = json!({
        "sessionId": started["sessionId"], "requestId": asked["requestId"],
        "selectedOptionId": "approve", "feedback": null, "data": {},
    });
    let taken = house.post(LIN, RESPONSE, answer.clone()).await.ok();
    assert_eq!(
        (&taken["success"], &taken["sessionId"]),
        (&json!(true), &started["sessionId"])
    );
    assert_eq!(
        talk.until("INTERACTION_RESOLVED").await["data"]["by"],
        json!(["lin"])
    );
    assert_eq!(talk.until("OBSERVATION").await["data"]["ok"], true);
    assert_eq!(talk.until("COMPLETED").await["data"]["text"], "Written.");
    assert!(talk.next().await.is_none());
    let written = std::fs::read_to_string(house.data.path().join("a.txt")).unwrap();
    assert_eq!(written, "from the agent");
    let late = house.post(LIN, RESPONSE, answer).await;
    assert_eq!(late.problem(), (409, "already-decided".into()));
    assert_eq!(late.json()["decidedBy"], json!(["lin"]));
    // What another page showed is unknown, and the journal does not claim to know.
    let rows = house.get(WEI, "/v1/audit?type=resolved").await.text;
    assert!(rows.contains(r#""extent":"program""#), "{rows}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_source_that_comes_back_says_nothing_twice_and_misses_nothing() {
    let house = house().await;
    let mut first = Conversation::watches(&house, LIN, "?message=write%20it", None).await;
    let started = first.until("STARTED").await;
    let seen = first.last_id.clone().unwrap();
    drop(first);
    let mut again = Conversation::watches(&house, LIN, "?message=write%20it", Some(&seen)).await;
    assert_ne!(again.next().await.unwrap()["type"], "STARTED");
    let asked = again.until("INTERACTION").await;
    assert_eq!(asked["sessionId"], started["sessionId"]);
    let sessions = house.get(WEI, "/v1/sessions").await.ok();
    let chats = sessions["items"].as_array().unwrap().iter();
    let chats = chats.filter(|one| one["sessionId"].as_str().unwrap().starts_with("chat_"));
    assert_eq!(chats.count(), 1);
    for forged in ["99999999.0", "nonsense"] {
        let bearer = format!("Bearer {LIN}");
        let session = started["sessionId"].as_str().unwrap();
        let headers = [("authorization", bearer.as_str()), ("last-event-id", forged)];
        let refused = house
            .say("GET", &format!("{STREAM}?sessionId={session}"), &headers, None)
            .await;
        assert_eq!(refused.problem(), (400, "bad-event-id".into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_source_that_is_cut_before_its_first_event_says_nothing_twice() {
    let house = house().await;
    let first = Conversation::watches(&house, LIN, "?message=write%20it", None).await;
    let hello = first.body.into_data_stream().next().await.unwrap().unwrap();
    let hello = std::str::from_utf8(&hello).unwrap();
    let seen = hello.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
    let mut again = Conversation::watches(&house, LIN, "?message=write%20it", Some(seen)).await;
    let began = again.next().await.unwrap();
    assert_eq!(
        (&began["type"], &began["data"]["message"]),
        (&json!("STARTED"), &json!("write it"))
    );
    again.until("INTERACTION").await;
    let runs = house.get(WEI, "/v1/audit?type=runStarted").await.ok();
    assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{runs}");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_watches_before_there_is_a_conversation_sees_the_first_one() {
    let house = house().await;
    let mut page = Conversation::watches(&house, LIN, "", None).await;
    let mut talk = Conversation::says(&house, LIN, json!({"message": "write it"})).await;
    let asked = talk.until("INTERACTION").await;
    assert_eq!(
        page.until("INTERACTION").await["data"]["requestId"],
        asked["data"]["requestId"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_its_persons_and_an_admins() {
    let house = house().await;
    let mut talk = Conversation::says(&house, WEI, json!({"message": "write it"})).await;
    let session = talk.until("STARTED").await["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("{STREAM}?sessionId={session}");
    assert_eq!(house.get(LIN, &path).await.problem().1, "no-such-session");
    let into = house
        .post(LIN, STREAM, json!({"sessionId": session, "message": "and more"}))
        .await;
    assert_eq!(into.problem().1, "no-such-session");
    let empty = house.post(WEI, STREAM, json!({"message": " "})).await;
    assert_eq!(empty.problem(), (422, "empty-message".into()));

    let mut lins = Conversation::says(&house, LIN, json!({"message": "write it"})).await;
    let lins = lins.until("STARTED").await["sessionId"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut seen = Conversation::watches(&house, WEI, &format!("?sessionId={lins}"), None).await;
    assert_eq!(seen.until("STARTED").await["data"]["by"], "lin");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_sites_page_cannot_make_a_browser_speak() {
    let house = house().await;
    let browser = house.browser_of(LIN).await;
    let path = format!("{STREAM}?message=write%20it");
    let alone = house
        .say("GET", &path, &[("sec-fetch-site", "same-origin")], None)
        .await;
    assert_eq!(alone.problem(), (401, "unauthenticated".into()));
    for site in ["cross-site", "same-site"] {
        let proof = browser.proof("GET", &path, "");
        let headers = [("placet-proof", proof.as_str()), ("sec-fetch-site", site)];
        let refused = house.say("GET", &path, &headers, None).await;
        assert_eq!(refused.problem(), (403, "cross-site".into()));
    }
    let proof = browser.proof("GET", &path, "");
    let headers = [
        ("placet-proof", proof.as_str()),
        ("sec-fetch-site", "same-origin"),
    ];
    Conversation::open(&house, "GET", &path, &headers, None)
        .await
        .until("STARTED")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_there_is_no_agent_and_the_answer_says_how_to_get_one() {
    let house = House::with_people().await;
    let refused = house.post(LIN, STREAM, json!({"message": "hello"})).await;
    assert_eq!(refused.problem(), (404, "no-model".into()));
    assert!(refused.text.contains("[models.NAME]"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_shown_no_longer_than_its_viewer_may_come_in() {
    let house = house().await;
    let (here, elsewhere) = (house.browser_of(LIN).await, house.browser_of(LIN).await);
    let mut talk = Conversation::says(&house, LIN, json!({"message": "write it"})).await;
    let asked = talk.until("INTERACTION").await;
    let session = format!("{STREAM}?sessionId={}", asked["sessionId"].as_str().unwrap());
    let [here_proof, proof] = [&here, &elsewhere].map(|browser| browser.proof("GET", &session, ""));
    let headers = [("placet-proof", here_proof.as_str())];
    let mut signed_out = Conversation::open(&house, "GET", &session, &headers, None).await;
    let headers = [("placet-proof", proof.as_str())];
    let mut signed_in = Conversation::open(&house, "GET", &session, &headers, None).await;
    signed_out.until("INTERACTION").await;
    signed_in.until("INTERACTION").await;
    house.sign_out(&here).await;
    let id = asked["data"]["requestId"].as_str().unwrap();
    house
        .answer(LIN, id, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    assert_eq!(signed_out.next().await, None);
    signed_in.until("INTERACTION_RESOLVED").await;
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_taken_back_ends_the_conversations_it_watches() {
    let house = house().await;
    let mut talk = Conversation::says(&house, LIN, json!({"message": "write it"})).await;
    let asked = talk.until("INTERACTION").await;
    house.reload(&PEOPLE.replace("token = \"file:LIN\"\n", ""));
    let session = asked["sessionId"].as_str().unwrap();
    let cancel = format!("/v1/sessions/{session}/cancel");
    let ended = house.send(WEI, "POST", &cancel, None);
    assert_eq!(ended.await.status, 204);
    assert_eq!(talk.next().await, None, "there would be more to see");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_masked_in_what_the_agent_does_and_sees() {
    let token = "ghp_AAAAAAAAAAAAAAAAAAAA0123456789abcdef";
    let house = scripted(&format!(
        "[[turns]]\ntext = 'I look.'\ncalls = [{{ tool = 'grep', args = {{ pattern = '{token}' }} }}, \
         {{ tool = 'read', args = {{ path = 'env' }} }}]\n\
         [[turns]]\ntext = 'I found {token}.'\n"
    ))
    .await;
    std::fs::write(house.data.path().join("env"), format!("TOKEN={token}\n")).unwrap();
    let mut talk = Conversation::says(&house, LIN, json!({"message": "look"})).await;
    let mut seen = Vec::new();
    while let Some(event) = talk.next().await {
        assert!(!event.to_string().contains(token), "{event}");
        if let Some(id) = event["data"]["options"]
            .as_array()
            .and(event["data"]["requestId"].as_str())
        {
            let approve = json!({"selectedOptionId": "approve"});
            house.answer(LIN, id, approve).await.ok();
        }
        seen.push(event["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        seen.iter().filter(|kind| *kind == "OBSERVATION").count(),
        2,
        "{seen:?}"
    );
    assert_eq!(seen.last().unwrap(), "COMPLETED");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_agent_reads_nothing_of_a_conversation_by_calling_in_its_session() {
    let house = scripted("[[turns]]\ntext = 'Between us.'\n").await;
    let said = json!({"message": "a secret of ours", "sessionId": "ops:c1"});
    let mut talk = Conversation::says(&house, LIN, said).await;
    talk.until("COMPLETED").await;
    let call = json!({"sessionId": "ops:c1", "tool": "read", "args": {"path": "a"}});
    // Whether it may call there at all is not the question here.
    house.post(OTHER, "/v1/calls", call).await;
    // For this agent the name means a session of its own.
    let session = house.get(OTHER, "/v1/sessions/ops:c1").await;
    assert_eq!(session.ok()["session"]["agent"], "other");
    assert!(!session.text.contains("a secret of ours"), "{}", session.text);

    let bearer = format!("Bearer {OTHER}");
    let path = "/v1/events?sessionId=ops:c1&after=0";
    let headers = [("authorization", bearer.as_str())];
    let stream = house.raw("GET", path, &headers, "".into()).await.into_body();
    // A stream that ends with the server has sent everything that was there before.
    let (rows, _) = tokio::join!(stream.collect(), house.close());
    let rows = String::from_utf8(rows.unwrap().to_bytes().to_vec()).unwrap();
    assert!(rows.starts_with("retry: "), "{rows}");
    for kind in ["messageQueued", "runStarted", "userSaid", "modelTurn", "runEnded"] {
        assert!(!rows.contains(kind), "{rows}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_helpers_question_is_answered_in_the_conversation_it_is_asked_in() {
    let house = scripted(
        "
[[turns]]
on = 'PART'
calls = [{ tool = 'write', args = { path = 'part.txt', content = 'p' } }]
[[turns]]
on = 'hand it on'
calls = [{ tool = 'task', args = { description = 'Write a part', prompt = 'PART' } }]
[[turns]]
text = 'Done.'
",
    )
    .await;
    let mut talk = Conversation::says(&house, LIN, json!({"message": "hand it on"})).await;
    let asked = talk.until("INTERACTION").await;
    assert_ne!(
        asked["sessionId"], asked["data"]["sessionId"],
        "the helper has a session of its own"
    );
    let answer = |session: &Value| json!({"sessionId": session, "requestId": asked["data"]["requestId"], "selectedOptionId": "approve"});
    let elsewhere = house.post(LIN, RESPONSE, answer(&json!("another"))).await;
    assert_eq!(elsewhere.problem(), (404, "no-such-question".into()));
    house.post(LIN, RESPONSE, answer(&asked["sessionId"])).await.ok();
    talk.until("COMPLETED").await;
    assert!(house.data.path().join("part.txt").exists());
    house.close().await;
}
