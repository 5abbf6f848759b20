//! Hosts that a command would reach, read from words that its record says are hosts, URLs or remotes.

use placet_core::analysis::Fact;
use placet_core::tool::Risk;

use super::super::url;
use super::programs::Kind;

/// The hosts in a word of this kind. A plain name such as `origin` has none.
pub(super) fn of(kind: Kind, text: &str) -> Vec<Fact> {
    if kind == Kind::Url {
        return web(text).into_iter().collect();
    }
    if let Some(fact) = with_scheme(kind, text) {
        return vec![fact];
    }
    let without_user = |login: &str| login.rfind('@').map_or(0, |at| at + 1);
    let host_of = |login| str::get(login, without_user(login)..).unwrap_or_default();
    let named: Vec<&str> = match kind {
        // `user@host:path`
        Kind::Remote | Kind::Copy => {
            let login = text.split_once(':').map_or("", |(login, _)| login);
            let is_host = !login.contains('/') && !login.starts_with('-');
            is_host.then(|| host_of(login)).into_iter().collect()
        }
        // `example.org`, `@8.8.8.8`, `example.org/a/b:tag`; no number and no file that is known as one
        Kind::Host | Kind::Image => {
            let name = text.trim_start_matches('@').split('/').next().unwrap_or_default();
            let is_host = match kind {
                Kind::Image => text.contains('/') && name.contains('.') && !name.ends_with(':'),
                _ => name.contains(['.', ':']),
            };
            (is_host && is_name(name)).then_some(name).into_iter().collect()
        }
        // `user@host:22,host`, `TCP:host:port`, `openssl-connect:host:port,verify=0`, `example.org:443:10.0.0.1:443`
        Kind::Login | Kind::Socket | Kind::Route => {
            let parts = text.split([':', ',']).skip(usize::from(kind == Kind::Socket));
            let is_option = |part: &str| kind == Kind::Socket && part.contains('=');
            let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
            let part = |part| match kind {
                Kind::Route => str::trim_start_matches(part, ['+', '-']),
                _ => host_of(part),
            };
            parts
                .map(part)
                .filter(|part| !is_number(part) && !is_option(part))
                .collect()
        }
        _ => Vec::new(),
    };
    let scheme = match kind {
        Kind::Remote | Kind::Copy | Kind::Login => "ssh",
        Kind::Image => "https",
        Kind::Route => "http",
        _ => "tcp",
    };
    let of_settings = matches!(kind, Kind::Remote | Kind::Copy | Kind::Any);
    let settings = text.split_whitespace().filter(|_| of_settings);
    let values = settings.filter_map(|pair| pair.strip_prefix("host="));
    let values = values.filter(|host| !host.starts_with('/'));
    let named = named.into_iter().map(|host| (scheme, host));
    named
        .chain(values.map(|host| ("tcp", host)))
        .filter(|(_, host)| !host.is_empty())
        .map(|(scheme, host)| url::host(scheme, host))
        .collect()
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
    if text.starts_with(['/', '?', '#']) || text.is_empty() || text.contains(char::is_whitespace) {
        return None;
    }
    let scheme = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let has_scheme = text.contains(':') && matches!(&*scheme, "http" | "https" | "ftp" | "file");
    let url = if text.contains("://") || has_scheme {
        text.to_owned()
    } else if text.starts_with(':') {
        // `:8080/x` is a port of this machine.
        format!("http://localhost{text}")
    } else {
        format!("http://{text}")
    };
    let mut fact = url::fact(origin_of(&url));
    if is_local_server(&url).unwrap_or_default() {
        (fact.risk, fact.why) = (Risk::Medium, None);
    }
    Some(fact)
}

/// A server that a developer runs on this machine, named plainly, is no reason to ask every time.
fn is_local_server(url: &str) -> Option<bool> {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"))?;
    let mut names = ["localhost", "127.0.0.1", "[::1]"].iter();
    let after = names.find_map(|name| rest.strip_prefix(name))?;
    let path = after.strip_prefix(':').map_or(after, |port| {
        port.trim_start_matches(|c: char| c.is_ascii_digit())
    });
    Some(path.is_empty() || path.starts_with(['/', '?', '#']))
}

/// A URL up to its path. What follows says nothing about the host, and may only be known when it runs.
fn origin_of(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(from..).unwrap_or_default();
    let end = rest.find(['?', '#', '$', '`']).map_or(url.len(), |at| from + at);
    url.get(..end).unwrap_or(url)
}

/// The URL inside a word: the whole of it, or what follows `--option=` or an attached option.
fn with_scheme(kind: Kind, text: &str) -> Option<Fact> {
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
    let reaches_any = matches!(kind, Kind::Remote | Kind::Copy | Kind::Login);
    let counts = reaches_any || lower.ends_with("git+ssh");
    (counts && !host.is_empty()).then(|| url::host(scheme, host))
}
