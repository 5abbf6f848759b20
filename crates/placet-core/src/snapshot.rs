//! A snapshot: what a decision or a reader may look at. It holds loaded values and reads nothing itself.
//!
//! A decision is a pure function of a snapshot, an input and the time. It asks the snapshot for a value by key. A value
//! that was not loaded stops the decision with [`Undecided::NotLoaded`]; the snapshot remembers the key, the caller loads
//! it and decides again. So a decision names exactly what it depends on, and no list of loads beside it can go stale.
//! Readers do the same: this is the one way anything is read.
//!
//! All values of a snapshot are loaded at one moment, together with the version of each session they belong to. A commit
//! names those versions, and a session that was changed in between is a conflict.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::call::{CallDigest, Chat, ToolCall};
use crate::comment::Comment;
use crate::history::{HistoryPage, Insights, InsightsOf, Labels};
use crate::ids::{
    AgentId, CallId, ChannelName, InteractionId, PersonId, SessionId, StandingGrantId, ToolName,
};
use crate::interaction::{Asked, CallKey, Code, Interaction};
use crate::journal::{Checkpoints, InboundMessage};
use crate::lease::{Fence, Lease, LeaseName, LeaseOwner};
use crate::listing::{
    After, Before, CallsSince, Committed, Counts, Due, DueBy, JournalPage, Member, PendingPage, QuestionsOf,
    RawRow, Sendable, SessionSpan, StandingRow, ToSend,
};
use crate::outgoing::OutboxItem;
use crate::push::Device;
use crate::record::{CallHead, CallRecord, RunRecord, SessionRecord};
use crate::shared::{SharedKey, SharedKind, SharedValue};
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

/// Declares each kind of look-up once: its method, its key and its value. `in` gives the session that the key names, `of` the
/// other sessions whose changes may change the value. Lists and counts have neither: a commit checks what it needs of them
/// itself, or a small error in them does no harm.
macro_rules! lookups {
    ($($(#[$doc:meta])* $method:ident: $kind:ident($key:ty) -> $value:ty
        $(, in |$named:ident| $in:expr)? $(, of |$found:ident| $of:expr)?;)*) => {
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

        impl Need {
            /// The session that a key names.
            pub fn session(&self) -> Option<&SessionId> {
                match self {
                    $($(Self::$kind($named) => Some($in),)?)*
                    _ => None,
                }
            }
        }

        impl Found {
            /// The sessions whose changes may change a value, besides the one its key names.
            pub fn sessions(&self) -> Vec<&SessionId> {
                match self {
                    $($(Self::$kind($found) => $of.collect(),)?)*
                    _ => Vec::new(),
                }
            }
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
    session: Session(SessionId) -> SessionRecord, in |session| session;
    /// The newest run of a session.
    run: Run(SessionId) -> Option<RunRecord>, in |session| session;
    /// The person who began the first run of a session.
    run_owner: RunOwner(SessionId) -> Option<PersonId>, in |session| session;
    /// The sessions whose open run does a call of this session's run, and theirs.
    descendants: Descendants(SessionId) -> Vec<SessionId>,
        in |session| session, of |sessions| sessions.iter();
    /// The session of the run that a person began and that this session's run works for; itself if it works for none.
    root_of: RootOf(SessionId) -> SessionId, in |session| session, of |root| [root].into_iter();
    /// What has happened in a session so far.
    activity: Activity(SessionId) -> Activity, in |session| session;
    /// The oldest message that waits for the agent of a session, with its journal row.
    next_queued: NextQueued(SessionId) -> Option<(u64, InboundMessage)>, in |session| session;
    /// A call, as far as it has come.
    call: Call(CallKey) -> Option<CallRecord>, of |call| call.iter().map(|record| &record.call.session);
    /// The same without the call itself.
    call_head: CallHead(CallKey) -> Option<CallHead>, of |call| call.iter().map(|head| &head.session);
    /// What is stored around a call that is proposed.
    surroundings: Surroundings(ProposedCall) -> Surroundings,
        in |proposed| &proposed.session,
        of |around| around.known.iter().map(|record| &record.call.session);
    /// A question, with its votes.
    interaction: Interaction(InteractionId) -> Option<Interaction>,
        of |question| question.iter().map(|found| &found.asked().session);
    /// The open questions of a session that can be read, oldest first.
    pending_in_session: PendingInSession(SessionId) -> Vec<Asked>, in |session| session;
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
    /// How much there is.
    counts: Counts(()) -> Counts;
    /// The number of the newest journal row; 0 when the journal is empty.
    head: Head(()) -> u64;
    /// Journal rows.
    journal: Journal(JournalPage) -> Vec<Committed>;
    /// The same as stored: for those who pass rows on without looking into each.
    journal_raw: JournalRaw(JournalPage) -> Vec<RawRow>;
    /// The folder agents work in, as the last process that owned the store said when it started.
    workspace: Workspace(()) -> Option<String>;
    /// Sessions, each with its cursor. The system's own is left out.
    sessions_before: SessionsBefore(Before) -> Vec<(u64, SessionId)>;
    /// When a session began and last moved; nothing if it has no row.
    session_span: Span(SessionId) -> Option<SessionSpan>;
    /// The calls that agents named this; ids are unique per agent only.
    calls_named: CallsNamed(CallId) -> Vec<CallKey>;
    /// Calls, each with its journal row and when it was received.
    calls_since: CallsSince(CallsSince) -> Vec<(u64, Timestamp, CallRecord)>;
    /// The tools that calls have named.
    tools_used: ToolsUsed(()) -> BTreeSet<ToolName>;
    /// The calls whose claim is bound to a process that is gone at this moment.
    claimed_by_process: ClaimedByProcess(Timestamp) -> Vec<CallKey>;
    /// A lease, as it was last taken.
    lease: Lease(LeaseName) -> Option<Lease>;
    /// The leases that a process took last.
    leases_of: LeasesOf(LeaseOwner) -> BTreeSet<Fence>;
    /// A value that all processes share. It may have ended.
    shared: Shared(SharedKey) -> Option<SharedValue>;
    /// All of a kind, by their names.
    shared_of: SharedOf(SharedKind) -> BTreeMap<String, SharedValue>;
    /// When a question was asked.
    asked_at: AskedAt(InteractionId) -> Option<Timestamp>;
    /// All questions, each with its cursor.
    questions_before: QuestionsBefore(Before) -> Vec<(u64, InteractionId)>;
    /// Closed questions that a filter admits, each with its cursor, newest first.
    history: History(HistoryPage) -> Vec<(u64, InteractionId)>;
    /// What was asked and decided in a time, counted.
    insights: Insights(InsightsOf) -> Insights;
    /// The comments on a question, in order.
    comments: Comments(InteractionId) -> Vec<Comment>;
    /// The devices that are told of new requests, oldest first.
    devices: Devices(()) -> Vec<Device>;
    /// The key that signs what devices are told.
    push_key: PushKey(()) -> Option<Vec<u8>>;
    /// The tool and the rule of a question.
    question_labels: QuestionLabels(InteractionId) -> Option<Labels>;
    /// The questions of a session, open or not, each with its cursor; nothing in place of one that cannot be read.
    questions_of: QuestionsOf(QuestionsOf) -> Vec<(u64, Option<Asked>)>;
    /// The newest settled question with this code. What cannot be read has no code.
    settled_with_code: SettledWithCode(Code) -> Option<InteractionId>;
    /// Open questions. One that cannot be read hides none of the others.
    pending: Pending(After) -> PendingPage;
    /// What time has come for.
    due: Due(DueBy) -> Due;
    /// The next moment after this one at which a question closes or escalates, or a lease ends.
    next_due: NextDue(Timestamp) -> Option<Timestamp>;
    /// What is to be sent.
    sendable: Sendable(ToSend) -> Sendable;
    /// The sessions in which messages wait.
    queued_sessions: QueuedSessions(()) -> Vec<SessionId>;
    /// Whether an account wrote in a chat, by a message the platform vouched for.
    wrote_in: WroteIn(Member) -> bool;
    /// The standing grants that have not ended by this moment.
    all_standing: AllStanding(Timestamp) -> Vec<StandingRow>;
    /// The sessions whose run has not ended, the longest open first.
    open_runs: OpenRuns(()) -> Vec<SessionId>;
    /// The session in which a person last began a run.
    newest_run_of: NewestRunOf(PersonId) -> Option<SessionId>;
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

/// The time since the last outage. Times of different epochs are not compared: an outage sets the clock and moves deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// The journal row of the outage; 0 before the first.
    pub row: u64,
    /// What the clock showed when the outage ended.
    pub until: Timestamp,
}

/// What a decision may look at.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    values: BTreeMap<Need, Result<Found, String>>,
    versions: BTreeMap<SessionId, u64>,
    epoch: Option<Epoch>,
    missing: RefCell<BTreeSet<Need>>,
}

impl PartialEq for Snapshot {
    /// Whether two snapshots hold the same; a value that is missing in one of them is not compared.
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values && self.versions == other.versions && self.epoch == other.epoch
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

    /// Sets the epoch that its times belong to.
    pub fn set_epoch(&mut self, epoch: Epoch) {
        self.epoch = Some(epoch);
    }

    /// The epoch that its times belong to; nothing before anything was loaded.
    pub fn epoch(&self) -> Option<Epoch> {
        self.epoch
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

    /// A question, with the call it is about, if it is about one.
    pub fn question(
        &self,
        id: &InteractionId,
    ) -> Result<Option<(Interaction, Option<CallRecord>)>, Undecided> {
        let Some(interaction) = self.interaction(id)? else {
            return Ok(None);
        };
        let call = match interaction.asked().call() {
            Some(key) => self.call(key)?.clone(),
            None => None,
        };
        Ok(Some((interaction.clone(), call)))
    }

    /// What to load before deciding again: everything it holds, and what the last decision asked for and did not find.
    /// Nothing if that found everything.
    pub fn wanting(&mut self) -> Option<BTreeSet<Need>> {
        let missing = std::mem::take(self.missing.get_mut());
        (!missing.is_empty()).then(|| self.needs().into_iter().chain(missing).collect())
    }

    /// The keys of its values.
    pub fn needs(&self) -> BTreeSet<Need> {
        self.values.keys().cloned().collect()
    }
}
