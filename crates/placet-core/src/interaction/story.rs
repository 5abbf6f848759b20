//! Stories: a script of who does what when, and what came of each line.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::*;
use crate::call::tests::call;
use crate::digest::Digest;
use crate::ids::ChannelName;
use crate::journal::Event;
use crate::messages::Explain as _;
use crate::messages::tests::coded;
use crate::time::Timestamp;

/// A question `int_7` to ana and bo, closing at 60, about a bash call of the requester ana.
struct Story {
    interaction: Interaction,
    told: String,
}

fn person(name: &str) -> PersonId {
    PersonId::new(name).unwrap()
}

fn question(quorum: u32, risk: Risk) -> Asked {
    let call = call("bash", serde_json::json!({"command": "make"}));
    Asked {
        id: InteractionId::new("int_7").unwrap(),
        session: call.session.clone(),
        subject: Subject::Call {
            call: CallKey {
                agent: call.origin.agent.clone(),
                call: call.id.clone(),
            },
            digest: call.digest(),
            answers: Answers::for_approval(),
            edited: None,
        },
        admins: false,
        audience: Audience::People(BTreeSet::from([person("ana"), person("bo")])),
        quorum,
        requester: Some(person("ana")),
        not_requester: false,
        since: Timestamp::from_millis(0),
        deadline: Timestamp::from_millis(60),
        escalation: Some(Escalating {
            at: Timestamp::from_millis(30),
            to: BTreeSet::from([person("cy")]),
        }),
        code: Code::from_random(1),
        risk,
        group: None,
        chat: None,
        evidence: Vec::new(),
        tool_description: None,
    }
}

impl Story {
    fn apply(&mut self, at: i64, event: &Event) {
        let was = self.interaction.clone();
        self.interaction = was.evolve(event, Timestamp::from_millis(at)).unwrap();
    }

    fn line(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let at: i64 = words.next().unwrap().parse().unwrap();
        let now = Timestamp::from_millis(at);
        let Interaction::Pending(pending) = self.interaction.clone() else {
            writeln!(self.told, "{at} nothing: {}", self.interaction.state_name()).unwrap();
            return;
        };
        let id = pending.asked.id.clone();
        let rest: Vec<&str> = words.collect();
        match rest.as_slice() {
            ["the", "clock", "ticks"] => {
                if let Some(resolution) = pending.expire(now) {
                    writeln!(self.told, "{at} expired").unwrap();
                    self.apply(
                        at,
                        &Event::Resolved {
                            interaction: id,
                            resolution,
                        },
                    );
                } else if let Some(to) = pending.escalate(now).cloned() {
                    writeln!(self.told, "{at} escalated to {to:?}").unwrap();
                    self.apply(at, &Event::Escalated { interaction: id, to });
                } else {
                    writeln!(self.told, "{at} still pending").unwrap();
                }
            }
            [who, option, rest @ ..] => self.answer(at, &pending, who, option, rest),
            other => panic!("cannot read {other:?}"),
        }
    }

    fn answer(&mut self, at: i64, pending: &Pending, who: &str, option: &str, rest: &[&str]) {
        let channel = ChannelName::new("ops").unwrap();
        let by = match who {
            "robot" => Principal::Bot {
                channel,
                user: "r2".into(),
            },
            "agent" => Principal::Agent {
                agent: AgentId::new("tester").unwrap(),
            },
            _ => Principal::Person {
                person: person(who),
                via: Via::Chat(channel),
            },
        };
        let digest = Digest::of("shown", &[]);
        let seen_in_part = rest.first() == Some(&"(partly-shown)");
        let text = rest
            .iter()
            .filter(|word| !word.starts_with('('))
            .copied()
            .collect::<Vec<_>>()
            .join(" ");
        let answer = Answer {
            by,
            option: option.into(),
            feedback: (!text.is_empty()).then_some(text),
            data: None,
            edited_args: None,
            instruction: None,
            remember: None,
            shown: if seen_in_part {
                Shown::Part(digest)
            } else {
                Shown::Whole(digest)
            },
        };
        let interaction = pending.asked.id.clone();
        match pending.answer(&answer, Timestamp::from_millis(at)) {
            Err(error) => writeln!(self.told, "{at} refused: {}", coded(&error.message())).unwrap(),
            Ok(Accepted::Vote(ballot)) => {
                writeln!(self.told, "{at} {} voted", ballot.by).unwrap();
                self.apply(at, &Event::Voted { interaction, ballot });
            }
            Ok(Accepted::Decides { ballot, action, by }) => {
                let names = by.iter().map(PersonId::as_str).collect::<Vec<_>>().join("+");
                let text = ballot
                    .feedback
                    .clone()
                    .map(|text| format!(" ({text})"))
                    .unwrap_or_default();
                writeln!(self.told, "{at} {action:?} by {names}{text}").unwrap();
                let resolution = Resolution::Answered {
                    ballot: Box::new(ballot),
                    action,
                    by,
                };
                self.apply(
                    at,
                    &Event::Resolved {
                        interaction,
                        resolution,
                    },
                );
            }
        }
    }
}

fn check(asked: Asked, script: &str, expected: &Expect) {
    let mut story = Story {
        interaction: Interaction::new(asked),
        told: String::new(),
    };
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        story.line(line);
    }
    expected.assert_eq(&story.told);
}

#[test]
fn an_answer_at_the_deadline_is_too_late_and_the_call_does_not_run() {
    check(
        question(2, Risk::Medium),
        "
        59 ana approve
        60 bo approve
        60 the clock ticks
        61 bo approve
        ",
        &expect![[r#"
            59 ana voted
            60 refused: refusal.too_late {"id":"int_7","late_by":0}
            60 expired
            61 nothing: expired
        "#]],
    );
}

#[test]
fn a_quorum_counts_people_and_one_person_counts_once() {
    check(
        question(2, Risk::Medium),
        "
        1 ana approve
        2 ana approve
        3 bo approve
        ",
        &expect![[r#"
            1 ana voted
            2 refused: refusal.voted_before {"by":"ana","needed":1}
            3 ApproveAndExecute by ana+bo
        "#]],
    );
}

#[test]
fn one_no_is_enough_however_many_said_yes() {
    check(
        question(2, Risk::Medium),
        "
        1 ana approve
        2 bo reject too dangerous today
        3 ana approve
        ",
        &expect![[r#"
            1 ana voted
            2 RejectWithReason by bo (too dangerous today)
            3 nothing: answered
        "#]],
    );
}

#[test]
fn strangers_bots_and_agents_decide_nothing_and_learn_nothing() {
    check(
        question(1, Risk::Medium),
        "
        1 eve approve
        2 robot approve
        3 agent approve
        99 eve approve
        ",
        &expect![[r#"
            1 refused: refusal.not_assigned {"by":"int_7","id":"eve"}
            2 refused: refusal.not_a_person {"by":"bot ops:r2"}
            3 refused: refusal.not_a_person {"by":"agent tester"}
            99 refused: refusal.not_assigned {"by":"int_7","id":"eve"}
        "#]],
    );
}

#[test]
fn people_asked_by_escalation_count_only_after_it() {
    check(
        question(1, Risk::Medium),
        "
        29 the clock ticks
        29 cy approve
        30 the clock ticks
        30 the clock ticks
        31 cy approve
        ",
        &expect![[r#"
            29 still pending
            29 refused: refusal.not_assigned {"by":"int_7","id":"cy"}
            30 escalated to {PersonId("cy")}
            30 still pending
            31 ApproveAndExecute by cy
        "#]],
    );
}

#[test]
fn the_requester_does_not_approve_what_needs_somebody_else_but_may_refuse_it() {
    let separated = |quorum| Asked {
        not_requester: true,
        ..question(quorum, Risk::Medium)
    };
    check(
        separated(1),
        "
        1 ana approve
        2 bo approve
        ",
        &expect![[r#"
            1 refused: refusal.own_request {"by":"ana"}
            2 ApproveAndExecute by bo
        "#]],
    );
    check(
        separated(1),
        "1 ana skip",
        &expect![[r#"
        1 Skip by ana
    "#]],
    );
}

#[test]
fn high_risk_is_not_approved_from_a_surface_that_showed_only_a_part() {
    check(
        question(1, Risk::High),
        "
        1 bo approve (partly-shown)
        2 bo reject (partly-shown)
        ",
        &expect![[r#"
            1 refused: refusal.not_shown_whole {}
            2 RejectWithReason by bo
        "#]],
    );
    check(
        question(1, Risk::Medium),
        "1 bo approve (partly-shown)",
        &expect![[r#"
        1 ApproveAndExecute by bo
    "#]],
    );
}

#[test]
fn an_option_that_needs_a_text_needs_a_text() {
    check(
        question(1, Risk::Medium),
        "
        1 bo retry
        2 bo explode
        3 bo retry use make -n first
        ",
        &expect![[r#"
            1 refused: refusal.input_missing {"option":"retry","prompt":"What should it do differently?"}
            2 refused: refusal.no_such_option {"offered":"`approve`, `reject`, `retry`, `skip`, `terminate`","option":"explode"}
            3 RetryWithFeedback by bo (use make -n first)
        "#]],
    );
}

#[test]
fn an_event_that_cannot_have_happened_is_a_corrupt_journal() {
    let processed = Event::Processed {
        interaction: InteractionId::new("int_7").unwrap(),
    };
    let error = Interaction::new(question(1, Risk::Low))
        .evolve(&processed, Timestamp::from_millis(0))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the journal says `processed` happened to int_7, which was pending then"
    );
}

#[test]
fn the_inbox_accepts_approvers_and_not_just_any_chat_account() {
    let open = Asked {
        audience: Audience::Inbox,
        ..question(1, Risk::Medium)
    };
    let pending = Pending {
        asked: open,
        votes: BTreeMap::new(),
        escalated: false,
    };
    let ops = ChannelName::new("ops").unwrap();
    let stranger = PersonId::unlinked(&ops, "u1").unwrap();
    assert!(pending.asks(&Principal::Person {
        person: person("lin"),
        via: Via::Inbox
    }));
    assert!(pending.asks(&Principal::Person {
        person: person("lin"),
        via: Via::Chat(ops.clone())
    }));
    assert!(!pending.asks(&Principal::Person {
        person: stranger,
        via: Via::Chat(ops)
    }));
}
