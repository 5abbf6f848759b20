//! Every language says everything, and nothing that no value needs.

use std::collections::BTreeSet;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;
use crate::render::tests::assert_chinese::assert_chinese;

const LOCALES: [Locale; 2] = [Locale::English, Locale::Chinese];

/// Tables that values look into with a text of the call, and not with a code.
const OPEN: [&str; 1] = ["verb"];

fn placeholders(mut text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    while let Some((_, name, after)) = placeholder(text) {
        names.insert(name);
        text = after;
    }
    names
}

/// The parameters of every sentence of a table, in every combination of codes.
fn samples(locale: Locale, table: &str) -> Vec<Map<String, Value>> {
    let mut all = Vec::new();
    for (code, text) in &sentences(locale)[table] {
        let mut own = vec![Map::from_iter([(table.to_owned(), json!(code))])];
        for name in placeholders(text) {
            let inner = match name.strip_suffix(".*") {
                Some(table) => samples(locale, table),
                None => vec![Map::from_iter([(name.to_owned(), json!("x"))])],
            };
            let with = |sample: &Map<String, Value>| {
                let sample = sample.clone();
                let joined = move |inner: &Map<String, Value>| {
                    let mut joined = inner.clone();
                    joined.extend(sample.clone());
                    joined
                };
                inner.iter().map(joined).collect::<Vec<_>>()
            };
            own = own.iter().flat_map(with).collect();
        }
        all.extend(own);
    }
    all
}

/// Checks that each sentence of a table is that of a value whose parameters are exactly the sentence's.
pub(crate) fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(table: &str) {
    for locale in LOCALES {
        for sample in samples(locale, table) {
            let numbers = sample.iter().map(|(name, value)| {
                let value = if value == "x" { json!(7) } else { value.clone() };
                (name.clone(), value)
            });
            let forms = [Value::Object(numbers.collect()), Value::Object(sample.clone())];
            let parsed = |form: Value| Some((serde_json::from_value::<T>(form.clone()).ok()?, form));
            let found = forms.into_iter().find_map(parsed);
            let (value, sample) =
                found.unwrap_or_else(|| panic!("no value has the sentence {sample:?} in {locale:?}"));
            assert_eq!(serde_json::to_value(&value).unwrap(), sample, "{locale:?}");
            let said = say(locale, table, &value);
            assert!(
                !said.is_empty() && !said.contains("{\"") && placeholder(&said).is_none(),
                "{said}"
            );
            if locale == Locale::Chinese {
                assert_chinese(&said);
            }
        }
    }
}

/// Checks that a table has exactly the codes of a type.
pub(crate) fn codes<T: DeserializeOwned + Debug>(table: &str) {
    // What a type does not know it answers with what it does: "unknown variant `?`, expected one of `a`, `b`".
    let tagged = serde_json::from_value::<T>(json!({ table: "?" }))
        .unwrap_err()
        .to_string();
    let plain = serde_json::from_value::<T>(json!("?")).unwrap_err().to_string();
    let expected = [tagged, plain].into_iter().find_map(|error| {
        let (_, expected) = error.split_once("unknown variant `?`, expected one of ")?;
        Some(expected.replace('`', ""))
    });
    let expected = expected.unwrap();
    let expected: BTreeSet<&str> = expected.split(", ").collect();
    for locale in LOCALES {
        let own: BTreeSet<&str> = sentences(locale)[table].keys().map(String::as_str).collect();
        assert_eq!(own, expected, "{table} in {locale:?}");
    }
}

/// The codes of a table.
pub(crate) fn table(name: &str) -> BTreeSet<String> {
    sentences(Locale::English)[name].keys().cloned().collect()
}

/// Each table is checked against a type, where that type is.
#[test]
fn every_table_belongs_to_a_type() {
    let types = [
        "address", "ban", "category", "deed", "doubt", "path", "reason", "sql", "url", "why",
    ];
    let mut tables: Vec<&str> = types.into_iter().chain(OPEN).collect();
    tables.sort_unstable();
    for locale in LOCALES {
        let own: Vec<&str> = sentences(locale).keys().map(String::as_str).collect();
        assert_eq!(own, tables, "{locale:?}");
    }
    for table in OPEN {
        for locale in LOCALES {
            let own: Vec<&String> = sentences(locale)[table].keys().collect();
            assert_eq!(own, sentences(Locale::English)[table].keys().collect::<Vec<_>>());
            assert!(sentences(locale)[table].contains_key("_"));
        }
    }
}

#[test]
fn no_chinese_sentence_contains_an_english_one() {
    // A sentence of nothing but other sentences and quotes is the same in every language, and a single word may be part of a name.
    let has_words = |text: &&String| {
        let own = |text: String, name: &str| text.replace(&format!("{{{name}}}"), "");
        let own = placeholders(text).into_iter().fold((*text).clone(), own);
        own.split(' ')
            .filter(|word| word.contains(|c: char| c.is_ascii_alphabetic()))
            .count()
            > 1
    };
    let english: Vec<&String> = ENGLISH
        .values()
        .flat_map(BTreeMap::values)
        .filter(has_words)
        .collect();
    for chinese in CHINESE.values().flat_map(BTreeMap::values) {
        let found = english.iter().find(|english| chinese.contains(english.as_str()));
        assert_eq!(found, None, "{chinese}");
    }
}

#[test]
fn a_code_without_a_sentence_is_shown_with_its_parameters() {
    for locale in LOCALES {
        let said = say(locale, "why", &json!({"why": "new_reason", "word": "x"}));
        assert_eq!(said, r#"{"why":"new_reason","word":"x"}"#);
        let said = say(locale, "nothing", &json!({"word": "x"}));
        assert_eq!(said, r#"{"word":"x"}"#);
        assert_eq!(say(locale, "why", &"x"), "why: \"x\"");
        let said = say(
            locale,
            "why",
            &json!({"why": "does", "what": "git", "deed": "new_deed"}),
        );
        assert!(said.contains("git") && said.contains("new_deed"), "{said}");
        let said = say(locale, "why", &json!({"why": "no_command"}));
        assert!(said.contains("`word`"), "{said}");
    }
}

#[test]
fn what_a_call_contains_is_never_taken_for_a_part_of_the_sentence() {
    let word = "{deed.*} {why.*} {word}";
    let said = say(
        Locale::English,
        "why",
        &json!({"why": "no_command", "word": word, "deed": "edits"}),
    );
    assert!(said.contains(word), "{said}");
}

#[test]
fn other_braces_are_text() {
    let none = ["", "{", "{}", "${…@P}", "{A}", "{ a }", "{.*}"];
    assert!(none.iter().all(|text| placeholder(text).is_none()));
    assert_eq!(placeholder("${…} {a}b"), Some(("${…} ", "a", "b")));
}
