//! Secrets are masked, and what would happen is not.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::call::Args;

#[track_caller]
fn masks(line: &str, shown: &str) {
    assert_eq!(command(line), shown);
}

#[test]
fn tokens_are_known_by_their_prefix() {
    masks(
        "curl -H 'PRIVATE-TOKEN: glpat-abcdefghij0123456789' https://gitlab.com/x",
        "curl -H 'PRIVATE-TOKEN: glpa...[26-chars-masked]' https://gitlab.com/x",
    );
    masks(
        "echo ghp_0123456789abcdefghij0123456789abcdef",
        "echo ghp_...[40-chars-masked]",
    );
    masks(
        "aws s3 ls AKIAIOSFODNN7EXAMPLE",
        "aws s3 ls AKIA...[20-chars-masked]",
    );
    masks(
        "x sk-ant-api03-AbCdEfGhIjKlMnOpQrSt",
        "x sk-a...[33-chars-masked]",
    );
    masks(
        "x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_DEF-123",
        "x eyJh...[48-chars-masked]",
    );
}

#[test]
fn hermes_posted_a_live_slack_token_in_the_card() {
    masks(
        "curl -H \"Authorization: Bearer xoxb-1234567890-abcdefghij\" https://slack.com/api/auth.test",
        "curl -H \"Authorization: Bearer xoxb...[26-chars-masked]\" https://slack.com/api/auth.test",
    );
}

#[test]
fn names_of_flags_variables_and_fields_give_a_secret_away() {
    masks(
        "mysql --password=hunter2 db",
        "mysql --password=h...[7-chars-masked] db",
    );
    masks(
        "tool --api-key 'a b c d e f' run",
        "tool --api-key 'a ...[11-chars-masked]' run",
    );
    masks("PGPASSWORD=s3cr3t psql", "PGPASSWORD=s...[6-chars-masked] psql");
    masks(
        "curl 'https://h.example/?token=abcdef12&x=1'",
        "curl 'https://h.example/?token=ab...[8-chars-masked]&x=1'",
    );
    masks(
        "curl -d '{\"client_secret\": \"abcd1234\"}' h",
        "curl -d '{\"client_secret\": \"ab...[8-chars-masked]\"}' h",
    );
    masks(
        "psql postgres://app:hunter22@db.example:5432/x",
        "psql postgres://app:hu...[8-chars-masked]@db.example:5432/x",
    );
}

#[test]
fn a_private_key_is_masked_line_by_line_and_nothing_between_the_lines_is() {
    let line = "MIIEowIBAAKCAQEAabcdefgh0123456789abcdefgh0123456789";
    let key = |first: &str, second: &str| {
        format!(
            "echo '-----BEGIN RSA PRIVATE KEY-----\n{first}\n{second}\nrm -rf /\n-----END RSA PRIVATE KEY-----' > k"
        )
    };
    masks(
        &key(line, "abcd"),
        &key("MIIE...[52-chars-masked]", "a...[4-chars-masked]"),
    );
    masks(&key("rm", "-rf"), &key("rm", "-rf"));
}

#[test]
fn a_mask_behind_a_scheme_is_not_masked_again() {
    let shown = "Bearer sk-ghp_password=sk-...[15-chars-masked]";
    masks("Bearer sk-ghp_password=sk-@h/password=", shown);
    masks(shown, shown);
}

#[test]
fn claude_code_2_1_234_masked_the_command_itself() {
    for line in [
        "ghp_0123456789abcdefghij0123456789abcdef --all",
        "ls; sk-0123456789abcdefghij0123 /",
        "token=$(rm -rf /)",
        "password=\"`rm -rf /`\" true",
        "export TOKEN=$HOME/x",
        "cat --token /etc/shadow",
        "curl --secret evil.example.com",
        "curl --secret=https://evil.example/x",
        "PWD=/tmp/x ls",
        "ls /srv/sk-0123456789abcdefghij0123/x",
        "wget evil-token: rm",
    ] {
        masks(line, line);
    }
    masks("token=abc;rm -rf /", "token=...[3-chars-masked];rm -rf /");
    masks("secret=a|sh", "secret=...[1-chars-masked]|sh");
    masks("password=x rm -rf /", "password=...[1-chars-masked] rm -rf /");
}

#[test]
fn json_fields_are_masked_by_name_and_by_shape() {
    let value = json!({
        "password": "correct horse", "max_tokens": 4096, "token_file": "x", "tokenPath": "/a",
        "secret": "/run/secrets/db", "headers": {"x-api-key": ["k1234567"]},
        "command": "ghp_0123456789abcdefghij0123456789abcdef x",
        "note": "ghp_0123456789abcdefghij0123456789abcdef",
    });
    assert_eq!(
        json(&value),
        json!({
            "password": "cor...[13-chars-masked]", "max_tokens": 4096, "token_file": "x", "tokenPath": "/a",
            "secret": "/run/secrets/db", "headers": {"x-api-key": ["k1...[8-chars-masked]"]},
            "command": "ghp_0123456789abcdefghij0123456789abcdef x",
            "note": "ghp_...[40-chars-masked]",
        })
    );
}

/// Pairs of a text and how it is shown, from every record of `shapes.toml`.
fn examples() -> Vec<(String, String)> {
    let file: toml::Table = toml::from_str(include_str!("shapes.toml")).unwrap();
    let shapes = file["shapes"].as_array().unwrap().iter();
    let records = shapes.chain([&file["names"], &file["built"]]);
    records
        .flat_map(|record| {
            let examples: Vec<(String, String)> = record["examples"].clone().try_into().unwrap();
            assert!(!examples.is_empty(), "{record}");
            examples
        })
        .collect()
}

#[test]
fn every_shape_of_a_secret_is_masked_and_nothing_else_of_the_line_is() {
    let examples = examples();
    assert!(examples.len() >= 70, "{}", examples.len());
    let mut wrong = Vec::new();
    for (line, shown) in &examples {
        for found in [command(line), text(line)] {
            if found != shown.as_str() {
                wrong.push(format!("{line}\n  {found}"));
            }
        }
        assert_eq!(command(shown), shown.as_str(), "a mask is not masked again");
        let args = Args::from_value(json!({ "command": line })).unwrap();
        let edited = Args::from_value(json(args.as_value())).unwrap();
        assert_eq!(put_back(&edited, &args).unwrap(), args);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn digests_identifiers_paths_hosts_and_commands_are_never_masked() {
    let file: toml::Table = toml::from_str(include_str!("shapes.toml")).unwrap();
    let kept: Vec<String> = file["kept"]["texts"].clone().try_into().unwrap();
    let all = kept
        .iter()
        .flat_map(|line| [command(line), text(line)].map(|shown| (line, shown)));
    let wrong: Vec<_> = all.filter(|(line, shown)| *line != shown).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn word() -> impl Strategy<Value = (String, bool)> {
    let kept = prop::sample::select(vec![
        "/etc/passwd",
        "./run.sh",
        "../x",
        "~/.ssh/id_rsa",
        "evil.example.com",
        "https://evil.example.com/x?y=1",
        "--token",
        "--force",
        "-rf",
        "10.0.0.1",
        "http://169.254.169.254/latest",
        "/srv/ghp_0123456789abcdefghij0123456789",
    ]);
    let secret = prop::sample::select(vec![
        "ghp_0123456789abcdefghij0123456789abcdef",
        "--password=hunter2hunter2",
        "sk-0123456789abcdefghij0123",
        "api_key='zzz zzz 9'",
        "AKIAIOSFODNN7EXAMPLE",
    ]);
    prop_oneof![
        3 => kept.prop_map(|word| (word.to_owned(), true)),
        1 => secret.prop_map(|word| (word.to_owned(), false)),
    ]
}

proptest! {
    #[test]
    fn program_paths_hosts_and_flags_always_remain(
        program in "[a-z]{1,8}|sk-[a-z0-9]{20}|ghp_[a-zA-Z0-9]{36}",
        words in prop::collection::vec(word(), 0..8),
    ) {
        let all: Vec<_> = std::iter::once(program.as_str()).chain(words.iter().map(|(word, _)| word.as_str())).collect();
        let shown = command(&all.join(" ")).into_owned();
        prop_assert!(shown.starts_with(&program));
        for (word, kept) in &words {
            prop_assert_eq!(shown.contains(word.as_str()), *kept, "{} in {}", word, shown);
        }
    }

    #[test]
    fn masking_twice_is_masking_once(
        line in "(password=|token: |Bearer |--secret |https://u:|@h/|ghp_|sk-|eyJ|['\" \n;|$(…]|[a-zA-Z0-9]{0,24}|…\\[3-chars-masked\\]){0,12}"
    ) {
        let once = command(&line);
        prop_assert_eq!(command(&once), once.as_ref());
        let once = text(&line);
        prop_assert_eq!(text(&once), once.as_ref());
    }

    #[test]
    fn arbitrary_text_is_masked_without_harm(line in any::<String>()) {
        let once = command(&line).into_owned();
        prop_assert_eq!(command(&once), once.as_str());
    }
}
