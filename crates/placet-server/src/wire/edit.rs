//! Edited arguments on their way back: what was masked and came back as it was shown means "as it was".

use placet_core::call::{Args, ArgsError};
use placet_core::render::mask;
use serde_json::Value;

/// The arguments a person means: their edit, with every value that they left masked put back.
pub(crate) fn unmasked(edited: &Args, original: &Args) -> Result<Args, ArgsError> {
    let shown = mask::json(original.as_value());
    let mut meant = edited.as_value().clone();
    put_back(&mut meant, &shown, original.as_value());
    Args::from_value(meant)
}

fn put_back(edited: &mut Value, shown: &Value, original: &Value) {
    if edited == shown {
        *edited = original.clone();
        return;
    }
    match (edited, shown, original) {
        (Value::Object(edited), Value::Object(shown), Value::Object(original)) => {
            for (name, value) in edited {
                if let (Some(shown), Some(original)) = (shown.get(name), original.get(name)) {
                    put_back(value, shown, original);
                }
            }
        }
        (Value::Array(edited), Value::Array(shown), Value::Array(original)) => {
            for (value, (shown, original)) in edited.iter_mut().zip(shown.iter().zip(original)) {
                put_back(value, shown, original);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meant(original: Value, change: impl FnOnce(&mut Value)) -> Value {
        let original = Args::from_value(original).unwrap();
        let mut edited = mask::json(original.as_value());
        change(&mut edited);
        let edited = Args::from_value(edited).unwrap();
        unmasked(&edited, &original).unwrap().as_value().clone()
    }

    #[test]
    fn a_secret_that_was_left_masked_is_kept_and_the_rest_is_edited() {
        let original = json!({"url": "https://example.com", "headers": {"Authorization": "Bearer sk-abcdef0123456789abcdef"}});
        let masked = mask::json(&original);
        assert_ne!(masked["headers"], original["headers"], "it is masked at all");
        let edited = meant(original.clone(), |edited| {
            edited["url"] = json!("https://example.org")
        });
        assert_eq!(edited["headers"], original["headers"]);
        assert_eq!(edited["url"], "https://example.org");
    }

    #[test]
    fn arguments_sent_back_as_shown_are_the_arguments() {
        let original =
            json!({"password": "hunter2hunter2", "list": [{"token": "sk-abcdef0123456789abcdef"}]});
        assert_eq!(meant(original.clone(), |_| {}), original);
    }
}
