//! Which languages there are, and which of them a reader understands best.

use std::fmt;
use std::str::FromStr;

use super::{Locale, text};

/// The tag of no language here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown language `{0}`; the languages are {known}", known = Locale::ALL.map(Locale::tag).join(", "))]
pub struct UnknownLocale(pub String);

impl Locale {
    /// What the language calls itself.
    pub fn name(self) -> &'static str {
        text(self, "language.name").unwrap_or(self.tag())
    }

    /// The tag that dates and numbers are written by: `zh-CN`.
    pub fn language_tag(self) -> &'static str {
        text(self, "language.tag").unwrap_or(self.tag())
    }

    /// The language that an `Accept-Language` header prefers, of those there are: `fr, zh-TW;q=0.8` is Chinese.
    pub fn preferred(accepted: &str) -> Option<Self> {
        let mut ranges: Vec<(&str, f32)> = accepted.split(',').filter_map(weighed).collect();
        // Stable: of equal weights the first is preferred.
        ranges.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        ranges.into_iter().find_map(|(range, _)| Self::spoken(range))
    }

    /// The language of a tag or of its first part: `zh-TW` is read by Chinese readers.
    fn spoken(tag: &str) -> Option<Self> {
        let is = |known: &str, tag: &str| known.eq_ignore_ascii_case(tag);
        let base = tag.split('-').next().unwrap_or(tag);
        let exact = |locale: &Self| is(locale.language_tag(), tag) || is(locale.tag(), tag);
        let near = |locale: &Self| is(locale.tag(), base);
        Self::ALL
            .into_iter()
            .find(exact)
            .or_else(|| Self::ALL.into_iter().find(near))
    }
}

/// A range of `Accept-Language` and its weight; `None` where the reader refuses it, or for what is not a range.
fn weighed(range: &str) -> Option<(&str, f32)> {
    let (tag, parameters) = range.split_once(';').unwrap_or((range, ""));
    let weight = match parameters.trim().strip_prefix("q=") {
        Some(weight) => weight.trim().parse().ok()?,
        None => 1.0,
    };
    (weight > 0.0).then(|| (tag.trim(), weight))
}

/// Its tag.
impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}

impl FromStr for Locale {
    type Err = UnknownLocale;

    fn from_str(tag: &str) -> Result<Self, UnknownLocale> {
        let known = |locale: &Self| locale.tag() == tag || locale.language_tag() == tag;
        Self::ALL
            .into_iter()
            .find(known)
            .ok_or_else(|| UnknownLocale(tag.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_the_preferred_language_that_there_is() {
        let preferred = |accepted: &str| Locale::preferred(accepted);
        assert_eq!(preferred("zh-TW,zh;q=0.9,en;q=0.8"), Some(Locale::Chinese));
        assert_eq!(
            preferred("fr-FR, zh-Hant-HK;q=0.5, en;q=0.7"),
            Some(Locale::English)
        );
        assert_eq!(preferred("EN-gb"), Some(Locale::English));
        assert_eq!(preferred("zh;q=0, en;q=0.1"), Some(Locale::English));
        for none in ["", "fr", "*", "zh;q=x", ";;", "constructor"] {
            assert_eq!(preferred(none), None, "{none}");
        }
    }

    #[test]
    fn a_language_is_known_by_its_folder_and_by_its_tag() {
        for locale in Locale::ALL {
            assert_eq!(locale.to_string().parse(), Ok(locale));
            assert_eq!(locale.language_tag().parse(), Ok(locale));
            assert!(!locale.name().is_empty());
        }
        let error = "fr".parse::<Locale>().unwrap_err().to_string();
        assert!(error.contains("`fr`") && error.contains("zh"), "{error}");
    }
}
