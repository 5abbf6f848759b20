//! What loads, from which of its sources.

use expect_test::{Expect, expect};

use super::*;
use crate::analysis::tests::uninspected;
use crate::policy::Mode;
use crate::tool::{Category, Lens, Risk};

mod mistakes;
mod refusals;

fn load(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, "placet.toml", std::iter::empty(), uninspected())
}

fn with_environment(text: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::parse(
        text,
        "placet.toml",
        variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        uninspected(),
    )
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&load(text).unwrap_err().to_string());
}

fn name(tool: &str) -> ToolName {
    ToolName::new(tool).unwrap()
}

#[test]
fn the_default_file_says_what_is_built_in() {
    let builtin = format!("{:?}", Config::builtin(uninspected()));
    for text in [DEFAULT_FILE, ""] {
        assert_eq!(format!("{:?}", load(text).unwrap()), builtin);
    }
}

/// The manual with every commented example uncommented.
fn default_file_in_full() -> String {
    let is_example = |line: &str| {
        let rest = line.strip_prefix("# ").unwrap_or_default();
        rest.starts_with('[')
            || rest
                .split_once(" = ")
                .is_some_and(|(key, _)| key.chars().all(|c| c.is_alphanumeric() || c == '_'))
    };
    let uncommented = |line: &str| {
        if is_example(line) {
            line.trim_start_matches("# ").to_owned()
        } else {
            line.to_owned()
        }
    };
    let text: Vec<String> = DEFAULT_FILE.lines().map(uncommented).collect();
    text.join("\n")
}

/// No key of the manual is invented.
#[test]
fn the_examples_of_the_default_file_use_keys_that_exist() {
    let text = default_file_in_full();
    let tree = DeTable::parse(&text).unwrap();
    let read = channels::read(tree.get_ref(), &mut Checker::new(&text, &[]));
    assert!(read.values().all(Option::is_some));
    let file = ConfigFile::deserialize(toml::de::Deserializer::from(tree)).unwrap();
    assert_eq!(
        (
            file.rules.as_ref().map_or(0, Vec::len),
            file.tools.len(),
            file.people.as_ref().map_or(0, Vec::len),
            read.len()
        ),
        (2, 1, 1, 1)
    );
}

/// A key that is new in the manual, or a secret that is new in the types, cannot be forgotten among those that are kept from
/// what agents run.
#[test]
fn every_secret_of_a_configuration_is_known_to_be_one() {
    // The manual's rule shows every condition at once, so its examples are of no call; and it names a colleague whom it does
    // not introduce.
    let text = default_file_in_full()
        .replace("\nmatches = ", "\n# ")
        .replace("\nnot_matches = ", "\n# ")
        + "\n[[people]]\nname = 'wei'\ntoken = 'file:wei.token'\n";
    let config = load(&text).unwrap_or_else(|error| panic!("{error}"));
    let named: BTreeSet<String> = text
        .split("\"env:")
        .skip(1)
        // So it explains how places are written.
        .filter_map(|rest| rest.split('"').next().filter(|name| *name != "NAME"))
        .map(str::to_owned)
        .collect();
    assert!(
        named.contains("PLACET_ADMIN_TOKEN") && named.len() > 8,
        "{named:?}"
    );
    let settings = ["PLACET_SERVER__TOKENS__ADMIN", "PLACET_PEOPLE"].map(str::to_owned);
    let others = ["PLACET_CONFIG", "PATH", "PLACETOLOGY__X"].map(str::to_owned);
    let kept = config.own_variables(settings.iter().chain(&others).cloned());
    assert_eq!(kept, named.into_iter().chain(settings).collect());
    // What prints as a secret is one, wherever in the configuration it is.
    let printed = format!("{config:?}").matches(":****)").count();
    assert_eq!(config.secrets().len(), printed);
}

#[test]
fn every_section_is_read() {
    let config = load(
        r#"
        [approval]
        mode = "autoEdit"
        strict = true
        timeout = "2m"
        memory = "0s"
        on_other_reply = "queue"
        locale = "zh"
        [tools.deploy]
        category = "network"
        risk = "HIGH"
        url = ["endpoint"]
        schema = { type = "object" }
        [tools.peek]
        category = "read"
        [tools.report]
        sql = "query"
        dialect = "mysql"
        [[people]]
        name = "lin"
        token = "env:LIN_TOKEN"
        feishu = "ou_1"
        ops = "lin"
        [groups]
        all = ["lin"]
        [channels.ops]
        type = "webhook"
        url = "https://chat.example.com/placet"
        secret = "file:/run/secrets/ops"
        [server]
        listen = "[::1]:80"
        tokens = { agent = "env:A" }
        [store]
        path = "x.db"
        [workspace]
        root = "/srv/code"
        "#,
    )
    .unwrap();
    assert_eq!(config.policy.settings().mode, Mode::AutoEdit);
    assert_eq!(
        (config.approval.timeout, config.approval.memory),
        (Some(Millis::from_secs(120)), Millis::ZERO)
    );
    assert_eq!(
        (config.approval.on_other_reply, config.approval.locale),
        (OtherReply::Queue, Locale::Chinese)
    );
    let deploy = config.tool(&name("deploy"));
    assert_eq!((deploy.category, deploy.risk), (Category::Network, Risk::High));
    assert_eq!(
        deploy.lenses,
        [Lens::Url {
            arg: "endpoint".into()
        }]
    );
    let peek = config.tool(&name("peek"));
    assert_eq!((peek.category, peek.risk), (Category::Read, Risk::Low));
    assert!(
        peek.lenses.contains(&Lens::PathRead { arg: "path".into() }),
        "still looked into"
    );
    assert!(config.tool(&name("report")).sql_decides_category);
    assert_eq!(config.tool(&name("bash")), Tool::unknown(name("bash")));
    assert_eq!(
        config.builtin_tool(&name("bash")),
        Tool::builtin(&name("bash")).unwrap()
    );
    assert_eq!(config.tool(&name("mystery")), Tool::unknown(name("mystery")));
    let ops = ChannelName::new("ops").unwrap();
    assert_eq!(config.people.person_for(&ops, "lin").unwrap().as_str(), "lin");
    assert_eq!(config.channels[&ops].timeout, None);
    assert_eq!(config.server.listen.to_string(), "[::1]:80");
    assert_eq!(
        (config.store.path.as_str(), config.workspace.root.as_str()),
        ("x.db", "/srv/code")
    );
}

#[test]
fn the_names_of_the_seeds_are_accepted() {
    let config = load(
        r#"
        [approval]
        approvalMode = "yolo"
        strictMode = true
        approvalTimeout = 60000
        memoryWindow = 300000
        autoApprovedTools = ["get_weather"]
        [approval.toolOverrides]
        bash = true
        "#,
    )
    .unwrap();
    let settings = config.policy.settings();
    assert_eq!((settings.mode, settings.strict), (Mode::Yolo, true));
    assert!(settings.auto_approved_tools.contains(&name("get_weather")));
    assert_eq!(
        settings.tool_overrides[&name("bash")],
        crate::policy::Override::Ask
    );
    let expected = Approval {
        timeout: Some(Millis::from_secs(60)),
        ..Config::builtin(uninspected()).approval
    };
    assert_eq!(config.approval, expected);
}

#[test]
fn both_spellings_at_once_are_refused() {
    check(
        "[approval]\nstrict = false\nstrictMode = true\n",
        &expect![[r#"
            placet.toml:3:1: both `strict` and `strictMode` are given
              help: they mean the same; keep `strict`"#]],
    );
}

#[test]
fn variables_win_over_the_file() {
    let variables = [
        ("PLACET_APPROVAL__MODE", "yolo"),
        ("PLACET_APPROVAL__STRICT", "true"),
        ("PLACET_APPROVAL__TOOL_OVERRIDES__BASH", "false"),
        ("PLACET_GROUPS", "{ ops = ['lin'] }"),
        ("PLACET_PEOPLE", "[{ name = 'lin' }]"),
        ("PLACET_CONFIG", "elsewhere.toml"),
        ("HOME", "/root"),
    ];
    let config = with_environment("[approval]\nmode = 'default'\nstrictMode = false\n", &variables).unwrap();
    let settings = config.policy.settings();
    assert_eq!((settings.mode, settings.strict), (Mode::Yolo, true));
    assert_eq!(
        settings.tool_overrides[&name("bash")],
        crate::policy::Override::Allow
    );
    assert_eq!(config.people.resolve("group:ops").unwrap().len(), 1);
}

#[test]
fn a_bad_variable_is_named() {
    for (variable, value, expected) in [
        (
            "PLACET_APPROVAL__MOOD",
            "yolo",
            "PLACET_APPROVAL__MOOD: unknown key `mood`",
        ),
        (
            "PLACET_APPROVAL__MODE",
            "yola",
            "PLACET_APPROVAL__MODE: unknown value `yola`",
        ),
        (
            "PLACET_APPROVAL__STRICT",
            "maybe",
            "PLACET_APPROVAL__STRICT: `approval.strict` must be `true` or `false`, not maybe",
        ),
        (
            "PLACET_APROVAL__STRICT",
            "true",
            "PLACET_APROVAL__STRICT: unknown key `aproval`",
        ),
        (
            "PLACET_APPROVAL__MODE__X",
            "1",
            "PLACET_APPROVAL__MODE__X: names something that is not a section",
        ),
    ] {
        let error = with_environment("[approval]\nmode = 'default'\n", &[(variable, value)])
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn the_column_counts_characters_and_the_span_counts_bytes() {
    let error = load("[approval]\n\"模式\" = 1\n").unwrap_err();
    assert_eq!(
        error.problems[0].place,
        Place::Text {
            line: 2,
            column: 1,
            span: 11..19
        }
    );
    let error = load("approval = { \"locale\" = \"中\", x = 1 }").unwrap_err();
    assert!(
        matches!(
            error.problems[0].place,
            Place::Text {
                line: 1,
                column: 25,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn the_most_specific_timeout_wins() {
    let workflow = Workflow::parse("[workflow.config]\n", "w").unwrap();
    let config =
        load("[channels.lark]\ntype = 'webhook'\nurl = 'https://x.example'\nsecret = 'env:X'\n").unwrap();
    let (chat, mail) = (
        ChannelName::new("lark").unwrap(),
        ChannelName::new("email").unwrap(),
    );
    let terminal = ChannelName::new("terminal").unwrap();
    let rule = Some(Millis::from_secs(1800));
    for (rule, workflow, channel, seconds) in [
        (rule, Some(&workflow), Some(&mail), 1800),
        (None, Some(&workflow), Some(&mail), 30),
        (None, None, Some(&mail), 86_400),
        (None, None, Some(&chat), 300),
        (None, None, Some(&terminal), 60),
        (None, None, None, 3600),
    ] {
        assert_eq!(
            config.timeout(rule, workflow, channel),
            Millis::from_secs(seconds)
        );
    }
}

#[test]
fn a_timeout_for_all_requests_gives_way_only_to_one_that_is_configured() {
    let channel = |name: &str, extra: &str| {
        format!("[channels.{name}]\ntype = 'webhook'\nurl = 'https://x.example'\nsecret = 'env:X'\n{extra}")
    };
    let file = "[approval]\ntimeout = '10m'\n".to_owned()
        + &channel("ops", "")
        + &channel("slow", "timeout = '2h'\n");
    let config = load(&file).unwrap();
    let seconds = |name: Option<&str>| {
        let name = name.map(|name| ChannelName::new(name).unwrap());
        config.timeout(None, None, name.as_ref())
    };
    assert_eq!(seconds(None), Millis::from_secs(600));
    assert_eq!(seconds(Some("terminal")), Millis::from_secs(600));
    assert_eq!(seconds(Some("ops")), Millis::from_secs(600));
    assert_eq!(seconds(Some("slow")), Millis::from_secs(7200));
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_configuration_or_refused_with_a_place(text in "(\\[\\[?[a-z.]{1,9}\\]\\]?\n|[a-z]{1,9} = [\"'0-9a-z\\[\\]{}]{0,6}\n|.{0,5}\n){0,6}") {
        if let Err(error) = load(&text) {
            proptest::prop_assert!(!error.problems.is_empty());
        }
    }
}

#[test]
fn a_sandbox_confines_unless_it_is_switched_off_and_its_folders_are_absolute() {
    use crate::confine::Level;

    let level = |text: &str| load(text).unwrap().agent.sandbox.level;
    assert_eq!(level(""), Some(Level::Workspace));
    assert_eq!(
        level("[agent.sandbox]\nmode = 'read-only'\n"),
        Some(Level::ReadOnly)
    );
    assert_eq!(level("[agent.sandbox]\nmode = 'off'\n"), None);
    let error = load("[agent.sandbox]\nread = ['~/ok', 'cache']\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("`cache` is not an absolute path"), "{error}");
    let server = "[mcp.servers.a]\ncommand = ['x']\nsandbox = 'workspace'\n";
    assert_eq!(
        load(server).unwrap().mcp_servers["a"].sandbox,
        Some(Level::Workspace)
    );
    let remote = "[mcp.servers.a]\nurl = 'https://a.example.com'\nsandbox = 'workspace'\n";
    assert!(load(remote).unwrap_err().to_string().contains("not confined"));
}

#[test]
fn a_name_in_a_variable_keeps_its_case() {
    use crate::policy::Override;
    let config = with_environment(
        "",
        &[
            ("PLACET_APPROVAL__MODE", "yolo"),
            ("PLACET_APPROVAL__TOOL_OVERRIDES__getWeather", "false"),
            ("PLACET_APPROVAL__TOOL_OVERRIDES__SEND_MAIL", "true"),
            ("PLACET_APPROVAL__TOOL_OVERRIDES__mcp__db__execSql", "true"),
            ("PLACET_TOOLS__readPage__CATEGORY", "read"),
        ],
    )
    .unwrap();
    let settings = config.policy.settings();
    let word = |tool: &str| settings.tool_overrides.get(&name(tool)).copied();
    assert_eq!(word("getWeather"), Some(Override::Allow));
    assert_eq!(word("send_mail"), Some(Override::Ask));
    assert_eq!(word("mcp__db__execSql"), Some(Override::Ask));
    assert_eq!(settings.mode, Mode::Yolo);
    assert!(config.tools.contains_key(&name("readPage")));
}

#[test]
fn a_variable_whose_key_is_written_otherwise_is_refused_and_not_ignored() {
    for variable in ["PLACET_APPROVAL__Mode", "PLACET_APPROVAL__toolOverrides__x"] {
        let error = with_environment("", &[(variable, "yolo")])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(variable) && error.contains("unknown key"),
            "{error}"
        );
    }
}
