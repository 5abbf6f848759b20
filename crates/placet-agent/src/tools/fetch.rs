//! `fetch`: a page of the web, by its address.
//!
//! What was judged is what is connected to. A redirect to another place is handed back to the model, which may ask for it under
//! its own name. A name that looked public must be public: one that leads to this machine or its neighbours is refused, however
//! often it changes its mind, because the addresses that are checked are the ones that are connected to. No proxy is used, since
//! a proxy looks names up again.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use placet_core::analysis::{Analysis, UrlConcern, Why};
use placet_core::call::ToolCall;
use placet_core::evidence::Evidence;
use placet_core::tool::{Category, Risk};
use placet_inspect::url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Method, Response, Url};
use serde_json::{Value, json};

use super::{Tool, object, text};
use crate::tls;

/// How long it may take, redirects and all.
const TIME_MAX: Duration = Duration::from_secs(30);
/// How much is read.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// How many redirects within one place are followed.
const REDIRECTS_MAX: usize = 5;

/// Looks a name up.
type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Fetches pages.
#[derive(Clone)]
pub struct Fetch {
    lookup: Lookup,
}

impl Fetch {
    /// Looks names up as this machine does.
    pub fn new() -> Self {
        Self {
            lookup: Arc::new(|name| {
                Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
            }),
        }
    }
}

impl Default for Fetch {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a request may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To public hosts.
    Public,
    /// Nearby: that is what policy saw and people agreed to.
    Anywhere,
}

impl Reach {
    /// As the address was judged.
    fn of(url: &Url) -> Self {
        let mut found = Analysis::nothing();
        url::analyse(url.as_str(), &mut found);
        let nearby = found.facts.iter().any(|fact| {
            matches!(
                fact.why,
                Some(Why::Url(
                    UrlConcern::Address(_)
                        | UrlConcern::Nearby
                        | UrlConcern::LocalZone { .. }
                        | UrlConcern::WildcardZone { .. }
                ))
            )
        });
        if nearby { Self::Anywhere } else { Self::Public }
    }

    fn covers(self, address: IpAddr) -> bool {
        let host = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let mut found = Analysis::nothing();
        url::analyse(&format!("http://{host}/"), &mut found);
        self == Self::Anywhere || found.risk() < Risk::High
    }
}

/// Looks names up for one request.
struct Guard {
    lookup: Lookup,
    reach: Reach,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (found, reach) = ((self.lookup)(name.as_str().to_owned()), self.reach);
        Box::pin(async move {
            let found = found.await?;
            // One such address is enough: the next connection might take it.
            if let Some(near) = found.iter().find(|address| !reach.covers(address.ip())) {
                let name = name.as_str();
                return Err(format!("`{name}` leads to {}, which is not a public address", near.ip()).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[async_trait]
impl Tool for Fetch {
    fn name(&self) -> &'static str {
        "fetch"
    }

    fn description(&self) -> &'static str {
        "Fetches a web address and returns its status, type and text. A redirect to another host is not followed: the result says \
         where it leads, and you may fetch that."
    }

    fn category(&self) -> Category {
        Category::Network
    }

    fn schema(&self) -> Value {
        let properties = json!({
            "url": { "type": "string", "minLength": 1, "description": "An http or https address." },
            "method": { "enum": ["GET", "HEAD"] },
        });
        object(&["url"], properties)
    }

    async fn run(&self, call: &ToolCall, _: &[Evidence]) -> Result<String, String> {
        let url = text(&call.args, "url")?;
        let url = Url::parse(url).map_err(|error| format!("`{url}` is not an address: {error}"))?;
        let method = match call.args.text("method") {
            Some("HEAD") => Method::HEAD,
            _ => Method::GET,
        };
        let fetched = tokio::time::timeout(TIME_MAX, self.fetch(url, method)).await;
        fetched.unwrap_or_else(|_| {
            Err(format!(
                "nothing whole came within {} seconds",
                TIME_MAX.as_secs()
            ))
        })
    }
}

impl Fetch {
    async fn fetch(&self, mut url: Url, method: Method) -> Result<String, String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{}` is not spoken here", url.scheme()));
        }
        let guard = Guard {
            lookup: Arc::clone(&self.lookup),
            reach: Reach::of(&url),
        };
        let client = tls::http(&url).map_err(|error| error.to_string())?;
        let client = client.no_proxy().dns_resolver(Arc::new(guard)).build();
        let client = client.map_err(tls::explained)?;
        for _ in 0..=REDIRECTS_MAX {
            let response = client.request(method.clone(), url.clone()).send().await;
            let response = response.map_err(tls::explained)?;
            let Some(target) = redirect(&response, &url) else {
                return told(response).await;
            };
            if !is_same_place(&url, &target) {
                return Ok(format!(
                    "{} moved to {target}; fetch that if you want it",
                    response.status()
                ));
            }
            url = target;
        }
        Err(format!("more than {REDIRECTS_MAX} redirects"))
    }
}

/// Where a response sends its reader.
fn redirect(response: &Response, from: &Url) -> Option<Url> {
    if !response.status().is_redirection() {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    from.join(location).ok()
}

/// Whether policy would say the same of both: it looks at scheme, host and port, and at names before the host.
fn is_same_place(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin() && one.username() == other.username() && one.password() == other.password()
}

/// What the model is told of a response.
async fn told(mut response: Response) -> Result<String, String> {
    let status = response.status();
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or("unknown")
        .to_owned();
    let mut told = format!("{status}\n{CONTENT_TYPE}: {kind}\n");
    let mut body = Vec::new();
    let mut whole = true;
    while let Some(chunk) = response.chunk().await.map_err(tls::explained)? {
        let room = BODY_BYTES_MAX - body.len();
        body.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
        if chunk.len() > room {
            whole = false;
            break;
        }
    }
    if is_text(&kind, &body) {
        told.push('\n');
        told.push_str(&String::from_utf8_lossy(&body));
        if !whole {
            let _ = write!(told, "\n[only the first {BODY_BYTES_MAX} bytes are shown]");
        }
    } else {
        let at_least = if whole { "" } else { "more than " };
        let _ = write!(told, "[{at_least}{} bytes that are not text]", body.len());
    }
    if status.is_client_error() || status.is_server_error() {
        return Err(told);
    }
    Ok(told)
}

fn is_text(kind: &str, body: &[u8]) -> bool {
    let kind = kind.to_ascii_lowercase();
    let named = [
        "text/",
        "json",
        "xml",
        "javascript",
        "yaml",
        "toml",
        "x-www-form-urlencoded",
    ];
    named.iter().any(|name| kind.contains(name)) || (kind == "unknown" && std::str::from_utf8(body).is_ok())
}

#[cfg(test)]
mod tests;
