//! A workflow from an application: begun, followed, answered and gone on with over HTTP.

use serde_json::{Value, json};

use crate::house::{House, LIN, PEOPLE, WEI};

const SCRIPT: &str = "
[[turns]]
on = 'was-run'
text = 'It ran.'
[[turns]]
text = 'I look.'
calls = [{ tool = 'bash', args = { command = 'echo was-run' } }]
";

/// The document's example, with a tool that exists here.
const WORKFLOW: &str = r#"# workflow.toml
[[workflow.config]]
timeout = 60000
maxSteps = 100

[workflow.config.toolApproval]
autoApprovedTools = ["ls"]
approvalTimeout = 60000
"#;

async fn house() -> House {
    let data = tempfile::tempdir().unwrap();
    let place = |name: &str, text: &str| {
        let path = data.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (script, flow) = (place("script.toml", SCRIPT), place("flow.toml", WORKFLOW));
    let config = format!(
        "{PEOPLE}\n[workspace]\nroot = '{}'\n[models.main]\nprovider = 'scripted'\nscript = '{}'\n[workflows]\nlooker = '{}'\n",
        data.path().display(),
        script.display(),
        flow.display()
    );
    House::open(data, &config).await
}

async fn rested(house: &House, token: &str, session: &str) -> Value {
    house
        .get(token, &format!("/v1/runs/{session}?wait=60"))
        .await
        .ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_is_started_followed_answered_and_resumed_over_http() {
    let house = house().await;
    let mut events = house.state.engine().subscribe(0, None);
    let run = json!({"workflow": "looker", "task": "look", "sessionId": "thread-1"});
    let begun = house.post(LIN, "/v1/runs", run.clone()).await.ok();
    assert_eq!(begun["sessionId"], "thread-1", "{begun}");
    // `echo` only reads, and is asked about all the same: it is not on the list.
    let parked = rested(&house, LIN, "thread-1").await;
    assert_eq!(parked["state"], "parked", "{parked}");
    let asked = serde_json::to_value(events.next_interaction().await.unwrap()).unwrap();
    assert_eq!(asked["type"], "USER_INTERACTION_REQUESTED");
    assert_eq!(
        (&asked["workflowId"], &asked["threadId"]),
        (&json!("looker"), &json!("thread-1"))
    );
    assert_eq!(asked["nodeId"], "placet");
    // No longer than the workflow itself, which began a moment ago.
    assert!(
        (1..=60_000).contains(&asked["timeout"].as_u64().unwrap()),
        "{asked}"
    );
    assert_eq!(asked["metadata"]["toolApproval"]["toolName"], "bash");
    let question = parked["requestIds"][0].as_str().unwrap();
    assert_eq!(asked["interactionId"], question);

    assert_eq!(
        house.post(LIN, "/v1/runs", run).await.status,
        400,
        "one is going on"
    );
    house
        .answer(LIN, question, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    let ended = rested(&house, LIN, "thread-1").await;
    assert_eq!(ended["state"], "completed", "{ended}");
    assert_eq!(ended["text"], "It ran.");
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_its_persons_and_names_no_file() {
    let house = house().await;
    for named in ["nobody", "flow.toml", "../flow.toml", ""] {
        let refused = house.post(LIN, "/v1/runs", json!({"workflow": named})).await;
        assert_eq!(refused.problem(), (400, "bad-request".into()), "{named}");
    }
    assert_eq!(
        house.post(LIN, "/v1/runs", json!({})).await.status,
        422,
        "there is nothing to do"
    );
    let begun = house.post(LIN, "/v1/runs", json!({"task": "look"})).await.ok();
    let session = begun["sessionId"].as_str().unwrap();
    let path = format!("/v1/runs/{session}");
    assert_eq!(house.get(&house.token("approver"), &path).await.status, 404);
    assert_eq!(house.get(WEI, &path).await.status, 200, "an admin sees it");
    assert_eq!(
        house
            .post(&house.token("agent"), "/v1/runs", json!({"task": "x"}))
            .await
            .status,
        403
    );
    house.close().await;
}
