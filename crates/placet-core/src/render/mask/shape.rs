//! What secrets, paths and hosts look like.

/// Prefixes that give a token away, and how many characters must follow.
pub(super) const PREFIXES: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 15),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("AIza", 30),
    ("npm_", 20),
    ("hf_", 20),
    ("pypi-", 16),
    ("eyJ", 20),
];

/// Endings of names whose value is a secret, without case, `-` and `_`.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "credential",
    "credentials",
];

/// Whether a field, flag or variable of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    SECRET_NAMES.iter().any(|ending| plain.ends_with(ending))
}

/// Whether a value could be a secret at all: it is not a path, a host, a reference to a variable, or masked already.
pub(super) fn may_be_secret(value: &str) -> bool {
    !value.is_empty() && !is_path(value) && !is_host(value) && !value.starts_with('$') && !is_masked(value)
}

/// Whether a text begins like a path or a URL.
pub(super) fn is_path(text: &str) -> bool {
    ["/", "./", "../", "~", "file:"]
        .iter()
        .any(|start| text.starts_with(start))
        || text.contains("://")
}

/// Whether a text is a host name or an address: lower-case labels, the last of letters, or four numbers.
pub(super) fn is_host(text: &str) -> bool {
    let host = text.split([':', '/']).next().unwrap_or_default();
    let labels: Vec<&str> = host.split('.').collect();
    let label = |label: &&str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let number = |label: &&str| label.parse::<u8>().is_ok();
    let named = labels
        .last()
        .is_some_and(|last| last.len() >= 2 && last.bytes().all(|b| b.is_ascii_lowercase()));
    labels.len() > 1
        && labels.iter().all(label)
        && (named || (labels.len() == 4 && labels.iter().all(number)))
        || host == "localhost"
}

/// Whether a text holds a mask of ours.
pub(super) fn is_masked(text: &str) -> bool {
    text.contains("...[")
}

/// Whether a run of characters is too random to be a word: some digit, or long enough.
pub(super) fn is_random(text: &str) -> bool {
    text.len() >= 20 || (text.len() >= 8 && text.bytes().any(|b| b.is_ascii_digit()))
}
