//! The options of a command, read as getopt reads them: clusters, attached values, abbreviated names.

use super::word::Word;

/// Which options of a program take a value.
pub(super) struct Spec {
    /// Short ones.
    pub(super) short: &'static str,
    /// Long ones.
    pub(super) long: &'static [&'static str],
}

/// One part of the words after a command's name.
#[derive(Clone, Copy)]
pub(super) enum Part<'w> {
    /// A short option.
    Short(char, Option<Value<'w>>),
    /// A long option, as written, without its dashes.
    Long(&'w str, Option<Value<'w>>),
    /// No option, and no value of one.
    Plain(Value<'w>),
}

/// A value, and whether all of it is known.
#[derive(Clone, Copy)]
pub(super) struct Value<'w> {
    pub(super) text: &'w str,
    /// The word it is, or is a part of.
    pub(super) word: &'w Word<'w>,
}

impl Part<'_> {
    /// Whether it is the long option `name`, or an abbreviation of it.
    pub(super) fn is_long(&self, names: &[&str]) -> bool {
        matches!(self, Self::Long(own, _) if abbreviates(own, names))
    }
}

fn abbreviates(own: &str, names: &[&str]) -> bool {
    !own.is_empty() && names.iter().any(|name| name.starts_with(own))
}

/// The parts of `words`, in order.
pub(super) fn parts<'w>(words: &'w [Word<'w>], spec: &Spec) -> Vec<Part<'w>> {
    let mut parts = Vec::with_capacity(words.len());
    let mut only_plain = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.value.as_str();
        let whole = |word: &'w Word<'w>| Value {
            text: &word.value,
            word,
        };
        if only_plain || !text.starts_with('-') || text == "-" {
            parts.push(Part::Plain(whole(word)));
        } else if text == "--" {
            only_plain = true;
        } else if let Some(long) = text.strip_prefix("--") {
            parts.push(match long.split_once('=') {
                Some((name, text)) => Part::Long(name, Some(Value { text, word })),
                None if spec.long.contains(&long) || is_only_abbreviation(long, spec.long) => {
                    Part::Long(long, words.next().map(whole))
                }
                None => Part::Long(long, None),
            });
        } else {
            let mut letters = text.get(1..).unwrap_or_default().chars();
            while let Some(letter) = letters.next() {
                if !spec.short.contains(letter) {
                    parts.push(Part::Short(letter, None));
                    continue;
                }
                let text = letters.as_str();
                let value = if text.is_empty() {
                    words.next().map(whole)
                } else {
                    Some(Value { text, word })
                };
                parts.push(Part::Short(letter, value));
                break;
            }
        }
    }
    parts
}

/// Long enough to be meant: `--f` could be one of many that take no value.
fn is_only_abbreviation(own: &str, names: &[&str]) -> bool {
    own.len() > 3 && abbreviates(own, names)
}

/// Options of `curl` with a value.
#[rustfmt::skip]
pub(super) const CURL: Spec = Spec {
    short: "AbcCdDeEFHKmoPQrtTuUwxXyYz",
    long: &[
        "abstract-unix-socket", "alt-svc", "aws-sigv4", "cacert", "capath", "cert", "cert-type", "ciphers", "config", "connect-timeout",
        "connect-to", "continue-at", "cookie", "cookie-jar", "create-file-mode", "crlfile", "curves", "data", "data-ascii", "data-binary",
        "data-raw", "data-urlencode", "delegation", "dns-interface", "dns-ipv4-addr", "dns-ipv6-addr", "dns-servers", "doh-url",
        "dump-header", "engine", "etag-compare", "etag-save", "expect100-timeout", "form", "form-string", "ftp-account",
        "ftp-alternative-to-user", "ftp-method", "ftp-port", "happy-eyeballs-timeout-ms", "haproxy-clientip", "header", "hsts",
        "hostpubmd5", "hostpubsha256", "interface", "ipfs-gateway", "json", "keepalive-time", "key", "key-type", "krb", "libcurl",
        "limit-rate", "local-port", "login-options", "mail-auth", "mail-from", "mail-rcpt", "max-filesize", "max-redirs", "max-time",
        "netrc-file", "noproxy", "oauth2-bearer", "output", "output-dir", "parallel-max", "pass", "pinnedpubkey", "preproxy", "proto",
        "proto-default", "proto-redir", "proxy", "proxy-cacert", "proxy-cert", "proxy-ciphers", "proxy-header", "proxy-key",
        "proxy-pass", "proxy-user", "proxy1.0", "pubkey", "quote", "random-file", "range", "rate", "referer", "request",
        "request-target", "resolve", "retry", "retry-delay", "retry-max-time", "sasl-authzid", "service-name", "socks4", "socks4a",
        "socks5", "socks5-hostname", "speed-limit", "speed-time", "stderr", "telnet-option", "tftp-blksize", "time-cond", "tls-max",
        "tls13-ciphers", "trace", "trace-ascii", "trace-config", "unix-socket", "upload-file", "url", "url-query", "user",
        "user-agent", "variable", "write-out",
    ],
};

/// Options of `wget` with a value.
#[rustfmt::skip]
pub(super) const WGET: Spec = Spec {
    short: "aABDeiIloOPQRtTUwX",
    long: &[
        "accept", "accept-regex", "append-output", "base", "bind-address", "body-data", "body-file", "ca-certificate", "certificate",
        "compression", "cut-dirs", "directory-prefix", "dns-servers", "domains", "exclude-directories", "exclude-domains", "execute",
        "header", "http-password", "http-user", "include-directories", "input-file", "level", "limit-rate", "load-cookies",
        "max-redirect", "method", "output-document", "output-file", "password", "post-data", "post-file", "private-key", "progress",
        "proxy-password", "proxy-user", "quota", "referer", "reject", "reject-regex", "save-cookies", "secure-protocol", "timeout",
        "tries", "user", "user-agent", "wait", "waitretry",
    ],
};

/// Options of `http`, `https` and `xh` with a value.
pub(super) const HTTPIE: Spec = Spec {
    short: "aAops",
    long: &[
        "auth",
        "auth-type",
        "output",
        "print",
        "proxy",
        "session",
        "session-read-only",
        "style",
        "timeout",
        "verify",
        "cert",
    ],
};

/// Options of `aria2c` with a value.
pub(super) const ARIA2: Spec = Spec {
    short: "dosxjkilmtTSMO",
    long: &[
        "all-proxy",
        "dir",
        "header",
        "http-proxy",
        "https-proxy",
        "input-file",
        "out",
        "referer",
        "user-agent",
    ],
};

/// Options of `git clone` with a value.
pub(super) const GIT_CLONE: Spec = Spec {
    short: "bojuc",
    long: &[
        "bundle-uri",
        "branch",
        "config",
        "depth",
        "filter",
        "jobs",
        "origin",
        "reference",
        "separate-git-dir",
        "server-option",
        "shallow-exclude",
        "shallow-since",
        "template",
        "upload-pack",
    ],
};

/// Options of `git fetch`, `pull`, `push` and the like with a value.
pub(super) const GIT: Spec = Spec {
    short: "josX",
    long: &[
        "deepen",
        "depth",
        "exec",
        "filter",
        "jobs",
        "push-option",
        "receive-pack",
        "refmap",
        "server-option",
        "shallow-exclude",
        "shallow-since",
        "strategy",
        "strategy-option",
        "upload-pack",
    ],
};

/// Options of `ssh` and its family with a value.
pub(super) const SSH: Spec = Spec {
    short: "BbcDEeFIiJLlmOopPQRSWwX",
    long: &[],
};

/// Options of `nc` with a value.
pub(super) const NC: Spec = Spec {
    short: "eGgIiMmOPpqsTVWwXx",
    long: &[
        "exec",
        "proxy",
        "proxy-auth",
        "proxy-type",
        "source",
        "source-port",
        "wait",
    ],
};

/// Options of `pg_restore` with a value.
pub(super) const PG_RESTORE: Spec = Spec {
    short: "dFfhIjLnNpPStTU",
    long: &[
        "dbname", "file", "format", "host", "jobs", "port", "role", "schema", "table", "username",
    ],
};
