//! The walk over a parsed line: finds every simple command and every redirection, in order of appearance. [`command`] judges the
//! commands, [`redirect`] the redirections.
//!
//! The grammar nests lists, pipelines and redirections in ways a shell does not: in `a && b 2>&1 | c` it pipes the whole list. In
//! the order of the text they are what a shell reads, so [`flatten`] takes that nesting away before anything is judged.

mod command;
mod redirect;

use placet_core::analysis::{Analysis, Ban, Doubt, Why};

use super::judge::{self, Fed};
use super::tree::{Node, Tree};
use super::word::{Known, Word};
use super::working_folder::WorkingFolder;
use super::{COMMANDS_MAX, SHELLS_MAX, Start, ambiguity, path_words, unreadable};
use crate::Site;
use redirect::{fed_by, stray_words};

/// One analysis in progress.
pub(super) struct Walk<'a> {
    places: Site<'a>,
    found: &'a mut Analysis,
    working_folder: WorkingFolder,
    /// Where the last command leads, when it is a `cd` and succeeds.
    reached: Option<WorkingFolder>,
    /// What variables were set to so far.
    values: path_words::Values,
    /// What commands find on their input, unless something else is redirected into them.
    fed: Fed,
    commands: usize,
}

/// A line being walked, and the wrappers it runs under.
#[derive(Clone, Copy)]
struct Source<'s> {
    text: &'s str,
    under: &'s [String],
}

impl<'s> Source<'s> {
    fn of(self, node: Node<'_>) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(places: Site<'a>, found: &'a mut Analysis) -> Self {
        Self {
            working_folder: WorkingFolder::start(places),
            places,
            found,
            reached: None,
            values: path_words::Values::default(),
            fed: Fed::Nothing,
            commands: 0,
        }
    }

    /// Begins where the caller says.
    pub(super) fn start(&mut self, start: &Start<'_>) {
        if let Some(folder) = start.folder {
            let mut working_folder = self.working_folder.clone();
            self.working_folder = working_folder.go(Some(&Word::made(folder, Known::Fully)), self.places);
        }
        if let Some(input) = start.input {
            self.fed = Fed::Text(input.to_owned());
        }
        if !start.variables.is_empty() {
            let why = judge::variables(start.variables, self.places);
            let text = start.variables.join(" ");
            self.set(start.variables.to_vec(), &text, &[], why);
        }
    }

    /// Says which limits were reached.
    pub(super) fn finish(mut self, line: &str) {
        if self.commands > COMMANDS_MAX {
            let count = self.commands;
            self.found
                .facts
                .push(unreadable(line, Why::TooManyCommands { count }));
        }
        if self.values.are_too_many() {
            self.doubt(line, Doubt::TooManyValues);
        }
    }

    /// Reads one line that a shell would run under `under`.
    pub(super) fn line(&mut self, line: &str, under: &[String]) {
        if let Some(doubt) = ambiguity::unfit(line) {
            return self.doubt(line, doubt);
        }
        if under.len() > SHELLS_MAX {
            return self.doubt(line, Doubt::TooDeep);
        }
        let tree = match Tree::parse(line) {
            Ok(tree) => tree,
            Err(doubt) => return self.doubt(line, doubt),
        };
        let Some(root) = tree.root() else {
            return self.doubt(line, Doubt::Unparsed);
        };
        if let Some(doubt) = ambiguity::of(root, line) {
            self.doubt(line, doubt);
        }
        self.visit(root, Source { text: line, under });
    }

    fn doubt(&mut self, line: &str, doubt: Doubt) {
        self.found.facts.push(unreadable(line, doubt.into()));
    }

    fn ban(&mut self, why: Ban) {
        self.found.banned.get_or_insert(why);
    }

    /// Dispatches one statement, or any node that may hold statements.
    fn visit(&mut self, node: Node<'_>, source: Source<'_>) {
        match node.kind() {
            "variable_assignment" | "variable_assignments" => return self.assignment(node, source),
            "file_redirect" => return self.redirect(node, source),
            "heredoc_redirect" => {
                let body = node.children().find(|child| child.kind() == "heredoc_body");
                return body.into_iter().for_each(|body| self.inside(body, source));
            }
            "compound_statement" if source.of(node).starts_with("((") => {
                self.doubt(source.of(node), Doubt::ShellsDiffer);
                return self.inside(node, source);
            }
            "function_definition" => self.function(node, source),
            "for_statement" => self.loop_variable(node, source),
            _ => {}
        }
        // What a loop or a function runs again starts where its own `cd` left off.
        let repeats = matches!(
            node.kind(),
            "function_definition" | "for_statement" | "c_style_for_statement" | "while_statement"
        );
        let moves = |name: &&str| source.of(node).contains(name);
        if repeats && ["cd", "pushd", "popd"].iter().any(moves) {
            self.working_folder = WorkingFolder::Lost;
        }
        self.sequence(node, source);
    }

    /// The statements below a node, one after another.
    fn sequence(&mut self, node: Node<'_>, source: Source<'_>) {
        let mut parts = Vec::with_capacity(16);
        flatten(node, &mut parts);
        // `cd` may fail, so what follows may run anywhere that was possible before it. Only behind `cd x &&` it is certain.
        let mut possible = self.working_folder.clone();
        let mut after_or = false;
        let mut alone = true;
        let mut piped = None;
        let mut printed = Fed::Later;
        let mut parts = &*parts;
        while let [first, rest @ ..] = parts {
            if first.is_named() {
                let end = rest.iter().position(|part| !part.is_redirect());
                let (redirects, rest) = rest.split_at(end.unwrap_or(rest.len()));
                printed = self.statement(*first, redirects, piped.take(), source);
                possible = possible.or(&self.working_folder);
                if !alone || after_or {
                    self.reached = None;
                }
                parts = rest;
                continue;
            }
            let reached = self.reached.take();
            match source.of(*first) {
                "|" | "|&" => {
                    alone = false;
                    piped = Some(std::mem::replace(&mut printed, Fed::Later));
                }
                "!" => alone = false,
                "&&" => {
                    alone = true;
                    self.working_folder = reached.unwrap_or_else(|| self.working_folder.clone());
                }
                token => {
                    alone = true;
                    after_or = token == "||";
                    self.working_folder = possible.clone();
                }
            }
            parts = rest;
        }
        self.working_folder = possible;
        self.reached = None;
    }

    /// One statement and its redirections. Says what it prints.
    fn statement(
        &mut self,
        first: Node<'_>,
        redirects: &[Node<'_>],
        piped: Option<Fed>,
        source: Source<'_>,
    ) -> Fed {
        // A redirection without a command is a statement too.
        let own = first.is_redirect().then_some(first);
        let redirects = || own.into_iter().chain(redirects.iter().copied());
        let strays = || redirects().flat_map(stray_words);
        let has_strays = strays().next().is_some();
        // To plain sh `a &>b c` is `a & >b c`.
        if has_strays && redirects().any(|redirect| source.of(redirect).starts_with('&')) {
            self.doubt(source.of(first), Doubt::ShellsDiffer);
        }
        let inner = is_simple(first)
            .then_some(first)
            .into_iter()
            .flat_map(Node::children);
        let fed = inner
            .filter(|child| child.is_redirect())
            .chain(redirects())
            .filter_map(|redirect| fed_by(redirect, source))
            .last();
        let outer = fed.or(piped).map(|fed| std::mem::replace(&mut self.fed, fed));
        let mut printed = Fed::Later;
        if !is_simple(first) && own.is_none() {
            self.visit(first, source);
        }
        if is_simple(first) || has_strays {
            if !is_simple(first) {
                self.doubt(source.of(first), Doubt::WordsUnclear);
            }
            let command = self.simple(first, strays(), source);
            self.command(&command, source.under);
            printed = command.prints(&self.fed);
        }
        if let Some(outer) = outer {
            self.fed = outer;
        }
        // Where a `cd` in a substitution leads is of no matter here.
        let reached = self.reached.take();
        if is_simple(first) {
            first
                .named_children()
                .for_each(|child| self.inside(child, source));
        }
        strays().for_each(|stray| self.inside(stray, source));
        redirects().for_each(|redirect| self.visit(redirect, source));
        self.reached = reached;
        printed
    }

    /// Looks into a word or an expression for substitutions.
    fn inside(&mut self, node: Node<'_>, source: Source<'_>) {
        match node.kind() {
            "command_substitution" | "process_substitution" | "subshell" | "file_redirect" => {
                self.visit(node, source);
            }
            _ => node.named_children().for_each(|child| self.inside(child, source)),
        }
    }
}

fn is_simple(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "command" | "declaration_command" | "unset_command" | "test_command"
    )
}

/// Adds the statements below a node, their redirections right behind them, and the tokens between them, all in the order of the text.
fn flatten<'t>(node: Node<'t>, parts: &mut Vec<Node<'t>>) {
    let in_heredoc = node.kind() == "heredoc_redirect";
    let is_hung = |child: &Node<'t>| child.is_redirect() || matches!(child.kind(), "pipeline" | "&&" | "||");
    let children = node
        .children()
        .skip_while(|child| in_heredoc && !is_hung(child))
        .take_while(|child| !in_heredoc || !child.kind().starts_with("heredoc_"));
    for child in children {
        match child.kind() {
            "list" | "pipeline" | "redirected_statement" | "negated_command" => flatten(child, parts),
            // `cat <<E > x | sh`: the grammar hangs what follows on the here-document.
            "heredoc_redirect" => {
                parts.push(child);
                flatten(child, parts);
            }
            "comment" => {}
            _ => parts.push(child),
        }
    }
}
