//! `[push]`: notifications of browsers.

use serde_spanned::Spanned;

use super::error::Checker;
use super::file::PushFile;

/// The push services of the browsers most people use.
const SERVICES: [&str; 4] = [
    "fcm.googleapis.com",
    "updates.push.services.mozilla.com",
    "*.push.apple.com",
    "*.notify.windows.com",
];

/// `[push]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// Contact for push services that see a problem: `mailto:` or `https:`.
    pub contact: String,
    /// The hosts messages may be sent to: a browser names its own, and this machine calls no other. `*.` stands for one or more labels.
    pub services: Vec<String>,
    /// Whether a notification says what is to be approved, and not only that something is.
    pub gist: Gist,
}

/// What a notification says of a request. The screen of a locked phone shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gist {
    /// That it needs approval.
    Hidden,
    /// What would happen, secrets masked.
    Shown,
}

impl Push {
    /// Whether messages may be sent to this host.
    pub fn allows(&self, host: &str) -> bool {
        self.services
            .iter()
            .any(|service| match service.strip_prefix("*.") {
                Some(domain) => host
                    .strip_suffix(domain)
                    .and_then(|labels| labels.strip_suffix('.'))
                    .is_some_and(|labels| !labels.is_empty()),
                None => service == host,
            })
    }
}

pub(super) fn push(file: PushFile, checker: &mut Checker<'_>) -> Push {
    if let Some(contact) = &file.contact {
        let text = contact.get_ref();
        if !text.starts_with("mailto:") && !text.starts_with("https://") {
            let help = Some("for example \"mailto:ops@example.com\"".to_owned());
            checker.refuse(
                contact.span(),
                format_args!("`{text}` is neither `mailto:` nor `https://`"),
                help,
            );
        }
    }
    let services = match file.services {
        Some(given) => given
            .iter()
            .map(|host| host.get_ref().to_ascii_lowercase())
            .collect(),
        None => SERVICES.map(str::to_owned).into(),
    };
    let contact = file.contact.map(Spanned::into_inner);
    Push {
        contact: contact.unwrap_or_else(|| "mailto:placet@localhost".to_owned()),
        services,
        gist: if file.show_gist == Some(true) {
            Gist::Shown
        } else {
            Gist::Hidden
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_services_are_called() {
        let push = Push {
            contact: String::new(),
            services: SERVICES.map(str::to_owned).into(),
            gist: Gist::Hidden,
        };
        for host in [
            "fcm.googleapis.com",
            "api.push.apple.com",
            "db5p.notify.windows.com",
        ] {
            assert!(push.allows(host), "{host}");
        }
        for host in [
            "googleapis.com",
            "push.apple.com",
            "evilpush.apple.com",
            "127.0.0.1",
            "fcm.googleapis.com.example",
        ] {
            assert!(!push.allows(host), "{host}");
        }
    }
}
