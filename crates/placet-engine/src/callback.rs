//! `on_tool_approve`: the embedding program decides in place of a person.
//!
//! The callback is asked only where policy asks the session's own user (step 13); rules that name approvers stay with those
//! people. Its word is an answer like any other: stored before anything runs, bound to the exact call, and its edits are
//! judged again. A callback that panics approves nothing.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use placet_core::call::{Args, ToolCall};
use placet_core::tool::Category;

/// What a callback is asked about.
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
        Self { approved: true, params: None, deny_reason: None }
    }

    /// Yes, with other arguments.
    pub const fn approve_with(params: Args) -> Self {
        Self { approved: true, params: Some(params), deny_reason: None }
    }

    /// No, and why.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { approved: false, params: None, deny_reason: Some(reason.into()) }
    }
}

impl From<bool> for ToolApproval {
    fn from(approved: bool) -> Self {
        Self { approved, params: None, deny_reason: None }
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
        tokio::spawn(async move { callback.decide(tool_use).await }).await.ok()
    }
}
