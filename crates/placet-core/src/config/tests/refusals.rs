//! What is refused, and where the refusal points.

use expect_test::expect;

use super::{check, load};

/// `LangChain` #39247: a typo switched the gate off.
#[test]
fn a_typo_is_refused_and_does_not_disable_the_gate() {
    check(
        "[approvall]\nenabled = true\n",
        &expect![[r#"
            placet.toml:1:2: unknown key `approvall`
              help: did you mean `approval`?"#]],
    );
    check(
        "[approval]\nenabeld = true\n",
        &expect![[r#"
            placet.toml:2:1: unknown key `enabeld`
              help: did you mean `enabled`?"#]],
    );
    check(
        "[[rules]]\nname = 'r'\ntool = 'bash'\neffect = 'denny'\n",
        &expect![[r#"
            placet.toml:4:10: unknown value `denny`
              help: did you mean `deny`?"#]],
    );
    check(
        "[[rules]]\nname = 'r'\ncomand = 'rm *'\neffect = 'deny'\n",
        &expect![[r#"
            placet.toml:3:1: unknown key `comand`
              help: did you mean `command`?"#]],
    );
}

/// AGT #3448 (zero stages approved) and PR #3127 (a quorum counted as 0); cadis#1101 (an empty list meant all).
#[test]
fn nobody_to_ask_and_a_quorum_of_nobody_are_refused() {
    check(
        "[[rules]]\nname = 'r'\ntool = 'bash'\neffect = 'ask'\napprovers = []\n",
        &expect![[r#"
            placet.toml:5:13: no approver is named
              help: name people of `[[people]]` or `group:NAME`"#]],
    );
    check(
        "[[rules]]\nname = 'r'\ntool = 'bash'\neffect = 'ask'\nquorum = 0\n",
        &expect!["placet.toml:5:10: a quorum of 0 would approve without an approver"],
    );
    check(
        "[groups]\nops = []\n",
        &expect!["placet.toml:2:1: the group `ops` is empty"],
    );
}

#[test]
fn a_quorum_larger_than_its_set_is_refused() {
    let people = "[[people]]\nname = 'lin'\n[groups]\nops = ['lin']\n";
    check(
        &format!(
            "{people}[[rules]]\nname = 'r'\neffect = 'ask'\napprovers = ['group:ops', 'lin']\nquorum = 2\n"
        ),
        &expect![[r#"
            placet.toml:9:10: a quorum of 2 cannot be met by 1 approver
              help: name more `approvers`, or lower the quorum"#]],
    );
    check(
        "[[rules]]\nname = 'r'\neffect = 'ask'\nquorum = 2\n",
        &expect![[r#"
            placet.toml:4:10: a quorum of 2 cannot be met by 1 approver
              help: name more `approvers`, or lower the quorum"#]],
    );
}

/// Cedar skips a `forbid` that fails, goose a failing inspector: here the file is refused as a whole.
#[test]
fn a_rule_that_cannot_be_read_is_refused_and_not_skipped() {
    check(
        "[[rules]]\nname = 'r'\neffect = 'deny'\ncommand = 'rm -rf / | sh'\npath = '~bob/.ssh'\n",
        &expect![[r#"
            placet.toml:4:11: the command pattern `rm -rf / | sh` holds `|`, but a pattern is one simple command
            placet.toml:5:8: the path glob `~bob/.ssh` must be absolute, start with `~/`, or be relative to the workspace, and hold no `..`"#]],
    );
}

#[test]
fn what_only_fits_an_ask_is_refused_elsewhere() {
    check(
        "[[people]]\nname = 'lin'\n[[rules]]\nname = 'r'\ntool = 'x'\neffect = 'allow'\napprovers = ['lin']\ntimeout = '5m'\n",
        &expect![[r#"
            placet.toml:7:13: `approvers` is only for rules that ask
              help: write `effect = "ask"`, or leave it out
            placet.toml:8:11: `timeout` is only for rules that ask
              help: write `effect = "ask"`, or leave it out"#]],
    );
}

#[test]
fn a_rule_that_allows_must_say_what() {
    check(
        "[[rules]]\nname = 'r'\nagent = 'ci'\neffect = 'allow'\n",
        &expect![[r#"
            placet.toml:4:10: a rule that allows must say what it allows
              help: name a tool, commands, paths, hosts or statements"#]],
    );
    check(
        "[[rules]]\nname = 'r'\ntool = []\neffect = 'allow'\n",
        &expect![[r#"
            placet.toml:3:8: an empty condition says nothing
              help: leave it out, or name something"#]],
    );
}

#[test]
fn each_mistake_in_a_rule_points_at_its_place() {
    let rule =
        |line: &str| format!("[[people]]\nname = 'lin'\n[[rules]]\nname = 'r'\neffect = 'ask'\n{line}\n");
    for (line, expected) in [
        (
            "approvers = ['lyn']",
            "placet.toml:6:14: no person is named `lyn` in `[[people]]`\n  help: did you mean `lin`?",
        ),
        (
            "approvers = ['group:ops']",
            "placet.toml:6:14: no group is named `ops` in `[groups]`",
        ),
        (
            "timeout = 'soon'",
            "placet.toml:6:11: `soon` is not a duration such as \"30s\", \"30m\" or \"24h\"",
        ),
        (
            "timeout = 60",
            "placet.toml:6:11: `60` is 60 milliseconds; write \"60s\" if seconds are meant",
        ),
        (
            "timeout = 0",
            "placet.toml:6:11: a timeout of zero leaves no time to answer",
        ),
        (
            "category = 'reed'",
            "placet.toml:6:12: unknown value `reed`\n  help: did you mean `read`?",
        ),
        (
            "answers = ['approve']",
            "placet.toml:6:11: these answers leave no way to say no",
        ),
        (
            "answers = ['reject']",
            "placet.toml:6:11: these answers leave no way to say yes",
        ),
        (
            "sql = 'DELETE *'",
            "placet.toml:6:7: `DELETE *` is not an SQL verb such as `DELETE`",
        ),
        (
            "escalate = { after = '5m', to = [] }",
            "placet.toml:6:33: no approver is named",
        ),
        (
            "timeout = '5m'\nescalate = { after = '10m', to = ['lin'] }",
            "placet.toml:7:22: escalation after 10m never happens",
        ),
        ("name = 'again'", "placet.toml:6:1: `name` is set twice"),
        ("effect = ", "placet.toml:6:"),
    ] {
        let error = load(&rule(line)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_rule_without_a_name_or_with_anothers_is_refused() {
    check(
        "[[rules]]\neffect = 'deny'\n",
        &expect!["placet.toml:1:1: `name` is missing"],
    );
    check(
        "[[rules]]\nname = 'a'\neffect = 'deny'\n[[rules]]\nname = 'a'\neffect = 'ask'\n",
        &expect!["placet.toml:5:8: there are two rules named `a`"],
    );
}

#[test]
fn a_secret_in_the_file_is_refused_without_printing_it() {
    let person = load("[[people]]\nname = 'lin'\ntoken = 'hunter2'\n")
        .unwrap_err()
        .to_string();
    assert_eq!(
        person,
        "placet.toml:3:9: a secret is written as `env:NAME` or `file:PATH`, never in the file itself"
    );
    let channel = load("[channels.ops]\ntype = 'webhook'\nurl = 'https://x.example'\nsecret = 'hunter2'\n")
        .unwrap_err();
    assert!(
        channel
            .to_string()
            .starts_with("placet.toml:4:10: a secret is written as")
            && !format!("{channel:?}").contains("hunter2")
    );
}

#[test]
fn people_and_channels_that_could_be_confused_are_refused() {
    check(
        "[[people]]\nname = 'lin'\nfeishu = 'ou_1'\n[[people]]\nname = 'wei'\nfeishu = 'ou_1'\n[[people]]\nname = 'x'\nfieshu = 'ou_2'\n",
        &expect![[r#"
            placet.toml:5:8: `wei` and `lin` share the account `ou_1` on `feishu`
            placet.toml:9:1: unknown key `fieshu`: not a channel
              help: did you mean `feishu`?"#]],
    );
    check(
        "[channels.ops]\ntype = 'webhook'\nurl = 'ftp://x'\n",
        &expect![[r#"
            placet.toml:1:11: the webhook `ops` needs a `url` and a `secret`
              help: without a secret, anyone could answer
            placet.toml:3:7: `ftp://x` is not an http or https URL"#]],
    );
}

#[test]
fn a_channel_has_a_type_of_this_version_and_the_keys_of_that_type() {
    check(
        "[channels.a]\ntype = 'webhok'\n[channels.b]\ntype = 'feishu'\napp_id = 'cli_1'\n[channels.c]\nurl = 'https://x.example'\n",
        &expect![[r#"
            placet.toml:2:8: this version has no channels of type `webhok`
              help: did you mean `webhook`?
            placet.toml:4:8: this version has no channels of type `feishu`
              help: expected one of: `webhook`
            placet.toml:6:11: `type` is missing"#]],
    );
    check(
        "[channels.ops]\ntype = 'webhook'\nurl = 'https://x.example'\nsecret = 'env:S'\napp_id = 'x'\nlocale = 'zz'\n",
        &expect![[r#"
            placet.toml:5:1: unknown key `app_id`
              help: expected one of `url`, `secret`, `ca`
            placet.toml:6:10: unknown value `zz`
              help: did you mean `zh`?"#]],
    );
    // Whatever names a channel that was refused is right to do so.
    check(
        "[agent]\nchannels = ['ops']\n[[people]]\nname = 'lin'\nops = 'u1'\n[channels.ops]\ntype = 7\n",
        &expect!["placet.toml:7:8: `type` must be one of: `webhook`"],
    );
    check(
        "channels = 3\n",
        &expect!["placet.toml:1:12: a channel is a section: `[channels.NAME]`"],
    );
}

#[test]
fn models_that_cannot_be_reached_and_agents_without_theirs_are_refused() {
    check(
        "[agent]\nmodel = 'other'\nturns_max = 0\n[models.main]\nprovider = 'openai'\nmodel = 'm'\nbase_url = 'ftp://x'\n",
        &expect![[r#"
            placet.toml:2:9: there is no `[models.other]`
            placet.toml:3:13: this must be at least 1
            placet.toml:7:12: `ftp://x` is not an http or https URL"#]],
    );
    check(
        "[models.main]\nprovider = 'anthropic'\napi_key = 'sk-live-123'\n",
        &expect![[r#"
            placet.toml:3:11: a secret is written as `env:NAME` or `file:PATH`, never in the file itself"#]],
    );
}

#[test]
fn certificates_for_a_connection_that_is_not_encrypted_are_refused() {
    check(
        "[channels.ops]\ntype = 'webhook'\nurl = 'http://x.example'\nsecret = 'env:S'\nca = 'file:ca.pem'\n",
        &expect![[r#"
            placet.toml:5:6: `ca` means nothing without an https `url` of a webhook
              help: it says whom to trust on an https connection"#]],
    );
    let encrypted =
        "[channels.ops]\ntype = 'webhook'\nurl = 'HTTPS://x.example'\nsecret = 'env:S'\nca = 'file:ca.pem'\n";
    assert!(load(encrypted).is_ok());
}

#[test]
fn sections_of_later_work_are_refused_plainly() {
    check(
        "[mcp.upstreams.x]\nurl = 'x'\n",
        &expect![[r#"
            placet.toml:1:6: `[mcp.upstreams]` is not part of this version yet
              help: remove the section"#]],
    );
}

#[test]
fn a_server_that_cannot_be_reached_as_written_is_refused() {
    check(
        "[mcp.servers.a]\n[mcp.servers.b]\ncommand = []\n[mcp.servers.c]\nurl = 'c.example'\n[mcp.servers.'d d']\nurl = 'http://d'\n",
        &expect![[r#"
            placet.toml:1:14: the server `a` needs either a `command` or a `url`
            placet.toml:3:11: the command is empty
            placet.toml:5:7: `c.example` is not an http or https URL
            placet.toml:6:14: `d d` cannot be the name of a server
              help: letters, digits and dashes, at most 24: it becomes part of its tools' names"#]],
    );
    check(
        "[mcp.servers.a]\ncommand = ['x']\nbearer = 'env:T'\n[mcp.servers.b]\nurl = 'http://b'\nenv = { A = 'b' }\n",
        &expect![[r#"
            placet.toml:2:11: `bearer` is for a `url`; a program has an `env`
            placet.toml:5:7: `env` is for a `command`; a `url` has a `bearer`"#]],
    );
}

#[test]
fn an_agent_that_listens_on_a_channel_that_is_none_is_refused() {
    check(
        "[agent]\nchannels = ['ops']\n",
        &expect![[r#"
            placet.toml:2:13: there is no `[channels.ops]`"#]],
    );
}
