//! From a rule as written to a checked [`Rule`], its own examples tried.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_spanned::Spanned;

use super::error::{Checker, nearest};
use super::file::{EffectWord, EscalateFile, RuleFile, Texts};
use super::sections;
use crate::analysis::Inspect;
use crate::ids::{PersonId, ToolName};
use crate::messages::{config, rule_error};
use crate::people::{Directory, WhoError};
use crate::policy::example::{self, Example};
use crate::policy::pattern::CommandPattern;
use crate::policy::{Conditions, Effects, PathGlob, Rule, RuleEffect, Wild};
use crate::tool::{Lens, Tool};
use crate::verdict::{AnswerKind, Answers, Approvers, AskTerms, Escalation};

/// Checks all rules. `canonical` holds each rule's canonical text, in the same order.
pub(super) fn check(
    files: &[Spanned<RuleFile>],
    canonical: Vec<String>,
    people: &Directory,
    tool_of: impl Fn(ToolName) -> Tool,
    inspect: &dyn Inspect,
    checker: &mut Checker<'_>,
) -> Vec<Rule> {
    let mut names = BTreeSet::new();
    let mut rules = Vec::new();
    for (file, canonical) in files.iter().zip(canonical) {
        let name = &file.get_ref().name;
        if name.get_ref().trim().is_empty() || name.get_ref().contains(char::is_control) {
            checker.refuse_in_words(name.span(), rule_error::name(), None);
        }
        if !names.insert(name.get_ref()) {
            checker.refuse_in_words(name.span(), rule_error::same_name(name.get_ref()), None);
        }
        let Some(rule) = check_rule(file, canonical, people, checker) else {
            continue;
        };
        refuse_if_dead(&rule, file.get_ref(), &tool_of, checker);
        refuse_if_unknown(&rule, file.get_ref(), inspect, checker);
        try_examples(&rule, file.get_ref(), &tool_of, inspect, checker);
        rules.push(rule);
    }
    rules
}

fn check_rule(
    file: &Spanned<RuleFile>,
    canonical: String,
    people: &Directory,
    checker: &mut Checker<'_>,
) -> Option<Rule> {
    let rule = file.get_ref();
    let effect = match rule.effect.get_ref() {
        EffectWord::Ask => RuleEffect::Ask(ask_terms(rule, people, checker)?),
        EffectWord::Allow => RuleEffect::Allow,
        EffectWord::Deny => RuleEffect::Deny,
    };
    if *rule.effect.get_ref() != EffectWord::Ask {
        refuse_ask_terms(rule, checker);
    }
    if *rule.effect.get_ref() == EffectWord::Allow {
        check_allow(rule, checker);
    }
    Some(Rule {
        name: rule.name.get_ref().clone(),
        effect,
        reason: rule.reason.clone(),
        when: conditions(rule, checker),
        canonical: canonical.into(),
    })
}

/// What only makes sense when people are asked is a sign of a mistyped effect.
fn refuse_ask_terms(rule: &RuleFile, checker: &mut Checker<'_>) {
    let given = [
        ("approvers", rule.approvers.as_ref().map(Spanned::span)),
        ("quorum", rule.quorum.as_ref().map(Spanned::span)),
        ("not_requester", rule.not_requester.as_ref().map(Spanned::span)),
        ("timeout", rule.timeout.as_ref().map(Spanned::span)),
        ("escalate", rule.escalate.as_ref().map(Spanned::span)),
        ("answers", rule.answers.as_ref().map(Spanned::span)),
    ];
    for (key, span) in given.into_iter().filter_map(|(key, span)| Some((key, span?))) {
        let help = Some(rule_error::only_ask_help());
        checker.refuse_in_words(span, rule_error::only_ask(key), help);
    }
}

fn check_allow(rule: &RuleFile, checker: &mut Checker<'_>) {
    let says_what = [
        &rule.tool,
        &rule.command,
        &rule.path,
        &rule.host,
        &rule.reads,
        &rule.writes,
        &rule.sql,
        &rule.table,
    ];
    if says_what.iter().all(|texts| texts.is_none()) {
        let help = Some(rule_error::allows_anything_help());
        checker.refuse_in_words(rule.effect.span(), rule_error::allows_anything(), help);
    }
    if let Some(risk) = &rule.risk {
        let help = Some(rule_error::allows_above_help());
        checker.refuse_in_words(risk.span(), rule_error::allows_above(), help);
    }
}

/// A rule that allows something in a shell must say which commands: whatever else it names, each command of the line would
/// still have to be allowed.
fn refuse_if_dead(
    rule: &Rule,
    file: &RuleFile,
    tool_of: &impl Fn(ToolName) -> Tool,
    checker: &mut Checker<'_>,
) {
    let when = &rule.when;
    let says_enough = !when.commands.is_empty() || when.effects.is_some();
    if rule.effect != RuleEffect::Allow || says_enough || !when.names_effects() {
        return;
    }
    let only_shell = |tool: &Wild| {
        let tool = tool
            .literal()
            .and_then(|name| ToolName::new(name).ok())
            .map(tool_of);
        let is_shell = |lens: &Lens| matches!(lens, Lens::Shell { .. });
        tool.is_some_and(|tool| !tool.lenses.is_empty() && tool.lenses.iter().all(is_shell))
    };
    if let Some(tool) = file.tool.as_ref().filter(|_| when.tools.iter().all(only_shell)) {
        let help = Some(rule_error::no_commands_help());
        checker.refuse_in_words(tool.span(), rule_error::no_commands(), help);
    }
}

/// A wildcard covers what the record of a program knows; without a record it covers nothing.
fn refuse_if_unknown(rule: &Rule, file: &RuleFile, inspect: &dyn Inspect, checker: &mut Checker<'_>) {
    let Some(command) = file.command.as_ref().filter(|_| rule.effect == RuleEffect::Allow) else {
        return;
    };
    for program in rule
        .when
        .commands
        .iter()
        .filter_map(CommandPattern::program_of_wildcard)
    {
        if !inspect.knows_program(program) {
            let help = Some(rule_error::no_record_help(program));
            checker.refuse_in_words(command.span(), rule_error::no_record(program), help);
        }
    }
}

/// What a rule that allows says about the effects of commands.
fn effects(rule: &RuleFile, checker: &mut Checker<'_>) -> Option<Effects> {
    let spans = [
        rule.reads.as_ref().map(Spanned::span),
        rule.writes.as_ref().map(Spanned::span),
        rule.runs.as_ref().map(Spanned::span),
    ];
    let first = spans.into_iter().flatten().next()?;
    if *rule.effect.get_ref() != EffectWord::Allow {
        checker.refuse_in_words(first, rule_error::effects(), Some(rule_error::effects_help()));
        return None;
    }
    let mut globs = |given: Option<&Spanned<Texts>>| {
        let texts = texts(given, checker);
        let read = texts
            .iter()
            .filter_map(|(span, text)| checker.accept(span.clone(), PathGlob::parse(text)));
        read.collect()
    };
    Some(Effects {
        reads: globs(rule.reads.as_ref()),
        writes: globs(rule.writes.as_ref()),
        runs: rule.runs.as_ref().is_some_and(|runs| *runs.get_ref()),
    })
}

fn conditions(rule: &RuleFile, checker: &mut Checker<'_>) -> Conditions {
    let commands = texts(rule.command.as_ref(), checker);
    let paths = texts(rule.path.as_ref(), checker);
    let verbs = texts(rule.sql.as_ref(), checker);
    for (span, verb) in &verbs {
        if !verb.chars().all(|c| c.is_ascii_alphabetic() || c == ' ') {
            let help = Some(rule_error::no_verb_help());
            checker.refuse_in_words(span.clone(), rule_error::no_verb(verb), help);
        }
    }
    let mut wilds = |given: Option<&Spanned<Texts>>, read: fn(&str) -> Wild| -> Vec<Wild> {
        texts(given, checker).iter().map(|(_, text)| read(text)).collect()
    };
    let tools = wilds(rule.tool.as_ref(), Wild::parse);
    let hosts = wilds(rule.host.as_ref(), Wild::parse_lowercase);
    let tables = wilds(rule.table.as_ref(), Wild::parse_lowercase);
    let agents = wilds(rule.agent.as_ref(), Wild::parse);
    let channels = wilds(rule.channel.as_ref(), Wild::parse);
    let sessions = wilds(rule.session.as_ref(), Wild::parse);
    Conditions {
        commands: commands
            .iter()
            .filter_map(|(span, text)| checker.accept(span.clone(), CommandPattern::parse(text)))
            .collect(),
        paths: paths
            .iter()
            .filter_map(|(span, text)| checker.accept(span.clone(), PathGlob::parse(text)))
            .collect(),
        verbs: verbs.iter().map(|(_, verb)| (*verb).to_owned()).collect(),
        args: rule
            .args
            .iter()
            .map(|(name, glob)| (name.clone(), Wild::parse(glob)))
            .collect(),
        category: rule.category,
        risk_min: rule.risk.as_ref().map(|risk| *risk.get_ref()),
        effects: effects(rule, checker),
        tools,
        hosts,
        table_ends: tables.iter().flat_map(Wild::ends).collect(),
        tables,
        agents,
        channels,
        sessions,
    }
}

/// Each text of a condition. An empty list or text would be a condition that nothing, or anything, meets.
fn texts<'f>(given: Option<&'f Spanned<Texts>>, checker: &mut Checker<'_>) -> Vec<(Range<usize>, &'f str)> {
    let Some(given) = given else { return Vec::new() };
    let texts = &given.get_ref().0;
    if texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()) {
        let help = Some(rule_error::empty_condition_help());
        checker.refuse_in_words(given.span(), rule_error::empty_condition(), help);
    }
    texts.iter().map(|text| (given.span(), text.as_str())).collect()
}

fn ask_terms(rule: &RuleFile, people: &Directory, checker: &mut Checker<'_>) -> Option<AskTerms> {
    let approvers = match &rule.approvers {
        Some(names) => Approvers::People(resolve(names, people, checker)?),
        None => Approvers::SessionUser,
    };
    let timeout = match &rule.timeout {
        Some(timeout) => Some(sections::positive(timeout, checker)?),
        None => None,
    };
    let escalate = match &rule.escalate {
        Some(escalate) => Some(escalation(escalate, rule, people, checker)?),
        None => None,
    };
    Some(AskTerms {
        quorum: quorum(rule, &approvers, checker)?,
        approvers,
        not_requester: rule.not_requester.as_ref().is_some_and(|given| *given.get_ref()),
        timeout,
        escalate,
        answers: answers(rule, checker)?,
    })
}

fn resolve(
    names: &Spanned<Vec<Spanned<String>>>,
    people: &Directory,
    checker: &mut Checker<'_>,
) -> Option<Vec<PersonId>> {
    if names.get_ref().is_empty() {
        let help = Some(rule_error::no_approver_help());
        checker.refuse_in_words(names.span(), rule_error::no_approver(), help);
        return None;
    }
    let mut found = BTreeSet::new();
    for name in names.get_ref() {
        match people.resolve(name.get_ref()) {
            Ok(people) => found.extend(people),
            Err(error) => {
                let known: Vec<String> = people.names().collect();
                let (wanted, message) = match error {
                    WhoError::Person(name) => (name.clone(), rule_error::unknown_person(name)),
                    WhoError::Group(group) => (format!("group:{group}"), rule_error::unknown_group(group)),
                };
                let near = nearest(&wanted, known.iter().map(String::as_str));
                checker.refuse_in_words(name.span(), message, near.map(config::did_you_mean));
                return None;
            }
        }
    }
    Some(found.into_iter().collect())
}

/// A quorum larger than its set could never be met; a quorum of zero would need no approver.
fn quorum(rule: &RuleFile, approvers: &Approvers, checker: &mut Checker<'_>) -> Option<u32> {
    let Some(quorum) = &rule.quorum else {
        return Some(1);
    };
    let people = match approvers {
        Approvers::People(people) => people.len(),
        Approvers::SessionUser => 1,
    };
    let wanted = *quorum.get_ref();
    if wanted == 0 {
        checker.refuse_in_words(quorum.span(), rule_error::quorum_zero(), None);
        return None;
    }
    if usize::try_from(wanted).map_or(true, |wanted| wanted > people) {
        let help = Some(rule_error::quorum_too_large_help());
        checker.refuse_in_words(quorum.span(), rule_error::quorum_too_large(people, wanted), help);
        return None;
    }
    Some(wanted)
}

fn escalation(
    escalate: &Spanned<EscalateFile>,
    rule: &RuleFile,
    people: &Directory,
    checker: &mut Checker<'_>,
) -> Option<Escalation> {
    let file = escalate.get_ref();
    let after = sections::positive(&file.after, checker)?;
    let timeout = rule.timeout.as_ref().map(|timeout| timeout.get_ref().0);
    if let Some(timeout) = timeout.filter(|timeout| after >= *timeout) {
        let message = rule_error::escalates_too_late(after, timeout);
        checker.refuse_in_words(file.after.span(), message, None);
        return None;
    }
    Some(Escalation {
        after,
        to: resolve(&file.to, people, checker)?,
    })
}

fn answers(rule: &RuleFile, checker: &mut Checker<'_>) -> Option<Answers> {
    let Some(given) = &rule.answers else {
        return Some(Answers::for_approval());
    };
    let kinds = given.get_ref().iter().copied();
    let Some(answers) = Answers::only(kinds) else {
        let help = Some(rule_error::no_rejection_help());
        checker.refuse_in_words(given.span(), rule_error::no_rejection(), help);
        return None;
    };
    if !answers.offers(AnswerKind::Approve) && !answers.offers(AnswerKind::Edit) {
        let help = Some(rule_error::no_approval_help());
        checker.refuse_in_words(given.span(), rule_error::no_approval(), help);
        return None;
    }
    Some(answers)
}

fn try_examples(
    rule: &Rule,
    file: &RuleFile,
    tool_of: &impl Fn(ToolName) -> Tool,
    inspect: &dyn Inspect,
    checker: &mut Checker<'_>,
) {
    let wanted = file.matches.iter().map(|example| (example, true));
    let unwanted = file.not_matches.iter().map(|example| (example, false));
    for (example, should_apply) in wanted.chain(unwanted) {
        let shown = match example.get_ref() {
            Example::Text(text) => text.clone(),
            Example::Args(args) => args.to_string(),
        };
        match example::applies(rule, example.get_ref(), tool_of, inspect) {
            Ok(applies) if applies == should_apply => {}
            Ok(_) => {
                let message = if should_apply {
                    rule_error::should_match(shown, &rule.name)
                } else {
                    rule_error::should_not_match(shown, &rule.name)
                };
                checker.refuse_in_words(example.span(), message, None);
            }
            Err(error) => checker.refuse(example.span(), error, None),
        }
    }
}
