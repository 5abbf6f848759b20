//! Who vouches for the other side of an encrypted connection.

use std::sync::Arc;

use reqwest::Url;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::WebhookError;

/// Whose word counts for a platform's certificate.
#[derive(Debug, Clone)]
pub enum Trust {
    /// The authorities this machine trusts.
    Machine,
    /// These and no others: a platform with an authority of its own needs no other.
    Only(Arc<RootCertStore>),
}

/// Why certificates cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaError {
    /// Not certificates.
    #[error("is not in PEM form: {0}")]
    NotPem(String),
    /// Nothing in it.
    #[error("holds no certificate (`-----BEGIN CERTIFICATE-----`)")]
    Empty,
    /// Not a certificate.
    #[error("holds a certificate that cannot be used: {0}")]
    Unusable(String),
}

impl Trust {
    /// The certificates of a text in PEM form.
    pub fn only(pem: &str) -> Result<Self, CaError> {
        let mut roots = RootCertStore::empty();
        for found in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = found.map_err(|error| CaError::NotPem(error.to_string()))?;
            roots
                .add(certificate)
                .map_err(|error| CaError::Unusable(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(CaError::Empty);
        }
        Ok(Self::Only(Arc::new(roots)))
    }

    /// TLS with ring. A plain-text address needs none, and gets a client without trusted certificates.
    pub(crate) fn tls(&self, url: &Url) -> Result<ClientConfig, WebhookError> {
        let failed = |error: rustls::Error| WebhookError::Client(error.to_string());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(failed)?;
        let builder = match self {
            Self::Only(roots) => builder.with_root_certificates(Arc::clone(roots)),
            Self::Machine if url.scheme() == "https" => builder.with_platform_verifier().map_err(failed)?,
            Self::Machine => builder.with_root_certificates(RootCertStore::empty()),
        };
        Ok(builder.with_no_client_auth())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_vouches_for_nobody_is_refused() {
        assert_eq!(Trust::only("").unwrap_err(), CaError::Empty);
        assert_eq!(Trust::only("hunter2").unwrap_err(), CaError::Empty);
        let torn = "-----BEGIN CERTIFICATE-----\nAAAA\n";
        assert!(matches!(Trust::only(torn), Err(CaError::NotPem(_))));
        let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(Trust::only(nonsense), Err(CaError::Unusable(_))));
    }
}
