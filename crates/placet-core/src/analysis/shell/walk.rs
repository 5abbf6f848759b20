//! The walk over a parsed line: finds every simple command and every redirection, in order of appearance.

mod redirect;

use std::borrow::Cow;

use super::super::why::{Ban, Doubt, Why};
use super::super::{Analysis, Effect, Fact, FactKind, Places};
use super::judge::{self, Args, Fed, Inner};
use super::target::{self, Standing};
use super::tree::{Node, Tree};
use super::word::{Known, Word};
use super::{SHELLS_MAX, Start, guess, named, sound, unreadable};
use crate::tool::Risk;
use redirect::{is_redirect, stray_words};

/// More words of an input than these are not looked at one by one; whatever takes them is not known anyway.
const INPUT_WORDS_MAX: usize = 200;

/// One analysis in progress.
pub(super) struct Walk<'a> {
    places: &'a dyn Places,
    found: &'a mut Analysis,
    standing: Standing,
    /// Where the last command leads, when it is a `cd` and succeeds.
    reached: Option<Standing>,
    /// What variables were set to so far.
    values: named::Values,
    /// What the next command finds on its input.
    fed: Fed,
    /// What the last command of the list or pipeline at hand finds there.
    fed_last: Option<Fed>,
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

/// A simple command: its words, and the variables set for it.
struct Simple<'s> {
    words: Vec<Word<'s>>,
    /// More words are added when it runs.
    open: bool,
    assignments: Vec<String>,
    text: Cow<'s, str>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(places: &'a dyn Places, found: &'a mut Analysis) -> Self {
        Self {
            standing: Standing::start(places),
            places,
            found,
            reached: None,
            values: named::Values::default(),
            fed: Fed::Nothing,
            fed_last: None,
            commands: 0,
        }
    }

    /// Begins where the caller says.
    pub(super) fn start(&mut self, start: &Start<'_>) {
        if let Some(folder) = start.folder {
            let word = Word::made(folder.to_owned(), Known::Fully);
            let mut standing = self.standing.clone();
            self.standing = standing.go(Some(&word), self.places);
        }
        if let Some(input) = start.input {
            self.fed = Fed::Text(input.to_owned());
        }
        if !start.variables.is_empty() {
            let command = Simple {
                words: Vec::new(),
                open: false,
                assignments: start.variables.to_vec(),
                text: start.variables.join(" ").into(),
            };
            let why = judge::variables(start.variables, self.places);
            self.push(&command, &[], why, vec![Effect::Unknown], Risk::Medium);
        }
    }

    /// One program, given its words one by one.
    pub(super) fn words(&mut self, words: &[&str]) {
        let made = words.iter().map(|word| Word {
            raw: Cow::Borrowed(*word),
            value: (*word).to_owned(),
            known: Known::Fully,
        });
        let command = Simple {
            words: made.collect(),
            open: false,
            assignments: Vec::new(),
            text: words.join(" ").into(),
        };
        self.command(&command, &[], Given::OnTheLine);
    }

    /// How many simple commands were found.
    pub(super) const fn commands(&self) -> usize {
        self.commands
    }

    /// Reads one line that a shell would run under `under`.
    pub(super) fn line(&mut self, line: &str, under: &[String]) {
        if let Some(doubt) = sound::unfit(line) {
            return self.doubt(line, doubt);
        }
        if under.len() > SHELLS_MAX {
            return self.doubt(line, Doubt::ShellsTooDeep);
        }
        let tree = match Tree::parse(line) {
            Ok(tree) => tree,
            Err(doubt) => return self.doubt(line, doubt),
        };
        let Some(root) = tree.root() else {
            return self.doubt(line, Doubt::Unparsed);
        };
        if let Some(doubt) = sound::doubt(root, line) {
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
            "command" | "declaration_command" | "unset_command" | "test_command" => {
                self.simple(node, source, Vec::new());
            }
            "redirected_statement" => self.redirected(node, source, Vec::new(), &|_| {}),
            "pipeline" => self.pipeline(node, source),
            "variable_assignment" | "variable_assignments" => self.assignment(node, source),
            "function_definition" => self.function(node, source),
            "file_redirect" => self.redirect(node, source),
            "heredoc_redirect" => {
                // Its stray words are looked into with the command they belong to.
                let mut strays = Vec::new();
                stray_words(node, &mut strays);
                for part in node.named_children().filter(|part| !strays.contains(part)) {
                    // `cat <<E | sh`: the grammar hangs what follows on the here-document.
                    self.fed = redirect::fed_by(node, source).unwrap_or_default();
                    self.visit(part, source);
                }
            }
            "compound_statement" if source.of(node).starts_with("((") => {
                self.doubt(source.of(node), Doubt::Arithmetic);
                self.inside(node, source);
            }
            "for_statement" | "c_style_for_statement" | "while_statement" => {
                self.lose_standing_if_it_moves(node, source);
                if node.kind() == "for_statement" {
                    self.loop_variable(node, source);
                }
                self.children(node, source);
            }
            "list" => self.list(node, source, &|_| {}),
            _ => self.children(node, source),
        }
    }

    fn children(&mut self, node: Node<'_>, source: Source<'_>) {
        for child in node.named_children() {
            self.visit(child, source);
        }
    }

    /// Looks into a word or an expression for substitutions.
    fn inside(&mut self, node: Node<'_>, source: Source<'_>) {
        match node.kind() {
            "command_substitution" | "process_substitution" | "subshell" | "file_redirect" => {
                self.visit(node, source);
            }
            _ => {
                for child in node.named_children() {
                    self.inside(child, source);
                }
            }
        }
    }

    /// `a && b`: where a `cd` leads is certain for what only runs when it succeeded. `then` is called where `b` runs.
    fn list(&mut self, node: Node<'_>, source: Source<'_>, then: &dyn Fn(&mut Self)) {
        let mut children = node.children();
        let (Some(left), Some(operator), Some(right)) = (children.next(), children.next(), children.next())
        else {
            self.children(node, source);
            return then(self);
        };
        self.reached = None;
        let fed_last = self.fed_last.take();
        self.visit(left, source);
        self.fed_last = fed_last;
        let reached = self
            .reached
            .take()
            .filter(|_| operator.kind() == "&&" && ends_in_command(left));
        if let Some(reached) = reached {
            let before = std::mem::replace(&mut self.standing, reached);
            self.feed_last();
            self.visit(right, source);
            then(self);
            let after = std::mem::replace(&mut self.standing, before);
            // What follows with another `&&` runs there too.
            self.reached.get_or_insert_with(|| after.clone());
            self.standing = std::mem::replace(&mut self.standing, Standing::Lost).or(&after);
        } else {
            self.feed_last();
            self.visit(right, source);
            then(self);
        }
        for child in children.filter(|child| child.is_named()) {
            self.visit(child, source);
        }
    }

    /// What is redirected into a list or a pipeline goes to its last command.
    fn feed_last(&mut self) {
        if let Some(fed) = self.fed_last.take() {
            self.fed = fed;
        }
    }

    /// A loop sets its variable to each of its words.
    fn loop_variable(&mut self, node: Node<'_>, source: Source<'_>) {
        let mut variable = "";
        let mut words = Vec::new();
        for child in node.named_children() {
            match child.kind() {
                "variable_name" => variable = source.of(child),
                "do_group" | "compound_statement" | "comment" => {}
                _ => {
                    if let Err(doubt) = Word::read_into(child, source.text, &mut words) {
                        self.doubt(source.of(node), doubt);
                    }
                }
            }
        }
        for word in &words {
            self.values.set(variable, &word.value);
        }
        let why = if self.places.programs().is_steering_variable(variable) {
            let name = variable.to_owned();
            Some(Why::Variable { name })
        } else {
            let outside = |word: &&Word<'_>| {
                target::points_away(&word.value) && !self.standing.contains(word, self.places)
            };
            let leads_out = |word: &Word<'_>| Why::MaybeOutside {
                word: word.raw.to_string(),
            };
            judge::words(&words, self.places).or_else(|| words.iter().find(outside).map(leads_out))
        };
        if why.is_some() {
            let command = Simple {
                words: Vec::new(),
                open: false,
                assignments: vec![variable.to_owned()],
                text: source.of(node).into(),
            };
            self.push(&command, source.under, why, vec![Effect::Unknown], Risk::Medium);
        }
    }

    /// What a loop or a function runs again starts where its own `cd` left off.
    fn lose_standing_if_it_moves(&mut self, node: Node<'_>, source: Source<'_>) {
        if ["cd", "pushd", "popd"]
            .iter()
            .any(|word| source.of(node).contains(word))
        {
            self.standing = Standing::Lost;
        }
    }

    fn simple<'t>(&mut self, node: Node<'t>, source: Source<'_>, mut extra: Vec<Node<'t>>) {
        let mut command = Simple {
            words: Vec::new(),
            open: false,
            assignments: Vec::new(),
            text: source.of(node).into(),
        };
        let mut words: Vec<Node<'t>> = Vec::new();
        if is_simple(node) {
            for child in node.children() {
                match child.kind() {
                    "variable_assignment" if node.kind() == "command" => {
                        command.assignments.push(source.of(child).to_owned());
                    }
                    "comment" | "subshell" => {}
                    _ if is_redirect(child) => {
                        stray_words(child, &mut extra);
                        if let Some(fed) = redirect::fed_by(child, source) {
                            self.fed = fed;
                        }
                    }
                    _ => expression_words(child, &mut words),
                }
            }
        }
        words.extend(&extra);
        words.sort_by_key(|word| word.start_byte());
        for (nth, word) in words.into_iter().enumerate() {
            if let Err(doubt) = Word::read_into(word, source.text, &mut command.words) {
                self.doubt(source.of(node), doubt);
            }
            // A list of words in a command's place: to a shell without braces it is one name.
            if let ([first, _, ..], 0) = (&mut *command.words, nth) {
                first.raw = source.of(word).into();
                first.known = first.known.max(Known::Shape);
            }
        }
        self.command(&command, source.under, Given::OnTheLine);
        let reached = self.reached.take();
        if is_simple(node) {
            for child in node.named_children() {
                self.inside(child, source);
            }
        }
        for stray in extra {
            self.inside(stray, source);
        }
        self.reached = reached;
    }

    fn assignment(&mut self, node: Node<'_>, source: Source<'_>) {
        let assignments = if node.kind() == "variable_assignments" {
            node.named_children()
                .map(|child| source.of(child).to_owned())
                .collect()
        } else {
            vec![source.of(node).to_owned()]
        };
        // Who puts it into a variable means to use it.
        let outside = |text: &&String| {
            let value = text.split_once('=').map_or("", |(_, value)| value);
            let path = guess::of(value.trim_matches(['\'', '"']));
            target::points_away(&path) && !self.standing.lead(&path, self.places).inside
        };
        let why = judge::variables(&assignments, self.places).or_else(|| {
            let word = assignments.iter().find(outside)?.clone();
            Some(Why::MaybeOutside { word })
        });
        self.push(
            &Simple {
                words: Vec::new(),
                open: false,
                assignments,
                text: source.of(node).into(),
            },
            source.under,
            why,
            vec![Effect::Unknown],
            Risk::Medium,
        );
        self.inside(node, source);
    }

    fn function(&mut self, node: Node<'_>, source: Source<'_>) {
        let name = node
            .child_in("name")
            .map(|name| source.of(name))
            .unwrap_or_default();
        let word = |value: &str| Word::made(value.to_owned(), Known::Fully);
        let command = Simple {
            words: vec![word("function"), word(name)],
            open: false,
            assignments: Vec::new(),
            text: source.of(node).into(),
        };
        let why = Why::StandsIn {
            name: name.to_owned(),
        };
        self.push(
            &command,
            source.under,
            Some(why),
            vec![Effect::Unknown],
            Risk::Medium,
        );
        if node
            .child_in("body")
            .is_some_and(|body| pipes_into_itself(body, name, source))
        {
            self.ban(Ban::ForkBomb {
                name: name.to_owned(),
            });
        }
        self.lose_standing_if_it_moves(node, source);
        self.children(node, source);
    }

    /// Judges one simple command, then whatever it runs in turn.
    fn command(&mut self, command: &Simple<'_>, under: &[String], given: Given) {
        let (standing, places) = (self.standing.clone(), self.places);
        let fed = std::mem::take(&mut self.fed);
        let Some((first, rest)) = command.words.split_first() else {
            return;
        };
        let args = Args {
            words: rest,
            open: given == Given::LaterToo,
            standing: &standing,
            places,
            fed: &fed,
        };
        let name = judge::name_of(first);
        let judged = judge::command(first, &args, &command.assignments, &command.text);
        let risk = if judged.harmless { Risk::Low } else { Risk::Medium };
        self.push(command, under, judged.why, judged.effects, risk);
        if let (Fed::Text(text), true) = (&fed, judged.opens_input) {
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
                .find(|word| !matches!(word.value.as_str(), "-L" | "-P" | "-e" | "-@" | "--"));
            let to = to.filter(|word| !word.value.starts_with(['+', '-']));
            let reached = self.standing.go(to, places);
            self.reached = under.is_empty().then_some(reached);
            return;
        }
        let into = judged
            .folder
            .as_ref()
            .map(|folder| standing.clone().go(Some(folder), places));
        let before = into.map(|into| std::mem::replace(&mut self.standing, into));
        self.inner(judged.inner, &name, &command.text, under);
        if let (Fed::Text(text), true) = (&fed, judged.runs_input) {
            let under: Vec<String> = under.iter().cloned().chain([name.to_string()]).collect();
            self.line(text, &under);
        }
        if let Some(before) = before {
            self.standing = before;
        }
    }

    fn inner(&mut self, inner: Vec<Inner<'_, '_>>, name: &str, text: &str, under: &[String]) {
        if inner.is_empty() {
            return;
        }
        if under.len() >= 2 * SHELLS_MAX {
            return self.doubt(text, Doubt::WrappersTooDeep);
        }
        let under: Vec<String> = under.iter().cloned().chain([name.to_owned()]).collect();
        for inner in inner {
            match inner {
                Inner::Line(line) => self.line(&line, &under),
                Inner::Words { words, given } => {
                    let text = words
                        .iter()
                        .map(|word| &*word.raw)
                        .collect::<Vec<_>>()
                        .join(" ")
                        .into();
                    let command = Simple {
                        words: words.into_owned(),
                        open: given == Given::LaterToo,
                        assignments: Vec::new(),
                        text,
                    };
                    self.command(&command, &under, given);
                }
            }
        }
    }

    /// The paths that these words and assignments may name; whoever uses a value that was forgotten is not understood.
    fn named(&mut self, words: &[Word<'_>], assignments: &[String], text: &str) -> Vec<String> {
        if self.values.are_short_of(words) {
            self.doubt(text, Doubt::TooManyValues);
        }
        named::of(words, assignments, &self.values, &self.standing, self.places)
    }

    /// The files that a text on a command's input may name, added to those of the command.
    fn name_input(&mut self, text: &str) {
        let words: Vec<Word<'_>> = text
            .split_whitespace()
            .take(INPUT_WORDS_MAX)
            .map(|word| Word::made(word.to_owned(), Known::Fully))
            .collect();
        let more = self.named(&words, &[], text);
        if let Some(FactKind::Command { paths, .. }) = self.found.facts.last_mut().map(|fact| &mut fact.kind)
        {
            paths.extend(more);
        }
        let is_secret =
            judge::words(&words, self.places).filter(|_| text.split_whitespace().count() <= INPUT_WORDS_MAX);
        if let (Some(why), Some(fact)) = (is_secret, self.found.facts.last_mut()) {
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
        let declared = command.words.iter().map(|word| &word.value);
        for text in command
            .assignments
            .iter()
            .chain(declared.filter(|text| text.contains('=')))
        {
            self.values.assign(text);
        }
        let paths = self.named(&command.words, &command.assignments, &command.text);
        let kind = FactKind::Command {
            argv: command.words.iter().map(Word::shown).collect(),
            text: command.text.clone().into_owned(),
            dynamic: command.open || command.words.iter().any(Word::is_later),
            assignments: command.assignments.clone(),
            under: under.to_vec(),
            effects,
            paths,
        };
        let risk = if why.is_some() { Risk::High } else { risk };
        self.found.facts.push(Fact { kind, risk, why });
    }
}

/// Whether all arguments of a command are on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// They are.
    OnTheLine,
    /// More are added when it runs (`xargs`, `find -exec`).
    LaterToo,
}

fn is_simple(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "command" | "declaration_command" | "unset_command" | "test_command"
    )
}

/// Whether the last thing to run in a statement is a plain command.
fn ends_in_command(node: Node<'_>) -> bool {
    match node.kind() {
        "list" => {
            let joined = node.children().any(|child| child.kind() == "&&");
            joined && node.named_children().last().is_some_and(ends_in_command)
        }
        "redirected_statement" => node.child_in("body").is_some_and(ends_in_command),
        kind => kind == "command",
    }
}

/// The words of an argument, and of the expression inside `[ … ]`, which the grammar builds into a tree.
fn expression_words<'t>(node: Node<'t>, words: &mut Vec<Node<'t>>) {
    match node.kind() {
        "unary_expression"
        | "binary_expression"
        | "ternary_expression"
        | "parenthesized_expression"
        | "postfix_expression"
        | "redirected_statement" => {
            for child in node.children() {
                expression_words(child, words);
            }
        }
        _ if is_redirect(node) => {}
        _ => words.push(node),
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
