//! The HTTP reference: the OpenAPI document, as a page to read.

use std::fmt::Write as _;

use axum::Router;
use axum::http::header;
use axum::routing::get;
use serde_json::Value;
use utoipa::openapi::OpenApi;

use super::html;
use super::markdown::{escaped, inline};
use crate::state::State;

/// The description of the endpoints, as a document and as a page. Made once.
pub(crate) struct Reference {
    json: String,
    page: String,
}

const STYLE: &str = include_str!("reference.css");

impl Reference {
    pub(crate) fn of(openapi: &OpenApi) -> Self {
        let document = serde_json::to_value(openapi).unwrap_or_default();
        Self {
            page: page(&document),
            json: document.to_string(),
        }
    }

    pub(crate) fn routes(self) -> Router<State> {
        let Self { json, page } = self;
        Router::new()
            .route(
                "/openapi.json",
                get(async move || ([(header::CONTENT_TYPE, "application/json")], json)),
            )
            .route("/reference", get(async move || html(&page)))
            .route(
                "/reference.css",
                get(async || ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)),
            )
    }
}

fn page(document: &Value) -> String {
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>HTTP reference · Placet</title><link rel=\"stylesheet\" \
         href=\"/reference.css\"></head>\n<body>\n<main>\n<h1>Placet over HTTP</h1>\n",
    );
    let description = document
        .pointer("/info/description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let _ = writeln!(
        out,
        "<p>{}</p>\n<p><a href=\"/openapi.json\">openapi.json</a></p>",
        inline(description)
    );
    for (path, methods) in fields(document.get("paths")) {
        for (method, operation) in fields(Some(methods)) {
            endpoint(&mut out, path, method, operation);
        }
    }
    let _ = writeln!(out, "<h1>Shapes</h1>");
    for (name, schema) in fields(document.pointer("/components/schemas")) {
        let _ = writeln!(out, "<section id=\"{0}\"><h2>{0}</h2>", escaped(name));
        described(&mut out, schema);
        properties(&mut out, schema);
        out.push_str("</section>\n");
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn endpoint(out: &mut String, path: &str, method: &str, operation: &Value) {
    let method = method.to_uppercase();
    let _ = writeln!(
        out,
        "<section><h2><b>{}</b> {}</h2>",
        escaped(&method),
        escaped(path)
    );
    for key in ["summary", "description"] {
        if let Some(text) = operation.get(key).and_then(Value::as_str) {
            let _ = writeln!(out, "<p>{}</p>", inline(text));
        }
    }
    let roles = operation
        .get("x-roles")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let roles: Vec<_> = roles.filter_map(Value::as_str).collect();
    let _ = writeln!(out, "<p class=\"roles\">For: {}</p>", escaped(&roles.join(", ")));
    let parameters = operation
        .get("parameters")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut rows = String::new();
    for parameter in parameters {
        let text = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
        let _ = writeln!(
            rows,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
            escaped(text("name")),
            escaped(text("in")),
            inline(text("description"))
        );
    }
    if !rows.is_empty() {
        let _ = writeln!(out, "<table>{rows}</table>");
    }
    if let Some(body) = operation.pointer("/requestBody/content/application~1json/schema") {
        let _ = writeln!(out, "<p>Body: {}</p>", shape(body));
    }
    for (status, response) in fields(operation.get("responses")).filter(|(status, _)| status.starts_with('2'))
    {
        let described = response
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let bodies: Vec<_> = fields(response.get("content"))
            .filter_map(|(_, content)| content.get("schema"))
            .map(shape)
            .collect();
        let _ = writeln!(
            out,
            "<p>{}: {} {}</p>",
            escaped(status),
            inline(described),
            bodies.join(", ")
        );
    }
    out.push_str("</section>\n");
}

fn described(out: &mut String, schema: &Value) {
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        let _ = writeln!(out, "<p>{}</p>", inline(text));
    }
}

fn properties(out: &mut String, schema: &Value) {
    let required = schema.get("required").and_then(Value::as_array);
    let mut rows = String::new();
    for (name, property) in fields(schema.get("properties")) {
        let needed = required.is_some_and(|required| required.iter().any(|other| other == name));
        let text = property
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let _ = writeln!(
            rows,
            "<tr><td><code>{}</code></td><td>{}{}</td><td>{}</td></tr>",
            escaped(name),
            shape(property),
            if needed { "" } else { ", optional" },
            inline(text)
        );
    }
    if !rows.is_empty() {
        let _ = writeln!(out, "<table>{rows}</table>");
    }
}

/// A schema in a word, linked to where it is described.
fn shape(schema: &Value) -> String {
    if let Some(name) = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|path| path.rsplit('/').next())
    {
        return format!("<a href=\"#{0}\">{0}</a>", escaped(name));
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(several) = schema.get(key).and_then(Value::as_array) {
            return several.iter().map(shape).collect::<Vec<_>>().join(" or ");
        }
    }
    if let Some(items) = schema.get("items") {
        return format!("list of {}", shape(items));
    }
    match schema.get("type") {
        Some(Value::String(kind)) => escaped(kind),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).map(escaped).collect();
            kinds.join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

fn fields(object: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    object.and_then(Value::as_object).into_iter().flatten()
}
