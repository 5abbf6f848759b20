//! Signing browsers in and out, at whichever server of a store they are: challenges, proofs, one-time codes, signed-out tickets.

use crate::outgoing::Change;
use crate::shared::{SharedKind, SharedValue};
use crate::snapshot::{Need, Snapshot};
use crate::step::{Decided, Refusal, Step};
use crate::time::{Millis, Timestamp};

/// A challenge is given out for this long, and accepted for twice as long.
const CHALLENGE_TIME: Millis = Millis::from_secs(2 * 60);
/// How long a one-time code is good for.
const CODE_TIME: Millis = Millis::from_secs(30 * 60);
/// In place of the credential of a code that was used. No credential is named like this.
const USED: &str = "used";

/// A challenge that browsers sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// What they sign.
    pub text: String,
    /// Until when it is accepted.
    pub until: Timestamp,
}

impl Challenge {
    /// Whether it is still given out. A clock that was set back keeps none in use for longer.
    pub fn is_current(&self, now: Timestamp) -> bool {
        let longest = now + CHALLENGE_TIME + CHALLENGE_TIME;
        now + CHALLENGE_TIME < self.until && self.until <= longest
    }
}

/// The challenge to give out now; `fresh` becomes it when the last one is old.
pub fn current_challenge(snapshot: &Snapshot, now: Timestamp, fresh: &str) -> Decided<Challenge> {
    let given = snapshot.shared_of(&SharedKind::Challenge)?.iter();
    let given = given.filter_map(|(text, value)| {
        let (text, until) = (text.clone(), value.until?);
        Some(Challenge { text, until })
    });
    let newest = given.max_by_key(|challenge| challenge.until);
    if let Some(newest) = newest.filter(|challenge| challenge.is_current(now)) {
        return Ok(Step::nothing(newest));
    }
    let made = Challenge {
        text: fresh.to_owned(),
        until: now + CHALLENGE_TIME + CHALLENGE_TIME,
    };
    let share = Change::Share {
        key: SharedKind::Challenge.named(fresh),
        was: None,
        value: SharedValue::ending("", made.until),
    };
    Ok(Step::new(made).change(share))
}

/// Why a proof does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofRefusal {
    /// Its ticket was signed out, perhaps at another server.
    #[error("you have been signed out; sign in again")]
    SignedOut,
    /// Its challenge is not accepted, or not any more.
    #[error("the proof is too old; sign the challenge in `Placet-Challenge`")]
    TooOld,
    /// Its id was used.
    #[error("the proof was used before; each request needs its own")]
    Used,
}

impl Refusal for ProofRefusal {}

/// Uses a proof up: of two requests with the same one, at one server or at two, one is let in.
pub fn use_proof(
    snapshot: &Snapshot,
    now: Timestamp,
    ticket: &str,
    challenge: &str,
    id: u128,
) -> Decided<(), ProofRefusal> {
    let ticket = SharedKind::SignedOut.named(ticket);
    let given = SharedKind::Challenge.named(challenge);
    let proof = SharedKind::Proof.named(format!("{challenge}/{id:032x}"));
    snapshot.require([&ticket, &given, &proof].map(|key| Need::Shared(key.clone())))?;
    if snapshot.shared(&ticket)?.is_some() {
        return Err(ProofRefusal::SignedOut.into());
    }
    let given = snapshot.shared(&given)?.as_ref();
    // Proofs go with their challenge, so a used one is remembered for as long as it could count.
    let Some(until) = given
        .filter(|given| given.holds(now))
        .and_then(|given| given.until)
    else {
        return Err(ProofRefusal::TooOld.into());
    };
    if snapshot.shared(&proof)?.is_some() {
        return Err(ProofRefusal::Used.into());
    }
    Ok(Step::new(()).change(Change::Share {
        key: proof,
        was: None,
        value: SharedValue::ending("", until),
    }))
}

/// Stores a one-time code: its digest, and the credential it signs in with, in words that only the code's holder can check.
pub fn give_code(_: &Snapshot, now: Timestamp, digest: &str, credential: &str) -> Decided<()> {
    Ok(Step::new(()).change(Change::Share {
        key: SharedKind::Code.named(digest),
        was: None,
        value: SharedValue::ending(credential, now + CODE_TIME),
    }))
}

/// Why a one-time code is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodeRefusal {
    /// Used before, or too old.
    #[error("this link was used before, or is too old; paste a token instead")]
    Used,
    /// Never given out, or forgotten.
    #[error("this code is not known")]
    Unknown,
}

impl Refusal for CodeRefusal {}

/// Uses a one-time code up, and answers what was stored with it.
pub fn use_code(snapshot: &Snapshot, now: Timestamp, digest: &str) -> Decided<String, CodeRefusal> {
    let key = SharedKind::Code.named(digest);
    let Some(given) = snapshot.shared(&key)? else {
        return Err(CodeRefusal::Unknown.into());
    };
    if given.text == USED || !given.holds(now) {
        return Err(CodeRefusal::Used.into());
    }
    let used = Change::Share {
        key,
        was: Some(given.text.clone()),
        value: SharedValue {
            text: USED.to_owned(),
            until: given.until,
        },
    };
    Ok(Step::new(given.text.clone()).change(used))
}

/// Signs a ticket out until it would have ended.
pub fn sign_out(snapshot: &Snapshot, _: Timestamp, ticket: &str, ends: Timestamp) -> Decided<()> {
    let key = SharedKind::SignedOut.named(ticket);
    if snapshot.shared(&key)?.is_some() {
        return Ok(Step::nothing(()));
    }
    Ok(Step::new(()).change(Change::Share {
        key,
        was: None,
        value: SharedValue::ending("", ends),
    }))
}
