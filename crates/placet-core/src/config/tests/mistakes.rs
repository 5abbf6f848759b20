//! Mistakes that the parser and serde find, said in the words of the operator.

use super::load;
use crate::interaction::Locale;
use crate::messages::tests::coded;

/// A broken file, where it is refused, and what is said.
const FILES: [(&str, &str); 18] = [
    (
        "[approval]\ntimeout = [5]\n",
        "2:11: `approval.timeout` must be a duration such as \"30m\", not [5]",
    ),
    (
        "[approval]\nstrict = \"yes\"\n",
        "2:10: `approval.strict` must be `true` or `false`, not \"yes\"\n  help: remove the quotes",
    ),
    (
        "[approval]\nmode = 5\n",
        "2:8: `approval.mode` must be a text in quotes, not 5\n  help: add quotes: \"5\"",
    ),
    (
        "[store]\npath = 7\n",
        "2:8: `store.path` must be a text in quotes, not 7\n  help: add quotes: \"7\"",
    ),
    (
        "[approval]\nopen_questions_max = \"20\"\n",
        "2:22: `approval.open_questions_max` must be a whole number, not \"20\"\n  help: remove the quotes",
    ),
    (
        "[approval]\nopen_questions_max = -1\n",
        "2:22: `approval.open_questions_max` must be a whole number, not -1",
    ),
    (
        "[approval]\nauto_approved_tools = \"read\"\n",
        "2:23: `approval.auto_approved_tools` must be a list in brackets, not \"read\"",
    ),
    (
        "approval = 5\n",
        "1:12: `approval` must be a section, or a table in braces, not 5",
    ),
    (
        "[[rules]]\nname = 'r'\neffect = 'deny'\ncommand = 7\n",
        "4:11: `rules.command` must be a text in quotes, or a list of them, not 7",
    ),
    ("[approval]\ntimeout = \"30m\n", "2:15: missing a closing quote"),
    ("[approval]\nmode = yolo\n", "2:8: text needs quotes"),
    ("[approval]\nmode\n", "2:5: write `key = value`"),
    ("[approval]\nmode =\n", "2:7: missing a value after `=`"),
    (
        "[approval\nmode = \"yolo\"\n",
        "1:10: missing a closing bracket `]`",
    ),
    ("[groups]\nops = [\"lin\" \"wei\"]\n", "2:14: missing a comma"),
    (
        "[groups]\nops = [\"lin\"\n",
        "2:13: missing a closing bracket `]`",
    ),
    (
        "[approval]\nmode = \"yolo\"\nmode = \"default\"\n",
        "3:1: `mode` is set twice\n  help: keep one of them; a section may stand in a file only once",
    ),
    ("[[rules]]\neffect = 'deny'\n", "1:1: `name` is missing"),
];

#[test]
fn a_mistake_is_said_in_the_operators_words_with_its_place() {
    for (text, expected) in FILES {
        let said = load(text).unwrap_err().to_string();
        assert_eq!(said, format!("placet.toml:{expected}"), "{text}");
    }
}

#[test]
fn a_mistake_is_said_in_chinese_too_and_no_word_of_the_parser_is_left() {
    for (text, _) in FILES {
        for problem in load(text).unwrap_err().problems {
            assert!(!coded(&problem.message).starts_with("text.as_written"), "{text}");
            assert_ne!(
                problem.message.say(Locale::Chinese),
                problem.message.say(Locale::English),
                "{text}"
            );
        }
    }
}
