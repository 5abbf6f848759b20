//! One-time codes: the link that `placet serve` prints signs one browser in, once, at any server of the store.
//!
//! The store holds the digest of a code and, bound to the code, the credential it stands for. A reader of the store learns neither.

use placet_core::steps::{self, CodeRefusal};
use placet_engine::Engine;
use placet_store::{StepError, StoreError};
use subtle::ConstantTimeEq as _;

use super::{Access, Credential, CredentialId, digest};

/// Makes a code for a credential.
pub(crate) async fn give(engine: &Engine, credential: CredentialId) -> Result<String, StoreError> {
    let random: [u8; 24] = rand::random();
    let code = hex::encode(random);
    let (name, bound) = (name(&code), bound(&code, credential));
    let give = engine.transact(|stored, now| steps::give_code(stored, now, &name, &bound));
    give.await.map_err(StepError::into_store_error)?;
    Ok(code)
}

/// Exchanges a code for what it stands for; nothing if this server does not know that credential. Once: of two at the same time, one
/// gets it.
pub(crate) async fn take<'a>(
    engine: &Engine,
    access: &'a Access,
    code: &str,
) -> Result<Option<&'a Credential>, StepError<CodeRefusal>> {
    // Looked up by digest: how long it takes says nothing about any code.
    let name = name(code);
    let given = engine
        .transact(|stored, now| steps::use_code(stored, now, &name))
        .await?;
    let stands_for = |credential: &&Credential| {
        let bound = bound(code, credential.id);
        bool::from(bound.as_bytes().ct_eq(given.as_bytes()))
    };
    Ok(access.credentials.iter().find(stands_for))
}

fn name(code: &str) -> String {
    hex::encode(digest("placet/code/1", code))
}

/// Only who has the code can tell which credential this is, or try tokens on it.
fn bound(code: &str, credential: CredentialId) -> String {
    hex::encode(digest("placet/code-for/1", &format!("{code} {credential}")))
}
