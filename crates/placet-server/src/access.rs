//! Who may do what: tokens, the tickets of browsers that signed in with one, and the roles they carry.
//!
//! The transport sets the principal: everything the engine is told about who speaks comes from here, and nothing of it from
//! a body. A token is compared by its digest, in constant time, with every credential there is.

use std::collections::BTreeMap;

use placet_channels::terminal::TerminalUser;
use placet_core::config::{Config, Secret};
use placet_core::ids::{AgentId, IdError, PersonId};
use placet_core::principal::{Principal, Via};
use placet_engine::secret::{self, SecretError, SecretText};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

mod caller;
pub(crate) mod code;
mod hosts;
mod local;
mod proof;
mod throttle;
mod ticket;
pub(crate) mod tokens;
mod welcome;

pub(crate) use caller::Presented;
pub use caller::{Admin, AgentOnly, AgentOrPerson, Caller, PersonOnly};
pub(crate) use caller::{Peer, require_same_site};
pub(crate) use hosts::{HostError, Hosts, Named};
pub(crate) use local::{LocalPeer, Operator};
pub(crate) use proof::{CHALLENGE_HEADER, PROOF_HEADER, PublicKey, prove};
pub(crate) use throttle::Throttle;
pub use ticket::SignedOutError;
pub(crate) use ticket::{Ticket, Tickets};
pub(crate) use tokens::Kept;
pub use tokens::TokensError;
pub(crate) use welcome::Welcome;

/// A token that is shorter could be guessed.
const TOKEN_CHARS_MIN: usize = 16;
/// The agent behind the token of the role, when agents have none of their own.
pub(crate) const DEFAULT_AGENT: &str = "agent";
/// The person behind the role's token where the system does not say who uses it.
const DEFAULT_PERSON: &str = "operator";

/// What a person may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// See and answer the questions assigned to them.
    Approver,
    /// See and do everything else, too.
    Admin,
}

impl Role {
    /// As on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }
}

/// Whose a credential is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// An agent's. It can never answer.
    Agent(AgentId),
    /// A person's.
    Person {
        /// Who.
        person: PersonId,
        /// As what.
        role: Role,
    },
}

/// Names a credential without giving it away; changes with the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CredentialId([u8; 8]);

impl CredentialId {
    /// The socket has no credential, and nothing is looked up by this.
    fn of_socket() -> Self {
        Self([0; 8])
    }

    pub(crate) fn parse(hex: &str) -> Option<Self> {
        let mut bytes = [0; 8];
        hex::decode_to_slice(hex, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl std::fmt::Display for CredentialId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// A token, as far as it has to be remembered.
pub(crate) struct Credential {
    pub(crate) id: CredentialId,
    pub(crate) holder: Holder,
    digest: [u8; 32],
    /// Signs the tickets of its holder's browsers: they die with the token.
    ticket_key: [u8; 64],
}

impl Credential {
    fn new(token: &SecretText, holder: Holder) -> Self {
        let digest = digest("placet/token/1", token.expose());
        let mut id = [0; 8];
        fill(&mut id, &[self::digest("placet/credential/1", token.expose())]);
        // As long as HMAC's block, so that making one cannot fail.
        let mut ticket_key = [0; 64];
        let halves = ["placet/ticket/1", "placet/ticket/2"].map(|label| self::digest(label, token.expose()));
        fill(&mut ticket_key, &halves);
        Self {
            id: CredentialId(id),
            holder,
            digest,
            ticket_key,
        }
    }
}

fn fill(to: &mut [u8], from: &[[u8; 32]]) {
    for (to, from) in to.iter_mut().zip(from.iter().flatten()) {
        *to = *from;
    }
}

fn digest(label: &str, token: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(label.as_bytes());
    hash.update([0]);
    hash.update(token.as_bytes());
    hash.finalize().into()
}

/// The tokens that were made for roles without a configured one.
#[derive(Clone, Copy)]
pub(crate) enum Made<'a> {
    /// These.
    Tokens(&'a Kept),
    /// They will be, once the store is open: what is configured is checked before.
    Later,
    /// None.
    None,
}

type Picked = fn(&Kept) -> &SecretText;

/// Whether every role has a configured token.
pub(crate) fn configures_roles(config: &Config) -> bool {
    let roles = &config.server.tokens;
    roles.agent.is_some() && roles.approver.is_some() && roles.admin.is_some()
}

/// Every credential in force.
pub struct Access {
    credentials: Vec<Credential>,
    local: PersonId,
}

/// Why access cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The tokens kept beside the data cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokensError),
    /// A secret is not where the configuration says.
    #[error("the token of {whose} cannot be used: {source}")]
    Secret {
        /// Whose.
        whose: String,
        /// Why not.
        source: SecretError,
    },
    /// A token that can be guessed.
    #[error(
        "the token of {0} has fewer than {TOKEN_CHARS_MIN} characters; `openssl rand -hex 32` makes a good one"
    )]
    Short(String),
    /// A role has neither a configured token nor one that was made at the start.
    #[error("the role `{0}` has no token; start the server again to make one, or set `[server.tokens]`")]
    None(&'static str),
    /// Two holders, one token: who is calling?
    #[error("{0} and {1} have the same token; each needs one of its own")]
    Shared(String, String),
    /// Invalid name.
    #[error(transparent)]
    Name(#[from] IdError),
}

impl Access {
    /// The credentials of a configuration. Roles without a configured token have one of those that were made.
    pub(crate) fn load(config: &Config, made: Made<'_>) -> Result<Self, AccessError> {
        let local = local_person(config)?;
        let mut found = Found(BTreeMap::new());
        let person = |person: &PersonId, role| Holder::Person {
            person: person.clone(),
            role,
        };
        let roles = &config.server.tokens;
        let of_roles: [(_, &Option<Secret>, Picked, _); 3] = [
            (
                "agent",
                &roles.agent,
                |kept| &kept.agent,
                Holder::Agent(AgentId::new(DEFAULT_AGENT)?),
            ),
            (
                "approver",
                &roles.approver,
                |kept| &kept.approver,
                person(&local, Role::Approver),
            ),
            (
                "admin",
                &roles.admin,
                |kept| &kept.admin,
                person(&local, Role::Admin),
            ),
        ];
        for (name, configured, picked, holder) in of_roles {
            let whose = format!("the role `{name}`");
            let token = match (configured, made) {
                (Some(secret), _) => resolve(secret, &whose)?,
                (None, Made::Tokens(kept)) => picked(kept).clone(),
                (None, Made::Later) => continue,
                (None, Made::None) => return Err(AccessError::None(name)),
            };
            found.add(&whose, &token, holder)?;
        }
        for (agent, secret) in &config.server.agents {
            let whose = format!("the agent `{agent}`");
            found.add(&whose, &resolve(secret, &whose)?, Holder::Agent(agent.clone()))?;
        }
        for known in config.people.people() {
            let Some(secret) = &known.token else { continue };
            let role = if config.server.admins.contains(&known.name) {
                Role::Admin
            } else {
                Role::Approver
            };
            let whose = format!("`{}`", known.name);
            found.add(&whose, &resolve(secret, &whose)?, person(&known.name, role))?;
        }
        let credentials = found.0.into_values().map(|(_, credential)| credential).collect();
        Ok(Self { credentials, local })
    }

    /// No credentials at all: for an owner that listens on its socket only.
    pub(crate) fn without_tokens(config: &Config) -> Result<Self, AccessError> {
        Ok(Self {
            credentials: Vec::new(),
            local: local_person(config)?,
        })
    }

    /// The person the roles' own tokens belong to: the operator.
    pub fn local_person(&self) -> &PersonId {
        &self.local
    }

    /// Whose a token is. Looks at every credential, so that time says nothing about any.
    pub(crate) fn by_token(&self, token: &str) -> Option<&Credential> {
        let given = digest("placet/token/1", token);
        let mut found = None;
        for credential in &self.credentials {
            if bool::from(credential.digest.ct_eq(&given)) {
                found = Some(credential);
            }
        }
        found
    }

    pub(crate) fn by_id(&self, id: CredentialId) -> Option<&Credential> {
        self.credentials.iter().find(|credential| credential.id == id)
    }

    /// The credential of the role `admin`: what the one-time link signs in with.
    pub(crate) fn admin(&self) -> Option<&Credential> {
        self.credentials.iter().find(
            |credential| matches!(&credential.holder, Holder::Person { person, role: Role::Admin } if *person == self.local),
        )
    }
}

impl Holder {
    /// What the engine is told about who speaks.
    pub fn principal(&self) -> Principal {
        match self {
            Self::Agent(agent) => Principal::Agent { agent: agent.clone() },
            Self::Person { person, role } => Principal::Person {
                person: person.clone(),
                via: match role {
                    Role::Admin => Via::Admin,
                    Role::Approver => Via::Inbox,
                },
            },
        }
    }
}

fn local_person(config: &Config) -> Result<PersonId, IdError> {
    match TerminalUser::of_user(&config.people) {
        Ok(seat) => Ok(seat.person),
        Err(_) => PersonId::new(DEFAULT_PERSON),
    }
}

/// Credentials by digest, so that no two share a token.
struct Found(BTreeMap<[u8; 32], (String, Credential)>);

impl Found {
    fn add(&mut self, whose: &str, token: &SecretText, holder: Holder) -> Result<(), AccessError> {
        if token.expose().chars().count() < TOKEN_CHARS_MIN {
            return Err(AccessError::Short(whose.to_owned()));
        }
        let credential = Credential::new(token, holder);
        if let Some((other, _)) = self.0.get(&credential.digest) {
            return Err(AccessError::Shared(other.clone(), whose.to_owned()));
        }
        self.0.insert(credential.digest, (whose.to_owned(), credential));
        Ok(())
    }
}

fn resolve(secret: &Secret, whose: &str) -> Result<SecretText, AccessError> {
    secret::resolve(secret).map_err(|source| AccessError::Secret {
        whose: whose.to_owned(),
        source,
    })
}
