//! Can the parsed tree be trusted?
//!
//! The grammar forgives and guesses, so a tree without errors may still not be what bash runs. This room holds every
//! known difference. It looks at the whole tree once: each gap between two nodes must be plain space, and each token
//! that could swallow a command is looked into. Whatever is left over is a reason not to trust the line.

use placet_core::analysis::Doubt;

use super::tree::{DEPTH_MAX, Node};
use super::word::pieces;

/// What forbids reading `line` at all.
pub(super) fn unfit(line: &str) -> Option<Doubt> {
    if line.len() > super::LINE_BYTES_MAX {
        return Some(Doubt::TooLong);
    }
    // Thousands of open brackets would keep the parser's error recovery busy for most of a second.
    let mut depth = 0_usize;
    for byte in line.bytes() {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return Some(Doubt::TooDeep);
        }
    }
    let odd = |c: char| c.is_control() && c != '\t' && c != '\n';
    line.contains(odd).then_some(Doubt::ControlCharacters)
}

/// The first reason to think that bash reads `source` differently from the tree under `root`.
pub(super) fn of(root: Node<'_>, source: &str) -> Option<Doubt> {
    let edges = (source.get(..root.start_byte()), source.get(root.end_byte()..));
    let blank = |edge: Option<&str>| edge.is_some_and(|edge| gap_is_plain(edge, Newlines::Allowed));
    if !blank(edges.0) || !blank(edges.1) {
        return Some(Doubt::WordsUnclear);
    }
    node_doubt(root, source, Newlines::Allowed)
}

/// Whether a newline between two nodes would end the command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Newlines {
    Allowed,
    EndIt,
}

fn node_doubt(node: Node<'_>, source: &str, mut newlines: Newlines) -> Option<Doubt> {
    if node.is_wrong() {
        return Some(Doubt::Unparsed);
    }
    let text = source.get(node.byte_range()).unwrap_or_default();
    let doubt = match node.kind() {
        "word" => word_doubt(text),
        "ansi_c_string" => ansi_c_doubt(text),
        "string" => string_doubt(node, source),
        "expansion" => expansion_doubt(node, source),
        "regex" | "extglob_pattern" => text
            .contains(['`', '\'', '"', '('])
            .then_some(Doubt::HiddenCommand),
        "command_substitution" => backtick_doubt(text),
        "comment" => comment_doubt(node, source),
        "file_descriptor" => (text.len() > 1).then_some(Doubt::ShellsDiffer),
        "heredoc_redirect" => heredoc_doubt(node, source),
        _ => None,
    };
    if doubt.is_some() {
        return doubt;
    }
    match node.kind() {
        "command"
        | "declaration_command"
        | "unset_command"
        | "file_redirect"
        | "herestring_redirect"
        | "for_statement"
        | "test_command"
        | "concatenation" => newlines = Newlines::EndIt,
        "unary_expression" | "binary_expression" | "parenthesized_expression" => {}
        _ => newlines = Newlines::Allowed,
    }
    children_doubt(node, source, newlines)
}

fn children_doubt(node: Node<'_>, source: &str, newlines: Newlines) -> Option<Doubt> {
    let kind = node.kind();
    let literal_gaps = matches!(kind, "string" | "heredoc_body");
    let mut before: Option<Node<'_>> = None;
    for child in node.children() {
        if let Some(before) = before.filter(|_| !literal_gaps) {
            let gap = source.get(before.end_byte()..child.start_byte()).unwrap_or("?");
            let newlines = if is_body(before) || is_body(child) {
                Newlines::Allowed
            } else {
                newlines
            };
            if !gap_is_plain(gap, newlines) {
                return Some(Doubt::WordsUnclear);
            }
            // To `[` the parts of an expression are words; where numbers are reckoned with, they may touch.
            let joins_words =
                newlines == Newlines::EndIt && kind.ends_with("ary_expression") && gap.is_empty();
            if joins_words || !gap_fits(gap, kind, before, child) {
                return Some(Doubt::WordsUnclear);
            }
        }
        if let Some(doubt) = node_doubt(child, source, newlines) {
            return Some(doubt);
        }
        before = Some(child);
    }
    None
}

/// Whether two nodes touch, or stand apart, where they must to be read as the grammar reads them.
fn gap_fits(gap: &str, parent: &str, before: Node<'_>, after: Node<'_>) -> bool {
    let is_word = |node: Node<'_>| {
        matches!(node.kind(), "==" | "=~" | "$") || (node.is_named() && !node.is_redirect() && !is_body(node))
    };
    match (parent, before.kind(), after.kind()) {
        ("concatenation" | "variable_assignment" | "simple_expansion" | "subscript", ..)
        | (_, "${" | "file_descriptor", _) => gap.is_empty(),
        ("negated_command", "!", _)
        | ("test_command" | "compound_statement", "[" | "[[" | "{", _)
        | ("test_command" | "compound_statement", _, "]" | "]]") => !gap.is_empty(),
        // Their children are words beside each other, as opposed to tokens that touch (`$x`, `"$x y"`).
        (
            "command" | "declaration_command" | "unset_command" | "file_redirect" | "for_statement" | "array",
            ..,
        ) if is_word(before) && is_word(after) => !gap.is_empty(),
        _ => true,
    }
}

/// Parts of a `for` or a command that may start on a new line.
fn is_body(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "do_group" | "compound_statement" | "subshell" | "comment" | "\n" | ";" | "((" | "))" | "&"
    )
}

/// Spaces, tabs, newlines where allowed, and a line continuation next to a blank. A continuation between two letters
/// joins them (`r\⏎m` is `rm`), and a backslash before a space makes a word the grammar does not see.
fn gap_is_plain(gap: &str, newlines: Newlines) -> bool {
    let is_blank = |c: char| c == ' ' || c == '\t';
    let is_plain = |c: char| is_blank(c) || (c == '\n' && newlines == Newlines::Allowed);
    if gap.chars().all(is_plain) {
        return true;
    }
    let parts: Vec<&str> = gap.split("\\\n").collect();
    let touches_blank = |pair: &[&str]| match pair {
        [before, after] => before.ends_with(is_blank) || after.starts_with(is_blank),
        _ => false,
    };
    parts.concat().chars().all(is_plain) && parts.windows(2).all(touches_blank)
}

/// The grammar sometimes takes a newline into a word; blanks beyond ASCII end a word in one locale and not in another.
fn word_doubt(text: &str) -> Option<Doubt> {
    let mut escaped = false;
    let is_odd = |c: char| {
        let is_kept = escaped && matches!(c, ' ' | '\t');
        escaped = c == '\\' && !escaped;
        c.is_whitespace() && !is_kept
    };
    text.contains(is_odd).then_some(Doubt::WordsUnclear)
}

/// The grammar takes the longest match and bash the first end; `sh` ends at the first quote of any kind.
fn ansi_c_doubt(text: &str) -> Option<Doubt> {
    let body = text.strip_prefix("$'").and_then(|text| text.strip_suffix('\''));
    body.is_none_or(|body| body.contains('\''))
        .then_some(Doubt::ShellsDiffer)
}

fn string_doubt(node: Node<'_>, source: &str) -> Option<Doubt> {
    let hides = pieces(node, source).any(|(literal, _)| hides_expansion(literal));
    let comment = node.named_children().any(|child| child.kind() == "comment");
    (hides || comment).then_some(Doubt::HiddenCommand)
}

/// Whether literal text holds what bash would expand.
fn hides_expansion(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '`' => return true,
            '$' if chars
                .peek()
                .is_some_and(|&c| c.is_alphanumeric() || "_({[@*#?!$-\\".contains(c)) =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Quotes inside `${…}` mean one thing between double quotes and another outside them, and the grammar knows only one.
fn expansion_doubt(node: Node<'_>, source: &str) -> Option<Doubt> {
    pieces(node, source).find_map(|(literal, _)| {
        let hides = literal.contains(['\'', '"', '\\', '`', '(', '<', '>', '$']);
        let runs = literal.contains("@P").then_some(Doubt::RunsVariable);
        runs.or(hides.then_some(Doubt::HiddenCommand))
    })
}

/// Inside backticks a backslash or a quoted backtick is read twice, which the grammar does not do.
fn backtick_doubt(text: &str) -> Option<Doubt> {
    let inner = text.trim_start_matches('$').strip_prefix('`')?;
    let inner = inner.strip_suffix('`').unwrap_or(inner);
    inner.contains(['`', '\\']).then_some(Doubt::HiddenCommand)
}

fn comment_doubt(node: Node<'_>, source: &str) -> Option<Doubt> {
    let before = source
        .get(..node.start_byte())
        .and_then(|before| before.chars().next_back());
    let starts = before.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')'));
    (!starts).then_some(Doubt::ShellsDiffer)
}

/// A here-document must end where bash ends it: at the first line that is the delimiter.
fn heredoc_doubt(node: Node<'_>, source: &str) -> Option<Doubt> {
    const UNCLEAR: Option<Doubt> = Some(Doubt::HereDocumentEnd);
    let child = |kind: &str| node.children().find(|child| child.kind() == kind);
    let text = |node: Node<'_>| source.get(node.byte_range()).unwrap_or_default();
    let several = node
        .next_sibling()
        .is_some_and(|next| next.kind() == "heredoc_redirect");
    let parts = (
        child("heredoc_start"),
        child("heredoc_body"),
        child("heredoc_end"),
    );
    let ((Some(start), Some(body), Some(end)), false) = (parts, several) else {
        return UNCLEAR;
    };
    let written = text(start);
    let within = |quote: char| written.strip_prefix(quote)?.strip_suffix(quote);
    let quoted = within('\'').or_else(|| within('"'));
    let quoted = quoted.or_else(|| written.strip_prefix('\\'));
    let delimiter = quoted.unwrap_or(written);
    let is_plain = !delimiter.is_empty() && delimiter.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    // The grammar starts the body at the first expansion it sees, so the lines are taken from the source.
    let lines = source
        .get(start.end_byte()..end.start_byte())
        .and_then(|rest| rest.split_once('\n'))
        .filter(|_| is_plain);
    let Some((_, lines)) = lines else { return UNCLEAR };
    let tabs: &[char] = if child("<<-").is_some() { &['\t'] } else { &[] };
    let ends_early = lines
        .lines()
        .any(|line| line.trim_start_matches(tabs) == delimiter);
    // Without quotes a backslash joins a line to the next, even to the delimiter.
    let joins_lines = quoted.is_none() && lines.lines().any(|line| line.ends_with('\\'));
    let after = source.get(end.end_byte()..).and_then(|rest| rest.chars().next());
    let ends = text(end).trim_start_matches(tabs) == delimiter && after.is_none_or(|c| c == '\n');
    if ends_early || joins_lines || !ends {
        return UNCLEAR;
    }
    let hides = || pieces(body, source).any(|(literal, _)| hides_expansion(literal));
    (quoted.is_none() && hides()).then_some(Doubt::HiddenCommand)
}
