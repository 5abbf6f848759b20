//! The index finds whatever looking at every rule would find.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::call::ToolCall;

/// One condition of a rule as it is written in the file.
fn any_condition(key: &'static str, values: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(values), 1..3)
        .prop_map(move |values| format!("{key} = {values:?}\n"))
}

/// One or two conditions: with more, few rules would ever apply.
#[rustfmt::skip]
fn any_when() -> impl Strategy<Value = String> {
    (
        any_condition("tool", &["bash", "write", "fetch", "*", "b*", "*h", "w?ite", "?", "sql_query", "bash*"]),
        any_condition("command", &[
            "git *", "git push *", "git * --force", "/usr/bin/git push", "g* push", "*", "* push", "/usr/*", "git push origin",
            "rm -rf", "cat 'a b'", "curl *", "git '' x", "/bin/", "git --", "g?t",
        ]),
        any_condition("path", &[
            "src/**", "src/api/**", "src", "**/*.rs", "*.md", "/etc/*", "/etc/ssh/**", "/**", "src/{api,web}/*", "src/a[pq]i/x",
            "/workspace/src/*", "src//api", "**", "src/api*", "?rc/**", "src/**/x",
        ]),
        any_condition("host", &["example.com", "*.example.com", "api.*", "*", "a*.com", "10.0.0.?", "EXAMPLE.com", "example.com."]),
        any_condition("sql", &["DELETE", "select"]),
        any_condition("table", &["orders", "public.orders", "*.orders", "ord*", "*", "ORDERS", "o?ders"]),
        prop::sample::select(vec![
            "args = { x = 'y' }\n", "args = { x = 'y*' }\n", "args = { x = '*z', n = '1' }\n", "args = { n = '[1,*' }\n",
        ]),
        any_condition("agent", &["main", "m*", "*n", "other"]),
        any_condition("session", &["s1", "s*", "*2"]),
    )
        .prop_map(|(tool, command, path, host, sql, table, args, agent, session)| {
            [tool, command, path, host, sql, table, args.to_owned(), agent, session]
        })
        .prop_flat_map(|conditions| prop::sample::subsequence(conditions.to_vec(), 1..3))
        .prop_map(|conditions| conditions.concat())
}

fn any_rules() -> impl Strategy<Value = String> {
    let rule = (any_when(), prop::sample::select(vec!["allow", "ask", "deny"]));
    prop::collection::vec(rule, 1..8).prop_map(|rules| {
        rules
            .iter()
            .enumerate()
            .fold(String::new(), |toml, (place, (when, effect))| {
                // A rule that allows must say what.
                let tool = if when.contains("tool = ") {
                    ""
                } else {
                    "tool = '*'\n"
                };
                // In a shell alone it would have to name commands.
                let when = when
                    .replace(r#"tool = ["bash"]"#, r#"tool = ["bash", "write"]"#)
                    .replace(r#"tool = ["bash", "bash"]"#, r#"tool = ["bash", "write"]"#);
                format!("{toml}[[rules]]\nname = 'r{place}'\neffect = '{effect}'\n{tool}{when}")
            })
    })
}

#[rustfmt::skip]
fn any_fact() -> impl Strategy<Value = Fact> {
    let line = prop::sample::select(vec![
        "git push --force", "git status", "/usr/bin/git push origin x", "gut push", "rm -fr src/api", "cat --from=src/x", "/bin/", "",
        "curl https://api.example.com./v1", "cat ../../etc/ssh/key", "git -- push", "got push",
    ]);
    let place = prop::sample::select(vec![
        "/workspace/src/api/x", "/workspace/src", "/workspace/a.md", "/workspace/src/api/main.rs", "/etc/ssh/key", "/etc/hosts", "/",
        "/workspace/src//api", "/workspace", "/workspace/src/../etc", "src/web/x",
    ]);
    let name = prop::sample::select(vec!["example.com", "a.example.com", "api.org", "10.0.0.7", "example.com.", "Example.com"]);
    let table = prop::sample::select(vec!["orders", "public.orders", "Public.Orders", "a.b.orders", "users", "\"a.orders\""]);
    let kind = prop_oneof![
        line.prop_map(|line| command(Risk::Medium, line).kind),
        (place.clone(), place.clone()).prop_map(|(given, resolved)| FactKind::Path {
            given: given.into(), resolved: resolved.into(), inside: true, writes: true,
        }),
        place.prop_map(|path| FactKind::Redirect {
            path: path.into(), writes: true, contained: true, paths: vec![paths::normalised(path, "/workspace").into_owned()],
        }),
        name.prop_map(|name| FactKind::Host { host: name.into(), scheme: "https".into(), port: Some(443) }),
        (prop::sample::select(vec!["DELETE", "SELECT"]), prop::collection::vec(table, 0..3)).prop_map(|(verb, tables)| {
            let tables = tables.into_iter().map(str::to_owned).collect();
            FactKind::Statement { verb: verb.into(), also: vec![], category: Category::Write, tables, text: verb.into() }
        }),
    ];
    (kind, prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High])).prop_map(|(kind, risk)| fact(risk, kind))
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let tool = prop::sample::select(vec!["bash", "write", "fetch", "sql_query", "b", "mcp__x"]);
    let args: Vec<Value> = vec![
        json!({}),
        json!({"x": "y"}),
        json!({"x": "yz", "n": 1}),
        json!({"n": [1, 2]}),
    ];
    let agent = prop::sample::select(vec!["main", "other"]);
    let session = prop::sample::select(vec!["s1", "s2"]);
    (tool, prop::sample::select(args), agent, session).prop_map(|(tool, args, agent, session)| {
        let mut call = call(tool, args);
        call.origin.agent = crate::ids::AgentId::new(agent).unwrap();
        call.session = crate::ids::SessionId::new(session).unwrap();
        call
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16384, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_verdict_by_the_index_is_the_verdict_by_looking_at_every_rule(
        rules in any_rules(),
        call in any_call(),
        facts in prop::collection::vec(any_fact(), 0..3),
    ) {
        let policy = policy(&rules);
        let case = Case::new(call.tool.as_str(), Analysis { facts, ..Analysis::nothing() });
        let context = case.context(&call);
        let subject = Subject::new(&call, &case.tool, &case.analysis, context.workspace);
        let scanned = policy.decide_among(&Candidates::all(&policy.rules), &subject, &context);
        prop_assert_eq!(policy.decide(&call, &case.tool, &case.analysis, &context), scanned);
    }
}
