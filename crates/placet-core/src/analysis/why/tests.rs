//! Reasons are values: each has its sentence in every language, and comes back from JSON as it was.

use expect_test::expect;

use super::*;
use crate::analysis::ActCode;
use crate::messages::tests::{check, codes};
use crate::tool::Category;

#[test]
fn every_reason_comes_back_from_json_and_has_a_sentence_in_every_language() {
    check::<Why>("why");
    check::<Ban>("ban");
}

#[test]
fn no_reason_lacks_a_sentence_and_no_sentence_lacks_a_reason() {
    codes::<ActCode>("act");
    codes::<Why>("why");
    codes::<Ban>("ban");
    codes::<Doubt>("doubt");
    codes::<Deed>("deed");
    codes::<PathConcern>("path");
    codes::<SqlConcern>("sql");
    codes::<UrlConcern>("url");
    codes::<AddressConcern>("address");
    codes::<Category>("category");
}

#[test]
fn a_reason_is_a_code_with_parameters() {
    let reasons = [
        Why::CommandLater { word: "$X".into() },
        Why::TooManyCommands { count: 65 },
        Why::Doubtful(Doubt::TooLong),
        Why::Does {
            what: "git".into(),
            deed: Deed::OverwritesRemote,
        },
        Why::Path {
            path: PathConcern::Outside,
        },
        Why::Sql(SqlConcern::NoCondition {
            verb: "DELETE".into(),
        }),
        Why::Url(UrlConcern::Address(AddressConcern::Private)),
    ];
    let lines: Vec<String> = reasons
        .iter()
        .map(|why| serde_json::to_string(why).unwrap())
        .collect();
    expect![[r#"
        {"why":"command_later","word":"$X"}
        {"why":"too_many_commands","count":65}
        {"why":"doubtful","doubt":"too_long"}
        {"why":"does","what":"git","deed":"overwrites_remote"}
        {"why":"path","path":"outside"}
        {"why":"sql","sql":"no_condition","verb":"DELETE"}
        {"why":"url","url":"address","address":"private"}"#]]
    .assert_eq(&lines.join("\n"));
}
