//! A line as a tree. The only file that knows the grammar's library.
//!
//! The library's tree is copied once into a flat list in which every node is followed by what is below it: all that comes after
//! reads it many times, and the library is slow to walk.
//!
//! Not the line itself is parsed but a twin of the same length, so that the tree's places are places of the line. Bytes outside
//! ASCII are hidden from the grammar ([`ascii_twin`]), and the pipes of long pipelines are shown to it as `;` ([`pipes`]).

use std::cell::RefCell;
use std::ops::Range;
use std::sync::LazyLock;

use placet_core::analysis::Doubt;
use tree_sitter::{Language, Parser};

/// Deeper trees are not walked: no person writes them, and the walk would run out of stack.
pub(super) const DEPTH_MAX: usize = 120;

static LANGUAGE: LazyLock<Language> = LazyLock::new(|| tree_sitter_bash::LANGUAGE.into());

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// A parsed line.
pub(super) struct Tree(Vec<Data>);

struct Data {
    kind: &'static str,
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
        let mut twin = ascii_twin(line);
        let pipes = pipes(&twin);
        if pipes.len() > 1 {
            put(b';', &pipes, &mut twin);
            let tree = Self::of(&twin)?;
            if tree.separates_commands(&pipes) {
                return Ok(tree);
            }
            put(b'|', &pipes, &mut twin);
        }
        Self::of(&twin)
    }

    fn of(text: &[u8]) -> Result<Self, Doubt> {
        let tree = PARSER.with_borrow_mut(|parser| {
            if parser.language().is_none() {
                parser.set_language(&LANGUAGE).ok()?;
            }
            parser.parse(text, None)
        });
        copy(&tree.ok_or(Doubt::Unparsed)?).map(Self)
    }

    /// The node above all others.
    pub(super) fn root(&self) -> Option<Node<'_>> {
        Node::first_of(&self.0)
    }

    /// Whether each of these places is a separator of the line itself, with a statement before and a command after it.
    fn separates_commands(&self, places: &[usize]) -> bool {
        let is_command = |node: Node<'_>| {
            std::iter::successors(Some(node), |node| node.children().next())
                .any(|node| node.kind() == "command_name")
        };
        let separates = |nodes: &&[Node<'_>]| match nodes {
            [before, at, after] => {
                at.kind() == ";"
                    && places.binary_search(&at.start_byte()).is_ok()
                    && before.is_named()
                    && is_command(*after)
            }
            _ => false,
        };
        let nodes: Vec<Node<'_>> = self.root().into_iter().flat_map(Node::children).collect();
        self.0.iter().all(|node| node.is != Is::Wrong)
            && nodes.windows(3).filter(separates).count() == places.len()
    }
}

/// The library's tree as a list; an error when it is too deep.
fn copy(tree: &tree_sitter::Tree) -> Result<Vec<Data>, Doubt> {
    let mut nodes: Vec<Data> = Vec::with_capacity(128);
    let mut above: Vec<usize> = Vec::with_capacity(16);
    let mut cursor = tree.walk();
    let flawed = tree.root_node().has_error();
    loop {
        let node = cursor.node();
        let is = match node {
            _ if flawed && (node.is_error() || node.is_missing()) => Is::Wrong,
            _ if node.is_named() => Is::Named,
            _ => Is::Token,
        };
        nodes.push(Data {
            kind: LANGUAGE.node_kind_for_id(node.kind_id()).unwrap_or("ERROR"),
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

    /// Whether it is a redirection of any kind.
    pub(super) fn is_redirect(self) -> bool {
        matches!(
            self.kind(),
            "file_redirect" | "heredoc_redirect" | "herestring_redirect"
        )
    }

    /// The nodes directly below it.
    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Self::first_of(self.below), |child| child.next_sibling())
    }

    /// Those that are more than fixed tokens.
    pub(super) fn named_children(self) -> impl Iterator<Item = Self> {
        self.children().filter(|child| child.is_named())
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
fn ascii_twin(line: &str) -> Vec<u8> {
    const TWIN: u8 = b'%';
    let twin = |byte: u8| if byte.is_ascii() { byte } else { TWIN };
    line.bytes().map(twin).collect()
}

/// Where a line may have pipes between its commands.
///
/// From the second pipe on the grammar takes a wrong turn, and its recovery costs several times as much as reading the whole
/// line; so it is shown `;` in their place, and the walk reads the pipes from the line. Guessing wrong here is harmless:
/// [`Tree::parse`] checks that each was read as a separator between two commands, and otherwise reads the line as it is.
fn pipes(line: &[u8]) -> Vec<usize> {
    let mut pipes = Vec::new();
    let mut quote = None;
    let mut depth = 0_usize;
    for (place, window) in line.windows(3).enumerate() {
        let &[byte, next, _] = window else { continue };
        match (quote, byte) {
            (_, b'\\' | b'`' | b'#' | b'\n') => return Vec::new(),
            (_, b'<') if next == b'<' => return Vec::new(),
            (Some(open), _) if open == byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(' | b'{' | b'[') => depth += 1,
            (None, b')' | b'}' | b']') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 && window == b" | " => pipes.push(place + 1),
            _ => {}
        }
    }
    pipes
}

fn put(byte: u8, places: &[usize], text: &mut [u8]) {
    for place in places {
        if let Some(old) = text.get_mut(*place) {
            *old = byte;
        }
    }
}

#[cfg(test)]
mod tests;
