//! Configurations whose examples and records are inspected.

use expect_test::{Expect, expect};
use placet_core::analysis::Analysis;
use placet_core::call::Args;
use placet_core::config::Config;
use placet_core::tool::{Category, Risk, Tool};
use serde_json::json;

use crate::support::{inspect, load, name};

/// Another agent's connection has no wall but the judgement, unless the operator says that it cannot write.
#[test]
fn a_qualified_name_is_a_column_where_the_connection_cannot_write_or_the_dialect_has_no_attribute_calls() {
    let sql = "SELECT t.my_delete_all FROM t";
    let category = |tool: &Tool, arg: &str| {
        let args = Args::from_value(json!({ arg: sql })).unwrap();
        inspect(tool, &args).analysis.sql_category()
    };
    let declared = |keys: &str| {
        let config = load(&format!("[tools.query]\nsql = 'q'\n{keys}")).unwrap();
        category(&config.tool(&name("query")), "q")
    };
    for (keys, expected) in [
        ("", Category::Command),
        ("dialect = 'postgresql'", Category::Command),
        ("dialect = 'postgresql'\nread_only = false", Category::Command),
        ("dialect = 'postgresql'\nread_only = true", Category::Read),
        ("read_only = true", Category::Read),
        ("dialect = 'mysql'", Category::Read),
        ("dialect = 'sqlite'", Category::Read),
    ] {
        assert_eq!(declared(keys), Some(expected), "{keys}");
    }
    for keys in [
        "",
        "[tools.sql_query]\ndialect = 'postgresql'",
        "[databases.x]\nurl = 'postgresql://app@db/x'",
    ] {
        let tool = load(keys).unwrap().builtin_tool(&name("sql_query"));
        assert_eq!(category(&tool, "sql"), Some(Category::Read), "{keys}");
    }
    let refused = load("[tools.query]\ncategory = 'read'\nread_only = true")
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("`read_only` without an SQL argument"),
        "{refused}"
    );
    assert!(load("[tools.query]\nsql = 'q'\nread_only = 'yes'").is_err());
}

fn judged(config: &Config, database: &str, sql: &str) -> Analysis {
    let tool = config.builtin_tool(&name("sql_query"));
    let args = Args::from_value(json!({ "database": database, "sql": sql })).unwrap();
    inspect(&tool, &args).analysis
}

#[test]
fn a_statement_is_judged_in_the_dialect_of_the_database_it_is_for() {
    let config = load(
        "[databases.notes]\nurl = 'postgresql://app@db/notes'\n[databases.shop]\nurl = 'env:SHOP'\ntype = 'mysql'",
    )
    .unwrap();
    let sql = "SELECT $$it's$$ FROM notes";
    assert_eq!(judged(&config, "notes", sql).risk(), Risk::Low);
    for other in ["shop", "unknown"] {
        assert_eq!(judged(&config, other, sql).risk(), Risk::High, "{other}");
    }
}

fn dead(toml: &str, used: &[&str]) -> Vec<String> {
    let used = used.iter().map(|tool| name(tool)).collect();
    let dead = load(toml).unwrap().dead_rules(&used);
    dead.iter().map(ToString::to_string).collect()
}

#[test]
fn an_sql_verb_that_does_not_exist_is_dead() {
    let rule =
        |verb: &str| format!("[[rules]]\nname = \"n\"\neffect = \"ask\"\nsql = [\"UPDATE\", \"{verb}\"]\n");
    assert_eq!(
        dead(&rule("DELTE"), &[]),
        ["`n` names the SQL verb `DELTE`, which does not exist; did you mean `DELETE`?"]
    );
    assert_eq!(
        dead(&rule("drop table"), &[]),
        ["`n` names the SQL verb `drop table`, which does not exist; write `DROP`"]
    );
    assert!(dead(&rule("delete"), &[]).is_empty());
}

const TYPO: &str = r#"
[[rules]]
name = "no force pushes"
effect = "deny"
tool = "bahs"
command = "git push --force*"
matches = ["git push --force"]
"#;

#[test]
fn a_rule_for_a_misspelt_tool_is_dead_although_its_examples_match() {
    assert_eq!(
        dead(TYPO, &[]),
        [
            "`no force pushes` names the tool `bahs`, which is not declared and was never used; its examples match \
                 only because any tool of that name would; did you mean `bash`?"
        ]
    );
}

#[test]
fn a_tool_that_is_declared_or_was_used_is_alive() {
    assert!(dead(TYPO, &["bahs"]).is_empty());
    assert!(dead(&format!("{TYPO}\n[tools.bahs]\ncategory = \"command\"\n"), &[]).is_empty());
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&load(text).unwrap_err().to_string());
}

#[test]
fn a_rules_own_example_that_fails_refuses_the_file() {
    let rule = "[[rules]]\nname = 'prod'\ntool = 'deploy'\nargs = { env = 'prod*' }\neffect = 'deny'\n";
    load(&format!(
        "{rule}matches = [{{ env = 'prod-eu' }}]\nnot_matches = [{{ env = 'test' }}, {{}}]\n"
    ))
    .unwrap();
    check(
        &format!(
            "{rule}matches = [\n  {{ env = 'prod' }},\n  {{ env = 'staging' }},\n]\nnot_matches = [{{ env = 'prod' }}]\n"
        ),
        &expect![[r#"
            placet.toml:8:3: the rule `prod` should match `{"env":"staging"}`, but it does not
            placet.toml:10:16: the rule `prod` should not match `{"env":"prod"}`, but it does"#]],
    );
    check(
        &format!("{rule}matches = ['prod']\n"),
        &expect![[
            "placet.toml:6:12: write the example as a table of arguments, such as { command = \"make\" }: for `deploy` a text alone is ambiguous"
        ]],
    );
}
