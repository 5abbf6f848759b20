//! Arguments as a person edits them: as JSON, with secrets masked, and the secrets put back afterwards.

use placet_core::call::{Args, ArgsError};
use placet_core::interaction::Locale;
use placet_core::render::mask;
use serde_json::Value;

/// What every mask holds; see [`mask`].
const MARK: &str = "-chars-masked]";

/// Why edited arguments cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Not arguments.
    #[error(transparent)]
    Args(#[from] ArgsError),
    /// A text was changed and still holds a mask: it would run with the mask instead of the secret.
    #[error("`{0}` still holds a masked secret: leave that value as it was, or write the secret itself")]
    Masked(String),
}

impl EditError {
    /// Why they cannot be used, in words.
    pub(crate) fn words(&self, locale: Locale) -> String {
        match (locale, self) {
            (Locale::English, _) => self.to_string(),
            (_, Self::Args(error)) => error.words(locale),
            (_, Self::Masked(name)) => {
                format!("`{name}` 中还有被遮盖的密钥：请保留原样，或写出密钥本身")
            }
        }
    }
}

/// The arguments on one line.
pub(crate) fn on_one_line(args: &Args) -> String {
    mask::json(args.as_value()).to_string()
}

/// The arguments on several lines, for an editor.
pub(crate) fn on_lines(args: &Args) -> String {
    let masked = mask::json(args.as_value());
    // A JSON value with text keys always serialises.
    serde_json::to_string_pretty(&masked).map_or_else(|_| masked.to_string(), |text| text + "\n")
}

/// Reads edited arguments. A masked value that was left alone is the secret it stands for.
pub(crate) fn read(text: &str, original: &Args) -> Result<Args, EditError> {
    let edited = Args::parse(text.as_bytes())?;
    let masked = mask::json(original.as_value());
    let value = unmasked("", edited.as_value(), original.as_value(), &masked)?;
    Ok(Args::from_value(value)?)
}

fn unmasked(name: &str, edited: &Value, original: &Value, masked: &Value) -> Result<Value, EditError> {
    if edited == masked {
        return Ok(original.clone());
    }
    match (edited, original, masked) {
        (Value::Object(fields), _, _) => {
            let field = |(name, value): (&String, &Value)| {
                let before = |from: &Value| from.get(name).cloned().unwrap_or(Value::Null);
                let value = unmasked(name, value, &before(original), &before(masked))?;
                Ok((name.clone(), value))
            };
            let fields: Result<serde_json::Map<_, _>, EditError> = fields.iter().map(field).collect();
            fields.map(Value::Object)
        }
        (Value::Array(items), _, _) => {
            let item = |(index, value): (usize, &Value)| {
                let before = |from: &Value| from.get(index).cloned().unwrap_or(Value::Null);
                unmasked(name, value, &before(original), &before(masked))
            };
            items.iter().enumerate().map(item).collect()
        }
        (Value::String(text), Value::String(before), _) if text.contains(MARK) && !before.contains(MARK) => {
            Err(EditError::Masked(name.to_owned()))
        }
        (Value::String(text), Value::Null, _) if text.contains(MARK) => {
            Err(EditError::Masked(name.to_owned()))
        }
        _ => Ok(edited.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn args() -> Args {
        Args::from_value(json!({
            "token": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "command": "ls",
        }))
        .unwrap()
    }

    #[test]
    fn a_secret_is_neither_shown_nor_lost_by_an_edit() {
        let text = on_one_line(&args());
        assert!(!text.contains("0123456789abcdef"), "{text}");
        let edited = read(&text.replace("ls", "ls -l"), &args()).unwrap();
        assert_eq!(edited.text("command"), Some("ls -l"));
        assert_eq!(edited.text("token"), args().text("token"));
    }

    #[test]
    fn a_mask_that_would_run_as_if_it_were_the_secret_is_refused() {
        let text = on_one_line(&args()).replace("ghp_", "ghx_");
        assert_eq!(read(&text, &args()), Err(EditError::Masked("token".into())));
        let moved = on_lines(&args()).replace("\"token\"", "\"other\"");
        assert_eq!(read(&moved, &args()), Err(EditError::Masked("other".into())));
    }

    #[test]
    fn what_is_not_a_json_object_is_refused_in_words() {
        assert!(
            read("{\"a\": ", &args())
                .unwrap_err()
                .to_string()
                .contains("not valid JSON")
        );
        assert!(
            read("[]", &args())
                .unwrap_err()
                .to_string()
                .contains("must be a JSON object")
        );
    }
}
