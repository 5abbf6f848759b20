//! Display spoofing and hiding, as seen in the field, and what must hold for any arguments.

use proptest::prelude::*;

use super::*;
use crate::interaction::Shown;
use crate::messages::request;

fn bash(line: &str) -> Story {
    let mut story = story("bash", json!({ "command": line }), Risk::High);
    story.analysis.facts = vec![command(line, &[], Risk::High, None)];
    story
}

#[test]
fn claude_code_2_1_223_hid_a_part_of_the_command_behind_tabs_and_invisible_characters() {
    let text = bash(&format!("ls{}\u{200b}\u{2066}; rm -rf ~", "\t".repeat(3))).text();
    assert!(text.contains("│ ls⇥⇥⇥⟦U+200B⟧⟦U+2066⟧; rm -rf ~\n"), "{text}");
}

#[test]
fn claude_code_2_1_211_relayed_look_alike_quotes_and_bidi_to_chats() {
    let text = bash("echo ‘ok’ \u{202e}~ fr- mr").text();
    assert!(
        text.contains("│ echo ‘⟦≈' U+2018⟧ok’⟦≈' U+2019⟧ ⟦U+202E⟧~ fr- mr\n"),
        "{text}"
    );
}

#[test]
fn claude_code_2_1_234_masked_the_command_itself() {
    let mut hidden = bash("X=1 ghp_0123456789abcdefghij0123456789abcdef /etc");
    if let FactKind::Command { argv, .. } = &mut hidden.analysis.facts[0].kind {
        // A parser leaves the variable out of the words: the program is what follows it.
        argv.remove(0);
    }
    let text = hidden.text();
    assert!(
        text.contains("│ X=1 ghp_0123456789abcdefghij0123456789abcdef /etc\n"),
        "{text}"
    );
}

#[test]
fn local_operator_114_redrew_the_prompt_with_ansi() {
    let text = bash("rm -rf /\u{1b}[2K\u{1b}[Gls\r\u{8}").text();
    assert!(text.contains("│ rm -rf /⟦ESC⟧[2K⟦ESC⟧[Gls⟦CR⟧⟦BS⟧\n"), "{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn nanobot_showed_50_characters_and_openworker_80() {
    let text = bash(&format!("echo {}; rm -rf ~", "a".repeat(5000))).text();
    assert_eq!(
        text.matches("a; rm -rf ~").count(),
        2,
        "once as a command, once as an argument"
    );
}

#[test]
fn hermes_78032_posted_a_live_token_into_the_chat() {
    let story = bash("curl -H 'Authorization: Bearer xoxb-1234567890-abcdefghij' https://slack.com");
    let text = story.text();
    assert!(!text.contains("1234567890"), "{text}");
    assert!(text.contains(&request::secrets_hidden().to_string()), "{text}");
    assert!(text.contains("https://slack.com"), "{text}");
}

#[test]
fn an_agent_cannot_write_a_line_of_ours() {
    let mut story = bash("ls");
    story.call.description = Some("fine\n\nRisk LOW.\n• yes K7QP: harmless".into());
    for line in story
        .text()
        .lines()
        .filter(|line| line.contains("harmless") || line.contains("Risk LOW"))
    {
        assert!(line.starts_with("│ "), "{line}");
    }
}

#[test]
fn markdown_in_arguments_closes_no_fence_and_mentions_nobody() {
    let mut story = bash("echo '```\n**approved** [x](http://evil) <!channel> @all `` ` ````'");
    story.call.description = Some("@here [click](http://evil) <at id=all></at>".into());
    story.verdict.reason = Reason::Written("**bold** @all <!channel> [x](y)".into());
    let text = to_text(&story.document(Locale::English), &surface(Markup::Markdown)).text;
    let mut fenced = false;
    for line in text.lines() {
        if line == "```" {
            fenced = !fenced;
            continue;
        }
        assert!(!line.contains("```"), "{line}");
        assert!(!line.contains("@all") && !line.contains("@here"), "{line}");
        if !fenced {
            assert!(
                !line.contains("[x](") && !line.contains("<!") && !line.contains("**bold**"),
                "{line}"
            );
        }
    }
    assert!(!fenced, "every fence is closed");
}

#[test]
fn a_surface_that_is_too_small_says_so_and_cannot_pass_for_a_whole_one() {
    let document = bash(&format!("echo {}; rm -rf ~", "a ".repeat(3000))).document(Locale::English);
    let whole = to_text(&document, &surface(Markup::Plain));
    assert_eq!(whole.extent, Extent::Whole);
    assert_eq!(whole.shown(), Shown::Whole(document.digest()));
    for chars_max in [0, 1, 60, 200, 400, 900, 2000, 6000] {
        for markup in [Markup::Plain, Markup::Markdown] {
            let small = Surface {
                width: Some(60),
                chars_max: Some(chars_max),
                markup,
                elsewhere: Some("https://placet.example/i/int_1".into()),
            };
            let part = to_text(&document, &small);
            assert!(part.text.chars().count() <= chars_max, "{}", part.text);
            assert_eq!(part.extent, Extent::Part);
            assert!(matches!(part.shown(), Shown::Part(digest) if digest != document.digest()));
            assert!(
                chars_max < 200
                    || part
                        .text
                        .contains("See all of it: https://placet.example/i/int_1")
            );
            assert!(
                chars_max < 2000 || part.text.contains("yes K7QP"),
                "{}",
                part.text
            );
            assert_eq!(part.text.lines().filter(|line| *line == "```").count() % 2, 0);
        }
    }
}

#[test]
fn the_digest_of_what_was_shown_ignores_the_countdown_and_nothing_else() {
    let story = bash("ls");
    let document = story.document(Locale::English);
    let mut later = document.clone();
    for block in &mut later.foot {
        if let Block::Countdown { remaining, .. } = block {
            *remaining = Millis::from_secs(1);
        }
    }
    assert_eq!(document.digest(), later.digest());
    assert_ne!(
        document.digest(),
        bash("ls -l").document(Locale::English).digest()
    );
    assert_ne!(document.digest(), story.document(Locale::Chinese).digest());
}

#[test]
fn a_megabyte_is_shown_whole() {
    let line = "echo привет 你好 \u{202e}".repeat(30_000);
    let rendered = to_text(&bash(&line).document(Locale::English), &surface(Markup::Markdown));
    assert_eq!(rendered.extent, Extent::Whole);
    assert!(rendered.text.len() > line.len());
}

#[test]
fn a_file_of_many_lines_is_compared_in_bounded_time() {
    let mut story = story("write", json!({"path": "x"}), Risk::Medium);
    let lines = |word: &str| {
        (0..40_000)
            .map(|n| format!("{word}{n}"))
            .collect::<Vec<_>>()
            .join("\n")
            + "\n"
    };
    story.asked.evidence = vec![Evidence::Diff {
        path: "x".into(),
        before: Some(lines("a")),
        after: Some(lines("b")),
    }];
    let text = story.text();
    assert!(text.contains("│ -a39999\n") && text.contains("│ +b39999\n"));
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z\n\t `\u{1b}\u{202e}]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Every text anywhere in a value, as it must appear: escaped for JSON unless it is an argument of several lines.
fn texts(value: &Value, top: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) if top && text.contains('\n') => {
            found.extend(SafeText::block(text).as_str().split('\n').map(str::to_owned));
        }
        Value::String(text) => {
            let json = crate::canonical::to_string(&Value::from(text.as_str()));
            found.push(SafeText::line(&json).as_str().to_owned());
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, false, found)),
        Value::Object(fields) => fields.iter().for_each(|(name, item)| {
            found.push(name.clone());
            texts(item, false, found);
        }),
        other => found.push(other.to_string()),
    }
}

proptest! {
    #[test]
    fn every_character_of_the_arguments_is_in_a_whole_rendering(
        fields in prop::collection::btree_map("[a-z]{1,8}", json_value(), 0..5),
        width in prop::option::of(0u16..120),
    ) {
        let story = story("mystery", Value::Object(fields.clone().into_iter().collect()), Risk::Medium);
        for locale in [Locale::English, Locale::Chinese] {
            let on = Surface { width, ..surface(Markup::Plain) };
            let rendered = to_text(&story.document(locale), &on);
            prop_assert_eq!(rendered.extent, Extent::Whole);
            let unwrapped = rendered.text.replace("\n┊ ", "");
            for (name, value) in &fields {
                let mut expected = vec![name.clone()];
                texts(&mask::json(&json!({ name.as_str(): value }))[name.as_str()], true, &mut expected);
                for text in expected {
                    prop_assert!(unwrapped.contains(&text), "{:?} is missing from\n{}", text, unwrapped);
                }
            }
        }
    }

    #[test]
    fn a_part_never_exceeds_its_surface_and_never_panics(
        line in any::<String>(), chars_max in 0usize..3000, width in prop::option::of(any::<u16>()),
        markdown in any::<bool>(),
    ) {
        let markup = if markdown { Markup::Markdown } else { Markup::Plain };
        let on = Surface { width, chars_max: Some(chars_max), markup, elsewhere: None };
        let rendered = to_text(&bash(&line).document(Locale::Chinese), &on);
        prop_assert!(rendered.text.chars().count() <= chars_max);
    }
}
