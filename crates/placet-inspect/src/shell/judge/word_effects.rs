//! What follows from one word of a command, by what it is to the program.

use std::borrow::Cow;

use placet_core::analysis::{Deed, Effect, FactKind};
use placet_core::paths::is_glob;

use super::super::programs::{Does, Kind, Slot, Style, is_one_string};
use super::super::word::{Known, Word};
use super::super::working_folder::{self, Lead, points_away};
use super::super::{guess, hosts, path_words};
use super::{Case, does, is_variable};

impl<'w, 's> Case<'_, 'w, 's> {
    pub(super) fn slot(&mut self, slot: &Slot<'w, 's>) {
        match slot.kind {
            Kind::Text | Kind::Exec | Kind::Line => {}
            Kind::Reads => self.reads(slot),
            Kind::Writes => self.changes(slot, Effect::Writes),
            Kind::Deletes => self.changes(slot, Effect::Deletes),
            Kind::Folder => self.folder(slot),
            Kind::Url | Kind::Host | Kind::Image | Kind::Socket | Kind::Login | Kind::Route => {
                self.hosts(slot, slot.text);
            }
            Kind::Remote | Kind::Copy => match self.hosts(slot, slot.text) {
                0 if slot.kind == Kind::Copy => self.changes(slot, Effect::Writes),
                0 if slot.text.contains('/') => self.reads(slot),
                _ => {}
            },
            Kind::Mount => self.mount(slot),
            Kind::Data => self.data(slot),
            Kind::Code => self.code(slot),
            Kind::Expression if self.is_harmless_code(slot) => {}
            Kind::Expression => self.judged.effects.push(Effect::Unknown),
            Kind::Script => self.script(slot),
            Kind::Archive | Kind::Unpacks => self.archive(slot),
            Kind::Link => self.link(slot),
            Kind::Variable => self.variable(slot),
            Kind::Name => {
                // `PATH[0]` is `PATH`.
                let name = slot.text.split('[').next().unwrap_or_default();
                if slot.word.fixed().is_some() && self.places.programs().is_steering_variable(name) {
                    self.high(self.name, Deed::ChangesVariables);
                }
            }
            Kind::Any => self.any(slot),
        }
    }

    /// A program that reads everything below its folders reads this one when it is given none.
    pub(super) fn reads_here(&mut self) {
        let has_place = self.parsed.slots.iter().any(|slot| slot.kind == Kind::Reads);
        if !has_place && self.parsed.is_deep() {
            let here = self.lead(".").resolved;
            self.reads_only &= self.is_harmless_below(&here);
            self.judged.effects.push(Effect::Reads(here));
        }
    }

    fn is_harmless_below(&self, folder: &str) -> bool {
        let found = self.places.below(folder);
        found.is_some_and(|found| found.iter().all(|path| self.lead(path).is_plain()))
    }

    fn lead(&self, path: &str) -> Lead {
        self.working_folder.lead(path, self.places)
    }

    pub(super) fn high(&mut self, what: &str, deed: Deed) {
        self.judged.why.get_or_insert_with(|| does(what, deed));
    }

    /// Adds the hosts in a word. Says how many.
    fn hosts(&mut self, slot: &Slot<'w, 's>, text: &str) -> usize {
        let facts = hosts::of(slot.kind, &guessed(slot, text));
        for fact in &facts {
            if let FactKind::Host { host, .. } = &fact.kind {
                self.judged.effects.push(Effect::Host(host.clone()));
            }
        }
        let count = facts.len();
        self.judged.hosts.extend(facts);
        count
    }

    /// A file that is read: HIGH when it is secret or outside.
    fn reads(&mut self, slot: &Slot<'w, 's>) {
        if self.is_no_file(slot) {
            return;
        }
        let place = place_of(slot);
        if self.known_places().public.has(&place) {
            self.reads_only = false;
            self.judged.effects.push(Effect::Reads(place.into_owned()));
            return;
        }
        let lead = self.lead(&place);
        self.stays(slot, &place, &lead);
        self.reads_only &= self.may_read(slot, &lead);
        self.judged.effects.push(Effect::Reads(lead.resolved));
    }

    /// HIGH when a word names a secret, or a place outside.
    fn stays(&mut self, slot: &Slot<'w, 's>, place: &str, lead: &Lead) {
        self.secret(slot);
        if self.leaves(slot, place, lead) {
            self.high(self.name, Deed::TouchesOutside);
        }
    }

    /// A file that is written or deleted: HIGH also when it decides what runs or what is asked.
    fn changes(&mut self, slot: &Slot<'w, 's>, effect: fn(String) -> Effect) {
        if self.is_no_file(slot) {
            return;
        }
        let place = place_of(slot);
        self.secret(slot);
        let lead = self.lead(&place);
        let is_pattern = slot.word.known != Known::Fully && is_glob(&place);
        let known = self.known_places();
        let guards = match lead.sensitive {
            _ if is_pattern => known.could_be_guarded(&place),
            sensitive => sensitive.is_some(),
        };
        // Where a word leads that is only known when it runs, is unknown as with every other word.
        let is_sure = !slot.word.is_later() || points_away(&place) || guards;
        if is_sure && !lead.inside {
            self.high(self.name, Deed::TouchesOutside);
        } else if is_sure && guards {
            self.high(self.name, Deed::ChangesGuarded);
        }
        self.judged.effects.push(effect(lead.resolved));
        // `git log --output=x`: a reader that writes is not what a wildcard behind it was meant for.
        if slot.of_option && self.parsed.record.does == Some(Does::Reads) {
            self.judged.effects.push(Effect::Unknown);
        }
    }

    fn folder(&mut self, slot: &Slot<'w, 's>) {
        let place = place_of(slot);
        let lead = self.lead(&place);
        if points_away(&place) && lead.outside {
            self.high(self.name, Deed::TouchesOutside);
        }
        self.reads_only &= lead.inside && matches!(self.name, "cd" | "chdir" | "pushd");
        self.judged.folder = Some(if slot.is_whole() {
            slot.word.clone()
        } else {
            Word::made(slot.text.to_owned(), slot.word.known)
        });
    }

    fn mount(&mut self, slot: &Slot<'w, 's>) {
        // `$PWD` is where the shell stands.
        let text = ["${PWD}", "$PWD", "$(pwd)", "`pwd`"]
            .iter()
            .fold(slot.text.replace('"', ""), |text, pwd| text.replace(pwd, "."));
        let field = text
            .split(',')
            .filter_map(|field| field.split_once('='))
            .find(|(key, _)| matches!(key.trim(), "source" | "src"));
        let source = field.map(|(_, source)| source);
        let Some(source) = source.or_else(|| text.split_once(':').map(|(source, _)| source)) else {
            return;
        };
        if source.contains(['$', '`']) || !self.lead(source).inside {
            self.high(self.name, Deed::MountsMachine);
        }
    }

    fn data(&mut self, slot: &Slot<'w, 's>) {
        let sign = slot.text.find(['=', ':', '@']).and_then(|at| slot.text.get(at..));
        let names_file = |sign: &str| sign.starts_with('@') || sign.contains("=@") || sign.contains("=<");
        if sign.is_some_and(names_file) {
            self.high(self.name, Deed::SendsFile);
        }
        self.judged.effects.push(Effect::Changes);
    }

    fn is_harmless_code(&self, slot: &Slot<'w, 's>) -> bool {
        !slot.word.is_later() && self.parsed.record.is_harmless_code(slot.text)
    }

    fn code(&mut self, slot: &Slot<'w, 's>) {
        if slot.word.is_later() {
            self.high(self.name, Deed::CodeLater);
        } else if !self.is_harmless_code(slot) {
            self.high(self.name, Deed::CodeOnLine);
            self.judged.effects.push(Effect::Runs(self.name.to_owned()));
        }
    }

    fn script(&mut self, slot: &Slot<'w, 's>) {
        if slot.word.fixed().is_none() {
            self.high(self.name, Deed::CodeLater);
        } else if slot.is_input() || slot.text.contains("://") {
            self.high(self.name, Deed::RunsGiven);
        }
        let place = place_of(slot);
        let lead = self.lead(&place);
        self.stays(slot, &place, &lead);
        self.judged.effects.push(Effect::Runs(lead.resolved));
    }

    /// Where a symbolic link would lead, seen from the folder in which it is made.
    fn link(&mut self, slot: &Slot<'w, 's>) {
        let made = self.words.last().map_or("", |word| &*word.value);
        let folder = made.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let mut place = place_of(slot);
        if !place.starts_with(['/', '~']) {
            place = Cow::Owned(format!("{folder}/{place}"));
        }
        let lead = self.lead(&place);
        self.stays(slot, &place, &lead);
    }

    /// An archive or a patch. `tar` fetches `host:archive` from another machine. HIGH when a file that is unpacked decides what runs or
    /// what is asked.
    fn archive(&mut self, slot: &Slot<'w, 's>) {
        if slot.text.contains(':') {
            self.high(self.name, Deed::OtherMachine);
        }
        if slot.kind == Kind::Archive {
            return self.reads(slot);
        }
        self.any(slot);
        let files = self.places.unpacked(&self.lead(&place_of(slot)).resolved);
        for file in files.unwrap_or_default() {
            let lead = self.lead(&file);
            if lead.sensitive.is_some() {
                self.high(self.name, Deed::ChangesGuarded);
            } else if points_away(&file) && !lead.inside {
                self.high(self.name, Deed::TouchesOutside);
            }
        }
    }

    /// `NAME=value` behind `env` or `export`.
    fn variable(&mut self, slot: &Slot<'w, 's>) {
        let assigned = slot.word.shown();
        let is_harmless = super::is_harmless_assignment(&assigned, self.places.programs());
        if let Some(why) = super::variables(&[assigned], self.places) {
            self.judged.why.get_or_insert(why);
        }
        if self.name == "export" && !self.is_plain_export(slot.word) {
            self.high(self.name, Deed::ChangesVariables);
        }
        if !is_harmless {
            self.judged.effects.push(Effect::Unknown);
        }
    }

    /// `export NAME=value` is judged like `NAME=value`. In any other form the names it sets are unknown.
    fn is_plain_export(&self, word: &Word<'_>) -> bool {
        let (name, value) = word.value.split_once('=').unwrap_or((&word.value, ""));
        // To some shells what is not in quotes becomes several words, each with a name.
        let in_quotes = word
            .raw
            .split_once('=')
            .is_some_and(|(_, raw)| is_one_string(raw));
        is_variable(name)
            && !name.contains(['[', '+'])
            && (word.known == Known::Fully || in_quotes)
            && !word.raw.starts_with(['\'', '"'])
            && (!points_away(value) || self.lead(value).inside)
    }

    /// A word that is not known: it may be read, written, requested or run.
    fn any(&mut self, slot: &Slot<'w, 's>) {
        self.judged.effects.push(Effect::Unknown);
        self.reads_only = false;
        self.secret(slot);
        let text = guessed(slot, slot.text);
        self.hosts(slot, slot.text);
        if slot.text.contains("docker.sock") {
            self.high(self.name, Deed::MountsMachine);
        }
        let whole = place_of(slot);
        let known = self.known_places();
        let (mut leaves, mut guards) = (false, false);
        path_words::parts(&text, &mut |part| {
            let place = if part.len() == text.len() { &*whole } else { part };
            if place.is_empty() || place.contains("://") || known.devices.has(place) {
                return;
            }
            let lead = self.lead(place);
            leaves |= self.leaves(slot, place, &lead);
            // Of a pattern only the folders before it are known.
            let is_pattern = slot.word.known != Known::Fully && is_glob(place);
            guards |= match place
                .find(['*', '?', '['])
                .and_then(|at| place.get(..at)?.rfind('/'))
            {
                Some(at) if is_pattern => self.lead(place.get(..at).unwrap_or_default()).sensitive.is_some(),
                _ => !is_pattern && !place.starts_with('-') && lead.sensitive.is_some(),
            };
        });
        if leaves {
            self.high(self.name, Deed::TouchesOutside);
        } else if guards {
            self.high(self.name, Deed::ChangesGuarded);
        }
    }

    /// HIGH when a word names something secret.
    fn secret(&mut self, slot: &Slot<'w, 's>) {
        if self.judged.why.is_none() {
            self.judged.why = super::secret(slot.word, slot.text, self.places);
        }
    }

    /// Whether a place lies outside the workspace: it starts elsewhere, climbs, or lies behind a link.
    fn leaves(&self, slot: &Slot<'_, '_>, place: &str, lead: &Lead) -> bool {
        if let Some(place) = place.strip_prefix('@') {
            return self.leaves(slot, place, &self.lead(place));
        }
        if points_away(place) {
            let known = self.known_places();
            return !lead.inside && !known.devices.has(place) || matches!(place, "/" | "~");
        }
        // Of a word only known at run time the folders before the unknown part count.
        let known = if slot.word.is_later() {
            slot.text.trim_start_matches('@')
        } else {
            place
        };
        let certain = certain_part(known, slot.word.known);
        let is_file =
            slot.kind != Kind::Any || self.parsed.record.style != Style::Unknown || certain.contains('/');
        match certain {
            "" => false,
            _ if certain == place => is_file && lead.outside,
            _ => is_file && self.lead(certain).outside,
        }
    }

    /// Whether the place can be read without asking: it is inside the workspace and holds no secret.
    fn may_read(&self, slot: &Slot<'_, '_>, lead: &Lead) -> bool {
        if slot.word.is_later() || !lead.is_plain() {
            return false;
        }
        if slot.word.known == Known::Shape && is_glob(slot.text) {
            // What the shell makes of the pattern is looked up: a name may be a link, or look like an option.
            let starts_plain = !slot.text.starts_with(['*', '?', '[']);
            let is_plain = |path: &String| {
                (starts_plain || !super::base_name(path).starts_with('-')) && self.lead(path).is_plain()
            };
            let found = self.places.matching(&lead.resolved);
            return found.is_some_and(|found| found.iter().all(is_plain));
        }
        !self.parsed.is_deep() || self.is_harmless_below(&lead.resolved)
    }

    /// Whether it names no file of the disk: standard input, or a device that swallows or shows what is written to it.
    fn is_no_file(&self, slot: &Slot<'_, '_>) -> bool {
        let known = self.known_places();
        let is_device = slot.word.known == Known::Fully && known.devices.has(slot.text);
        matches!(slot.text, "" | "-") || is_device
    }
}

/// The path a slot stands for, or a guess at it.
fn place_of<'w>(slot: &Slot<'w, '_>) -> Cow<'w, str> {
    if let Some(path) = path_words::in_pathspec(slot.text) {
        return Cow::Borrowed(if path.is_empty() { "." } else { path });
    }
    if !slot.word.is_later() && slot.is_whole() {
        return working_folder::path_of(slot.word);
    }
    guessed(slot, slot.text)
}

/// A text, or a guess at it where it is only known when it runs.
fn guessed<'w>(slot: &Slot<'_, '_>, text: &'w str) -> Cow<'w, str> {
    if slot.word.is_later() {
        Cow::Owned(guess::of(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// The part of a path that is known before it runs and that every program reads alike: whole folders, if not all of it.
fn certain_part(path: &str, known: Known) -> &str {
    let odd = |c: char| {
        matches!(c, '\\' | ':') || c.is_control() || (known != Known::Fully && "*?[{$`".contains(c))
    };
    let Some(end) = path.find(odd) else { return path };
    let certain = path.get(..end).unwrap_or_default();
    let folders = certain.rfind('/').map_or(0, |at| at + 1);
    certain.get(..folders).unwrap_or_default()
}
