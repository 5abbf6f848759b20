//! Questions that are not about a call: confirmations, choices, texts, and what a crash leaves open.

use serde_json::{Value, json};

use crate::person::Person;
use placet_core::messages::{option, prompt};

fn asks(kind: &str, options: &Value) -> Person {
    Person::at(json!({ "requests": [{
        "sessionId": "terminal:kim", "type": kind, "title": "Which database?",
        "message": "I found two of them.", "options": options, "required": true,
    }] }))
}

fn resolution(person: &mut Person) -> Value {
    person.results()["requests"][0].clone()
}

fn databases() -> Value {
    json!([
        { "optionId": "staging", "label": "Staging", "description": "a copy", "action": "CUSTOM" },
        { "optionId": "production", "label": "Production", "action": "CUSTOM", "isDangerous": true },
        { "optionId": "other", "label": "Another one", "action": "PROVIDE_INFO", "requiresInput": true, "inputPrompt": "Which?" },
        { "optionId": "none", "label": "None", "action": "SKIP", "isDefault": true },
    ])
}

#[test]
fn a_choice_is_taken_by_its_number() {
    let mut kim = asks("USER_CHOICE", &databases());
    kim.sees("Which database?");
    kim.sees("│ I found two of them.");
    kim.sees("[1] Staging — a copy");
    kim.presses("1");
    kim.sees("→ kim answered: Staging.");
    assert_eq!(resolution(&mut kim)["ballot"]["option"], "staging");
}

#[test]
fn a_choice_is_taken_with_the_arrows_and_enter_takes_the_default() {
    let mut kim = asks("USER_CHOICE", &databases());
    kim.sees("› [4] None");
    kim.presses("\u{1b}[A");
    kim.sees("› [3] Another one");
    kim.types("\u{1b}[B");
    kim.sees("› [4] None");
    kim.types("\r");
    kim.sees("→ Skipped by kim.");
    assert_eq!(resolution(&mut kim)["ballot"]["option"], "none");
}

#[test]
fn a_question_that_need_not_be_answered_can_be_dismissed() {
    let mut kim = Person::at(json!({ "requests": [{
        "sessionId": "terminal:kim", "type": "USER_INPUT", "title": "Anything else?", "message": "You may leave it.",
        "options": [{ "optionId": "tell", "label": "Tell", "action": "PROVIDE_INFO", "requiresInput": true }],
        "required": false,
    }] }));
    kim.sees(&prompt::send().to_string());
    kim.presses("\u{1b}");
    kim.sees(&format!("[2] {}", option::dismiss()));
    kim.presses("2");
    kim.sees("→ Skipped by kim.");
    assert_eq!(resolution(&mut kim)["ballot"]["option"], "dismiss");
}

#[test]
fn a_dangerous_choice_is_confirmed() {
    let mut kim = asks("USER_CHOICE", &databases());
    kim.presses("2");
    kim.sees(&prompt::choose("Production").to_string());
    kim.types("n");
    kim.sees("[2] Production");
    kim.types("2");
    kim.sees("Choose ");
    kim.types("y");
    assert_eq!(resolution(&mut kim)["ballot"]["option"], "production");
}

#[test]
fn a_choice_that_needs_a_text_asks_for_it() {
    let mut kim = asks("USER_CHOICE", &databases());
    kim.presses("3");
    kim.sees("Which?");
    kim.enters("archive");
    let resolution = resolution(&mut kim);
    assert_eq!(resolution["ballot"]["option"], "other");
    assert_eq!(resolution["ballot"]["feedback"], "archive");
}

#[test]
fn free_input_is_typed_at_once_in_any_language() {
    let options = json!([
        { "optionId": "send", "label": "Send", "action": "PROVIDE_INFO", "requiresInput": true, "inputPrompt": "The name:" },
        { "optionId": "skip", "label": "Skip", "action": "SKIP" },
    ]);
    for kind in ["USER_INPUT", "MISSING_INFO"] {
        let mut kim = asks(kind, &options);
        kim.sees("The name:");
        kim.is_asked();
        kim.enters("订单数据库");
        let resolution = resolution(&mut kim);
        assert_eq!(resolution["ballot"]["feedback"], "订单数据库");
    }
}

#[test]
fn a_confirmation_is_answered_by_yes_or_no() {
    let options = json!([
        { "optionId": "go", "label": "Go on", "action": "APPROVE_AND_EXECUTE" },
        { "optionId": "stop", "label": "Stop", "action": "REJECT_WITH_REASON", "isDefault": true },
    ]);
    for (key, option) in [("y", "go"), ("n", "stop"), ("\r", "stop")] {
        let mut kim = asks("USER_CONFIRMATION", &options);
        kim.presses(key);
        assert_eq!(resolution(&mut kim)["ballot"]["option"], option);
    }
}

#[test]
fn ctrl_c_refuses_what_can_be_refused_and_withdraws_what_cannot() {
    let mut kim = asks("USER_CHOICE", &databases());
    kim.presses("\u{3}");
    kim.sees("→ Skipped by kim. “interrupted at the terminal”");
    assert_eq!(resolution(&mut kim)["ballot"]["option"], "none");
    let only = json!([
        { "optionId": "a", "label": "A", "action": "CUSTOM" },
        { "optionId": "b", "label": "B", "action": "CUSTOM" },
    ]);
    let mut kim = asks("CUSTOM", &only);
    kim.presses("\r");
    kim.sees("Enter alone decides nothing here.");
    kim.types("\u{3}");
    kim.sees("→ Withdrawn by kim.");
    assert_eq!(resolution(&mut kim)["resolution"], "cancelled");
}
