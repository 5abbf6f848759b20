//! `on_tool_approve`: the embedding program decides in place of a person.
//!
//! The callback is asked only where policy asks the session's own user (step 13); rules that name approvers stay with those
//! people. It may be registered for every session, or for one and the runs it hands work to: `Engine::on_tool_approve_in`. Its
//! word is an answer like any other: stored before anything runs, bound to the exact call, and its edits are judged again. A
//! callback that panics approves nothing.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use placet_core::call::{Args, ToolCall};
use placet_core::ids::{InteractionId, SessionId};
use placet_core::interaction::{
    Action, Answer, Asked, CallKey, Cancellation, Interaction, InteractionRequest, Locale, Shown, Subject,
};
use placet_core::outcome::Outcome;
use placet_core::principal::{Principal, Via};
use placet_core::steps::{AnswerRefusal, Decides, EditDenial, Proposed};
use placet_core::tool::Category;
use placet_store::{StepError, StoreError};
use serde_json::{Map, Value};

use crate::engine::Engine;
use placet_core::question::Question;

/// What a callback decides on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    pub params: Args,
    /// The call's id.
    pub call_id: String,
    /// Its category.
    pub category: Category,
    /// In which session.
    pub session_id: String,
    /// The whole call.
    pub call: ToolCall,
}

/// What a callback says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolApproval {
    /// Whether it may run.
    pub approved: bool,
    /// With other arguments.
    pub params: Option<Args>,
    /// Why not.
    pub deny_reason: Option<String>,
}

impl ToolApproval {
    /// Yes.
    pub const fn approve() -> Self {
        Self {
            approved: true,
            params: None,
            deny_reason: None,
        }
    }

    /// Yes, with other arguments.
    pub const fn approve_with(params: Args) -> Self {
        Self {
            approved: true,
            params: Some(params),
            deny_reason: None,
        }
    }

    /// No, and why.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self {
            approved: false,
            params: None,
            deny_reason: Some(reason.into()),
        }
    }
}

impl From<bool> for ToolApproval {
    fn from(approved: bool) -> Self {
        Self {
            approved,
            params: None,
            deny_reason: None,
        }
    }
}

/// An answer of the embedding program to a question that a tool puts to people.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionAnswer {
    /// The option, by its id.
    pub option: String,
    /// What is said with it.
    pub feedback: Option<String>,
    /// The data asked for.
    pub data: Option<Map<String, Value>>,
}

impl QuestionAnswer {
    /// One of the options.
    pub fn choose(option: impl Into<String>) -> Self {
        Self {
            option: option.into(),
            feedback: None,
            data: None,
        }
    }

    /// The same, in words as well.
    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        self.feedback = Some(text.into());
        self
    }
}

type Answering = Pin<Box<dyn Future<Output = Option<QuestionAnswer>> + Send>>;

/// Anything that can answer a question: an async closure returning an [`QuestionAnswer`], or `None` when it cannot answer.
pub trait OnQuestion: Send + Sync + 'static {
    /// Answers.
    fn answer(&self, request: InteractionRequest) -> Answering;
}

impl<F, Fut, T> OnQuestion for F
where
    F: Fn(InteractionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = T> + Send + 'static,
    T: Into<Option<QuestionAnswer>>,
{
    fn answer(&self, request: InteractionRequest) -> Answering {
        let answering = self(request);
        Box::pin(async move { answering.await.into() })
    }
}

type Deciding = Pin<Box<dyn Future<Output = ToolApproval> + Send>>;

/// Anything that can decide about a tool use: an async closure returning a `bool` or a [`ToolApproval`].
pub trait OnToolApprove: Send + Sync + 'static {
    /// Decides.
    fn decide(&self, tool_use: ToolUse) -> Deciding;
}

impl<F, Fut, T> OnToolApprove for F
where
    F: Fn(ToolUse) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = T> + Send + 'static,
    T: Into<ToolApproval>,
{
    fn decide(&self, tool_use: ToolUse) -> Deciding {
        let deciding = self(tool_use);
        Box::pin(async move { deciding.await.into() })
    }
}

#[derive(Clone)]
pub(crate) struct Callback(Arc<dyn OnToolApprove>);

impl Callback {
    pub(crate) fn new(callback: impl OnToolApprove) -> Self {
        Self(Arc::new(callback))
    }

    /// Asks the callback on a task of its own, so that a panic in it is a value here: `None`.
    pub(crate) async fn ask(&self, tool_use: ToolUse) -> Option<ToolApproval> {
        let callback = Arc::clone(&self.0);
        tokio::spawn(async move { callback.decide(tool_use).await })
            .await
            .ok()
    }
}

/// Who decides in place of people: in every session, and in some. A session's own comes first.
#[derive(Default)]
pub(crate) struct Callbacks {
    everywhere: Option<Callback>,
    sessions: BTreeMap<SessionId, (u64, Callback)>,
    questions: BTreeMap<SessionId, (u64, Arc<dyn OnQuestion>)>,
    registered: u64,
}

impl Callbacks {
    pub(crate) fn decide_everywhere(&mut self, callback: Callback) {
        self.everywhere = Some(callback);
    }

    fn decide_in(&mut self, session: SessionId, callback: Callback) -> u64 {
        self.registered += 1;
        self.sessions.insert(session, (self.registered, callback));
        self.registered
    }

    fn answer_in(&mut self, session: SessionId, callback: Arc<dyn OnQuestion>) -> u64 {
        self.registered += 1;
        self.questions.insert(session, (self.registered, callback));
        self.registered
    }

    /// Forgets a registration, unless a newer one took its place.
    fn forget(&mut self, session: &SessionId, registration: u64) {
        if matches!(self.sessions.get(session), Some((newest, _)) if *newest == registration) {
            self.sessions.remove(session);
        }
        if matches!(self.questions.get(session), Some((newest, _)) if *newest == registration) {
            self.questions.remove(session);
        }
    }

    pub(crate) fn of(&self, session: &SessionId) -> Option<Callback> {
        let own = self.sessions.get(session).map(|(_, callback)| callback);
        own.or(self.everywhere.as_ref()).cloned()
    }

    pub(crate) fn question_of(&self, session: &SessionId) -> Option<Arc<dyn OnQuestion>> {
        self.questions
            .get(session)
            .map(|(_, callback)| Arc::clone(callback))
    }

    /// Where questions of calls are answered.
    pub(crate) fn answers(&self) -> Decides {
        Decides::In(self.questions.keys().cloned().collect())
    }

    pub(crate) fn reach(&self) -> Decides {
        match self.everywhere {
            Some(_) => Decides::Everywhere,
            None => Decides::In(self.sessions.keys().cloned().collect()),
        }
    }
}

/// A callback that decides in one session until this is dropped.
#[must_use = "dropped, it decides nothing any more"]
pub struct Registered {
    engine: Engine,
    session: SessionId,
    registration: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.engine
            .change_callbacks(|callbacks| callbacks.forget(&self.session, self.registration));
    }
}

impl Engine {
    /// Lets `callback` decide about the calls of one session, in place of its own user, until what is returned is dropped.
    /// Questions it left open when the process died before are given to it again. Other sessions are asked as before.
    pub fn on_tool_approve_in(&self, session: &SessionId, callback: impl OnToolApprove) -> Registered {
        let callback = Callback::new(callback);
        self.register_in(session, |callbacks, session| {
            callbacks.decide_in(session, callback)
        })
    }

    /// Lets `callback` answer what the calls of one session ask people (`askUserQuestion`), in place of its own user, until what is
    /// returned is dropped.
    pub fn on_question_in(&self, session: &SessionId, callback: impl OnQuestion) -> Registered {
        let callback = Arc::new(callback);
        self.register_in(session, |callbacks, session| {
            callbacks.answer_in(session, callback)
        })
    }

    fn register_in(
        &self,
        session: &SessionId,
        register: impl FnOnce(&mut Callbacks, SessionId) -> u64,
    ) -> Registered {
        let decided = session.clone();
        let registration = self.change_callbacks(|callbacks| register(callbacks, decided));
        let (engine, looked) = (self.clone(), session.clone());
        self.spawn(async move {
            if let Err(error) = engine.consult_again(&looked).await {
                tracing::error!(%error, "open questions could not be passed to the callback; they will expire");
            }
        });
        Registered {
            engine: self.clone(),
            session: session.clone(),
            registration,
        }
    }

    async fn consult_again(&self, session: &SessionId) -> Result<(), StoreError> {
        let look = self.store().look(|stored| {
            let mut open = stored.pending_in_session(session)?.clone();
            for child in stored.descendants(session)? {
                open.extend_from_slice(stored.pending_in_session(child)?);
            }
            Ok(open)
        });
        for asked in look.await? {
            let question = self.broker().readable(&asked.id).await?;
            if let Some(record) = question.and_then(|question| question.call) {
                self.consult(&record.call, asked.id, record.verdict.category);
            }
        }
        Ok(())
    }

    /// Lets the registered callback answer the question a proposal led to, if it is the one asked.
    pub(crate) fn consult_callback(&self, call: &ToolCall, proposed: &Proposed) {
        if let Some((id, category)) = proposed.parked_on() {
            self.consult(call, id, category);
        }
    }

    fn consult(&self, call: &ToolCall, id: InteractionId, category: Category) {
        let engine = self.clone();
        let in_force = engine.in_force();
        let person = in_force.reach.callback.clone();
        let decides = [&in_force.reach.callback_decides, &in_force.reach.callback_answers];
        let is_registered = decides.iter().any(|decides| **decides != Decides::default());
        let Some(person) = person.filter(|_| is_registered) else {
            return;
        };
        let tool_use = ToolUse {
            name: call.tool.to_string(),
            params: call.args.clone(),
            call_id: call.id.to_string(),
            category,
            session_id: call.session.to_string(),
            call: call.clone(),
        };
        let session = call.session.clone();
        engine.clone().spawn(async move {
            let root = match engine
                .store()
                .look(|stored| stored.root_of(&session).cloned())
                .await
            {
                Ok(root) => root,
                Err(error) => {
                    tracing::error!(%error, %id, "a callback could not be found; its question will expire");
                    return;
                }
            };
            let broker = engine.broker();
            let question = broker.question(&id).await;
            let by = Principal::Person {
                person,
                via: Via::Callback,
            };
            let Ok(Some(Question {
                interaction: Interaction::Pending(pending),
                ..
            })) = question
            else {
                return;
            };
            // Not for this callback: a rule names people, or the same call is being decided already.
            if !pending.asks(&by) || pending.asked.call() != Some(&CallKey::of(&tool_use.call)) {
                return;
            }
            let answer = if let Subject::Request { request, .. } = &pending.asked.subject {
                let Some(callback) = engine
                    .question_callback(&session)
                    .or_else(|| engine.question_callback(&root))
                else {
                    return;
                };
                let answered = ask_question(callback, (**request).clone()).await;
                answered.map(|answered| question_answer(by, answered))
            } else {
                let Some(callback) = engine.callback(&session).or_else(|| engine.callback(&root)) else {
                    return;
                };
                let approval = callback.ask(tool_use.clone()).await;
                approval.map(|approval| callback_answer(by, &pending.asked, &tool_use, approval))
            };
            let refused = match answer {
                Some(answer) => broker.answer(&id, answer).await.err(),
                None => Some(StepError::Refused(AnswerRefusal::EditDenied(
                    EditDenial::CallbackFailed,
                ))),
            };
            if let Some(refusal) = refused {
                // The callback approves nothing it may not approve; the call gets a reason of its own.
                let outcome = Outcome::Cancelled {
                    why: format!("the approval callback's answer was not taken: {refusal}"),
                };
                let why = Cancellation::Withdrawn {
                    by: "callback".into(),
                };
                if let Err(error) = broker.cancel(&id, why, outcome).await {
                    tracing::error!(%error, %id, "a question could not be withdrawn; it will expire");
                }
            }
        });
    }
}

/// Asks the callback on a task of its own, so that a panic in it is a value here: `None`.
async fn ask_question(callback: Arc<dyn OnQuestion>, request: InteractionRequest) -> Option<QuestionAnswer> {
    let asked = tokio::spawn(async move { callback.answer(request).await });
    asked.await.ok().flatten()
}

fn question_answer(by: Principal, answered: QuestionAnswer) -> Answer {
    Answer {
        by,
        option: answered.option,
        feedback: answered.feedback,
        data: answered.data,
        edited_args: None,
        instruction: None,
        remember: None,
        shown: Shown::Program,
    }
}

fn callback_answer(by: Principal, asked: &Asked, tool_use: &ToolUse, approval: ToolApproval) -> Answer {
    let options = asked.options(Locale::English);
    let find = |action| {
        options
            .iter()
            .find(|option| option.action == action)
            .map(|option| option.option_id.clone())
    };
    let no = || {
        find(Action::RejectWithReason)
            .or_else(|| find(Action::Skip))
            .or_else(|| find(Action::Terminate))
    };
    let option = if approval.approved {
        find(Action::ApproveAndExecute)
    } else {
        no()
    };
    Answer {
        by,
        option: option.unwrap_or_default(),
        feedback: approval.deny_reason,
        data: None,
        edited_args: approval
            .params
            .filter(|params| approval.approved && *params != tool_use.params),
        instruction: None,
        remember: None,
        shown: Shown::Program,
    }
}
