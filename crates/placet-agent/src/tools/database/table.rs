//! Rows as the model reads them: a line of JSON each, so that no value can pass for two.

use serde_json::Value;

/// The most rows that are shown.
const ROWS_MAX: usize = 200;
/// What is shown of one value.
const VALUE_CHARS_MAX: usize = 2000;
/// The most that is shown of all.
const TABLE_BYTES_MAX: usize = 64 * 1024;

/// The rows of a query, as many as are shown.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    bytes: usize,
    more: bool,
}

/// Whether to go on reading.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Room {
    Left,
    None,
}

impl Table {
    pub(super) fn new(columns: impl IntoIterator<Item = String>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            bytes: 0,
            more: false,
        }
    }

    /// Takes a row, if there is room.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = Value>) -> Room {
        if self.rows.len() >= ROWS_MAX || self.bytes > TABLE_BYTES_MAX {
            self.more = true;
            return Room::None;
        }
        let row: Vec<Value> = row.into_iter().map(cut).collect();
        self.bytes += row
            .iter()
            .map(|value| value.as_str().map_or(8, str::len))
            .sum::<usize>();
        self.rows.push(row);
        Room::Left
    }

    /// The number in the only row, if that is what there is.
    pub(super) fn number(&self) -> Option<u64> {
        match self.rows.as_slice() {
            [row] => match row.as_slice() {
                [Value::String(text)] => text.parse().ok(),
                [value] => value.as_u64(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The names of the columns, then a row a line.
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![Value::from(self.columns.clone()).to_string()];
        lines.extend(self.rows.iter().map(|row| Value::from(row.clone()).to_string()));
        lines.push(if self.more {
            format!("[the first {} rows; there are more]", self.rows.len())
        } else {
            format!("[{} rows]", self.rows.len())
        });
        lines.join("\n")
    }
}

/// Bytes that are no text.
pub(super) fn bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => format!("[{} bytes that are not text]", bytes.len()).into(),
    }
}

fn cut(value: Value) -> Value {
    match value {
        Value::String(text) if text.chars().nth(VALUE_CHARS_MAX).is_some() => {
            let shown: String = text.chars().take(VALUE_CHARS_MAX).collect();
            format!("{shown} [cut: {} bytes in all]", text.len()).into()
        }
        value => value,
    }
}
