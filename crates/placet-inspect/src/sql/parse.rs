//! From text to statements, refusing whatever a server might read differently from the parser.

use placet_core::analysis::SqlConcern;
use placet_core::tool::SqlDialect;
use sqlparser::ast::{Statement, Value};
use sqlparser::dialect::{Dialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError, ParserOptions};
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Tokenizer};

use super::known::{self, Dialect as ReadIn};

/// Longer text is not parsed: it cannot be reviewed, and parsing must stay cheap.
pub(super) const SQL_BYTES_MAX: usize = 100_000;

/// Tokens in one item between commas. The parser turns `a OR b OR c …` into a tree as deep as the chain is long, and
/// dropping that tree recurses, so the chain is bounded before it is parsed.
pub(super) const ITEM_TOKENS_MAX: usize = 1_000;

/// A text that one dialect can follow.
pub(super) struct Text {
    pub(super) dialect: ReadIn,
    pub(super) statements: Vec<Statement>,
    /// The first operator that is not one of the dialect's own.
    pub(super) unknown_operator: Option<String>,
}

/// What one dialect makes of a text that it could at least split into tokens.
pub(super) struct Reading {
    /// Where its tokens are, without white space and comments.
    pub(super) live: Vec<Span>,
    pub(super) text: Result<Text, SqlConcern>,
}

fn odd_character(c: char) -> SqlConcern {
    SqlConcern::OddCharacter {
        character: c.escape_debug().to_string(),
    }
}

/// Refuses text for reasons that hold in every dialect.
pub(super) fn check(sql: &str) -> Result<(), SqlConcern> {
    if sql.len() > SQL_BYTES_MAX {
        return Err(SqlConcern::TooLong {
            bytes_max: SQL_BYTES_MAX,
        });
    }
    if let Some(word) = first_word(sql).filter(|word| !begins_statement(word)) {
        return Err(SqlConcern::Unparsed {
            error: format!("Expected: an SQL statement, found: {word}"),
        });
    }
    // C servers stop at NUL, some end a line comment at a bare carriage return, and none of them takes Unicode's other
    // spaces for spaces, while the parser does.
    let odd = |c: char| (c.is_control() || c.is_whitespace()) && !matches!(c, ' ' | '\t' | '\n' | '\r');
    if let Some(c) = sql.chars().find(|c| odd(*c)) {
        return Err(odd_character(c));
    }
    if sql.replace("\r\n", "\n").contains('\r') {
        return Err(odd_character('\r'));
    }
    if sql.contains("/*!") || sql.contains("/*M!") {
        return Err(SqlConcern::ExecutableComment);
    }
    Ok(())
}

/// The first word. `None` where a comment or something else stands first, so that only the parser can tell.
pub(super) fn first_word(sql: &str) -> Option<&str> {
    let begun = sql.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ';'));
    let word = begun.split(|c: char| !c.is_ascii_alphabetic()).next()?;
    (!word.is_empty()).then_some(word)
}

/// Names in a row that make a text prose. The grammars have at most two, as in `FROM orders o`; the rest is margin.
const PROSE_WORDS: usize = 5;

/// Whether the text begins like prose: plain words, of which several in a row are not keywords. Such a text is not parsed. A text
/// with a semicolon is: `SHOW` takes any words, and another statement may follow it.
pub(super) fn is_prose(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphabetic() || matches!(c, ' ' | '\n' | ',' | '.');
    let begin = text.split(|c| !is_plain(c)).next().unwrap_or_default();
    let mut in_a_row = 0;
    let mut words = begin.split([' ', '\n']).filter(|word| !word.is_empty());
    !text.contains(';')
        && words.any(|word| {
            let is_name = !word.contains([',', '.']) && !is_keyword(word);
            in_a_row = if is_name { in_a_row + 1 } else { 0 };
            in_a_row == PROSE_WORDS
        })
}

fn is_keyword(word: &str) -> bool {
    matches!(Token::make_word(word, None), Token::Word(word) if word.keyword != Keyword::NoKeyword)
}

/// Whether the grammar of some dialect begins a statement with this word. Prose and commands are told from SQL by this alone.
pub(super) fn begins_statement(word: &str) -> bool {
    is_keyword(word)
        && SqlDialect::ALL.into_iter().any(|dialect| {
            let parser = Parser::new(grammar(dialect)).try_with_sql(word);
            match parser.and_then(|mut parser| parser.parse_statement()) {
                Ok(_) => true,
                // What is missing after a known verb is something else than a statement.
                Err(ParserError::ParserError(message)) => !message.contains("an SQL statement"),
                Err(_) => false,
            }
        })
}

/// Reads the text as one dialect, if the text may be meant in it. Fails when not even the tokens can be told.
pub(super) fn read(sql: &str, dialect: ReadIn) -> Result<Option<Reading>, SqlConcern> {
    // With `NO_BACKSLASH_ESCAPES` the string ends where MySQL's default mode goes on.
    let mysql = dialect.grammar == SqlDialect::Mysql;
    if mysql && ["\\'", "\\\"", "\\`"].iter().any(|escape| sql.contains(escape)) {
        return Err(SqlConcern::EscapedQuote);
    }
    // `U&"\0070g_read_file"` is a name in escapes, which the parser takes for an operator and another name.
    let postgresql = dialect.grammar == SqlDialect::Postgresql;
    if postgresql && ["u&\"", "U&\""].iter().any(|escaped| sql.contains(escaped)) {
        return Err(SqlConcern::EscapedName);
    }
    let grammar = grammar(dialect.grammar);
    let tokens = Tokenizer::new(grammar, sql)
        .with_unescape(false)
        .tokenize_with_location()
        .map_err(|error| SqlConcern::Unparsed {
            error: error.to_string(),
        })?;
    if too_deep(&tokens) {
        return Err(SqlConcern::TooDeep);
    }
    let is_live = |token: &&TokenWithSpan| !matches!(token.token, Token::Whitespace(_));
    let live: Vec<&TokenWithSpan> = tokens.iter().filter(is_live).collect();
    // A string right after a string. PostgreSQL reads on in the way of the first: after `E'a'` a backslash escapes in the next
    // one too, which then ends elsewhere than the parser believes.
    let are_strings = |pair: &[&TokenWithSpan]| pair.iter().all(|token| is_string(&token.token));
    if live.windows(2).any(are_strings) {
        return Err(SqlConcern::StringRunsOn);
    }
    if dialect.grammar == SqlDialect::Sqlite && has_variable_with_brackets(&tokens) {
        return Err(SqlConcern::VariableWithBrackets);
    }
    // A bare backtick is not part of PostgreSQL: that server refuses the text as a whole, so it cannot be the one meant.
    if !dialect.certain && live.iter().any(|token| token.token == Token::Char('`')) {
        return Ok(None);
    }
    let unknown_operator = unknown_operator(&live, dialect);
    let live = live.iter().map(|token| token.span).collect();
    let text = parse(grammar, tokens).map(|statements| Text {
        dialect,
        statements,
        unknown_operator,
    });
    Ok(Some(Reading { live, text }))
}

/// The first operator that is not one of the dialect's own. The parser splits `@@@` into two, and PostgreSQL does not: to it operators
/// that touch are one, but for the signs at the end of one without an uncommon character (`a=-1`).
fn unknown_operator(tokens: &[&TokenWithSpan], dialect: ReadIn) -> Option<String> {
    let postgresql = dialect.grammar == SqlDialect::Postgresql;
    let text = |token: &&TokenWithSpan| match token.token {
        Token::Word(_) | Token::Number(..) | Token::Placeholder(_) => String::new(),
        _ if is_string(&token.token) => String::new(),
        // It may be `!=`.
        Token::Neq if postgresql => "!=".to_owned(),
        _ => token.token.to_string(),
    };
    let is_operator = |token: &&TokenWithSpan| {
        let text = text(token);
        !text.is_empty() && text.chars().all(|c| "+-*/<>=~!@#%^&|`?".contains(c))
    };
    let is_one = |left: &&TokenWithSpan, right: &&TokenWithSpan| {
        postgresql && left.span.end == right.span.start && is_operator(left) && is_operator(right)
    };
    let mut operators = tokens
        .chunk_by(is_one)
        .filter(|run| run.first().is_some_and(is_operator));
    operators.find_map(|run| {
        let text: String = run.iter().map(text).collect();
        let plain = text.trim_end_matches(['+', '-']);
        let ends_plainly = postgresql && !plain.contains(UNCOMMON);
        let is_known = known::operator(&text, dialect)
            || (ends_plainly && (plain.is_empty() || known::operator(plain, dialect)));
        (!is_known).then_some(text)
    })
}

const UNCOMMON: [char; 9] = ['~', '!', '@', '#', '%', '^', '&', '|', '?'];

fn grammar(dialect: SqlDialect) -> &'static dyn Dialect {
    match dialect {
        SqlDialect::Sqlite => &SQLiteDialect {},
        SqlDialect::Postgresql => &PostgreSqlDialect {},
        SqlDialect::Mysql => &MySqlDialect {},
    }
}

/// Parses to the very last token. The library's own loop stops at a stray `END` and would overlook what follows it.
fn parse(dialect: &dyn Dialect, tokens: Vec<TokenWithSpan>) -> Result<Vec<Statement>, SqlConcern> {
    // Strings stay as written, so that what is printed is what was sent.
    let options = ParserOptions::new().with_unescape(false);
    let mut parser = Parser::new(dialect)
        .with_options(options)
        .with_tokens_with_locations(tokens);
    let mut statements = Vec::new();
    loop {
        while parser.consume_token(&Token::SemiColon) {}
        if parser.peek_token_ref().token == Token::EOF {
            break;
        }
        statements.push(statement(&mut parser).map_err(|error| match error {
            ParserError::RecursionLimitExceeded => SqlConcern::TooDeep,
            ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
                SqlConcern::Unparsed { error: message }
            }
        })?);
        let next = &parser.peek_token_ref().token;
        if !matches!(next, Token::SemiColon | Token::EOF) {
            return Err(SqlConcern::Trailing {
                token: next.to_string(),
            });
        }
    }
    if statements.is_empty() {
        Err(SqlConcern::Empty)
    } else {
        Ok(statements)
    }
}

fn statement(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    match parser.maybe_parse(pragma_of_name)? {
        Some(pragma) => Ok(pragma),
        None => parser.parse_statement(),
    }
}

/// `PRAGMA table_info(users)`: the library knows only quoted arguments.
fn pragma_of_name(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    parser.expect_keyword(Keyword::PRAGMA)?;
    let name = parser.parse_object_name(false)?;
    parser.expect_token(&Token::LParen)?;
    let argument = parser.parse_identifier()?;
    parser.expect_token(&Token::RParen)?;
    let value = Some(Value::SingleQuotedString(argument.value).into());
    Ok(Statement::Pragma {
        name,
        value,
        is_eq: false,
    })
}

fn is_string(token: &Token) -> bool {
    matches!(
        token,
        Token::SingleQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::NationalStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::SingleQuotedByteStringLiteral(_)
            | Token::QuoteDelimitedStringLiteral(_)
            | Token::NationalQuoteDelimitedStringLiteral(_)
            | Token::DollarQuotedString(_)
    )
}

/// `:a::b(…)`: one variable to SQLite, which ends at the next `)`, be that inside what the parser takes for a string.
fn has_variable_with_brackets(tokens: &[TokenWithSpan]) -> bool {
    let mut in_variable = false;
    for token in tokens {
        in_variable = match &token.token {
            Token::LParen if in_variable => return true,
            Token::Colon | Token::AtSign | Token::AtAt | Token::Sharp => true,
            Token::Placeholder(name) => in_variable || !name.starts_with('?'),
            Token::Word(word) => in_variable && word.quote_style.is_none(),
            Token::Number(..) | Token::DoubleColon => in_variable,
            _ => false,
        };
    }
    false
}

fn too_deep(tokens: &[TokenWithSpan]) -> bool {
    let mut items = vec![0_usize];
    for token in tokens {
        match token.token {
            Token::Whitespace(_) => continue,
            Token::LParen | Token::LBracket | Token::LBrace => items.push(0),
            Token::RParen | Token::RBracket | Token::RBrace if items.len() > 1 => {
                items.pop();
            }
            _ => {}
        }
        if let Some(length) = items.last_mut() {
            let ends = matches!(token.token, Token::Comma | Token::SemiColon);
            *length = if ends { 0 } else { *length + 1 };
            if *length > ITEM_TOKENS_MAX {
                return true;
            }
        }
    }
    false
}
