//! The walk over a parsed line: finds every simple command and every redirection, in order of appearance.
//!
//! The grammar nests lists, pipelines and redirections in ways a shell does not: in `a && b 2>&1 | c` it pipes the whole list. In
//! the order of the text they are what a shell reads, so [`flatten`] takes that nesting away before anything is judged.

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
use redirect::{fed_by, stray_words};

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

/// A simple command: its words, and the variables set for it.
struct Simple<'s> {
    words: Vec<Word<'s>>,
    /// More words are added when it runs.
    open: bool,
    assignments: Vec<String>,
    text: Cow<'s, str>,
}

impl<'s> Simple<'s> {
    fn of(words: Vec<Word<'s>>, text: impl Into<Cow<'s, str>>) -> Self {
        Self {
            words,
            open: false,
            assignments: Vec::new(),
            text: text.into(),
        }
    }

    /// What it prints, when that is plain: `echo a b`, or its input. Most programs behind a known input pass some of it on.
    fn prints(&self, fed: &Fed) -> Fed {
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

impl<'a> Walk<'a> {
    pub(super) fn new(places: &'a dyn Places, found: &'a mut Analysis) -> Self {
        Self {
            standing: Standing::start(places),
            places,
            found,
            reached: None,
            values: named::Values::default(),
            fed: Fed::Nothing,
            commands: 0,
        }
    }

    /// Begins where the caller says.
    pub(super) fn start(&mut self, start: &Start<'_>) {
        if let Some(folder) = start.folder {
            let mut standing = self.standing.clone();
            self.standing = standing.go(Some(&Word::made(folder, Known::Fully)), self.places);
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

    /// One program, given its words one by one.
    pub(super) fn words(&mut self, words: &[&str]) {
        let made = words.iter().map(|word| Word {
            raw: Cow::Borrowed(*word),
            value: Cow::Borrowed(*word),
            known: Known::Fully,
        });
        self.command(&Simple::of(made.collect(), words.join(" ")), &[]);
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
            "variable_assignment" | "variable_assignments" => return self.assignment(node, source),
            "file_redirect" => return self.redirect(node, source),
            "heredoc_redirect" => {
                let body = node.children().find(|child| child.kind() == "heredoc_body");
                return body.into_iter().for_each(|body| self.inside(body, source));
            }
            "compound_statement" if source.of(node).starts_with("((") => {
                self.doubt(source.of(node), Doubt::Arithmetic);
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
            self.standing = Standing::Lost;
        }
        self.sequence(node, source);
    }

    /// The statements below a node, one after another.
    fn sequence(&mut self, node: Node<'_>, source: Source<'_>) {
        let mut parts = Vec::new();
        flatten(node, &mut parts);
        // `cd` may fail, so what follows may run anywhere that was possible before it. Only behind `cd x &&` it is certain.
        let mut possible = self.standing.clone();
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
                possible = possible.or(&self.standing);
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
                    self.standing = reached.unwrap_or_else(|| self.standing.clone());
                }
                token => {
                    alone = true;
                    after_or = token == "||";
                    self.standing = possible.clone();
                }
            }
            parts = rest;
        }
        self.standing = possible;
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
            self.doubt(source.of(first), Doubt::WordAfterBoth);
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
                self.doubt(source.of(first), Doubt::WordsWithoutCommand);
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

    /// The simple command at `node`, if one is there, with further words.
    fn simple<'s, 't>(
        &mut self,
        node: Node<'t>,
        strays: impl Iterator<Item = Node<'t>>,
        source: Source<'s>,
    ) -> Simple<'s> {
        let mut command = Simple::of(Vec::new(), source.of(node));
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
    fn loop_variable(&mut self, node: Node<'_>, source: Source<'_>) {
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
        let outside =
            |word: &&Word<'_>| target::points_away(&word.value) && !self.standing.contains(word, self.places);
        let why = if self.places.programs().is_steering_variable(variable) {
            let name = variable.to_owned();
            Some(Why::Variable { name })
        } else {
            judge::words(&words, self.places).or_else(|| {
                let word = words.iter().find(outside)?.raw.to_string();
                Some(Why::MaybeOutside { word })
            })
        };
        if why.is_some() {
            self.set(vec![variable.to_owned()], source.of(node), source.under, why);
        }
    }

    fn assignment(&mut self, node: Node<'_>, source: Source<'_>) {
        let one = (node.kind() == "variable_assignment").then_some(node);
        let several = node.named_children().filter(|_| one.is_none());
        let assignments = one.into_iter().chain(several);
        let assignments: Vec<String> = assignments.map(|node| source.of(node).to_owned()).collect();
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
        self.set(assignments, source.of(node), source.under, why);
        self.inside(node, source);
    }

    /// Notes variables that are set without a command.
    fn set(&mut self, assignments: Vec<String>, text: &str, under: &[String], why: Option<Why>) {
        let command = Simple {
            assignments,
            ..Simple::of(Vec::new(), text)
        };
        self.push(&command, under, why, vec![Effect::Unknown], Risk::Medium);
    }

    fn function(&mut self, node: Node<'_>, source: Source<'_>) {
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
    fn command(&mut self, command: &Simple<'_>, under: &[String]) {
        let (standing, places) = (self.standing.clone(), self.places);
        let fed = self.fed.clone();
        let Some((first, rest)) = command.words.split_first() else {
            return;
        };
        let args = Args {
            words: rest,
            open: command.open,
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
                .find(|word| !matches!(&*word.value, "-L" | "-P" | "-e" | "-@" | "--"));
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
            self.fed = Fed::Nothing;
            self.line(text, &under);
            self.fed = fed;
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
                    let text = words.iter().map(|word| &*word.raw).collect::<Vec<_>>().join(" ");
                    let command = Simple {
                        open: given == Given::LaterToo,
                        ..Simple::of(words.into_owned(), text)
                    };
                    self.command(&command, &under);
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
            .map(|word| Word::made(word, Known::Fully))
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
        let declared = command.words.iter().map(|word| &*word.value);
        let assigned = command.assignments.iter().map(String::as_str);
        for text in assigned.chain(declared.filter(|text| text.contains('='))) {
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
