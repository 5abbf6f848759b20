//! The little of Markdown that the pages about errors use: headings, paragraphs, lists, code.

use std::fmt::Write as _;

/// A whole page.
pub(super) fn page(title: &str, text: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{} · Placet</title><link rel=\"stylesheet\" \
         href=\"/reference.css\"></head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
        escaped(title),
        body(text)
    )
}

fn body(text: &str) -> String {
    let mut out = String::new();
    for block in text
        .split("\n\n")
        .map(str::trim_end)
        .filter(|block| !block.is_empty())
    {
        let _ = if let Some(heading) = block.strip_prefix("# ") {
            writeln!(out, "<h1>{}</h1>", inline(heading))
        } else if let Some(heading) = block.strip_prefix("## ") {
            writeln!(out, "<h2>{}</h2>", inline(heading))
        } else if block.starts_with("    ") {
            writeln!(out, "<pre>{}</pre>", escaped(block))
        } else if block.starts_with("- ") {
            let items = block
                .split("\n- ")
                .map(|item| item.strip_prefix("- ").unwrap_or(item));
            let items: String = items.map(|item| format!("<li>{}</li>", inline(item))).collect();
            writeln!(out, "<ul>{items}</ul>")
        } else {
            writeln!(out, "<p>{}</p>", inline(block))
        };
    }
    out
}

/// Text with `code` in it.
pub(super) fn inline(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(number, part)| match number % 2 {
            0 => escaped(part),
            _ => format!("<code>{}</code>", escaped(part)),
        })
        .collect()
}

/// Text that is only text.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_a_page_and_never_markup() {
        let page = page(
            "a<b",
            "# Head `x`\n\nSome <i>text</i>.\n\n    code & more\n\n- one\n- two",
        );
        assert!(page.contains("<title>a&lt;b · Placet</title>"));
        assert!(page.contains("<h1>Head <code>x</code></h1>\n<p>Some &lt;i&gt;text&lt;/i&gt;.</p>"));
        assert!(page.contains("<pre>    code &amp; more</pre>\n<ul><li>one</li><li>two</li></ul>"));
    }
}
