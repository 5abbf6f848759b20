//! The broker: questions to people, and their answers.

use placet_core::analysis::Places as _;
use placet_core::call::{Args, Origin, ToolCall};
use placet_core::comment::Comment;
use placet_core::ids::{CallId, IdError, InteractionId, PersonId, SessionId, StandingGrantId, ToolName};
use placet_core::interaction::{
    Answer, Asked, Cancellation, Code, Interaction, InteractionOption, InteractionRequest, Locale,
    Resolution, Subject,
};
use placet_core::listing::{After, PendingPage, PendingRow, StandingRow};
use placet_core::outcome::Nobody;
use placet_core::outcome::Outcome;
use placet_core::policy::Mode;
use placet_core::principal::Principal;
use placet_core::question::Question;
use placet_core::standing::{ProposedRule, Scope};
use placet_core::steps::{
    self, AnswerRefusal, Answered, AskRefusal, Authority, CommentRefusal, Edit, Reply, RevokeRefusal,
    SettingRefusal,
};
use placet_core::time::Timestamp;
use placet_core::tool::Risk;
use placet_core::variables;
use placet_core::verdict::Step;
use placet_store::{StepError, StoreError};
use serde_json::Value;

use crate::engine::Engine;
use crate::gate::Submission;
use crate::review::{self, Covered, GrantPreview};

/// How far back people are shown what a rule would have covered.
const WEEK_MILLIS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Complaints about edited arguments that are listed at once.
const COMPLAINTS_MAX: usize = 20;

/// The broker of an [`Engine`].
#[derive(Clone)]
pub struct Broker {
    engine: Engine,
}

impl Engine {
    /// The broker.
    pub fn broker(&self) -> Broker {
        Broker { engine: self.clone() }
    }
}

impl Broker {
    /// Takes a person's answer. The principal comes from the transport, never from a message's body.
    ///
    /// ```
    /// use placet_core::call::ToolCall;
    /// use placet_core::config::Config;
    /// use placet_core::ids::PersonId;
    /// use placet_core::interaction::{Answer, Locale, Shown};
    /// use placet_core::principal::{Principal, Via};
    /// use placet_core::render::{Markup, Surface, to_text};
    /// use placet_engine::{Engine, Proposed};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::builder(Config::builtin(placet_inspect::builtin())).start_in_memory().await?;
    /// let call: ToolCall = serde_json::from_value(json!({
    ///     "id": "call_1", "tool": "deploy", "args": { "to": "staging" },
    ///     "session": "job-1", "origin": { "agent": "my-agent" },
    /// }))?;
    /// let Proposed::Parked { on, .. } = engine.gate().propose(call).await? else { panic!("a person must agree") };
    ///
    /// let broker = engine.broker();
    /// let question = broker.question(&on).await?.expect("it was just asked");
    /// let surface = Surface { width: Some(100), chars_max: None, markup: Markup::Plain, elsewhere: None };
    /// let shown = to_text(&question.document(Locale::English), &surface);
    /// println!("{}", shown.text);
    /// let answer = Answer {
    ///     by: Principal::Person { person: PersonId::new("lin")?, via: Via::Inbox },
    ///     option: "reject".into(),
    ///     feedback: Some("not on a Friday".into()),
    ///     data: None,
    ///     edited_args: None,
    ///     instruction: None,
    ///     remember: None,
    ///     shown: shown.shown(),
    /// };
    /// broker.answer(&on, answer.clone()).await?;
    /// let late = broker.answer(&on, answer).await.unwrap_err();
    /// assert!(late.to_string().contains("already decided: `reject` by lin"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn answer(
        &self,
        id: &InteractionId,
        answer: Answer,
    ) -> Result<Answered, StepError<AnswerRefusal>> {
        self.answer_with(id, answer, Authority::Approver).await
    }

    /// The same by a person of whom the transport says what else they may do.
    pub async fn answer_with(
        &self,
        id: &InteractionId,
        mut answer: Answer,
        authority: Authority,
    ) -> Result<Answered, StepError<AnswerRefusal>> {
        self.check_data(id, &answer).await?;
        self.seal_secret(id, &mut answer).await?;
        let edit = match answer.edited_args.take() {
            None => None,
            Some(args) => {
                let question = self.question(id).await?;
                let not_found = || StepError::Refused(AnswerRefusal::NotFound(id.clone()));
                let question = question.ok_or_else(not_found)?;
                self.edit(&question, args).await.and_then(|(args, edit)| {
                    answer.edited_args = Some(args);
                    edit
                })
            }
        };
        let wide = answer
            .remember
            .as_ref()
            .map(|remember| &remember.scope)
            .filter(|scope| scope.reach().is_wide());
        let refused_before = match wide {
            Some(scope) => self.last_week(scope).await?.refused > 0,
            None => false,
        };
        let fresh = Engine::fresh().map_err(|_| StepError::Refused(AnswerRefusal::NotFound(id.clone())))?;
        let reply = Reply {
            id: id.clone(),
            answer,
            edit,
            authority,
            refused_before,
            fresh,
        };
        let in_force = self.engine.in_force();
        self.engine
            .transact(|snapshot, now| steps::answer(&in_force.rules(), snapshot, now, &reply))
            .await
    }

    /// Checks data against the schema in the question's context, before secrets in it are sealed. Who is not asked learns nothing of it.
    async fn check_data(&self, id: &InteractionId, answer: &Answer) -> Result<(), StepError<AnswerRefusal>> {
        let Some(data) = &answer.data else {
            return Ok(());
        };
        let look = self.engine.store().look(|stored| {
            let asked = stored.interaction(id)?.as_ref().map(Interaction::asked);
            Ok(asked.and_then(|asked| match &asked.subject {
                // New values of a workflow's variables are checked against the variables themselves, in the step.
                Subject::Request { request, .. }
                    if asked.concerns(&answer.by, true)
                        && request.context.get("operationType").and_then(Value::as_str)
                            != Some(variables::OPERATION) =>
                {
                    request.context.get("schema").cloned()
                }
                _ => None,
            }))
        });
        let Some(schema) = look.await?.filter(Value::is_object) else {
            return Ok(());
        };
        let fits = fits(&schema, &Value::Object(data.clone()));
        fits.map_err(|error| StepError::Refused(AnswerRefusal::DataInvalid(error)))
    }

    /// Seals what is typed into a field for secrets, before anything of it is stored.
    async fn seal_secret(&self, id: &InteractionId, answer: &mut Answer) -> Result<(), StoreError> {
        if answer.feedback.is_none() && answer.data.is_none() {
            return Ok(());
        }
        let look = self.engine.store().look(|stored| {
            Ok(stored
                .interaction(id)?
                .as_ref()
                .map(|found| found.asked().clone()))
        });
        let options = look
            .await?
            .map(|asked| asked.options(Locale::English))
            .unwrap_or_default();
        let is_secret = |option: &InteractionOption| option.option_id == answer.option && option.input_secret;
        if !options.iter().any(is_secret) {
            return Ok(());
        }
        // What cannot be sealed stays as it is, and the step refuses it.
        if let Some(Value::String(sealed)) = answer
            .feedback
            .clone()
            .and_then(|text| self.engine.sealed(text.into()))
        {
            answer.feedback = Some(sealed);
        }
        if let Some(Value::Object(sealed)) = answer
            .data
            .clone()
            .and_then(|data| self.engine.sealed(data.into()))
        {
            answer.data = Some(sealed);
        }
        Ok(())
    }

    /// Edited arguments and what they would do; found out before the transaction. Arguments sent back as they were shown change
    /// nothing, and make no vote void.
    pub(crate) async fn edit(&self, question: &Question, args: Args) -> Option<(Args, Option<Edit>)> {
        if question.args() == Some(&args) {
            return None;
        }
        let edit = self.inspect_edit(question, &args).await;
        Some((args, edit))
    }

    async fn inspect_edit(&self, question: &Question, args: &Args) -> Option<Edit> {
        let record = question.call.as_ref()?;
        // What its agent declared it to be, and whatever else was found, still holds: an edit makes nothing harmless.
        let tool = self.engine.tool(&Submission {
            category: Some(record.verdict.category),
            risk: Some(record.verdict.risk),
            ..Submission::from(record.call.clone())
        });
        let fits = tool
            .schema
            .as_ref()
            .map_or(Ok(()), |schema| fits(schema, args.as_value()));
        let evidence = match fits {
            Ok(()) => self.engine.evidence(&record.call.with_args(args.clone())).await,
            Err(_) => Vec::new(),
        };
        Some(Edit {
            findings: self.engine.inspect(&tool, args),
            tool,
            fits,
            evidence,
        })
    }

    /// Puts an agent's own question to people.
    pub async fn ask(
        &self,
        request: InteractionRequest,
        origin: Origin,
    ) -> Result<Asked, StepError<AskRefusal>> {
        let bad_id =
            |error: IdError| StepError::Refused(AskRefusal::NobodyToAsk(Nobody::Written(error.to_string())));
        let fresh = Engine::fresh().map_err(bad_id)?;
        let call = ToolCall {
            id: CallId::new(fresh.id.as_str()).map_err(bad_id)?,
            tool: ToolName::new("askUserQuestion").map_err(bad_id)?,
            args: Args::empty(),
            session: request.session_id.clone(),
            origin,
            group: None,
            description: None,
        };
        let in_force = self.engine.in_force();
        self.engine
            .transact(|snapshot, now| {
                steps::ask_request(&in_force.rules(), snapshot, now, &fresh, &call, &request)
            })
            .await
    }

    /// Waits until a question is settled. Dropping the wait changes nothing.
    pub async fn wait(&self, id: &InteractionId) -> Result<Option<Resolution>, StoreError> {
        loop {
            let settled = self.engine.inner.waiters.for_question(id);
            let look = self
                .engine
                .inner
                .store
                .look(|stored| stored.interaction(id).cloned());
            match look.await? {
                None => return Ok(None),
                Some(Interaction::Resolved(resolved) | Interaction::Processed(resolved)) => {
                    return Ok(Some(resolved.resolution));
                }
                Some(Interaction::Pending(_)) => {}
            }
            if let Some(resolution) = self.engine.unless_stopped(settled).await? {
                return Ok(Some(resolution));
            }
        }
    }

    /// Says that an agent has read what became of its own question.
    pub async fn acknowledge(&self, id: &InteractionId) -> Result<(), StoreError> {
        let told = self
            .engine
            .transact(|snapshot, _| steps::told_question(snapshot, id));
        told.await.map_err(StepError::into_store_error)
    }

    /// One question, with everything needed to show it.
    pub async fn question(&self, id: &InteractionId) -> Result<Option<Question>, StoreError> {
        let store = &self.engine.inner.store;
        let now = store.now();
        let Some((interaction, call)) = store.look(|stored| stored.question(id)).await? else {
            return Ok(None);
        };
        Ok(Some(Question::new(interaction, call, now)?))
    }

    /// The same in a list: one that cannot be read is logged and left out, and hides none of the others.
    pub async fn readable(&self, id: &InteractionId) -> Result<Option<Question>, StoreError> {
        match self.question(id).await {
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(question = %id, %error, "a question cannot be read");
                Ok(None)
            }
            question => question,
        }
    }

    /// What "don't ask again" could cover for the call a question is about, narrowest first. Nothing where it would not
    /// spare the person the next question: only what no rule, risk or setting insists on is ever remembered.
    pub fn scopes(&self, question: &Question) -> Vec<Scope> {
        let asked = question.interaction.asked();
        let (Some(record), Some(found), Subject::Call { edited: None, .. }) =
            (&question.call, &question.findings, &asked.subject)
        else {
            return Vec::new();
        };
        if record.verdict.step != Step::Ask || asked.risk == Risk::High {
            return Vec::new();
        }
        let workspace = self.engine.inner.places.workspace();
        Scope::suggest(&record.call, &found.analysis, record.digest, workspace)
    }

    /// The same for every session of the project, then everywhere, as a rule. Only what a rule can say: no exact call.
    pub fn wide_scopes(&self, question: &Question) -> Vec<Scope> {
        let (Some(record), Some(found)) = (&question.call, &question.findings) else {
            return Vec::new();
        };
        let tool = self.engine.tool(&Submission::from(record.call.clone()));
        let workspace = self.engine.inner.places.workspace();
        let config = &self.engine.in_force().config;
        let is_rule = |scope: &Scope| {
            ProposedRule::new(scope.everywhere(), &config.inspect).is_some_and(|rule| {
                rule.covers(&record.call, &tool, &found.analysis, record.digest, workspace)
            })
        };
        let kinds: Vec<Scope> = self.scopes(question).into_iter().filter(is_rule).collect();
        let in_project = kinds.iter().map(|scope| scope.in_project(workspace));
        in_project.chain(kinds.iter().map(Scope::everywhere)).collect()
    }

    /// What "don't ask again" may cover for this person, narrowest first. The scopes beyond the conversation need the
    /// operator's consent.
    pub fn offered(&self, question: &Question, by: &Principal, authority: Authority) -> Vec<Scope> {
        let (Interaction::Pending(pending), Some(person)) = (&question.interaction, by.person()) else {
            return Vec::new();
        };
        let mut scopes = self.scopes(question);
        // What several people must agree to, no single person waives for all.
        if pending.asked.quorum <= 1 && authority.may_widen(&self.engine.in_force().config, person) {
            scopes.extend(self.wide_scopes(question));
        }
        scopes
    }

    /// The authority of a person at the machine that holds the store: access to its file makes an operator, unless the
    /// configuration names others.
    pub fn authority_at_the_store(&self, by: &Principal) -> Authority {
        Authority::at_the_store(&self.engine.in_force().config, by)
    }

    /// A wide scope as a person is shown it before they agree. None for a scope that no rule can say.
    pub async fn preview(
        &self,
        question: &Question,
        scope: &Scope,
    ) -> Result<Option<GrantPreview>, StoreError> {
        let config = &self.engine.in_force().config;
        let rule = ProposedRule::new(scope.clone(), &config.inspect).filter(|_| scope.reach().is_wide());
        let (Some(mut rule), Some(record)) = (rule, &question.call) else {
            return Ok(None);
        };
        rule.add_example(&record.call.args);
        let last_week = self.last_week(scope).await?;
        Ok(Some(GrantPreview { rule, last_week }))
    }

    /// What a scope would have covered in the last seven days.
    pub async fn last_week(&self, scope: &Scope) -> Result<Covered, StoreError> {
        let config = self.engine.in_force().config.clone();
        let Some(rule) = ProposedRule::new(scope.everywhere(), &config.inspect) else {
            return Ok(Covered::default());
        };
        let store = &self.engine.inner.store;
        let since = Timestamp::from_millis(store.now().as_millis() - WEEK_MILLIS);
        let calls = review::past_calls(store, since).await?;
        let places = self.engine.inner.places.clone();
        let counting = tokio::task::spawn_blocking(move || review::covered(&rule, &config, &places, &calls));
        // A count that failed must not widen anything.
        Ok(counting.await.unwrap_or(Covered {
            refused: usize::MAX,
            ..Covered::default()
        }))
    }

    /// Pending questions that can be read, oldest first, a page at a time.
    pub async fn pending(&self, mut after: Option<u64>, limit: usize) -> Result<Vec<PendingRow>, StoreError> {
        loop {
            let page = self.pending_page(after, limit).await?;
            for damaged in &page.damaged {
                tracing::error!(question = %damaged.id, why = damaged.why, "a question that waits cannot be read");
            }
            match page.last() {
                Some(last) if page.rows.is_empty() => after = Some(last),
                _ => return Ok(page.rows),
            }
        }
    }

    /// The same, with what cannot be read.
    pub async fn pending_page(&self, after: Option<u64>, limit: usize) -> Result<PendingPage, StoreError> {
        let part = After { cursor: after, limit };
        let store = &self.engine.inner.store;
        store.look(|stored| stored.pending(&part).cloned()).await
    }

    /// The newest settled question with this code.
    pub async fn settled_with_code(&self, code: Code) -> Result<Option<InteractionId>, StoreError> {
        let store = &self.engine.inner.store;
        store
            .look(|stored| stored.settled_with_code(&code).cloned())
            .await
    }

    /// Keeps what a person says to the others about a question. It decides nothing.
    pub async fn comment(
        &self,
        id: &InteractionId,
        by: &Principal,
        text: &str,
    ) -> Result<(), StepError<CommentRefusal>> {
        self.engine
            .transact(|snapshot, _| steps::comment(snapshot, id, by, text))
            .await
    }

    /// The comments on a question, in order.
    pub async fn comments(&self, id: &InteractionId) -> Result<Vec<Comment>, StoreError> {
        let store = &self.engine.inner.store;
        store.look(|stored| stored.comments(id).cloned()).await
    }

    /// Withdraws a question. Whether it was still open.
    pub async fn withdraw(&self, id: &InteractionId, by: &str) -> Result<bool, StoreError> {
        let outcome = Outcome::Cancelled {
            why: format!("the question was withdrawn by {by}"),
        };
        self.cancel(id, Cancellation::Withdrawn { by: by.to_owned() }, outcome)
            .await
    }

    pub(crate) async fn cancel(
        &self,
        id: &InteractionId,
        why: Cancellation,
        outcome: Outcome,
    ) -> Result<bool, StoreError> {
        let cancel = self
            .engine
            .transact(|snapshot, _| steps::cancel_question(snapshot, id, &why, &outcome));
        cancel.await.map_err(StepError::into_store_error)
    }

    /// Ends a session: nothing runs in it any more, and whatever is open in it is withdrawn.
    pub async fn end_session(&self, session: &SessionId, by: &str) -> Result<(), StoreError> {
        let end = self
            .engine
            .transact(|snapshot, _| steps::end_session(snapshot, session, by));
        end.await.map_err(StepError::into_store_error)
    }

    /// Changes how freely the agent of a session may act. A person's word, never an agent's.
    pub async fn set_mode(
        &self,
        session: &SessionId,
        mode: Mode,
        by: &PersonId,
    ) -> Result<(), StepError<SettingRefusal>> {
        self.engine
            .transact(|snapshot, _| steps::set_mode(snapshot, session, mode, by))
            .await
    }

    /// Puts a tool on a session's allow-list. HIGH risk, `strict` and rules still ask.
    pub async fn allow_tool(
        &self,
        session: &SessionId,
        tool: &ToolName,
        by: &PersonId,
    ) -> Result<(), StepError<SettingRefusal>> {
        self.engine
            .transact(|snapshot, _| steps::allow_tool(snapshot, session, tool, by))
            .await
    }

    /// Standing grants that have not ended, with what became of them.
    pub async fn standing(&self) -> Result<Vec<StandingRow>, StoreError> {
        let store = &self.engine.inner.store;
        let now = store.now();
        store.look(|stored| stored.all_standing(&now).cloned()).await
    }

    /// Takes a standing grant back.
    pub async fn revoke_standing(
        &self,
        id: &StandingGrantId,
        by: &PersonId,
    ) -> Result<(), StepError<RevokeRefusal>> {
        self.engine
            .transact(|snapshot, now| steps::revoke_standing(snapshot, now, id, by))
            .await
    }
}

/// Whether `args` satisfy `schema`; every complaint with its field if not. An invalid schema accepts nothing.
fn fits(schema: &Value, args: &Value) -> Result<(), String> {
    let validator =
        jsonschema::validator_for(schema).map_err(|error| format!("the schema is broken: {error}"))?;
    let complaints: Vec<_> = validator
        .iter_errors(args)
        .take(COMPLAINTS_MAX)
        .map(|error| {
            let path = error.instance_path().to_string();
            match path.trim_start_matches('/') {
                "" => error.to_string(),
                field => format!("{field}: {error}"),
            }
        })
        .collect();
    if complaints.is_empty() {
        return Ok(());
    }
    Err(complaints.join("; "))
}
