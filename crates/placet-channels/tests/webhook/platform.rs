//! A chat platform: an HTTP server that writes down what it is sent, and answers as it is told to.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::serve::Listener;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// One post.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) signature: String,
    pub(crate) key: String,
    pub(crate) raw: Bytes,
    pub(crate) json: Value,
}

impl Post {
    pub(crate) fn text(&self) -> &str {
        self.json["text"].as_str().unwrap()
    }

    pub(crate) fn raw_contains(&self, word: &str) -> bool {
        String::from_utf8_lossy(&self.raw).contains(word)
    }

    pub(crate) fn is(&self, kind: &str) -> bool {
        self.json["type"] == kind
    }
}

/// How the platform takes the next post.
#[derive(Debug, Clone)]
pub(crate) enum Mood {
    Answer(u16, &'static [(&'static str, &'static str)], String),
    /// It never answers.
    Hang,
}

impl Mood {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, &[], String::new())
    }
}

#[derive(Default)]
struct Desk {
    posts: Mutex<Vec<Post>>,
    moods: Mutex<VecDeque<Mood>>,
    count: watch::Sender<usize>,
}

/// The platform. It keeps what it was sent while it is down.
pub(crate) struct Platform {
    pub(crate) address: SocketAddr,
    encryption: Option<TlsAcceptor>,
    desk: Arc<Desk>,
    serving: Option<Serving>,
}

struct Serving {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Platform {
    /// One that is spoken to in plain text.
    pub(crate) async fn new() -> Self {
        Self::behind(None).await
    }

    /// One that is spoken to over TLS.
    pub(crate) async fn encrypted(encryption: TlsAcceptor) -> Self {
        Self::behind(Some(encryption)).await
    }

    async fn behind(encryption: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, desk) = (listener.local_addr().unwrap(), Arc::default());
        let serving = Some(serve(listener, encryption.clone(), Arc::clone(&desk)));
        Self {
            address,
            encryption,
            desk,
            serving,
        }
    }

    /// Where questions are posted to.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.encryption.is_some() {
            "https"
        } else {
            "http"
        };
        format!("{scheme}://{}/placet", self.address)
    }

    pub(crate) fn next(&self, mood: Mood) {
        self.desk.moods.lock().unwrap().push_back(mood);
    }

    pub(crate) async fn goes_down(&mut self) {
        let Serving { stop, task } = self.serving.take().unwrap();
        stop.send(()).unwrap();
        soon(task).await.unwrap();
    }

    pub(crate) async fn comes_back(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.serving = Some(serve(listener, self.encryption.clone(), Arc::clone(&self.desk)));
    }

    /// Everything posted so far, once it is at least `count` posts.
    pub(crate) async fn posts(&self, count: usize) -> Vec<Post> {
        let mut seen = self.desk.count.subscribe();
        soon(seen.wait_for(|posted| *posted >= count)).await.unwrap();
        self.so_far()
    }

    pub(crate) fn so_far(&self) -> Vec<Post> {
        self.desk.posts.lock().unwrap().clone()
    }

    /// The first post that `fits`, once there is one.
    pub(crate) async fn post(&self, fits: impl Fn(&Post) -> bool) -> Post {
        let mut seen = self.desk.count.subscribe();
        soon(async {
            loop {
                seen.mark_unchanged();
                if let Some(post) = self.so_far().into_iter().find(&fits) {
                    return post;
                }
                seen.changed().await.unwrap();
            }
        })
        .await
    }

    /// The plain messages so far, once there are `count`.
    pub(crate) async fn messages(&self, count: usize) -> Vec<String> {
        let said = || {
            let posts = self.so_far().into_iter();
            posts
                .filter(|post| post.is("message"))
                .map(|post| post.text().to_owned())
                .collect::<Vec<_>>()
        };
        self.post(|_| said().len() >= count).await;
        said()
    }
}

/// A safety net: what takes this long will never come.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), future)
        .await
        .unwrap_or_else(|_| panic!("it never came"))
}

/// Connections over TLS; one that fails is dropped.
struct Encrypted(TcpListener, TlsAcceptor);

impl Listener for Encrypted {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, from) = self.0.accept().await.unwrap();
            if let Ok(stream) = self.1.accept(stream).await {
                return (stream, from);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

fn serve(listener: TcpListener, encryption: Option<TlsAcceptor>, desk: Arc<Desk>) -> Serving {
    let take = move |headers: HeaderMap, raw: Bytes| take(Arc::clone(&desk), headers, raw);
    let app = Router::new().route("/placet", axum::routing::post(take));
    let (stop, stopped) = oneshot::channel::<()>();
    // Open connections end with the server: a platform that is down does not answer.
    let task = tokio::spawn(async move {
        let until = async { drop(stopped.await) };
        match encryption {
            None => axum::serve(listener, app).with_graceful_shutdown(until).await,
            Some(tls) => {
                let listener = Encrypted(listener, tls);
                axum::serve(listener, app).with_graceful_shutdown(until).await
            }
        }
        .unwrap();
    });
    Serving { stop, task }
}

async fn take(desk: Arc<Desk>, headers: HeaderMap, raw: Bytes) -> Response {
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    let post = Post {
        signature: header("placet-signature"),
        key: header("idempotency-key"),
        json: serde_json::from_slice(&raw).unwrap(),
        raw,
    };
    let mood = desk.moods.lock().unwrap().pop_front();
    let count = {
        let mut posts = desk.posts.lock().unwrap();
        posts.push(post);
        posts.len()
    };
    desk.count.send_replace(count);
    match mood {
        None => format!("{{\"reference\":\"msg-{count}\"}}").into_response(),
        Some(Mood::Hang) => std::future::pending().await,
        Some(Mood::Answer(status, headers, body)) => {
            let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
            for (name, value) in headers {
                response.headers_mut().insert(*name, value.parse().unwrap());
            }
            response
        }
    }
}
