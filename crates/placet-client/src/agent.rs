//! Conversations and runs of the built-in agent.

use eventsource_stream::Event;
use hyper::Method;
use hyper::header::{ACCEPT, HeaderValue};
use placet_core::ids::{CallId, InteractionId, SessionId, ToolName};
use placet_core::interaction::Locale;
use placet_core::policy::Mode;
use placet_core::run::RunEnd;
use placet_core::steps::MessageOutcome;
use placet_core::wire::local::{ApprovalToolsBody, ConversationBody, ModeBody};
use placet_core::wire::run::{NewRun, RunBody};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::Client;
use crate::error::Error;
use crate::events::Events;
use crate::people::segment;

const STREAM: &str = "/api/agent/chat/react/stream";

/// One event of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// A person said something: a run begins with it, or the one that is going on reads it after the turn.
    Started {
        /// What.
        message: String,
        /// Whether a run began with it.
        begins: bool,
    },
    /// The model has spoken.
    Thinking {
        /// Its words.
        text: String,
        /// Its thoughts, when it shows them.
        thinking: Option<String>,
    },
    /// A piece of what the model is saying.
    Saying {
        /// The piece.
        delta: String,
        /// Whether it is a thought.
        thought: bool,
    },
    /// The model is asked again; what it was saying does not count.
    BeginsAgain {
        /// What went wrong.
        why: String,
    },
    /// The model wants a call made.
    Action {
        /// Its id.
        call: CallId,
        /// Which tool.
        tool: String,
        /// With what, secrets masked.
        args: Value,
    },
    /// A call has its result.
    Observation {
        /// Which call.
        call: CallId,
        /// Whether it ran and succeeded.
        ok: bool,
        /// Its output, or the typed reason why it did not run.
        output: Value,
    },
    /// People are asked.
    Interaction {
        /// The question.
        request: InteractionId,
    },
    /// They have answered, or the time has passed.
    InteractionResolved {
        /// The question.
        request: InteractionId,
    },
    /// The run has ended.
    Ended {
        /// How.
        how: RunEnd,
    },
}

#[derive(Deserialize)]
struct Body {
    data: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    #[serde(default)]
    message: String,
    #[serde(default)]
    queued: bool,
    #[serde(default)]
    text: String,
    thinking: Option<String>,
    delta: Option<String>,
    thinking_delta: Option<String>,
    #[serde(default)]
    why: String,
    #[serde(default)]
    again: bool,
    call_id: Option<CallId>,
    #[serde(default)]
    tool: String,
    #[serde(default)]
    args: Value,
    #[serde(default)]
    ok: bool,
    #[serde(default)]
    output: Value,
    request_id: Option<InteractionId>,
    end: Option<RunEnd>,
}

impl Heard {
    /// Reads an event of a conversation; none for one that this version does not know.
    pub fn read(event: &Event) -> Result<Option<Self>, Error> {
        if event.data.is_empty() {
            return Ok(None);
        }
        let Body { data } = serde_json::from_str(&event.data)?;
        let data: Data = serde_json::from_value(data)?;
        Ok(match event.event.as_str() {
            "STARTED" => Some(Self::Started {
                message: data.message,
                begins: !data.queued,
            }),
            "THINKING" if data.again => Some(Self::BeginsAgain { why: data.why }),
            "THINKING" => Some(match (data.delta, data.thinking_delta) {
                (Some(delta), _) => Self::Saying {
                    delta,
                    thought: false,
                },
                (None, Some(delta)) => Self::Saying { delta, thought: true },
                (None, None) => Self::Thinking {
                    text: data.text,
                    thinking: data.thinking,
                },
            }),
            "ACTION" => data.call_id.map(|call| Self::Action {
                call,
                tool: data.tool,
                args: data.args,
            }),
            "OBSERVATION" => data.call_id.map(|call| Self::Observation {
                call,
                ok: data.ok,
                output: data.output,
            }),
            "INTERACTION" => data.request_id.map(|request| Self::Interaction { request }),
            "INTERACTION_RESOLVED" => data
                .request_id
                .map(|request| Self::InteractionResolved { request }),
            "COMPLETED" | "ERROR" => data.end.map(|how| Self::Ended { how }),
            _ => None,
        })
    }
}

impl Events {
    /// The next event of a conversation; none when the stream has ended.
    pub async fn heard(&mut self) -> Result<Option<Heard>, Error> {
        while let Some(event) = self.next().await {
            if let Some(heard) = Heard::read(&event?)? {
                return Ok(Some(heard));
            }
        }
        Ok(None)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChatBody<'a> {
    message: &'a str,
    session_id: &'a SessionId,
    locale: Locale,
}

impl Client {
    /// Begins a run, and follows what happens in it.
    pub async fn begin_run(&self, run: &NewRun) -> Result<Events, Error> {
        self.streamed("/v1/runs", Some(run)).await
    }

    /// Continues a run that its owner left alone, and follows it.
    pub async fn resume_run(&self, session: &SessionId) -> Result<Events, Error> {
        let path = format!("/v1/runs/{}/resume", segment(session.as_str()));
        self.streamed(&path, None::<&()>).await
    }

    async fn streamed(&self, path: &str, body: Option<&impl Serialize>) -> Result<Events, Error> {
        let accept = [(ACCEPT, HeaderValue::from_static("text/event-stream"))];
        let response = self.exchange(Method::POST, path, body, &accept).await?;
        Ok(Events::of(response))
    }

    /// Where a run stands; waits up to `wait_seconds` until it has ended or waits for people.
    pub async fn run(&self, session: &SessionId, wait_seconds: u32) -> Result<RunBody, Error> {
        let session = segment(session.as_str());
        self.get(&format!("/v1/runs/{session}?wait={wait_seconds}")).await
    }

    /// Says something to the agent, and follows what comes of it.
    pub async fn say(
        &self,
        session: &SessionId,
        message: &str,
        locale: Locale,
    ) -> Result<(MessageOutcome, Events), Error> {
        let body = ChatBody {
            message,
            session_id: session,
            locale,
        };
        let response = self.exchange(Method::POST, STREAM, Some(&body), &[]).await?;
        let said = match response.headers().get("placet-said").map(HeaderValue::as_bytes) {
            Some(b"queued") => MessageOutcome::Queued,
            _ => MessageOutcome::Started,
        };
        Ok((said, Events::of(response)))
    }

    /// Follows a conversation: after an event, or from the beginning of its newest run.
    pub async fn attach(&self, session: &SessionId, after: Option<&str>) -> Result<Events, Error> {
        let path = format!("{STREAM}?sessionId={}", segment(session.as_str()));
        self.events(Method::GET, &path, None::<&()>, after).await
    }

    /// Interrupts the run of a conversation. Socket only.
    pub async fn interrupt(&self, session: &SessionId) -> Result<(), Error> {
        let path = format!("/local/conversations/{}/interrupt", segment(session.as_str()));
        self.done(Method::POST, &path, None::<&()>).await
    }

    /// The person's conversations, newest first. Socket only.
    pub async fn conversations(&self) -> Result<Vec<ConversationBody>, Error> {
        self.get("/local/conversations").await
    }

    /// How freely the agent acts in a session; none when that was never set. Socket only.
    pub async fn mode(&self, session: &SessionId) -> Result<Option<Mode>, Error> {
        let path = format!("/local/conversations/{}/mode", segment(session.as_str()));
        Ok(self.get::<ModeBody>(&path).await?.mode)
    }

    /// Changes it. Socket only.
    pub async fn set_mode(&self, session: &SessionId, mode: Mode) -> Result<(), Error> {
        let path = format!("/local/conversations/{}/mode", segment(session.as_str()));
        let body = ModeBody { mode: Some(mode) };
        self.done(Method::POST, &path, Some(&body)).await
    }

    /// The tools that run unasked in a session. Socket only.
    pub async fn approval_tools(&self, session: &SessionId) -> Result<Vec<ToolName>, Error> {
        let path = format!(
            "/local/conversations/{}/approval-tools",
            segment(session.as_str())
        );
        Ok(self.get::<ApprovalToolsBody>(&path).await?.approval_tools)
    }

    /// Adds to them. Socket only.
    pub async fn allow_tools(&self, session: &SessionId, tools: Vec<ToolName>) -> Result<(), Error> {
        let path = format!(
            "/local/conversations/{}/approval-tools",
            segment(session.as_str())
        );
        let body = ApprovalToolsBody {
            approval_tools: tools,
        };
        self.done(Method::POST, &path, Some(&body)).await
    }

    /// Whether a session is a conversation, or a task delegated from it. Socket only.
    pub async fn holds(&self, root: &SessionId, session: &SessionId) -> Result<bool, Error> {
        let (root, session) = (segment(root.as_str()), segment(session.as_str()));
        self.get(&format!("/local/conversations/{root}/holds/{session}"))
            .await
    }

    /// Waits until a question is settled, for a minute at most. Whether it is.
    pub async fn settled(&self, id: &InteractionId) -> Result<bool, Error> {
        let id = segment(id.as_str());
        let question: Status = self.get(&format!("/v1/interactions/{id}?wait=60")).await?;
        Ok(question.status != "pending")
    }
}

#[derive(Deserialize)]
struct Status {
    status: String,
}
