//! Devices that are told of new requests. A push service on this machine takes what is sent to them.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::SystemRandom;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};

use crate::house::{House, LIN, PEOPLE, WEI};

struct Bytes32(usize);

impl KeyType for Bytes32 {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive(salt: &[u8], input: &[u8], info: &[&[u8]], bytes: usize) -> Vec<u8> {
    let mut derived = vec![0; bytes];
    Salt::new(HKDF_SHA256, salt)
        .extract(input)
        .expand(info, Bytes32(bytes))
        .unwrap()
        .fill(&mut derived)
        .unwrap();
    derived
}

/// A push service that answers with the next of `statuses`, then 201, and hands on what it gets.
async fn service(statuses: &[u16]) -> (String, mpsc::UnboundedReceiver<Bytes>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = mpsc::unbounded_channel();
    let statuses = Arc::new(Mutex::new(statuses.to_vec()));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (sender, statuses) = (sender.clone(), Arc::clone(&statuses));
            let take = service_fn(move |request: Request<hyper::body::Incoming>| {
                let (sender, statuses) = (sender.clone(), Arc::clone(&statuses));
                async move {
                    let body = request.into_body().collect().await?.to_bytes();
                    let mut statuses = statuses.lock().await;
                    let status = if statuses.is_empty() {
                        201
                    } else {
                        statuses.remove(0)
                    };
                    let _ = sender.send(body);
                    let response = Response::builder().status(status).body(Full::new(Bytes::new()));
                    Ok::<_, hyper::Error>(response.unwrap())
                }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), take));
        }
    });
    (format!("http://{address}/send/1"), receiver)
}

/// A device: its keys, and what it tells the server.
struct Device {
    private: EphemeralPrivateKey,
    public: Vec<u8>,
    auth: [u8; 16],
}

impl Device {
    fn new() -> Self {
        let private = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
        let public = private.compute_public_key().unwrap().as_ref().to_vec();
        Self {
            private,
            public,
            auth: [9; 16],
        }
    }

    fn subscription(&self, endpoint: &str) -> Value {
        json!({
            "endpoint": endpoint,
            "expirationTime": null,
            "keys": {"p256dh": URL_SAFE_NO_PAD.encode(&self.public), "auth": URL_SAFE_NO_PAD.encode(self.auth)},
            "locale": "en",
        })
    }

    fn read(self, body: &[u8]) -> Value {
        let (salt, rest) = body.split_at(16);
        let (sender, record) = rest[5..].split_at(65);
        let info = [b"WebPush: info\0".as_slice(), &self.public, sender];
        let peer = UnparsedPublicKey::new(&ECDH_P256, sender);
        let auth = self.auth;
        let input = agree_ephemeral(self.private, &peer, |shared| derive(&auth, shared, &info, 32)).unwrap();
        let key = derive(salt, &input, &[b"Content-Encoding: aes128gcm\0"], 16);
        let nonce = derive(salt, &input, &[b"Content-Encoding: nonce\0"], 12);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
        let nonce = Nonce::try_assume_unique_for_key(&nonce).unwrap();
        let mut record = record.to_vec();
        let text = key.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
        serde_json::from_slice(&text[..text.len() - 1]).unwrap()
    }
}

async fn with_push(more: &str) -> House {
    let config = format!("{PEOPLE}\n[push]\nservices = ['127.0.0.1']\n{more}");
    House::open(tempfile::tempdir().unwrap(), &config).await
}

async fn devices(house: &House, token: &str) -> usize {
    let push = house.get(token, "/v1/push").await.ok();
    push["devices"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_device_is_told_that_a_request_needs_approval_and_no_more() {
    let house = with_push("").await;
    let (endpoint, mut sent) = service(&[503]).await;
    let device = Device::new();
    let added = house
        .post(LIN, "/v1/push/devices", device.subscription(&endpoint))
        .await;
    assert_eq!(added.status, 201, "{}", added.text);
    let agent = house.token("agent");
    let id = house.ask(&agent, "c1", "pay", json!({"amount": 950})).await;
    let first = sent.recv().await.unwrap();
    // The service was busy, so it is sent again, under keys of its own.
    let second = sent.recv().await.unwrap();
    assert_ne!(first, second);
    assert_eq!(
        device.read(&second),
        json!({"requestId": id, "url": format!("/q/{id}"), "title": "A request needs your approval", "body": null})
    );
    house.close().await;
}

#[tokio::test]
async fn only_devices_of_those_who_are_asked_are_told() {
    let house = with_push("").await;
    let (endpoint, mut sent) = service(&[]).await;
    let [lins, weis] = [Device::new(), Device::new()];
    for (token, device, path) in [(LIN, &lins, "lin"), (WEI, &weis, "wei")] {
        let subscription = device.subscription(&endpoint.replace("send/1", path));
        house.post(token, "/v1/push/devices", subscription).await.ok();
    }
    let agent = house.token("agent");
    house.ask(&agent, "c1", "pay", json!({"amount": 1})).await;
    let only = sent.recv().await.unwrap();
    lins.read(&only);
    // Both are asked now; what comes next and is not wei's would be a second message about the payment.
    house
        .ask(&agent, "c2", "deploy", json!({"to": "production"}))
        .await;
    let (one, other) = (sent.recv().await.unwrap(), sent.recv().await.unwrap());
    assert_ne!(one, other);
    assert!(sent.try_recv().is_err(), "one message for a request and a device");
    house.close().await;
}

#[tokio::test]
async fn the_gist_is_shown_where_the_operator_allows_it() {
    let house = with_push("show_gist = true\n").await;
    let (endpoint, mut sent) = service(&[]).await;
    let device = Device::new();
    house
        .post(LIN, "/v1/push/devices", device.subscription(&endpoint))
        .await
        .ok();
    let agent = house.token("agent");
    house
        .ask(&agent, "c1", "bash", json!({"command": "git push origin main"}))
        .await;
    let message = device.read(&sent.recv().await.unwrap());
    assert!(
        message["body"]
            .as_str()
            .unwrap()
            .contains("Push to `origin/main`"),
        "{message}"
    );
    house.close().await;
}

#[tokio::test]
async fn a_device_that_is_gone_is_forgotten() {
    let house = with_push("").await;
    let (endpoint, mut sent) = service(&[410]).await;
    house
        .post(LIN, "/v1/push/devices", Device::new().subscription(&endpoint))
        .await
        .ok();
    assert_eq!(devices(&house, LIN).await, 1);
    let agent = house.token("agent");
    house.ask(&agent, "c1", "pay", json!({"amount": 1})).await;
    sent.recv().await.unwrap();
    while devices(&house, LIN).await > 0 {
        tokio::task::yield_now().await;
    }
    house.close().await;
}

#[tokio::test]
async fn a_person_has_devices_of_their_own_and_takes_them_off() {
    let house = with_push("").await;
    let added = async |number: usize| {
        let subscription = Device::new().subscription(&format!("http://127.0.0.1:9/{number}"));
        house.post(LIN, "/v1/push/devices", subscription).await.ok()
    };
    let first = added(0).await["id"].as_str().unwrap().to_owned();
    for number in 1..12 {
        added(number).await;
    }
    assert_eq!(devices(&house, LIN).await, 10, "the oldest make room");
    assert_eq!(devices(&house, WEI).await, 0);
    let path = format!("/v1/push/devices/{}", added(12).await["id"].as_str().unwrap());
    assert_eq!(house.send(WEI, "DELETE", &path, None).await.status, 204);
    assert_eq!(devices(&house, LIN).await, 10, "another person's device stays");
    assert_eq!(house.send(LIN, "DELETE", &path, None).await.status, 204);
    assert_eq!(devices(&house, LIN).await, 9);
    let push = house.get(LIN, "/v1/push").await;
    assert!(
        !push.text.contains(&first) && !push.text.contains("127.0.0.1"),
        "{}",
        push.text
    );
    assert_eq!(
        URL_SAFE_NO_PAD
            .decode(push.json()["publicKey"].as_str().unwrap())
            .unwrap()
            .len(),
        65
    );
    house.close().await;
}

#[tokio::test]
async fn an_address_that_is_no_push_service_is_refused() {
    let house = with_push("").await;
    let device = Device::new();
    for endpoint in [
        "https://169.254.169.254/latest",
        "http://localhost:1/",
        "ftp://127.0.0.1/",
        "/send",
        "https://fcm.googleapis.com.example/x",
    ] {
        let refused = house
            .post(LIN, "/v1/push/devices", device.subscription(endpoint))
            .await;
        assert_eq!(refused.problem(), (400, "bad-request".into()), "{endpoint}");
    }
    let mut short = device.subscription("http://127.0.0.1:9/1");
    short["keys"]["auth"] = json!("AAAA");
    let refused = house.post(LIN, "/v1/push/devices", short).await;
    assert_eq!(refused.problem(), (400, "bad-request".into()));
    assert_eq!(devices(&house, LIN).await, 0);
    house.close().await;
}
