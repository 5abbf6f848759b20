//! What an edit means, and when it is ambiguous.

use proptest::prelude::*;
use serde_json::json;

use super::super::json;
use super::*;

const A: &str = "ghp_AAAAAAAAAAAAAAAAAAAA0123456789abcdef";
const B: &str = "ghp_BBBBBBBBBBBBBBBBBBBB0123456789abcdef";
const MASK: &str = "ghp_...[40-chars-masked]";

/// The arguments meant by a change of the masked `original`.
#[track_caller]
fn edited(original: &Value, change: impl FnOnce(&mut Value)) -> Result<Value, EditError> {
    let original = Args::from_value(original.clone()).unwrap();
    let mut shown = json(original.as_value());
    assert!(!shown.to_string().contains("0123456789abcdef"), "{shown}");
    change(&mut shown);
    let edited = Args::from_value(shown).unwrap();
    put_back(&edited, &original).map(|meant| meant.as_value().clone())
}

#[track_caller]
fn refused(original: &Value, name: &str, change: impl FnOnce(&mut Value)) {
    assert_eq!(edited(original, change), Err(EditError::Masked(name.to_owned())));
}

#[test]
fn a_secret_that_was_left_masked_is_kept_and_the_rest_is_edited() {
    let original = json!({"url": "https://a.example", "headers": {"Authorization": format!("Bearer {A}")}});
    let meant = edited(&original, |shown| shown["url"] = json!("https://b.example")).unwrap();
    assert_eq!(meant["headers"], original["headers"]);
    assert_eq!(meant["url"], "https://b.example");
    assert_eq!(edited(&original, |_| {}).unwrap(), original);
}

#[test]
fn a_line_can_be_changed_around_the_secrets_in_it() {
    let line =
        |token: &str, more: &str| format!("curl -H 'Authorization: Bearer {token}' https://a.example{more}");
    let original = json!({"command": line(A, "")});
    let meant = edited(&original, |shown| shown["command"] = json!(line(MASK, " --fail"))).unwrap();
    assert_eq!(meant["command"], line(A, " --fail"));

    let both = json!({"command": format!("{}; {}", line(A, ""), line(B, ""))});
    refused(&both, "command", |shown| shown["command"] = json!(line(MASK, "")));
    let other = format!("{}; API_KEY=sk-0123456789abcdefghij make", line(A, ""));
    let meant = edited(&json!({"command": other}), |shown| {
        shown["command"] = json!(format!(
            "API_KEY=sk-0...[23-chars-masked] make; {}",
            line(MASK, "")
        ));
    });
    assert_eq!(
        meant.unwrap()["command"],
        format!("API_KEY=sk-0123456789abcdefghij make; {}", line(A, ""))
    );
}

#[test]
fn of_secrets_that_look_alike_none_is_guessed_once_their_list_was_changed() {
    let original = json!({"tokens": [A, B], "note": "x"});
    refused(&original, "tokens", |shown| shown["tokens"] = json!([MASK]));
    refused(&original, "tokens", |shown| {
        shown["tokens"] = json!([MASK, "new"]);
    });
    refused(&original, "tokens", |shown| {
        shown["tokens"] = json!(["new", MASK, MASK]);
    });
    let meant = edited(&original, |shown| shown["note"] = json!("y")).unwrap();
    assert_eq!(meant["tokens"], original["tokens"]);

    let hosts = json!({"hosts": [{"name": "a", "token": A}, {"name": "b", "token": B}]});
    refused(&hosts, "token", |shown| {
        shown["hosts"].as_array_mut().unwrap().reverse();
    });
    refused(&hosts, "token", |shown| {
        shown["hosts"].as_array_mut().unwrap().remove(0);
    });
}

#[test]
fn a_list_can_be_changed_where_it_is_clear_which_secret_is_meant() {
    let flags = json!({"argv": ["--token", A, "--other", B, "-v"]});
    let meant = edited(&flags, |shown| shown["argv"][4] = json!("-q")).unwrap();
    assert_eq!(meant, json!({"argv": ["--token", A, "--other", B, "-q"]}));

    let one = json!({"argv": ["curl", "-H", format!("Authorization: Bearer {A}"), "https://a.example"]});
    let meant = edited(&one, |shown| {
        shown["argv"].as_array_mut().unwrap().insert(1, json!("-v"));
    })
    .unwrap();
    assert_eq!(
        meant,
        json!({"argv": ["curl", "-v", "-H", format!("Authorization: Bearer {A}"), "https://a.example"]})
    );
    let host = json!({"hosts": [{"name": "a", "token": A}]});
    let meant = edited(&host, |shown| shown["hosts"][0]["name"] = json!("b")).unwrap();
    assert_eq!(meant, json!({"hosts": [{"name": "b", "token": A}]}));
}

#[test]
fn a_mask_that_stands_for_nothing_is_refused() {
    let original = json!({"token": A, "note": "x"});
    for damaged in [
        "ghx_...[40-chars-masked]",
        "ghp_...[41-chars-masked]",
        "[40-chars-masked]",
        "hp_...[40-chars-masked]",
    ] {
        refused(&original, "token", |shown| shown["token"] = json!(damaged));
    }
    refused(&original, "note", |shown| {
        shown["note"] = json!(format!("see {MASK}"));
    });
    refused(&original, "other", |shown| shown["other"] = json!(MASK));
    refused(&original, MASK, |shown| shown[MASK] = json!("x"));
    refused(&original, "deep", |shown| shown["new"] = json!({"deep": [MASK]}));
}

#[test]
fn text_that_was_written_like_a_mask_stays_text_and_makes_a_mask_like_it_unclear() {
    let written = json!({"note": format!("it said {MASK}")});
    let meant = edited(&written, |shown| {
        shown["note"] = json!(format!("{MASK}, it said"));
    })
    .unwrap();
    assert_eq!(meant["note"], format!("{MASK}, it said"));

    let both = json!({"command": format!("echo {MASK}; gh --token {A}")});
    refused(&both, "command", |shown| {
        shown["command"] = json!(format!("gh --token {MASK}"));
    });
}

proptest! {
    #[test]
    fn nothing_of_an_edit_is_a_mask_that_was_not_written(
        pieces in prop::collection::vec(prop::sample::select(vec![A, B, MASK, "--token ", "; ", "x=", "'", " "]), 0..8),
        kept in prop::collection::vec(any::<bool>(), 8),
    ) {
        let line = pieces.concat();
        let original = Args::from_value(json!({"command": line})).unwrap();
        let shown = json(original.as_value());
        prop_assert_eq!(put_back(&Args::from_value(shown.clone()).unwrap(), &original).unwrap(), original.clone());
        let words = shown["command"].as_str().unwrap().split_inclusive(' ').zip(kept);
        let fewer: String = words.filter(|(_, kept)| *kept).map(|(word, _)| word).collect();
        if let Ok(meant) = put_back(&Args::from_value(json!({"command": fewer})).unwrap(), &original) {
            let count = |text: &str| text.matches(END).count();
            prop_assert!(count(meant.text("command").unwrap()) <= count(&line));
        }
    }
}
