//! `[channels.NAME]`: what every channel has, and exactly the keys of its type.
//!
//! The type is read first and says which keys there are, so each type has a struct of its own here and a variant in
//! [`ChannelKind`]. A new one is a line in [`TYPES`], an arm in [`typed`] and both of these.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::deserialize;
use super::duration::ConfigDuration;
use super::error::{Checker, did_you_mean};
use super::secret::Secret;
use super::sections::positive;
use crate::ids::ChannelName;
use crate::interaction::Locale;
use crate::time::Millis;

/// What channels are called when no other name is configured; people have accounts on these.
pub(super) const USUAL_NAMES: [&str; 7] = [
    "terminal", "feishu", "dingtalk", "whatsapp", "email", "slack", "telegram",
];
/// The types of this version.
const TYPES: [&str; 1] = ["webhook"];

/// A configured channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// What it speaks.
    pub kind: ChannelKind,
    /// How long approvers have on it, when its section says so.
    pub timeout: Option<Millis>,
    /// The language of its questions, when it is not `[approval]`'s.
    pub locale: Option<Locale>,
}

/// What a channel speaks, with the keys of that type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelKind {
    /// Signed HTTP both ways, for any platform.
    Webhook {
        /// Where messages are sent to.
        url: String,
        /// What both directions are signed with.
        secret: Secret,
        /// Where the certificates are that vouch for the other side, instead of the machine's own roots.
        ca: Option<Secret>,
    },
}

/// The keys of every type.
#[derive(Deserialize)]
struct CommonFile {
    timeout: Option<Spanned<ConfigDuration>>,
    locale: Option<Locale>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WebhookFile {
    url: Option<Spanned<String>>,
    secret: Option<Secret>,
    ca: Option<Spanned<Secret>>,
}

/// A section while it is read.
struct Section<'a> {
    name: &'a str,
    /// Where its name is.
    span: Range<usize>,
}

/// The channels of a file. One that was refused is known by its name, so that whatever names it is not refused as well.
pub(super) type Channels = BTreeMap<ChannelName, Option<Channel>>;

/// Reads every `[channels.NAME]` of a file.
pub(super) fn read(tree: &DeTable<'_>, checker: &mut Checker<'_>) -> Channels {
    let Some(channels) = tree.get("channels") else {
        return BTreeMap::new();
    };
    let DeValue::Table(channels_by_name) = channels.get_ref() else {
        checker.refuse(channels.span(), "a channel is a section: `[channels.NAME]`", None);
        return BTreeMap::new();
    };
    let read = channels_by_name.iter().filter_map(|(name, table)| {
        let section = Section {
            name: name.get_ref(),
            span: name.span(),
        };
        let name = checker.accept(section.span.clone(), ChannelName::new(section.name))?;
        let channel = channel(&section, table, checker);
        Some((name, channel))
    });
    read.collect()
}

fn channel(
    section: &Section<'_>,
    table: &Spanned<DeValue<'_>>,
    checker: &mut Checker<'_>,
) -> Option<Channel> {
    if section.name.contains(':') {
        let message = format!("the channel name `{}` holds a colon", section.name);
        checker.refuse(section.span.clone(), message, None);
    }
    if section.name == crate::push::CHANNEL {
        let message = format!(
            "the name `{}` is taken: notifications of browsers go there",
            section.name
        );
        checker.refuse(section.span.clone(), message, None);
    }
    let DeValue::Table(keys) = table.get_ref() else {
        checker.refuse(table.span(), "a channel is a section: `[channels.NAME]`", None);
        return None;
    };
    let mut own = keys.clone();
    let mut common = DeTable::new();
    for key in ["timeout", "locale"] {
        common.extend(own.remove_entry(key));
    }
    let common: Option<CommonFile> = deserialize(Spanned::new(table.span(), common), checker);
    let Some(kind) = own.remove("type") else {
        checker.refuse(section.span.clone(), "`type` is missing", None);
        return None;
    };
    let kind = typed(section, &kind, Spanned::new(table.span(), own), checker);
    let common = common?;
    let timeout = common.timeout.and_then(|given| positive(&given, checker));
    Some(Channel {
        kind: kind?,
        timeout,
        locale: common.locale,
    })
}

fn typed(
    section: &Section<'_>,
    kind: &Spanned<DeValue<'_>>,
    keys: Spanned<DeTable<'_>>,
    checker: &mut Checker<'_>,
) -> Option<ChannelKind> {
    let known = || TYPES.map(|known| format!("`{known}`")).join(", ");
    match kind.get_ref().as_str() {
        Some("webhook") => webhook(section, deserialize(keys, checker)?, checker),
        Some(other) => {
            let help = did_you_mean(other, TYPES.into_iter());
            let help = help.unwrap_or_else(|| format!("expected one of: {}", known()));
            let message = format!("this version has no channels of type `{other}`");
            checker.refuse(kind.span(), message, Some(help));
            None
        }
        None => {
            let message = format!("`type` must be one of: {}", known());
            checker.refuse(kind.span(), message, None);
            None
        }
    }
}

fn webhook(section: &Section<'_>, file: WebhookFile, checker: &mut Checker<'_>) -> Option<ChannelKind> {
    if let Some(url) = &file.url {
        check_url(url, checker);
    }
    let is_encrypted = |url: &Spanned<String>| url.get_ref().to_ascii_lowercase().starts_with("https:");
    if let (Some(ca), false) = (&file.ca, file.url.as_ref().is_some_and(is_encrypted)) {
        let help = Some("it says whom to trust on an https connection".to_owned());
        checker.refuse(
            ca.span(),
            "`ca` means nothing without an https `url` of a webhook",
            help,
        );
    }
    let (Some(url), Some(secret)) = (file.url, file.secret) else {
        let help = Some("without a secret, anyone could answer".to_owned());
        let message = format!("the webhook `{}` needs a `url` and a `secret`", section.name);
        checker.refuse(section.span.clone(), message, help);
        return None;
    };
    Some(ChannelKind::Webhook {
        url: url.into_inner(),
        secret,
        ca: file.ca.map(Spanned::into_inner),
    })
}

fn check_url(url: &Spanned<String>, checker: &mut Checker<'_>) {
    match url::Url::parse(url.get_ref()) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => {}
        Ok(_) => checker.refuse(
            url.span(),
            format_args!("`{}` is not an http or https URL", url.get_ref()),
            None,
        ),
        Err(error) => checker.refuse(
            url.span(),
            format_args!("`{}` is not a URL: {error}", url.get_ref()),
            None,
        ),
    }
}
