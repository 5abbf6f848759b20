//! The names this server answers to, and where its own pages come from.
//!
//! A page of another site can make a browser resolve a name of that site to this machine (DNS rebinding). It cannot change
//! the `Host` header, so a name that is not ours is refused before anything else is looked at.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, header};
use placet_core::config::{Host, Scheme};

/// The names of a server.
pub(crate) struct Hosts {
    listen: SocketAddr,
    configured: Vec<Host>,
}

/// The name a request was sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) authority: String,
    pub(crate) scheme: Scheme,
}

/// Why a request is not for us.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HostError {
    /// It does not say whom it is for.
    Missing,
    /// It is for another host.
    Other(String),
}

impl Hosts {
    pub(crate) fn new(listen: SocketAddr, configured: Vec<Host>) -> Self {
        Self { listen, configured }
    }

    /// Where people find it, as far as is known.
    pub(crate) fn url(&self) -> String {
        match self.configured.first() {
            Some(host) => {
                let scheme = match host.scheme {
                    Scheme::Http => "http",
                    Scheme::Https => "https",
                };
                format!("{scheme}://{}", host.authority)
            }
            None if self.listen.ip().is_unspecified() => format!("http://localhost:{}", self.listen.port()),
            None => format!("http://{}", self.listen),
        }
    }

    /// The name a request was sent to, when it is one of ours.
    pub(crate) fn named(&self, headers: &HeaderMap) -> Result<Named, HostError> {
        let mut given = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (given.next(), given.next()) else {
            return Err(HostError::Missing);
        };
        let authority = String::from_utf8_lossy(host.as_bytes()).to_ascii_lowercase();
        let configured = self.configured.iter().find(|host| host.authority == authority);
        if let Some(host) = configured {
            let scheme = host.scheme;
            return Ok(Named { authority, scheme });
        }
        if self.is_own(&authority) {
            let scheme = Scheme::Http;
            return Ok(Named { authority, scheme });
        }
        Err(HostError::Other(authority))
    }

    /// The address it listens on, or a name of this machine with its port.
    fn is_own(&self, authority: &str) -> bool {
        let (name, port) = match authority.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port.parse().ok()),
            _ => (authority, Some(80)),
        };
        if port != Some(self.listen.port()) {
            return false;
        }
        let address: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let local = name == "localhost" || address.is_some_and(|address| address.is_loopback());
        let here = self.listen.ip().is_loopback() || self.listen.ip().is_unspecified();
        (local && here) || address == Some(self.listen.ip())
    }
}

impl Named {
    /// Whether `origin`, as browsers write it, is this server.
    pub(crate) fn is_origin(&self, origin: &str) -> bool {
        let (scheme, usual_port) = match self.scheme {
            Scheme::Http => ("http://", ":80"),
            Scheme::Https => ("https://", ":443"),
        };
        let without_port =
            |authority: &str| authority.strip_suffix(usual_port).unwrap_or(authority).to_owned();
        origin.strip_prefix(scheme).is_some_and(|authority| {
            without_port(&authority.to_ascii_lowercase()) == without_port(&self.authority)
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn hosts(listen: &str) -> Hosts {
        let configured = Host {
            authority: "placet.example.com".into(),
            scheme: Scheme::Https,
        };
        Hosts::new(listen.parse().unwrap(), vec![configured])
    }

    fn named(listen: &str, host: &str) -> Result<Named, HostError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        hosts(listen).named(&headers)
    }

    #[test]
    fn names_of_this_machine_and_configured_ones_are_ours() {
        for host in [
            "127.0.0.1:7319",
            "localhost:7319",
            "LOCALHOST:7319",
            "[::1]:7319",
            "placet.example.com",
        ] {
            assert!(named("127.0.0.1:7319", host).is_ok(), "{host}");
        }
        assert!(named("192.168.1.5:7319", "192.168.1.5:7319").is_ok());
        assert!(named("127.0.0.1:80", "localhost").is_ok());
    }

    #[test]
    fn a_rebound_name_another_port_and_no_name_are_not() {
        for host in [
            "evil.example",
            "evil.example:7319",
            "localhost:1",
            "localhost",
            "127.0.0.1.evil.example:7319",
        ] {
            assert!(named("127.0.0.1:7319", host).is_err(), "{host}");
        }
        assert!(named("192.168.1.5:7319", "localhost:7319").is_err());
        assert_eq!(
            hosts("127.0.0.1:1").named(&HeaderMap::new()),
            Err(HostError::Missing)
        );
    }

    #[test]
    fn an_origin_is_scheme_name_and_port() {
        let local = named("127.0.0.1:7319", "localhost:7319").unwrap();
        assert!(local.is_origin("http://localhost:7319"));
        for other in [
            "http://localhost:7320",
            "https://localhost:7319",
            "null",
            "http://evil.example",
            "http://localhost",
        ] {
            assert!(!local.is_origin(other), "{other}");
        }
        let behind_tls = named("127.0.0.1:7319", "placet.example.com").unwrap();
        assert!(behind_tls.is_origin("https://placet.example.com"));
        assert!(!behind_tls.is_origin("http://placet.example.com"));
    }
}
