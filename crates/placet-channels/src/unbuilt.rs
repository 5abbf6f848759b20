//! Channels that can be written into a configuration and cannot be spoken to yet.
//!
//! Such a file is read, so that people keep their accounts and a later release finds everything in place; but whoever relies
//! on a channel that reaches nobody must hear of it before the first question waits there.

use std::fmt;

use placet_core::config::{ChannelKind, Config};
use placet_core::ids::ChannelName;

/// A configured channel that reaches nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unbuilt<'a> {
    /// Which one.
    pub channel: &'a ChannelName,
    /// The platform nobody speaks to yet.
    pub platform: &'static str,
}

/// Every configured channel that reaches nobody.
pub fn unbuilt(config: &Config) -> impl Iterator<Item = Unbuilt<'_>> {
    config.channels.iter().filter_map(|(channel, configured)| {
        let platform = match configured.kind {
            ChannelKind::Webhook => return None,
            ChannelKind::Feishu => "feishu",
            ChannelKind::Dingtalk => "dingtalk",
            ChannelKind::Whatsapp => "whatsapp",
            ChannelKind::Email => "email",
            ChannelKind::Slack => "slack",
            ChannelKind::Telegram => "telegram",
        };
        Some(Unbuilt { channel, platform })
    })
}

impl fmt::Display for Unbuilt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { channel, platform } = self;
        write!(
            f,
            "the channel `{channel}` reaches nobody: this placet does not speak to `{platform}` yet, so what is asked there \
             waits in the inbox only; a channel of type \"webhook\" works today"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_platform_but_the_webhook_reaches_nobody_yet() {
        let kinds = [
            "webhook", "feishu", "dingtalk", "whatsapp", "email", "slack", "telegram",
        ];
        let section = |kind: &&str| {
            format!(
                "[channels.x-{kind}]\ntype = \"{kind}\"\nurl = \"https://a.example\"\nsecret = \"env:S\"\n"
            )
        };
        let text: String = kinds.iter().map(section).collect();
        let config = Config::parse(
            &text,
            "placet.toml",
            std::iter::empty(),
            placet_inspect::builtin(),
        )
        .unwrap();
        let mut found: Vec<_> = unbuilt(&config).map(|unbuilt| unbuilt.platform).collect();
        found.sort_unstable();
        assert_eq!(
            found,
            ["dingtalk", "email", "feishu", "slack", "telegram", "whatsapp"]
        );
        let said = unbuilt(&config)
            .next()
            .map(|unbuilt| unbuilt.to_string())
            .unwrap();
        assert!(said.contains("`x-dingtalk` reaches nobody"), "{said}");
    }
}
