//! The language where `[approval] locale` says none: that of the environment, as other programs read it.

use serde_json::Value;

use crate::interaction::Locale;

/// The first of these that is set and not empty says the language.
pub const LANGUAGE_VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

/// `zh_CN.UTF-8` is Chinese; `C`, and a language without sentences, is English.
pub(super) fn of_environment(variables: &[(String, String)]) -> Locale {
    let value = |name: &str| {
        let found = variables.iter().find(|(other, _)| other == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty())
    };
    let chosen = LANGUAGE_VARIABLES.into_iter().find_map(value).unwrap_or_default();
    let language = chosen.split(['_', '.', '@', '-']).next().unwrap_or_default();
    serde_json::from_value(Value::String(language.to_lowercase())).unwrap_or(Locale::English)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_says_the_language() {
        let of = |variables: &[(&str, &str)]| {
            let owned = variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            of_environment(&owned.collect::<Vec<_>>())
        };
        for chinese in ["zh_CN.UTF-8", "zh", "zh-Hans", "ZH_cn@pinyin"] {
            assert_eq!(of(&[("LANG", chinese)]), Locale::Chinese, "{chinese}");
        }
        for english in ["", "C", "POSIX", "C.UTF-8", "en_GB.UTF-8", "xx_XX"] {
            assert_eq!(of(&[("LANG", english)]), Locale::English, "{english}");
        }
        assert_eq!(of(&[("LANG", "zh_CN"), ("LC_ALL", "C")]), Locale::English);
        assert_eq!(
            of(&[("LANG", "C"), ("LC_MESSAGES", "zh_CN"), ("LC_ALL", "")]),
            Locale::Chinese
        );
        assert_eq!(of(&[]), Locale::English);
    }
}
