//! Tests with collectors that do not exist, do not respond, or refuse requests.

use std::net::TcpListener;
use std::sync::Arc;

use forklore_otel::{NotTraced, Spans, TracingConfig};

use crate::collector::Collector;
use crate::scripted::{Scripted, says};
use crate::traced::{config, named, traced};
use crate::world::equipment;

/// Checks that turns succeed although the collector at `endpoint` fails. Also checks that `end`
/// takes a limited time and returns `false`.
async fn goes_on(endpoint: &str) {
    let (kernel, spans) = traced(&config(endpoint));
    let turns = 20;
    let model = Scripted::new((0..turns).map(|_| says("fine")).collect());
    let root = kernel.create(named("the-root"), equipment(&model));
    for _ in 0..turns {
        assert_eq!(root.execute("go").await.unwrap().text, "fine");
    }
    assert!(!spans.end().await);
}

#[tokio::test]
async fn nobody_there() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    goes_on(&format!("http://{free}/v1/traces")).await;
}

#[tokio::test]
async fn one_that_never_answers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    goes_on(&format!("http://{}/v1/traces", listener.local_addr().unwrap())).await;
}

#[tokio::test]
async fn one_that_refuses() {
    goes_on(&Collector::that_says("403 Forbidden").endpoint).await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let header_env = [("x-token".to_owned(), "FORKLORE_NOT_SET".to_owned())].into();
    let unset = TracingConfig { header_env, ..config("http://localhost:4318/v1/traces") };
    let message = |config: &TracingConfig| Spans::new(config, "tester").err().unwrap().to_string();
    insta::assert_snapshot!([message(&unset), message(&config("no address"))].join("\n"));
}

#[test]
fn without_tokio_there_are_no_spans() {
    let made = Spans::new(&config("http://localhost:4318/v1/traces"), "tester").map(Arc::new);
    assert!(matches!(made, Err(NotTraced::Runtime(_))));
}
