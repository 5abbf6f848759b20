//! Looking back: rules for what people always approved, past calls under another policy, and grants beyond a conversation.

use placet_core::interaction::{Answer, Remember};
use placet_core::listing::StandingRow;
use placet_core::standing::{GrantReach, ProposedRule, Scope};
use placet_core::steps::AnswerRefusal;
use placet_core::time::{Millis, Timestamp};
use placet_core::verdict::Step;
use placet_engine::places::DiskPlaces;
use placet_engine::review::{self, PastCall, Word};
use placet_engine::{Authority, Engine};
use placet_store::StepError;
use serde_json::json;

use crate::support::{
    BEGINNING, House, call, choice, config_of, decide, deploy, in_session, inbox, park, person, say, verify,
};

/// Without a memory every question is asked.
const PLAIN: &str = "[approval]\nmemory = \"0s\"\n";

fn run(id: &str, line: &str) -> placet_core::call::ToolCall {
    call(id, "bash", json!({ "command": line }))
}

fn fetch(id: &str, host: &str) -> placet_core::call::ToolCall {
    call(id, "fetch", json!({ "url": format!("https://{host}/{id}") }))
}

async fn past(engine: &Engine) -> Vec<PastCall> {
    let past = review::past_calls(engine.store(), Timestamp::from_millis(0));
    past.await.unwrap()
}

fn places(house: &House) -> DiskPlaces {
    DiskPlaces::new(house.file().parent().unwrap(), None).unwrap()
}

fn suggested(house: &House, calls: &[PastCall], min: usize) -> Vec<(String, usize)> {
    let found = review::suggest(&config_of(PLAIN), &places(house), calls, min);
    let each = found.iter();
    each.map(|one| (one.rule.name().to_owned(), one.spared.approved))
        .collect()
}

#[tokio::test]
async fn what_was_always_approved_is_suggested_with_counts_and_loads() {
    let house = House::new();
    let engine = house.open(PLAIN).await;
    for (number, session) in ["a", "b", "b"].iter().enumerate() {
        let call = in_session(fetch(&format!("f{number}"), "example.com"), session);
        decide(&engine, call, choice("lin", "approve")).await;
        house.clock.pass(50_000);
    }
    let calls = past(&engine).await;
    let found = review::suggest(&config_of(PLAIN), &places(&house), &calls, 3);
    let [one] = found.as_slice() else {
        panic!("one rule: {found:?}")
    };
    assert_eq!(
        (one.spared.approved, one.spared.sessions.len(), one.spared.days),
        (3, 2, 2)
    );
    assert!(one.spared.people.contains(&person("lin")));
    let text = one.rule.to_toml();
    assert!(
        text.contains("host = [\"example.com\"]") && text.contains("matches = ["),
        "{text}"
    );
    let loaded = config_of(&text);
    assert_eq!(
        loaded.policy.rules().count(),
        1,
        "it loads, and its examples hold"
    );
    assert!(
        suggested(&house, &calls, 4).is_empty(),
        "three times are not four"
    );
}

#[tokio::test]
async fn nothing_is_suggested_from_what_a_person_ever_refused_or_a_program_decided() {
    let house = House::new();
    let engine = house.open(PLAIN).await;
    for number in 0..4 {
        decide(
            &engine,
            fetch(&format!("f{number}"), "example.com"),
            choice("lin", "approve"),
        )
        .await;
    }
    assert_eq!(suggested(&house, &past(&engine).await, 3).len(), 1);
    let refused = in_session(fetch("no", "example.com"), "other");
    decide(&engine, refused, choice("wei", "reject")).await;
    assert!(suggested(&house, &past(&engine).await, 3).is_empty());
}

#[tokio::test]
async fn high_risk_and_what_a_rule_asks_about_is_never_suggested() {
    let house = House::new();
    let rule = format!("{PLAIN}[[rules]]\nname = \"hosts\"\neffect = \"ask\"\nhost = \"example.com\"\n");
    let engine = house.open(&rule).await;
    for number in 0..3 {
        decide(
            &engine,
            fetch(&format!("f{number}"), "example.com"),
            choice("lin", "approve"),
        )
        .await;
        let high = run(&format!("r{number}"), "rm -rf build");
        decide(&engine, high, choice("lin", "approve")).await;
    }
    assert!(suggested(&house, &past(&engine).await, 1).is_empty());
}

#[tokio::test]
async fn a_rule_that_would_hold_a_secret_is_not_suggested() {
    let house = House::new();
    let engine = house.open(PLAIN).await;
    for number in 0..3 {
        let line = "git push https://lin:ghp_0123456789abcdefghijklmnopqrstuvwxyz@example.com/x main";
        let call = in_session(run(&format!("r{number}"), line), &format!("s{number}"));
        decide(&engine, call, choice("lin", "approve")).await;
    }
    let found = review::suggest(&config_of(PLAIN), &places(&house), &past(&engine).await, 1);
    for one in found {
        assert!(!one.rule.to_toml().contains("ghp_"), "{}", one.rule.to_toml());
    }
}

#[tokio::test]
async fn replay_puts_what_a_person_refused_and_the_policy_would_allow_first() {
    let house = House::new();
    let engine = house.open(PLAIN).await;
    decide(&engine, fetch("a", "example.com"), choice("lin", "approve")).await;
    decide(&engine, fetch("b", "example.org"), choice("wei", "reject")).await;
    decide(&engine, deploy("c", "staging"), choice("lin", "approve")).await;
    let calls = past(&engine).await;
    let same = review::replay(&config_of(PLAIN), &places(&house), &calls);
    assert_eq!((same.calls, same.changed), (3, 0), "{same:?}");

    let new = format!(
        "{PLAIN}[[rules]]\nname = \"hosts\"\neffect = \"allow\"\nhost = \"example.*\"\n\
         [[rules]]\nname = \"no deploys\"\neffect = \"deny\"\ntool = \"deploy\"\n"
    );
    let replay = review::replay(&config_of(&new), &places(&house), &calls);
    let shape: Vec<_> = replay
        .changes
        .iter()
        .map(|change| (change.from, change.to, change.refused_then, change.calls))
        .collect();
    assert_eq!(
        shape,
        [
            (Word::Ask, Word::Allow, true, 1),
            (Word::Ask, Word::Allow, false, 1),
            (Word::Ask, Word::Deny, false, 1),
        ]
    );
    let first = &replay.changes[0].examples[0];
    assert_eq!(
        (first.refused_by.as_ref(), first.rule.as_deref()),
        (Some(&person("wei")), Some("hosts"))
    );
    assert!(first.what.contains("example.org"), "{first:?}");
}

#[tokio::test]
async fn replay_keeps_what_helped_a_call_then_and_sees_other_terms() {
    let house = House::new();
    let engine = house.open("").await;
    decide(&engine, deploy("a", "x"), choice("lin", "approve")).await;
    // The same again: remembered.
    assert!(matches!(
        crate::support::settle(&engine, deploy("b", "x")).await,
        placet_core::outcome::Outcome::Allowed
    ));
    let calls = past(&engine).await;
    assert_eq!(review::replay(&config_of(""), &places(&house), &calls).changed, 0);
    let two = "[[people]]\nname = \"lin\"\n[[people]]\nname = \"wei\"\n[[rules]]\nname = \"two\"\neffect = \"ask\"\ntool = \"deploy\"\n\
               approvers = [\"lin\", \"wei\"]\nquorum = 2\n";
    let replay = review::replay(&config_of(two), &places(&house), &calls);
    let words: Vec<_> = replay
        .changes
        .iter()
        .map(|change| (change.from, change.to))
        .collect();
    assert_eq!(words, [(Word::Allow, Word::Ask), (Word::Ask, Word::AskOtherwise)]);
}

/// "Don't ask again" with one of the wide scopes of a question.
async fn widely(
    engine: &Engine,
    call: placet_core::call::ToolCall,
    reach: GrantReach,
) -> (Scope, placet_core::ids::InteractionId) {
    let id = park(engine, call).await;
    let question = engine.broker().question(&id).await.unwrap().unwrap();
    let scopes = engine.broker().wide_scopes(&question);
    let scope = scopes.into_iter().find(|scope| scope.reach() == reach);
    (scope.unwrap_or_else(|| panic!("no scope for {reach:?}")), id)
}

fn remembering(scope: Scope) -> Answer {
    Answer {
        remember: Some(Remember {
            lasts: scope.reach().lasts(),
            scope,
            uses_max: None,
        }),
        by: inbox("lin"),
        ..choice("lin", "approve")
    }
}

#[tokio::test]
async fn only_those_the_operator_allows_say_dont_ask_again_for_a_project_or_as_a_rule() {
    let house = House::new();
    let engine = house.open(PLAIN).await;
    for (name, reach) in [("a", GrantReach::Project), ("b", GrantReach::Rule)] {
        let (scope, id) = widely(&engine, fetch(name, "example.com"), reach).await;
        let refused = say(&engine, &id, remembering(scope.clone())).await;
        assert!(
            matches!(refused, Err(StepError::Refused(AnswerRefusal::WideNotAllowed))),
            "{refused:?}"
        );
        assert!(crate::support::is_open(&engine, &id).await, "nothing is decided");
        assert!(engine.broker().standing().await.unwrap().is_empty());
    }
    let (scope, id) = widely(&engine, fetch("c", "example.com"), GrantReach::Project).await;
    let broker = engine.broker();
    broker
        .answer_with(&id, remembering(scope), Authority::Admin)
        .await
        .unwrap();
    assert_eq!(broker.standing().await.unwrap().len(), 1);

    let house = House::new();
    let approvers = "[approval]\nmemory = \"0s\"\nwide_grants = \"approvers\"\n";
    let engine = house.open(approvers).await;
    let (scope, id) = widely(&engine, fetch("a", "example.com"), GrantReach::Rule).await;
    say(&engine, &id, remembering(scope)).await.unwrap();
    verify(&engine).await;
}

#[tokio::test]
async fn a_project_grant_counts_in_every_session_of_its_folder_and_in_no_other_folder() {
    let house = House::new();
    let engine = house.open(PLAIN).await;
    let (scope, id) = widely(&engine, fetch("a", "example.com"), GrantReach::Project).await;
    engine
        .broker()
        .answer_with(&id, remembering(scope), Authority::Admin)
        .await
        .unwrap();
    let other_session = in_session(fetch("b", "example.com"), "another");
    let outcome = crate::support::settle(&engine, other_session).await;
    assert!(
        matches!(outcome, placet_core::outcome::Outcome::Allowed),
        "{outcome:?}"
    );
    engine.shutdown().await.unwrap();

    let elsewhere = tempfile::tempdir().unwrap();
    let engine = house
        .start(house.builder(PLAIN).workspace(elsewhere.path()))
        .await;
    park(&engine, in_session(fetch("c", "example.com"), "third")).await;
}

#[tokio::test]
async fn a_rule_counts_everywhere_is_journaled_with_its_example_and_is_revocable() {
    let house = House::new();
    let engine = house.open(PLAIN).await;
    let (scope, id) = widely(&engine, fetch("a", "example.com"), GrantReach::Rule).await;
    engine
        .broker()
        .answer_with(&id, remembering(scope), Authority::Admin)
        .await
        .unwrap();
    engine.shutdown().await.unwrap();

    let elsewhere = tempfile::tempdir().unwrap();
    let engine = house
        .start(house.builder(PLAIN).workspace(elsewhere.path()))
        .await;
    let (verdict, _) = engine
        .gate()
        .check(in_session(fetch("b", "example.com"), "another"))
        .await
        .unwrap();
    assert_eq!(verdict.step, Step::AllowList);
    let standing = engine.broker().standing().await.unwrap();
    let [StandingRow { grant, .. }] = standing.as_slice() else {
        panic!("one: {standing:?}")
    };
    let year = Millis::from_secs(365 * 24 * 60 * 60);
    assert_eq!(grant.ends_at, Timestamp::from_millis(BEGINNING) + year);
    let text = ProposedRule::of(grant, &placet_inspect::builtin())
        .unwrap()
        .to_toml();
    assert!(text.contains("matches = [\"https://example.com/a\"]"), "{text}");
    assert_eq!(config_of(&text).policy.rules().count(), 1);
    engine
        .broker()
        .revoke_standing(&grant.id, &person("lin"))
        .await
        .unwrap();
    park(&engine, in_session(fetch("c", "example.com"), "third")).await;
    verify(&engine).await;
}

#[tokio::test]
async fn a_rule_never_covers_what_a_person_refused_last_week_and_overrides_no_rule_and_no_strictness() {
    let house = House::new();
    let engine = house.open(PLAIN).await;
    decide(&engine, fetch("no", "example.com"), choice("wei", "reject")).await;
    let (scope, id) = widely(
        &engine,
        in_session(fetch("a", "example.com"), "b"),
        GrantReach::Rule,
    )
    .await;
    let refused = engine
        .broker()
        .answer_with(&id, remembering(scope.clone()), Authority::Admin)
        .await;
    assert!(
        matches!(refused, Err(StepError::Refused(AnswerRefusal::RefusedBefore))),
        "{refused:?}"
    );
    house.clock.pass(8 * 24 * 60 * 60);
    let (scope, id) = widely(
        &engine,
        in_session(fetch("c", "example.com"), "c"),
        GrantReach::Rule,
    )
    .await;
    engine
        .broker()
        .answer_with(&id, remembering(scope), Authority::Admin)
        .await
        .unwrap();
    engine.shutdown().await.unwrap();
    for stricter in [
        "[approval]\nstrict = true\n",
        "[[rules]]\nname = \"n\"\neffect = \"ask\"\nhost = \"example.com\"\n",
        "[approval.tool_overrides]\nfetch = true\n",
    ] {
        let engine = house.open(stricter).await;
        let (verdict, _) = engine.gate().check(fetch("d", "example.com")).await.unwrap();
        assert!(
            matches!(verdict.decision, placet_core::verdict::Decision::Ask(_)),
            "{stricter}: {verdict:?}"
        );
        engine.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn what_a_rule_asks_about_is_offered_to_nobody_beyond_the_conversation() {
    let house = House::new();
    let engine = house
        .open("[[rules]]\nname = \"n\"\neffect = \"ask\"\nhost = \"example.com\"\n")
        .await;
    let id = park(&engine, fetch("a", "example.com")).await;
    let question = engine.broker().question(&id).await.unwrap().unwrap();
    assert!(engine.broker().wide_scopes(&question).is_empty());
}

#[tokio::test]
async fn a_scope_that_no_rule_can_say_is_not_granted_beyond_the_conversation() {
    let house = House::new();
    let engine = house.open(PLAIN).await;
    let line = "curl -H 'Authorization: Bearer sk-0123456789abcdef0123456789abcdef' https://example.com/x";
    let id = park(&engine, run("a", line)).await;
    let question = engine.broker().question(&id).await.unwrap().unwrap();
    let scopes = engine.broker().scopes(&question);
    for scope in scopes.iter().filter(|scope| scope.reach() == GrantReach::Session) {
        let wide = remembering(scope.everywhere());
        let refused = engine.broker().answer_with(&id, wide, Authority::Admin).await;
        assert!(
            matches!(refused, Err(StepError::Refused(AnswerRefusal::ScopeMismatch))),
            "{refused:?}"
        );
    }
    assert!(engine.broker().standing().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_built_in_agents_tools_are_known_by_name_without_a_toolbox() {
    let house = House::new();
    let engine = house.open("").await;
    let mut read = call("a", "ls", json!({ "path": "src" }));
    read.origin.agent = placet_core::ids::AgentId::built_in();
    let (verdict, _) = engine.gate().check(read).await.unwrap();
    assert_eq!(verdict.step, Step::LowRisk);
    let (verdict, _) = engine
        .gate()
        .check(call("b", "ls", json!({ "path": "src" })))
        .await
        .unwrap();
    assert_eq!(
        verdict.step,
        Step::Ask,
        "another agent's tool of that name is another tool"
    );
}
