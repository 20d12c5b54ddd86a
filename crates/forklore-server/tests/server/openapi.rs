//! The description of the routes is that of the present contract.

use std::collections::BTreeSet;
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

/// The routes that the description has, as `METHOD PATH`.
fn described(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let path = path.strip_prefix("/api/v1").unwrap();
        let methods = item.as_object().unwrap().keys();
        found.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    found
}

fn routes() -> BTreeSet<String> {
    let routes = forklore_server::ROUTES.iter().chain(forklore_web_chat::ROUTES);
    routes.map(|(method, path)| format!("{} {path}", method.to_uppercase())).collect()
}

#[test]
fn every_route_is_described_and_nothing_else_is() {
    let document = forklore_server::openapi::document(&forklore_api::reference::schema());
    assert_eq!(described(&document), routes());
}

/// Returns what stands in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_verb_has_a_route_or_a_reason() {
    let text = include_str!("../../../../docs/server.md");
    let (_, table) = text.split_once("| verb | route, or why there is none |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let routes = routes();
    let mut verbs = Vec::new();
    for row in table.lines().skip(2) {
        let cells: Vec<_> = row.trim_matches('|').split('|').collect();
        let [verb, route] = cells.as_slice() else { panic!("{row}") };
        assert!(!route.trim().is_empty(), "{row}");
        for route in quoted(route).iter().filter(|text| text.contains(' ')) {
            let is_api = !route.contains(" /store") && !route.starts_with("forklore");
            assert!(!is_api || routes.contains(*route), "{route} is no route");
        }
        verbs.extend(quoted(verb));
    }
    verbs.sort_unstable();
    let mut expected: Vec<_> = forklore_api::ANSWERS.iter().map(|verb| verb.usage).collect();
    expected.sort_unstable();
    assert_eq!(verbs, expected, "the table of docs/server.md names each verb once");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_has_every_route_that_it_describes() {
    let server = Running::start().await;
    let document: Value = server.get("/openapi.json").await;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let path =
                path.replace("{id}", "none").replace("{number}", "1").replace("{part}", "shapes");
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
