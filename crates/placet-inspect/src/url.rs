//! URLs: which host a request would really go to.
//!
//! Judged by the host a browser-grade parser finds, never by the text: `https://good@evil` goes to `evil`, `http://0x7f.1` to this machine.
//! Names are not looked up here: the code that connects refuses a name that resolves to a private address.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::net::{Ipv4Addr, Ipv6Addr};

use ::url::{Host, SyntaxViolation, Url};
use placet_core::analysis::{AddressConcern, Analysis, Fact, FactKind, UrlConcern, Why};
use placet_core::tool::Risk;

/// Longer ones are not analysed.
const URL_BYTES_MAX: usize = 8_192;

/// Domains whose names are machines on the local network.
const LOCAL_ZONES: &str = "localhost local localdomain internal intranet lan home corp private arpa";

/// Domains whose names resolve to any address that they spell, also to a private one.
const WILDCARD_ZONES: &str =
    "nip.io sslip.io xip.io localtest.me lvh.me vcap.me lacolhost.com traefik.me rbndr.us 1u.ms";

/// Analyses a URL.
pub fn analyse(url: &str, found: &mut Analysis) {
    found.facts.push(fact(url));
}

/// Which host a URL leads to, and how bad that could be.
pub(super) fn fact(url: &str) -> Fact {
    let (kind, concern) = match parse(url) {
        Ok((parsed, is_odd)) => {
            let kind = FactKind::Host {
                host: parsed.host_str().unwrap_or_default().to_owned(),
                scheme: parsed.scheme().to_owned(),
                port: parsed.port_or_known_default(),
            };
            (kind, concern(&parsed, is_odd))
        }
        Err(concern) => {
            // Enough to recognise it by.
            let what = url.chars().take(200).collect();
            (FactKind::Unreadable { what }, Some(concern))
        }
    };
    let risk = concern.as_ref().map_or(Risk::Medium, |_| Risk::High);
    let why = concern.map(Why::Url);
    Fact { kind, risk, why }
}

/// The same for a host that is reached in another way than the web's; it may have a port.
pub(super) fn host(scheme: &str, host: &str) -> Fact {
    let mut fact = fact(&format!("http://{host}"));
    if let FactKind::Host {
        scheme: own, port, ..
    } = &mut fact.kind
    {
        scheme.clone_into(own);
        *port = port.filter(|_| host.contains(':'));
    }
    fact
}

/// The URL, and whether some client reads it in another way.
fn parse(url: &str) -> Result<(Url, bool), UrlConcern> {
    if url.len() > URL_BYTES_MAX {
        return Err(UrlConcern::TooLong {
            bytes_max: URL_BYTES_MAX,
        });
    }
    let is_odd = Cell::new(false);
    let note = |violation| is_odd.set(is_odd.get() || clients_differ(violation));
    let parsed = Url::options().syntax_violation_callback(Some(&note)).parse(url);
    let parsed = parsed.map_err(|error| UrlConcern::Unparsed {
        error: error.to_string(),
    })?;
    Ok((parsed, is_odd.get()))
}

fn clients_differ(violation: SyntaxViolation) -> bool {
    matches!(
        violation,
        SyntaxViolation::Backslash
            | SyntaxViolation::C0SpaceIgnored
            | SyntaxViolation::TabOrNewlineIgnored
            | SyntaxViolation::ExpectedDoubleSlash
            | SyntaxViolation::EmbeddedCredentials
            | SyntaxViolation::UnencodedAtSign
    )
}

/// What makes the URL more than a request to some public host.
fn concern(url: &Url, is_odd: bool) -> Option<UrlConcern> {
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = url.scheme().to_owned();
        return Some(UrlConcern::NotWeb { scheme });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some(UrlConcern::NameBeforeAt);
    }
    if is_odd {
        return Some(UrlConcern::Odd);
    }
    // Some clients expand them, and then it is several hosts.
    if url.host_str()?.contains(['{', '}', '*']) {
        return Some(UrlConcern::InvalidName);
    }
    match url.host()? {
        Host::Ipv4(address) => of_v4(address).map(UrlConcern::Address),
        Host::Ipv6(address) => of_v6(address).map(UrlConcern::Address),
        Host::Domain(domain) => of_domain(domain),
    }
}

/// Why an IPv4 address is not a public host.
fn of_v4(address: Ipv4Addr) -> Option<AddressConcern> {
    Some(match address.octets() {
        // Azure answers for the machine's own secrets at a public-looking address.
        [169, 254, 169, 254] | [100, 100, 100, 200] | [168, 63, 129, 16] => {
            AddressConcern::HandsOutCredentials
        }
        [0 | 127, ..] => AddressConcern::ThisMachine,
        [100, 64..=127, ..] => AddressConcern::Private,
        _ if address.is_private() => AddressConcern::Private,
        _ if address.is_link_local() => AddressConcern::LinkLocal,
        [192, 0, 0, _] | [192, 88, 99, _] | [198, 18 | 19, ..] | [224..=255, ..] => AddressConcern::Reserved,
        _ if address.is_documentation() => AddressConcern::Reserved,
        _ => return None,
    })
}

/// Why an IPv6 address is not a public host.
fn of_v6(address: Ipv6Addr) -> Option<AddressConcern> {
    Some(match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => AddressConcern::ThisMachine,
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, ..]
        | [0x2002, ..]
        | [0x2001, 0, ..] => AddressConcern::Disguised,
        _ if address.is_unique_local() => AddressConcern::Private,
        _ if address.is_unicast_link_local() => AddressConcern::LinkLocal,
        [0x2001, 0x0db8, ..] | [0x3fff, ..] => AddressConcern::Reserved,
        [0x2000..=0x3fff, ..] => return None,
        _ => AddressConcern::Reserved,
    })
}

fn of_domain(domain: &str) -> Option<UrlConcern> {
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    if !domain.contains('.') {
        return Some(UrlConcern::Nearby);
    }
    let is_below = |zone: &&str| {
        let before = domain.strip_suffix(*zone);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let zone = |zones: &'static str| zones.split(' ').find(is_below).map(str::to_owned);
    zone(LOCAL_ZONES)
        .map(|zone| UrlConcern::LocalZone { zone })
        .or_else(|| zone(WILDCARD_ZONES).map(|zone| UrlConcern::WildcardZone { zone }))
        .or_else(|| {
            // In other scripts a name can be made to look like any other.
            let mut labels = domain.split('.');
            labels
                .any(|label| label.starts_with("xn--"))
                .then_some(UrlConcern::OtherScript)
        })
}
