//! The address of a server, and how it is reached: with TLS, except on this machine.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connection::{self, Connection};
use super::schema::Purpose;
use crate::error::{OpenError, StoreError};
use crate::sql;

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A database on a server. Shown without its password.
#[derive(Clone)]
pub(crate) struct Server {
    config: Config,
    /// Authorities to trust instead of those of this machine.
    roots: Option<PathBuf>,
    busy: Duration,
}

impl Server {
    /// Reads an address like `postgres://user@host:5432/placet?sslmode=require`.
    pub(crate) fn new(url: &str, busy: Duration) -> Result<Self, OpenError> {
        let (url, tls) = without_tls(url)?;
        let mut config: Config = url
            .parse()
            .map_err(|error: tokio_postgres::Error| OpenError::Address(causes(&error)))?;
        // Between machines TLS is not a matter of luck: `prefer` would go without it if the other side says so.
        let usual = if is_local(&config) {
            SslMode::Disable
        } else {
            SslMode::Require
        };
        config.ssl_mode(tls.mode.unwrap_or(usual));
        config.connect_timeout(CONNECT_TIMEOUT);
        config.tcp_user_timeout(CONNECT_TIMEOUT);
        config.keepalives_idle(CONNECT_TIMEOUT);
        if config.get_application_name().is_none() {
            config.application_name("placet");
        }
        Ok(Self {
            config,
            roots: tls.roots,
            busy,
        })
    }

    pub(super) fn busy(&self) -> Duration {
        self.busy
    }

    /// A connection that writes. Makes the schema, or brings it up to date.
    pub(crate) fn writer(&self) -> Result<sql::Connection, OpenError> {
        self.open(Purpose::Writing)
    }

    /// A connection that only reads.
    pub(crate) fn reader(&self) -> Result<sql::Connection, OpenError> {
        self.open(Purpose::Reading)
    }

    /// A connection that may make temporary tables.
    pub(crate) fn verifier(&self) -> Result<sql::Connection, OpenError> {
        self.open(Purpose::Verifying)
    }

    fn open(&self, purpose: Purpose) -> Result<sql::Connection, OpenError> {
        let conn = Connection::open(self, purpose)?;
        Ok(sql::Connection::Postgres(Box::new(conn)))
    }

    pub(super) async fn connect(&self) -> Result<Client, OpenError> {
        let (client, connection) = self.connect_with_messages().await?;
        // Ends when the client is dropped. What goes wrong is told to the caller that waits for an answer.
        tokio::spawn(connection);
        Ok(client)
    }

    /// The same for a caller that polls the connection.
    pub(super) async fn connect_with_messages(&self) -> Result<(Client, connection::Messages), OpenError> {
        let tls = MakeRustlsConnect::new(self.tls()?);
        let connected = self.config.connect(tls).await;
        connected.map_err(|error| match error.as_db_error() {
            // It was reached, and said no: an unknown user or database, a wrong password.
            Some(told) => OpenError::Refused {
                server: self.to_string(),
                why: told.message().to_owned(),
            },
            None => OpenError::Unreachable {
                server: self.to_string(),
                why: causes(&error),
            },
        })
    }

    fn tls(&self) -> Result<ClientConfig, OpenError> {
        let bad = |error: rustls::Error| StoreError::Io(error.to_string());
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(bad)?;
        if self.config.get_ssl_mode() == SslMode::Disable {
            let nobody = builder.with_root_certificates(RootCertStore::empty());
            return Ok(nobody.with_no_client_auth());
        }
        let Some(path) = &self.roots else {
            return Ok(builder
                .with_platform_verifier()
                .map_err(bad)?
                .with_no_client_auth());
        };
        let unreadable = |why: String| OpenError::Address(format!("sslrootcert `{}`: {why}", path.display()));
        let pem = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let mut roots = RootCertStore::empty();
        for certificate in rustls::pki_types::pem::PemObject::pem_slice_iter(&pem) {
            let certificate: rustls::pki_types::CertificateDer<'_> =
                certificate.map_err(|error: rustls::pki_types::pem::Error| unreadable(error.to_string()))?;
            roots
                .add(certificate)
                .map_err(|error| unreadable(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(unreadable("it holds no certificate".into()));
        }
        Ok(builder.with_root_certificates(roots).with_no_client_auth())
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => write!(f, "{host}")?,
            #[cfg(unix)]
            Some(Host::Unix(path)) => write!(f, "{}", path.display())?,
            None => write!(f, "localhost")?,
        }
        if let Some(port) = self.config.get_ports().first() {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

/// The options of an address that say how TLS is spoken.
#[derive(Default)]
struct Tls {
    mode: Option<SslMode>,
    roots: Option<PathBuf>,
}

/// The address without the options about TLS, of which the library knows a part, and what they say. A mode that asks for less
/// than a checked certificate is taken for one that does: who speaks TLS here knows with whom.
fn without_tls(url: &str) -> Result<(String, Tls), OpenError> {
    let mut tls = Tls::default();
    let Some((address, options)) = url.split_once('?') else {
        return Ok((url.to_owned(), tls));
    };
    let mut others = Vec::new();
    for option in options.split('&') {
        match option.split_once('=') {
            Some(("sslmode", mode)) => tls.mode = Some(ssl_mode(mode)?),
            Some(("sslrootcert", "system")) => tls.roots = None,
            Some(("sslrootcert", path)) => tls.roots = Some(PathBuf::from(path)),
            _ => others.push(option),
        }
    }
    Ok((format!("{address}?{}", others.join("&")), tls))
}

fn ssl_mode(mode: &str) -> Result<SslMode, OpenError> {
    match mode {
        "disable" => Ok(SslMode::Disable),
        "prefer" => Ok(SslMode::Prefer),
        "require" | "verify-ca" | "verify-full" => Ok(SslMode::Require),
        other => Err(OpenError::Address(format!(
            "`sslmode={other}` is unknown; write `verify-full`, `require` (the same here), or `disable`"
        ))),
    }
}

fn is_local(config: &Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(host) => {
            host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

fn causes(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
