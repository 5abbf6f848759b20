//! What a browser, and a page of another site in it, can do.

use serde_json::json;

use crate::house::{Answer, House};

fn cookie(answer: &Answer) -> String {
    assert_eq!(answer.status, 204, "{}", answer.text);
    let set = answer.headers["set-cookie"].to_str().unwrap();
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(set.contains(attribute), "{set}");
    }
    set.split(';').next().unwrap().to_owned()
}

async fn signed_in(house: &House) -> String {
    let token = house.token("approver");
    cookie(
        &house
            .say("POST", "/v1/sign-in", &[], Some(json!({"token": token})))
            .await,
    )
}

#[tokio::test]
async fn the_printed_link_signs_one_browser_in_once() {
    let house = House::plain().await;
    let (page, code) = house.link.split_once('#').unwrap();
    assert_eq!(page, format!("http://{}/sign-in", house.address));
    let sign_in = async || {
        house
            .say("POST", "/v1/sign-in", &[], Some(json!({"code": code})))
            .await
    };
    let (first, second) = tokio::join!(sign_in(), sign_in());
    let (won, lost) = if first.status == 204 {
        (first, second)
    } else {
        (second, first)
    };
    assert_eq!(lost.problem(), (401, "code-used".into()));
    let cookie = cookie(&won);
    let me = house
        .say("GET", "/v1/me", &[("cookie", &cookie)], None)
        .await
        .ok();
    assert_eq!(me["role"], "admin");
    assert_eq!(sign_in().await.problem(), (401, "code-used".into()));
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
    let agent = json!({"token": house.token("agent")});
    assert_eq!(
        house.say("POST", "/v1/sign-in", &[], Some(agent)).await.problem(),
        (403, "forbidden".into())
    );
    let mut statuses = Vec::new();
    for number in 0..30 {
        let guess = json!({"token": format!("placet_admin_{number:064}")});
        statuses.push(house.say("POST", "/v1/sign-in", &[], Some(guess)).await.status);
    }
    assert_eq!(statuses[0], 401);
    assert_eq!(statuses[29], 429);
    // Whoever has a token is not kept out by those who guess.
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
    for proof in [json!({"token": house.token("approver")}), json!({"code": code})] {
        let signed_in = house.say("POST", "/v1/sign-in", &[], Some(proof)).await;
        assert_eq!(signed_in.status, 204, "{}", signed_in.text);
    }
    let guess = json!({"token": "placet_admin_of_an_older_day"});
    let guessed = house.say("POST", "/v1/sign-in", &[], Some(guess)).await;
    assert_eq!(guessed.problem(), (429, "too-many-requests".into()));
    house.close().await;
}

#[tokio::test]
async fn a_page_of_another_site_cannot_act_for_whoever_is_signed_in() {
    let house = House::plain().await;
    let agent = house.token("agent");
    let id = house.ask(&agent, "c1", "bash", json!({"command": "make"})).await;
    let cookie = signed_in(&house).await;
    let path = format!("/v1/interactions/{id}/answer");
    let answer = || Some(json!({"selectedOptionId": "approve"}));
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
        let headers = [("cookie", cookie.as_str()), (*name, value.as_str())];
        let refused = house.say("POST", &path, &headers, answer()).await;
        assert_eq!(refused.problem(), (403, "cross-site".into()), "{name}: {value}");
    }
    let form = [
        ("cookie", cookie.as_str()),
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
    let headers = [("cookie", cookie.as_str()), ("origin", own.as_str())];
    assert_eq!(
        house.say("POST", &path, &headers, answer()).await.ok()["status"],
        "decided"
    );
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
async fn a_cookie_dies_with_sign_out_and_a_forged_one_never_lived() {
    let house = House::plain().await;
    let cookie = signed_in(&house).await;
    let me = async |cookie: &str| {
        house
            .say("GET", "/v1/me", &[("cookie", cookie)], None)
            .await
            .status
    };
    assert_eq!(me(&cookie).await, 200);
    let mut forged = cookie.clone();
    let last = forged.pop().unwrap();
    forged.push(if last == '0' { '1' } else { '0' });
    assert_eq!(me(&forged).await, 401);
    let parts: Vec<&str> = cookie.split('.').collect();
    let later = format!(
        "{}.{}.9999999999999.{}.{}",
        parts[0], parts[1], parts[3], parts[4]
    );
    assert_eq!(me(&later).await, 401, "its end is signed, too");
    assert_eq!(
        me(&format!("{cookie}; placet=x")).await,
        401,
        "two cookies are none"
    );

    let own = format!("http://{}", house.address);
    let out = house
        .say(
            "POST",
            "/v1/sign-out",
            &[("cookie", &cookie), ("origin", &own)],
            None,
        )
        .await;
    assert_eq!(out.status, 204);
    assert!(
        out.headers["set-cookie"]
            .to_str()
            .unwrap()
            .starts_with("placet=; ")
    );
    assert_eq!(me(&cookie).await, 401);

    let house = House::open(house.close().await, "").await;
    let again = house.say("GET", "/v1/me", &[("cookie", &cookie)], None).await;
    assert_eq!(again.status, 401, "a restart signs nobody in again");
    house.close().await;
}

#[tokio::test]
async fn a_restart_signs_nobody_out_and_a_new_token_does() {
    let house = House::plain().await;
    let cookie = signed_in(&house).await;
    let data = house.close().await;
    let house = House::open(data, "").await;
    assert_eq!(
        house
            .say("GET", "/v1/me", &[("cookie", &cookie)], None)
            .await
            .status,
        200
    );
    let data = house.close().await;
    std::fs::remove_file(data.path().join("tokens.toml")).unwrap();
    let house = House::open(data, "").await;
    assert_eq!(
        house
            .say("GET", "/v1/me", &[("cookie", &cookie)], None)
            .await
            .status,
        401
    );
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
