//! Example 5: approval in a web application: the callback opens a dialog on a page and waits for its button. GET shows, POST decides, and
//! only clients with the page's secret address can do either.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{Html, Redirect};
use axum::routing::{get, post};
use placet_agent::assistant::{Assistant, Message};
use placet_engine::{ToolApproval, ToolUse};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A dialog: what it is about, and its button.
type Dialog = (ToolUse, oneshot::Sender<bool>);

/// The dialogs that are open, by call.
#[derive(Clone, Default)]
struct Dialogs(Arc<Mutex<BTreeMap<String, Dialog>>>);

impl Dialogs {
    /// Opens a dialog and waits for its button. A dialog that is never answered approves nothing: the question expires.
    async fn show(self, tool_use: ToolUse) -> ToolApproval {
        let (button, pressed) = oneshot::channel();
        let call = tool_use.call_id.clone();
        self.open().insert(call, (tool_use, button));
        pressed.await.unwrap_or(false).into()
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Dialog>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn page(State(dialogs): State<Dialogs>) -> Html<String> {
    let mut page = String::from("<!doctype html><meta charset=utf-8><title>MyApp</title>");
    for (call, (tool_use, _)) in dialogs.open().iter() {
        let (call, name, params) = (
            escaped(call),
            escaped(&tool_use.name),
            escaped(&tool_use.params.canonical()),
        );
        let _ = write!(
            page,
            "<form method=post><h1>Approve {name}?</h1><pre>{params}</pre>\
             <button formaction='answer/{call}/approve'>Approve</button>\
             <button formaction='answer/{call}/deny'>Deny</button></form>"
        );
    }
    Html(page)
}

async fn answer(State(dialogs): State<Dialogs>, Path((call, word)): Path<(String, String)>) -> Redirect {
    if let Some((_, button)) = dialogs.open().remove(&call) {
        // After the deadline no request is waiting.
        let _ = button.send(word == "approve");
    }
    Redirect::to("../../")
}

/// What an agent says is never markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('\'', "&#39;")
        .replace('"', "&quot;")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dialogs = Dialogs::default();
    let secret = format!("{:032x}", rand::random::<u128>());
    let routes = Router::new()
        .route(&format!("/{secret}/"), get(page))
        .route(&format!("/{secret}/answer/{{call}}/{{word}}"), post(answer))
        .with_state(dialogs.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/{secret}/", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, routes).into_future());

    let assistant = Assistant::builder("MyApp", "1.0.0")
        .model("zhipuai/glm-4.7")
        .start()
        .await?;
    let message = Message::new("Tidy up")
        .write()
        .on_tool_approve(move |tool_use| dialogs.clone().show(tool_use));
    let reply = assistant.send_message(message).await?;
    println!("{}", reply.text);
    assistant.shutdown().await?;
    Ok(())
}
