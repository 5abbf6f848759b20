//! Redirections: what a line reads and writes besides its commands' own words, and here-documents that shells run.

use placet_core::analysis::{Ban, Deed, Fact, FactKind, Why};
use placet_core::tool::Risk;

use super::super::judge::{self, Fed};
use super::super::tree::Node;
use super::super::word::{Known, Word};
use super::super::working_folder;
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
    fn redirect_to(&mut self, operator: &str, word: &Word<'_>) {
        let duplicates = operator.contains('&') && !operator.starts_with('&');
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if duplicates && is_number(word.value.trim_end_matches('-')) && !word.is_later() {
            return;
        }
        let writes = operator.contains('>');
        let known = &self.places.programs().facts().places;
        if writes && known.is_disk(&word.value) {
            self.ban(Ban::WritesOverDisk {
                operator: operator.to_owned(),
                device: word.raw.to_string(),
            });
        }
        let device = word.known == Known::Fully && known.devices.has(&word.value);
        let place = working_folder::path_of(word);
        let lead = self.working_folder.lead(&place, self.places);
        let raw = || word.raw.to_string();
        let secret = || judge::words(std::slice::from_ref(word), self.places);
        let why = if device {
            None
        } else if let Some(why) = secret() {
            Some(why)
        } else if word.is_later() || (writes && word.known == Known::Shape) {
            Some(Why::LeadsLater { word: raw() })
        } else if lead.outside || (!lead.inside && (writes || working_folder::points_away(&place))) {
            Some(Why::MaybeOutside { word: raw() })
        } else {
            let guards = writes && lead.sensitive.is_some();
            guards.then(|| judge::does(&word.raw, Deed::ChangesGuarded))
        };
        let is_read = !writes && word.known == Known::Fully && lead.is_plain();
        self.found.facts.push(Fact {
            kind: FactKind::Redirect {
                path: word.shown(),
                writes,
                contained: device || (lead.inside && !word.is_later()),
                paths: self.named(std::slice::from_ref(word), &[]),
            },
            risk: match why {
                Some(_) => Risk::High,
                None if device || is_read => Risk::Low,
                None => Risk::Medium,
            },
            why,
        });
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
