//! Tests of the values of fields that a request omits.

use std::time::Duration;

use forklore_api::{TurnRequest, read};
use forklore_core::workspace::Workspace;

#[test]
fn a_turn_waits_without_a_limit_only_if_the_request_says_so() {
    let omitted: TurnRequest = read(r#"{"workspace": "/demo", "prompt": "a"}"#).unwrap();
    let expected = TurnRequest::in_workspace(Workspace::new("/demo"), "a".into());
    assert_eq!((omitted.wait(), omitted), (Duration::ZERO, expected.clone()));
    let waits = [("0", Duration::ZERO), ("5", Duration::from_secs(5)), ("null", Duration::MAX)];
    for (value, wait) in waits {
        let request =
            format!(r#"{{"workspace": "/demo", "prompt": "a", "wait_seconds": {value}}}"#);
        let request: TurnRequest = read(&request).unwrap();
        assert_eq!(request.wait(), wait, "{value}");
        let again: TurnRequest = read(&serde_json::to_string(&request).unwrap()).unwrap();
        assert_eq!(again, request);
    }
}
