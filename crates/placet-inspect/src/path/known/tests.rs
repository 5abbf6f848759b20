//! The table of places that comes with Placet.

use placet_core::analysis::{Analysis, FixedPlaces, PathConcern};
use placet_core::tool::Risk;

use crate::Site;
use crate::{path, shell};

/// Every secret as a path in the workspace.
fn paths() -> Vec<String> {
    let places = FixedPlaces::of_examples();
    let special = &Site::from(&places).programs().facts().places.special;
    let path =
        |below: Option<&str>, name: &str| below.map_or(name.to_owned(), |below| format!("{below}/{name}"));
    let names = special
        .names
        .iter()
        .flat_map(|(name, rules)| rules.iter().map(move |rule| (name.to_string(), rule)));
    let patterns = special
        .patterns
        .iter()
        .map(|(start, end, rule)| (format!("{start}server{end}"), rule));
    let others = [".env.local", "placet/other.db.lock", "ID_RSA"].map(str::to_owned);
    let secrets = names
        .chain(patterns)
        .filter(|(_, rule)| rule.concern == PathConcern::Secrets);
    let secrets = secrets.map(|(name, rule)| path(rule.below.as_deref(), &name));
    let secrets: Vec<String> = secrets.chain(others).collect();
    assert!(secrets.len() > 50, "{secrets:?}");
    secrets
}

#[test]
fn every_secret_is_seen_as_a_path_and_in_a_shell_line() {
    let places = FixedPlaces::of_examples();
    for path in paths().into_iter().flat_map(|path| [format!("sub/{path}"), path]) {
        let mut found = Analysis::nothing();
        path::analyse(&path, path::Use::Read, &places, &mut found);
        assert_eq!(found.risk(), Risk::High, "{path}");
        for line in [
            format!("cat {path}"),
            format!("cat < {path}"),
            format!("x --from={path}"),
        ] {
            let mut found = Analysis::nothing();
            shell::analyse(&line, &places, &mut found);
            assert_eq!(found.risk(), Risk::High, "{line}");
        }
    }
}

#[test]
fn ordinary_names_are_not_secret() {
    let places = FixedPlaces::of_examples();
    for path in [
        "shadow",
        "src/environ",
        "bin/gh",
        "placet",
        "src/placet/main.rs",
        "x.db.lock",
        ".env.example",
    ] {
        let mut found = Analysis::nothing();
        path::analyse(path, path::Use::Read, &places, &mut found);
        assert_eq!(found.risk(), Risk::Low, "{path}");
        let mut found = Analysis::nothing();
        shell::analyse(&format!("cat {path}"), &places, &mut found);
        assert_eq!(found.risk(), Risk::Low, "{path}");
    }
}
