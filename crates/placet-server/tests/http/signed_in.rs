//! A signed-in browser: a ticket, and the key that makes it count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::house::{Answer, House};

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// A key of a browser.
#[derive(Clone)]
pub(crate) struct Key(Arc<EcdsaKeyPair>);

impl Key {
    pub(crate) fn new() -> Self {
        let (with, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(with, &random).unwrap();
        Self(Arc::new(
            EcdsaKeyPair::from_pkcs8(with, pkcs8.as_ref(), &random).unwrap(),
        ))
    }

    /// The public half, as it is sent at sign-in.
    pub(crate) fn public(&self) -> String {
        hex::encode(self.0.public_key())
    }
}

/// A browser that is signed in.
pub(crate) struct Browser {
    pub(crate) key: Key,
    pub(crate) ticket: String,
    pub(crate) challenge: String,
}

impl Browser {
    /// The one of a sign-in that succeeded.
    pub(crate) fn of(key: Key, signed_in: &Answer) -> Self {
        assert!(
            !signed_in.headers.contains_key("set-cookie"),
            "other ports would get it"
        );
        Self {
            key,
            ticket: signed_in.ok()["ticket"].as_str().unwrap().to_owned(),
            challenge: signed_in.headers["placet-challenge"].to_str().unwrap().to_owned(),
        }
    }

    /// The `Placet-Proof` of one request.
    pub(crate) fn proof(&self, method: &str, path: &str, body: &str) -> String {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let named = [self.ticket.as_str(), &self.challenge, &format!("{id:032x}")];
        let message = format!("placet-proof/1\n{}\n{method}\n{path}\n{body}", named.join("\n"));
        let signature = self.key.0.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{} {}", named.join(" "), hex::encode(signature))
    }
}

impl House {
    /// Signs a browser in with a token.
    pub(crate) async fn browser_of(&self, token: &str) -> Browser {
        let key = Key::new();
        let with = json!({"token": token, "key": key.public()});
        Browser::of(key, &self.say("POST", "/v1/sign-in", &[], Some(with)).await)
    }

    /// A request of a signed-in browser's page.
    pub(crate) async fn browse(
        &self,
        browser: &Browser,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Answer {
        let text = body.as_ref().map(Value::to_string).unwrap_or_default();
        self.show(&browser.proof(method, path, &text), method, path, body)
            .await
    }

    /// A request of a page of ours with a proof, whatever it proves.
    pub(crate) async fn show(&self, proof: &str, method: &str, path: &str, body: Option<Value>) -> Answer {
        let origin = format!("http://{}", self.address);
        let headers = [("placet-proof", proof), ("origin", origin.as_str())];
        self.say(method, path, &headers, body).await
    }

    /// Signs a browser out.
    pub(crate) async fn sign_out(&self, browser: &Browser) {
        assert_eq!(
            self.browse(browser, "POST", "/v1/sign-out", None).await.status,
            204
        );
    }
}
