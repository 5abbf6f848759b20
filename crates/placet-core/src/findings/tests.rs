//! What cannot be read never passes for nothing found. `placet-inspect` tests that real findings come back as they were.

use serde_json::json;

use super::*;

#[test]
fn findings_that_do_not_fit_their_arguments_are_refused() {
    let args = Args::from_value(json!({"command": "é make build-everything"})).unwrap();
    let bad = [
        json!({"lines": [[0, 999]]}),
        json!({"lines": [[1, 12]]}),
        json!({"lines": [[u64::MAX, u64::MAX]]}),
        json!({"lines": [[-1, 12]]}),
        json!({"lines": [7]}),
        json!({"facts": null}),
        json!({"facts": [{"kind": "teleport", "risk": "LOW"}]}),
        json!({"facts": [{"kind": "unreadable", "what": "x"}]}),
        json!({"banned": {"ban": "newer"}}),
    ];
    for stored in bad {
        let stored: StoredFindings = serde_json::from_value(stored).unwrap();
        assert!(stored.read(&args).is_err(), "{stored:?}");
    }
}
