//! Redirections: what a line reads and writes besides its commands' own words, and here-documents that shells run.

use super::super::super::why::{Ban, Deed, Doubt, Why};
use super::super::super::{Fact, FactKind};
use super::super::target;
use super::super::tree::Node;
use super::super::word::{Known, Word};
use super::super::{judge, sends, wrapper};
use super::{Source, Walk, is_simple};
use crate::tool::Risk;

impl Walk<'_> {
    /// `a && b 2>&1 | c`: the grammar pipes the whole list, the shell its last command.
    pub(super) fn pipeline(&mut self, node: Node<'_>, source: Source<'_>) {
        let is_list = |node: Node<'_>| {
            node.kind() == "redirected_statement"
                && node.child_in("body").is_some_and(|body| body.kind() == "list")
        };
        match node.named_children().next() {
            Some(first) if is_list(first) => self.redirected(first, source, Vec::new(), &|walk| {
                for next in node.named_children().skip(1) {
                    walk.visit(next, source);
                }
            }),
            _ => self.children(node, source),
        }
    }

    /// A statement with redirections. Words the grammar hangs on these belong to the statement. `then` is called where it runs.
    pub(super) fn redirected<'t>(
        &mut self,
        node: Node<'t>,
        source: Source<'_>,
        mut extra: Vec<Node<'t>>,
        then: &dyn Fn(&mut Self),
    ) {
        let redirects: Vec<_> = node
            .named_children()
            .filter(|child| is_redirect(*child))
            .collect();
        for redirect in &redirects {
            stray_words(*redirect, &mut extra);
        }
        // To plain sh `a &>b c` is `a & >b c`.
        if !extra.is_empty()
            && redirects
                .iter()
                .any(|redirect| source.of(*redirect).starts_with('&'))
        {
            self.doubt(source.of(node), Doubt::WordAfterBoth);
        }
        let go = |walk: &mut Self| {
            // Where a `cd` in a substitution leads is of no matter here.
            let reached = walk.reached.take();
            for redirect in &redirects {
                walk.feed(*redirect, node, source);
                walk.visit(*redirect, source);
                walk.send_input(*redirect, node, source);
            }
            then(walk);
            walk.reached = reached;
        };
        match node.child_in("body") {
            // The grammar hangs them on the whole list, the shell on its last command.
            Some(body) if body.kind() == "list" && extra.is_empty() => return self.list(body, source, &go),
            Some(body) if body.kind() == "redirected_statement" => {
                self.redirected(body, source, extra, &|_| {});
            }
            Some(body) if is_simple(body) => self.simple(body, source, extra),
            body => {
                if let Some(body) = body {
                    self.visit(body, source);
                }
                if !extra.is_empty() {
                    self.doubt(source.of(node), Doubt::WordsWithoutCommand);
                    self.simple(node, source, extra);
                }
            }
        }
        go(self);
    }

    /// A file given to a program that sends its input is sent.
    fn send_input(&mut self, redirect: Node<'_>, statement: Node<'_>, source: Source<'_>) {
        let reads = redirect.kind() == "file_redirect" && source.of(redirect).contains('<');
        let Some(name) = last_name(statement, source).filter(|name| reads && sends::sends_input(name)) else {
            return;
        };
        if let Some(fact) = self.found.facts.last_mut() {
            fact.risk = Risk::High;
            fact.why.get_or_insert_with(|| judge::does(name, Deed::SendsFile));
        }
    }

    /// A here-document or here-string given to a shell is a line of its own.
    fn feed(&mut self, redirect: Node<'_>, statement: Node<'_>, source: Source<'_>) {
        if redirect.kind() == "file_redirect" {
            return;
        }
        let first_line = source.of(statement).lines().next().unwrap_or_default();
        let shell = first_line
            .split([' ', '\t', '|', ';', '&'])
            .map(judge::base_name)
            .find(|word| wrapper::is_shell(word));
        let Some(shell) = shell else { return };
        let under: Vec<String> = source.under.iter().cloned().chain([shell.to_owned()]).collect();
        for child in redirect.named_children() {
            match child.kind() {
                "heredoc_body" => self.line(source.of(child), &under),
                "string" | "raw_string" | "ansi_c_string" | "concatenation"
                    if redirect.kind() == "herestring_redirect" =>
                {
                    self.line(&Word::read(child, source.text).value, &under);
                }
                _ => {}
            }
        }
    }

    /// One redirection to or from a file.
    pub(super) fn redirect(&mut self, node: Node<'_>, source: Source<'_>) {
        let operator = node
            .children()
            .find(|child| !child.is_named())
            .map(|child| source.of(child));
        let operator = operator.unwrap_or_default();
        let Some(destination) = node.child_in("destination") else {
            return;
        };
        self.inside(destination, source);
        if destination.kind() == "process_substitution" {
            return;
        }
        let mut words = Vec::new();
        if let Err(doubt) = Word::read_into(destination, source.text, &mut words) {
            self.doubt(source.of(node), doubt);
        }
        // Bash refuses several files and zsh takes them all.
        let several = words.len() > 1;
        for mut word in words {
            if several {
                word.known = word.known.max(Known::Shape);
            }
            self.redirect_to(operator, &word);
        }
    }

    /// Judges one file that is written or read.
    pub(super) fn redirect_to(&mut self, operator: &str, word: &Word<'_>) {
        let duplicates = operator.contains('&') && !operator.starts_with('&');
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if duplicates && is_number(word.value.trim_end_matches('-')) && !word.is_later() {
            return;
        }
        let writes = operator.contains('>');
        let device = word.known == Known::Fully && target::is_harmless_device(&word.value);
        let contained = device || self.standing.contains(word, self.places);
        if writes && target::is_block_device(&word.value) {
            self.ban(Ban::WritesOverDisk {
                operator: operator.to_owned(),
                device: word.raw.to_string(),
            });
        }
        let (risk, why) = if device {
            (Risk::Low, None)
        } else {
            let why = self.redirect_high(writes, contained, word);
            (why.as_ref().map_or(Risk::Medium, |_| Risk::High), why)
        };
        let paths = self.named(std::slice::from_ref(word), &[], &word.raw);
        self.found.facts.push(Fact {
            kind: FactKind::Redirect {
                path: word.shown(),
                writes,
                contained,
                paths,
            },
            risk,
            why,
        });
    }

    /// Why a redirection is HIGH, if it is.
    fn redirect_high(&self, writes: bool, contained: bool, word: &Word<'_>) -> Option<Why> {
        let raw = || word.raw.to_string();
        let path = target::path_of(word);
        if let Some(why) = judge::words(std::slice::from_ref(word)) {
            return Some(why);
        }
        if word.is_later() || (writes && word.known == Known::Shape) {
            return Some(Why::LeadsLater { word: raw() });
        }
        if writes && contained && self.standing.guards(&path, self.places) {
            let deed = Deed::ChangesGuarded;
            return Some(Why::Does { what: raw(), deed });
        }
        let leaves = || target::points_away(&path) || self.standing.leaves(&path, self.places);
        let outside = !contained && (writes || leaves());
        outside.then(|| Why::MaybeOutside { word: raw() })
    }
}

/// The name of the command that a statement's redirections belong to.
fn last_name<'s>(statement: Node<'_>, source: Source<'s>) -> Option<&'s str> {
    match statement.kind() {
        "command" => {
            let name = statement
                .children()
                .find(|child| child.kind() == "command_name")?;
            Some(judge::base_name(source.of(name)))
        }
        "redirected_statement" => last_name(statement.child_in("body")?, source),
        "list" | "pipeline" => last_name(statement.named_children().last()?, source),
        _ => None,
    }
}

/// Whether `node` is a redirection of any kind.
pub(super) fn is_redirect(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "file_redirect" | "heredoc_redirect" | "herestring_redirect"
    )
}

/// Words the grammar hangs on a redirection though they belong to the command: in `echo a > b c` only `b` is a file.
pub(super) fn stray_words<'t>(redirect: Node<'t>, words: &mut Vec<Node<'t>>) {
    match redirect.kind() {
        "file_redirect" => words.extend(redirect.children_in("destination").skip(1)),
        "heredoc_redirect" => {
            words.extend(redirect.children_in("argument"));
            for inner in redirect.named_children().filter(|child| is_redirect(*child)) {
                stray_words(inner, words);
            }
        }
        _ => {}
    }
}
