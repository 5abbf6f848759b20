//! Requests that explain themselves: what an agent says of its call, answers checked against a schema, defaults that silence takes.

use placet_core::evidence::Evidence;
use placet_core::interaction::{Answer, InteractionRequest, Locale};
use placet_core::preview::Preview;
use placet_core::steps::AnswerRefusal;
use placet_engine::{Engine, Proposed, Submission, audit_text};
use placet_store::StepError;
use serde_json::{Value, json};

use crate::support::*;

async fn put(engine: &Engine, mut request: Value) -> placet_core::interaction::Asked {
    request["sessionId"] = json!("s");
    let request: InteractionRequest = serde_json::from_value(request).unwrap();
    engine
        .broker()
        .ask(request, deploy("c", "x").origin)
        .await
        .unwrap()
}

fn with(data: &Value) -> Answer {
    Answer {
        data: data.as_object().cloned(),
        ..choice("lin", "send")
    }
}

#[tokio::test]
async fn what_an_agent_says_of_its_call_is_evidence_marked_as_its_word() {
    let house = House::new();
    let engine = house.open("").await;
    let preview = Preview {
        rows: Some(214),
        cwd: Some("/srv/shop".into()),
        ..Preview::default()
    };
    let submission = Submission {
        preview: Some(Box::new(preview.clone())),
        ..Submission::from(deploy("c", "staging"))
    };
    let Proposed::Parked { on, .. } = engine.gate().propose(submission).await.unwrap() else {
        panic!("a person must agree")
    };
    let preview = Box::new(preview);
    assert_eq!(asked(&engine, &on).await.evidence, [Evidence::Said { preview }]);
    verify(&engine).await;
}

#[tokio::test]
async fn data_that_does_not_fit_what_was_asked_for_is_refused_with_every_field_at_once() {
    let house = House::new();
    let engine = house
        .open("[[people]]\nname = 'lin'\n[[people]]\nname = 'wei'\n")
        .await;
    let schema = json!({ "type": "object", "required": ["version"], "properties": {
        "version": { "type": "string" },
        "regions": { "type": "array", "items": { "enum": ["eu", "us"] } },
        "replicas": { "type": "integer", "maximum": 50 },
        "key": { "type": "string", "minLength": 8, "writeOnly": true },
    } });
    let request = json!({
        "type": "MISSING_INFO", "title": "Release", "message": "What should it contain?", "context": { "schema": schema },
        "options": [{ "optionId": "send", "label": "Send", "action": "PROVIDE_INFO", "requiresInput": true }],
    });
    let id = put(&engine, request).await.id;
    let wrong = json!({ "version": 7, "regions": ["eu", "moon"], "replicas": 500, "key": "short" });
    let refused = say(&engine, &id, with(&wrong)).await;
    let Err(StepError::Refused(AnswerRefusal::DataInvalid(complaints))) = refused else {
        panic!("{refused:?}");
    };
    for field in ["version: ", "regions/1: ", "replicas: ", "key: "] {
        assert!(complaints.contains(field), "{field}{complaints}");
    }
    assert!(is_open(&engine, &id).await);
    let right = json!({ "version": "2.14.0", "regions": ["eu"], "replicas": 5, "key": "hunter2hunter2" });
    say(&engine, &id, with(&right)).await.unwrap();
    assert!(!is_open(&engine, &id).await);
    verify(&engine).await;
}

#[tokio::test]
async fn the_log_names_the_default_that_silence_took() {
    let house = House::new();
    let engine = house.open("").await;
    let request = json!({
        "type": "USER_CHOICE", "title": "Draft", "message": "What to do?", "timeoutSeconds": 60,
        "options": [
            { "optionId": "keep", "label": "Keep as draft", "action": "CUSTOM", "isDefault": true },
            { "optionId": "publish", "label": "Publish", "action": "CUSTOM" },
        ],
    });
    let id = put(&engine, request).await.id;
    assert_eq!(asked(&engine, &id).await.stated_risk(), None);
    house.pass(&engine, 61);
    soon(async {
        while is_open(&engine, &id).await {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let page = placet_core::listing::JournalPage::of_all(0, 1000);
    let read = engine.store().look(|stored| {
        let rows = stored.journal(&page)?;
        let rows = rows.iter().filter(|row| row.event.name() == "resolved");
        Ok(rows
            .map(|row| audit_text::sentence(stored, &row.event, Locale::English).to_string())
            .collect::<Vec<_>>())
    });
    let told = read.await.unwrap();
    assert!(told.len() == 1 && told[0].contains("“Keep as draft”"), "{told:?}");
}
