//! Simple commands: their words are read, what they do is judged, and what they run in turn is walked.

use std::borrow::Cow;

use placet_core::analysis::{Ban, Doubt, Effect, Fact, FactKind, Why};
use placet_core::tool::Risk;

use super::super::judge::{self, Fed, Inner, Simple};
use super::super::tree::Node;
use super::super::word::{Known, Word};
use super::super::{SHELLS_MAX, guess, path_words, working_folder};
use super::redirect::stray_words;
use super::{Source, Walk, is_simple};

/// More words of an input than these are not looked at one by one; whatever takes them is not known anyway.
const INPUT_WORDS_MAX: usize = 200;

impl<'s> Simple<'s> {
    pub(super) fn of(words: Vec<Word<'s>>, text: impl Into<Cow<'s, str>>) -> Self {
        Self {
            words,
            open: false,
            assignments: Vec::new(),
            text: text.into(),
        }
    }

    /// What it prints, when that is plain: `echo a b`, or its input. Most programs behind a known input pass some of it on.
    pub(super) fn prints(&self, fed: &Fed) -> Fed {
        let mut words = self.words.iter().map(Word::fixed);
        match words.next().flatten() {
            Some("echo" | "printf") => words
                .collect::<Option<Vec<_>>>()
                .map_or(Fed::Later, |words| Fed::Text(words.join(" "))),
            Some("cat") if words.next().is_none() && *fed == Fed::File => Fed::File,
            _ if matches!(fed, Fed::Text(_)) => fed.clone(),
            _ => Fed::Later,
        }
    }
}

impl Walk<'_> {
    /// One program, given its words one by one.
    pub(in super::super) fn words(&mut self, words: &[&str]) {
        let made = words.iter().map(|word| Word {
            raw: Cow::Borrowed(*word),
            value: Cow::Borrowed(*word),
            known: Known::Fully,
        });
        self.command(&Simple::of(made.collect(), words.join(" ")), &[]);
    }

    /// The simple command at `node`, if one is there, with further words.
    pub(super) fn simple<'s, 't>(
        &mut self,
        node: Node<'t>,
        strays: impl Iterator<Item = Node<'t>>,
        source: Source<'s>,
    ) -> Simple<'s> {
        let mut command = Simple::of(Vec::with_capacity(8), source.of(node));
        for child in node.children().filter(|_| is_simple(node)) {
            match child.kind() {
                "variable_assignment" if node.kind() == "command" => {
                    command.assignments.push(source.of(child).to_owned());
                }
                "comment" | "subshell" => {}
                _ => self.add_words(child, source, &mut command.words),
            }
        }
        for stray in strays {
            self.add_words(stray, source, &mut command.words);
        }
        command
    }

    /// Adds the words of an argument, of a redirection that has words of the command, and of the expression inside `[ … ]`, which the
    /// grammar builds into a tree.
    fn add_words<'s>(&mut self, node: Node<'_>, source: Source<'s>, words: &mut Vec<Word<'s>>) {
        match node.kind() {
            "unary_expression"
            | "binary_expression"
            | "ternary_expression"
            | "parenthesized_expression"
            | "postfix_expression"
            | "redirected_statement" => {
                for child in node.children() {
                    self.add_words(child, source, words);
                }
            }
            _ if node.is_redirect() => {
                for stray in stray_words(node) {
                    self.add_words(stray, source, words);
                }
            }
            _ => {
                let is_first = words.is_empty();
                if let Err(doubt) = Word::read_into(node, source.text, words) {
                    self.doubt(source.of(node), doubt);
                }
                // A list of words in a command's place: to a shell without braces it is one name.
                if let ([first, _, ..], true) = (&mut **words, is_first) {
                    first.raw = source.of(node).into();
                    first.known = first.known.max(Known::Shape);
                }
            }
        }
    }

    /// A loop sets its variable to each of its words.
    pub(super) fn loop_variable(&mut self, node: Node<'_>, source: Source<'_>) {
        let mut variable = "";
        let mut words = Vec::new();
        for child in node.named_children() {
            match child.kind() {
                "variable_name" => variable = source.of(child),
                "do_group" | "compound_statement" | "comment" => {}
                _ => self.add_words(child, source, &mut words),
            }
        }
        for word in &words {
            self.values.set(variable, &word.value);
        }
        let assignment = |word: &Word<'_>| {
            let guess = word.guess();
            format!("{variable}={}", guess.as_deref().unwrap_or(&word.value))
        };
        let assignments: Vec<String> = words.iter().map(assignment).collect();
        if let Some(why) = self.assigned(&assignments) {
            self.set(
                vec![variable.to_owned()],
                source.of(node),
                source.under,
                Some(why),
            );
        }
    }

    pub(super) fn assignment(&mut self, node: Node<'_>, source: Source<'_>) {
        let one = (node.kind() == "variable_assignment").then_some(node);
        let several = node.named_children().filter(|_| one.is_none());
        let assignments = one.into_iter().chain(several);
        let assignments: Vec<String> = assignments.map(|node| source.of(node).to_owned()).collect();
        let why = self.assigned(&assignments);
        self.set(assignments, source.of(node), source.under, why);
        self.inside(node, source);
    }

    /// Why setting these variables is HIGH, if it is. A path in a variable is there to be used.
    fn assigned(&self, assignments: &[String]) -> Option<Why> {
        let outside = |text: &&String| {
            let value = text.split_once('=').map_or("", |(_, value)| value);
            let path = guess::of(value.trim_matches(['\'', '"']));
            working_folder::points_away(&path) && !self.working_folder.lead(&path, self.places).inside
        };
        judge::variables(assignments, self.places).or_else(|| {
            let word = assignments.iter().find(outside)?.clone();
            Some(Why::MaybeOutside { word })
        })
    }

    /// Notes variables that are set without a command.
    pub(super) fn set(&mut self, assignments: Vec<String>, text: &str, under: &[String], why: Option<Why>) {
        let command = Simple {
            assignments,
            ..Simple::of(Vec::new(), text)
        };
        self.push(&command, under, why, vec![Effect::Unknown], Risk::Medium);
    }

    pub(super) fn function(&mut self, node: Node<'_>, source: Source<'_>) {
        let name = node.named_children().find(|child| child.kind() == "word");
        let name = name.map(|name| source.of(name)).unwrap_or_default();
        let words = ["function", name].map(|word| Word::made(word, Known::Fully));
        let command = Simple::of(words.into(), source.of(node));
        let why = Why::StandsIn {
            name: name.to_owned(),
        };
        let unknown = vec![Effect::Unknown];
        self.push(&command, source.under, Some(why), unknown, Risk::Medium);
        if pipes_into_itself(node, name, source) {
            self.ban(Ban::ForkBomb {
                name: name.to_owned(),
            });
        }
    }

    /// Judges one simple command, then whatever it runs in turn.
    pub(super) fn command(&mut self, command: &Simple<'_>, under: &[String]) {
        let Some((first, rest)) = command.words.split_first() else {
            return;
        };
        let name = judge::name_of(first);
        let judged = judge::command(
            command,
            (first, rest),
            &self.fed,
            &self.working_folder,
            self.places,
        );
        let risk = if judged.harmless { Risk::Low } else { Risk::Medium };
        self.push(command, under, judged.why, judged.effects, risk);
        let at = self.found.facts.len().saturating_sub(1);
        self.found.acts.extend(judged.act.map(|act| (at, act)));
        let text = match &self.fed {
            Fed::Text(text) if judged.opens_input || judged.runs_input => Some(text.clone()),
            _ => None,
        };
        if let (Some(text), true) = (&text, judged.opens_input) {
            self.name_input(text);
        }
        self.reached = None;
        let Some(name) = name else { return };
        self.found.facts.extend(judged.hosts);
        if let Some(why) = judged.banned {
            self.ban(why);
        }
        if matches!(&*name, "cd" | "chdir" | "pushd" | "popd") {
            let to = rest
                .iter()
                .find(|word| !matches!(&*word.value, "-L" | "-P" | "-e" | "-@" | "--"));
            let to = to.filter(|word| !word.value.starts_with(['+', '-']));
            let reached = self.working_folder.go(to, self.places);
            self.reached = under.is_empty().then_some(reached);
            return;
        }
        let into = judged
            .folder
            .as_ref()
            .map(|folder| self.working_folder.clone().go(Some(folder), self.places));
        let before = into.map(|into| std::mem::replace(&mut self.working_folder, into));
        self.inner(judged.inner, &name, &command.text, under);
        if let (Some(text), true) = (text, judged.runs_input) {
            let under: Vec<String> = under.iter().cloned().chain([name.to_string()]).collect();
            let fed = std::mem::take(&mut self.fed);
            self.line(&text, &under);
            self.fed = fed;
        }
        if let Some(before) = before {
            self.working_folder = before;
        }
    }

    fn inner(&mut self, inner: Vec<Inner<'_, '_>>, name: &str, text: &str, under: &[String]) {
        if inner.is_empty() {
            return;
        }
        if under.len() >= 2 * SHELLS_MAX {
            return self.doubt(text, Doubt::TooDeep);
        }
        let under: Vec<String> = under.iter().cloned().chain([name.to_owned()]).collect();
        for inner in inner {
            match inner {
                Inner::Line(line) => self.line(&line, &under),
                Inner::Words { words, open } => {
                    let text = words.iter().map(|word| &*word.raw).collect::<Vec<_>>().join(" ");
                    let command = Simple {
                        open,
                        ..Simple::of(words.into_owned(), text)
                    };
                    self.command(&command, &under);
                }
            }
        }
    }

    /// The paths that these words and assignments may name.
    pub(super) fn named(&self, words: &[Word<'_>], assignments: &[String]) -> Vec<String> {
        path_words::of(
            words,
            assignments,
            &self.values,
            &self.working_folder,
            self.places,
        )
    }

    /// The files that a text on a command's input may name, added to those of the command.
    fn name_input(&mut self, text: &str) {
        let words: Vec<Word<'_>> = text
            .split_whitespace()
            .take(INPUT_WORDS_MAX)
            .map(|word| Word::made(word, Known::Fully))
            .collect();
        let more = self.named(&words, &[]);
        if let Some(FactKind::Command { paths, .. }) = self.found.facts.last_mut().map(|fact| &mut fact.kind)
        {
            paths.extend(more);
        }
        if let (Some(why), Some(fact)) = (judge::words(&words, self.places), self.found.facts.last_mut()) {
            fact.risk = Risk::High;
            fact.why.get_or_insert(why);
        }
    }

    fn push(
        &mut self,
        command: &Simple<'_>,
        under: &[String],
        why: Option<Why>,
        effects: Vec<Effect>,
        risk: Risk,
    ) {
        self.commands += 1;
        let declared = command.words.iter().map(|word| &*word.value);
        let assigned = command.assignments.iter().map(String::as_str);
        for text in assigned.chain(declared.filter(|text| text.contains('='))) {
            self.values.assign(text);
        }
        let paths = self.named(&command.words, &command.assignments);
        let programs = self.places.programs();
        let steers = |text: &&String| !judge::is_harmless_assignment(text, programs);
        let kind = FactKind::Command {
            argv: command.words.iter().map(Word::shown).collect(),
            text: command.text.clone().into_owned(),
            dynamic: command.open || command.words.iter().any(Word::is_later),
            assignments: command.assignments.iter().filter(steers).cloned().collect(),
            under: under.to_vec(),
            effects,
            paths,
        };
        let risk = if why.is_some() { Risk::High } else { risk };
        self.found.facts.push(Fact { kind, risk, why });
    }
}

fn pipes_into_itself(body: Node<'_>, name: &str, source: Source<'_>) -> bool {
    let calls = |node: Node<'_>| {
        node.children()
            .find(|child| child.kind() == "command_name")
            .is_some_and(|called| source.of(called) == name)
    };
    let piped = body.kind() == "pipeline" && body.named_children().filter(|child| calls(*child)).count() > 1;
    piped
        || body
            .named_children()
            .any(|child| pipes_into_itself(child, name, source))
}
