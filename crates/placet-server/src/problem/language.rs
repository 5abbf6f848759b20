//! The language of the request at hand: its `Accept-Language`. Problems are explained in it; their codes are the same everywhere.

use axum::http::{HeaderMap, header};
use placet_core::interaction::Locale;
use serde_json::Value;

tokio::task_local! {
    static LANGUAGE: Locale;
}

/// Answers a request in its language.
pub(crate) async fn answering<T>(headers: &HeaderMap, answer: impl Future<Output = T>) -> T {
    LANGUAGE.scope(accepted(headers), answer).await
}

/// The language of the request; English outside of one.
pub(crate) fn current() -> Locale {
    LANGUAGE.try_with(|locale| *locale).unwrap_or(Locale::English)
}

/// The accepted language with the highest weight that there are sentences in.
fn accepted(headers: &HeaderMap) -> Locale {
    let accepted = headers.get_all(header::ACCEPT_LANGUAGE).into_iter();
    let ranges = accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    let mut known: Vec<(f32, Locale)> = ranges.filter_map(weighed).collect();
    // Stable: of two languages with the same weight the first counts.
    known.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    known.first().map_or(Locale::English, |(_, locale)| *locale)
}

/// `zh-CN;q=0.9`
fn weighed(range: &str) -> Option<(f32, Locale)> {
    let (tag, parameter) = range.split_once(';').unwrap_or((range, "q=1"));
    let weight: f32 = parameter.trim().strip_prefix("q=")?.parse().ok()?;
    let language = tag.trim().split('-').next()?.to_lowercase();
    let locale = serde_json::from_value(Value::String(language)).ok()?;
    (weight > 0.0).then_some((weight, locale))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_known_language_with_the_highest_weight_counts() {
        let of = |value: &'static str| {
            accepted(&HeaderMap::from_iter([(
                header::ACCEPT_LANGUAGE,
                HeaderValue::from_static(value),
            )]))
        };
        for chinese in [
            "zh",
            "zh-CN,zh;q=0.9,en;q=0.8",
            "fr, zh;q=0.3",
            "en;q=0.2,zh-TW;q=0.9",
            "en;q=0,zh;q=0.1",
        ] {
            assert_eq!(of(chinese), Locale::Chinese, "{chinese}");
        }
        for english in ["", "en-GB", "fr", "en,zh", "*", "zh;q=no", "zh;q=0"] {
            assert_eq!(of(english), Locale::English, "{english}");
        }
        assert_eq!(accepted(&HeaderMap::new()), Locale::English);
    }
}
