//! Misreadings seen in the field, each by name, and what must hold for any message at all.

use proptest::prelude::*;

use super::*;
use crate::interaction::tool_approval_options;
use crate::verdict::Answers;

const K7QP: &str = "K7QP";
const M3RT: &str = "M3RT";
const US: &[&str] = &["placet", "ops-bot"];

fn code(text: &str) -> Code {
    Code::parse(text).unwrap()
}

fn approval(name: &str) -> OpenQuestion {
    OpenQuestion {
        code: code(name),
        kind: InteractionKind::ToolApproval,
        options: tool_approval_options(&Answers::for_approval(), Locale::English),
    }
}

fn choice(name: &str) -> OpenQuestion {
    OpenQuestion {
        code: code(name),
        kind: InteractionKind::UserChoice,
        options: vec![
            InteractionOption::new("blue", "Use blue", Action::Custom),
            InteractionOption::new("green", "绿色", Action::Custom),
            InteractionOption::new("none", "Neither", Action::Skip),
        ],
    }
}

fn input(name: &str) -> OpenQuestion {
    OpenQuestion {
        code: code(name),
        kind: InteractionKind::UserInput,
        options: vec![
            InteractionOption::new("answer", "Answer", Action::ProvideInfo).with_input("Which database?"),
            InteractionOption::new("skip", "Skip", Action::Skip),
        ],
    }
}

/// The reading in a few words: `approve K7QP`, `reject K7QP "why"`, `which K7QP M3RT`, `other`, …
fn short(text: &str, open: &[OpenQuestion]) -> String {
    let quoted = |text: Option<String>| text.map_or(String::new(), |text| format!(" {text:?}"));
    match read(text, open, US) {
        Reading::Choose {
            code,
            option_id,
            feedback,
            ..
        } => format!("{option_id} {code}{}", quoted(feedback)),
        Reading::ChooseAll {
            choices, feedback, ..
        } => {
            let each: Vec<_> = choices.iter().map(|(code, id)| format!("{id} {code}")).collect();
            format!("all {}{}", each.join(" "), quoted(feedback))
        }
        Reading::WhichOne { codes } => format!(
            "which {}",
            codes.iter().map(Code::as_str).collect::<Vec<_>>().join(" ")
        ),
        Reading::UnknownCode { given } => format!("unknown {given}"),
        Reading::Other { .. } => "other".into(),
        Reading::ToAnother => "to another".into(),
        Reading::NothingOpen => "nothing open".into(),
    }
}

fn approves(text: &str, open: &[OpenQuestion]) -> bool {
    match read(text, open, US) {
        Reading::Choose { option_id, .. } => option_id == "approve",
        Reading::ChooseAll { action, .. } => action == Action::ApproveAndExecute,
        _ => false,
    }
}

#[track_caller]
fn each_reads(texts: &[&str], expected: &str) {
    for text in texts {
        assert_eq!(short(text, &[approval(K7QP)]), expected, "{text:?}");
    }
}

#[test]
fn english_words_answer() {
    each_reads(
        &[
            "yes",
            "Y",
            "OK",
            "okay.",
            "Approve!",
            "approved",
            "confirm",
            " yes ",
            "**yes**",
            "\"yes\"",
            "`yes`",
            "@placet yes",
            "@Placet: yes",
            "＠placet yes",
            "@ops-bot, yes",
        ],
        "approve K7QP",
    );
    each_reads(
        &["no", "N", "cancel", "Reject.", "deny", "not ok", "Don't"],
        "reject K7QP",
    );
    each_reads(&["skip", "Skip!"], "skip K7QP");
    each_reads(&["stop", "terminate", "ABORT", "End the run"], "terminate K7QP");
}

#[test]
fn chinese_words_answer_in_both_scripts_and_full_width() {
    each_reads(
        &[
            "确认",
            "確認",
            "批准",
            "同意",
            "执行",
            "執行。",
            "好",
            "好的！",
            "可以",
            "是",
            "\u{3000}批准\u{3000}",
            "「同意」",
            "ＹＥＳ",
            "ｏｋ！",
        ],
        "approve K7QP",
    );
    each_reads(
        &[
            "取消",
            "拒绝",
            "拒絕",
            "不",
            "不要",
            "不行",
            "否",
            "不同意",
            "不批准",
            "不执行",
            "不確認",
            "拒绝执行",
        ],
        "reject K7QP",
    );
    each_reads(&["跳过", "跳過"], "skip K7QP");
    each_reads(&["终止", "停止"], "terminate K7QP");
}

#[test]
fn a_thumb_alone_answers() {
    each_reads(&["👍", "👍🏽", "✅"], "approve K7QP");
    each_reads(&["👎", "❌"], "reject K7QP");
    each_reads(&["👍👎", "👍 👎", "yes 👎", "👍?"], "other");
}

#[test]
fn queryclaw_read_these_by_substring_and_executed() {
    for text in [
        "不执行",
        "拒绝执行",
        "不确认",
        "not ok",
        "why?",
        "any risk?",
        "maybe later",
        "today",
        "y not",
        "look",
    ] {
        assert!(!approves(text, &[approval(K7QP)]), "{text}");
    }
}

#[test]
fn bizbox_read_not_okay_as_okay() {
    each_reads(&["not okay", "not ok!"], "reject K7QP");
    each_reads(&["it is not okay", "okay, not"], "other");
}

#[test]
fn what_is_said_to_a_colleague_neither_approves_nor_refuses() {
    each_reads(
        &[
            "@wei ok",
            "@wei yes K7QP",
            "@wei: ok",
            "@wei no",
            "@王伟 好的",
            "＠王伟 批准",
            "@王伟 不",
            "@wei approve all",
            "@placet2 yes",
            "@plаcet yes",
            "<@U024BE7LH> ok",
            "<@U024BE7LH|wei> ok",
            "@wei @placet yes",
        ],
        "to another",
    );
    assert_eq!(short("@wei which database?", &[input(K7QP)]), "to another");
    assert_eq!(
        short("@placet staging", &[input(K7QP)]),
        "answer K7QP \"staging\""
    );
    assert_eq!(
        short("@types/node or", &[input(K7QP)]),
        "answer K7QP \"@types/node or\""
    );
    each_reads(
        &["@placet no: it is production"],
        "reject K7QP \"it is production\"",
    );
    each_reads(
        &["@placet @wei yes", "@placet maybe", "@placet\nyes", "yes @wei"],
        "other",
    );
}

#[test]
fn questions_and_conditions_are_not_a_yes() {
    each_reads(
        &[
            "yes?",
            "ok?",
            "ok？",
            "yes?!",
            "好吗",
            "可以吗",
            "可以吗？",
            "是不是",
            "yes but not on prod",
            "yes, but",
            "yes...",
            "yes: only staging",
            "yes no",
            "y n",
            "确认取消",
            "yesterday",
            "okra",
            "好不好",
            "同意个鬼",
            "可以不执行吗",
            "",
            "   ",
            "...",
            "!!!",
            "。",
            "?",
            "yes yes",
            "yes\nno",
            "yes\r\nrm -rf /",
            "> yes",
            "approve allegedly",
        ],
        "other",
    );
}

#[test]
fn characters_nobody_sees_never_approve() {
    for text in [
        "y\u{200b}es",
        "yes\u{200d}",
        "\u{202e}sey",
        "yes\u{202c}",
        "\u{feff}yes",
        "ye\u{ad}s",
        "yes\u{e0020}",
        "批\u{200b}准",
        "yes\u{0}",
        "\u{1b}[2Kyes",
        "yes\u{2028}!",
        "K7QP\u{200b} yes",
        "👍\u{fe0f}",
        "y\u{336}e\u{336}s\u{336}",
    ] {
        assert!(!approves(text, &[approval(K7QP)]), "{text:?}");
    }
}

#[test]
fn letters_that_only_look_like_a_yes_never_approve() {
    for text in ["уes", "yеs", "оk", "ΟΚ", "οk", "批淮"] {
        assert!(!approves(text, &[approval(K7QP)]), "{text}");
    }
}

#[test]
fn vendo_let_a_bare_yes_pick_the_newest_of_two() {
    let open = [approval(K7QP), approval(M3RT)];
    for text in ["yes", "批准", "👍", "no", "拒绝", "no: because"] {
        assert_eq!(short(text, &open), "which K7QP M3RT", "{text}");
    }
}

#[test]
fn a_code_says_which_one() {
    let open = [approval(K7QP), approval(M3RT)];
    for text in [
        "yes M3RT",
        "m3rt yes",
        "#M3RT yes",
        "yes #m3rt",
        "批准 M3RT",
        "批准M3RT",
        "M3RT批准",
        "yes m3rt.",
        "@placet yes M3RT",
    ] {
        assert_eq!(short(text, &open), "approve M3RT", "{text}");
    }
    assert_eq!(short("stop k7qp", &open), "terminate K7QP");
    assert_eq!(short("K7QP", &open), "which K7QP");
}

#[test]
fn clawvisor_took_a_stale_id_from_the_transcript() {
    let open = [approval(K7QP)];
    assert_eq!(short("yes M3RT", &open), "unknown M3RT");
    assert_eq!(short("批准 M3RT", &open), "unknown M3RT");
    assert_eq!(short("yes M3RT", &[]), "unknown M3RT");
    assert_eq!(short("no M3RT: too late", &open), "unknown M3RT");
}

#[test]
fn nothing_else_may_stand_on_the_line_with_a_code() {
    for text in [
        "yes K7QP please",
        "yes K7QP M3RT",
        "ok yes K7QP",
        "yes K7QP?",
        "yes K7QP but",
        "K7QP K7QP",
        "yes: K7QP",
        "yes K7QP: go",
    ] {
        assert!(!approves(text, &[approval(K7QP), approval(M3RT)]), "{text}");
    }
}

#[test]
fn a_word_that_happens_to_be_a_code_stays_a_word() {
    let open = [approval("DENY"), approval(K7QP)];
    assert!(!approves("yes deny", &open));
    assert!(!approves("deny yes", &open));
    assert_eq!(short("deny K7QP", &open), "reject K7QP");
}

#[test]
fn a_refusal_carries_its_reason() {
    let open = [approval(K7QP)];
    assert_eq!(
        short("no: it is Production", &open),
        "reject K7QP \"it is Production\""
    );
    assert_eq!(short("no K7QP: because…", &open), "reject K7QP \"because…\"");
    assert_eq!(
        short("no K7QP because it is prod", &open),
        "reject K7QP \"because it is prod\""
    );
    assert_eq!(short("拒绝 K7QP 太危险", &open), "reject K7QP \"太危险\"");
    assert_eq!(short("拒绝：先备份", &open), "reject K7QP \"先备份\"");
    assert_eq!(short("retry K7QP: use mv", &open), "retry K7QP \"use mv\"");
    assert_eq!(short("重试：用 mv", &open), "retry K7QP \"用 mv\"");
    assert_eq!(short("no need to do that", &open), "other");
}

#[test]
fn all_of_them_at_once() {
    let open = [approval(K7QP), approval(M3RT), input("ABCD")];
    for text in ["approve all", "Yes all!", "全部批准", "全部同意", "都批准"] {
        assert_eq!(short(text, &open), "all approve K7QP approve M3RT", "{text}");
    }
    assert_eq!(
        short("reject all: no", &open[..2]),
        "all reject K7QP reject M3RT \"no\""
    );
    assert_eq!(short("全部拒绝", &open[..2]), "all reject K7QP reject M3RT");
    assert_eq!(short("approve all", &[choice(K7QP)]), "which K7QP");
    for text in [
        "approve all?",
        "approve all: but",
        "not all",
        "all",
        "全部",
        "全部批准吗",
        "approve all K7QP",
    ] {
        assert!(!approves(text, &open), "{text}");
    }
}

#[test]
fn a_choice_is_made_by_number_id_or_label() {
    let open = [choice(K7QP)];
    for text in ["1", "１", "1.", "blue", "Use Blue", "K7QP 1", "1 K7QP"] {
        assert_eq!(short(text, &open), "blue K7QP", "{text}");
    }
    assert_eq!(short("绿色", &open), "green K7QP");
    assert_eq!(short("no", &open), "none K7QP");
    assert_eq!(short("yes", &open), "which K7QP");
    assert_eq!(short("4", &open), "other");
    assert_eq!(short("use blue paint", &open), "other");
    assert_eq!(short("2", &[approval(M3RT), choice(K7QP)]), "green K7QP");
    assert_eq!(short("2", &[choice(M3RT), choice(K7QP)]), "which M3RT K7QP");
}

#[test]
fn a_number_never_answers_a_tool_approval() {
    each_reads(&["1", "2", "K7QP 1"], "other");
}

#[test]
fn free_text_answers_the_one_question_that_asks_for_it() {
    assert_eq!(
        short("The Staging DB", &[input(K7QP)]),
        "answer K7QP \"The Staging DB\""
    );
    assert_eq!(short("yes", &[input(K7QP)]), "answer K7QP \"yes\"");
    assert_eq!(short("2", &[input(K7QP)]), "answer K7QP \"2\"");
    assert_eq!(short("skip", &[input(K7QP)]), "skip K7QP");
    assert_eq!(
        short("staging", &[approval(M3RT), input(K7QP)]),
        "answer K7QP \"staging\""
    );
    assert_eq!(short("yes", &[approval(M3RT), input(K7QP)]), "which M3RT K7QP");
    assert_eq!(short("staging", &[input(M3RT), input(K7QP)]), "other");
    assert_eq!(
        short("K7QP: staging", &[input(M3RT), input(K7QP)]),
        "answer K7QP \"staging\""
    );
    assert_eq!(
        short("k7qp the staging db", &[input(M3RT), input(K7QP)]),
        "answer K7QP \"the staging db\""
    );
}

#[test]
fn free_text_never_approves_whatever_the_options_are() {
    let mut question = input(K7QP);
    question.options = vec![InteractionOption::new("go", "Go", Action::ApproveAndExecute).with_input("?")];
    assert_eq!(short("anything", std::slice::from_ref(&question)), "other");
    assert_eq!(short("go", &[question]), "other");
}

#[test]
fn an_agent_cannot_name_an_approving_option_so_that_another_word_chooses_it() {
    let trap = |kind| OpenQuestion {
        code: code(K7QP),
        kind,
        options: vec![
            InteractionOption::new("why?", "Why?", Action::ApproveAndExecute),
            InteractionOption::new("x", "No", Action::ApproveAndExecute),
            InteractionOption::new("reject", "Yes", Action::RejectWithReason),
        ],
    };
    let approval = [trap(InteractionKind::ToolApproval)];
    assert_eq!(short("why?", &approval), "other");
    assert_eq!(short("no", &approval), "reject K7QP");
    assert_eq!(short("yes", &approval), "which K7QP");
    assert_eq!(short("no", &[trap(InteractionKind::UserChoice)]), "which K7QP");
}

#[test]
fn it_may_have_happened_is_not_answered_by_a_bare_yes() {
    let question = OpenQuestion {
        code: code(K7QP),
        kind: InteractionKind::Custom,
        options: vec![
            InteractionOption::new("run_again", "Run again", Action::ApproveAndExecute).dangerous(),
            InteractionOption::new("treat_as_done", "Treat as done", Action::ProvideInfo),
        ],
    };
    let open = [question];
    assert_eq!(short("yes", &open), "which K7QP");
    assert_eq!(short("1", &open), "run_again K7QP");
    assert_eq!(short("treat as done", &open), "treat_as_done K7QP");
}

#[test]
fn nothing_open_leaves_every_message_to_the_agent() {
    for text in ["yes", "no need", "hello", "", "approve all"] {
        assert_eq!(short(text, &[]), "nothing open", "{text}");
    }
}

#[test]
fn what_we_tell_people_to_type_chooses_that_option() {
    for locale in [Locale::English, Locale::Chinese] {
        let mut question = approval(K7QP);
        question.options = tool_approval_options(&Answers::for_approval(), locale);
        for question in [question, choice(M3RT), input("ABCD")] {
            for option in &question.options {
                let said = question.how_to_say(option, locale).unwrap();
                let reading = read(&said, &[question.clone(), approval("2222")], US);
                assert!(
                    matches!(&reading, Reading::Choose { option_id, code, meant: Meant::Named, .. }
                        if *option_id == option.option_id && *code == question.code),
                    "{said}: {reading:?}"
                );
            }
        }
    }
}

/// Written apart from the code under test: the only messages that may approve K7QP, spelled out.
fn may_approve(text: &str) -> bool {
    const YES: &str = "yes|y|yep|yeah|yes please|ok|okay|approve|approved|i approve|confirm|confirmed|agree|agreed|allow|\
        accept|go ahead|proceed|do it|run it|lgtm|确认|確認|确定|確定|批准|同意|执行|執行|好|好的|可以|是|是的|行|允许|允許|通过|通過|没问题|\
        沒問題|我同意|我批准|👍|👍🏻|👍🏼|👍🏽|👍🏾|👍🏿|✅";
    const ALL: &str = "approve all|yes all|all yes|yes to all|ok all|confirm all|allow all|全部批准|全部同意|全部确认|全部確認|全部执行|\
        全部執行|都批准|都同意";
    use unicode_normalization::UnicodeNormalization;
    let folded: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let mut words: Vec<&str> = folded.split_whitespace().collect();
    if words.len() > 1 && ["@placet", "@ops-bot"].contains(&words[0].trim_end_matches([':', ',', '、'])) {
        words.remove(0);
    }
    let line = words.join(" ");
    let is_trim = |c: char| "*_`\"'“”‘’「」『』.!。~ ".contains(c);
    let line = line.trim_matches(is_trim).replace("k7qp", " ").replace('#', " ");
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    YES.split('|').chain(ALL.split('|')).any(|word| word == line)
}

fn message() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "yes", "no", "ok", "批准", "不", "拒绝", "all", "全部", "K7QP", "M3RT", "#K7QP", "not", "吗", "but", "y", "👍", "deny",
            "approve", "@placet ", "@wei ", "执行", "retry", "1", "yeah",
        ]).prop_map(str::to_owned),
        2 => prop::sample::select(vec![
            " ", "\u{3000}", ":", "：", "?", "？", "!", ".", "。", "\n", "\u{200b}", "\u{202e}", "\"", "**", "，", "~", ",",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,3}",
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn only_a_message_in_the_table_approves(text in message()) {
        if approves(&text, &[approval(K7QP)]) {
            prop_assert!(may_approve(&text), "{:?}", text);
        }
    }

    #[test]
    fn arbitrary_text_is_read_without_harm(text in any::<String>()) {
        let open = [approval(K7QP), choice(M3RT), input("ABCD")];
        prop_assert!(!approves(&text, &open[..1]) || may_approve(&text));
        prop_assert_eq!(read(&text, &open, US), read(&text, &open, US));
    }

    #[test]
    fn a_word_added_to_an_approval_takes_it_back(
        yes in prop::sample::select(vec!["yes", "ok", "批准", "好的", "👍", "yes K7QP", "K7QP 同意", "approve all"]),
        word in "[^\\s\\p{C}]{1,8}",
    ) {
        for text in [format!("{yes} {word}"), format!("{word} {yes}"), format!("{yes}{word}"), format!("{word}{yes}")] {
            if approves(&text, &[approval(K7QP)]) {
                prop_assert!(may_approve(&text), "{:?}", text);
            }
        }
    }
}

#[test]
fn a_reading_says_whether_the_question_was_named() {
    let meant = |text: &str, open: &[OpenQuestion]| match read(text, open, US) {
        Reading::Choose { meant, .. } => meant,
        other => panic!("{text}: {other:?}"),
    };
    for text in ["yes", "no: it is production", "同意"] {
        assert_eq!(meant(text, &[approval(K7QP)]), Meant::OnlyOne, "{text}");
    }
    for text in ["yes K7QP", "k7qp yes", "no K7QP: it is production", "批准 #K7QP"] {
        assert_eq!(meant(text, &[approval(K7QP)]), Meant::Named, "{text}");
    }
    assert_eq!(meant("the staging database", &[input("ABCD")]), Meant::OnlyOne);
    assert_eq!(
        meant("ABCD: the staging database", &[input("ABCD")]),
        Meant::Named
    );
}
