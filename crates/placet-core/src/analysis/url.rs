//! URLs: which host a request would really go to.
//!
//! Judged by the host a browser-grade parser finds, never by the text: `https://good@evil` goes to `evil`, `http://0x7f.1`
//! to this machine. Names are not looked up here; a name that resolves to a private address is for the one who
//! connects to refuse.

mod address;

use std::cell::Cell;

use ::url::{Host, SyntaxViolation, Url};
use unicode_security::{MixedScript, skeleton};

use super::{Analysis, Fact, FactKind};
use crate::tool::Risk;

/// Longer ones are not analysed.
const URL_BYTES_MAX: usize = 8_192;

/// Analyses a URL.
pub fn analyse(url: &str, found: &mut Analysis) {
    let fact = match parse(url) {
        Ok((parsed, oddity)) => judge(&parsed, oddity),
        Err(why) => Fact {
            kind: FactKind::Unreadable { what: shown(url) },
            risk: Risk::High,
            why,
        },
    };
    found.facts.push(fact);
}

fn parse(url: &str) -> Result<(Url, Option<SyntaxViolation>), String> {
    if url.len() > URL_BYTES_MAX {
        return Err(format!("it is longer than {URL_BYTES_MAX} bytes"));
    }
    let oddity = Cell::new(None);
    // Each of these is read in one way here and in another by some client.
    let note = |violation| {
        let clients_differ = matches!(
            violation,
            SyntaxViolation::Backslash
                | SyntaxViolation::C0SpaceIgnored
                | SyntaxViolation::TabOrNewlineIgnored
                | SyntaxViolation::ExpectedDoubleSlash
                | SyntaxViolation::EmbeddedCredentials
                | SyntaxViolation::UnencodedAtSign
        );
        if clients_differ {
            oddity.set(Some(violation));
        }
    };
    let parsed = Url::options()
        .syntax_violation_callback(Some(&note))
        .parse(url)
        .map_err(|error| format!("it does not parse as a URL: {error}"))?;
    Ok((parsed, oddity.get()))
}

fn judge(url: &Url, oddity: Option<SyntaxViolation>) -> Fact {
    let (risk, why) = match concern(url, oddity) {
        Some(why) => (Risk::High, why),
        None => (Risk::Medium, String::new()),
    };
    let kind = FactKind::Host {
        host: url.host_str().unwrap_or_default().to_owned(),
        scheme: url.scheme().to_owned(),
        port: url.port_or_known_default(),
    };
    Fact { kind, risk, why }
}

/// What makes the URL more than a request to some public host.
fn concern(url: &Url, oddity: Option<SyntaxViolation>) -> Option<String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Some(format!("`{}` is not the web", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("a name before `@` can pass for the host".into());
    }
    if let Some(violation) = oddity {
        return Some(format!("clients disagree on it: {violation}"));
    }
    match url.host()? {
        Host::Ipv4(address) => address::concern_v4(address).map(str::to_owned),
        Host::Ipv6(address) => address::concern_v6(address).map(str::to_owned),
        Host::Domain(domain) => of_domain(domain),
    }
}

fn of_domain(domain: &str) -> Option<String> {
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    let within = |zone: &&&str| {
        domain == **zone
            || domain
                .strip_suffix(**zone)
                .is_some_and(|rest| rest.ends_with('.'))
    };
    if !domain.contains('.') {
        return Some("a name without a dot is a machine nearby".into());
    }
    if let Some(zone) = LOCAL_ZONES.iter().find(within) {
        return Some(format!("`.{zone}` names machines nearby"));
    }
    if let Some(zone) = WILDCARD_ZONES.iter().find(within) {
        return Some(format!(
            "names under `{zone}` stand for any address, also private ones"
        ));
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
fn imitation(domain: &str) -> Option<String> {
    if !domain.split('.').any(|label| label.starts_with("xn--")) {
        return None;
    }
    let unicode = ::url::quirks::domain_to_unicode(domain);
    if unicode.is_empty() || unicode.contains('\u{fffd}') {
        return Some("its name is not valid".into());
    }
    unicode
        .split('.')
        .filter(|label| !label.is_ascii())
        .find_map(|label| {
            if !label.is_single_script() {
                Some(format!("`{label}` mixes scripts"))
            } else if skeleton(label).all(|c| c.is_ascii()) {
                Some(format!("`{label}` looks like plain letters and is not"))
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
