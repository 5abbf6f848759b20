//! Where the server is, and one request at a time. Every request has a connection of its own: it cannot break because an idle
//! one was closed, and a stream holds up nothing else.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use placet_core::ids::PersonId;
use placet_core::interaction::Locale;
use placet_core::wire::local::PERSON_HEADER;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use url::Url;

use crate::error::{Error, Problem};
use crate::socket;

/// A client of one server, with one credential. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    server: Server,
    headers: Vec<(HeaderName, HeaderValue)>,
}

#[derive(Debug, Clone)]
enum Server {
    Tcp { authority: String },
    Socket(PathBuf),
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// It cannot be parsed.
    #[error("`{0}` is not a URL")]
    NotAUrl(String),
    /// Its scheme is not spoken.
    #[error("`{0}` is not an http:// URL; a proxy that speaks TLS is not supported")]
    Scheme(String),
    /// The token cannot be sent.
    #[error("the token contains characters that no header can carry")]
    Token,
}

impl Client {
    /// A server at `http://HOST:PORT`, with a bearer token.
    pub fn tcp(url: &str, token: &str) -> Result<Self, UrlError> {
        let parsed = Url::parse(url).map_err(|_| UrlError::NotAUrl(url.to_owned()))?;
        let host = parsed.host_str().filter(|_| parsed.scheme() == "http");
        let host = host.ok_or_else(|| UrlError::Scheme(url.to_owned()))?;
        let port = parsed.port_or_known_default().unwrap_or(80);
        let mut bearer = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| UrlError::Token)?;
        bearer.set_sensitive(true);
        Ok(Self {
            server: Server::Tcp {
                authority: format!("{host}:{port}"),
            },
            headers: vec![(AUTHORIZATION, bearer)],
        })
    }

    /// The owner of a store, through the socket beside its file ([`socket::path`]).
    pub fn socket(path: &Path) -> Self {
        Self {
            server: Server::Socket(path.to_owned()),
            headers: Vec::new(),
        }
    }

    /// The same for another person at the terminal. Only the socket believes it.
    #[must_use]
    pub fn as_person(mut self, person: &PersonId) -> Self {
        // A name that no header can carry is refused by the server as one that it does not know.
        let value = HeaderValue::from_str(person.as_str()).unwrap_or_else(|_| HeaderValue::from_static("?"));
        let name = HeaderName::from_static(PERSON_HEADER);
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, value));
        self
    }

    /// Has problems explained in a language.
    #[must_use]
    pub fn speaking(mut self, locale: Locale) -> Self {
        self.headers.retain(|(other, _)| *other != ACCEPT_LANGUAGE);
        self.headers
            .push((ACCEPT_LANGUAGE, HeaderValue::from_static(locale.tag())));
        self
    }

    /// Reads something.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        self.send(Method::GET, path, None::<&()>).await
    }

    /// Sends something, and reads what comes back.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Error> {
        self.send(Method::POST, path, Some(body)).await
    }

    /// Has something done that has no answer but that it is done.
    pub(crate) async fn done(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<(), Error> {
        self.exchange(method, path, body, &[]).await.map(drop)
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
    ) -> Result<T, Error> {
        let response = self.exchange(method, path, body, &[]).await?;
        Ok(serde_json::from_slice(&whole(response).await?)?)
    }

    /// The response to a request, once it is known to be a success.
    pub(crate) async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&impl Serialize>,
        more: &[(HeaderName, HeaderValue)],
    ) -> Result<Response<Incoming>, Error> {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header(HOST, self.authority());
        for (name, value) in self.headers.iter().chain(more) {
            request = request.header(name, value);
        }
        let bytes = match body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                serde_json::to_vec(body)?
            }
            None => Vec::new(),
        };
        let request = request.body(Full::new(Bytes::from(bytes))).map_err(lost)?;
        let response = match &self.server {
            Server::Tcp { authority } => {
                let stream = TcpStream::connect(authority).await;
                let stream = stream.map_err(|source| not_running(authority, source))?;
                // Requests are small and a caller waits for the answer.
                let _ = stream.set_nodelay(true);
                sent(stream, request).await?
            }
            Server::Socket(path) => sent(socket::connect(path).await?, request).await?,
        };
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let body = whole(response).await?;
        Err(Error::Refused(Box::new(problem(status, &body))))
    }

    fn authority(&self) -> &str {
        match &self.server {
            Server::Tcp { authority } => authority,
            Server::Socket(_) => "placet",
        }
    }
}

async fn sent(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Error> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(lost)?;
    // It ends with the response's body. A connection that breaks is told to its reader.
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(lost)
}

async fn whole(response: Response<Incoming>) -> Result<Bytes, Error> {
    Ok(response.into_body().collect().await.map_err(lost)?.to_bytes())
}

/// What a refusal says; what does not look like one of ours says its status.
fn problem(status: StatusCode, body: &[u8]) -> Problem {
    serde_json::from_slice(body).unwrap_or_else(|_| Problem {
        status: status.as_u16(),
        code: String::new(),
        detail: format!("the server answered {status}"),
        more: serde_json::Map::new(),
    })
}

pub(crate) fn not_running(at: &str, source: std::io::Error) -> Error {
    Error::NotRunning {
        at: at.to_owned(),
        source,
    }
}

pub(crate) fn lost(error: impl std::fmt::Display) -> Error {
    Error::Lost(error.to_string())
}
