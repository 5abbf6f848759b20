//! Hosts that a command would reach, read from words that its record says are hosts, URLs or remotes.

use super::super::{Fact, url};
use crate::tool::Risk;

/// What a program for the web makes of a word: a URL, or one without its scheme.
pub(super) fn web(text: &str) -> Vec<Fact> {
    // `:8080/x` is a port of this machine.
    let local = text.starts_with(':').then(|| format!("localhost{text}"));
    let text = local.as_deref().unwrap_or(text);
    let start = text.split(['/', '?', '#']).next().unwrap_or_default();
    if start.is_empty() || text.contains(char::is_whitespace) {
        return Vec::new();
    }
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = text.contains("://")
        || scheme
            .is_some_and(|scheme| matches!(&*scheme.to_ascii_lowercase(), "http" | "https" | "ftp" | "file"));
    let fact = if has_scheme {
        url::fact(origin_of(text))
    } else {
        url::fact(origin_of(&format!("http://{text}")))
    };
    vec![on_this_machine(fact, text)]
}

/// A server that a developer runs on this machine, named plainly, is no reason to ask every time.
fn on_this_machine(fact: Fact, text: &str) -> Fact {
    const PLAIN: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
    let rest = text.split_once("://").map_or(Some(text), |(scheme, rest)| {
        matches!(scheme, "http" | "https").then_some(rest)
    });
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let is_plain = |authority: &str| match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) => PLAIN.contains(&host),
        _ => PLAIN.contains(&authority),
    };
    if !authority.is_some_and(is_plain) {
        return fact;
    }
    Fact {
        risk: Risk::Medium,
        why: None,
        ..fact
    }
}

/// A URL inside any word, or `host=example.org` among its parts.
pub(super) fn in_text(text: &str) -> Vec<Fact> {
    let pairs = text
        .split_whitespace()
        .filter_map(|pair| pair.strip_prefix("host="));
    let hosts = pairs
        .filter(|host| !host.is_empty() && !host.starts_with('/'))
        .map(|host| url::host("tcp", host));
    with_scheme(text, Schemes::Web).into_iter().chain(hosts).collect()
}

/// The host of a URL of any scheme or of `user@host:path`. A plain name such as `origin` has no host.
pub(super) fn remote(text: &str) -> Vec<Fact> {
    let before_colon = || {
        let (host, _) = text.split_once(':')?;
        let is_host = !host.contains('/') && !host.starts_with('-');
        is_host.then(|| user_at_host(host)).flatten()
    };
    let found = with_scheme(text, Schemes::All).or_else(before_colon);
    found.map_or_else(|| in_text(text), |fact| vec![fact])
}

/// `user@host`, or a URL.
pub(super) fn login(text: &str) -> Vec<Fact> {
    let hosts = || text.split(',').filter_map(user_at_host).collect();
    with_scheme(text, Schemes::All).map_or_else(hosts, |fact| vec![fact])
}

/// `example.org`, `@8.8.8.8`, `example.org/x`; no number and no file that is known as one.
pub(super) fn named(text: &str) -> Vec<Fact> {
    if let Some(fact) = with_scheme(text, Schemes::Web) {
        return vec![fact];
    }
    let name = text.trim_start_matches('@').split('/').next().unwrap_or_default();
    let is_file = |end: &&str| name.ends_with(*end);
    let is_name = name.contains(['.', ':'])
        && !name.starts_with(['-', '+', '.'])
        && !name.contains(['=', ' '])
        && name.parse::<f64>().is_err()
        && ![".html", ".htm", ".txt", ".md"].iter().any(is_file);
    is_name.then(|| url::host("tcp", name)).into_iter().collect()
}

/// `example.org/a/b:tag`, `10.0.0.1:5000/a`; what is no registry has no dot in its first part, or is a path.
pub(super) fn image(text: &str) -> Vec<Fact> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
    let is_host = |host: &&str| {
        host.contains('.')
            && !host.starts_with(['.', '-'])
            && !host.ends_with(':')
            && host.chars().all(is_plain)
    };
    let registry = || text.split_once('/').map(|(host, _)| host).filter(is_host);
    let found = with_scheme(text, Schemes::Web).or_else(|| registry().map(|host| url::host("https", host)));
    found.into_iter().collect()
}

/// `TCP:host:port`, `openssl-connect:host:port,verify=0`.
pub(super) fn socket(text: &str) -> Vec<Fact> {
    let connects = |kind: &str| {
        let kind = kind.to_ascii_lowercase();
        let starts = ["tcp", "udp", "sctp", "openssl", "ssl", "socks", "proxy"];
        starts.iter().any(|start| kind.starts_with(start)) && !kind.contains("-l")
    };
    let host = text.split_once(':').filter(|(kind, _)| connects(kind));
    let host = host
        .and_then(|(_, rest)| rest.split([':', ',']).next())
        .filter(|host| !host.is_empty());
    host.map(|host| url::host("tcp", host)).into_iter().collect()
}

/// `example.org:443:10.0.0.1:443`: every host in it.
pub(super) fn route(text: &str) -> Vec<Fact> {
    let is_host = |part: &&str| !part.is_empty() && !part.bytes().all(|b| b.is_ascii_digit());
    let names = text
        .split([':', ','])
        .map(|part| part.trim_start_matches(['+', '-']));
    names
        .filter(is_host)
        .map(|host| url::host("http", host))
        .collect()
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
    let at = text.find("://").filter(|_| !text.contains(char::is_whitespace))?;
    let before = text.get(..at)?;
    let lower = before.to_ascii_lowercase();
    let known = WEB.iter().find(|scheme| {
        lower
            .strip_suffix(**scheme)
            .is_some_and(|rest| rest.starts_with('-') || !rest.ends_with(|c: char| c.is_ascii_alphanumeric()))
    });
    if let Some(scheme) = known {
        return Some(url::fact(origin_of(text.get(at - scheme.len()..)?)));
    }
    if schemes == Schemes::Web && !lower.ends_with("git+ssh") {
        return None;
    }
    // `ssh://git@host/x`: the host is judged, as for `git@host:x`; that it is not the web is no news here.
    let rest = text.get(at + 3..)?;
    let authority = rest.split('/').next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let scheme = lower.rsplit(['=', '-']).next().unwrap_or(&lower);
    (!host.is_empty()).then(|| url::host(scheme, host))
}

/// `user@host`.
fn user_at_host(text: &str) -> Option<Fact> {
    let host = text.rsplit('@').next().unwrap_or(text);
    let host = host.split(':').next().unwrap_or(host);
    (!host.is_empty()).then(|| url::host("ssh", host))
}
