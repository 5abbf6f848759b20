//! Redirections: what a line reads and writes besides its commands' own words, and here-documents that shells run.

use super::super::super::why::{Ban, Deed, Doubt, Why};
use super::super::super::{Fact, FactKind};
use super::super::judge::{self, Fed};
use super::super::target::{self, Lead};
use super::super::tree::Node;
use super::super::word::{Known, Word};
use super::{Source, Walk, is_simple};
use crate::tool::Risk;

impl Walk<'_> {
    /// `a && b 2>&1 | c`: the grammar pipes the whole list, the shell its last command.
    pub(super) fn pipeline(&mut self, node: Node<'_>, source: Source<'_>) {
        let is_list = |node: Node<'_>| {
            node.kind() == "redirected_statement"
                && node.child_in("body").is_some_and(|body| body.kind() == "list")
        };
        let next = |walk: &mut Self| {
            let last = node.named_children().last();
            let mut before = node.named_children().next();
            for next in node.named_children().skip(1) {
                walk.fed = before.map_or(Fed::Later, |before| printed(before, source));
                if Some(next) == last {
                    walk.feed_last();
                }
                walk.visit(next, source);
                before = Some(next);
            }
        };
        match node.named_children().next() {
            Some(first) if is_list(first) => self.redirected(first, source, Vec::new(), &next),
            Some(first) => {
                self.visit(first, source);
                next(self);
            }
            None => {}
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
        let is_several = node
            .child_in("body")
            .is_some_and(|body| matches!(body.kind(), "list" | "pipeline"));
        match redirects.iter().find_map(|redirect| fed_by(*redirect, source)) {
            fed if is_several => self.fed_last = fed.or_else(|| self.fed_last.take()),
            Some(fed) => self.fed = fed,
            None => {}
        }
        let go = |walk: &mut Self| {
            // Where a `cd` in a substitution leads is of no matter here.
            let reached = walk.reached.take();
            for redirect in &redirects {
                walk.visit(*redirect, source);
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
        let known = &self.places.programs().facts().places;
        let device = word.known == Known::Fully && known.is_harmless_device(&word.value);
        let lead = self.standing.lead(&target::path_of(word), self.places);
        let contained = device || (lead.inside && !word.is_later());
        if writes && known.is_disk(&word.value) {
            self.ban(Ban::WritesOverDisk {
                operator: operator.to_owned(),
                device: word.raw.to_string(),
            });
        }
        let (risk, why) = if device {
            (Risk::Low, None)
        } else {
            let why = self.redirect_high(writes, contained, word, &lead);
            let is_read = !writes && word.known == Known::Fully && lead.is_plain();
            let risk = if is_read { Risk::Low } else { Risk::Medium };
            (why.as_ref().map_or(risk, |_| Risk::High), why)
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
    fn redirect_high(&self, writes: bool, contained: bool, word: &Word<'_>, lead: &Lead) -> Option<Why> {
        let raw = || word.raw.to_string();
        if let Some(why) = judge::words(std::slice::from_ref(word), self.places) {
            return Some(why);
        }
        if word.is_later() || (writes && word.known == Known::Shape) {
            return Some(Why::LeadsLater { word: raw() });
        }
        if writes && contained && lead.sensitive.is_some() {
            let deed = Deed::ChangesGuarded;
            return Some(Why::Does { what: raw(), deed });
        }
        let leaves = || target::points_away(&target::path_of(word)) || lead.outside;
        let outside = !contained && (writes || leaves());
        outside.then(|| Why::MaybeOutside { word: raw() })
    }
}

/// What a redirection puts on a command's input.
pub(super) fn fed_by(redirect: Node<'_>, source: Source<'_>) -> Option<Fed> {
    match redirect.kind() {
        "heredoc_redirect" => {
            let body = redirect
                .named_children()
                .find(|child| child.kind() == "heredoc_body")?;
            Some(Fed::Text(source.of(body).to_owned()))
        }
        "herestring_redirect" => {
            let word = redirect.named_children().next()?;
            let word = Word::read(word, source.text);
            Some(if word.is_later() {
                Fed::Later
            } else {
                Fed::Text(word.value)
            })
        }
        _ if source.of(redirect).contains('<') => Some(Fed::File),
        _ => None,
    }
}

/// What a statement prints, when that is plain: `echo a b`, or a here-document through `cat`.
fn printed(statement: Node<'_>, source: Source<'_>) -> Fed {
    let words = || -> Option<Vec<String>> {
        let mut words = Vec::new();
        for child in statement.named_children() {
            Word::read_into(child, source.text, &mut words).ok()?;
        }
        words.iter().map(|word| word.fixed().map(str::to_owned)).collect()
    };
    match statement.kind() {
        "command" => match words().as_deref() {
            Some([name, rest @ ..]) if matches!(name.as_str(), "echo" | "printf") => {
                Fed::Text(rest.join(" "))
            }
            _ => Fed::Later,
        },
        "redirected_statement" => {
            let is_cat = statement
                .child_in("body")
                .is_some_and(|body| source.of(body) == "cat");
            let mut redirects = statement.named_children().filter(|child| is_redirect(*child));
            let fed = redirects.find_map(|redirect| fed_by(redirect, source));
            fed.filter(|_| is_cat).unwrap_or(Fed::Later)
        }
        _ => Fed::Later,
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
