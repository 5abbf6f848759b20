//! What is on disk: every kind of event, and the schema. A change here is a change of format and needs a migration.

use std::collections::BTreeSet;

use expect_test::expect_file;
use placet_core::call::Args;
use placet_core::config::Workflow;
use placet_core::digest::Digest;
use placet_core::ids::{CallId, ChannelName, ChatId, SessionId, StandingGrantId, ToolName};
use placet_core::interaction::{Action, Cancellation, Resolution, Subject};
use placet_core::journal::{Author, Checkpoints, Event, InboundMessage};
use placet_core::outcome::{Denial, OpenOf, Outcome};
use placet_core::policy::Mode;
use placet_core::run::{Limits, ModelCall, ModelTurn, Parent, RequestedCall, RunEnd, RunStarted, Usage};
use placet_core::standing::{Covers, Scope, StandingGrant};
use placet_core::time::{Millis, Timestamp};
use placet_core::variables::Variables;
use placet_core::verdict::{Decision, Reason};

use crate::world::*;

fn about_calls() -> Vec<Event> {
    let ls = call("c1", "ls");
    let denied = Outcome::Denied {
        denial: Denial::TooManyOpen {
            max: 8,
            of: OpenOf::Session,
        },
    };
    vec![
        received(&ls, Decision::Allow),
        received(&ls, ask()),
        Event::Joined {
            call: key("c2"),
            same_as: key("c1"),
            interaction: question("int_1"),
        },
        settled("c1", approved(&ls, Some(Timestamp::from_millis(7))), Some(1)),
        settled("c1", rejected("no"), None),
        settled("c1", denied, None),
        claimed("c1", 1),
        Event::Claimed {
            call: key("c1"),
            grant: 1,
            lease: Some(wall(9)),
            process: None,
            child: None,
        },
        Event::Claimed {
            call: key("c2"),
            grant: 1,
            lease: None,
            process: None,
            child: Some(SessionId::new("task_c2").unwrap()),
        },
        finished("c1", 1),
        Event::LostTrack {
            call: key("c1"),
            grant: 1,
        },
    ]
}

fn about_questions() -> Vec<Event> {
    let ls = call("c1", "ls");
    let resolved = |resolution| Event::Resolved {
        interaction: question("int_1"),
        resolution,
    };
    let breaker = Subject::Breaker {
        rejections: 3,
        call: key("c1"),
    };
    vec![
        Event::Asked(Box::new(asked("int_1", &ls))),
        Event::Asked(Box::new(about("int_2", breaker))),
        Event::Escalated {
            interaction: question("int_1"),
            to: BTreeSet::from([person("cy")]),
        },
        Event::Voted {
            interaction: question("int_1"),
            ballot: ballot("ana"),
        },
        Event::Commented {
            interaction: question("int_1"),
            by: person("bo"),
            text: "not before noon".into(),
        },
        answered("int_1", Action::ApproveAndExecute),
        resolved(Resolution::Expired { option: None }),
        resolved(Resolution::Cancelled {
            why: Cancellation::Terminated,
        }),
        resolved(Resolution::Superseded {
            by: question("int_2"),
        }),
        Event::Processed {
            interaction: question("int_1"),
        },
        Event::Delivered {
            interaction: question("int_1"),
            channel: ChannelName::new("ops").unwrap(),
            chat: ChatId::new("room").unwrap(),
            receipt: Some("card 7".into()),
        },
    ]
}

fn variables(region: &str) -> Variables {
    Variables::from_iter([("region".to_owned(), region.into())])
}

fn about_runs() -> Vec<Event> {
    let wants = |id: &str, wanted| ModelCall {
        id: CallId::new(id).unwrap(),
        wanted,
    };
    vec![
        Event::RunStarted(Box::new(RunStarted {
            task: "tidy up".into(),
            model: "main".into(),
            limits: Limits::USUAL,
            origin: call("c1", "ls").origin,
            workspace: None,
            parent: None,
            until: None,
            workflow: None,
        })),
        Event::RunStarted(Box::new(RunStarted {
            task: "one part".into(),
            model: "main".into(),
            limits: Limits::USUAL,
            origin: call("c1", "ls").origin,
            workspace: Some("/srv/project".into()),
            parent: Some(Parent {
                session: SessionId::new("s1").unwrap(),
                call: key("c1"),
            }),
            until: Some(wall(9)),
            workflow: Some(Box::new(
                Workflow::parse("[workflow]\nprompt = 'Be brief.'\ntools = ['read']\n", "w.toml").unwrap(),
            )),
        })),
        Event::UserSaid {
            text: "hurry".into(),
            by: Some(person("ana")),
        },
        Event::ModelTurn(Box::new(ModelTurn {
            turn: 1,
            text: "let me see".into(),
            thinking: Some("hm".into()),
            calls: vec![
                wants(
                    "c1",
                    RequestedCall::Call {
                        tool: ToolName::new("bash").unwrap(),
                        args: Args::empty(),
                    },
                ),
                wants(
                    "c2",
                    RequestedCall::Nonsense {
                        tool: "bahs".into(),
                        args: "{".into(),
                        why: "there is no tool `bahs`".into(),
                    },
                ),
            ],
            usage: Usage {
                input_tokens: 1,
                output_tokens: 2,
            },
            cut: None,
        })),
        Event::ModelTurn(Box::new(ModelTurn {
            turn: 2,
            text: "first I".into(),
            thinking: None,
            calls: Vec::new(),
            usage: Usage::default(),
            cut: Some("the model was cut off at its token limit".into()),
        })),
        Event::RunInterrupted { by: person("ana") },
        Event::VariablesChanged {
            interaction: question("int_1"),
            by: person("ana"),
            before: variables("eu"),
            after: variables("us"),
        },
        ended(RunEnd::Completed),
        ended(RunEnd::Terminated { by: "ana".into() }),
        ended(RunEnd::Interrupted { by: "ana".into() }),
        ended(RunEnd::Failed { why: "no key".into() }),
        ended(RunEnd::LimitReached { turns: 50 }),
        ended(RunEnd::TimedOut),
    ]
}

fn ended(how: RunEnd) -> Event {
    Event::RunEnded { how }
}

fn about_the_rest() -> Vec<Event> {
    let standing = StandingGrantId::new("sg_1").unwrap();
    let bash = ToolName::new("bash").unwrap();
    vec![
        Event::StandingGiven(Box::new(StandingGrant {
            id: standing.clone(),
            scope: Scope {
                tool: bash.clone(),
                session: None,
                workspace: None,
                covers: Covers::Commands(vec!["ls".into()]),
            },
            by: person("ana"),
            given_at: Timestamp::from_millis(1),
            ends_at: Timestamp::from_millis(2),
            uses_max: Some(3),
            examples: Vec::new(),
        })),
        Event::StandingUsed {
            id: standing.clone(),
            call: key("c1"),
        },
        Event::StandingRevoked {
            id: standing,
            by: person("ana"),
        },
        Event::ToolAllowed {
            tool: bash,
            by: person("ana"),
        },
        Event::ModeSet {
            mode: Mode::AutoEdit,
            by: person("ana"),
        },
        Event::SessionEnded { by: "ana".into() },
        Event::MessageQueued(Box::new(InboundMessage {
            channel: ChannelName::new("ops").unwrap(),
            chat_id: ChatId::new("room").unwrap(),
            sender_id: "u1".into(),
            message_id: "m1".into(),
            content: "hello".into(),
            author: Author::Human,
        })),
        Event::Outage {
            from: wall(1_000),
            until: wall(61_000),
        },
        Event::Started {
            down_for: Some(Millis::from_secs(1)),
            policy: Digest::of("policy", &[]),
            workspace: Some("/w".into()),
            checkpoints: None,
        },
        Event::Started {
            down_for: None,
            policy: Digest::of("policy", &[]),
            workspace: None,
            checkpoints: Some(Checkpoints {
                count: 2,
                head: Digest::of("checkpoint", &[]),
            }),
        },
    ]
}

#[test]
fn every_kind_of_event_is_stored_as_it_always_was() {
    let events = [about_calls(), about_questions(), about_runs(), about_the_rest()].concat();
    let kinds: BTreeSet<_> = events.iter().map(Event::name).collect();
    assert_eq!(kinds.len(), 28, "a kind of event is missing here");
    let mut stored = String::new();
    for event in events {
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        stored.push_str(&text);
        stored.push('\n');
    }
    expect_file!["snapshots/events.jsonl"].assert_eq(&stored);
}

/// Versions before findings were stored wrote these rows: reasons are sentences, and nothing says what a call would do.
#[test]
fn rows_of_older_versions_are_read_and_what_they_lack_is_missing() {
    let rows = include_str!("snapshots/events-before-findings.jsonl");
    for row in rows.lines() {
        let event: Event = serde_json::from_str(row).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), row);
        if let Event::CallReceived {
            verdict, findings, ..
        } = event
        {
            assert_eq!(verdict.reason, Reason::Written("because".into()));
            assert_eq!(findings, None);
        }
    }
}

#[test]
fn the_schema_is_as_it_always_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    drop(placet_store::Store::open(&path, placet_store::Options::default()).unwrap());
    let conn = rusqlite::Connection::open(&path).unwrap();
    let mut statement = conn
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name")
        .unwrap();
    let definitions: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    expect_file!["snapshots/schema.sql"].assert_eq(&(definitions.join("\n\n") + "\n"));
}
