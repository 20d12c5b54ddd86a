//! Tests with the reference server that has every feature (`server-everything`), over standard
//! input and output.

use std::time::Duration;

use forklore_agent::tool::{Step, Tools};
use forklore_mcp_client::McpTools;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::given::{a_call, call, came, context, listening, names, on_node, started};

async fn everything() -> McpTools {
    started([("all", on_node("server-everything", &["stdio"]))]).await
}

fn tool(tools: &McpTools, name: &str) -> Value {
    let spec = tools.specs().into_iter().find(|spec| spec.name == name).unwrap();
    json!([
        spec.name,
        spec.description,
        serde_json::from_str::<Value>(spec.parameters.get()).unwrap()
    ])
}

#[tokio::test]
async fn tools_are_listed_in_the_order_of_their_names() {
    let tools = everything().await;
    insta::assert_json_snapshot!(names(&tools));
    insta::assert_json_snapshot!(tool(&tools, "all__get-sum"));
    tools.end().await;
}

#[tokio::test]
async fn calls_are_answered() {
    let tools = everything().await;
    let echo = call(&tools, "all__echo", json!({"message": "Grüße \u{1f600}"})).await;
    assert_eq!(echo, (false, json!("Echo: Grüße \u{1f600}")));
    let sum = call(&tools, "all__get-sum", json!({"a": 2, "b": 40})).await;
    assert_eq!(sum, (false, json!("The sum of 2 and 40 is 42.")));
    tools.end().await;
}

#[tokio::test]
async fn wrong_arguments_are_what_came_of_the_call() {
    let tools = everything().await;
    let wrong = call(&tools, "all__get-sum", json!({"a": "two"})).await;
    insta::assert_json_snapshot!(wrong);
    let list = call(&tools, "all__get-sum", json!([1, 2])).await;
    assert_eq!(list, (true, json!("the arguments are not a JSON object")));
    let nobody = call(&tools, "all__no-such-tool", json!({})).await;
    assert_eq!(nobody, (true, json!("there is no tool `all__no-such-tool`")));
    tools.end().await;
}

#[tokio::test]
async fn images_resources_and_structured_results_are_parts() {
    let tools = everything().await;
    let (failed, image) = call(&tools, "all__get-tiny-image", json!({})).await;
    assert!(!failed);
    let data = image[1]["data"].as_str().unwrap();
    assert!(data.starts_with("iVBORw0KGgo"), "a PNG begins so: {data}");
    let kinds: Vec<_> = image.as_array().unwrap().iter().map(|part| part["type"].clone()).collect();
    assert_eq!(kinds, ["text", "image", "text"]);
    assert_eq!(image[1]["media_type"], "image/png");

    let links = call(&tools, "all__get-resource-links", json!({"count": 2})).await;
    insta::assert_json_snapshot!(links);
    let arguments = json!({"resourceType": "Text", "resourceId": 1});
    let (failed, resource) = call(&tools, "all__get-resource-reference", arguments).await;
    assert!(!failed);
    assert_eq!(resource[1]["uri"], "demo://resource/dynamic/text/1");
    assert_eq!(resource[1]["media_type"], "text/plain");
    let weather = call(&tools, "all__get-structured-content", json!({"location": "Chicago"})).await;
    insta::assert_json_snapshot!(weather);
    tools.end().await;
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let tools = everything().await;
    // Each long call takes three seconds. The quick call overtakes the long calls, which shows that
    // calls are not queued.
    let arguments = json!({"duration": 3, "steps": 1});
    let long = a_call("all__trigger-long-running-operation", &arguments);
    let context = context();
    let quick = a_call("all__echo", &json!({"message": "quick"}));
    let mut running: Vec<_> = (0..4).map(|_| tools.call(&long, &context)).collect();
    running.push(tools.call(&quick, &context));
    let order = tokio::sync::Mutex::new(Vec::new());
    let noted = running.into_iter().enumerate().map(|(at, running)| {
        let order = &order;
        async move {
            let outcome = came(&running.await);
            order.lock().await.push(at);
            outcome
        }
    });
    let came = join_all(noted).await;
    let done = "Long running operation completed. Duration: 3 seconds, Steps: 1.";
    let mut expected = vec![(false, json!(done)); 4];
    expected.push((false, json!("Echo: quick")));
    assert_eq!(came, expected);
    assert_eq!(order.into_inner()[0], 4, "the quick one, made last, is answered first");
    tools.end().await;
}

#[tokio::test]
async fn a_long_call_tells_how_far_it_is() {
    let tools = everything().await;
    let (context, steps) = listening();
    let arguments = json!({"duration": 1, "steps": 3});
    let long = a_call("all__trigger-long-running-operation", &arguments);
    let outcome = came(&tools.call(&long, &context).await);
    let done = "Long running operation completed. Duration: 1 seconds, Steps: 3.";
    assert_eq!(outcome, (false, json!(done)));
    let step = |done: f64| Step { done, total: Some(3.0), message: None };
    assert_eq!(*steps.lock().unwrap(), [1.0, 2.0, 3.0].map(step));
    tools.end().await;
}

#[tokio::test]
async fn an_interrupted_call_ends_at_once() {
    let tools = everything().await;
    let context = context();
    let arguments = json!({"duration": 1000, "steps": 10});
    let long = a_call("all__trigger-long-running-operation", &arguments);
    let interrupt = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        context.cancelled.cancel();
    };
    let (outcome, ()) = tokio::join!(tools.call(&long, &context), interrupt);
    assert_eq!(came(&outcome), (true, json!("interrupted")));
    // The server still answers calls.
    let echo = call(&tools, "all__echo", json!({"message": "still here"})).await;
    assert_eq!(echo, (false, json!("Echo: still here")));
    tools.end().await;
}
