//! Where paths lead, and how bad that is.

use expect_test::{Expect, expect};
use placet_core::analysis::FixedPlaces;
use proptest::prelude::*;

use super::*;
use crate::tests::value;

/// A workspace with links.
fn places() -> FixedPlaces {
    let links = [
        ("/home/ana/work/out", Some("/etc/deep")),
        ("/home/ana/work/loop", None),
        ("/home/ana/work/alias", Some("/home/ana/work/src")),
        ("/home/ana/work/.git/hooks", Some("/home/ana/work/scripts")),
        ("/home/ana/work/plain.txt", Some("/home/ana/work/.env")),
    ];
    let own = |(link, target): (&str, Option<&str>)| (link.to_owned(), target.map(str::to_owned));
    FixedPlaces {
        home: Some("/home/ana".to_owned()),
        links: links.into_iter().map(own).collect(),
        ..FixedPlaces::at("/home/ana/work")
    }
}

fn check(usage: Use, paths: &[&str], expected: &Expect) {
    let lines: String = paths
        .iter()
        .flat_map(|path| {
            let mut found = Analysis::nothing();
            analyse(path, usage, &places(), &mut found);
            found.facts
        })
        .map(|fact| match fact.kind {
            FactKind::Path {
                given,
                resolved,
                inside,
                ..
            } => {
                let side = if inside { "inside" } else { "outside" };
                format!(
                    "{} {given} -> {resolved} {side} {}",
                    fact.risk,
                    value(fact.why.as_ref())
                )
                .trim_end()
                .to_owned()
                    + "\n"
            }
            other => format!("{} {other:?} {}\n", fact.risk, value(fact.why.as_ref())),
        })
        .collect();
    expected.assert_eq(&lines);
}

#[test]
fn ordinary_files_of_the_workspace_may_be_read() {
    check(
        Use::Read,
        &[
            "src/main.rs",
            ".",
            "./a//b/./c",
            "a/../b",
            "/home/ana/work",
            "/home/ana/work/x",
            "~/work/x",
            "alias/lib.rs",
            "README.中文.md",
            ".env.example",
            "a b",
            "-rf",
            "placet.toml",
            ".git/config",
        ],
        &expect![[r#"
            LOW src/main.rs -> /home/ana/work/src/main.rs inside
            LOW . -> /home/ana/work inside
            LOW ./a//b/./c -> /home/ana/work/a/b/c inside
            LOW a/../b -> /home/ana/work/b inside
            LOW /home/ana/work -> /home/ana/work inside
            LOW /home/ana/work/x -> /home/ana/work/x inside
            LOW ~/work/x -> /home/ana/work/x inside
            LOW alias/lib.rs -> /home/ana/work/src/lib.rs inside
            LOW README.中文.md -> /home/ana/work/README.中文.md inside
            LOW .env.example -> /home/ana/work/.env.example inside
            LOW a b -> /home/ana/work/a b inside
            LOW -rf -> /home/ana/work/-rf inside
            LOW placet.toml -> /home/ana/work/placet.toml inside
            LOW .git/config -> /home/ana/work/.git/config inside
        "#]],
    );
}

#[test]
fn whatever_leads_out_of_the_workspace_is_high() {
    check(
        Use::Read,
        &[
            "/etc/passwd",
            "../x",
            "a/../../x",
            "~",
            "~/.bashrc",
            "/home/ana/workshop",
            "/home/ana/work/../other",
            "/",
            "out/passwd",
            "loop/x",
            "/home/ana/work/../../../etc/shadow",
        ],
        &expect![[r#"
            HIGH /etc/passwd -> /etc/passwd outside Path { path: Outside }
            HIGH ../x -> /home/ana/x outside Path { path: Outside }
            HIGH a/../../x -> /home/ana/x outside Path { path: Outside }
            HIGH ~ -> /home/ana outside Path { path: Outside }
            HIGH ~/.bashrc -> /home/ana/.bashrc outside Path { path: Outside }
            HIGH /home/ana/workshop -> /home/ana/workshop outside Path { path: Outside }
            HIGH /home/ana/work/../other -> /home/ana/other outside Path { path: Outside }
            HIGH / -> / outside Path { path: Outside }
            HIGH out/passwd -> /etc/deep/passwd outside Path { path: Outside }
            HIGH loop/x -> /home/ana/work/loop/x outside Path { path: Outside }
            HIGH /home/ana/work/../../../etc/shadow -> /etc/shadow outside Path { path: Outside }
        "#]],
    );
}

#[test]
fn going_up_from_behind_a_link_is_judged_where_the_system_ends_up_and_as_text() {
    // The system ends in `/etc`; shortened first, it is a file of the workspace.
    check(
        Use::Read,
        &["out/../passwd", "loop/../x", "alias/../src/x", "out/../../x"],
        &expect![[r#"
            HIGH out/../passwd -> /etc/passwd outside Path { path: Outside }
            HIGH loop/../x -> /home/ana/work/loop outside Path { path: Outside }
            LOW alias/../src/x -> /home/ana/work/src/x inside
            HIGH out/../../x -> /x outside Path { path: Outside }
        "#]],
    );
}

#[test]
fn what_means_nothing_certain_is_high() {
    check(
        Use::Read,
        &[
            "",
            "a\0b",
            "a\nb",
            "a\u{1b}[2Kb",
            "~root/x",
            "..\\..\\x",
            "C:/Windows",
            "https://evil.example/x",
        ],
        &expect![[r#"
            HIGH Unreadable { what: "" } Path { path: Empty }
            HIGH Unreadable { what: "a\0b" } Path { path: ControlCharacters }
            HIGH Unreadable { what: "a\nb" } Path { path: ControlCharacters }
            HIGH Unreadable { what: "a\u{1b}[2Kb" } Path { path: ControlCharacters }
            HIGH Unreadable { what: "~root/x" } Path { path: OtherHome }
            HIGH Unreadable { what: "..\\..\\x" } Path { path: Backslash }
            HIGH Unreadable { what: "C:/Windows" } Path { path: DriveLetter }
            HIGH Unreadable { what: "https://evil.example/x" } Path { path: Url }
        "#]],
    );
}

/// A tool opens the text as it is; as a URL it was judged without its query, and `a?/..` went up from another place.
#[test]
fn a_file_url_is_never_taken_for_the_path_it_would_be_as_a_url() {
    for usage in [Use::Read, Use::Write] {
        for path in [
            "file:/home/ana/work/a?/x",
            "file:/home/ana/work/a?/../../../../../../etc/hostname",
            "file:/home/ana/work/a#/../../escaped.txt",
            "file:///home/ana/work/a%20b",
            "file:///etc/passwd",
            "FILE:/etc/passwd",
            "file://evil/etc/passwd",
            "file:x",
        ] {
            let placed = place(path, &places());
            let why = PathConcern::FileUrl;
            assert_eq!(placed, Placed::Unreadable { why }, "{path}");
            assert_eq!(placed.risk(usage), (Risk::High, Some(why)), "{path}");
            let leads = place_from("/home/ana/work", path, (&places()).into());
            assert!(!matches!(leads, Placed::Inside { .. }), "{path}");
        }
    }
}

/// `~` is a folder's name for a tool that does not expand it, and going up from there ends elsewhere.
#[test]
fn a_tilde_must_be_inside_as_the_home_folder_and_as_a_name() {
    check(
        Use::Write,
        &["~/work/x", "~/work/../../../home/ana/work/x", "~/work/../work/x"],
        &expect![[r#"
            MEDIUM ~/work/x -> /home/ana/work/x inside
            HIGH ~/work/../../../home/ana/work/x -> /home/ana/home/ana/work/x outside Path { path: Outside }
            MEDIUM ~/work/../work/x -> /home/ana/work/x inside
        "#]],
    );
}

#[test]
fn secrets_inside_the_workspace_are_high_to_read() {
    check(
        Use::Read,
        &[
            ".env",
            ".ENV",
            ".env.production",
            "deploy/id_rsa",
            "cert/server.pem",
            ".ssh/config",
            ".aws/credentials",
            ".netrc",
            "sub/.config/gh/hosts.yml",
            ".npmrc",
            "plain.txt",
            "tokens.toml",
        ],
        &expect![[r#"
            HIGH .env -> /home/ana/work/.env inside Path { path: Secrets }
            HIGH .ENV -> /home/ana/work/.ENV inside Path { path: Secrets }
            HIGH .env.production -> /home/ana/work/.env.production inside Path { path: Secrets }
            HIGH deploy/id_rsa -> /home/ana/work/deploy/id_rsa inside Path { path: Secrets }
            HIGH cert/server.pem -> /home/ana/work/cert/server.pem inside Path { path: Secrets }
            HIGH .ssh/config -> /home/ana/work/.ssh/config inside Path { path: Secrets }
            HIGH .aws/credentials -> /home/ana/work/.aws/credentials inside Path { path: Secrets }
            HIGH .netrc -> /home/ana/work/.netrc inside Path { path: Secrets }
            HIGH sub/.config/gh/hosts.yml -> /home/ana/work/sub/.config/gh/hosts.yml inside Path { path: Secrets }
            HIGH .npmrc -> /home/ana/work/.npmrc inside Path { path: Secrets }
            HIGH plain.txt -> /home/ana/work/.env inside Path { path: Secrets }
            HIGH tokens.toml -> /home/ana/work/tokens.toml inside Path { path: Secrets }
        "#]],
    );
}

#[test]
fn an_ordinary_write_is_medium() {
    check(
        Use::Write,
        &["src/main.rs", "new/folder/x", "docs/git/hooks.md", "alias/x"],
        &expect![[r#"
        MEDIUM src/main.rs -> /home/ana/work/src/main.rs inside
        MEDIUM new/folder/x -> /home/ana/work/new/folder/x inside
        MEDIUM docs/git/hooks.md -> /home/ana/work/docs/git/hooks.md inside
        MEDIUM alias/x -> /home/ana/work/src/x inside
    "#]],
    );
}

#[test]
fn cve_2025_53773_an_agent_that_writes_its_own_approval_settings_is_asked_about() {
    check(
        Use::Write,
        &[
            ".vscode/settings.json",
            ".vscode/tasks.json",
            "sub/.claude/settings.local.json",
            ".cursor/mcp.json",
            ".mcp.json",
            "flows/triage.workflow.toml",
            "placet.toml",
            "my.code-workspace",
        ],
        &expect![[r#"
            HIGH .vscode/settings.json -> /home/ana/work/.vscode/settings.json inside Path { path: SteersAgents }
            HIGH .vscode/tasks.json -> /home/ana/work/.vscode/tasks.json inside Path { path: SteersAgents }
            HIGH sub/.claude/settings.local.json -> /home/ana/work/sub/.claude/settings.local.json inside Path { path: SteersAgents }
            HIGH .cursor/mcp.json -> /home/ana/work/.cursor/mcp.json inside Path { path: SteersAgents }
            HIGH .mcp.json -> /home/ana/work/.mcp.json inside Path { path: SteersAgents }
            HIGH flows/triage.workflow.toml -> /home/ana/work/flows/triage.workflow.toml inside Path { path: SteersAgents }
            HIGH placet.toml -> /home/ana/work/placet.toml inside Path { path: SteersAgents }
            HIGH my.code-workspace -> /home/ana/work/my.code-workspace inside Path { path: SteersAgents }
        "#]],
    );
}

#[test]
fn writes_to_what_runs_later_are_high() {
    check(
        Use::Write,
        &[
            ".git/hooks/pre-commit",
            ".git/config",
            ".git",
            ".GIT/config",
            ".husky/pre-push",
            ".bashrc",
            ".zshenv",
            ".profile",
            ".envrc",
            ".config/fish/conf.d/x.fish",
            ".ssh/authorized_keys",
            ".env",
        ],
        &expect![[r#"
            HIGH .git/hooks/pre-commit -> /home/ana/work/scripts/pre-commit inside Path { path: RunsInGit }
            HIGH .git/config -> /home/ana/work/.git/config inside Path { path: RunsInGit }
            HIGH .git -> /home/ana/work/.git inside Path { path: RunsInGit }
            HIGH .GIT/config -> /home/ana/work/.GIT/config inside Path { path: RunsInGit }
            HIGH .husky/pre-push -> /home/ana/work/.husky/pre-push inside Path { path: RunsInGit }
            HIGH .bashrc -> /home/ana/work/.bashrc inside Path { path: RunsAtStart }
            HIGH .zshenv -> /home/ana/work/.zshenv inside Path { path: RunsAtStart }
            HIGH .profile -> /home/ana/work/.profile inside Path { path: RunsAtStart }
            HIGH .envrc -> /home/ana/work/.envrc inside Path { path: RunsAtStart }
            HIGH .config/fish/conf.d/x.fish -> /home/ana/work/.config/fish/conf.d/x.fish inside Path { path: RunsAtStart }
            HIGH .ssh/authorized_keys -> /home/ana/work/.ssh/authorized_keys inside Path { path: Secrets }
            HIGH .env -> /home/ana/work/.env inside Path { path: Secrets }
        "#]],
    );
}

proptest! {
    #[test]
    fn no_path_makes_the_analysis_panic_or_find_nothing(path in ".{0,60}") {
        let mut found = Analysis::nothing();
        analyse(&path, Use::Read, &places(), &mut found);
        prop_assert_eq!(found.facts.len(), 1);
    }

    #[test]
    fn a_path_that_is_placed_inside_never_holds_a_way_up(names in proptest::collection::vec("(\\.\\.|\\.|a|out|alias|~|/)", 0..12)) {
        let path = names.join("/");
        if let Placed::Inside { resolved, .. } = place(&path, &places()) {
            prop_assert!(resolved == "/home/ana/work" || resolved.starts_with("/home/ana/work/"), "{}", resolved);
            prop_assert!(!resolved.split('/').any(|name| name == ".."));
        }
    }
}
