//! What a browser, and a page of another site in it, can do.

use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::house::House;
use crate::signed_in::{Browser, Key};

const BAD_PROOF: (u16, &str) = (401, "bad-proof");

async fn signed_in(house: &House) -> Browser {
    house.browser_of(&house.token("approver")).await
}

#[tokio::test]
async fn the_printed_link_signs_one_browser_in_once() {
    let house = House::plain().await;
    let (page, code) = house.link.split_once('#').unwrap();
    assert_eq!(page, format!("http://{}/sign-in", house.address));
    let sign_in = async || {
        let key = Key::new();
        let with = json!({"code": code, "key": key.public()});
        (key, house.say("POST", "/v1/sign-in", &[], Some(with)).await)
    };
    let (first, second) = tokio::join!(sign_in(), sign_in());
    let (won, lost) = if first.1.status == 200 {
        (first, second)
    } else {
        (second, first)
    };
    assert_eq!(lost.1.problem(), (401, "code-used".into()));
    let browser = Browser::of(won.0, &won.1);
    let me = house.browse(&browser, "GET", "/v1/me", None).await.ok();
    assert_eq!(me["role"], "admin");
    assert_eq!(sign_in().await.1.problem(), (401, "code-used".into()));
    house.close().await;
}

#[tokio::test]
async fn without_a_key_nobody_is_signed_in_and_the_link_stays_good() {
    let house = House::plain().await;
    let (_, code) = house.link.split_once('#').unwrap();
    let key = Key::new().public();
    let token = house.token("admin");
    for with in [
        json!({"code": code}),
        json!({"token": token}),
        json!({"code": code, "key": ""}),
        json!({"code": code, "key": format!("02{}", &key[2..])}),
        json!({"code": code, "key": &key[..128]}),
        json!({"code": code, "token": token, "key": key}),
        json!({"key": key}),
    ] {
        let refused = house.say("POST", "/v1/sign-in", &[], Some(with)).await;
        assert_eq!(refused.problem(), (400, "bad-request".into()));
    }
    let with = json!({"code": code, "key": key});
    assert_eq!(
        house.say("POST", "/v1/sign-in", &[], Some(with)).await.status,
        200
    );
    house.close().await;
}

/// Whatever a page on another port comes by, it is not the key.
#[tokio::test]
async fn a_ticket_without_its_key_reads_nothing_and_decides_nothing() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let browser = signed_in(&house).await;
    let own = format!("http://{}", house.address);
    let path = format!("/v1/interactions/{id}/answer");
    let approve = || Some(json!({"selectedOptionId": "approve"}));
    let unauthenticated = (401, "unauthenticated".to_owned());
    let cookie = format!("placet={}", browser.ticket);
    let bearer = format!("Bearer {}", browser.ticket);
    for (name, value) in [("cookie", &cookie), ("authorization", &bearer)] {
        let headers = [(name, value.as_str()), ("origin", own.as_str())];
        for path in [
            "/v1/me",
            "/v1/interactions",
            "/v1/events",
            "/api/agent/chat/react/stream",
        ] {
            let refused = house.say("GET", path, &headers, None).await;
            assert_eq!(refused.problem(), unauthenticated, "{name} {path}");
        }
        let refused = house.say("POST", &path, &headers, approve()).await;
        assert_eq!(refused.problem(), unauthenticated, "{name}");
    }
    let thief = Browser {
        key: Key::new(),
        ticket: browser.ticket.clone(),
        challenge: browser.challenge.clone(),
    };
    let mine = browser.proof("POST", &path, &approve().unwrap().to_string());
    let named = mine.rsplit_once(' ').unwrap().0.to_owned();
    let other_ids = mine.replacen(&browser.challenge, &format!("{} 0", browser.challenge), 1);
    for proof in [
        thief.proof("POST", &path, &approve().unwrap().to_string()),
        browser.ticket.clone(),
        named.clone(),
        format!("{named} "),
        format!("{named} {}", "0".repeat(128)),
        format!("{mine} more"),
        other_ids,
        String::new(),
    ] {
        let refused = house.show(&proof, "POST", &path, approve()).await;
        assert_eq!(
            refused.problem(),
            (BAD_PROOF.0, BAD_PROOF.1.to_owned()),
            "{proof}"
        );
    }
    let page = house.say("GET", "/errors/bad-proof", &[], None).await;
    assert_eq!(page.status, 200);
    // The proof of the real page, which was not used up by any of that.
    let answered = house.show(&mine, "POST", &path, approve()).await;
    assert_eq!(answered.ok()["status"], "decided");
    house.close().await;
}

#[tokio::test]
async fn a_proof_is_good_for_one_request_and_no_other() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let browser = signed_in(&house).await;
    let path = format!("/v1/interactions/{id}/answer");
    let reject = json!({"selectedOptionId": "reject", "feedback": "no"});
    let approve = json!({"selectedOptionId": "approve"});
    let refused = async |proof: &str, method: &str, path: &str, body: Option<Value>| {
        let answer = house.show(proof, method, path, body).await;
        assert_eq!(
            answer.problem(),
            (BAD_PROOF.0, BAD_PROOF.1.to_owned()),
            "{method} {path}"
        );
        assert_eq!(answer.headers["placet-challenge"], browser.challenge.as_str());
    };
    let proof = |method: &str, path: &str| browser.proof(method, path, "");
    refused(&proof("GET", "/v1/interactions"), "GET", "/v1/me", None).await;
    refused(&proof("GET", "/v1/me"), "GET", "/v1/me?locale=zh", None).await;
    refused(&proof("GET", "/v1/me?locale=en"), "GET", "/v1/me?locale=zh", None).await;
    refused(&proof("GET", "/v1/me"), "DELETE", "/v1/me", None).await;
    refused(&proof("POST", &path), "POST", &path, Some(approve.clone())).await;
    refused(&proof("GET", &path), "POST", &path, Some(approve.clone())).await;
    let for_rejecting = browser.proof("POST", &path, &reject.to_string());
    refused(&for_rejecting, "POST", &path, Some(approve)).await;
    let pending = house.get(&agent, "/v1/calls/c1").await.ok();
    assert_eq!(pending["status"], "pending");

    let once = proof("GET", "/v1/me");
    assert_eq!(house.show(&once, "GET", "/v1/me", None).await.status, 200);
    refused(&once, "GET", "/v1/me", None).await;
    assert_eq!(
        house
            .show(&for_rejecting, "POST", &path, Some(reject.clone()))
            .await
            .status,
        200
    );
    refused(&for_rejecting, "POST", &path, Some(reject)).await;
    house.close().await;
}

#[tokio::test]
async fn streams_and_files_need_a_proof_of_their_own() {
    let house = House::plain().await;
    let browser = house.browser_of(&house.token("admin")).await;
    let open = async |path: &str, proof: &str| {
        let headers = [("placet-proof", proof), ("accept", "text/event-stream")];
        house.raw("GET", path, &headers, "".into()).await
    };
    for path in ["/v1/events?after=0", "/v1/audit/export?format=csv"] {
        let proof = browser.proof("GET", path, "");
        let mut opened = open(path, &proof).await;
        assert_eq!(opened.status(), 200, "{path}");
        assert!(opened.body_mut().frame().await.is_some(), "{path}");
        assert_eq!(
            open(path, &proof).await.status(),
            401,
            "{path} again, with the same proof"
        );
        assert_eq!(open(path, &browser.ticket).await.status(), 401, "{path}");
        let other = browser.proof("GET", "/v1/me", "");
        assert_eq!(open(path, &other).await.status(), 401, "{path}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_proof_from_before_a_restart_is_too_old_and_a_new_one_is_made_from_the_new_challenge() {
    let house = House::plain().await;
    let mut browser = signed_in(&house).await;
    let unused = browser.proof("GET", "/v1/me", "");
    let house = House::open(house.close().await, "").await;
    let refused = house.show(&unused, "GET", "/v1/me", None).await;
    assert_eq!(refused.problem(), (BAD_PROOF.0, BAD_PROOF.1.to_owned()));
    browser.challenge = refused.headers["placet-challenge"].to_str().unwrap().to_owned();
    let again = house.browse(&browser, "GET", "/v1/me", None).await;
    assert_eq!(again.status, 200, "the ticket outlives the restart");
    assert_eq!(again.headers["placet-challenge"], browser.challenge.as_str());
    house.close().await;
}

#[tokio::test]
async fn a_token_counts_by_itself_whatever_else_is_sent() {
    let house = House::plain().await;
    let bearer = format!("Bearer {}", house.token("admin"));
    let headers = [("authorization", bearer.as_str()), ("placet-proof", "nonsense")];
    assert_eq!(house.say("GET", "/v1/me", &headers, None).await.status, 200);
    // A proxy in front may ask browsers for a password of its own.
    let browser = signed_in(&house).await;
    let proof = browser.proof("GET", "/v1/me", "");
    let headers = [
        ("authorization", "Basic bGluOmxpbg=="),
        ("placet-proof", proof.as_str()),
    ];
    assert_eq!(house.say("GET", "/v1/me", &headers, None).await.status, 200);
    house.close().await;
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_a_page_for_browsers_and_a_problem_for_programs() {
    let house = House::plain().await;
    let browser = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let page = house.say("GET", "/no/such/page", &browser, None).await;
    assert_eq!(page.status, 404);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert!(page.text.contains("/app/main.js"), "{}", page.text);
    let tag = page.headers["etag"].to_str().unwrap();
    let again = [browser[0], ("if-none-match", tag)];
    let again = house.say("GET", "/no/such/page", &again, None).await;
    assert_eq!((again.status, &again.text), (404, &page.text));
    let not_found = (404, "not-found".into());
    let program = house.say("GET", "/no/such/page", &[], None).await;
    assert_eq!(program.problem(), not_found);
    for (method, path) in [
        ("GET", "/v1/nothing"),
        ("GET", "/app/nothing.js"),
        ("POST", "/nothing"),
    ] {
        let answer = house.say(method, path, &browser, None).await;
        assert_eq!(answer.problem(), not_found, "{method} {path}");
    }
    house.close().await;
}

#[tokio::test]
async fn an_agents_token_and_a_guess_sign_nobody_in_and_guessing_is_slowed_down() {
    let house = House::plain().await;
    let key = Key::new().public();
    let agent = json!({"token": house.token("agent"), "key": key});
    assert_eq!(
        house.say("POST", "/v1/sign-in", &[], Some(agent)).await.problem(),
        (403, "forbidden".into())
    );
    let mut statuses = Vec::new();
    for number in 0..30 {
        let guess = json!({"token": format!("placet_admin_{number:064}"), "key": key});
        statuses.push(house.say("POST", "/v1/sign-in", &[], Some(guess)).await.status);
    }
    assert_eq!(statuses[0], 401);
    assert_eq!(statuses[29], 429);
    // A client with a token is not kept out by clients that guess.
    assert_eq!(house.get(&house.token("admin"), "/v1/me").await.status, 200);
    house.close().await;
}

#[tokio::test]
async fn whoever_guesses_keeps_nobody_at_the_same_address_from_signing_in() {
    let house = House::plain().await;
    let mut last = 0;
    for _ in 0..25 {
        last = house.get("placet_admin_of_an_older_day", "/v1/me").await.status;
    }
    assert_eq!(last, 429, "the address has used its guesses up");
    let (_, code) = house.link.split_once('#').unwrap();
    let key = Key::new().public();
    for with in [
        json!({"token": house.token("approver"), "key": key}),
        json!({"code": code, "key": key}),
    ] {
        let signed_in = house.say("POST", "/v1/sign-in", &[], Some(with)).await;
        assert_eq!(signed_in.status, 200, "{}", signed_in.text);
    }
    let guess = json!({"token": "placet_admin_of_an_older_day", "key": key});
    let guessed = house.say("POST", "/v1/sign-in", &[], Some(guess)).await;
    assert_eq!(guessed.problem(), (429, "too-many-requests".into()));
    house.close().await;
}

#[tokio::test]
async fn a_page_of_another_site_cannot_act_for_whoever_is_signed_in() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let browser = signed_in(&house).await;
    let path = format!("/v1/interactions/{id}/answer");
    let answer = || Some(json!({"selectedOptionId": "approve"}));
    let proof = || browser.proof("POST", &path, &answer().unwrap().to_string());
    let own = format!("http://{}", house.address);
    let port = house.address.port();
    let foreign = [
        ("origin", "http://evil.example".to_owned()),
        ("origin", "null".to_owned()),
        ("origin", format!("https://{}", house.address)),
        ("origin", format!("http://127.0.0.1:{}", port.wrapping_add(1))),
        ("origin", format!("http://{}.evil.example", house.address)),
        ("sec-fetch-site", "cross-site".to_owned()),
        ("sec-fetch-site", "same-site".to_owned()),
        ("x-nothing", String::new()),
    ];
    for (name, value) in &foreign {
        let proof = proof();
        let headers = [("placet-proof", proof.as_str()), (*name, value.as_str())];
        let refused = house.say("POST", &path, &headers, answer()).await;
        assert_eq!(refused.problem(), (403, "cross-site".into()), "{name}: {value}");
    }
    let proof = proof();
    let form = [
        ("placet-proof", proof.as_str()),
        ("origin", own.as_str()),
        ("content-type", "text/plain"),
    ];
    assert_eq!(
        house.say("POST", &path, &form, answer()).await.problem(),
        (415, "wrong-content-type".into())
    );
    let foreign_sign_in = [("origin", "http://evil.example")];
    let tried = house
        .say(
            "POST",
            "/v1/sign-in",
            &foreign_sign_in,
            Some(json!({"token": "x"})),
        )
        .await;
    assert_eq!(tried.problem(), (403, "cross-site".into()));
    let answered = house.browse(&browser, "POST", &path, answer()).await;
    assert_eq!(answered.ok()["status"], "decided");
    house.close().await;
}

/// DNS rebinding: the page's own name points at this machine.
#[tokio::test]
async fn a_request_for_another_name_is_refused_before_anything_is_looked_at() {
    let house = House::plain().await;
    let token = format!("Bearer {}", house.token("admin"));
    let port = house.address.port();
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        &format!("127.0.0.1.evil.example:{port}"),
    ] {
        for path in ["/", "/v1/me", "/v1/interactions", "/openapi.json", "/app/x.js"] {
            let headers = [("host", host), ("authorization", token.as_str())];
            let refused = house.say("GET", path, &headers, None).await;
            assert_eq!(refused.problem(), (421, "wrong-host".into()), "{host} {path}");
        }
    }
    let local = format!("localhost:{port}");
    assert_eq!(
        house
            .say(
                "GET",
                "/v1/me",
                &[("host", &local), ("authorization", &token)],
                None
            )
            .await
            .status,
        200
    );
    house.close().await;
}

#[tokio::test]
async fn a_ticket_dies_with_sign_out_and_a_forged_one_never_lived() {
    let house = House::plain().await;
    let mut browser = signed_in(&house).await;
    let genuine = browser.ticket.clone();
    let me =
        async |house: &House, browser: &Browser| house.browse(browser, "GET", "/v1/me", None).await.status;
    assert_eq!(me(&house, &browser).await, 200);
    let (signed, mac) = genuine.rsplit_once('.').unwrap();
    let last = if mac.ends_with('0') { '1' } else { '0' };
    let parts: Vec<&str> = genuine.split('.').collect();
    let with = |at: usize, other: &str| {
        let mut parts = parts.clone();
        parts[at] = other;
        parts.join(".")
    };
    let key = Key::new().public();
    for forged in [
        format!("{signed}.{}{last}", &mac[..mac.len() - 1]),
        with(2, "9999999999999"),
        with(3, "00"),
        with(4, &key),
    ] {
        browser.ticket = forged;
        assert_eq!(me(&house, &browser).await, 401, "{}", browser.ticket);
    }
    browser.ticket = genuine;
    house.sign_out(&browser).await;
    assert_eq!(me(&house, &browser).await, 401);

    let house = House::open(house.close().await, "").await;
    browser.challenge = house.browser_of(&house.token("admin")).await.challenge;
    assert_eq!(me(&house, &browser).await, 401, "a restart signs nobody in again");
    house.close().await;
}

#[tokio::test]
async fn a_new_token_signs_its_browsers_out() {
    let house = House::plain().await;
    let mut browser = signed_in(&house).await;
    let data = house.close().await;
    std::fs::remove_file(data.path().join("tokens.toml")).unwrap();
    let house = House::open(data, "").await;
    browser.challenge = signed_in(&house).await.challenge;
    let refused = house.browse(&browser, "GET", "/v1/me", None).await;
    assert_eq!(refused.problem(), (401, "unauthenticated".into()));
    house.close().await;
}

#[tokio::test]
async fn pages_are_strict_and_only_what_they_should_be() {
    let house = House::plain().await;
    for path in [
        "/",
        "/sign-in",
        "/q/int_1",
        "/sessions",
        "/audit",
        "/policy",
        "/grants",
        "/chat",
        "/reference",
        "/errors/expired",
    ] {
        let page = house.say("GET", path, &[], None).await;
        assert_eq!(
            (page.status, page.headers["content-type"].to_str().unwrap()),
            (200, "text/html; charset=utf-8"),
            "{path}"
        );
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        for part in [
            "default-src 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(
            !page.text.contains("<script>") && !page.text.contains("style="),
            "{path} has nothing inline"
        );
    }
    for path in [
        "/app/../Cargo.toml",
        "/app/..%2f..%2fCargo.toml",
        "/app/%2e%2e/index.html",
        "/errors/..%2f..%2fREADME",
        "/v2",
        "/app/none.js",
    ] {
        assert_eq!(house.say("GET", path, &[], None).await.problem().0, 404, "{path}");
    }
    assert_eq!(
        house.say("PUT", "/v1/calls", &[], None).await.problem(),
        (405, "method-not-allowed".into())
    );
    let index = house.say("GET", "/", &[], None).await;
    let tag = index.headers["etag"].to_str().unwrap();
    assert_eq!(
        house
            .say("GET", "/", &[("if-none-match", tag)], None)
            .await
            .status,
        304
    );
    house.close().await;
}

#[tokio::test]
async fn a_problem_is_explained_in_the_language_the_caller_accepts() {
    let house = House::plain().await;
    for (language, title) in [
        ("zh-CN,zh;q=0.9", "未登录"),
        ("en", "Not authenticated"),
        ("fr", "Not authenticated"),
    ] {
        let headers = [("accept-language", language)];
        let refused = house.say("GET", "/v1/me", &headers, None).await;
        assert_eq!(refused.problem(), (401, "unauthenticated".into()));
        assert_eq!(refused.json()["title"], title, "{language}");
    }
    house.close().await;
}

/// Older versions kept it in a file.
#[tokio::test]
async fn who_signed_out_of_an_older_version_stays_signed_out() {
    let house = House::plain().await;
    let (gone, stays) = (signed_in(&house).await, signed_in(&house).await);
    let data = house.close().await;
    let file = data.path().join("signed-out");
    let mut fields = gone.ticket.split('.').skip(2);
    let (ends, nonce) = (fields.next().unwrap(), fields.next().unwrap());
    std::fs::write(&file, format!("{nonce} {ends}\n")).unwrap();
    let mut data = data;
    for _ in 0..2 {
        let house = House::open(data, "").await;
        assert!(!file.exists(), "it is in the store now");
        for (browser, status) in [(&gone, 401), (&stays, 200)] {
            let first = house.browse(browser, "GET", "/v1/me", None).await;
            let again = Browser {
                key: browser.key.clone(),
                ticket: browser.ticket.clone(),
                challenge: first.headers["placet-challenge"].to_str().unwrap().to_owned(),
            };
            assert_eq!(house.browse(&again, "GET", "/v1/me", None).await.status, status);
        }
        data = house.close().await;
    }
}
