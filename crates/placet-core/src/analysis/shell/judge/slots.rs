//! What follows from one word of a command, by what it is to the program.

use std::borrow::Cow;

use super::super::super::path::{self, could_be_guarded};
use super::super::super::why::Deed;
use super::super::super::{Effect, Fact, FactKind};
use super::super::programs::{Does, Kind, Reading, Slot};
use super::super::word::{Known, Word};
use super::super::{glob, guess, hosts, named, target};
use super::{Args, Judged, does, is_variable};

/// One command while its words are looked at.
pub(super) struct Case<'j, 'w, 's> {
    pub(super) name: &'j str,
    pub(super) args: &'j Args<'w, 's>,
    pub(super) reading: Option<&'j Reading<'w, 's, 'j>>,
    pub(super) judged: &'j mut Judged<'w, 's>,
    /// Every file so far is one that may be read without asking.
    pub(super) reads_only: bool,
}

impl<'w, 's> Case<'_, 'w, 's> {
    pub(super) fn slot(&mut self, slot: &Slot<'w, 's>) {
        match slot.kind {
            Kind::Text | Kind::Exec | Kind::Line => {}
            Kind::Reads => self.reads(slot),
            Kind::Writes => self.changes(slot, Effect::Writes),
            Kind::Deletes => self.changes(slot, Effect::Deletes),
            Kind::Folder => self.folder(slot),
            Kind::Url => self.hosts(hosts::web(&text_of(slot))),
            Kind::Host => self.hosts(hosts::named(&text_of(slot))),
            Kind::Image => self.hosts(hosts::image(&text_of(slot))),
            Kind::Socket => self.hosts(hosts::socket(&text_of(slot))),
            Kind::Login => self.hosts(hosts::login(&text_of(slot))),
            Kind::Route => self.hosts(hosts::route(&text_of(slot))),
            Kind::Remote => match hosts::remote(&text_of(slot)) {
                facts if facts.is_empty() && slot.text.contains('/') => self.reads(slot),
                facts => self.hosts(facts),
            },
            Kind::Copy => match hosts::remote(&text_of(slot)) {
                facts if facts.is_empty() => self.changes(slot, Effect::Writes),
                facts => self.hosts(facts),
            },
            Kind::Mount => self.mount(slot),
            Kind::Data => self.data(slot),
            Kind::Code => self.code(slot),
            Kind::Expression => {
                if !self.is_harmless_code(slot) {
                    self.judged.effects.push(Effect::Unknown);
                }
            }
            Kind::Script => self.script(slot),
            Kind::Unpacks => self.unpacks(slot),
            Kind::Link => self.link(slot),
            Kind::Variable => self.variable(slot),
            Kind::Name => {
                if slot
                    .word
                    .fixed()
                    .is_some_and(|name| self.args.places.programs().is_steering_variable(name))
                {
                    self.high(self.name, Deed::ChangesVariables);
                }
            }
            Kind::Any => self.any(slot),
        }
    }

    /// A program that reads everything below its folders reads this one when it is given none.
    pub(super) fn reads_here(&mut self) {
        let deep = self.reading.filter(|reading| reading.deep);
        let has_place =
            |reading: &Reading<'_, '_, '_>| reading.slots.iter().any(|slot| slot.kind == Kind::Reads);
        if deep.is_some_and(|reading| !has_place(reading)) {
            let here = self.resolved(".");
            self.reads_only &= self.is_harmless_below(&here);
            self.judged.effects.push(Effect::Reads(here));
        }
    }

    fn is_harmless_below(&self, folder: &str) -> bool {
        let places = self.args.places;
        places
            .below(folder)
            .is_some_and(|found| found.iter().all(|path| is_plain_file(path, places)))
    }

    fn high(&mut self, what: &str, deed: Deed) {
        self.judged.why.get_or_insert_with(|| does(what, deed));
    }

    fn hosts(&mut self, facts: Vec<Fact>) {
        for fact in &facts {
            if let FactKind::Host { host, .. } = &fact.kind {
                self.judged.effects.push(Effect::Host(host.clone()));
            }
        }
        self.judged.hosts.extend(facts);
    }

    /// A file that is read: HIGH when it is secret or outside.
    fn reads(&mut self, slot: &Slot<'w, 's>) {
        if slot.text == "-" || slot.text.is_empty() {
            return;
        }
        let place = place_of(slot);
        if is_device(slot) {
            return;
        }
        if self.args.places.programs().is_public_file(&place) {
            self.reads_only = false;
            self.judged.effects.push(Effect::Reads(place.into_owned()));
            return;
        }
        self.secret(slot);
        if self.leaves(slot, &place) {
            self.high(self.name, Deed::TouchesOutside);
        }
        self.reads_only &= self.may_read(slot, &place);
        let effect = Effect::Reads(self.resolved(&place));
        self.judged.effects.push(effect);
    }

    /// A file that is written or deleted: HIGH also when it decides what runs or what is asked.
    fn changes(&mut self, slot: &Slot<'w, 's>, effect: fn(String) -> Effect) {
        if slot.text.is_empty() || slot.text == "-" || is_device(slot) {
            return;
        }
        let place = place_of(slot);
        self.secret(slot);
        let contains = self.args.standing.contains_path(&place, self.args.places);
        if slot.word.is_later() && !target::points_away(&place) && !self.guards(slot, &place) {
            // Where it leads is only known when it runs, as with every other word.
        } else if !contains {
            self.high(self.name, Deed::TouchesOutside);
        } else if self.guards(slot, &place) {
            self.high(self.name, Deed::ChangesGuarded);
        }
        let effect = effect(self.resolved(&place));
        self.judged.effects.push(effect);
        // `git log --output=x`: a reader that writes is not what a wildcard behind it was meant for.
        let form = self.reading.map(|reading| reading.form);
        let reads = form.is_some_and(|form| form.does == Some(Does::Reads) && !form.writes_operands());
        if slot.of_option && reads {
            self.judged.effects.push(Effect::Unknown);
        }
    }

    fn folder(&mut self, slot: &Slot<'w, 's>) {
        let place = place_of(slot);
        if target::points_away(&place) && self.args.standing.leaves(&place, self.args.places) {
            self.high(self.name, Deed::TouchesOutside);
        }
        let elsewhere = !self.args.standing.contains_path(&place, self.args.places);
        self.reads_only &= !elsewhere && matches!(self.name, "cd" | "chdir" | "pushd");
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
        let source = match field {
            Some((_, source)) => Some(source),
            None => text.split_once(':').map(|(source, _)| source),
        };
        let Some(source) = source else { return };
        if source.contains(['$', '`']) || !self.args.standing.contains_path(source, self.args.places) {
            self.high(self.name, Deed::MountsMachine);
        }
    }

    fn data(&mut self, slot: &Slot<'w, 's>) {
        let sign = slot.text.find(['=', ':', '@']).and_then(|at| slot.text.get(at..));
        let names_file = sign
            .is_some_and(|sign| sign.starts_with('@') || sign.starts_with("=@") || sign.starts_with("=<"));
        if names_file {
            self.high(self.name, Deed::SendsFile);
        }
        self.judged.effects.push(Effect::Changes);
    }

    fn is_harmless_code(&self, slot: &Slot<'w, 's>) -> bool {
        let form = self.reading.map(|reading| reading.form);
        !slot.word.is_later() && form.is_some_and(|form| form.is_harmless_code(slot.text))
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
        let given = matches!(slot.text, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
            || slot.text.contains("://");
        let place = place_of(slot);
        self.secret(slot);
        if slot.word.fixed().is_none() {
            self.high(self.name, Deed::CodeLater);
        } else if given {
            self.high(self.name, Deed::RunsGiven);
        } else if self.leaves(slot, &place) {
            self.high(self.name, Deed::TouchesOutside);
        }
        let effect = Effect::Runs(self.resolved(&place));
        self.judged.effects.push(effect);
    }

    /// Where a symbolic link would lead, seen from the folder in which it is made.
    fn link(&mut self, slot: &Slot<'w, 's>) {
        let made = self.args.words.last().map_or("", |word| word.value.as_str());
        let folder = made.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let place = place_of(slot);
        let place = if place.starts_with(['/', '~']) {
            place
        } else {
            Cow::Owned(format!("{folder}/{place}"))
        };
        self.secret(slot);
        if self.leaves(slot, &place) {
            self.high(self.name, Deed::TouchesOutside);
        }
    }

    /// A patch or an archive: HIGH when a file in it decides what runs or what is asked.
    fn unpacks(&mut self, slot: &Slot<'w, 's>) {
        self.any(slot);
        let (standing, places) = (self.args.standing, self.args.places);
        let files = places
            .unpacked(&self.resolved(&place_of(slot)))
            .unwrap_or_default();
        if files.iter().any(|file| standing.guards(file, places)) {
            self.high(self.name, Deed::ChangesGuarded);
        } else if files
            .iter()
            .any(|file| target::points_away(file) && !standing.contains_path(file, places))
        {
            self.high(self.name, Deed::TouchesOutside);
        }
    }

    /// `NAME=value` behind `env` or `export`.
    fn variable(&mut self, slot: &Slot<'w, 's>) {
        let assigned = [slot.word.shown()];
        if let Some(why) = super::variables(&assigned, self.args.places) {
            self.judged.why.get_or_insert(why);
        }
        if self.name == "export" && !self.is_plain_export(slot.word) {
            self.high(self.name, Deed::ChangesVariables);
        }
        if !super::is_harmless_assignment(&assigned[0], self.args.places.programs()) {
            self.judged.effects.push(Effect::Unknown);
        }
    }

    /// `export NAME=value` is judged like `NAME=value`. In any other form the names it sets are unknown.
    fn is_plain_export(&self, word: &Word<'_>) -> bool {
        let (name, value) = word.value.split_once('=').unwrap_or((&word.value, ""));
        // To some shells what is not in quotes becomes several words, each with a name.
        let in_quotes = word.raw.split_once('=').is_some_and(|(_, raw)| {
            let inside = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
            inside.is_some_and(|inside| !inside.contains(['"', '@']))
        });
        let outside =
            target::points_away(value) && !self.args.standing.contains_path(value, self.args.places);
        is_variable(name)
            && !name.contains(['[', '+'])
            && (word.known == Known::Fully || in_quotes)
            && !word.raw.starts_with(['\'', '"'])
            && !outside
    }

    /// A word that is not known: it may be read, written, requested or run.
    fn any(&mut self, slot: &Slot<'w, 's>) {
        self.judged.effects.push(Effect::Unknown);
        self.reads_only = false;
        self.secret(slot);
        self.hosts(hosts::in_text(&text_of(slot)));
        if slot.text.contains("docker.sock") {
            self.high(self.name, Deed::MountsMachine);
        }
        let guess = slot.word.is_later().then(|| guess::of(slot.text));
        let text = guess.as_deref().unwrap_or(slot.text);
        let whole = place_of(slot);
        let (mut leaves, mut guards) = (false, false);
        named::parts(text, &mut |part| {
            let place = if part.len() == text.len() { &*whole } else { part };
            if place.is_empty() || place.contains("://") || target::is_harmless_device(place) {
                return;
            }
            leaves |= self.leaves(slot, place);
            let folder = match place.find(['*', '?', '[']) {
                Some(at) if slot.word.known != Known::Fully => {
                    let fixed = place.get(..at).unwrap_or_default();
                    fixed.rsplit_once('/').map_or("", |(folder, _)| folder)
                }
                _ => place,
            };
            guards |= !folder.is_empty()
                && !folder.starts_with('-')
                && self.args.standing.guards(folder, self.args.places);
        });
        if leaves {
            self.high(self.name, Deed::TouchesOutside);
        } else if guards {
            self.high(self.name, Deed::ChangesGuarded);
        }
    }

    /// HIGH when a word names something secret.
    fn secret(&mut self, slot: &Slot<'w, 's>) {
        let text = |text: &str| target::sensitive(text);
        let guessed = || slot.word.is_later().then(|| guess::of(slot.text));
        let deed = text(slot.text).or_else(|| guessed().and_then(|guess| text(&guess)));
        if let Some(deed) = deed {
            self.high(&slot.word.raw, deed);
        }
    }

    /// Whether a place lies outside the workspace: it starts elsewhere, climbs, or lies behind a link.
    fn leaves(&self, slot: &Slot<'_, '_>, place: &str) -> bool {
        let standing = self.args.standing;
        let place = place.trim_start_matches('@');
        if target::points_away(place) {
            return place.len() > 1
                && !target::is_harmless_device(place)
                && !standing.contains_path(place, self.args.places)
                || place == "/"
                || place == "~";
        }
        // Of a word only known at run time the folders before the unknown part count.
        let known = if slot.word.is_later() {
            slot.text.trim_start_matches('@')
        } else {
            place
        };
        let certain = certain_part(known, slot.word.known);
        let names_file = slot.kind != Kind::Any || self.reading.is_some() || certain.contains('/');
        names_file && !certain.is_empty() && standing.leaves(certain, self.args.places)
    }

    fn guards(&self, slot: &Slot<'_, '_>, place: &str) -> bool {
        if glob::is_glob(place) && slot.word.known != Known::Fully {
            return could_be_guarded(place);
        }
        !place.is_empty() && self.args.standing.guards(place, self.args.places)
    }

    /// Whether the place can be read without asking: it is inside the workspace and holds no secret.
    fn may_read(&self, slot: &Slot<'_, '_>, place: &str) -> bool {
        let (standing, places) = (self.args.standing, self.args.places);
        if slot.word.is_later() || !standing.contains_path(place, places) {
            return false;
        }
        let resolved = self.resolved(place);
        if glob::is_glob(slot.text) && slot.word.known == Known::Shape {
            // What the shell makes of the pattern is looked up: a name may be a link, or look like an option.
            let Some(found) = places.matching(&resolved) else {
                return false;
            };
            let starts_plain = !slot.text.starts_with(['*', '?', '[']);
            return found.iter().all(|path| {
                let name = super::base_name(path);
                (starts_plain || !name.starts_with('-')) && is_plain_file(path, places)
            });
        }
        if self.reading.is_some_and(|reading| reading.deep) {
            return self.is_harmless_below(&resolved);
        }
        is_plain_file(&resolved, places)
    }

    /// The place seen from where the shell stands, links followed.
    fn resolved(&self, place: &str) -> String {
        let folder = match self.args.standing {
            target::Standing::In(folders) => folders.first().map_or("", String::as_str),
            target::Standing::Lost => self.args.places.workspace(),
        };
        path::inside(folder, place, self.args.places).unwrap_or_else(|| {
            let meanings = path::meanings(folder, place, self.args.places);
            meanings.into_iter().next().unwrap_or_default()
        })
    }
}

/// Whether a path is inside the workspace and neither secret nor a link out of it.
pub(in super::super) fn is_plain_file(path: &str, places: &dyn super::Places) -> bool {
    match path::place(path, places) {
        path::Placed::Inside { sensitive, .. } => !matches!(sensitive, Some(path::Sensitive::Secret)),
        path::Placed::Outside { .. } | path::Placed::Unreadable { .. } => false,
    }
}

fn is_device(slot: &Slot<'_, '_>) -> bool {
    slot.word.known == Known::Fully && target::is_harmless_device(slot.text)
}

/// The path in a pathspec of git: `:/secrets` and `:(top)secrets` start at the workspace.
fn in_pathspec(text: &str) -> Option<&str> {
    let magic = text.strip_prefix(':')?;
    let long = || magic.strip_prefix('(')?.split_once(')').map(|(_, path)| path);
    magic.strip_prefix(['/', '!', '^']).or_else(long)
}

/// The path a slot stands for, or a guess at it.
fn place_of<'w>(slot: &Slot<'w, '_>) -> Cow<'w, str> {
    if let Some(path) = in_pathspec(slot.text) {
        return Cow::Borrowed(if path.is_empty() { "." } else { path });
    }
    if slot.word.is_later() {
        Cow::Owned(guess::of(slot.text))
    } else if slot.is_whole() {
        target::path_of(slot.word)
    } else {
        Cow::Borrowed(slot.text)
    }
}

fn text_of<'w>(slot: &Slot<'w, '_>) -> Cow<'w, str> {
    if slot.word.is_later() {
        Cow::Owned(guess::of(slot.text))
    } else {
        Cow::Borrowed(slot.text)
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
