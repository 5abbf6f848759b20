//! Can the parsed tree be trusted?
//!
//! The grammar forgives and guesses, so a tree without errors may still not be what bash runs. This room holds every
//! known difference. It looks at the whole tree once: each gap between two nodes must be plain space, and each token
//! that could swallow a command is looked into. Whatever is left over is a reason not to trust the line.

use tree_sitter::Node;

use super::word::{Piece, literal_pieces};

/// Deeper trees are not walked: no person writes them, and the walk would run out of stack.
const DEPTH_MAX: usize = 120;

/// Why a line is not read.
pub(super) type Doubt = &'static str;

/// What forbids reading `line` at all.
pub(super) fn unfit(line: &str) -> Option<Doubt> {
    if line.len() > super::LINE_BYTES_MAX {
        return Some("the line is too long to judge");
    }
    let odd = |c: char| c.is_control() && c != '\t' && c != '\n';
    line.contains(odd).then_some("the line holds control characters")
}

/// Whether the tree is too deep to walk.
pub(super) fn too_deep(root: Node<'_>) -> bool {
    let mut cursor = root.walk();
    loop {
        if cursor.depth() as usize > DEPTH_MAX {
            return true;
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return false;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
}

/// The first reason to think that bash reads `source` differently from the tree under `root`.
pub(super) fn doubt(root: Node<'_>, source: &str) -> Option<Doubt> {
    let edges = (source.get(..root.start_byte()), source.get(root.end_byte()..));
    let blank = |edge: Option<&str>| edge.is_some_and(|edge| gap_is_plain(edge, true));
    if !blank(edges.0) || !blank(edges.1) {
        return Some("part of the line does not belong to any command");
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
    if node.is_error() || node.is_missing() {
        return Some("the line does not parse");
    }
    let text = source.get(node.byte_range()).unwrap_or_default();
    let doubt = match node.kind() {
        "ansi_c_string" => ansi_c_doubt(text),
        "string" => string_doubt(node, source),
        "expansion" => expansion_doubt(node, source),
        "regex" | "extglob_pattern" => text
            .contains(['`', '\'', '"', '('])
            .then_some("a pattern may hide a substitution"),
        "command_substitution" => backtick_doubt(text),
        "comment" => comment_doubt(node, source),
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
        | "concatenation" => newlines = Newlines::EndIt,
        "test_command" if text.starts_with("[[") => newlines = Newlines::Allowed,
        "test_command" => newlines = Newlines::EndIt,
        "unary_expression" | "binary_expression" | "parenthesized_expression" => {}
        _ => newlines = Newlines::Allowed,
    }
    children_doubt(node, source, newlines)
}

fn children_doubt(node: Node<'_>, source: &str, newlines: Newlines) -> Option<Doubt> {
    let literal_gaps = matches!(node.kind(), "string" | "heredoc_body");
    let mut before: Option<Node<'_>> = None;
    for child in node.children(&mut node.walk()) {
        if let Some(before) = before.filter(|_| !literal_gaps) {
            let gap = source.get(before.end_byte()..child.start_byte()).unwrap_or("?");
            let may_break = newlines == Newlines::Allowed || is_body(before) || is_body(child);
            if !gap_is_plain(gap, may_break) {
                return Some("something between two words is not plain space");
            }
            let is_concatenation = node.kind() == "concatenation";
            if is_concatenation && !gap.is_empty()
                || !is_concatenation && gap.is_empty() && are_words(before, child)
            {
                return Some("it is unclear where one word ends and the next begins");
            }
        }
        if let Some(doubt) = node_doubt(child, source, newlines) {
            return Some(doubt);
        }
        before = Some(child);
    }
    None
}

/// Parts of a `for` or a command that may start on a new line.
fn is_body(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "do_group" | "compound_statement" | "subshell" | "comment" | "\n" | ";" | "((" | "))" | "&"
    )
}

fn are_words(before: Node<'_>, after: Node<'_>) -> bool {
    let is_word = |node: Node<'_>| {
        matches!(
            node.kind(),
            "word"
                | "number"
                | "string"
                | "raw_string"
                | "ansi_c_string"
                | "translated_string"
                | "concatenation"
                | "$"
                | "command_name"
                | "expansion"
                | "simple_expansion"
                | "command_substitution"
                | "process_substitution"
                | "arithmetic_expansion"
                | "brace_expression"
                | "=="
                | "=~"
                | "regex"
                | "variable_assignment"
        )
    };
    // `$x` and `"$x y"` are built of tokens that touch; only whole words beside each other are in doubt.
    let parent = before.parent().map(|parent| parent.kind());
    let holds_words = parent.is_some_and(|kind| {
        matches!(
            kind,
            "command" | "declaration_command" | "unset_command" | "file_redirect" | "for_statement" | "array"
        )
    });
    holds_words && is_word(before) && is_word(after)
}

/// Spaces, tabs, newlines where allowed, and a line continuation next to a blank. A continuation between two letters
/// joins them (`r\⏎m` is `rm`), and a backslash before a space makes a word the grammar does not see.
fn gap_is_plain(gap: &str, newlines: bool) -> bool {
    let joined = gap
        .replace(" \\\n", "  ")
        .replace("\t\\\n", "  ")
        .replace("\\\n ", "  ")
        .replace("\\\n\t", "  ");
    joined
        .chars()
        .all(|c| c == ' ' || c == '\t' || (c == '\n' && newlines))
}

/// The grammar takes the longest match and bash the first end; `sh` ends at the first quote of any kind.
fn ansi_c_doubt(text: &str) -> Option<Doubt> {
    let body = text.strip_prefix("$'").and_then(|text| text.strip_suffix('\''));
    (!body.is_some_and(|body| !body.contains('\'')))
        .then_some("a `$'…'` string may end earlier than it seems")
}

fn string_doubt(node: Node<'_>, source: &str) -> Option<Doubt> {
    let literal = literal_pieces(node, source);
    let hides = literal
        .iter()
        .any(|piece| matches!(piece, Piece::Literal(text) if hides_expansion(text)));
    let comment = node
        .named_children(&mut node.walk())
        .any(|child| child.kind() == "comment");
    (hides || comment).then_some("a string may hide a substitution")
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
    let mut from = node.start_byte();
    let mut own = String::new();
    for child in node.named_children(&mut node.walk()) {
        if matches!(
            child.kind(),
            "command_substitution" | "expansion" | "simple_expansion" | "arithmetic_expansion"
        ) {
            own.push_str(source.get(from..child.start_byte()).unwrap_or_default());
            from = child.end_byte();
        }
    }
    own.push_str(source.get(from..node.end_byte()).unwrap_or_default());
    if own.contains("@P") {
        return Some("`${…@P}` runs what the variable holds");
    }
    let inner = own.strip_prefix("${").unwrap_or(&own);
    inner
        .contains(['\'', '"', '\\', '`', '(', '<', '>', '$'])
        .then_some("a `${…}` may hide a substitution")
}

/// Inside backticks a backslash or a quoted backtick is read twice, which the grammar does not do.
fn backtick_doubt(text: &str) -> Option<Doubt> {
    let inner = text.trim_start_matches('$').strip_prefix('`')?;
    let inner = inner.strip_suffix('`').unwrap_or(inner);
    inner
        .contains(['`', '\\'])
        .then_some("backticks with escapes are read twice")
}

fn comment_doubt(node: Node<'_>, source: &str) -> Option<Doubt> {
    let before = source
        .get(..node.start_byte())
        .and_then(|before| before.chars().next_back());
    let starts = before.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')'));
    (!starts).then_some("a `#` inside a word is no comment")
}

/// A here-document must end where bash ends it: at the first line that is the delimiter.
fn heredoc_doubt(node: Node<'_>, source: &str) -> Option<Doubt> {
    const UNCLEAR: Option<Doubt> = Some("it is unclear where a here-document ends");
    let mut cursor = node.walk();
    let child = |kind: &str| node.children(&mut node.walk()).find(|child| child.kind() == kind);
    let text = |node: Node<'_>| source.get(node.byte_range()).unwrap_or_default();
    let (Some(start), Some(body), Some(end)) = (
        child("heredoc_start"),
        child("heredoc_body"),
        child("heredoc_end"),
    ) else {
        return UNCLEAR;
    };
    let quoted = text(start);
    let delimiter = quoted.trim_matches(['\'', '"']).trim_start_matches('\\');
    let plain = !delimiter.is_empty() && delimiter.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let balanced = [
        format!("'{delimiter}'"),
        format!("\"{delimiter}\""),
        format!("\\{delimiter}"),
        delimiter.to_owned(),
    ];
    let head = source
        .get(start.end_byte()..body.start_byte())
        .unwrap_or_default();
    let several = node
        .children(&mut cursor)
        .filter(|child| child.kind() == "heredoc_redirect")
        .count()
        > 0
        || node
            .next_sibling()
            .is_some_and(|next| next.kind() == "heredoc_redirect");
    let strips_tabs = child("<<-").is_some();
    let trim = |line: &str| {
        if strips_tabs {
            line.trim_start_matches('\t').to_owned()
        } else {
            line.to_owned()
        }
    };
    // The grammar starts the body after the first expansion it sees, so the lines are taken from the source.
    let full = head
        .split_once('\n')
        .map(|(_, rest)| rest.to_owned() + text(body))
        .unwrap_or_else(|| text(body).to_owned());
    let ends_early = full.lines().any(|line| trim(line) == delimiter);
    let joins_lines = quoted == delimiter && full.lines().any(|line| line.ends_with('\\'));
    let after = source.get(end.end_byte()..).and_then(|rest| rest.chars().next());
    let ends = text(end).trim() == delimiter && after.is_none_or(|c| c == '\n');
    if !plain || !balanced.iter().any(|form| form == quoted) || several || ends_early || joins_lines || !ends
    {
        return UNCLEAR;
    }
    let unquoted = quoted == delimiter;
    let hides = unquoted
        && literal_pieces(body, source)
            .iter()
            .any(|piece| matches!(piece, Piece::Literal(text) if hides_expansion(text)));
    hides.then_some("a here-document may hide a substitution")
}
