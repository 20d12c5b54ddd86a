//! A database that goes away while a server uses it, and returns.

use std::time::Duration;

use forklore_pgserver::Cluster;
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::live::follow;
use crate::{Running, json as answer};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_outlives_its_database() {
    let started = tokio::task::spawn_blocking(|| {
        let cluster = Cluster::start().unwrap();
        let url = cluster.url_of(cluster.primary()).unwrap();
        // The tables are made without the short deadline.
        drop(forklore::blocking::open(&url).unwrap());
        let engine = forklore::blocking::open(&format!("{url}?deadline=5")).unwrap();
        (cluster, engine)
    });
    let (mut cluster, engine) = started.await.unwrap();
    let server = Running::of(engine, |_| panic!("no tenant asks")).await;
    server.create("plan").await;
    server.say("plan", "before").await;
    let mut follower = follow(&server, "/sessions/plan/events/live", None).await;
    assert_eq!(follower.texts(1).await, ["before"]);

    let mut cluster = tokio::task::spawn_blocking(move || {
        let primary = cluster.primary();
        cluster.kill(primary).unwrap();
        cluster
    })
    .await
    .unwrap();
    let refused = server.request(Method::GET, "/sessions/plan").send().await.unwrap();
    assert_eq!(refused.headers()["retry-after"], "1");
    let problem = answer(refused, StatusCode::SERVICE_UNAVAILABLE).await;
    assert_eq!(problem["next_actions"], json!(["repeat the request"]), "{problem}");
    assert_eq!(server.bare(Method::GET, "/health").send().await.unwrap().status(), 200);

    let cluster = tokio::task::spawn_blocking(move || {
        let primary = cluster.primary();
        cluster.start_again(primary).unwrap();
        cluster
    })
    .await
    .unwrap();
    // Its standbys must follow again before it accepts a write.
    let event = json!({ "type": "user_message", "id": "after", "data": { "content": "after" } });
    let body = json!({ "events": [event], "expect": 0 });
    loop {
        let sent = server.post("/sessions/plan/events", &body).await;
        if sent.status().is_success() {
            break;
        }
        assert_eq!(sent.status(), StatusCode::SERVICE_UNAVAILABLE);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // The follower of before is not ended. Or its stream ended with what happened, and it goes on where
    // it was.
    match follower.next().await.filter(|sent| sent.event != "problem") {
        Some(sent) => assert_eq!(sent.data["data"]["content"], "after"),
        None => {
            let mut again = follow(&server, "/sessions/plan/events/live", Some("0")).await;
            assert_eq!(again.texts(1).await, ["after"]);
        }
    }
    let page = server.get("/sessions/plan/events").await;
    assert_eq!(page["events"].as_array().unwrap().len(), 2, "{page}");
    drop(cluster);
}
