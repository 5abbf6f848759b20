//! The sentences of the page, as a browser fetches them.

use serde_json::json;

use crate::house::House;

#[tokio::test]
async fn the_page_gets_its_sentences_in_one_language_and_keeps_them() {
    let house = House::plain().await;
    let fetch = async |path: &str, headers: &[(&str, &str)]| house.say("GET", path, headers, None).await;
    let chinese = fetch("/app/messages/zh.json", &[]).await;
    let body = chinese.ok();
    assert_eq!((&body["locale"], &body["tag"]), (&json!("zh"), &json!("zh-CN")));
    assert_eq!(body["languages"][0], json!({"locale": "en", "name": "English"}));
    assert_eq!(body["sentences"]["inbox.count"], "{n:number} 个待审批");
    assert_eq!(body["sentences"]["format.separator"], "、", "of another table");
    assert_eq!(
        body["sentences"]["refusal.too_late"],
        json!(null),
        "not the page's"
    );
    let tag = chinese.headers["etag"].to_str().unwrap();
    let again = fetch("/app/messages/zh.json", &[("if-none-match", tag)]).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    for none in ["fr.json", "zh", "zh.js", "..json"] {
        let path = format!("/app/messages/{none}");
        assert_eq!(
            fetch(&path, &[]).await.problem(),
            (404, "not-found".into()),
            "{none}"
        );
    }
    house.close().await;
}

#[tokio::test]
async fn a_reader_gets_the_language_the_browser_prefers() {
    let house = House::plain().await;
    for (accepted, locale) in [
        ("fr-FR,zh-TW;q=0.8,en;q=0.5", "zh"),
        ("en-GB", "en"),
        ("fr", "en"),
    ] {
        let headers = [("accept-language", accepted)];
        let answer = house.say("GET", "/app/messages.json", &headers, None).await;
        assert_eq!(answer.ok()["locale"], locale, "{accepted}");
        assert!(
            answer
                .headers
                .get_all("vary")
                .iter()
                .any(|vary| vary == "accept-language")
        );
    }
    house.close().await;
}
