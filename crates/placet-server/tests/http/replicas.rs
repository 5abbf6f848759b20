//! Several servers on one database: what is done at one holds at all of them.

use http_body_util::Full;
use hyper::Request;
use placet_store::Location;
use serde_json::json;
use tokio::task::JoinSet;

use crate::database;
use crate::events::Stream;
use crate::house::{Answer, House, LIN, OTHER, PEOPLE, WEI};
use crate::interaction_page::api_key;
use crate::signed_in::{Browser, Key};

#[tokio::test]
async fn a_call_posted_at_one_server_is_answered_at_a_second_and_claimed_at_a_third() {
    let url = database::database();
    let (one, two, three) = (
        House::replica(&url).await,
        House::replica(&url).await,
        House::replica(&url).await,
    );
    let question = one.ask(OTHER, "c1", "pay", json!({"amount": 5})).await;
    // The third server waits, and nothing is asked of it meanwhile: the database wakes it.
    let waiting = three.get(OTHER, "/v1/calls/c1?wait=30");
    let answering = async {
        let shown = two.get(LIN, &format!("/v1/interactions/{question}")).await.ok();
        assert_eq!(shown["status"], "pending", "{shown}");
        let answer = json!({"selectedOptionId": "approve"});
        two.answer(LIN, &question, answer.clone()).await.ok();
        // Late at another server.
        let late = one.answer(LIN, &question, answer).await;
        assert_eq!(late.status, 409, "{}", late.text);
    };
    let (call, ()) = tokio::join!(waiting, answering);
    assert_eq!(call.ok()["status"], "approved");

    // All want it, and one gets it.
    let (first, second, third) = tokio::join!(claim(&one), claim(&two), claim(&three));
    let mut statuses = [first, second, third];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409]);

    let result = json!({"ok": true, "output": "paid"});
    assert_eq!(two.post(OTHER, "/v1/calls/c1/result", result).await.status, 204);
    assert_eq!(
        one.get(OTHER, "/v1/calls/c1").await.ok()["grant"]["state"],
        "done"
    );
    let verified = three.get(WEI, "/v1/audit/verify").await.ok();
    assert_eq!(verified["ok"], true, "{verified}");
    for house in [one, two, three] {
        house.close().await;
    }
}

async fn claim(house: &House) -> u16 {
    house.send(OTHER, "POST", "/v1/calls/c1/claim", None).await.status
}

/// At one server, which writes the rivals' claims as one group, and at several.
#[tokio::test]
async fn however_many_rivals_claim_a_call_one_may_run_it() {
    let url = database::database();
    let in_a_file = [House::with_people().await];
    let on_a_database = [House::replica(&url).await, House::replica(&url).await];
    for houses in [&in_a_file[..], &on_a_database[..1], &on_a_database[..]] {
        for round in 0..4 {
            let id = format!("c{}-{round}", houses[0].address.port() as usize + houses.len());
            let question = houses[0].ask(OTHER, &id, "pay", json!({"to": id})).await;
            let approve = json!({"selectedOptionId": "approve"});
            houses[0].answer(LIN, &question, approve).await.ok();
            let path = format!("/v1/calls/{id}/claim");
            let mut rivals = JoinSet::new();
            for rival in 0..32 {
                let house = &houses[rival % houses.len()];
                let (mut connection, path) = (house.connect().await, path.clone());
                let host = house.address.to_string();
                rivals.spawn(async move {
                    let request = Request::post(path)
                        .header("host", host)
                        .header("authorization", format!("Bearer {OTHER}"))
                        .body(Full::default())
                        .unwrap();
                    connection.send_request(request).await.unwrap().status().as_u16()
                });
            }
            let mut statuses = rivals.join_all().await;
            statuses.sort_unstable();
            assert_eq!((statuses[0], &statuses[1..]), (200, &[409; 31][..]));
        }
        let verified = houses[0].get(WEI, "/v1/audit/verify").await.ok();
        assert_eq!(verified["ok"], true, "{verified}");
    }
    for house in in_a_file.into_iter().chain(on_a_database) {
        house.close().await;
    }
}

#[tokio::test]
async fn a_stream_that_goes_on_at_another_server_misses_nothing_and_repeats_nothing() {
    let url = database::database();
    let (one, two) = (House::replica(&url).await, House::replica(&url).await);
    let mut stream = Stream::open(&one, OTHER, "", Some(0)).await;
    one.ask(OTHER, "c1", "pay", json!({"amount": 1})).await;
    two.ask(OTHER, "c2", "pay", json!({"amount": 2})).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(stream.next().await.unwrap()["id"].as_u64().unwrap());
    }
    let mut stream = Stream::open(&two, OTHER, "", Some(stream.last_id)).await;
    one.ask(OTHER, "c3", "pay", json!({"amount": 3})).await;
    while seen.len() < 6 {
        seen.push(stream.next().await.unwrap()["id"].as_u64().unwrap());
    }
    let mut sorted = seen.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted, seen);
    let mut whole = Stream::open(&one, OTHER, "", Some(0)).await;
    for id in seen {
        assert_eq!(whole.next().await.unwrap()["id"], id);
    }
    one.close().await;
    two.close().await;
}

#[tokio::test]
async fn a_question_outlives_the_server_it_was_asked_at() {
    let url = database::database();
    let first = House::replica(&url).await;
    let question = first.ask(OTHER, "c1", "pay", json!({"amount": 5})).await;
    let second = House::replica(&url).await;
    first.close().await;
    second
        .answer(LIN, &question, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    second.close().await;
    let third = House::replica(&url).await;
    assert_eq!(third.get(OTHER, "/v1/calls/c1").await.ok()["status"], "approved");
    third.send(OTHER, "POST", "/v1/calls/c1/claim", None).await.ok();
    third.close().await;
    let store = placet_store::Store::look_at(&Location::parse(&url).unwrap())
        .await
        .unwrap();
    assert_eq!(store.verify(None).await.unwrap().findings, []);
}

async fn sign_in_with(house: &House, code: &str) -> (Key, Answer) {
    let key = Key::new();
    let with = json!({"code": code, "key": key.public()});
    (key, house.say("POST", "/v1/sign-in", &[], Some(with)).await)
}

#[tokio::test]
async fn a_browser_that_signed_in_at_one_server_is_signed_in_at_another_and_a_proof_counts_once_at_both() {
    let url = database::database();
    let (one, two) = (House::replica(&url).await, House::replica(&url).await);
    let browser = one.browser_of(LIN).await;
    // A load balancer sends every request elsewhere, and no one signs again.
    for house in [&two, &one, &two] {
        let me = house.browse(&browser, "GET", "/v1/me", None).await;
        assert_eq!(me.headers["placet-challenge"], browser.challenge.as_str());
        assert_eq!(me.ok()["person"], "lin");
    }
    let proof = browser.proof("GET", "/v1/me", "");
    assert_eq!(one.show(&proof, "GET", "/v1/me", None).await.status, 200);
    for house in [&two, &one] {
        let replayed = house.show(&proof, "GET", "/v1/me", None).await;
        assert_eq!(replayed.problem(), (401, "bad-proof".into()));
    }
    // At both at once, one of them gets it.
    for _ in 0..8 {
        let proof = browser.proof("GET", "/v1/me", "");
        let (first, second) = tokio::join!(
            one.show(&proof, "GET", "/v1/me", None),
            two.show(&proof, "GET", "/v1/me", None)
        );
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401]);
    }
    one.close().await;
    two.close().await;
}

#[tokio::test]
async fn a_browser_that_signs_out_at_one_server_is_signed_out_at_all_and_its_streams_end() {
    let url = database::database();
    let (one, two) = (House::replica(&url).await, House::replica(&url).await);
    let (gone, stays) = (one.browser_of(LIN).await, one.browser_of(LIN).await);
    let mut ended = Stream::of_browser(&two, &gone).await;
    let mut kept = Stream::of_browser(&two, &stays).await;
    one.sign_out(&gone).await;
    // Nothing is asked of the second server, and nothing is stored that the stream would show.
    assert_eq!(ended.next().await, None);
    for house in [&two, &one] {
        let refused = house.browse(&gone, "GET", "/v1/me", None).await;
        assert_eq!(refused.problem(), (401, "unauthenticated".into()));
    }
    let later = House::replica(&url).await;
    let refused = later.browse(&gone, "GET", "/v1/me", None).await;
    assert_eq!(refused.problem(), (401, "unauthenticated".into()));
    one.ask(OTHER, "c1", "pay", json!({"amount": 5})).await;
    assert_eq!(kept.next().await.unwrap()["type"], "asked");
    for house in [one, two, later] {
        house.close().await;
    }
}

#[tokio::test]
async fn a_one_time_link_that_one_server_printed_signs_in_once_at_any() {
    let url = database::database();
    let (one, two) = (House::replica(&url).await, House::replica(&url).await);
    let code = one.link.split_once('#').unwrap().1.to_owned();
    let (first, second) = tokio::join!(sign_in_with(&one, &code), sign_in_with(&two, &code));
    let (won, lost) = if first.1.status == 200 {
        (first, second)
    } else {
        (second, first)
    };
    assert_eq!(lost.1.problem(), (401, "code-used".into()));
    let browser = Browser::of(won.0, &won.1);
    for house in [&one, &two] {
        let me = house.browse(&browser, "GET", "/v1/me", None).await.ok();
        assert_eq!(me["role"], "admin");
        assert_eq!(
            sign_in_with(house, &code).await.1.problem(),
            (401, "code-used".into())
        );
    }
    one.close().await;
    two.close().await;
}

#[tokio::test]
async fn tokens_that_were_made_are_the_same_at_every_server_and_the_database_does_not_show_them() {
    let url = database::database();
    let one = House::replica(&url).await;
    let two = House::replica(&url).await;
    for role in ["agent", "approver", "admin"] {
        assert_eq!(one.token(role), two.token(role));
    }
    let me = two.get(&one.token("admin"), "/v1/me").await.ok();
    assert_eq!(me["role"], "admin");
    // A copy in a data folder of its own changes nothing for the others.
    let data = two.close().await;
    std::fs::write(
        data.path().join("tokens.toml"),
        "agent = \"placet_agent_of_an_older_day\"\napprover = \"placet_approver_of_an_older_day\"\nadmin = \"placet_admin_of_an_older_day\"\n",
    )
    .unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(data.path().join("tokens.toml"), private).unwrap();
    let two = House::open_on(data, PEOPLE, Location::parse(&url).unwrap()).await;
    assert_eq!(two.token("admin"), one.token("admin"));
    two.reload(PEOPLE);
    assert_eq!(two.get(&one.token("agent"), "/v1/calls/none").await.status, 404);
    assert_eq!(
        two.get("placet_admin_of_an_older_day", "/v1/me").await.status,
        401
    );

    let code = one.link.split_once('#').unwrap().1.to_owned();
    let browser = one.browser_of(LIN).await;
    one.browse(&browser, "GET", "/v1/me", None).await.ok();
    let stored = everything_in(&url).await;
    assert!(stored.contains("sealed_v1_"), "{stored}");
    let secrets = ["agent", "approver", "admin"].map(|role| one.token(role));
    for secret in secrets.iter().chain([&code, &browser.ticket]) {
        assert!(!stored.contains(secret.as_str()), "{secret} is in {stored}");
        // Not as a plain digest, either: one could try tokens on it without asking a server.
        let digest = ring::digest::digest(&ring::digest::SHA256, secret.as_bytes());
        assert!(!stored.contains(&hex::encode(digest.as_ref())), "{stored}");
    }
    // What names the credential in a ticket is made from its token.
    let credential = browser.ticket.split('.').nth(1).unwrap();
    assert!(!stored.contains(credential), "{stored}");
    one.close().await;
    two.close().await;
}

/// What a reader of the database sees of the values that servers share.
async fn everything_in(url: &str) -> String {
    use placet_core::shared::SharedKind::{Challenge, Code, Proof, SealingKey, SignedOut, Token, Tool};
    let store = placet_store::Store::look_at(&Location::parse(url).unwrap())
        .await
        .unwrap();
    let mut kinds = Vec::new();
    for kind in [Challenge, Code, Proof, SealingKey, SignedOut, Token, Tool] {
        let all = store
            .look(|stored| stored.shared_of(&kind).cloned())
            .await
            .unwrap();
        kinds.push(format!("{kind:?}: {all:?}"));
    }
    kinds.join("\n")
}

#[tokio::test]
async fn a_secret_that_was_answered_at_one_server_is_opened_at_another() {
    let url = database::database();
    let (one, two) = (House::replica(&url).await, House::replica(&url).await);
    let agent = one.token("agent");
    let asked = one.post(&agent, "/v1/interactions", api_key("job")).await.ok();
    let path = format!("/v1/interactions/{}", asked["requestId"].as_str().unwrap());
    let answer = json!({"selectedOptionId": "provide", "feedback": "quiet river stone 4711"});
    one.post(WEI, &format!("{path}/answer"), answer).await.ok();
    for house in [&one, &two] {
        let told = house.get(&agent, &path).await.ok();
        assert_eq!(told["resolution"]["feedback"], "quiet river stone 4711", "{told}");
    }
    one.close().await;
    two.close().await;
}
