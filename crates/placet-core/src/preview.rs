//! What an agent says a call would do: its own word, shown as such and believed by no rule.

use serde::{Deserialize, Serialize};

/// The longest diff, in bytes.
pub const DIFF_BYTES_MAX: usize = 256 * 1024;
/// The longest other text, in bytes.
pub const TEXT_BYTES_MAX: usize = 1000;
/// The most links.
pub const LINKS_MAX: usize = 20;

/// What an agent says about a call, besides its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Preview {
    /// What would change, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// How many rows it would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Where more can be read: http(s) addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// `production`, `staging`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What it would cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
}

/// Why a preview is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PreviewError {
    /// A text is longer than people read.
    #[error("`preview.{field}` has {bytes} bytes; at most {max} are accepted")]
    TooLong {
        /// Which one.
        field: &'static str,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        max: usize,
    },
    /// Too many links.
    #[error("`preview.links` has {0} links; at most {LINKS_MAX} are accepted")]
    TooManyLinks(usize),
    /// Not an address that a browser opens.
    #[error("`preview.links` has `{0}`, which is not an http(s) address")]
    NotALink(String),
}

impl Preview {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks what came from outside.
    pub fn checked(self) -> Result<Self, PreviewError> {
        let texts = [
            ("diff", self.diff.as_ref(), DIFF_BYTES_MAX),
            ("environment", self.environment.as_ref(), TEXT_BYTES_MAX),
            ("cwd", self.cwd.as_ref(), TEXT_BYTES_MAX),
            ("cost", self.cost.as_ref(), TEXT_BYTES_MAX),
            ("purpose", self.purpose.as_ref(), TEXT_BYTES_MAX),
        ];
        let links = self
            .links
            .iter()
            .map(|link| ("links", Some(link), TEXT_BYTES_MAX));
        for (field, text, max) in texts.into_iter().chain(links) {
            let bytes = text.map_or(0, String::len);
            if bytes > max {
                return Err(PreviewError::TooLong { field, bytes, max });
            }
        }
        if self.links.len() > LINKS_MAX {
            return Err(PreviewError::TooManyLinks(self.links.len()));
        }
        let is_other = |link: &&String| !link.starts_with("https://") && !link.starts_with("http://");
        if let Some(link) = self.links.iter().find(is_other) {
            return Err(PreviewError::NotALink(link.clone()));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_bounded_and_its_links_are_web_addresses() {
        let preview = |cwd: &str, links: Vec<String>| Preview {
            cwd: Some(cwd.to_owned()),
            links,
            ..Preview::default()
        };
        let link = || "https://ci.example/run/7".to_owned();
        assert!(preview("/srv/shop", vec![link()]).checked().is_ok());
        let long = "x".repeat(TEXT_BYTES_MAX + 1);
        assert_eq!(
            preview(&long, Vec::new()).checked(),
            Err(PreviewError::TooLong {
                field: "cwd",
                bytes: TEXT_BYTES_MAX + 1,
                max: TEXT_BYTES_MAX
            })
        );
        let many = vec![link(); LINKS_MAX + 1];
        assert_eq!(
            preview("", many).checked(),
            Err(PreviewError::TooManyLinks(LINKS_MAX + 1))
        );
        let script = "javascript:alert(1)".to_owned();
        assert_eq!(
            preview("", vec![script.clone()]).checked(),
            Err(PreviewError::NotALink(script))
        );
    }
}
