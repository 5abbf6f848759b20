//! TLS to the database server: who is at its other end is checked, and it cannot be left out by accident.

use std::path::Path;

use placet_store::{OpenError, Options, Store};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::server::Server;

/// A certificate authority of the operator's own.
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

    /// A database server that this authority vouches for under `name`.
    fn server(&self, name: &str) -> Server {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Server::start(
            "-c ssl=on -c ssl_cert_file=DIR/server.crt -c ssl_key_file=DIR/server.key",
            &[("server.crt", &certificate), ("server.key", &key.serialize_pem())],
        )
    }

    fn file(&self, folder: &Path, name: &str) -> String {
        let path = folder.join(name);
        std::fs::write(&path, &self.pem).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

async fn refused(url: &str) -> OpenError {
    Store::connect(url, Options::default()).await.err().unwrap()
}

#[tokio::test]
async fn a_server_is_reached_over_tls_when_a_trusted_authority_vouches_for_its_name() {
    let (ours, other) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let (ours_pem, other_pem) = (
        ours.file(folder.path(), "ca.pem"),
        other.file(folder.path(), "other.pem"),
    );
    let server = ours.server("127.0.0.1");
    let url = server.database();
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = format!("{url}?sslmode={mode}&sslrootcert={ours_pem}");
        let store = Store::connect(&url, Options::default()).await.unwrap();
        let encrypted = "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'placet'";
        assert_eq!(server.psql("postgres", encrypted), "t", "{mode}");
        store.close().await.unwrap();
    }
    for url in [
        format!("{url}?sslmode=verify-full&sslrootcert={other_pem}"),
        // The authorities of this machine do not know ours.
        format!("{url}?sslmode=require"),
    ] {
        let error = refused(&url).await;
        assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
        assert!(error.to_string().contains("certificate"), "{error}");
    }
    let error = refused(&format!("{url}?sslmode=require&sslrootcert=/nowhere/ca.pem")).await;
    assert!(matches!(error, OpenError::Address(_)), "{error}");
    assert!(error.to_string().contains("/nowhere/ca.pem"), "{error}");
}

#[tokio::test]
async fn a_server_under_another_name_or_without_tls_is_refused() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().unwrap();
    let pem = authority.file(folder.path(), "ca.pem");
    let elsewhere = authority.server("db.example.com");
    for mode in ["require", "verify-ca"] {
        let url = format!("{}?sslmode={mode}&sslrootcert={pem}", elsewhere.database());
        let error = refused(&url).await;
        assert!(error.to_string().contains("certificate"), "{mode}: {error}");
    }
    let plain = Server::shared().database();
    let error = refused(&format!("{plain}?sslmode=verify-full&sslrootcert={pem}")).await;
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("TLS"), "{error}");
}

#[tokio::test]
async fn a_mode_that_is_unknown_is_named_with_those_that_are() {
    let error = refused("postgres://placet@127.0.0.1/x?sslmode=allow").await;
    assert!(matches!(error, OpenError::Address(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("sslmode=allow") && text.contains("verify-full"),
        "{text}"
    );
}
