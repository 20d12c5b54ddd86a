//! The description of the routes is that of the present contract.

use std::path::Path;

use reqwest::Method;
use serde_json::Value;

use crate::Running;

#[test]
fn the_description_is_generated_from_the_contract() {
    let document = forklore_server::openapi::document(&forklore_api::reference::schema());
    let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    if std::env::var_os("FORKLORE_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    let how = "FORKLORE_WRITE_REFERENCE=1 cargo test -p forklore-server --all-features openapi";
    assert!(written == text, "docs/reference/openapi.json is old; write it anew with: {how}");
    // Every name that is used is defined.
    let schemas = &document["components"]["schemas"];
    for used in text.split("#/components/schemas/").skip(1) {
        let name = used.split('"').next().unwrap();
        assert!(schemas.get(name).is_some(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_has_every_route_that_it_describes() {
    let server = Running::start().await;
    let document: Value = server.get("/openapi.json").await;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let path = path.replace("{id}", "none").replace("{number}", "1");
            let path = path.replace("{attachment}", &format!("sha256:{}", "0".repeat(64)));
            let method: Method = method.to_uppercase().parse().unwrap();
            let answer = server.bare(method.clone(), &path).bearer_auth(&server.token);
            let answer = answer.send().await.unwrap();
            let media = answer.headers()["content-type"].to_str().unwrap().to_owned();
            if media == "text/event-stream" {
                continue;
            }
            let text = answer.text().await.unwrap();
            assert!(!text.contains("this server has no such path"), "{method} {path}: {text}");
            assert!(!text.contains("does not have the method"), "{method} {path}: {text}");
        }
    }
}
