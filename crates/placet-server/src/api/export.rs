//! Files that are taken along: JSON lines or CSV, written a page at a time.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::Stream;
use serde::Deserialize;

use crate::problem::{Code, Problem};

/// How a file is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    #[default]
    Jsonl,
    Csv,
}

impl Format {
    /// The head of a file: the names of its columns, where it has any.
    pub(super) fn head(self, columns: &[&str]) -> Option<Bytes> {
        (self == Self::Csv).then(|| Bytes::from(format!("{}\r\n", columns.join(","))))
    }

    /// A response that is saved as the file `name`, with the ending of the format.
    pub(super) fn file<E>(
        self,
        name: &str,
        chunks: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    ) -> Result<Response, Problem>
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (kind, ending) = match self {
            Self::Jsonl => ("application/jsonl", "jsonl"),
            Self::Csv => ("text/csv; charset=utf-8", "csv"),
        };
        let disposition = format!("attachment; filename=\"{name}.{ending}\"");
        let disposition = HeaderValue::from_str(&disposition)
            .map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
        let mut response = Response::new(Body::from_stream(chunks));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(header::CONTENT_DISPOSITION, disposition);
        Ok(response)
    }
}

/// A line of a table.
pub(super) fn csv_line<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let cells: Vec<_> = cells.into_iter().map(quoted).collect();
    format!("{}\r\n", cells.join(","))
}

/// A cell of a table. A spreadsheet takes one that begins like a formula for one, and an agent may have chosen the text.
fn quoted(cell: &str) -> String {
    let guard = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        "'"
    } else {
        ""
    };
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_and_never_a_formula() {
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
        assert_eq!(quoted("say \"x\", y"), "\"say \"\"x\"\", y\"");
    }
}
