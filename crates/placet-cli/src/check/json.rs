//! A checked call as one JSON object. Its fields are part of the interface: docs/cli.md describes them.

use placet_core::analysis::Fact;
use placet_core::verdict::{Approvers, AskTerms, Decision};
use serde_json::{Map, Value, json};

use super::Checked;
use crate::config_file::Source;
use crate::exit::Exit;

/// Facts by kind, and the field that lists them.
const LISTS: [(&str, &str); 6] = [
    ("command", "commands"),
    ("redirect", "redirects"),
    ("statement", "statements"),
    ("path", "paths"),
    ("host", "hosts"),
    ("unreadable", "unreadable"),
];

pub(super) fn text(checked: &Checked) -> serde_json::Result<String> {
    let verdict = &checked.verdict;
    let ask = match &verdict.decision {
        Decision::Ask(terms) => ask(terms, checked)?,
        Decision::Allow | Decision::Deny => Value::Null,
    };
    let config = match &checked.source {
        Source::File(path) => Value::from(path.display().to_string()),
        Source::BuiltIn => Value::Null,
    };
    let (reason_code, reason_parameters) = verdict.reason.parts();
    let mut object = json!({
        "tool": checked.call.tool,
        "decision": verdict.decision.as_str(),
        "exitCode": Exit::from(&verdict.decision).code(),
        "step": verdict.step.number(),
        "stepName": verdict.step.to_string(),
        "rule": verdict.rule,
        "reason": verdict.reason.to_string(),
        "reasonCode": reason_code,
        "reasonParameters": reason_parameters,
        "risk": verdict.risk,
        "category": verdict.category,
        "confinement": verdict.confinement,
        "banned": checked.analysis.banned.as_ref().map(ToString::to_string),
        "ask": ask,
        "callDigest": checked.digest,
        "policy": checked.policy,
        "config": config,
        "workspace": checked.workspace,
    });
    for (kind, list) in LISTS {
        let facts = checked
            .analysis
            .facts
            .iter()
            .map(fact)
            .collect::<Result<Vec<_>, _>>()?;
        let of_kind = facts.into_iter().filter(|(found, _)| found == kind);
        let of_kind: Vec<Value> = of_kind.map(|(_, fact)| Value::Object(fact)).collect();
        if let Value::Object(fields) = &mut object {
            fields.insert(list.to_owned(), Value::Array(of_kind));
        }
    }
    Ok(format!("{object}\n"))
}

/// A fact's kind and its fields. Fields that storage leaves out when empty are there: readers should not have to guess.
fn fact(fact: &Fact) -> serde_json::Result<(String, Map<String, Value>)> {
    let Value::Object(mut fields) = serde_json::to_value(fact)? else {
        return Ok(Default::default());
    };
    let kind = fields
        .remove("kind")
        .and_then(|kind| kind.as_str().map(str::to_owned))
        .unwrap_or_default();
    let why = fact.why.as_ref().map(ToString::to_string);
    fields.insert("why".to_owned(), Value::from(why.unwrap_or_default()));
    let empty: &[(&str, Value)] = match kind.as_str() {
        "command" => &[
            ("dynamic", json!(false)),
            ("assignments", json!([])),
            ("under", json!([])),
            ("effects", json!([])),
        ],
        "statement" => &[("tables", json!([]))],
        "host" => &[("port", Value::Null)],
        _ => &[],
    };
    for (name, value) in empty {
        fields.entry(*name).or_insert_with(|| value.clone());
    }
    // What a redirection may name, for rules.
    if kind == "redirect" {
        fields.remove("paths");
    }
    Ok((kind, fields))
}

fn ask(terms: &AskTerms, checked: &Checked) -> serde_json::Result<Value> {
    let approvers = match &terms.approvers {
        Approvers::SessionUser => Value::Null,
        Approvers::People(people) => serde_json::to_value(people)?,
    };
    let escalate = terms
        .escalate
        .as_ref()
        .map(|escalate| json!({ "afterMs": escalate.after, "to": escalate.to }));
    Ok(json!({
        "approvers": approvers,
        "quorum": terms.quorum,
        "notRequester": terms.not_requester,
        "timeoutMs": checked.timeout,
        "escalate": escalate,
        "answers": terms.answers,
    }))
}
