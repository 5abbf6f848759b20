//! What a file says to its readers: comments, and the texts in its code.

/// The lines of prose in a file, with their numbers.
pub(super) type Prose = Vec<(usize, String)>;

/// Whose strings are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    JavaScript,
}

impl Language {
    const fn is_quote(self, c: char) -> bool {
        match self {
            Self::Rust => c == '"',
            Self::JavaScript => matches!(c, '"' | '\'' | '`'),
        }
    }
}

/// Comments and strings of a program. With `strings` false only its comments: tests name examples in any words.
pub(super) fn of_code(text: &str, language: Language, strings: bool) -> Prose {
    let mut reader = Reader {
        rest: text,
        line: 1,
        prose: Prose::new(),
    };
    while let Some(c) = reader.rest.chars().next() {
        if reader.rest.starts_with("//") {
            reader.take_until("\n", true, None);
        } else if reader.rest.starts_with("/*") {
            reader.take_until("*/", true, None);
        } else if let Some(end) = raw_string(reader.rest).filter(|_| language == Language::Rust) {
            reader.skip(end.len());
            reader.take_until(
                &end.replace('r', "").chars().rev().collect::<String>(),
                strings,
                None,
            );
        } else if language == Language::Rust && c == '\'' {
            reader.skip(character(reader.rest));
        } else if language.is_quote(c) {
            reader.skip(1);
            reader.take_until(
                c.encode_utf8(&mut [0; 4]),
                strings,
                Some(c != '`' && language == Language::JavaScript),
            );
        } else {
            reader.skip(c.len_utf8());
        }
    }
    reader.prose
}

/// Every line.
pub(super) fn of_text(text: &str) -> Prose {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.to_owned()))
        .collect()
}

/// Comments and values of TOML.
pub(super) fn of_toml(text: &str) -> Prose {
    let mut inside = false;
    let lines = text.lines().enumerate().filter_map(|(index, line)| {
        let was_inside = inside;
        inside ^= line.matches("\"\"\"").count() % 2 == 1;
        let said = if was_inside || line.trim_start().starts_with('#') {
            line
        } else {
            line.split_once(" = ").map_or("", |(_, value)| value)
        };
        Some((index + 1, said.to_owned())).filter(|(_, said)| !said.is_empty())
    });
    lines.collect()
}

/// How a raw string begins here: `r#"`.
fn raw_string(text: &str) -> Option<&str> {
    let hashes = text.strip_prefix('r')?;
    let quote = hashes.find(|c| c != '#')?;
    hashes
        .get(quote..)?
        .starts_with('"')
        .then(|| text.get(..quote + 2))?
}

/// The length of a character literal, or of the quote of a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, _))) => {
            let rest = text.get(at + 1..).unwrap_or_default();
            rest.find('\'').map_or(1, |end| at + 1 + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
    prose: Prose,
}

impl Reader<'_> {
    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line += skipped.matches('\n').count();
        self.rest = rest;
    }

    /// Reads up to `end`, and keeps what it reads if it is prose. `in_line`: a string, and whether it ends with its line at the latest.
    fn take_until(&mut self, end: &str, is_prose: bool, in_line: Option<bool>) {
        let mut length = 0;
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            length = at;
            let ends = self.rest.get(at..).is_some_and(|rest| rest.starts_with(end));
            if (ends && !escaped) || (c == '\n' && in_line == Some(true)) {
                break;
            }
            escaped = in_line.is_some() && c == '\\' && !escaped;
            length = at + c.len_utf8();
        }
        let text = self.rest.get(..length).unwrap_or_default();
        // A word on its own is a name: of a key, a code, an id.
        let is_name = in_line.is_some() && !text.contains(' ');
        if is_prose && !is_name {
            let lines = text.lines().enumerate();
            self.prose
                .extend(lines.map(|(index, line)| (self.line + index, line.to_owned())));
        }
        self.skip(length);
        if self.rest.starts_with(end) {
            self.skip(end.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust(text: &str) -> Vec<(usize, String)> {
        of_code(text, Language::Rust, true)
    }

    fn said(lines: &[(usize, &str)]) -> Prose {
        lines
            .iter()
            .map(|(line, text)| (*line, (*text).to_owned()))
            .collect()
    }

    #[test]
    fn comments_and_strings_are_prose_and_code_is_not() {
        assert_eq!(
            rust(
                "let nobody = 1; // a\nsay(\"b \\\" c\");\n/// d\nfn e<'f>(g: char) { g == '\"' }\nsay(\"h i\", \"nobody\")"
            ),
            said(&[(1, "// a"), (2, "b \\\" c"), (3, "/// d"), (5, "h i")])
        );
        assert_eq!(
            rust("r#\"a \"b\" c\"#; '\\''; \"d\\\n e\""),
            said(&[(1, "a \"b\" c"), (1, "d\\"), (2, " e")])
        );
        assert_eq!(
            of_code("\"a b\" // c", Language::Rust, false),
            said(&[(1, "// c")])
        );
    }

    #[test]
    fn strings_of_javascript_have_three_quotes_and_end_with_their_line() {
        let text = "t('a a'); /* b\n c */ d(\"e e\", `f\ng g`);\n/[\"]/.test(h) ;\ni('j j');";
        let expected = [
            (1, "a a"),
            (1, "/* b"),
            (2, " c "),
            (2, "e e"),
            (2, "f"),
            (3, "g g"),
            (4, "]/.test(h) ;"),
            (5, "j j"),
        ];
        assert_eq!(of_code(text, Language::JavaScript, true), said(&expected));
    }

    #[test]
    fn comments_and_values_of_toml_are_prose() {
        let text = "# a\n[nobody]\nb = \"c\"\nd = \"\"\"\ne\nf\"\"\"\n";
        assert_eq!(
            of_toml(text),
            said(&[(1, "# a"), (3, "\"c\""), (4, "\"\"\""), (5, "e"), (6, "f\"\"\"")])
        );
    }
}
