//! A workflow from an application: begun, followed, answered and gone on with over HTTP.

use placet_store::Location;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::database::Server;
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
    let (data, config) = folder();
    House::open(data, &config).await
}

/// A data folder with a model, and the configuration that names it.
fn folder() -> (TempDir, String) {
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
    (data, config)
}

async fn rested(house: &House, token: &str, session: &str) -> Value {
    house
        .get(token, &format!("/v1/runs/{session}?wait=60"))
        .await
        .ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workflow_is_started_followed_answered_and_resumed_over_http() {
    let (data, config) = folder();
    let house = House::open(data, &config).await;
    let mut events = house.state.engine().subscribe(0, None);
    let run = json!({"workflow": "looker", "task": "look", "sessionId": "thread-1"});
    let begun = house.post(LIN, "/v1/runs", run.clone()).await.ok();
    assert_eq!(begun["sessionId"], "thread-1", "{begun}");
    // `echo` only reads, and still needs approval: it is not on the list.
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

    // The server ends, and another one continues the run.
    let house = House::open(house.close().await, &config).await;
    let resume = "/v1/runs/thread-1/resume";
    let by_another = house.post(WEI, resume, json!({})).await;
    assert_eq!(by_another.problem(), (404, "no-such-session".into()));
    let resumed = house.post(LIN, resume, json!({})).await;
    assert_eq!(
        (resumed.status, resumed.ok()),
        (201, json!({"sessionId": "thread-1"}))
    );
    let waits = rested(&house, LIN, "thread-1").await;
    assert_eq!(waits["requestIds"], json!([question]), "the same question");
    house
        .answer(LIN, question, json!({"selectedOptionId": "approve"}))
        .await
        .ok();
    let ended = rested(&house, LIN, "thread-1").await;
    assert_eq!(ended["state"], "completed", "{ended}");
    assert_eq!(ended["text"], "It ran.");
    assert_eq!(
        house.get(LIN, "/v1/runs/thread-1").await.ok(),
        ended,
        "also without waiting"
    );
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_of_a_workflow_are_changed_in_an_answer_and_shown_with_the_run() {
    let (data, config) = folder();
    let flow = data.path().join("flow.toml");
    let text = format!("{WORKFLOW}\n[workflow.variables]\nregion = 'eu'\nlimit = 10\n");
    std::fs::write(flow, text).unwrap();
    let house = House::open(data, &config).await;
    let run = json!({"workflow": "looker", "task": "look", "sessionId": "thread-2"});
    house.post(LIN, "/v1/runs", run).await.ok();
    let parked = rested(&house, LIN, "thread-2").await;
    assert_eq!(parked["variables"], json!({"region": "eu", "limit": 10}));
    let question = parked["requestIds"][0].as_str().unwrap();
    let answer = |variables: Value| json!({"selectedOptionId": "approve", "data": {"variables": variables}});
    for wrong in [json!({"regoin": "us"}), json!({"limit": "three"}), json!(["us"])] {
        let refused = house.answer(LIN, question, answer(wrong.clone())).await;
        assert_eq!(refused.problem(), (422, "variables-refused".into()), "{wrong}");
    }
    house
        .answer(LIN, question, answer(json!({"region": "us"})))
        .await
        .ok();
    let ended = rested(&house, LIN, "thread-2").await;
    assert_eq!(
        (&ended["state"], &ended["variables"]),
        (&json!("completed"), &json!({"region": "us", "limit": 10}))
    );
    house.close().await;
}

#[tokio::test]
async fn the_workflows_that_can_be_started_are_listed_with_their_variables() {
    let (data, config) = folder();
    let flow = data.path().join("flow.toml");
    let text =
        format!("{WORKFLOW}\n[workflow.variables]\nregion = 'eu'\napi_key = 'sk-live-5f2e8c0d9b7a41e6'\n");
    std::fs::write(flow, text).unwrap();
    let config = config.replace("[workflows]", "[workflows]\ngone = 'no such file.toml'");
    let house = House::open(data, &config).await;
    let listed = house.get(LIN, "/v1/workflows").await;
    assert!(
        !listed.text.contains("sk-live-5f2e8c0d9b7a41e6"),
        "{}",
        listed.text
    );
    let items = listed.ok()["items"].clone();
    assert_eq!(
        (&items[0]["name"], &items[1]["name"]),
        (&json!("gone"), &json!("looker"))
    );
    assert!(items[0]["fault"].as_str().unwrap().contains("`gone`"), "{items}");
    assert_eq!(items[1]["variables"]["region"], "eu");
    assert_eq!(
        house.get(&house.token("agent"), "/v1/workflows").await.status,
        403
    );
    house.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_agent_has_stopped_is_not_ready() {
    let house = house().await;
    assert_eq!(house.get(LIN, "/readyz").await.status, 200);
    house.state.agent().unwrap().clone().shutdown().await;
    let problem = house.get(LIN, "/readyz").await.problem();
    assert_eq!(problem, (503, "agent-stopped".into()));
    house.close().await;
}

/// Runs that wait, runs that are under way and runs that begin later go on after the database was gone.
#[tokio::test(flavor = "multi_thread")]
async fn the_agent_goes_on_when_its_database_comes_back() {
    let database = Server::start("", &[]);
    let (data, config) = folder();
    let store = Location::parse(&database.database()).unwrap();
    let house = House::open_on(data, &config, store).await;
    let run = |session: &str| json!({"workflow": "looker", "task": "look", "sessionId": session});
    house.post(LIN, "/v1/runs", run("before")).await.ok();
    let parked = rested(&house, LIN, "before").await;
    for how in ["fast", "immediate"] {
        // Under way, as far as it has come.
        house.post(LIN, "/v1/runs", run(how)).await.ok();
        database.stop(how);
        assert_eq!(house.get(LIN, "/readyz").await.status, 503);
        database.start_again();
        while house.get(LIN, "/readyz").await.status != 200 {}
        let parked = rested(&house, LIN, how).await;
        assert_eq!(parked["state"], "parked", "{parked}");
    }
    let question = parked["requestIds"][0].as_str().unwrap();
    let approve = json!({"selectedOptionId": "approve"});
    house.answer(LIN, question, approve).await.ok();
    let ended = rested(&house, LIN, "before").await;
    assert_eq!(ended["state"], "completed", "{ended}");
    house.post(LIN, "/v1/runs", run("after")).await.ok();
    assert_eq!(rested(&house, LIN, "after").await["state"], "parked");
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
