//! Who is calling, from the headers of a request. Handlers name the role they need by the type they take.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderName, Method, header};
use placet_channels::terminal::TerminalUser;
use placet_core::call::Chat;
use placet_core::ids::{AgentId, PersonId};
use placet_core::principal::{Principal, Via};
use placet_engine::Authority;

use super::{Credential, CredentialId, Holder, LocalPeer, Named, Role, Ticket, local};
use crate::problem::{Code, Problem};
use crate::state::State;

/// The address a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// A caller with a credential.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who.
    pub holder: Holder,
    pub(crate) credential: CredentialId,
    pub(crate) presented: Presented,
}

/// How a credential was presented.
#[derive(Debug, Clone)]
pub(crate) enum Presented {
    /// The token itself.
    Token,
    /// A signed-in browser's ticket, with a proof. It ends by itself and by signing out.
    Browser(Ticket),
    /// None: they came through the socket of the data folder, as the user this process runs for.
    Socket(Authority),
}

impl Caller {
    pub(super) fn of(credential: &Credential, presented: Presented) -> Self {
        Self {
            holder: credential.holder.clone(),
            credential: credential.id,
            presented,
        }
    }

    /// Whether everything they came in with still counts, as it did then.
    pub(crate) fn is_welcome(&self, state: &State) -> bool {
        if let Presented::Socket(_) = self.presented {
            return true;
        }
        let access = state.access();
        let known = access.by_id(self.credential);
        // The same token may belong to another person by now, or theirs with another role.
        known.is_some_and(|known| known.holder == self.holder)
            && match &self.presented {
                Presented::Token | Presented::Socket(_) => true,
                Presented::Browser(ticket) => state.tickets().counts(ticket, state.now()),
            }
    }

    /// What the engine is told about who speaks.
    pub fn principal(&self) -> Principal {
        match (&self.presented, &self.holder) {
            // The socket lets its user read everything; who may answer as an admin is the operator's word.
            (Presented::Socket(Authority::Approver), Holder::Person { person, .. }) => Principal::Person {
                person: person.clone(),
                via: Via::Inbox,
            },
            _ => self.holder.principal(),
        }
    }
}

impl FromRequestParts<State> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Problem> {
        // A browser's proof covers the body, so it was checked before the request was routed.
        if let Some(caller) = parts.extensions.get::<Self>() {
            return Ok(caller.clone());
        }
        if parts.extensions.get::<LocalPeer>().is_some() {
            return local::caller(parts, state);
        }
        let caller = recognised(parts, state)?;
        throttle(state, caller.credential)?;
        Ok(caller)
    }
}

/// Refuses a credential that is used too often.
pub(super) fn throttle(state: &State, credential: CredentialId) -> Result<(), Problem> {
    if state.requests_allowed(credential) {
        return Ok(());
    }
    let problem = Problem::new(
        Code::TooManyRequests,
        "this token is used too often; wait a moment",
    );
    Err(problem.retry_after_seconds(1))
}

fn recognised(parts: &Parts, state: &State) -> Result<Caller, Problem> {
    if !parts.headers.contains_key(header::AUTHORIZATION) {
        let missing = "send `Authorization: Bearer TOKEN`, or sign in with a browser";
        return Err(Problem::new(Code::Unauthenticated, missing));
    }
    let access = state.access();
    match bearer(parts).and_then(|token| access.by_token(token)) {
        Some(credential) => Ok(Caller::of(credential, Presented::Token)),
        None => Err(refuse(parts, state, "the token is not one of this server's")),
    }
}

/// Refuses a wrong credential, and rate-limits the address it came from. Correct credentials are not affected.
pub(super) fn refuse(parts: &Parts, state: &State, detail: &str) -> Problem {
    match parts.extensions.get() {
        Some(Peer(peer)) if !state.guess_allowed(*peer) => {
            let problem = Problem::new(Code::TooManyRequests, "too many wrong credentials; wait a minute");
            problem.retry_after_seconds(60)
        }
        _ => Problem::new(Code::Unauthenticated, detail),
    }
}

/// The token of an `Authorization: Bearer` header.
pub(super) fn bearer(parts: &Parts) -> Option<&str> {
    let value = parts.headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// A browser says where a request comes from; only our own pages may make it act for the person who is signed in.
pub(crate) fn require_same_site(parts: &Parts) -> Result<(), Problem> {
    let text = |name| {
        parts
            .headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    let named: Option<&Named> = parts.extensions.get();
    let from_us = match (
        text(header::ORIGIN),
        text(HeaderName::from_static("sec-fetch-site")),
    ) {
        (Some(origin), _) => named.is_some_and(|named| named.is_origin(origin)),
        (None, Some(site)) => site == "same-origin",
        // Every browser sends one of the two with a POST; some send neither with a GET.
        (None, None) => matches!(parts.method, Method::GET | Method::HEAD),
    };
    if from_us {
        return Ok(());
    }
    Err(Problem::new(
        Code::CrossSite,
        "a signed-in browser only acts through this server's own pages; programs use a token",
    ))
}

fn forbidden(detail: &str) -> Problem {
    Problem::new(Code::Forbidden, detail)
}

/// Only an agent.
#[derive(Debug, Clone)]
pub struct AgentOnly(pub AgentId);

impl FromRequestParts<State> for AgentOnly {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Problem> {
        match Caller::from_request_parts(parts, state).await?.holder {
            Holder::Agent(agent) => Ok(Self(agent)),
            Holder::Person { .. } => Err(forbidden("only an agent's token may do this")),
        }
    }
}

/// A person of either role.
#[derive(Debug, Clone)]
pub struct PersonOnly {
    /// Who.
    pub person: PersonId,
    /// As what.
    pub role: Role,
    /// What the engine is told.
    pub principal: Principal,
    /// What they came in with.
    pub(crate) caller: Caller,
}

impl PersonOnly {
    /// The chat that is their terminal, when they sit at one of this machine: their conversations take place there.
    pub(crate) fn seat(&self, state: &State) -> Option<Chat> {
        let Presented::Socket(_) = self.caller.presented else {
            return None;
        };
        Some(TerminalUser::of_user(&state.config().people).ok()?.chat)
    }

    /// What they may do besides answering.
    pub(crate) fn authority(&self) -> Authority {
        match (&self.caller.presented, self.role) {
            (Presented::Socket(authority), _) => *authority,
            (_, Role::Admin) => Authority::Admin,
            (_, Role::Approver) => Authority::Approver,
        }
    }
}

impl FromRequestParts<State> for PersonOnly {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Problem> {
        match AgentOrPerson::from_request_parts(parts, state).await? {
            AgentOrPerson::Person(person) => Ok(person),
            AgentOrPerson::Agent(_) => Err(forbidden("agent tokens cannot use this endpoint")),
        }
    }
}

/// A person who may do everything.
#[derive(Debug, Clone)]
pub struct Admin(pub PersonId);

impl FromRequestParts<State> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Problem> {
        let caller = PersonOnly::from_request_parts(parts, state).await?;
        match caller.role {
            Role::Admin => Ok(Self(caller.person)),
            Role::Approver => Err(forbidden("this needs the role `admin`")),
        }
    }
}

/// Any caller with a credential, by kind.
#[derive(Debug, Clone)]
pub enum AgentOrPerson {
    /// An agent.
    Agent(AgentId),
    /// A person.
    Person(PersonOnly),
}

impl FromRequestParts<State> for AgentOrPerson {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Problem> {
        Ok(Caller::from_request_parts(parts, state).await?.into())
    }
}

impl From<Caller> for AgentOrPerson {
    fn from(caller: Caller) -> Self {
        match caller.holder.clone() {
            Holder::Agent(agent) => Self::Agent(agent),
            Holder::Person { person, role } => Self::Person(PersonOnly {
                person,
                role,
                principal: caller.principal(),
                caller,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn via_at_the_socket(authority: Authority) -> Option<Via> {
        let caller = Caller {
            holder: Holder::Person {
                person: PersonId::new("lin").unwrap(),
                role: Role::Admin,
            },
            credential: CredentialId::of_socket(),
            presented: Presented::Socket(authority),
        };
        match caller.principal() {
            Principal::Person { via, .. } => Some(via),
            _ => None,
        }
    }

    #[test]
    fn at_the_socket_only_an_admin_of_the_configuration_answers_as_one() {
        assert_eq!(via_at_the_socket(Authority::Approver), Some(Via::Inbox));
        assert_eq!(via_at_the_socket(Authority::Admin), Some(Via::Admin));
    }
}
