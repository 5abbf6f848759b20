//! One-time codes: the link that `placet serve` prints signs one browser in, once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{CredentialId, digest};

/// How long a link is good for.
const TTL: Duration = Duration::from_mins(30);

/// Codes that were given out, by digest.
#[derive(Default)]
pub(crate) struct Codes(Mutex<HashMap<[u8; 32], Given>>);

struct Given {
    credential: CredentialId,
    at: Instant,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Fresh,
    Used,
}

/// Why a code is invalid.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CodeError {
    /// Used before, or too old.
    Used,
    /// Never given out.
    Unknown,
}

impl Codes {
    /// A new code for a credential.
    pub(crate) fn give(&self, credential: CredentialId) -> String {
        let random: [u8; 24] = rand::random();
        let code = hex::encode(random);
        let given = Given {
            credential,
            at: Instant::now(),
            state: State::Fresh,
        };
        self.lock().insert(digest("placet/code/1", &code), given);
        code
    }

    /// Exchanges a code for what it stands for. Once: of two at the same time, one gets it.
    pub(crate) fn take(&self, code: &str) -> Result<CredentialId, CodeError> {
        let mut codes = self.lock();
        // Looked up by digest: how long it takes says nothing about any code.
        let given = codes
            .get_mut(&digest("placet/code/1", code))
            .ok_or(CodeError::Unknown)?;
        if given.state == State::Used || given.at.elapsed() > TTL {
            return Err(CodeError::Used);
        }
        given.state = State::Used;
        Ok(given.credential)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Given>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once() {
        let codes = Codes::default();
        let code = codes.give(CredentialId([7; 8]));
        assert_eq!(codes.take("no such code"), Err(CodeError::Unknown));
        assert_eq!(codes.take(&code), Ok(CredentialId([7; 8])));
        assert_eq!(codes.take(&code), Err(CodeError::Used));
    }
}
