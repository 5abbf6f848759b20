//! Every reason can be said in both languages, and no English is left in the Chinese.

use super::*;
use crate::interaction::Locale;
use crate::render::tests::chinese::assert_chinese;

/// As the tables of the other tests show it.
pub(in crate::analysis) fn in_words(why: Option<Why>) -> String {
    why.map(|why| why.to_string()).unwrap_or_default()
}

/// Checks that both languages say it, and that one of each kind was given: `number` counts the kinds without a gap.
fn check<T>(samples: &[T], words: impl Fn(&T, Locale) -> String, number: impl Fn(&T) -> usize) {
    for (index, sample) in samples.iter().enumerate() {
        assert_eq!(number(sample), index, "a kind is missing, or out of order");
        let (english, chinese) = (words(sample, Locale::English), words(sample, Locale::Chinese));
        assert!(!english.is_empty());
        assert_chinese(&chinese);
    }
}

fn x() -> String {
    "x".to_owned()
}

#[test]
fn every_phrase_is_said_in_both_languages() {
    let deeds = Deed::ALL.iter().map(|phrase| phrase.words(Locale::Chinese));
    let doubts = Doubt::ALL.iter().map(|phrase| phrase.words(Locale::Chinese));
    let paths = PathConcern::ALL
        .iter()
        .map(|phrase| phrase.words(Locale::Chinese));
    let addresses = AddressConcern::ALL
        .iter()
        .map(|phrase| phrase.words(Locale::Chinese));
    let oddities = UrlOddity::ALL.iter().map(|phrase| phrase.words(Locale::Chinese));
    let all = deeds.chain(doubts).chain(paths).chain(addresses).chain(oddities);
    let mut seen = std::collections::BTreeSet::new();
    for phrase in all {
        assert_chinese(phrase);
        seen.insert(phrase);
    }
    assert!(seen.len() > 100, "{}", seen.len());
}

#[test]
fn every_reason_for_a_risk_is_said_in_both_languages() {
    let samples = [
        Why::NotText { arg: x() },
        Why::TooManyCommands(65),
        Why::Doubtful(Doubt::TooLong),
        Why::CommandLater { word: x() },
        Why::NoCommand { word: x() },
        Why::Does {
            what: x(),
            deed: Deed::OtherUser,
        },
        Why::MayDo {
            name: x(),
            deed: Deed::OtherUser,
        },
        Why::OperatorInTest {
            operator: x(),
            inside: x(),
        },
        Why::Evaluates { name: x(), word: x() },
        Why::Variable { name: x() },
        Why::StandsIn { name: x() },
        Why::LeadsLater { word: x() },
        Why::MaybeOutside { word: x() },
        Why::Path(PathConcern::Outside),
        Why::Sql(SqlConcern::Ambiguous),
        Why::Url(UrlConcern::Nearby),
    ];
    check(&samples, Why::words, |why| match why {
        Why::NotText { .. } => 0,
        Why::TooManyCommands(_) => 1,
        Why::Doubtful(_) => 2,
        Why::CommandLater { .. } => 3,
        Why::NoCommand { .. } => 4,
        Why::Does { .. } => 5,
        Why::MayDo { .. } => 6,
        Why::OperatorInTest { .. } => 7,
        Why::Evaluates { .. } => 8,
        Why::Variable { .. } => 9,
        Why::StandsIn { .. } => 10,
        Why::LeadsLater { .. } => 11,
        Why::MaybeOutside { .. } => 12,
        Why::Path(_) => 13,
        Why::Sql(_) => 14,
        Why::Url(_) => 15,
    });
}

#[test]
fn every_concern_about_sql_is_said_in_both_languages() {
    let samples = [
        SqlConcern::OneOfSeveral,
        SqlConcern::ReachesBeyond { function: x() },
        SqlConcern::UnknownFunction { function: x() },
        SqlConcern::Unproven { what: x() },
        SqlConcern::LocksRows,
        SqlConcern::StoresElsewhere,
        SqlConcern::HoldsCredentials { table: x() },
        SqlConcern::Transaction,
        SqlConcern::MoreThanRows { verb: x() },
        SqlConcern::NoCondition {
            verb: "DELETE".into(),
        },
        SqlConcern::Pragma { name: x() },
        SqlConcern::Empty,
        SqlConcern::TooLong { bytes_max: 9 },
        SqlConcern::TooDeep,
        SqlConcern::OddCharacter('\0'),
        SqlConcern::ExecutableComment,
        SqlConcern::EscapedQuote,
        SqlConcern::StringRunsOn,
        SqlConcern::EscapedName,
        SqlConcern::VariableWithBrackets,
        SqlConcern::Ambiguous,
        SqlConcern::Trailing { token: x() },
        SqlConcern::Unparsed {
            error: "Expected: an expression, found: EOF".into(),
        },
    ];
    check(&samples, SqlConcern::words, |concern| match concern {
        SqlConcern::OneOfSeveral => 0,
        SqlConcern::ReachesBeyond { .. } => 1,
        SqlConcern::UnknownFunction { .. } => 2,
        SqlConcern::Unproven { .. } => 3,
        SqlConcern::LocksRows => 4,
        SqlConcern::StoresElsewhere => 5,
        SqlConcern::HoldsCredentials { .. } => 6,
        SqlConcern::Transaction => 7,
        SqlConcern::MoreThanRows { .. } => 8,
        SqlConcern::NoCondition { .. } => 9,
        SqlConcern::Pragma { .. } => 10,
        SqlConcern::Empty => 11,
        SqlConcern::TooLong { .. } => 12,
        SqlConcern::TooDeep => 13,
        SqlConcern::OddCharacter(_) => 14,
        SqlConcern::ExecutableComment => 15,
        SqlConcern::EscapedQuote => 16,
        SqlConcern::StringRunsOn => 17,
        SqlConcern::EscapedName => 18,
        SqlConcern::VariableWithBrackets => 19,
        SqlConcern::Ambiguous => 20,
        SqlConcern::Trailing { .. } => 21,
        SqlConcern::Unparsed { .. } => 22,
    });
}

#[test]
fn every_concern_about_a_url_is_said_in_both_languages() {
    let samples = [
        UrlConcern::TooLong { bytes_max: 9 },
        UrlConcern::Unparsed {
            error: "relative URL without a base".into(),
        },
        UrlConcern::NotWeb { scheme: x() },
        UrlConcern::NameBeforeAt,
        UrlConcern::Odd(UrlOddity::Backslash),
        UrlConcern::Address(AddressConcern::Private),
        UrlConcern::Nearby,
        UrlConcern::LocalZone { zone: x() },
        UrlConcern::WildcardZone { zone: x() },
        UrlConcern::InvalidName,
        UrlConcern::MixedScripts { label: x() },
        UrlConcern::LookAlike { label: x() },
    ];
    check(&samples, UrlConcern::words, |concern| match concern {
        UrlConcern::TooLong { .. } => 0,
        UrlConcern::Unparsed { .. } => 1,
        UrlConcern::NotWeb { .. } => 2,
        UrlConcern::NameBeforeAt => 3,
        UrlConcern::Odd(_) => 4,
        UrlConcern::Address(_) => 5,
        UrlConcern::Nearby => 6,
        UrlConcern::LocalZone { .. } => 7,
        UrlConcern::WildcardZone { .. } => 8,
        UrlConcern::InvalidName => 9,
        UrlConcern::MixedScripts { .. } => 10,
        UrlConcern::LookAlike { .. } => 11,
    });
}

#[test]
fn every_ban_is_said_in_both_languages() {
    let samples = [
        Ban::DeletesAll { path: x() },
        Ban::ChangesAll { name: x(), path: x() },
        Ban::OverwritesDisk { device: x() },
        Ban::ErasesDisk {
            name: x(),
            device: x(),
        },
        Ban::WritesOverDisk {
            operator: x(),
            device: x(),
        },
        Ban::AnswersForPeople,
        Ban::ForkBomb { name: x() },
    ];
    check(&samples, Ban::words, |ban| match ban {
        Ban::DeletesAll { .. } => 0,
        Ban::ChangesAll { .. } => 1,
        Ban::OverwritesDisk { .. } => 2,
        Ban::ErasesDisk { .. } => 3,
        Ban::WritesOverDisk { .. } => 4,
        Ban::AnswersForPeople => 5,
        Ban::ForkBomb { .. } => 6,
    });
}
