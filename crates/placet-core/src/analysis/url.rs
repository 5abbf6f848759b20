//! URLs: which host a request would really go to.
//!
//! Judged by the host a browser-grade parser finds, never by the text: `https://good@evil` goes to `evil`, `http://0x7f.1`
//! to this machine. Names are not looked up here; a name that resolves to a private address is for the one who
//! connects to refuse.

mod address;

use std::cell::Cell;

use ::url::{Host, SyntaxViolation, Url};
use unicode_security::{MixedScript, skeleton};

use super::why::{UrlConcern, UrlOddity, Why};
use super::{Analysis, Fact, FactKind};
use crate::tool::Risk;

/// Longer ones are not analysed.
const URL_BYTES_MAX: usize = 8_192;

/// Analyses a URL.
pub fn analyse(url: &str, found: &mut Analysis) {
    found.facts.push(fact(url));
}

/// Which host a URL leads to, and how bad that could be.
pub(super) fn fact(url: &str) -> Fact {
    match parse(url) {
        Ok((parsed, oddity)) => judge(&parsed, oddity),
        Err(why) => Fact {
            kind: FactKind::Unreadable { what: shown(url) },
            risk: Risk::High,
            why: Some(Why::Url(why)),
        },
    }
}

/// The same for a host that is reached in another way than the web's; it may have a port.
pub(super) fn host(scheme: &str, host: &str) -> Fact {
    let mut fact = fact(&format!("http://{host}"));
    if let FactKind::Host {
        scheme: own, port, ..
    } = &mut fact.kind
    {
        let has_port = host.contains(':');
        scheme.clone_into(own);
        *port = port.filter(|_| has_port);
    }
    fact
}

fn parse(url: &str) -> Result<(Url, Option<UrlOddity>), UrlConcern> {
    if url.len() > URL_BYTES_MAX {
        return Err(UrlConcern::TooLong {
            bytes_max: URL_BYTES_MAX,
        });
    }
    let oddity = Cell::new(None);
    let note = |violation| {
        if let Some(found) = clients_differ(violation) {
            oddity.set(Some(found));
        }
    };
    let parsed = Url::options()
        .syntax_violation_callback(Some(&note))
        .parse(url)
        .map_err(|error| UrlConcern::Unparsed {
            error: error.to_string(),
        })?;
    Ok((parsed, oddity.get()))
}

/// What is read in one way here and in another by some client.
fn clients_differ(violation: SyntaxViolation) -> Option<UrlOddity> {
    Some(match violation {
        SyntaxViolation::Backslash => UrlOddity::Backslash,
        SyntaxViolation::C0SpaceIgnored => UrlOddity::OuterSpace,
        SyntaxViolation::TabOrNewlineIgnored => UrlOddity::TabOrNewline,
        SyntaxViolation::ExpectedDoubleSlash => UrlOddity::NoSlashes,
        SyntaxViolation::EmbeddedCredentials => UrlOddity::Credentials,
        SyntaxViolation::UnencodedAtSign => UrlOddity::AtSign,
        _ => return None,
    })
}

fn judge(url: &Url, oddity: Option<UrlOddity>) -> Fact {
    let (risk, why) = match concern(url, oddity) {
        Some(why) => (Risk::High, Some(Why::Url(why))),
        None => (Risk::Medium, None),
    };
    let kind = FactKind::Host {
        host: url.host_str().unwrap_or_default().to_owned(),
        scheme: url.scheme().to_owned(),
        port: url.port_or_known_default(),
    };
    Fact { kind, risk, why }
}

/// What makes the URL more than a request to some public host.
fn concern(url: &Url, oddity: Option<UrlOddity>) -> Option<UrlConcern> {
    if !matches!(url.scheme(), "http" | "https") {
        return Some(UrlConcern::NotWeb {
            scheme: url.scheme().to_owned(),
        });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some(UrlConcern::NameBeforeAt);
    }
    if let Some(oddity) = oddity {
        return Some(UrlConcern::Odd(oddity));
    }
    // Some clients expand them, and then it is several hosts.
    if url.host_str()?.contains(['{', '}', '*']) {
        return Some(UrlConcern::InvalidName);
    }
    match url.host()? {
        Host::Ipv4(address) => address::concern_v4(address).map(UrlConcern::Address),
        Host::Ipv6(address) => address::concern_v6(address).map(UrlConcern::Address),
        Host::Domain(domain) => of_domain(domain),
    }
}

fn of_domain(domain: &str) -> Option<UrlConcern> {
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    let within = |zone: &&&str| {
        domain == **zone
            || domain
                .strip_suffix(**zone)
                .is_some_and(|rest| rest.ends_with('.'))
    };
    if !domain.contains('.') {
        return Some(UrlConcern::Nearby);
    }
    if let Some(zone) = LOCAL_ZONES.iter().find(within) {
        return Some(UrlConcern::LocalZone {
            zone: (*zone).to_owned(),
        });
    }
    if let Some(zone) = WILDCARD_ZONES.iter().find(within) {
        return Some(UrlConcern::WildcardZone {
            zone: (*zone).to_owned(),
        });
    }
    imitation(&domain)
}

const LOCAL_ZONES: [&str; 10] = [
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "private",
    "arpa",
];

const WILDCARD_ZONES: [&str; 10] = [
    "nip.io",
    "sslip.io",
    "xip.io",
    "localtest.me",
    "lvh.me",
    "vcap.me",
    "lacolhost.com",
    "traefik.me",
    "rbndr.us",
    "1u.ms",
];

/// Whether a label mixes scripts, or looks like plain letters without being them.
fn imitation(domain: &str) -> Option<UrlConcern> {
    if !domain.split('.').any(|label| label.starts_with("xn--")) {
        return None;
    }
    let unicode = ::url::quirks::domain_to_unicode(domain);
    if unicode.is_empty() || unicode.contains('\u{fffd}') {
        return Some(UrlConcern::InvalidName);
    }
    unicode
        .split('.')
        .filter(|label| !label.is_ascii())
        .find_map(|label| {
            let shown = || label.to_owned();
            if !label.is_single_script() {
                Some(UrlConcern::MixedScripts { label: shown() })
            } else if skeleton(label).all(|c| c.is_ascii()) {
                Some(UrlConcern::LookAlike { label: shown() })
            } else {
                None
            }
        })
}

/// Enough of a text to recognise it.
fn shown(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 200;
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
