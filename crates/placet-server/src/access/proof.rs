//! The proof that a request comes from the browser that signed in, and not from a page that came by its ticket.
//!
//! A browser makes a key at sign-in that it cannot export; its ticket names the public half. Every request, streams
//! included, carries `Placet-Proof: TICKET CHALLENGE ID SIGNATURE` (ECDSA, P-256, SHA-256). The signature covers the first
//! three, the method, the target and the body, so a proof is good for one request. This is the model of RFC 9449 without JWTs.
//!
//! Freshness comes from the server's challenge, so the browser's clock does not matter. Challenges are random. They and the ids used under
//! each are in the store, so a proof counts once at all servers together. A browser whose challenge is too old is told the current one
//! in `Placet-Challenge`, and signs again.

use axum::body::Body;
use axum::extract::{Request, State as Shared};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use placet_core::steps::{self, ProofRefusal};
use placet_store::StepError;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

use super::caller::{bearer, refuse, throttle};
use super::{Caller, Presented, require_same_site};
use crate::intake::{BODY_BYTES_MAX, whole};
use crate::problem::{Code, Problem};
use crate::state::State;

/// Carries a browser's proof.
pub(crate) const PROOF_HEADER: HeaderName = HeaderName::from_static("placet-proof");
/// Tells a browser what to sign next.
pub(crate) const CHALLENGE_HEADER: HeaderName = HeaderName::from_static("placet-challenge");

/// The first line of what is signed: a signature means this and nothing else.
const PURPOSE: &str = "placet-proof/1";
/// The public half of a browser's key: an uncompressed P-256 point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicKey([u8; 65]);

impl PublicKey {
    pub(crate) fn parse(hex: &str) -> Option<Self> {
        let mut point = [0; 65];
        hex::decode_to_slice(hex, &mut point).ok()?;
        point.starts_with(&[4]).then_some(Self(point))
    }

    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &self.0);
        key.verify(message, signature).is_ok()
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// A proof as it was sent.
struct Proof {
    ticket: String,
    challenge: String,
    id: String,
    /// The id as it is remembered: bounded, however it was written.
    number: u128,
    signature: Vec<u8>,
}

impl Proof {
    fn parse(value: &HeaderValue) -> Option<Self> {
        let mut fields = value.to_str().ok()?.split(' ');
        let (ticket, challenge, id) = (fields.next()?, fields.next()?, fields.next()?);
        let proof = Self {
            ticket: ticket.to_owned(),
            challenge: challenge.to_owned(),
            id: id.to_owned(),
            number: u128::from_str_radix(id, 16).ok()?,
            signature: hex::decode(fields.next()?).ok()?,
        };
        fields.next().is_none().then_some(proof)
    }

    /// What the browser signed, made again from the request that arrived. No line of it but the body can hold a line break.
    fn message(&self, parts: &Parts, body: &[u8]) -> Vec<u8> {
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        let lines = [
            PURPOSE,
            &self.ticket,
            &self.challenge,
            &self.id,
            parts.method.as_str(),
            target,
            "",
        ];
        let mut message = lines.join("\n").into_bytes();
        message.extend_from_slice(body);
        message
    }
}

/// Checks the proof of a signed-in browser before its request goes any further. Other requests pass untouched, and a bearer
/// token counts by itself.
pub(crate) async fn prove(Shared(state): Shared<State>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let proof = parts.headers.get(PROOF_HEADER).cloned();
    let Some(proof) = proof.filter(|_| bearer(&parts).is_none()) else {
        return next.run(Request::from_parts(parts, body)).await;
    };
    let mut response = match proven(&state, &proof, parts, body).await {
        Ok(request) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    match state.challenge().await.map(HeaderValue::try_from) {
        Ok(Ok(challenge)) => {
            response.headers_mut().insert(CHALLENGE_HEADER, challenge);
        }
        Ok(Err(_)) => {}
        Err(error) => tracing::warn!(%error, "no challenge can be given out"),
    }
    response
}

/// The request with its [`Caller`], which only a request with a valid proof has.
async fn proven(
    state: &State,
    proof: &HeaderValue,
    mut parts: Parts,
    body: Body,
) -> Result<Request, Problem> {
    let invalid = |detail: &str| Problem::new(Code::BadProof, detail);
    let proof = Proof::parse(proof)
        .ok_or_else(|| invalid("`Placet-Proof` must be `TICKET CHALLENGE ID SIGNATURE`"))?;
    let access = state.access();
    let read = state.tickets().read(&access, &proof.ticket, state.now());
    let Some((credential, ticket)) = read else {
        return Err(refuse(&parts, state, "you have been signed out; sign in again"));
    };
    require_same_site(&parts)?;
    let body = whole(body, BODY_BYTES_MAX).await?;
    if !ticket
        .key
        .verifies(&proof.message(&parts, &body), &proof.signature)
    {
        return Err(invalid(
            "the signature is not this browser's signature of this request",
        ));
    }
    throttle(state, credential.id)?;
    // Last: only the holder of the key can use an id up.
    let (challenge, id) = (proof.challenge.as_str(), proof.number);
    let using = state
        .engine()
        .transact(|stored, now| steps::use_proof(stored, now, &ticket.nonce, challenge, id));
    match using.await {
        Ok(()) => {}
        Err(StepError::Refused(refusal @ ProofRefusal::SignedOut)) => {
            return Err(refuse(&parts, state, &refusal.to_string()));
        }
        Err(StepError::Refused(refusal)) => return Err(invalid(&refusal.to_string())),
        Err(StepError::Store(error)) => return Err(error.into()),
    }
    parts
        .extensions
        .insert(Caller::of(credential, Presented::Browser(ticket)));
    Ok(Request::from_parts(parts, Body::from(body)))
}
