//! What both protocols need: a model's own calls, sent back to it in a form no provider refuses.

use placet_core::run::RequestedCall;
use serde_json::{Value, json};

/// The longest tool name both protocols take.
const NAME_CHARS_MAX: usize = 64;

/// Arguments must be an object, whatever the model wrote. What was wrong with them is in the result.
pub(super) fn args_sent(wanted: &RequestedCall) -> Value {
    match wanted {
        RequestedCall::Call { args, .. } => args.as_value().clone(),
        RequestedCall::Nonsense { args, .. } => match serde_json::from_str(args) {
            Ok(Value::Object(fields)) => Value::Object(fields),
            _ => json!({ "unreadable": args }),
        },
    }
}

/// A name of letters, digits, `_` and `-`, even for a tool that was made up: a name outside that would be refused with every
/// later request, and the run could never go on.
pub(super) fn name_sent(tool: &str) -> String {
    let fits = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let name: String = tool.chars().take(NAME_CHARS_MAX).map(fits).collect();
    if name.is_empty() { "unnamed".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonsense(args: &str) -> RequestedCall {
        RequestedCall::Nonsense {
            tool: "x".into(),
            args: args.into(),
            why: "x".into(),
        }
    }

    #[test]
    fn whatever_a_model_made_up_can_be_sent_back() {
        assert_eq!(name_sent("tele port/é"), "tele_port__");
        assert_eq!(name_sent(""), "unnamed");
        assert_eq!(
            args_sent(&nonsense("{\"a\": ")),
            json!({ "unreadable": "{\"a\": " })
        );
        assert_eq!(args_sent(&nonsense("[1]")), json!({ "unreadable": "[1]" }));
        assert_eq!(args_sent(&nonsense("{\"a\":1}")), json!({ "a": 1 }));
    }
}
