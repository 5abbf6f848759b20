//! Connections to other machines: whom to trust, and how long to wait. One way to build them, for models, `fetch` and databases.

use std::sync::Arc;
use std::time::Duration;

use placet_core::causes;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// How long a connection may take to come about.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Whom a TLS connection trusts: the authorities this machine does.
pub(crate) fn tls() -> Result<ClientConfig, rustls::Error> {
    let trusted = protocols()?.with_platform_verifier()?;
    Ok(trusted.with_no_client_auth())
}

fn protocols() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, rustls::Error> {
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
}

/// A client for an address. It follows no redirect: what is sent is for that address alone.
pub(crate) fn http(url: &Url) -> Result<ClientBuilder, rustls::Error> {
    // A plain-text address needs no roots, and gets a client without trusted certificates.
    let tls = if url.scheme() == "https" {
        tls()?
    } else {
        protocols()?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth()
    };
    Ok(Client::builder()
        .tls_backend_preconfigured(tls)
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(Policy::none())
        .user_agent(concat!("placet/", env!("CARGO_PKG_VERSION"))))
}

/// What went wrong, to its cause. Without the address: a proxy's may hold a password.
pub(crate) fn explained(error: reqwest::Error) -> String {
    causes(&error.without_url())
}
