//! Hosts that a command would reach, read from words that its record says are hosts, URLs or remotes.

use super::super::{Fact, url};
use super::programs::Kind;
use crate::tool::Risk;

/// The hosts in a word of this kind. A plain name such as `origin` has none.
pub(super) fn of(kind: Kind, text: &str) -> Vec<Fact> {
    if kind == Kind::Url {
        return web(text).into_iter().collect();
    }
    let schemes = match kind {
        Kind::Remote | Kind::Copy | Kind::Login => Schemes::All,
        _ => Schemes::Web,
    };
    let mut facts: Vec<Fact> = with_scheme(text, schemes).into_iter().collect();
    if facts.is_empty() {
        let mut add = |scheme, host: &str| {
            if !host.is_empty() {
                facts.push(url::host(scheme, host));
            }
        };
        named(kind, text, &mut add);
        if !matches!(
            kind,
            Kind::Host | Kind::Image | Kind::Login | Kind::Socket | Kind::Route
        ) {
            for host in text
                .split_whitespace()
                .filter_map(|pair| pair.strip_prefix("host="))
            {
                add("tcp", if host.starts_with('/') { "" } else { host });
            }
        }
    }
    facts
}

/// Hosts that are written without a scheme.
fn named(kind: Kind, text: &str, add: &mut impl FnMut(&'static str, &str)) {
    let before = |text: &'_ str, end: char| text.split(end).next().unwrap_or_default().to_owned();
    match kind {
        // `user@host:path`
        Kind::Remote | Kind::Copy => {
            let host = text.split_once(':').map_or("", |(host, _)| host);
            if !host.contains('/') && !host.starts_with('-') {
                add("ssh", host.rsplit('@').next().unwrap_or_default());
            }
        }
        // `user@host`, several with commas
        Kind::Login => {
            for login in text.split(',') {
                add("ssh", &before(login.rsplit('@').next().unwrap_or_default(), ':'));
            }
        }
        // `example.org`, `@8.8.8.8`, `example.org/x`; no number and no file that is known as one
        Kind::Host => {
            let name = before(text.trim_start_matches('@'), '/');
            if name.contains(['.', ':']) && is_name(&name) {
                add("tcp", &name);
            }
        }
        // `example.org/a/b:tag`, `10.0.0.1:5000/a`
        Kind::Image => {
            let registry = text.split_once('/').map_or("", |(host, _)| host);
            if registry.contains('.') && !registry.ends_with(':') && is_name(registry) {
                add("https", registry);
            }
        }
        // `TCP:host:port`, `openssl-connect:host:port,verify=0`
        Kind::Socket => add("tcp", text.split([':', ',']).nth(1).unwrap_or_default()),
        // `example.org:443:10.0.0.1:443`
        Kind::Route => {
            let parts = text
                .split([':', ','])
                .map(|part| part.trim_start_matches(['+', '-']));
            parts
                .filter(|part| !part.bytes().all(|b| b.is_ascii_digit()))
                .for_each(|part| add("http", part));
        }
        _ => {}
    }
}

fn is_name(name: &str) -> bool {
    !name.starts_with(['-', '+', '.'])
        && !name.contains(['=', ' '])
        && name.parse::<f64>().is_err()
        && ![".html", ".htm", ".txt", ".md"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// What a program for the web makes of a word: a URL, or one without its scheme.
fn web(text: &str) -> Option<Fact> {
    const PLAIN: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
    if text.starts_with(['/', '?', '#']) || text.is_empty() || text.contains(char::is_whitespace) {
        return None;
    }
    let scheme = text
        .split_once(':')
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    let is_scheme = |scheme: &str| matches!(scheme, "http" | "https" | "ftp" | "file");
    let url = if text.contains("://") || scheme.as_deref().is_some_and(is_scheme) {
        text.to_owned()
    } else if text.starts_with(':') {
        // `:8080/x` is a port of this machine.
        format!("http://localhost{text}")
    } else {
        format!("http://{text}")
    };
    let mut fact = url::fact(origin_of(&url));
    // A server that a developer runs on this machine, named plainly, is no reason to ask every time.
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let authority = rest
        .and_then(|rest| rest.split(['/', '?', '#']).next())
        .unwrap_or_default();
    let host = authority.trim_end_matches(|c: char| c.is_ascii_digit());
    let host = host
        .strip_suffix(':')
        .filter(|_| host != authority)
        .unwrap_or(authority);
    if PLAIN.contains(&host) {
        (fact.risk, fact.why) = (Risk::Medium, None);
    }
    Some(fact)
}

/// A URL up to its path. What follows says nothing about the host, and may only be known when it runs.
fn origin_of(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(from..).unwrap_or_default();
    let end = rest.find(['?', '#', '$', '`']).map_or(url.len(), |at| from + at);
    url.get(..end).unwrap_or(url)
}

/// Which schemes count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Schemes {
    Web,
    All,
}

/// The URL inside a word: the whole of it, or what follows `--option=` or an attached option.
fn with_scheme(text: &str, schemes: Schemes) -> Option<Fact> {
    const WEB: [&str; 6] = ["https", "http", "wss", "ws", "ftps", "ftp"];
    // `name @ https://…`, as pip takes it.
    let text = text.rsplit_once(" @ ").map_or(text, |(_, url)| url);
    let (before, rest) = text
        .split_once("://")
        .filter(|_| !text.contains(char::is_whitespace))?;
    let lower = before.to_ascii_lowercase();
    let is_web = |scheme: &&&str| {
        let option = lower.strip_suffix(**scheme);
        option.is_some_and(|option| {
            option.starts_with('-') || !option.ends_with(|c: char| c.is_ascii_alphanumeric())
        })
    };
    if let Some(scheme) = WEB.iter().find(is_web) {
        return Some(url::fact(origin_of(text.get(before.len() - scheme.len()..)?)));
    }
    // `ssh://git@host/x`: the host is judged, as for `git@host:x`; that it is not the web is no news here.
    let authority = rest.split('/').next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let scheme = lower.rsplit(['=', '-']).next().unwrap_or(&lower);
    let counts = schemes == Schemes::All || lower.ends_with("git+ssh");
    (counts && !host.is_empty()).then(|| url::host(scheme, host))
}
