//! Canonical JSON and digests: one text per value, one digest per text.

use placet_core::call::{Args, Origin, ToolCall};
use placet_core::canonical;
use placet_core::ids::{AgentId, CallId, SessionId, ToolName};
use serde_json::Value;

use crate::{Broken, must, text};

/// Two JSON texts, one per line. Each has one canonical text that an independent implementation agrees with, and as arguments
/// the two have the same digest exactly if that text is the same.
pub fn canonical(data: &[u8]) -> Result<(), Broken> {
    let text = text(data);
    let (first, second) = text.split_once('\n').unwrap_or((&text, "{}"));
    for json in [first, second] {
        if let Ok(value) = serde_json::from_str::<Value>(json) {
            one_text(&value)?;
        }
    }
    if let (Some(first), Some(second)) = (call(first), call(second)) {
        let same_text = first.args.canonical() == second.args.canonical();
        let same_digest = first.digest() == second.digest();
        must(same_text == same_digest, || {
            format!("{first:?} and {second:?}: same text {same_text}, same digest {same_digest}")
        })?;
        must(
            !same_text || equal(first.args.as_value(), second.args.as_value()),
            || format!("{first:?} and {second:?} differ, but share a digest"),
        )?;
    }
    Ok(())
}

fn one_text(value: &Value) -> Result<(), Broken> {
    let once = canonical::to_string(value);
    let again = serde_json::from_str::<Value>(&once).map(|back| canonical::to_string(&back));
    must(again.as_ref().is_ok_and(|again| *again == once), || {
        format!("{once} reads back as {again:?}")
    })?;
    if !small_numbers(value) {
        return Ok(());
    }
    match serde_json_canonicalizer::to_string(value) {
        Ok(theirs) => must(once == theirs, || format!("ours is {once}, theirs is {theirs}")),
        Err(_) => Ok(()),
    }
}

/// Beyond 2^53 ours keeps integers exactly, on purpose; see `placet_core::canonical`.
fn small_numbers(value: &Value) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => {
            number.is_f64() || number.as_f64().is_some_and(|double| double.abs() < EXACT)
        }
        Value::Array(items) => items.iter().all(small_numbers),
        Value::Object(fields) => fields.values().all(small_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// Equal as values; `1` and `1.0` are the same number.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, left)| right.get(name).is_some_and(|right| equal(left, right)))
        }
        _ => left == right,
    }
}

fn call(json: &str) -> Option<ToolCall> {
    Some(ToolCall {
        id: CallId::new("call").ok()?,
        tool: ToolName::new("tool").ok()?,
        args: Args::parse(json.as_bytes()).ok()?,
        session: SessionId::new("session").ok()?,
        origin: Origin {
            agent: AgentId::new("agent").ok()?,
            agent_path: Vec::new(),
            chat: None,
            user: None,
        },
        group: None,
        description: None,
    })
}
