//! A line as a tree. The only file that knows the grammar's library.
//!
//! The library's tree is copied once into a flat list in which every node is followed by what is below it: all that comes after
//! reads it many times, and the library is slow to walk.
//!
//! Not the line itself is parsed but a twin of the same length, so that the tree's places are places of the line. Bytes outside
//! ASCII are hidden from the grammar ([`ascii_twin`]), and long pipelines are shown to it as lists ([`listed_twin`]).

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::LazyLock;

use tree_sitter::{Language, Parser};

use super::super::why::Doubt;

/// Deeper trees are not walked: no person writes them, and the walk would run out of stack.
pub(super) const DEPTH_MAX: usize = 120;

static LANGUAGE: LazyLock<Language> = LazyLock::new(|| tree_sitter_bash::LANGUAGE.into());

/// The names of all kinds of nodes by the grammar's number, and what nodes of the kind are.
static KINDS: LazyLock<Vec<(&'static str, Is)>> = LazyLock::new(|| {
    let kind = |id: usize| {
        let id = u16::try_from(id).ok()?;
        let is = if LANGUAGE.node_kind_is_named(id) {
            Is::Named
        } else {
            Is::Token
        };
        Some((LANGUAGE.node_kind_for_id(id)?, is))
    };
    (0..LANGUAGE.node_kind_count())
        .map(|id| kind(id).unwrap_or(ERROR))
        .collect()
});

/// The only nodes whose children are asked for by field. Asking is slow.
const FIELDED: [&str; 4] = [
    "redirected_statement",
    "file_redirect",
    "heredoc_redirect",
    "function_definition",
];

/// What has no number of its own is what the grammar could not read.
const ERROR: (&str, Is) = ("ERROR", Is::Wrong);

/// The names of all fields, by the grammar's number; there is no field 0.
static FIELDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let name = |id| {
        u16::try_from(id)
            .ok()
            .and_then(|id| LANGUAGE.field_name_for_id(id))
    };
    (0..=LANGUAGE.field_count())
        .map(|id| name(id).unwrap_or_default())
        .collect()
});

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// A parsed line.
pub(super) struct Tree(Vec<Data>);

struct Data {
    kind: &'static str,
    field: &'static str,
    bytes: Range<usize>,
    /// How many of the nodes after it are below it.
    below: usize,
    is: Is,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    Named,
    /// A fixed token such as `&&`.
    Token,
    /// What the grammar could not read, or made up to go on.
    Wrong,
}

impl Tree {
    /// Parses `line`.
    pub(super) fn parse(line: &str) -> Result<Self, Doubt> {
        let ascii = ascii_twin(line);
        if let Some((listed, pipes)) = listed_twin(&ascii) {
            let tree = Self::of(&listed)?;
            if tree.separates_commands(&pipes) {
                return Ok(tree);
            }
        }
        Self::of(&ascii)
    }

    fn of(text: &str) -> Result<Self, Doubt> {
        let tree = PARSER.with_borrow_mut(|parser| {
            if parser.language().is_none() {
                parser.set_language(&LANGUAGE).ok()?;
            }
            parser.parse(text, None)
        });
        let tree = tree.ok_or(Doubt::Unparsed)?;
        copy(&tree).map(Self)
    }

    /// The node above all others.
    pub(super) fn root(&self) -> Option<Node<'_>> {
        Node::first_of(&self.0)
    }

    /// Whether each of these places is a separator of the line itself, with a statement before and a command after it.
    fn separates_commands(&self, places: &[usize]) -> bool {
        let Some(root) = self
            .root()
            .filter(|_| self.0.iter().all(|node| node.is != Is::Wrong))
        else {
            return false;
        };
        let starts_with_a_name = |node: Node<'_>| {
            std::iter::successors(Some(node), |node| node.children().next())
                .any(|node| node.kind() == "command_name")
        };
        let mut statement_before = false;
        let mut separators = 0;
        for node in root.children() {
            if node.kind() == ";" && places.contains(&node.start_byte()) {
                if !statement_before || !node.next_sibling().is_some_and(starts_with_a_name) {
                    return false;
                }
                separators += 1;
            }
            statement_before = node.is_named();
        }
        separators == places.len()
    }
}

/// The library's tree as a list; an error when it is too deep.
fn copy(tree: &tree_sitter::Tree) -> Result<Vec<Data>, Doubt> {
    let mut nodes: Vec<Data> = Vec::with_capacity(128);
    let mut above: Vec<usize> = Vec::new();
    let mut cursor = tree.walk();
    let flawed = tree.root_node().has_error();
    loop {
        let node = cursor.node();
        let (kind, mut is) = KINDS.get(usize::from(node.kind_id())).copied().unwrap_or(ERROR);
        if flawed && (node.is_error() || node.is_missing()) {
            is = Is::Wrong;
        }
        let field = above
            .last()
            .and_then(|parent| nodes.get(*parent))
            .filter(|parent| FIELDED.contains(&parent.kind))
            .and_then(|_| cursor.field_id())
            .and_then(|id| FIELDS.get(usize::from(id.get())));
        nodes.push(Data {
            kind,
            field: field.copied().unwrap_or_default(),
            bytes: node.byte_range(),
            below: 0,
            is,
        });
        if cursor.goto_first_child() {
            above.push(nodes.len() - 1);
            if above.len() > DEPTH_MAX {
                return Err(Doubt::TooDeep);
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            let (true, Some(parent)) = (cursor.goto_parent(), above.pop()) else {
                return Ok(nodes);
            };
            let below = nodes.len() - 1 - parent;
            if let Some(parent) = nodes.get_mut(parent) {
                parent.below = below;
            }
        }
    }
}

/// One node of a [`Tree`].
#[derive(Clone, Copy)]
pub(super) struct Node<'t> {
    data: &'t Data,
    below: &'t [Data],
    /// Its further siblings and what is below them.
    after: &'t [Data],
}

/// The same node, not one that looks the same.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.data, other.data)
    }
}

impl<'t> Node<'t> {
    fn first_of(nodes: &'t [Data]) -> Option<Self> {
        let (data, rest) = nodes.split_first()?;
        let (below, after) = rest.split_at_checked(data.below)?;
        Some(Self { data, below, after })
    }

    /// The grammar's name for it.
    pub(super) fn kind(self) -> &'static str {
        self.data.kind
    }

    /// Where it is in the line.
    pub(super) fn byte_range(self) -> Range<usize> {
        self.data.bytes.clone()
    }

    pub(super) fn start_byte(self) -> usize {
        self.data.bytes.start
    }

    pub(super) fn end_byte(self) -> usize {
        self.data.bytes.end
    }

    /// Whether it is more than a fixed token.
    pub(super) fn is_named(self) -> bool {
        self.data.is != Is::Token
    }

    /// Whether the grammar could not read it, or made it up to go on.
    pub(super) fn is_wrong(self) -> bool {
        self.data.is == Is::Wrong
    }

    /// Whether nothing is below it.
    pub(super) fn is_leaf(self) -> bool {
        self.below.is_empty()
    }

    /// The nodes directly below it.
    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Self::first_of(self.below), |child| child.next_sibling())
    }

    /// Those that are more than fixed tokens.
    pub(super) fn named_children(self) -> impl Iterator<Item = Self> {
        self.children().filter(|child| child.is_named())
    }

    /// Those in a field of the grammar; only the children of [`FIELDED`] nodes know theirs.
    pub(super) fn children_in(self, field: &str) -> impl Iterator<Item = Self> {
        debug_assert!(FIELDED.contains(&self.kind()), "{}", self.kind());
        self.children().filter(move |child| child.data.field == field)
    }

    /// The first in a field of the grammar.
    pub(super) fn child_in(self, field: &str) -> Option<Self> {
        self.children_in(field).next()
    }

    /// The node after it with the same parent.
    pub(super) fn next_sibling(self) -> Option<Self> {
        Self::first_of(self.after)
    }
}

/// The line with every byte outside ASCII replaced, at the same length, by one that means nothing to a shell but is not part
/// of a name either.
///
/// The grammar's scanner calls C's `isdigit` and its like with whole code points, which reads outside a table and can end
/// the process. To a shell such characters are ordinary parts of words, so the tree of the twin is the tree of the line;
/// words are read from the line itself.
fn ascii_twin(line: &str) -> Cow<'_, str> {
    const TWIN: char = '%';
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let twin = line
        .bytes()
        .map(|byte| if byte.is_ascii() { char::from(byte) } else { TWIN });
    Cow::Owned(twin.collect())
}

/// The line with the pipes of a longer pipeline replaced by `;`, and where they were.
///
/// From the second pipe on the grammar takes a wrong turn, and its recovery costs several times as much as reading the whole
/// line. What is piped and what is listed are the same commands, so the tree of the list will do; provided that what was replaced
/// turns out to be a separator between two commands, since then a shell reads a pipe in its place. Guessing wrong here is
/// harmless: [`Tree::parse`] checks, and otherwise reads the line as it is.
fn listed_twin(line: &str) -> Option<(String, Vec<usize>)> {
    if line.contains(['\\', '`', '#', '\n']) || line.contains("<<") {
        return None;
    }
    let mut pipes = Vec::new();
    let mut quote = None;
    let mut depth = 0_usize;
    for (place, window) in line.as_bytes().windows(3).enumerate() {
        let &[byte, ..] = window else { continue };
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(' | b'{' | b'[') => depth += 1,
            (None, b')' | b'}' | b']') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 && window == b" | " => pipes.push(place + 1),
            _ => {}
        }
    }
    // A `cd` behind a pipe moves nobody else, but in a list it would.
    let behind = line.get(*pipes.first()?..)?;
    if pipes.len() < 2
        || ["cd", "pushd", "popd", "chdir"]
            .iter()
            .any(|name| behind.contains(name))
    {
        return None;
    }
    let mut twin = String::with_capacity(line.len());
    let mut from = 0;
    for &pipe in &pipes {
        twin.push_str(line.get(from..pipe)?);
        twin.push(';');
        from = pipe + 1;
    }
    twin.push_str(line.get(from..)?);
    Some((twin, pipes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(line: &str) -> Option<String> {
        listed_twin(line).map(|(twin, _)| twin)
    }

    fn is_read_as_list(line: &str) -> bool {
        listed_twin(line).is_some_and(|(twin, pipes)| Tree::of(&twin).unwrap().separates_commands(&pipes))
    }

    #[test]
    fn only_the_pipes_of_longer_pipelines_are_listed() {
        assert_eq!(listed("a | b | c").as_deref(), Some("a ; b ; c"));
        assert_eq!(
            listed("a 'x | y' | b \"| z\" | c").as_deref(),
            Some("a 'x | y' ; b \"| z\" ; c")
        );
        for line in [
            "a | b",
            "a || b || c",
            "a |& b |& c",
            "a|b|c",
            "(a | b | c)",
            "a >| b | c",
            "cat <<E | a | b",
            "a | b | cd x && c",
        ] {
            assert_eq!(listed(line), None, "{line}");
        }
    }

    #[test]
    fn a_pipe_that_does_not_separate_two_commands_is_read_as_it_is() {
        assert!(is_read_as_list("cd x && a 2>&1 | b -c | d e > f && g"));
        for line in [
            "a | b | ",
            "a | | b",
            "| a | b",
            "a | b | ; c",
            "a | b | && c",
            "if a | then b | c; fi",
            "for x in a | b | c; do d; done",
            "case x in a | b | c) d;; esac",
            "[[ a | b | c ]]",
            "a & | b | c",
            "a | b | FOO=1 c",
            "a | b | >x",
            "f() a | b | c; }",
            "a | b | if",
        ] {
            assert!(!is_read_as_list(line), "{line}");
        }
    }
}
