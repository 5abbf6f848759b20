//! In a Chinese text all that Placet itself says is Chinese. The tests of inspection use this file too.

/// Fails when our own English is left in a Chinese text: three words in a row outside of what is quoted from the call, from
/// the operator or from a library.
pub(crate) fn assert_chinese(text: &str) {
    let own = without_quotes(text);
    let is_cjk = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    assert!(text.contains(is_cjk), "no Chinese in: {text}");
    let (mut run, mut in_word) = (0, false);
    for c in own.chars() {
        let is_letter = c.is_ascii_alphabetic() || matches!(c, '\'' | '-');
        run += u32::from(is_letter && !in_word);
        in_word = is_letter;
        if !is_letter && !matches!(c, ' ' | '\n' | ',' | ';' | ':' | '.') {
            run = 0;
        }
        assert!(run < 3, "English is left in: {text}");
    }
}

/// What stands outside of `…`, “…” and URLs, and outside of the lines that show the call's own text.
fn without_quotes(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with(['│', '┊']));
    let mut own = String::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.contains("://")).collect();
        let line = words.join(" ");
        let mut rest = line.as_str();
        while let Some(at) = rest.find(['`', '“']) {
            let (before, quote) = rest.split_at(at);
            own.push_str(before);
            let end = if quote.starts_with('`') { '`' } else { '”' };
            let inside = quote
                .get(quote.chars().next().map_or(0, char::len_utf8)..)
                .unwrap_or_default();
            rest = inside.split_once(end).map_or("", |(_, after)| after);
            own.push('¤');
        }
        own.push_str(rest);
        own.push('\n');
    }
    own
}

#[test]
fn the_check_for_english_finds_it_and_lets_quotes_be() {
    let finds = |text: &str| std::panic::catch_unwind(|| assert_chinese(text)).is_err();
    assert!(finds("风险：it is outside the workspace"));
    assert!(finds("风险：it holds secrets"));
    assert!(finds("风险 `rm -rf all of it` deletes whole folders"));
    assert!(finds("nothing but English"));
    assert!(!finds("风险：`rm -rf all of it` 删除（原文：“it is all gone”）"));
    assert!(!finds("风险\n│ rm -rf all of it"));
}
