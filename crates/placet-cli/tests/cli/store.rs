//! `placet store`, and commands that read a store on a PostgreSQL server.

use serde_json::{Value, json};

use crate::audit::closed_store;
use crate::database;
use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_copied_to_a_server_read_there_and_copied_back() {
    let world = World::new();
    closed_store(&world).await;
    let url = database::database();
    let (out, _) = world.said(&["store", "copy", "placet.db", &url], 0);
    assert!(out.contains("and verified the copy"), "{out}");

    let (out, _) = world.said(&["audit", "list", "--store", &url], 0);
    assert!(
        out.contains("lin approved “Run `sudo apt-get install jq`”"),
        "{out}"
    );
    let (out, _) = world.said(&["audit", "verify", "--store", &url, "--json"], 0);
    let verified: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(verified["ok"], true);

    // The same store by the configuration, and its address by a variable.
    world.write("placet.toml", "[store]\nurl = 'env:STORE'\n");
    let listed = world
        .placet(&["audit", "list"])
        .env("STORE", &url)
        .assert()
        .code(0);
    let out = String::from_utf8_lossy(&listed.get_output().stdout).into_owned();
    assert!(
        out.contains("lin approved “Run `sudo apt-get install jq`”"),
        "{out}"
    );

    let (out, _) = world.said(&["store", "copy", "--json", &url, "back.db"], 0);
    let copied: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(copied["anchor"], verified["anchor"]);
    let anchor = copied["anchor"].as_str().unwrap();
    world.said(&["audit", "verify", "--db", "back.db", "--anchor", anchor], 0);

    database::tamper(&url, "UPDATE journal SET at = at + 1 WHERE id = 2");
    let (out, _) = world.said(&["audit", "verify", "--store", &url, "--json"], 1);
    let verified: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(verified["faults"][0]["row"], json!(2), "{out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_be_used_is_refused_without_showing_a_password() {
    let world = World::new();
    closed_store(&world).await;
    let url = database::database();
    world.said(&["store", "copy", "placet.db", &url], 0);
    let (_, err) = world.said(&["store", "copy", "placet.db", &url], 2);
    assert!(err.contains("is not empty"), "{err}");

    let (_, err) = world.said(&["audit", "list", "--store", "postgres://lin:hunter2@db/x"], 2);
    assert!(err.contains("there is a password in this address"), "{err}");
    assert!(!err.contains("hunter2"), "{err}");

    let (_, err) = world.said(&["inbox", "list", "--store", &url], 2);
    assert!(err.contains("`[store] seal_key`"), "{err}");
}
