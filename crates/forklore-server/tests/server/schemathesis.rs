//! Schemathesis asks every route with bodies and parameters from the description, also in sequences,
//! and compares the answers with it.

use forklore_browser::schemathesis;

use crate::Running;

/// Refusals that no schema can foresee: a cursor that no page gave, a session without messages, a
/// name with a sign that names do not have, a session that somebody else runs. And those of a request
/// that is wrong in itself.
const SETTINGS: &str = r#"
[checks]
positive_data_acceptance.expected-statuses =
    ["2xx", "400", "404", "409", "412", "422", "423"]
negative_data_rejection.expected-statuses =
    ["400", "404", "405", "409", "412", "413", "415", "422", "423"]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_as_the_description_says() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "one").await;
    let folder = tempfile::tempdir().unwrap();
    let settings = SETTINGS.replace("=\n    [", "= [");
    std::fs::write(folder.path().join("schemathesis.toml"), settings).unwrap();
    let mut command = schemathesis(folder.path()).unwrap_or_else(|failed| panic!("{failed}"));
    command.arg("run").arg(format!("{}/api/v1/openapi.json", server.url));
    command.args(["--header", &format!("Authorization: Bearer {}", server.token)]);
    // Streams do not end.
    command.args(["--exclude-path-regex", "/live$|^/api/v1/events$"]);
    command.args(["--max-examples", "20", "--seed", "1", "--generation-database", "none"]);
    let done = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let printed = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
}
