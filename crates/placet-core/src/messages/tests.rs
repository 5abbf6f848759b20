//! The catalogue is sound. That every language has every sentence is checked by the build.

use std::collections::BTreeSet;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::json;

use super::render::{Piece, language};
use super::*;
use crate::render::tests::assert_chinese::assert_chinese;

#[path = "../../build/sentence.rs"]
mod sentence;

/// The languages whose sentences the tests spell out.
const LOCALES: [Locale; 2] = [Locale::English, Locale::Chinese];

/// Tables of codes that values look into with a text of the call.
const OPEN: [&str; 1] = ["verb"];

/// What tests compare: `refusal.too_late {"id":"int_7","late_by":0}`.
pub(crate) fn coded(message: &Message) -> String {
    format!("{} {}", message.id, Value::Object(message.parameters.clone()))
}

/// The keys of a table.
pub(crate) fn table(name: &str) -> BTreeSet<String> {
    let prefix = format!("{name}.");
    let ids = language(Locale::English).sentences.iter().map(|(id, _)| *id);
    ids.filter_map(|id| id.strip_prefix(&prefix))
        .map(str::to_owned)
        .collect()
}

fn pieces(id: &str) -> &'static [Piece] {
    let sentences = language(Locale::English).sentences;
    sentences.iter().find(|(other, _)| *other == id).unwrap().1
}

/// The parameters of every sentence of a table, in every combination of codes.
fn samples(name: &str) -> Vec<Map<String, Value>> {
    let of_key = |key: &String| {
        let mut all = vec![Map::from_iter([(name.to_owned(), json!(key))])];
        for piece in pieces(&format!("{name}.{key}")) {
            let inner = match piece {
                Piece::Text(_) => continue,
                Piece::Nested(table) => samples(table),
                Piece::Parameter(parameter, _) | Piece::Plural(parameter, ..) => {
                    vec![Map::from_iter([((*parameter).to_owned(), json!("x"))])]
                }
            };
            let joined = |own: &Map<String, Value>| {
                let own = own.clone();
                let join = move |inner: &Map<String, Value>| {
                    let mut joined = inner.clone();
                    joined.extend(own.clone());
                    joined
                };
                inner.iter().map(join).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(joined).collect();
        }
        all
    };
    table(name).iter().flat_map(of_key).collect()
}

/// Checks that each sentence of a table of codes is that of a value whose parameters are exactly the sentence's.
pub(crate) fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(table: &str) {
    for sample in samples(table) {
        let numbers = sample.iter().map(|(name, value)| {
            let value = if value == "x" { json!(7) } else { value.clone() };
            (name.clone(), value)
        });
        let forms = [Value::Object(numbers.collect()), Value::Object(sample.clone())];
        let parsed = |form: Value| Some((serde_json::from_value::<T>(form.clone()).ok()?, form));
        let found = forms.into_iter().find_map(parsed);
        let (value, sample) = found.unwrap_or_else(|| panic!("no value has the sentence {sample:?}"));
        assert_eq!(serde_json::to_value(&value).unwrap(), sample);
        for locale in LOCALES {
            let said = Message::of(table, &value).say(locale);
            assert!(!said.is_empty() && !said.contains("{\""), "{said}");
            if locale == Locale::Chinese {
                assert_chinese(&said);
            }
        }
    }
}

/// Checks that a table has exactly the codes of a type.
pub(crate) fn codes<T: DeserializeOwned + Debug>(name: &str) {
    // What a type does not know it answers with what it does: "unknown variant `?`, expected one of `a`, `b`".
    let tagged = serde_json::from_value::<T>(json!({ name: "?" }))
        .unwrap_err()
        .to_string();
    let plain = serde_json::from_value::<T>(json!("?")).unwrap_err().to_string();
    let expected = [tagged, plain].into_iter().find_map(|error| {
        let (_, expected) = error.split_once("unknown variant `?`, expected one of ")?;
        Some(expected.replace('`', ""))
    });
    let expected = expected.unwrap();
    let expected: BTreeSet<String> = expected.split(", ").map(str::to_owned).collect();
    assert_eq!(table(name), expected, "{name}");
}

/// Tables of codes are checked against their types, where the types are.
#[test]
fn every_table_of_codes_belongs_to_a_type() {
    let types = [
        "act", "address", "ban", "category", "deed", "doubt", "nobody", "path", "problem", "reason", "sql",
        "url", "why",
    ];
    let codes: toml::Table = include_str!("../../../../messages/en/codes.toml")
        .parse()
        .unwrap();
    let mut expected: Vec<&str> = types.into_iter().chain(OPEN).collect();
    expected.sort_unstable();
    let mut tables: Vec<&String> = codes.keys().collect();
    tables.sort_unstable();
    assert_eq!(tables, expected);
    assert!(OPEN.iter().all(|open| table(open).contains("_")));
}

/// Sentences that are the same in every language, because nothing in them is ours.
const NOT_OURS: [&str; 2] = ["language.", "text.as_written"];

#[test]
fn what_is_said_in_chinese_is_chinese() {
    for (id, pieces) in language(Locale::Chinese).sentences {
        let own: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Parameter(..) | Piece::Plural(..) | Piece::Nested(_) => "`…`",
            })
            .collect();
        let only_parameters = own.replace("`…`", "").chars().all(|c| !c.is_alphanumeric());
        if !only_parameters
            && !NOT_OURS.iter().any(|other| id.starts_with(other))
            && !id.starts_with("format.")
        {
            assert_chinese(&own);
        }
    }
}

#[test]
fn a_code_without_a_sentence_is_shown_with_its_parameters() {
    let said = |table: &str, value: Value| LOCALES.map(|locale| Message::of(table, &value).say(locale));
    let both = |text: &str| LOCALES.map(|_| text.to_owned());
    assert_eq!(
        said("why", json!({"why": "new_reason", "word": "x"})),
        both(r#"why.new_reason {"why":"new_reason","word":"x"}"#)
    );
    assert_eq!(
        said("nothing", json!({"word": "x"})),
        both(r#"nothing. {"word":"x"}"#)
    );
    assert_eq!(said("why", json!(7)), both(r#"why. {"why":7}"#));
    let [said, _] = said("why", json!({"why": "does", "what": "git", "deed": "new_deed"}));
    assert!(said.contains("git") && said.contains("new_deed"), "{said}");
}

#[test]
fn what_a_call_contains_is_never_taken_for_a_part_of_the_sentence() {
    let word = "{deed.*} {why.*} {word}";
    let value = json!({"why": "no_command", "word": word, "deed": "edits"});
    let said = Message::of("why", &value).say(Locale::English);
    assert!(said.contains(word), "{said}");
}

#[test]
fn counts_lengths_of_time_and_names_are_written_as_the_language_does() {
    let counted = |needed: u32| answered::counted(needed).say(Locale::English);
    assert_eq!(counted(1), "Approved. Waiting for 1 more.");
    let voted = |needed| refusal::voted_before("lin", needed).say(Locale::English);
    assert_eq!(voted(1_u32), "lin already approved; 1 more approval needed");
    assert_eq!(voted(2), "lin already approved; 2 more approvals needed");
    let late = refusal::too_late("int_7", Millis::from_secs(90));
    assert_eq!(
        late.say(Locale::English),
        "int_7 expired 1 min 30 s before this answer arrived"
    );
    assert_eq!(
        late.say(Locale::Chinese),
        "int_7 在此回答到达前 1 分钟 30 秒 已过期"
    );
    let chosen = |people: &[&str]| LOCALES.map(|locale| decided::chosen(people, "yes").say(locale));
    assert_eq!(
        chosen(&["lin", "wei", "ana"]),
        ["`yes` by lin, wei and ana", "lin、wei 和 ana 选择了 `yes`"]
    );
    assert_eq!(chosen(&["lin"])[0], "`yes` by lin");
}

/// An approval must be unmistakable: no other list shares a word with it, and no word is empty.
#[test]
fn a_word_that_answers_means_one_thing_in_all_languages() {
    let ids: Vec<String> = table("reply").iter().map(|key| format!("reply.{key}")).collect();
    let all: Vec<&str> = ids.iter().flat_map(|id| words(id)).collect();
    let different: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(all.len(), different.len());
    assert!(
        all.iter()
            .all(|word| !word.trim().is_empty() && !word.contains('\n'))
    );
    for locale in LOCALES {
        for (list, word) in [
            ("reply.approve", say::approve()),
            ("reply.reject", say::reject()),
            ("reply.skip", say::skip()),
            ("reply.terminate", say::terminate()),
            ("reply.retry", say::retry()),
        ] {
            let word = word.say(locale);
            assert!(words(list).any(|known| known == word), "{word} is not in {list}");
        }
    }
}

#[test]
fn a_message_is_an_id_with_parameters_and_contains_others() {
    let message = refusal::edit_denied(crate::outcome::Nobody::TooFew { able: 1, quorum: 2 }.message());
    assert_eq!(message.id(), "refusal.edit_denied");
    assert_eq!(
        Value::Object(message.parameters().clone()),
        json!({"why": {"id": "nobody.too_few", "parameters": {"nobody": "too_few", "able": 1, "quorum": 2}}})
    );
    assert_eq!(
        message.to_string(),
        "policy denies the edited call: 2 approvals are required, but only 1 of the approvers can approve"
    );
}

/// The page fills in parameters itself; its tests hold it to the same samples.
#[test]
fn the_server_says_a_sentence_as_the_page_does() {
    let samples: Vec<Value> =
        serde_json::from_str(include_str!("../../../../web/tests/sentences.json")).unwrap();
    assert!(samples.len() > 10);
    for sample in samples {
        let id = sample["id"].as_str().unwrap();
        let parameters = sample["parameters"].as_object().unwrap();
        for locale in LOCALES {
            let says = sample["says"][locale.tag()].as_str().unwrap();
            assert_eq!(super::render::said(locale, id, parameters), says);
        }
    }
}

#[test]
fn the_page_gets_sentences_as_they_stand_in_the_catalogue() {
    let of = |prefix| templates(Locale::English, prefix).collect::<Vec<_>>();
    let written = |id, sentence: &str| vec![(id, sentence.to_owned())];
    assert_eq!(
        of("refusal.voted_before"),
        written(
            "refusal.voted_before",
            "{by} already approved; {needed} more {needed|approval|approvals} needed"
        )
    );
    assert_eq!(
        of("decided.chosen"),
        written("decided.chosen", "`{option}` by {by:list}")
    );
    let banned = of("reason.banned");
    assert_eq!(banned, written("reason.banned", "Never allowed: {ban.*}"));
}

#[test]
fn braces_of_any_other_form_are_text() {
    use sentence::{Kind, Piece, parameters, pieces};
    let text = |text: &str| vec![Piece::Text(text.to_owned())];
    for other in [
        "{", "{}", "${…@P}", "{A}", "{ a }", "{.*}", "{a:b}", "{a|b}", "{a.b}",
    ] {
        assert_eq!(pieces(other), text(other));
    }
    let parameter = |name: &str, kind| Piece::Parameter(name.to_owned(), kind);
    assert_eq!(
        pieces("${…} {a}b {left:duration}"),
        [
            Piece::Text("${…} ".into()),
            parameter("a", Kind::Text),
            Piece::Text("b ".into()),
            parameter("left", Kind::Duration),
        ]
    );
    assert_eq!(
        pieces("{n|row|rows}"),
        [Piece::Plural("n".into(), "row".into(), "rows".into())]
    );
    assert_eq!(pieces("{why.*}"), [Piece::Nested("why".into())]);
    let pieces = pieces("{n} {n|row|rows} of {table}");
    assert!(
        parameters(&pieces)
            .into_iter()
            .eq([("n", Kind::Number), ("table", Kind::Text)])
    );
}
