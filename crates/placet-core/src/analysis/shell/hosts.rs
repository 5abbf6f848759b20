//! Hosts that a command would reach, as far as its words say.
//!
//! A word with `://` counts for every program that could connect. What else is a host, depends on the program: the plain words of
//! `curl`, the remote of `git clone`, what stands before the colon for `scp`.

use std::borrow::Cow;

use super::super::{Fact, url};
use super::judge::Args;
use super::looks;
use super::options::{self, Part, Spec, Value, parts};
use super::word::Word;

/// How a program names the hosts it talks to.
enum Speaks {
    /// Its plain words are URLs, with or without a scheme; so are the values of some options.
    Urls(&'static Spec),
    /// One plain word is, after the method.
    OneUrl(&'static Spec),
    /// A remote: a URL, or `user@host:path`.
    Git,
    /// `user@host`.
    Ssh(&'static Spec),
    /// `user@host:path`.
    Copies,
    /// Nobody knows; only what has a scheme counts.
    Unknown,
}

fn speaks(name: &str, words: &[Word<'_>]) -> Option<Speaks> {
    let has = |sign: &str| words.iter().any(|word| word.value.contains(sign));
    Some(match name {
        "curl" => Speaks::Urls(&options::CURL),
        "wget" => Speaks::Urls(&options::WGET),
        "aria2c" => Speaks::Urls(&options::ARIA2),
        "http" | "https" | "xh" | "xhs" => Speaks::OneUrl(&options::HTTPIE),
        "git" if !has(":") => return None,
        "git" => Speaks::Git,
        "ssh" | "mosh" | "autossh" | "sftp" => Speaks::Ssh(&options::SSH),
        "nc" | "ncat" | "netcat" => Speaks::Ssh(&options::NC),
        "scp" | "rsync" => Speaks::Copies,
        _ if !has("://") || looks::only_talks(name) || looks::first_is_pattern(name) => return None,
        _ => Speaks::Unknown,
    })
}

/// Options whose value is a host or a URL.
const HOST_OPTIONS: &[&str] = &[
    "all-proxy",
    "base",
    "doh-url",
    "http-proxy",
    "https-proxy",
    "preproxy",
    "proxy",
    "proxy1.0",
    "socks4",
    "socks4a",
    "socks5",
    "socks5-hostname",
    "url",
];

/// Options whose value is several hosts and ports, one after the other.
const ROUTE_OPTIONS: &[&str] = &["connect-to", "dns-servers", "resolve"];

/// Adds the hosts that the command `name args…` would reach.
pub(super) fn find(name: &str, args: &Args<'_, '_>, facts: &mut Vec<Fact>) {
    let Some(speaks) = speaks(name, args.words) else {
        return;
    };
    match speaks {
        Speaks::Urls(spec) => {
            for part in parts(args.words, spec) {
                of_part(&part, facts);
            }
        }
        Speaks::OneUrl(spec) => {
            let parts = parts(args.words, spec);
            for part in &parts {
                // `--proxy=http:http://host`.
                if let Part::Long(_, Some(value)) = part {
                    facts.extend(with_scheme(value.text, Schemes::Web));
                }
            }
            let is_method = |text: &str| text.bytes().all(|b| b.is_ascii_uppercase());
            let plain = parts.into_iter().filter_map(plain_value);
            match plain.map(known_text).find(|text| !is_method(text)) {
                Some(port) if port.starts_with(':') => web(&format!("localhost{port}"), facts),
                Some(url) => web(&url, facts),
                None => {}
            }
        }
        Speaks::Git => git(args, facts),
        Speaks::Ssh(spec) => {
            let first = parts(args.words, spec).into_iter().find_map(plain_value);
            let text = first.map(known_text).unwrap_or_default();
            facts.extend(with_scheme(&text, Schemes::All).or_else(|| login(&text)));
        }
        Speaks::Copies => {
            for word in args.words {
                let text = text_of(word);
                facts.extend(with_scheme(&text, Schemes::All).or_else(|| remote(&text)));
            }
        }
        Speaks::Unknown => {
            let urls = args.words.iter().filter(|word| word.value.contains("://"));
            facts.extend(urls.filter_map(|word| with_scheme(&text_of(word), Schemes::Web)));
        }
    }
}

/// The value, or a guess at it.
fn known_text(value: Value<'_>) -> Cow<'_, str> {
    if value.text.len() == value.word.value.len() {
        text_of(value.word)
    } else if value.word.is_later() {
        Cow::Borrowed(origin_of(value.text))
    } else {
        Cow::Borrowed(value.text)
    }
}

fn text_of<'w>(word: &'w Word<'_>) -> Cow<'w, str> {
    word.guess().map_or(Cow::Borrowed(&word.value), Cow::Owned)
}

fn plain_value(part: Part<'_>) -> Option<Value<'_>> {
    match part {
        Part::Plain(value) => Some(value),
        Part::Short(..) | Part::Long(..) => None,
    }
}

fn of_part(part: &Part<'_>, facts: &mut Vec<Fact>) {
    match part {
        Part::Plain(value) | Part::Short('x' | 'B', Some(value)) => web(&known_text(*value), facts),
        Part::Long(_, Some(value)) if part.is_long(HOST_OPTIONS) => web(&known_text(*value), facts),
        Part::Long(_, Some(value)) if part.is_long(ROUTE_OPTIONS) => {
            let text = known_text(*value);
            let is_host = |part: &&str| !part.is_empty() && !part.bytes().all(|b| b.is_ascii_digit());
            let names = text
                .split([':', ','])
                .map(|part| part.trim_start_matches(['+', '-']));
            facts.extend(names.filter(is_host).map(|host| url::host("http", host)));
        }
        _ => {}
    }
}

/// What a program for the web makes of a word: a URL, or one without its scheme.
fn web(text: &str, facts: &mut Vec<Fact>) {
    let start = text.split(['/', '?', '#']).next().unwrap_or_default();
    if start.is_empty() || text.contains(char::is_whitespace) {
        return;
    }
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = text.contains("://")
        || scheme
            .is_some_and(|scheme| matches!(&*scheme.to_ascii_lowercase(), "http" | "https" | "ftp" | "file"));
    facts.push(if has_scheme {
        url::fact(origin_of(text))
    } else {
        url::fact(origin_of(&format!("http://{text}")))
    });
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
    let at = text.find("://").filter(|_| !text.contains(char::is_whitespace))?;
    let before = text.get(..at)?;
    let lower = before.to_ascii_lowercase();
    let known = WEB.iter().find(|scheme| {
        lower.strip_suffix(**scheme).is_some_and(|rest| {
            rest.starts_with('-') || !rest.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '+')
        })
    });
    if let Some(scheme) = known {
        return Some(url::fact(origin_of(text.get(at - scheme.len()..)?)));
    }
    if schemes == Schemes::Web {
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
fn login(text: &str) -> Option<Fact> {
    let host = text.rsplit('@').next().unwrap_or(text);
    let host = host.split(':').next().unwrap_or(host);
    (!host.is_empty()).then(|| url::host("ssh", host))
}

/// `user@host:path`.
fn remote(text: &str) -> Option<Fact> {
    let (host, _) = text
        .split_once(':')
        .filter(|(host, _)| !host.contains('/') && !host.starts_with('-'))?;
    login(host)
}

fn git(args: &Args<'_, '_>, facts: &mut Vec<Fact>) {
    let is = |names: &[&str]| {
        args.words
            .iter()
            .position(|word| names.contains(&word.value.as_str()))
    };
    let (at, spec, most) = if let Some(at) = is(&["clone"]) {
        (at, &options::GIT_CLONE, 1)
    } else if let Some(at) = is(&["fetch", "pull", "push", "ls-remote"]) {
        (at, &options::GIT, 1)
    } else if let Some(at) = is(&["remote", "submodule"]) {
        (at, &options::GIT, usize::MAX)
    } else {
        return;
    };
    let words = args.words.get(at + 1..).unwrap_or_default();
    let plain = parts(words, spec).into_iter().filter_map(plain_value).take(most);
    for text in plain.map(known_text) {
        facts.extend(with_scheme(&text, Schemes::All).or_else(|| remote(&text)));
    }
}
