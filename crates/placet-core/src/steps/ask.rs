//! Putting a question: who is asked, where, for how long, under which code.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::{Chat, ToolCall};
use crate::evidence::Evidence;
use crate::ids::{AgentId, ChannelName, InteractionId, PersonId, SessionId};
use crate::interaction::{Asked, Audience, Code, Escalating, InteractionRequest, RequestError, Subject};
use crate::journal::Event;
use crate::outcome::{Nobody, OpenOf};
use crate::outgoing::{Change, OutKind, Outgoing};
use crate::snapshot::{Need, Snapshot, Undecided};
use crate::step::{Decided, Refusal};
use crate::time::{Millis, Timestamp};
use crate::tool::Risk;
use crate::variables;
use crate::verdict::{Approvers, AskTerms};

use super::{Draft, Rules, open_run};

/// An id and a random number, made outside so that the step stays a function of its arguments.
#[derive(Debug, Clone)]
pub struct Fresh {
    /// For the question.
    pub id: InteractionId,
    /// For its code.
    pub random: u64,
}

/// Where questions can be brought.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// Channels that exist.
    pub channels: BTreeSet<ChannelName>,
    /// Channels that other processes connect to: their people find their questions in the inbox meanwhile.
    pub elsewhere: BTreeMap<ChannelName, Elsewhere>,
    /// Whether the inbox is served.
    pub inbox: InboxReach,
    /// For each person, their own chats.
    pub chats_of: BTreeMap<PersonId, Vec<Chat>>,
    /// The name under which the embedding program decides in place of a person.
    pub callback: Option<PersonId>,
    /// Where it does.
    pub callback_decides: Decides,
    /// Where it answers the questions about calls.
    pub callback_answers: Decides,
}

/// What becomes of what is to be shown on a channel that only other processes connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elsewhere {
    /// It is queued for the process that delivers there.
    Delivered,
    /// It may never be read, so nothing new is queued; what is queued already is left alone.
    InboxOnly,
}

impl Reach {
    /// Whether a copy for this channel is worth queueing: this process delivers it, or another one will.
    pub(crate) fn delivers(&self, channel: &ChannelName) -> bool {
        self.channels.contains(channel) || self.elsewhere.get(channel) == Some(&Elsewhere::Delivered)
    }
}

/// Where the embedding program decides in place of the session's own user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decides {
    /// In these sessions.
    In(BTreeSet<SessionId>),
    /// In every session.
    Everywhere,
}

impl Default for Decides {
    fn default() -> Self {
        Self::In(BTreeSet::new())
    }
}

impl Decides {
    /// Whether it decides about the calls of a session; about those of a run that does a call of another one, if it decides
    /// about that one's.
    fn about(&self, snapshot: &Snapshot, session: &SessionId) -> Result<bool, Undecided> {
        Ok(match self {
            Self::Everywhere => true,
            Self::In(sessions) if sessions.is_empty() => false,
            Self::In(sessions) => sessions.contains(session) || sessions.contains(snapshot.root_of(session)?),
        })
    }
}

/// Whether the inbox is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InboxReach {
    /// Yes.
    #[default]
    Open,
    /// No: a question without a channel has no approver.
    Closed,
}

/// A question about to be put.
pub(crate) struct Question<'a> {
    pub(crate) fresh: &'a Fresh,
    pub(crate) call: &'a ToolCall,
    pub(crate) subject: Subject,
    pub(crate) terms: &'a AskTerms,
    pub(crate) timeout: Millis,
    pub(crate) risk: Risk,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) tool_description: Option<String>,
}

/// Builds the question and queues a copy for every place it should be seen in; or says why no approver can be reached.
pub(crate) fn put(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    question: Question<'_>,
) -> Result<Result<(Asked, Draft), Nobody>, Undecided> {
    let origin = &question.call.origin;
    let session = &question.call.session;
    let callback = deciding_callback(rules.reach, snapshot, session, &question.subject, question.terms)?;
    let audience = match callback {
        Some(callback) => Audience::People(BTreeSet::from([callback.clone()])),
        None => match (audience(rules.reach, &question), &question.subject) {
            (Ok(audience), _) => audience,
            // What may have happened has to be asked, in the inbox if need be.
            (Err(Nobody::UnknownUser), Subject::UnknownOutcome { .. }) => Audience::Inbox,
            (Err(nobody), _) => return Ok(Err(nobody)),
        },
    };
    let escalation = question.terms.escalate.as_ref().map(|escalation| Escalating {
        at: now + escalation.after,
        to: escalation.to.iter().cloned().collect(),
    });
    // A program needs no copy to read, and people would be shown a question that is not theirs.
    let targets = match callback {
        Some(_) => BTreeSet::new(),
        None => targets(rules.reach, origin.chat.as_ref(), &audience),
    };
    // A copy that waits for another process is not seen until then.
    let shown = |chat: &Chat| rules.reach.channels.contains(&chat.channel);
    if callback.is_none() && !targets.iter().any(shown) {
        let chat = origin.chat.as_ref();
        let nobody = unreachable(rules.reach, chat, &question.subject);
        if let Some(nobody) = nobody.or_else(|| no_account(&targets, &audience, &question.subject)) {
            return Ok(Err(nobody));
        }
    }
    let here = targets.iter().cloned().map(Need::PendingInChat);
    let bounds = bounds(&question, &audience);
    snapshot.require(here.chain(bounds))?;
    let asked = Asked {
        id: question.fresh.id.clone(),
        session: question.call.session.clone(),
        subject: question.subject,
        admins: callback.is_none() && question.terms.approvers == Approvers::SessionUser,
        audience,
        quorum: question.terms.quorum,
        requester: origin.user.clone(),
        not_requester: question.terms.not_requester,
        since: now,
        deadline: now + question.timeout,
        escalation,
        code: free_code(snapshot, &targets, question.fresh.random)?,
        risk: question.risk,
        group: question.call.group.clone(),
        chat: origin.chat.clone(),
        evidence: question.evidence,
        tool_description: question.tool_description,
    };
    if let Some(nobody) = too_few(&asked) {
        return Ok(Err(nobody));
    }
    let mut draft = Draft::new(&asked.session);
    draft.event(Event::Asked(Box::new(asked.clone())));
    for chat in targets {
        enqueue_question(&mut draft, &asked.id, &chat);
    }
    Ok(Ok((asked, draft)))
}

/// What [`too_many`] counts.
fn bounds(question: &Question<'_>, audience: &Audience) -> Vec<Need> {
    let agent = Need::OpenOfAgent(question.call.origin.agent.clone());
    match audience {
        Audience::People(people) => {
            let people = people.iter().cloned().map(Need::OpenFor);
            people.chain([agent]).collect()
        }
        Audience::Inbox => vec![agent],
    }
}

/// Queues one copy of a question.
pub(crate) fn enqueue_question(draft: &mut Draft, id: &InteractionId, chat: &Chat) {
    draft.change(Change::Enqueue(Outgoing {
        key: format!("{id}:question:{}:{}", chat.channel, chat.id),
        channel: chat.channel.clone(),
        chat: chat.id.clone(),
        interaction: Some(id.clone()),
        kind: OutKind::Question,
        body: String::new(),
    }));
}

/// The callback, where it decides about calls, or answers what a call asks, in place of the session's own user. What an agent asks without
/// a call, and what may have happened already, is for people.
pub(crate) fn deciding_callback<'r>(
    reach: &'r Reach,
    snapshot: &Snapshot,
    session: &SessionId,
    subject: &Subject,
    terms: &AskTerms,
) -> Result<Option<&'r PersonId>, Undecided> {
    let (Some(callback), Approvers::SessionUser) = (&reach.callback, &terms.approvers) else {
        return Ok(None);
    };
    let decides = match subject {
        Subject::Call { .. } => &reach.callback_decides,
        Subject::Request { call: Some(_), .. } => &reach.callback_answers,
        Subject::Request { call: None, .. } | Subject::UnknownOutcome { .. } | Subject::Breaker { .. } => {
            return Ok(None);
        }
    };
    Ok(decides.about(snapshot, session)?.then_some(callback))
}

fn audience(reach: &Reach, question: &Question<'_>) -> Result<Audience, Nobody> {
    let only = |person: &PersonId| Audience::People(BTreeSet::from([person.clone()]));
    let (terms, origin) = (question.terms, &question.call.origin);
    match (&terms.approvers, &origin.user, &origin.chat) {
        (Approvers::People(people), _, _) => Ok(Audience::People(people.iter().cloned().collect())),
        // An account in no `[[people]]` never approves HIGH, so others are asked.
        (Approvers::SessionUser, Some(user), Some(_))
            if question.risk == Risk::High && !user.is_configured() =>
        {
            match reach.inbox {
                InboxReach::Open => Ok(Audience::Inbox),
                InboxReach::Closed => Err(Nobody::Unlinked { user: user.clone() }),
            }
        }
        (Approvers::SessionUser, Some(user), Some(_)) => Ok(only(user)),
        (Approvers::SessionUser, None, Some(_)) => Err(Nobody::UnknownUser),
        (Approvers::SessionUser, Some(user), None) if user.is_configured() => Ok(only(user)),
        (Approvers::SessionUser, _, None) => Ok(Audience::Inbox),
    }
}

/// The chats a question is shown in: where the call came from, and the named people's own.
fn targets(reach: &Reach, origin: Option<&Chat>, audience: &Audience) -> BTreeSet<Chat> {
    let mut targets: BTreeSet<Chat> = origin.into_iter().cloned().collect();
    if let Audience::People(people) = audience {
        targets.extend(
            people
                .iter()
                .flat_map(|person| reach.chats_of.get(person).into_iter().flatten())
                .cloned(),
        );
    }
    targets.retain(|chat| reach.delivers(&chat.channel));
    targets
}

/// Why no approver would see a question that is shown in no chat for now.
fn unreachable(reach: &Reach, origin: Option<&Chat>, subject: &Subject) -> Option<Nobody> {
    let Some(chat) = origin else {
        return (reach.inbox == InboxReach::Closed).then_some(Nobody::NoInbox);
    };
    // What may have happened has to be asked, wherever its people are by now.
    let known =
        reach.elsewhere.contains_key(&chat.channel) || matches!(subject, Subject::UnknownOutcome { .. });
    let in_inbox = known && reach.inbox == InboxReach::Open;
    (!in_inbox).then(|| Nobody::NoChannel {
        channel: chat.channel.clone(),
    })
}

/// An account that no one linked to a person answers in its chat only, so a question that is brought to no chat is for none of them.
fn no_account(targets: &BTreeSet<Chat>, audience: &Audience, subject: &Subject) -> Option<Nobody> {
    // What may have happened has to be asked; an admin can answer that.
    let (Audience::People(people), false) = (audience, matches!(subject, Subject::UnknownOutcome { .. }))
    else {
        return None;
    };
    if !targets.is_empty() || people.iter().any(PersonId::is_configured) {
        return None;
    }
    let first = people.first().cloned();
    first.map(|user| Nobody::NoAccount { user })
}

/// A quorum that can never be reached is a question that cannot be approved.
fn too_few(asked: &Asked) -> Option<Nobody> {
    let Audience::People(people) = &asked.audience else {
        return None;
    };
    let mut able = people.clone();
    able.extend(
        asked
            .escalation
            .iter()
            .flat_map(|escalation| escalation.to.iter().cloned()),
    );
    if asked.not_requester
        && let Some(requester) = &asked.requester
    {
        able.remove(requester);
    }
    let able = u32::try_from(able.len()).unwrap_or(u32::MAX);
    (able < asked.quorum.max(1)).then_some(Nobody::TooFew {
        quorum: asked.quorum,
        able,
    })
}

/// Whose bound another question would exceed: its agent's, or that of a person it names. An agent that asks in ever new
/// sessions would bury what others ask.
pub(crate) fn too_many(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    asked: &Asked,
) -> Result<Option<(u32, OpenOf)>, Undecided> {
    let bounds = &rules.config.approval;
    let max = bounds.agent_open_questions_max;
    if *snapshot.open_of_agent(asked.agent())? >= max {
        return Ok(Some((max, OpenOf::Agent)));
    }
    let max = bounds.person_open_questions_max;
    if let Audience::People(people) = &asked.audience {
        for person in people {
            if *snapshot.open_for(person)? >= max {
                return Ok(Some((max, OpenOf::Person(person.clone()))));
            }
        }
    }
    Ok(None)
}

/// A code no other open question has in any chat this one is shown in.
fn free_code(snapshot: &Snapshot, chats: &BTreeSet<Chat>, random: u64) -> Result<Code, Undecided> {
    let mut taken = BTreeSet::new();
    for chat in chats {
        let here = snapshot.pending_in_chat(chat)?;
        taken.extend(here.asked.iter().map(|asked| asked.code));
    }
    // One more try than there are codes taken, each a different code: one of them is free.
    let tries = u64::try_from(taken.len()).unwrap_or(0);
    let mut codes = (0..=tries).map(|step| Code::from_random(random.wrapping_add(step)));
    Ok(codes
        .find(|code| !taken.contains(code))
        .unwrap_or_else(|| Code::from_random(random)))
}

/// Why an agent's own question is not put.
#[derive(Debug, thiserror::Error)]
pub enum AskRefusal {
    /// It is malformed.
    #[error(transparent)]
    Invalid(#[from] RequestError),
    /// The id exists already.
    #[error("the request id `{0}` is taken")]
    IdTaken(InteractionId),
    /// The session is another agent's, or Placet's own.
    #[error("there is no session `{0}` for this agent")]
    NotYours(SessionId),
    /// The session has been ended.
    #[error("this session has been ended")]
    SessionOver,
    /// There are too many open questions.
    #[error("{max} requests are pending {of} already")]
    TooManyOpen {
        /// How many are allowed.
        max: u32,
        /// Whose they are.
        of: OpenOf,
    },
    /// No approver can be reached.
    #[error("no approver is available: {0}")]
    NobodyToAsk(Nobody),
}

impl Refusal for AskRefusal {}

/// Puts an agent's own question to people.
pub fn ask_request(
    rules: &Rules<'_>,
    snapshot: &Snapshot,
    now: Timestamp,
    fresh: &Fresh,
    call: &ToolCall,
    request: &InteractionRequest,
) -> Decided<Asked, AskRefusal> {
    let mut request = request.clone().checked().map_err(AskRefusal::from)?;
    let id = request.request_id.clone().unwrap_or_else(|| fresh.id.clone());
    if snapshot.interaction(&id)?.is_some() {
        return Err(AskRefusal::IdTaken(id).into());
    }
    let session = snapshot.session(&request.session_id)?;
    if !session.is_open_to(&call.origin.agent) {
        return Err(AskRefusal::NotYours(request.session_id).into());
    }
    if session.ended {
        return Err(AskRefusal::SessionOver.into());
    }
    let max = rules.config.approval.open_questions_max;
    if session.open_questions >= max {
        let of = OpenOf::Session;
        return Err(AskRefusal::TooManyOpen { max, of }.into());
    }
    request.request_id = Some(id.clone());
    if let Some(run) = open_run(snapshot, &request.session_id)? {
        variables::complete(&mut request, &run.variables);
    }
    let timeout = request.timeout_seconds.map_or_else(
        || rules.config.timeout(None, None, super::channel_of(call)),
        Millis::from_secs,
    );
    let fresh = Fresh {
        id,
        random: fresh.random,
    };
    let agent: AgentId = call.origin.agent.clone();
    let risk = request.risk.unwrap_or(Risk::Low);
    let question = Question {
        fresh: &fresh,
        call,
        subject: Subject::Request {
            agent,
            request: Box::new(request),
            call: None,
        },
        terms: &AskTerms::plain(),
        timeout,
        risk,
        evidence: Vec::new(),
        tool_description: None,
    };
    match put(rules, snapshot, now, question)? {
        Ok((asked, draft)) => match too_many(rules, snapshot, &asked)? {
            Some((max, of)) => Err(AskRefusal::TooManyOpen { max, of }.into()),
            None => Ok(draft.finish(asked)),
        },
        Err(nobody) => Err(AskRefusal::NobodyToAsk(nobody).into()),
    }
}
