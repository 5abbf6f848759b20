//! Callers on the socket of the data folder: commands of the user this process runs for, as a person at the terminal.
//!
//! The kernel says whose process is at the other end. Only the same user is let in, and only from a process that is confined no
//! more than this one: a command in the sandbox of the built-in agent runs as the same user, and must not answer its own
//! questions. Tokens do not count here, so no request on the socket is ever an agent's. An agent that runs unconfined as the
//! same user is not kept out: it could read the tokens and the store's file as well.

use std::io;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use placet_core::ids::PersonId;
use placet_core::principal::{Principal, Via};
use placet_core::wire::local::PERSON_HEADER;
use placet_engine::Authority;
use tokio::net::UnixStream;

use super::caller::{Caller, PersonOnly, Presented};
use super::{CredentialId, Holder, Role};
use crate::problem::{Code, Problem};
use crate::state::State;

/// A connection on the socket, from a process that may use it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalPeer(());

/// Why a process may not use the socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LocalError {
    /// The kernel does not say whose it is.
    #[error("the process at the other end cannot be looked at: {0}")]
    Unknown(#[from] io::Error),
    /// It is another user's.
    #[error("it runs as user {0}")]
    OtherUser(u32),
    /// It runs in a sandbox.
    #[error("process {0} is confined")]
    Confined(i32),
}

impl LocalPeer {
    /// Looks at the process at the other end of a connection.
    pub(crate) fn of(stream: &UnixStream) -> Result<Self, LocalError> {
        let peer = stream.peer_cred()?;
        if peer.uid() != rustix::process::geteuid().as_raw() {
            return Err(LocalError::OtherUser(peer.uid()));
        }
        #[cfg(target_os = "linux")]
        {
            let gone = || io::Error::other("it has no process id");
            let pid = peer.pid().ok_or_else(gone)?;
            if seccomp_filters(&pid.to_string())? > seccomp_filters("self")? {
                return Err(LocalError::Confined(pid));
            }
        }
        Ok(Self(()))
    }
}

/// How many filters of system calls a process runs under. It can add to them and never take one away, and hands them on to its
/// children, so a process that was put into the sandbox has more of them than the one that put it there.
#[cfg(target_os = "linux")]
fn seccomp_filters(process: &str) -> io::Result<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let field = |name: &str| {
        let mut lines = status.lines().filter_map(|line| line.strip_prefix(name));
        lines.next().and_then(|value| value.trim().parse().ok())
    };
    // Kernels before 5.9 only say whether there are any.
    field("Seccomp_filters:")
        .or_else(|| field("Seccomp:"))
        .ok_or_else(|| io::Error::other("the kernel does not say whether it is confined"))
}

/// The person at the terminal: the one they name, else the user of this machine.
pub(super) fn caller(parts: &Parts, state: &State) -> Result<Caller, Problem> {
    let person = match parts.headers.get(PERSON_HEADER) {
        Some(named) => named_person(named.to_str().unwrap_or("?"), state)?,
        None => state.access().local_person().clone(),
    };
    let principal = Principal::Person {
        person: person.clone(),
        via: Via::Inbox,
    };
    let authority = Authority::at_the_store(&state.config(), &principal);
    Ok(Caller {
        // They may read the store's file, so there is nothing to hide; what they may *do* is their authority.
        holder: Holder::Person {
            person,
            role: Role::Admin,
        },
        credential: CredentialId::of_socket(),
        presented: Presented::Socket(authority),
    })
}

/// Where people are configured, a name must be one of theirs, or the user's own.
fn named_person(name: &str, state: &State) -> Result<PersonId, Problem> {
    let (config, access) = (state.config(), state.access());
    if access.local_person().as_str() == name {
        return Ok(access.local_person().clone());
    }
    let mut known = config
        .people
        .people()
        .map(|person| person.name.as_str())
        .peekable();
    if known.peek().is_some() && config.people.person(name).is_none() {
        let known: Vec<_> = known.collect();
        return Err(Problem::new(
            Code::Forbidden,
            format!("`[[people]]` has no `{name}`; it has {}", known.join(", ")),
        ));
    }
    PersonId::new(name).map_err(|error| Problem::new(Code::BadRequest, error.to_string()))
}

/// A person at a terminal of this machine; only the socket makes one.
#[derive(Debug, Clone)]
pub(crate) struct Operator(pub(crate) PersonOnly);

impl FromRequestParts<State> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Problem> {
        let person = PersonOnly::from_request_parts(parts, state).await?;
        match person.caller.presented {
            Presented::Socket(_) => Ok(Self(person)),
            Presented::Token | Presented::Browser(_) => Err(Problem::new(
                Code::Forbidden,
                "this is only offered on the socket of the data folder",
            )),
        }
    }
}
