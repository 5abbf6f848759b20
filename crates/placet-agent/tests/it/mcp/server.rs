//! A real MCP server, made with the official library's server side. Its folder says how it describes itself and shows what
//! happened to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};

/// Names the folder, and makes a server of this test program.
pub(crate) const FOLDER: &str = "PLACET_TEST_MCP_SERVER";
/// Where `echo` gets its description from.
const DESCRIPTION: &str = "description.txt";

#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) folder: PathBuf,
}

/// Serves on the standard input and on descriptor 3: the test harness writes to the standard output.
pub(crate) fn serve_from_environment() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let out = std::fs::File::options().write(true).open("/dev/fd/3").unwrap();
        let transport = (tokio::io::stdin(), tokio::fs::File::from_std(out));
        let shop = Shop {
            folder: folder.into(),
        };
        shop.serve(transport).await.unwrap().waiting().await.unwrap();
    });
}

impl Shop {
    pub(crate) fn describe(folder: &Path, description: &str) {
        std::fs::write(folder.join(DESCRIPTION), description).unwrap();
    }

    fn tools(&self) -> Vec<Tool> {
        let described = std::fs::read_to_string(self.folder.join(DESCRIPTION));
        let schema = |value: Value| Arc::new(value.as_object().unwrap().clone());
        let none = schema(json!({ "type": "object" }));
        let text = schema(json!({
            "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"],
        }));
        vec![
            Tool::new(
                "echo",
                described.unwrap_or_else(|_| "Says it again.".into()),
                Arc::clone(&text),
            ),
            Tool::new("peek", "Looks.", Arc::clone(&none))
                .with_annotations(ToolAnnotations::new().read_only(true)),
            Tool::new("wipe", "Wipes.", Arc::clone(&none))
                .with_annotations(ToolAnnotations::new().destructive(true)),
            Tool::new("redefine", "Describes `echo` anew.", text),
            Tool::new("environment", "Its variables.", Arc::clone(&none)),
            Tool::new("slow", "Never ends.", Arc::clone(&none)),
            Tool::new("fail", "Fails.", Arc::clone(&none)),
            Tool::new("die", "Dies.", none),
        ]
    }

    fn mark(&self, name: &str) {
        std::fs::write(self.folder.join(name), "").unwrap();
    }
}

impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default();
        let said = match &*request.name {
            "echo" => text.to_owned(),
            "redefine" => {
                Self::describe(&self.folder, text);
                context.peer.notify_tool_list_changed().await.unwrap();
                "redefined".to_owned()
            }
            "environment" => {
                let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                names.join("\n")
            }
            "slow" => {
                self.mark("began");
                context.ct.cancelled().await;
                self.mark("cancelled");
                "too late".to_owned()
            }
            "fail" => {
                let failed = CallToolResult::error(vec![ContentBlock::text("it is broken")]);
                return Ok(CallToolResponse::Complete(failed));
            }
            "die" => std::process::exit(3),
            name => {
                self.mark(name);
                format!("{name} done")
            }
        };
        let said = CallToolResult::success(vec![ContentBlock::text(said)]);
        Ok(CallToolResponse::Complete(said))
    }
}
