//! Redirections: what a line reads and writes besides its commands' own words, and here-documents that shells run.

use placet_core::analysis::{Ban, Deed, Fact, FactKind, Why};
use placet_core::tool::Risk;

use super::super::judge::{self, Fed};
use super::super::tree::Node;
use super::super::word::{Known, Word};
use super::super::working_folder::{self, Lead};
use super::{Source, Walk};

impl Walk<'_> {
    /// One redirection to or from a file.
    pub(super) fn redirect(&mut self, node: Node<'_>, source: Source<'_>) {
        let operator = node
            .children()
            .find(|child| !child.is_named())
            .map(|child| source.of(child));
        let operator = operator.unwrap_or_default();
        let Some(destination) = words_of(node).next() else {
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
        let device = word.known == Known::Fully && known.devices.has(&word.value);
        let lead = self
            .working_folder
            .lead(&working_folder::path_of(word), self.places);
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
        let leaves = || working_folder::points_away(&working_folder::path_of(word)) || lead.outside;
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
            let word = Word::read(words_of(redirect).next()?, source.text);
            Some(if word.is_later() {
                Fed::Later
            } else {
                Fed::Text(word.value.into_owned())
            })
        }
        _ if source.of(redirect).contains('<') => Some(Fed::File),
        _ => None,
    }
}

/// The words directly below a redirection. The first says where it leads, except that of a here-document.
fn words_of(redirect: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    // Behind an operator follows another statement.
    let own = redirect
        .children()
        .take_while(|child| !matches!(child.kind(), "&&" | "||"));
    own.filter(|child| {
        let is_other = matches!(child.kind(), "file_descriptor" | "pipeline" | "comment");
        child.is_named() && !child.is_redirect() && !child.kind().starts_with("heredoc") && !is_other
    })
}

/// Words the grammar hangs on a redirection though they belong to the command: in `echo a > b c` only `b` is a file.
pub(super) fn stray_words(redirect: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    words_of(redirect).skip(usize::from(redirect.kind() != "heredoc_redirect"))
}
