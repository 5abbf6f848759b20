//! An https platform: it proves who it is before it is told anything.

use std::path::Path;
use std::sync::Arc;

use placet_channels::webhook::{CaError, WebhookError};
use placet_core::config::Config;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::house::*;
use crate::platform::Platform;

/// A private certificate authority.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { issuer, pem }
    }

    /// A platform on this machine that this authority vouches for.
    async fn platform(&self) -> Platform {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".into()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        Platform::encrypted(TlsAcceptor::from(Arc::new(config))).await
    }

    /// The key of the configuration that names this authority.
    fn named_in(&self, folder: &Path) -> String {
        let file = folder.join("ca.pem");
        std::fs::write(&file, &self.pem).unwrap();
        format!("ca = \"file:{}\"\n", file.display())
    }
}

#[tokio::test]
async fn a_platform_with_a_private_authority_is_reached_when_that_is_named() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    let house = House::with(authority.platform().await, &authority.named_in(folder.path())).await;
    house.ask(deploy("c", "staging")).await;
    assert!(house.hear("zoe", "m1", "yes").await);
    assert!(house.outcome("c").await.permits());
    let decided = house.platform.post(|post| post.is("decided")).await;
    assert_eq!(decided.json["resolution"], "answered");
}

#[tokio::test]
async fn a_platform_nobody_vouches_for_is_sent_nothing_and_tried_again() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    let house = House::with(authority.platform().await, "").await;
    let id = house.park(deploy("c", "staging")).await;
    let error = house.tried(&id, 1).await.last_error.unwrap();
    assert!(error.contains("invalid peer certificate"), "{error}");
    house.pass(1);
    house.tried(&id, 2).await;
    assert!(house.is_open(&id).await, "it waits, and is not refused");
    assert!(
        house.platform.so_far().is_empty(),
        "nothing was said to a stranger"
    );
    // The operator names the authority, and the question that waited is brought there.
    let house = house.restart_with(&authority.named_in(folder.path())).await;
    house.pass(10);
    house.shown(&id).await;
    assert!(house.hear("zoe", "m1", "yes").await);
    assert!(house.outcome("c").await.permits());
    house.verify().await;
}

#[tokio::test]
async fn the_word_of_another_authority_does_not_count() {
    let (authority, other) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let house = House::with(authority.platform().await, &other.named_in(folder.path())).await;
    let id = house.park(deploy("c", "staging")).await;
    let error = house.tried(&id, 1).await.last_error.unwrap();
    assert!(error.contains("invalid peer certificate"), "{error}");
    assert!(house.platform.so_far().is_empty());
}

#[test]
fn a_file_that_vouches_for_nobody_is_refused_when_the_channel_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let (secret, empty) = (file("secret", "s"), file("ca.pem", "no certificate\n"));
    let text = format!(
        "[channels.ops]\ntype = \"webhook\"\nurl = \"https://chat.example.com/\"\nsecret = \"file:{secret}\"\nca = \"file:{empty}\"\n"
    );
    let config = Config::parse(
        &text,
        "placet.toml",
        std::iter::empty(),
        placet_inspect::builtin(),
    )
    .unwrap();
    let Err(error) = placet_channels::configured(&config) else {
        panic!("it was made")
    };
    assert!(matches!(error.source, WebhookError::Ca(CaError::Empty)));
    assert!(error.to_string().contains("`ca` holds no certificate"), "{error}");
}
