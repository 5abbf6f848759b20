//! Which words name a statement, so that a rule about `DELTE` is found before it is relied on.

use sqlparser::parser::{Parser, ParserError};

use super::{dialects, reading};

/// The one verb of two words that analysis gives.
const SELECT_INTO: &str = "SELECT INTO";

/// Whether a statement can have this verb: the grammar of some dialect begins a statement with it.
pub(crate) fn is_verb(text: &str) -> bool {
    text.eq_ignore_ascii_case(SELECT_INTO)
        || (!text.contains(' ')
            && dialects(None)
                .into_iter()
                .any(|dialect| begins_statement(text, dialect.grammar)))
}

fn begins_statement(word: &str, dialect: crate::tool::SqlDialect) -> bool {
    match Parser::parse_sql(reading::grammar(dialect), word) {
        Ok(statements) => !statements.is_empty(),
        // What is missing after a known verb is something else than a statement.
        Err(ParserError::ParserError(message)) => !message.contains("an SQL statement"),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_what_a_grammar_begins_a_statement_with() {
        let real = [
            "SELECT",
            "select",
            "INSERT",
            "UPDATE",
            "DELETE",
            "MERGE",
            "REPLACE",
            "EXPLAIN",
            "PRAGMA",
            "COPY",
            "SHOW",
            "CREATE",
            "ALTER",
            "DROP",
            "TRUNCATE",
            "GRANT",
            "REVOKE",
            "SET",
            "BEGIN",
            "COMMIT",
            "ROLLBACK",
            "VACUUM",
            "SELECT INTO",
        ];
        for verb in real {
            assert!(is_verb(verb), "{verb}");
        }
        for typo in ["DELTE", "SELCT", "DROP TABLE", "", "INSRT"] {
            assert!(!is_verb(typo), "{typo}");
        }
    }
}
