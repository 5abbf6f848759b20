//! Who sends a push message: a signed statement that the push service checks (RFC 8292).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

/// How long a statement counts; services accept a day at most.
const LASTS_SECONDS: i64 = 12 * 3600;

/// Why there is no key, or no statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VapidError {
    /// It cannot be read.
    #[error("the key for push messages cannot be read")]
    Malformed,
    /// The machine gave no random numbers.
    #[error("there are no random numbers")]
    Random,
}

/// The key that all devices of a store know.
pub struct VapidKey(EcdsaKeyPair);

impl VapidKey {
    /// A new key, as it is stored.
    pub fn generate() -> Result<Vec<u8>, VapidError> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        Ok(made.map_err(|_| VapidError::Random)?.as_ref().to_vec())
    }

    /// A key as it was stored.
    pub fn read(stored: &[u8]) -> Result<Self, VapidError> {
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, stored, &SystemRandom::new());
        Ok(Self(key.map_err(|_| VapidError::Malformed)?))
    }

    /// The public half, as browsers take it.
    pub fn public(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref())
    }

    /// The `Authorization` of a message to a service.
    pub(super) fn authorization(&self, service: &Url, contact: &str, now: i64) -> Result<String, VapidError> {
        let claims = json!({
            "aud": service.origin().ascii_serialization(),
            "exp": now + LASTS_SECONDS,
            "sub": contact,
        });
        let head = URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"ES256"}"#);
        let statement = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = self.0.sign(&SystemRandom::new(), statement.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(signature.map_err(|_| VapidError::Random)?);
        Ok(format!("vapid t={statement}.{signature}, k={}", self.public()))
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn a_statement_names_the_service_and_is_signed_with_the_key_it_shows() {
        let key = VapidKey::read(&VapidKey::generate().unwrap()).unwrap();
        let service = Url::parse("https://push.example.com:8443/send/abc").unwrap();
        let authorization = key
            .authorization(&service, "mailto:ops@example.com", 1000)
            .unwrap();
        let (token, public) = authorization
            .strip_prefix("vapid t=")
            .unwrap()
            .split_once(", k=")
            .unwrap();
        let (statement, signature) = token.rsplit_once('.').unwrap();
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decode(public))
            .verify(statement.as_bytes(), &decode(signature))
            .unwrap();
        let claims: serde_json::Value =
            serde_json::from_slice(&decode(statement.split_once('.').unwrap().1)).unwrap();
        assert_eq!(
            claims,
            json!({"aud": "https://push.example.com:8443", "exp": 1000 + LASTS_SECONDS, "sub": "mailto:ops@example.com"})
        );
    }

    #[test]
    fn what_is_no_key_is_refused() {
        assert_eq!(VapidKey::read(b"no key").err(), Some(VapidError::Malformed));
    }
}
