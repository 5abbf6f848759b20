//! The title of a question: what the call would do, from its findings, in both languages.

use expect_test::expect;
use placet_core::analysis::Location;
use placet_core::call::Args;
use placet_core::findings::{Findings, StoredFindings};
use placet_core::interaction::Locale;
use placet_core::render::{self, GistOf};
use placet_core::tool::Tool;
use serde_json::{Value, json};

use crate::support::{inspect, name};

fn found(tool: &str, args: &Value) -> (Args, Findings) {
    let args = Args::from_value(args.clone()).unwrap();
    let tool = Tool::builtin(&name(tool)).unwrap_or_else(|| Tool::unknown(name(tool)));
    let findings = inspect(&tool, &args);
    // As every surface reads them.
    let stored = serde_json::to_string(&findings.stored(&args)).unwrap();
    let stored: StoredFindings = serde_json::from_str(&stored).unwrap();
    let findings = stored.read(&args).unwrap();
    (args, findings)
}

fn title(tool: &str, args: &Value, locale: Locale) -> String {
    let (args, findings) = found(tool, args);
    let of = GistOf {
        tool,
        args: &args,
        findings: Some(&findings),
        evidence: &[],
    };
    render::gist(&of, locale).to_string()
}

fn titles(calls: &[(&str, Value)]) -> String {
    let line = |(tool, args): &(&str, Value)| {
        let [en, zh] = [Locale::English, Locale::Chinese].map(|locale| title(tool, args, locale));
        format!("{en} | {zh}")
    };
    calls.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn lines(lines: &[&str]) -> String {
    let calls: Vec<_> = lines
        .iter()
        .map(|line| ("bash", json!({ "command": line })))
        .collect();
    titles(&calls)
}

#[test]
fn a_line_is_titled_by_what_its_one_riskiest_command_does() {
    expect![[r#"
        Force-push to `origin/main` | 强制推送到 `origin/main`
        Force-push the current branch | 强制推送当前分支
        Push to `origin/main` | 推送到 `origin/main`
        Push to `origin/main` | 推送到 `origin/main`
        Force-push to `origin/main` | 强制推送到 `origin/main`
        Push the current branch | 推送当前分支
        Delete `origin/feature` on the remote | 删除远程的 `origin/feature`
        Commit changes | 提交更改
        Discard local changes and go to `HEAD~1` | 放弃本地更改并回到 `HEAD~1`
        Discard all local changes | 放弃所有本地更改
        Delete untracked files | 删除未跟踪的文件
        Clone `https://example.org/x` | 克隆 `https://example.org/x`
        Delete `build/` | 删除 `build/`
        Delete `a`, `b`, `c` and 2 more | 删除 `a`, `b`, `c` 及另外 2 个
        Create the folder `a/b` | 新建文件夹 `a/b`
        Copy `a`, `b` to `out` | 把 `a`, `b` 复制到 `out`
        Move `a` to `b` | 把 `a` 移动到 `b`
        Set the permissions of `run.sh` to `755` | 把 `run.sh` 的权限改为 `755`
        Install packages with `npm` | 用 `npm` 安装依赖包
        Install `left-pad` with `npm` | 用 `npm` 安装 `left-pad`
        Uninstall `left-pad` with `npm` | 用 `npm` 卸载 `left-pad`
        Install packages with `pip` | 用 `pip` 安装依赖包
        Install `tokenizers` with `pip` | 用 `pip` 安装 `tokenizers`
        Publish a package with `npm` | 用 `npm` 发布包
        Install packages with `npm` | 用 `npm` 安装依赖包
        Run `git status && rm -rf build | tee /tmp/log` | 执行 `git status && rm -rf build | tee /tmp/log`
        Delete `build`, and 1 more command | 删除 `build`，以及另外 1 条命令"#]]
    .assert_eq(&lines(&[
        "git push --force origin main",
        "git push -f",
        "git push origin main",
        "git push origin HEAD:main",
        "git push origin +main",
        "git push",
        "git push origin --delete feature",
        "git commit -m x",
        "git reset --hard HEAD~1",
        "git reset --hard",
        "git clean -fd",
        "git clone https://example.org/x y",
        "rm -rf build/",
        "rm -f a b c d e",
        "mkdir -p a/b",
        "cp a b out",
        "mv a b",
        "chmod 755 run.sh",
        "npm install",
        "npm i left-pad",
        "npm uninstall left-pad",
        "pip install -r requirements.txt",
        "pip install tokenizers",
        "npm publish",
        "cd web && npm install",
        "git status && rm -rf build | tee /tmp/log",
        "mkdir out && rm -rf build",
    ]));
}

#[test]
fn a_line_without_one_clear_act_is_shown_itself() {
    for line in [
        // Several equally risky commands, a word that is only known later, a variable that steers, an option that no record lists.
        "git add -A && git commit -m x",
        "rm -rf $DIR",
        "GIT_SSH_COMMAND=x git push",
        "git push --what origin main",
        "git push origin :main",
        "npm ci --script-shell ./x && rm -rf build",
        "sudo rm -rf /opt/x",
        "make",
        "ls -la",
        "unheard-of --now",
    ] {
        let (_, findings) = found("bash", &json!({ "command": line }));
        assert_eq!(findings.act, None, "{line}");
        let told = title("bash", &json!({ "command": line }), Locale::English);
        assert!(told.contains(line), "{told}");
    }
}

#[test]
fn a_tool_is_titled_by_its_arguments() {
    expect![[r#"
        Send e-mail to `all-customers@example.org` | 发送邮件给 `all-customers@example.org`
        Send e-mail to `a@example.org`, `b@example.org`, `c@example.org` | 发送邮件给 `a@example.org`, `b@example.org`, `c@example.org`
        Deploy `checkout 2.14.0` to `production` | 把 `checkout 2.14.0` 部署到 `production`
        Deploy `checkout v3` | 部署 `checkout v3`
        Run `search_email`: `to: lin`, `subject: Hi` | 执行 `search_email`: `to: lin`, `subject: Hi`
        Run `deploy`: `service: checkout` | 执行 `deploy`: `service: checkout`"#]].assert_eq(&titles(&[
        (
            "send_email",
            json!({ "subject": "Hi", "to": "all-customers@example.org", "body": "…" }),
        ),
        (
            "mcp__mail__send_email",
            json!({ "to": ["a@example.org", "b@example.org"], "cc": "c@example.org", "text": "…" }),
        ),
        (
            "deploy",
            json!({ "service": "checkout", "version": "2.14.0", "environment": "production" }),
        ),
        ("deploy_service", json!({ "app": "checkout", "tag": "v3" })),
        // Another tool with such arguments, and a tool that lacks some.
        ("search_email", json!({ "to": "lin", "subject": "Hi" })),
        ("deploy", json!({ "service": "checkout" })),
    ]));
}

#[test]
fn secrets_in_a_title_are_masked_and_backticks_cannot_end_its_code() {
    let clone = "git clone https://lin:ghp_0123456789abcdefghijABCDEFGHIJ012345@example.org/x";
    let told = title("bash", &json!({ "command": clone }), Locale::English);
    assert!(!told.contains("ghp_0123456789"), "{told}");
    let told = title("bash", &json!({ "command": "rm 'a`b'" }), Locale::English);
    assert_eq!(told.matches('`').count(), 2, "{told}");
}

#[test]
fn where_a_call_works_is_stored_with_it() {
    let location = |tool: &str, args: Value| found(tool, &args).1.location.map(|location| *location);
    let line = location("bash", json!({ "command": "make" })).unwrap();
    assert_eq!(line.folder.as_deref(), Some("/workspace"));
    let given = location(
        "run_in_shell",
        json!({ "command": "make", "cwd": "/workspace/web" }),
    )
    .unwrap();
    assert_eq!(given.folder.as_deref(), Some("/workspace/web"));
    assert_eq!(
        location("deploy", json!({ "service": "a", "environment": "production" })),
        Some(Location {
            environment: Some("production".into()),
            ..Location::default()
        })
    );
    assert_eq!(location("todo", json!({ "text": "x" })), None);
    let sql = json!({ "statement": "DELETE FROM a WHERE b = 1", "database": "orders" });
    assert_eq!(
        location("db_exec", sql).unwrap().database.as_deref(),
        Some("orders")
    );
}
