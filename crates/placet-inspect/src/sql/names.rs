//! The names of tables: one spelling for each, also where the library does not see one.

use sqlparser::ast::{
    CopySource, Expr, FunctionArg, FunctionArgExpr, Ident, ObjectName, ObjectNamePart, SetExpr, Statement,
    TableAlias, TableFactor, Value,
};

use super::known;

/// A name as rules compare it: without quotes and in lower case. A part that holds a dot keeps quotes, or the table
/// `"app.users"` would pass for the table `users` of `app`.
pub(super) fn plain(name: &ObjectName) -> String {
    let part = |part: &ObjectNamePart| match part {
        ObjectNamePart::Identifier(ident) if ident.value.contains('.') => {
            format!("\"{}\"", ident.value.to_lowercase())
        }
        ObjectNamePart::Identifier(ident) => ident.value.to_lowercase(),
        ObjectNamePart::Function(function) => function.to_string().to_lowercase(),
    };
    name.0.iter().map(part).collect::<Vec<_>>().join(".")
}

/// The parts of a column's name; none where the expression is something else.
pub(super) fn column(expr: &Expr) -> &[Ident] {
    match expr {
        Expr::Identifier(name) => std::slice::from_ref(name),
        Expr::CompoundIdentifier(names) => names,
        _ => &[],
    }
}

/// The alias of something to read from.
pub(super) fn alias(table: &TableFactor) -> Option<&TableAlias> {
    match table {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::NestedJoin { alias, .. }
        | TableFactor::UNNEST { alias, .. } => alias.as_ref(),
        _ => None,
    }
}

/// Tables that the library's visitor does not count as relations.
pub(super) fn not_visited(statement: &Statement) -> Vec<ObjectName> {
    match statement {
        Statement::Drop { names, .. } => names.clone(),
        Statement::Copy {
            source: CopySource::Table { table_name, .. },
            ..
        } => vec![table_name.clone()],
        Statement::RenameTable(renames) => renames.iter().map(|rename| rename.old_name.clone()).collect(),
        Statement::Pragma {
            name,
            value: Some(value),
            ..
        } if known::pragma_tells(name) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => {
                vec![ObjectName::from(vec![Ident::new(text)])]
            }
            _ => Vec::new(),
        },
        Statement::ShowCreate { obj_name, .. } => vec![obj_name.clone()],
        // `SHOW INDEX FROM t FROM app` comes as a list of words.
        Statement::ShowVariable { variable } => variable
            .iter()
            .skip_while(|word| !is_keyword(word, &["from", "in"]))
            .filter(|word| !is_keyword(word, &["from", "in"]))
            .map(|word| ObjectName::from(vec![word.clone()]))
            .collect(),
        _ => Vec::new(),
    }
}

/// The tables of `TABLE t` where a query could stand: `SELECT 1 UNION TABLE t`.
pub(super) fn tables_as_queries(body: &SetExpr) -> Vec<ObjectName> {
    match body {
        SetExpr::Table(table) => {
            let parts = [&table.schema_name, &table.table_name];
            let idents: Vec<Ident> = parts.into_iter().flatten().map(Ident::new).collect();
            vec![ObjectName::from(idents)]
        }
        SetExpr::SetOperation { left, right, .. } => {
            [tables_as_queries(left), tables_as_queries(right)].concat()
        }
        _ => Vec::new(),
    }
}

/// `FROM ONLY t` and `FROM ONLY (t)`, which the library takes for a table or a function called `ONLY`.
pub(super) fn behind_only(table: &TableFactor) -> Vec<ObjectName> {
    let TableFactor::Table {
        name, alias, args, ..
    } = table
    else {
        return Vec::new();
    };
    let only = name.0.first().and_then(ObjectNamePart::as_ident);
    if !only.is_some_and(|ident| is_keyword(ident, &["only"])) {
        return Vec::new();
    }
    let alias = alias.iter().map(|alias| vec![alias.name.clone()]);
    let args = args.iter().flat_map(|args| &args.args);
    let named = args.filter_map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(ident))) => Some(vec![ident.clone()]),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::CompoundIdentifier(idents))) => Some(idents.clone()),
        _ => None,
    });
    alias.chain(named).map(ObjectName::from).collect()
}

fn is_keyword(ident: &Ident, words: &[&str]) -> bool {
    ident.quote_style.is_none() && words.iter().any(|word| ident.value.eq_ignore_ascii_case(word))
}
