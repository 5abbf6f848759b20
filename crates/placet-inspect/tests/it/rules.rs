//! Rules on real lines: as a call goes.

use placet_core::tool::{Lens, SqlAccess, SqlDialect};
use placet_core::verdict::{Decision, Step};
use serde_json::json;

use crate::support::{builtin, decide, decide_for, line, load, policy};

/// The example of design §2, as printed there.
const DESIGN: &str = r#"
[[people]]
name = "lin"
[[people]]
name = "wei"
[groups]
ops = ["lin", "wei"]

[[rules]]
name = "force pushes need two people from ops"
tool = "bash"
command = "git push --force*"          # matched on the parsed command, not the text
effect = "ask"                         # allow | ask | deny
approvers = ["group:ops"]
quorum = 2
not_requester = true
timeout = "30m"
escalate = { after = "10m", to = ["lin"] }
answers = ["approve", "reject", "terminate"]
matches = ["git push --force origin main"]
not_matches = ["git push origin main"]
"#;

#[test]
fn the_rule_of_the_design_loads_and_no_spelling_gets_round_it() {
    let rules = policy(DESIGN);
    for spelling in [
        "git push --force origin main",
        "git -C . push origin main --force",
        "cd src && git push origin main --force-with-lease",
        "sudo git push --force",
        "env A=b git push --force",
        "sh -c 'git push --force'",
        "echo $(git push --force)",
        "true\ngit push --force",
        "/usr/bin/git push --force",
        "git pu\"sh\" --fo'rce'",
    ] {
        let verdict = line(&rules, spelling);
        assert_eq!(
            verdict.rule.as_deref(),
            Some("force pushes need two people from ops"),
            "{spelling}: {verdict:?}"
        );
    }
    assert_eq!(line(&rules, "git push origin main").rule, None);
}

#[test]
fn a_failing_example_of_a_command_refuses_the_file() {
    let broken = DESIGN.replace("git push --force origin main", "git pull");
    let error = load(&broken).unwrap_err();
    assert_eq!(
        error.to_string(),
        "placet.toml:20:12: the rule `force pushes need two people from ops` should match `git pull`, but it does not"
    );
}

/// field.md §5, "Shell chaining / wrapper bypass of allow-lists".
#[test]
fn an_allowed_command_does_not_carry_another_with_it() {
    let rules = policy(
        "[[rules]]\nname='safe'\ntool='bash'\ncommand=['git status', 'ls *', 'time *', 'env *', 'sort *', 'find *', 'xargs *']\n\
         effect='allow'\nmatches=['git status', 'ls -l && git status']\nnot_matches=['git status && rm x']\n",
    );
    for allowed in [
        "git status",
        "ls -l src && git status",
        "git status > /dev/null",
        "time ls",
    ] {
        assert_eq!(line(&rules, allowed).rule.as_deref(), Some("safe"), "{allowed}");
    }
    for bypass in [
        "git status\nrm x",
        "git status & rm x",
        "git status | sh",
        "env sh -c 'rm x'",
        "time rm x",
        "ls $(rm x)",
        "ls `rm x`",
        "ls | xargs rm",
        "find . -exec rm {} +",
        "ls > /etc/passwd",
        "PATH=. ls",
        "ls ${x@P}",
        "ls <(rm x)",
        "export A=$(rm x); ls",
        "[[ -n $(rm x) ]] && ls",
        "f() { rm x; }; ls",
        "sort --compress-program=sh x",
    ] {
        let verdict = line(&rules, bypass);
        assert_ne!(verdict.decision, Decision::Allow, "{bypass}: {verdict:?}");
    }
}

/// What makes a command dangerous may be a plain word.
#[test]
fn a_wildcard_that_allows_covers_no_word_of_a_dangerous_command() {
    let rules = policy(
        "[[rules]]\nname='wide'\ntool='bash'\ncommand=['awk *', 'sed *', 'make *', 'git clone *', 'git push *', 'let *', 'echo *', 'cat *']\n\
         effect='allow'\n\
         [[rules]]\nname='exact'\ntool='bash'\ncommand='git push origin +dev'\neffect='allow'\n",
    );
    for bypass in [
        "awk 'BEGIN{system(\"id\")}'",
        "sed '1e id' f",
        "make SHELL=./x",
        "git clone ext::sh",
        "git push origin +main",
        "git push origin :main",
        "let 'x[$(touch P)]=1'",
        "echo x > placet.toml",
        "cat < .env",
    ] {
        assert_eq!(line(&rules, bypass).step, Step::HighRisk, "{bypass}");
    }
    for allowed in [
        "awk '{print $1}' f",
        "sed -n 1p f",
        "make all",
        "git push origin main",
    ] {
        assert_eq!(line(&rules, allowed).rule.as_deref(), Some("wide"), "{allowed}");
    }
    assert_eq!(
        line(&rules, "git push origin +dev").rule.as_deref(),
        Some("exact")
    );
}

#[test]
fn a_rule_that_denies_a_host_finds_it_however_a_line_names_it() {
    let rules = policy(
        "[[rules]]\nname='net'\ntool='bash'\ncommand=['curl *', 'wget *', 'git *']\neffect='allow'\n\
         [[rules]]\nname='evil'\nhost='evil.com'\neffect='deny'\n",
    );
    for spelling in [
        "curl evil.com/x",
        "curl --url=http://evil.com",
        "curl http:/evil.com",
        "curl http://{ok,evil}.com",
        "curl -x evil.com:80 https://example.org",
        "curl --connect-to example.org:443:evil.com:443 https://example.org",
        "wget evil.com",
        "git clone git@evil.com:x",
        "git clone ssh://git@evil.com/x",
        "mytool --to=https://evil.com/x",
        "curl EVIL.COM.",
        "curl \"${u:-https://evil.com}\"",
    ] {
        assert_eq!(line(&rules, spelling).decision, Decision::Deny, "{spelling}");
    }
    // Which hosts these are is for the client to say.
    assert_eq!(line(&rules, "curl 'http://{ok,evil}.com'").step, Step::HighRisk);
    assert_eq!(line(&rules, "curl https://example.org").decision, Decision::Allow);
}

#[test]
fn a_rule_that_denies_a_path_is_not_evaded_by_patterns() {
    let rules = policy(
        "[[rules]]\nname='read'\ntool='bash'\ncommand=['cat *', 'cd *', 'ls *']\neffect='allow'\n\
         [[rules]]\nname='secrets'\npath='secrets/**'\neffect='deny'\n",
    );
    for bypass in [
        "cat s*/key",
        "cat {secrets,x}/key",
        "cat [s]ecrets/key",
        "cat < s*/key",
        "cd s* && cat key",
        "cat */key",
        "cat ./src/../s?crets/key",
        "cat \"${a:-secrets}/key\"",
        "cat sec$(true)rets/key",
        "cat /work*/secrets/key",
        "ls *",
    ] {
        assert_eq!(line(&rules, bypass).decision, Decision::Deny, "{bypass}");
    }
    for other in ["cat src/*.rs", "cat t*/key", "cat *.md", "ls"] {
        assert_eq!(line(&rules, other).decision, Decision::Allow, "{other}");
    }
}

#[test]
fn examples_of_statements_paths_and_urls_are_tried_as_such() {
    policy(
        "[[rules]]\nname='a'\nsql=['DELETE']\ntable='orders'\neffect='ask'\n\
         matches=['DELETE FROM orders WHERE id = 1']\nnot_matches=['SELECT 1', 'DELETE FROM other WHERE id = 1']\n\
         [[rules]]\nname='b'\npath='secrets/**'\neffect='deny'\nmatches=['secrets/key']\nnot_matches=['src/key']\n\
         [[rules]]\nname='c'\ntool='fetch'\nhost='*.example.com'\neffect='allow'\n\
         matches=['https://a.example.com/x']\nnot_matches=['https://example.org']\n",
    );
}

#[test]
fn reading_sql_is_allowed_and_writing_is_asked_about() {
    let rules = policy("");
    let step = |sql: &str| decide(&rules, "data_modify", json!({ "sql": sql })).step;
    assert_eq!(step("SELECT * FROM orders"), Step::LowRisk);
    assert_eq!(step("UPDATE orders SET a = 1 WHERE id = 2"), Step::Ask);
    assert_eq!(step("DELETE FROM orders"), Step::HighRisk);
    assert_eq!(step("SELECT 1; DROP TABLE orders"), Step::HighRisk);
}

#[test]
fn no_way_of_naming_a_table_gets_round_a_deny() {
    let policy = policy("[[rules]]\nname='pay'\ntable='salaries'\neffect='deny'\n");
    let (sqlite, postgresql, mysql) = (SqlDialect::Sqlite, SqlDialect::Postgresql, SqlDialect::Mysql);
    for (sql, dialect) in [
        ("SELECT * FROM salaries", None),
        ("SELECT * FROM \"salaries\"", None),
        ("SELECT * FROM `salaries`", None),
        ("SELECT * FROM [salaries]", Some(sqlite)),
        ("SELECT * FROM 'salaries'", Some(sqlite)),
        ("SELECT * FROM public.\"salaries\"", None),
        ("SELECT * FROM \"old.salaries\"", None),
        ("SELECT * FROM ONLY salaries", Some(postgresql)),
        ("SELECT 1 UNION TABLE salaries", Some(postgresql)),
        ("SHOW CREATE TABLE salaries", Some(mysql)),
        ("SHOW INDEX FROM salaries", Some(mysql)),
    ] {
        let mut tool = builtin("sql_query");
        let arg = "sql".into();
        let access = SqlAccess::ReadOnly;
        tool.lenses = vec![Lens::Sql { arg, dialect, access }];
        let verdict = decide_for(&tool, &policy, json!({ "sql": sql }));
        assert_eq!(verdict.decision, Decision::Deny, "{sql}");
    }
}

#[test]
fn no_verb_inside_a_statement_gets_round_a_deny() {
    let denies = |verb: &str, sql: &str| {
        let policy = policy(&format!("[[rules]]\nname='no'\nsql='{verb}'\neffect='deny'\n"));
        let verdict = decide(&policy, "data_modify", json!({ "sql": sql }));
        verdict.decision == Decision::Deny
    };
    let both = "WITH d AS (UPDATE a SET x = 1 WHERE y = 2 RETURNING x), e AS (DELETE FROM b WHERE y = 2 RETURNING y) SELECT 1";
    assert!(denies("DELETE", both));
    assert!(denies("UPDATE", both));
    assert!(denies("INSERT", "INSERT OR REPLACE INTO t VALUES (1)"));
    assert!(denies("INSERT", "REPLACE INTO t VALUES (1)"));
    assert!(denies(
        "DELETE",
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE"
    ));
    assert!(!denies("DELETE", "SELECT * FROM delete_log"));
}

#[test]
fn a_rule_that_allows_one_verb_does_not_allow_another_inside() {
    let allows = |verbs: &str, sql: &str| {
        let policy = policy(&format!("[[rules]]\nname='ok'\nsql={verbs}\neffect='allow'\n"));
        let verdict = decide(&policy, "data_modify", json!({ "sql": sql }));
        verdict.decision == Decision::Allow
    };
    let both = "WITH e AS (DELETE FROM b WHERE y = 2 RETURNING y) UPDATE a SET x = 1 WHERE y = 2";
    assert!(!allows("['UPDATE']", both));
    assert!(allows("['UPDATE', 'DELETE']", both));
    let reads_on = "WITH e AS (DELETE FROM b WHERE y = 2 RETURNING y) SELECT * FROM e";
    assert!(allows("['DELETE']", reads_on) && !allows("['SELECT']", reads_on));
    assert!(!allows(
        "['INSERT']",
        "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2"
    ));
}

#[test]
fn a_table_is_denied_under_its_short_and_its_long_name() {
    let denies = |table: &str, sql: &str| {
        let policy = policy(&format!("[[rules]]\nname='no'\ntable='{table}'\neffect='deny'\n"));
        decide(&policy, "sql_query", json!({ "sql": sql })).decision == Decision::Deny
    };
    for table in [
        "public.salaries",
        "salaries",
        "db.public.salaries",
        "public.*",
        "*.salaries",
        "PUBLIC.Salar*",
    ] {
        for sql in [
            "SELECT * FROM salaries",
            "SELECT * FROM public.salaries",
            "SELECT * FROM db.public.salaries",
        ] {
            assert!(denies(table, sql), "{table}: {sql}");
        }
    }
    assert!(denies("wages", "PRAGMA table_info(wages)"));
    for (table, sql) in [
        ("public.salaries", "SELECT * FROM old.salaries"),
        ("public.*", "SELECT * FROM old.salaries"),
        ("public.salaries", "SELECT * FROM public"),
        ("public.salaries", "SELECT * FROM public.orders"),
    ] {
        assert!(!denies(table, sql), "{table}: {sql}");
    }
}

#[test]
fn a_rule_that_allows_a_short_table_does_not_allow_another_of_that_name() {
    let policy = policy("[[rules]]\nname='ok'\nsql='DELETE'\ntable='public.orders'\neffect='allow'\n");
    let decide = |sql: &str| decide(&policy, "data_modify", json!({ "sql": sql })).decision;
    assert_eq!(decide("DELETE FROM public.orders WHERE id = 1"), Decision::Allow);
    assert_ne!(decide("DELETE FROM orders WHERE id = 1"), Decision::Allow);
    assert_ne!(
        decide("DELETE FROM db.public.orders WHERE id = 1"),
        Decision::Allow
    );
}

#[test]
fn a_rule_that_allows_a_command_overlooks_variables_known_to_be_harmless() {
    let rules = policy(
        "[[rules]]\nname='dev'\ntool='bash'\ncommand=['cargo *', 'npm *', 'wc *', 'aws *']\neffect='allow'\n",
    );
    for allowed in [
        "RUST_BACKTRACE=1 cargo test",
        "CI=1 npm test",
        "RUST_LOG=debug; cargo test",
        "CI=1 RUST_LOG='debug,core' cargo build",
    ] {
        assert_eq!(line(&rules, allowed).rule.as_deref(), Some("dev"), "{allowed}");
    }
    for asked in [
        "PATH=. cargo test",
        "RUSTFLAGS=x cargo test",
        "X=$(rm y) cargo test",
        "X=$Y cargo test",
        "AWS_PROFILE=prod aws s3 ls",
        "X=1 make",
        "A=1 B='two words' cargo build",
        "XDG_CONFIG_HOME=cfgd cargo build",
        "RIPGREP_CONFIG_PATH=x cargo test",
        "PYTEST_ADDOPTS=x npm test",
        "DOCKER_HOST=x; cargo test",
    ] {
        let verdict = line(&rules, asked);
        assert_ne!(verdict.decision, Decision::Allow, "{asked}: {verdict:?}");
    }
}

#[test]
fn a_rule_that_allows_a_whole_tool_allows_lines_with_variables() {
    let rules = policy("[[rules]]\nname='all'\ntool='bash'\neffect='allow'\n");
    for allowed in ["X=1 ls", "echo $HOME", "for f in src/*.rs; do wc -l \"$f\"; done"] {
        assert_eq!(line(&rules, allowed).rule.as_deref(), Some("all"), "{allowed}");
    }
    assert_ne!(line(&rules, "ls 'open").decision, Decision::Allow);
}

#[test]
fn a_rule_that_allows_commands_and_paths_covers_redirections_to_these_paths() {
    let rules = policy(
        "[[rules]]\nname='print'\ntool='bash'\ncommand=['printf *', 'cd *']\npath='src/**'\neffect='allow'\n\
         matches=['printf a > src/b', 'printf a >> src/deep/b 2>/dev/null']\nnot_matches=['printf a > b', 'printf a']\n",
    );
    for asked in [
        "printf a > b",
        "printf a > src/../b",
        "printf a > src/b > c",
        "cd lib && printf a > src/b",
        "printf a > $x",
        "printf a > src/.git/config",
    ] {
        assert_ne!(line(&rules, asked).decision, Decision::Allow, "{asked}");
    }
    assert_eq!(line(&rules, "printf a > src/b").rule.as_deref(), Some("print"));
}

#[test]
fn a_rule_that_could_never_allow_anything_in_a_shell_is_refused() {
    for condition in ["host='127.0.0.1'", "path='src/**'"] {
        let toml = format!("[[rules]]\nname='dead'\ntool='bash'\n{condition}\neffect='allow'\n");
        let error = load(&toml).unwrap_err();
        assert_eq!(
            error.to_string(),
            "placet.toml:3:6: a rule that allows something in a shell must name commands, or it never applies\n  \
             help: name the commands it is about with `command`"
        );
        // What asks or denies needs no commands, and other tools have none.
        policy(&toml.replace("'allow'", "'deny'"));
        policy(&toml.replace("'bash'", "['bash', 'read', 'fetch']"));
    }
}
