//! The engine API of the approval document: an assistant of your own product in a few lines.
//!
//! An [`Assistant`] is an engine, the built-in agent on it, and a model of some vendor. What it may do unasked follows from the
//! approval mode; the rest goes to the message's callback, to a chat, or to the inbox.
//!
//! ```no_run
//! use placet_agent::assistant::{Assistant, Message, Provider};
//! use placet_core::policy::Mode;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let assistant = Assistant::builder("MyApp", "1.0.0")
//!     .model("zhipuai/glm-4.7")
//!     .provider("zhipuai", Provider::from_env("zhipuai"))
//!     .approval_mode(Mode::Default)
//!     .start()
//!     .await?;
//! let message = Message::new("tidy up")
//!     .write()
//!     .on_tool_approve(async |tool_use: placet_engine::ToolUse| tool_use.name == "write");
//! let reply = assistant.send_message(message).await?;
//! println!("{}", reply.text);
//! assistant.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! | step of the document | where it is decided here (design §2) |
//! |---|---|
//! | 1 yolo, not `ask` | step 7; HIGH risk is asked before it |
//! | 2 category `read` | step 8 |
//! | 3 the tool's own `needs_approval` | step 9 |
//! | 4 autoEdit and `write` | step 10 |
//! | 5 the session's `approval_tools` | step 11 |
//! | 6 `on_tool_approve` | step 13; without it, people are asked |
//!
//! | file | part |
//! |---|---|
//! | `builder.rs` | the product, its model, its tools, how freely it may act |
//! | `reader.rs` | the model of messages that only read |
//! | `vendor.rs` | who speaks what, and where |
//! | `message.rs` | one message: what it may use, who decides, what comes of it |

mod builder;
mod message;
mod reader;
mod vendor;

pub use builder::{Builder, InitError};
pub use message::{Exchange, Message, Reply, SendError, Used};
pub use vendor::{ModelNameError, Provider};

use std::collections::BTreeSet;

use placet_core::call::Chat;
use placet_core::ids::{PersonId, SessionId, ToolName};
use placet_core::steps::SettingRefusal;
use placet_engine::Engine;
use placet_store::{StepError, StoreError};

use crate::agent::Agent;

/// An assistant. Cheap to clone; [`Assistant::shutdown`] stops it.
#[derive(Clone)]
pub struct Assistant {
    agent: Agent,
    person: PersonId,
    place: Option<Chat>,
    approval_tools: BTreeSet<ToolName>,
    /// The name of the model that is offered only tools that read.
    reader: String,
}

impl Assistant {
    /// An assistant of a product. The name is the agent's in the journal and in rules; name and version introduce it to the
    /// model's vendor.
    pub fn builder(product: impl Into<String>, version: impl Into<String>) -> Builder {
        Builder::new(product.into(), version.into())
    }

    /// The agent at work.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The engine it works with: questions, answers, the journal.
    pub fn engine(&self) -> &Engine {
        self.agent.engine()
    }

    /// Puts a tool on a session's allow-list, beside the assistant's `approval_tools`.
    pub async fn allow_tool(
        &self,
        session: &SessionId,
        tool: &ToolName,
    ) -> Result<(), StepError<SettingRefusal>> {
        self.engine()
            .broker()
            .allow_tool(session, tool, &self.person)
            .await
    }

    /// Stops. Runs that are under way go on at the next start, when they are kept in a file.
    pub async fn shutdown(self) -> Result<(), StoreError> {
        let engine = self.engine().clone();
        self.agent.shutdown().await;
        engine.shutdown().await
    }
}
