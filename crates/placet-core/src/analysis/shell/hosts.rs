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
    /// Names and addresses among its plain words.
    Names,
    /// The values of these options.
    Options(&'static [&'static str]),
    /// `registry.example.org/image`.
    Images,
    /// `TCP:host:port`.
    Sockets,
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
        "dig" | "nslookup" | "host" | "ping" | "ping6" | "traceroute" | "tracepath" | "mtr" | "whois"
        | "telnet" | "lynx" | "w3m" | "links" | "elinks" => Speaks::Names,
        "openssl" => Speaks::Options(&["-connect", "-proxy", "-host"]),
        "psql" | "mysql" | "mariadb" | "mysqladmin" | "dropdb" | "mongosh" | "mongo" | "redis-cli"
        | "clickhouse-client" => Speaks::Options(&["-h", "--host"]),
        "docker" | "podman" | "nerdctl" | "skopeo" | "crane" => Speaks::Images,
        "go" if words
            .first()
            .is_some_and(|word| matches!(word.value.as_str(), "get" | "install" | "run")) =>
        {
            Speaks::Images
        }
        "socat" => Speaks::Sockets,
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
            let parts = parts(args.words, spec);
            for part in &parts {
                if let Part::Short('J', Some(value)) = part {
                    facts.extend(value.text.split(',').filter_map(login));
                }
            }
            let first = parts.into_iter().find_map(plain_value);
            let text = first.map(known_text).unwrap_or_default();
            facts.extend(with_scheme(&text, Schemes::All).or_else(|| login(&text)));
        }
        Speaks::Copies => {
            for word in args.words {
                let text = text_of(word);
                facts.extend(with_scheme(&text, Schemes::All).or_else(|| remote(&text)));
            }
        }
        Speaks::Names => {
            facts.extend(texts(args).filter_map(|text| in_scheme(&text).or_else(|| named(&text))));
        }
        Speaks::Options(options) => of_options(options, args, facts),
        Speaks::Images => {
            facts.extend(texts(args).filter_map(|text| in_scheme(&text).or_else(|| registry(&text))));
        }
        Speaks::Sockets => facts.extend(texts(args).filter_map(|text| socket(&text))),
        Speaks::Unknown => {
            let urls = args.words.iter().filter(|word| word.value.contains("://"));
            facts.extend(urls.filter_map(|word| with_scheme(&text_of(word), Schemes::Web)));
        }
    }
}

/// All words, as far as they are known.
fn texts<'w>(args: &'w Args<'_, '_>) -> impl Iterator<Item = Cow<'w, str>> {
    args.words.iter().map(text_of)
}

fn in_scheme(text: &str) -> Option<Fact> {
    with_scheme(text, Schemes::Web)
}

/// `example.org`, `@8.8.8.8`, `example.org/x`; no number and no file that is known as one.
fn named(text: &str) -> Option<Fact> {
    let name = text.trim_start_matches('@').split('/').next()?;
    let is_file = |end: &&str| name.ends_with(*end);
    let is_name = name.contains(['.', ':'])
        && !name.starts_with(['-', '+', '.'])
        && !name.contains(['=', ' '])
        && name.parse::<f64>().is_err()
        && ![".html", ".htm", ".txt", ".md"].iter().any(is_file);
    is_name.then(|| url::host("tcp", name))
}

fn of_options(options: &[&str], args: &Args<'_, '_>, facts: &mut Vec<Fact>) {
    // A path is a socket on this machine.
    let host = |text: &str| (!text.is_empty() && !text.starts_with('/')).then(|| url::host("tcp", text));
    let mut words = args.words.iter().map(text_of);
    while let Some(text) = words.next() {
        let given = options
            .iter()
            .find_map(|option| text.strip_prefix(option).map(|rest| (option, rest)));
        match given {
            Some((_, "")) => facts.extend(host(&words.next().unwrap_or_default())),
            Some((option, rest)) if option.starts_with("--") => {
                facts.extend(rest.strip_prefix('=').and_then(host));
            }
            // `-hexample.org`, but no other option that begins like this.
            Some((option, rest)) if option.len() == 2 => facts.extend(host(rest)),
            _ => {
                facts.extend(with_scheme(&text, Schemes::All));
                // `host=example.org dbname=x`.
                let pairs = text.split_whitespace();
                facts.extend(pairs.filter_map(|pair| pair.strip_prefix("host=").and_then(host)));
            }
        }
    }
}

/// `example.org/a/b:tag`, `10.0.0.1:5000/a`; what is no registry has no dot in its first part, or is a path.
fn registry(text: &str) -> Option<Fact> {
    let (host, _) = text.split_once('/')?;
    let is_host = host.contains('.')
        && !host.starts_with(['.', '-'])
        && !host.ends_with(':')
        && host
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':'));
    is_host.then(|| url::host("https", host))
}

/// `TCP:host:port`, `openssl-connect:host:port,verify=0`.
fn socket(text: &str) -> Option<Fact> {
    let (kind, rest) = text.split_once(':')?;
    let kind = kind.to_ascii_lowercase();
    let connects = ["tcp", "udp", "sctp", "openssl", "ssl", "socks", "proxy"]
        .iter()
        .any(|start| kind.starts_with(start));
    let host = rest.split([':', ',']).next().filter(|host| !host.is_empty())?;
    (connects && !kind.contains("-l")).then(|| url::host("tcp", host))
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
    if let Some(at) = is(&["archive"]) {
        let mut words = args.words.iter().skip(at + 1).map(text_of);
        while let Some(text) = words.next() {
            let value = match text.strip_prefix("--remote") {
                Some("") => words.next().unwrap_or_default().into_owned(),
                Some(value) => value.trim_start_matches('=').to_owned(),
                None => continue,
            };
            facts.extend(with_scheme(&value, Schemes::All).or_else(|| remote(&value)));
        }
        return;
    }
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
