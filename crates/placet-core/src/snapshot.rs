//! A snapshot: what a decision may look at. It holds loaded values and reads nothing itself.
//!
//! A decision is a pure function of a snapshot, an input and the time. It asks the snapshot for a value by key. A value
//! that was not loaded stops the decision with [`Undecided::NotLoaded`]; the snapshot remembers the key, the caller loads
//! it and decides again. So a decision names exactly what it depends on, and no list of loads beside it can go stale.
//!
//! All values of a snapshot are loaded at one moment, together with the version of each session they belong to. A commit
//! names those versions, and a session that was changed in between is a conflict.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::call::{CallDigest, Chat, ToolCall};
use crate::ids::{AgentId, ChannelName, InteractionId, PersonId, SessionId, StandingGrantId, ToolName};
use crate::interaction::{Asked, CallKey, Interaction};
use crate::journal::{Checkpoints, InboundMessage};
use crate::outgoing::OutboxItem;
use crate::record::{CallHead, CallRecord, RunRecord, SessionRecord};
use crate::standing::StandingGrant;
use crate::time::Timestamp;

/// Why a decision could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Undecided {
    /// The snapshot lacks a value. The caller loads it and decides again.
    #[error("a value was not loaded")]
    NotLoaded,
    /// What is stored contradicts itself.
    #[error("{what}")]
    Corrupt {
        /// What does not fit.
        what: String,
    },
}

/// Declares each kind of look-up once: its method, its key and its value.
macro_rules! lookups {
    ($($(#[$doc:meta])* $method:ident: $kind:ident($key:ty) -> $value:ty;)*) => {
        /// A key of a snapshot.
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Need {
            $($(#[$doc])* $kind($key),)*
        }

        /// A value of a snapshot.
        #[expect(clippy::large_enum_variant, reason = "a snapshot holds a handful, each in a node of its map")]
        #[derive(Debug, Clone, PartialEq)]
        pub enum Found {
            $($(#[$doc])* $kind($value),)*
        }

        impl Snapshot {
            $($(#[$doc])*
            pub fn $method(&self, key: &$key) -> Result<&$value, Undecided> {
                let need = Need::$kind(key.clone());
                match self.values.get(&need) {
                    Some(Ok(Found::$kind(value))) => Ok(value),
                    Some(Ok(_)) => Err(Undecided::Corrupt { what: format!("{need:?} was loaded as another kind") }),
                    Some(Err(what)) => Err(Undecided::Corrupt { what: what.clone() }),
                    None => {
                        self.missing.borrow_mut().insert(need);
                        Err(Undecided::NotLoaded)
                    }
                }
            })*
        }
    };
}

lookups! {
    /// A session, as far as it has come; a new one when nothing has happened in it.
    session: Session(SessionId) -> SessionRecord;
    /// The newest run of a session.
    run: Run(SessionId) -> Option<RunRecord>;
    /// The person who began the first run of a session.
    run_owner: RunOwner(SessionId) -> Option<PersonId>;
    /// The sessions whose open run does a call of this session's run, and theirs.
    descendants: Descendants(SessionId) -> Vec<SessionId>;
    /// The session of the run that a person began and that this session's run works for; itself if it works for none.
    root_of: RootOf(SessionId) -> SessionId;
    /// What has happened in a session so far.
    activity: Activity(SessionId) -> Activity;
    /// The oldest message that waits for the agent of a session, with its journal row.
    next_queued: NextQueued(SessionId) -> Option<(u64, InboundMessage)>;
    /// A call, as far as it has come.
    call: Call(CallKey) -> Option<CallRecord>;
    /// The same without the call itself.
    call_head: CallHead(CallKey) -> Option<CallHead>;
    /// What is stored around a call that is proposed.
    surroundings: Surroundings(ProposedCall) -> Surroundings;
    /// A question, with its votes.
    interaction: Interaction(InteractionId) -> Option<Interaction>;
    /// The open questions of a session that can be read, oldest first.
    pending_in_session: PendingInSession(SessionId) -> Vec<Asked>;
    /// The open questions of a chat, oldest first: asked there, or with a copy sent there.
    pending_in_chat: PendingInChat(Chat) -> PendingInChat;
    /// The copies of a question that were sent, and of its decision.
    copies: Copies(InteractionId) -> Vec<OutboxItem>;
    /// How many questions of an agent are open.
    open_of_agent: OpenOfAgent(AgentId) -> u32;
    /// How many open questions name a person as approver.
    open_for: OpenFor(PersonId) -> u32;
    /// Whether a message has come in before.
    is_seen: Seen(MessageKey) -> bool;
    /// A standing grant that has not been revoked.
    standing: Standing(StandingGrantId) -> Option<StandingGrant>;
    /// The checkpoints so far.
    checkpoints: Checkpoints(()) -> Checkpoints;
}

/// A call that is proposed, by what may be stored about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProposedCall {
    /// Its full name.
    pub key: CallKey,
    /// Its session.
    pub session: SessionId,
    /// Its tool.
    pub tool: ToolName,
    /// Where an approval of it is remembered.
    pub place: String,
    /// Its digest.
    pub digest: CallDigest,
}

impl ProposedCall {
    /// A call and its digest, which was taken before.
    pub fn new(call: &ToolCall, digest: CallDigest) -> Self {
        Self {
            key: CallKey::of(call),
            session: call.session.clone(),
            tool: call.tool.clone(),
            place: place(call),
            digest,
        }
    }
}

/// The place an approval is remembered in: the chat the call came from (`channel:chat`), else its session.
pub fn place(call: &ToolCall) -> String {
    match &call.origin.chat {
        Some(chat) => format!("{}:{}", chat.channel, chat.id),
        None => call.session.to_string(),
    }
}

/// What is stored around a call that is proposed.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// The call itself, when it was proposed before.
    pub known: Option<CallRecord>,
    /// Its session; a new one when nothing has happened in it.
    pub session: SessionRecord,
    /// The standing grants for its tool that were neither revoked nor used up. Some may have ended.
    pub standing: Vec<StandingGrant>,
    /// Until when an approval of exactly this call is remembered in its place. May have passed.
    pub remembered_until: Option<Timestamp>,
    /// The person who rejected exactly this call in its session, with the reason.
    pub rejected: Option<(PersonId, Option<String>)>,
    /// The open question about exactly this call in its session, with the call it was asked for.
    pub pending_same: Option<(InteractionId, CallKey)>,
}

impl Surroundings {
    /// The standing grants that have not ended.
    pub fn standing_at(&self, now: Timestamp) -> Vec<StandingGrant> {
        let in_force = |grant: &&StandingGrant| grant.ends_at > now;
        self.standing.iter().filter(in_force).cloned().collect()
    }
}

/// What has happened in a session so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// Nothing.
    None,
    /// Only messages for its agent.
    Messages,
    /// Only settings, all by one person.
    SetUpBy(PersonId),
    /// More than that.
    Used,
}

/// The open questions of a chat, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PendingInChat {
    /// Those that can be read.
    pub asked: Vec<Asked>,
    /// How many cannot.
    pub unreadable: usize,
}

/// A message of a channel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageKey {
    /// The channel.
    pub channel: ChannelName,
    /// The channel's id of it.
    pub message_id: String,
}

/// What a decision may look at.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    values: BTreeMap<Need, Result<Found, String>>,
    versions: BTreeMap<SessionId, u64>,
    missing: RefCell<BTreeSet<Need>>,
}

impl PartialEq for Snapshot {
    /// Whether two snapshots hold the same; a value that is missing in one of them is not compared.
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values && self.versions == other.versions
    }
}

impl Snapshot {
    /// Adds a value; `Err` says what is wrong with what is stored.
    pub fn insert(&mut self, need: Need, found: Result<Found, String>) {
        self.values.insert(need, found);
    }

    /// Adds the version of a session that a value belongs to.
    pub fn insert_version(&mut self, session: SessionId, version: u64) {
        self.versions.insert(session, version);
    }

    /// The versions of the sessions that its values belong to.
    pub fn versions(&self) -> &BTreeMap<SessionId, u64> {
        &self.versions
    }

    /// Asks for several values before any is used, so that they are loaded together.
    pub fn require(&self, needs: impl IntoIterator<Item = Need>) -> Result<(), Undecided> {
        let mut missing = self.missing.borrow_mut();
        let before = missing.len();
        missing.extend(needs.into_iter().filter(|need| !self.values.contains_key(need)));
        if missing.len() == before {
            Ok(())
        } else {
            Err(Undecided::NotLoaded)
        }
    }

    /// What the last decision asked for and did not find.
    pub fn take_missing(&mut self) -> BTreeSet<Need> {
        std::mem::take(self.missing.get_mut())
    }

    /// The keys of its values.
    pub fn needs(&self) -> BTreeSet<Need> {
        self.values.keys().cloned().collect()
    }
}

impl Found {
    /// The sessions whose changes may change a value, besides the one its key names. Counts, codes in a chat and standing
    /// grants are not tied to a session: a commit checks them itself, or a small error in them does no harm.
    pub fn sessions(&self) -> Vec<&SessionId> {
        match self {
            Self::Descendants(sessions) => sessions.iter().collect(),
            Self::RootOf(root) => vec![root],
            Self::Call(Some(record)) => vec![&record.call.session],
            Self::CallHead(Some(head)) => vec![&head.session],
            Self::Surroundings(around) => around.known.iter().map(|record| &record.call.session).collect(),
            Self::Interaction(Some(interaction)) => vec![&interaction.asked().session],
            // Listed, so that a new kind of value says here what it depends on.
            Self::Session(_)
            | Self::Run(_)
            | Self::RunOwner(_)
            | Self::Activity(_)
            | Self::NextQueued(_)
            | Self::Call(None)
            | Self::CallHead(None)
            | Self::Interaction(None)
            | Self::PendingInSession(_)
            | Self::PendingInChat(_)
            | Self::Copies(_)
            | Self::OpenOfAgent(_)
            | Self::OpenFor(_)
            | Self::Seen(_)
            | Self::Standing(_)
            | Self::Checkpoints(_) => Vec::new(),
        }
    }
}

impl Need {
    /// The session that a key names.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Session(session)
            | Self::Run(session)
            | Self::RunOwner(session)
            | Self::Descendants(session)
            | Self::RootOf(session)
            | Self::Activity(session)
            | Self::NextQueued(session)
            | Self::PendingInSession(session) => Some(session),
            Self::Surroundings(proposed) => Some(&proposed.session),
            Self::Call(_)
            | Self::CallHead(_)
            | Self::Interaction(_)
            | Self::PendingInChat(_)
            | Self::Copies(_)
            | Self::OpenOfAgent(_)
            | Self::OpenFor(_)
            | Self::Seen(_)
            | Self::Standing(_)
            | Self::Checkpoints(()) => None,
        }
    }
}
