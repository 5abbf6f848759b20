//! The decision order, step by step and in every mode; what rules may and may not do to it.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;
use crate::analysis::tests::uninspected;
use crate::analysis::{Ban, Doubt, Fact, FactKind, Why};
use crate::call::tests::call;
use crate::config::Config;
use crate::ids::{PersonId, StandingGrantId};
use crate::standing::{Covers, Scope, StandingGrant};
use crate::time::Timestamp;

mod confined;
mod index;
mod properties;
mod rules;
mod workflow;

fn name(tool: &str) -> ToolName {
    ToolName::new(tool).unwrap()
}

fn policy(toml: &str) -> Policy {
    Config::parse(toml, "test.toml", std::iter::empty(), uninspected())
        .unwrap_or_else(|error| panic!("{error}"))
        .policy
}

fn fact(risk: Risk, kind: FactKind) -> Fact {
    Fact {
        kind,
        risk,
        why: (risk == Risk::High).then_some(Why::Doubtful(Doubt::Unparsed)),
    }
}

fn command(risk: Risk, line: &str) -> Fact {
    let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let values = argv.iter().filter_map(|word| Some(word.split_once('=')?.1));
    let named = argv.iter().map(String::as_str).chain(values);
    let paths = named
        .map(|word| paths::normalised(word, "/workspace").into_owned())
        .collect();
    fact(
        risk,
        FactKind::Command {
            argv,
            text: line.into(),
            dynamic: false,
            assignments: vec![],
            under: vec![],
            effects: Vec::new(),
            paths,
        },
    )
}

fn medium(lines: &[&str]) -> Analysis {
    Analysis {
        facts: lines.iter().map(|line| command(Risk::Medium, line)).collect(),
        ..Analysis::nothing()
    }
}

fn high(line: &str) -> Analysis {
    Analysis {
        facts: vec![command(Risk::High, line)],
        ..Analysis::nothing()
    }
}

fn statement(verb: &str, category: Category) -> Analysis {
    let kind = FactKind::Statement {
        verb: verb.into(),
        also: vec![],
        category,
        tables: vec!["public.orders".into()],
        text: verb.into(),
    };
    Analysis {
        facts: vec![fact(Risk::Low, kind)],
        ..Analysis::nothing()
    }
}

fn path(resolved: &str, risk: Risk) -> Analysis {
    let inside = resolved.starts_with("/workspace/");
    let kind = FactKind::Path {
        given: resolved.into(),
        resolved: resolved.into(),
        inside,
        writes: true,
    };
    Analysis {
        facts: vec![fact(risk, kind)],
        ..Analysis::nothing()
    }
}

fn host(name: &str) -> Analysis {
    let kind = FactKind::Host {
        host: name.into(),
        scheme: "https".into(),
        port: Some(443),
    };
    Analysis {
        facts: vec![fact(Risk::Medium, kind)],
        ..Analysis::nothing()
    }
}

/// One call and everything around it.
#[derive(Debug, Clone)]
struct Case {
    tool: Tool,
    analysis: Analysis,
    mode: Option<Mode>,
    own_opinion: OwnOpinion,
    session: BTreeSet<ToolName>,
    workflow: BTreeSet<ToolName>,
    only: bool,
    standing: Vec<StandingGrant>,
    remembered: bool,
    confinement: Option<Confinement>,
}

impl Case {
    fn new(tool: &str, analysis: Analysis) -> Self {
        let tool = Tool::builtin(&name(tool)).unwrap_or_else(|| Tool::unknown(name(tool)));
        Self::of(tool, analysis)
    }

    fn of(tool: Tool, analysis: Analysis) -> Self {
        Self {
            tool,
            analysis,
            mode: None,
            own_opinion: OwnOpinion::Silent,
            session: BTreeSet::new(),
            workflow: BTreeSet::new(),
            only: false,
            standing: Vec::new(),
            remembered: false,
            confinement: None,
        }
    }

    fn bash(line: &str) -> Self {
        Self::new("bash", medium(&[line]))
    }

    fn decide(&self, policy: &Policy) -> Verdict {
        let call = call(
            self.tool.name.as_str(),
            json!({"x": "y", "command": "git status; rm -r x"}),
        );
        policy.decide(&call, &self.tool, &self.analysis, &self.context(&call))
    }

    fn context(&self, call: &ToolCall) -> Context<'_> {
        Context {
            digest: call.digest(),
            workspace: "/workspace",
            mode: self.mode,
            own_opinion: self.own_opinion,
            session_allow_list: &self.session,
            workflow_allow_list: &self.workflow,
            workflow_only: self.only,
            workflow_strict: false,
            standing: &self.standing,
            remembered: self.remembered,
            confinement: self.confinement.as_ref(),
        }
    }

    /// Step and decision, short.
    fn short(&self, policy: &Policy) -> String {
        let verdict = self.decide(policy);
        format!("{} {}", verdict.step.number(), verdict.decision.as_str())
    }
}

fn grant(covers: Covers) -> StandingGrant {
    StandingGrant {
        id: StandingGrantId::new("sg_1").unwrap(),
        scope: Scope {
            tool: name("bash"),
            session: None,
            workspace: None,
            covers,
        },
        by: PersonId::new("lin").unwrap(),
        given_at: Timestamp::from_millis(0),
        ends_at: Timestamp::from_millis(1),
        uses_max: None,
        examples: Vec::new(),
    }
}

fn check(scenarios: &[(&str, &str, Case)], expected: &Expect) {
    let mut table = format!("{:<34}{:<12}{:<12}{}\n", "", "default", "autoEdit", "yolo");
    for (title, toml, case) in scenarios {
        let policy = policy(toml);
        let in_mode = |mode| {
            Case {
                mode: Some(mode),
                ..case.clone()
            }
            .short(&policy)
        };
        let [default, auto_edit, yolo] = [Mode::Default, Mode::AutoEdit, Mode::Yolo].map(in_mode);
        writeln!(table, "{title:<34}{default:<12}{auto_edit:<12}{yolo}").unwrap();
    }
    expected.assert_eq(&table);
}

const DENY_GIT: &str = "[[rules]]\nname='no git'\ntool='bash'\ncommand='git *'\neffect='deny'\n";
const OFF: &str = "[approval]\nenabled = false\n";
const STRICT: &str = "[approval]\nstrict = true\n";

#[test]
fn each_step_answers_in_each_mode() {
    let bash = || Case::bash("git status");
    let banned = Analysis {
        banned: Some(Ban::AnswersForPeople),
        ..medium(&["rm -rf /"])
    };
    let mut own = bash();
    own.own_opinion = OwnOpinion::NotNeeded;
    let mut listed = bash();
    listed.session = [name("bash")].into();
    let mut in_workflow = bash();
    in_workflow.workflow = [name("bash")].into();
    let mut standing = bash();
    standing.standing = vec![grant(Covers::Commands(vec!["git status".into()]))];
    let mut remembered = bash();
    remembered.remembered = true;
    check(
        &[
            ("1 deny rule", DENY_GIT, bash()),
            ("1 banned", "", Case::new("bash", banned)),
            (
                "2 a question",
                "",
                Case::new("askUserQuestion", Analysis::nothing()),
            ),
            ("3 switched off", OFF, Case::new("bash", high("rm -rf ~"))),
            (
                "4 ask rule",
                "[[rules]]\nname='r'\ncommand='git'\neffect='ask'\n",
                bash(),
            ),
            (
                "4 allow rule",
                "[[rules]]\nname='r'\ncommand='git *'\neffect='allow'\n",
                bash(),
            ),
            (
                "4 override true",
                "[approval.tool_overrides]\nread = true\n",
                Case::new("read", Analysis::nothing()),
            ),
            (
                "4 override false",
                "[approval.tool_overrides]\nbash = false\n",
                Case::new("bash", high("rm -rf ~")),
            ),
            ("5 high", "", Case::new("bash", high("rm -rf ~"))),
            ("6 strict", STRICT, bash()),
            (
                "6 strict leaves LOW alone",
                STRICT,
                Case::new("read", Analysis::nothing()),
            ),
            ("7 yolo", "", bash()),
            ("8 read", "", Case::new("read", Analysis::nothing())),
            ("9 own opinion", "", own),
            (
                "10 autoEdit",
                "",
                Case::new("write", path("/workspace/a", Risk::Medium)),
            ),
            ("11 session", "", listed),
            ("11 workflow", "", in_workflow),
            (
                "11 configuration",
                "[approval]\nauto_approved_tools = ['bash']\n",
                bash(),
            ),
            ("11 standing grant", "", standing),
            ("12 remembered", "", remembered),
            ("13 nobody said anything", "", bash()),
        ],
        &expect![[r#"
                                              default     autoEdit    yolo
            1 deny rule                       1 deny      1 deny      1 deny
            1 banned                          1 deny      1 deny      1 deny
            2 a question                      2 ask       2 ask       2 ask
            3 switched off                    3 allow     3 allow     3 allow
            4 ask rule                        4 ask       4 ask       4 ask
            4 allow rule                      4 allow     4 allow     4 allow
            4 override true                   4 ask       4 ask       4 ask
            4 override false                  4 allow     4 allow     4 allow
            5 high                            5 ask       5 ask       5 ask
            6 strict                          6 ask       6 ask       6 ask
            6 strict leaves LOW alone         8 allow     8 allow     7 allow
            7 yolo                            13 ask      13 ask      7 allow
            8 read                            8 allow     8 allow     7 allow
            9 own opinion                     9 allow     9 allow     7 allow
            10 autoEdit                       13 ask      10 allow    7 allow
            11 session                        11 allow    11 allow    7 allow
            11 workflow                       11 allow    11 allow    7 allow
            11 configuration                  11 allow    11 allow    7 allow
            11 standing grant                 11 allow    11 allow    7 allow
            12 remembered                     12 allow    12 allow    7 allow
            13 nobody said anything           13 ask      13 ask      7 allow
        "#]],
    );
}

#[test]
fn a_verdict_names_its_step_its_rule_and_a_reason() {
    let verdict = Case::bash("git push").decide(&policy(DENY_GIT));
    assert_eq!(
        (verdict.step, verdict.rule.as_deref()),
        (Step::Deny, Some("no git"))
    );
    let rule = "no git".to_owned();
    assert_eq!(verdict.reason, Reason::RuleDenies { rule });
    let verdict = Case::new("bash", high("rm -rf ~")).decide(&policy(""));
    let why = Why::Doubtful(Doubt::Unparsed);
    assert_eq!(verdict.reason, Reason::Found(why));
    assert_eq!(
        (verdict.risk, verdict.category, verdict.rule),
        (Risk::High, Category::Command, None)
    );
    let own_words = "[[rules]]\nname='r'\ntool='bash'\neffect='deny'\nreason='not on Fridays'\n";
    assert_eq!(
        Case::bash("ls").decide(&policy(own_words)).reason,
        Reason::Written("not on Fridays".into())
    );
}

#[test]
fn a_deny_rule_wins_even_when_approvals_are_off_and_everything_else_allows() {
    let toml =
        format!("{OFF}auto_approved_tools = ['bash']\ntool_overrides = {{ bash = false }}\n{DENY_GIT}");
    let toml = format!("{toml}[[rules]]\nname='yes'\ntool='bash'\neffect='allow'\n");
    let mut case = Case::bash("git status");
    case.mode = Some(Mode::Yolo);
    case.own_opinion = OwnOpinion::NotNeeded;
    case.remembered = true;
    assert_eq!(case.short(&policy(&toml)), "1 deny");
}

#[test]
fn a_question_of_the_agent_is_asked_even_when_approvals_are_off() {
    assert_eq!(
        Case::new("askUserQuestion", Analysis::nothing()).short(&policy(OFF)),
        "2 ask"
    );
}

#[test]
fn sql_that_only_reads_is_a_read_whatever_the_tool_is_declared_as() {
    let policy = policy("");
    let select = Case::new("data_modify", statement("SELECT", Category::Read)).decide(&policy);
    assert_eq!((select.step, select.category), (Step::LowRisk, Category::Read));
    assert_eq!(
        Case::new("data_modify", statement("DELETE", Category::Write)).short(&policy),
        "13 ask"
    );
    // Not when it does something else besides.
    let mut mixed = statement("SELECT", Category::Read);
    mixed.facts.extend(path("/workspace/out", Risk::Medium).facts);
    assert_eq!(Case::new("data_modify", mixed).short(&policy), "13 ask");
}
