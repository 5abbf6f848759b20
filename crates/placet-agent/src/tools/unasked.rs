//! Which files may be read, or changed, without asking. A search goes through many, and must not find in one what reading it
//! needs approval, or is denied: a secret, or what a rule guards.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use placet_core::analysis::FixedPlaces;
use placet_core::call::{Args, ToolCall};
use placet_core::config::Config;
use placet_core::ids::ToolName;
use placet_core::policy::Context;
use placet_core::verdict::Decision;
use serde_json::json;

/// The configuration in force, for tools that go by its policy. Cheap to clone; all clones change together.
#[derive(Debug, Clone)]
pub(super) struct InForce(Arc<RwLock<Arc<Config>>>);

impl InForce {
    /// This configuration.
    pub(super) fn new(config: Config) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(config))))
    }

    /// Another one from now on.
    pub(super) fn reload(&self, config: Config) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
    }

    fn config(&self) -> Arc<Config> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What policy says of the files that one call goes through.
pub(super) struct Unasked {
    config: Arc<Config>,
    places: FixedPlaces,
    call: ToolCall,
}

impl Unasked {
    /// For the files that `call` goes through, each judged as if `tool` were given it. The workspace is its real place: no link is
    /// followed any more.
    pub(super) fn new(
        in_force: &InForce,
        workspace: &Path,
        call: &ToolCall,
        tool: &str,
    ) -> Result<Self, String> {
        let workspace = workspace
            .to_str()
            .ok_or("the workspace's name is not valid UTF-8")?;
        Ok(Self {
            config: in_force.config(),
            places: FixedPlaces::at(workspace),
            call: ToolCall {
                tool: ToolName::new(tool).map_err(|error| error.to_string())?,
                ..call.clone()
            },
        })
    }

    /// What policy says of this file; a name that cannot be judged is denied.
    pub(super) fn decide(&self, file: &Path) -> Decision {
        let args = file
            .to_str()
            .map(|file| Args::from_value(json!({ "path": file })));
        let Some(Ok(args)) = args else {
            return Decision::Deny;
        };
        let call = self.call.with_args(args);
        let tool = self.config.builtin_tool(&call.tool);
        let analysis = self
            .config
            .inspect
            .inspect(&tool, &call.args, &self.places)
            .analysis;
        let context = Context::alone(call.digest(), &self.places.workspace);
        self.config
            .policy
            .decide(&call, &tool, &analysis, &context)
            .decision
    }
}
