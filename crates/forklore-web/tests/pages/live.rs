//! A page that follows the store: each event of the stream says that the page is out of date.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, header};
use forklore_engine::Engine;
use forklore_store::memory::MemoryStore;
use futures_util::StreamExt;
use tower::ServiceExt;

use crate::server::served;
use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn an_append_is_announced_and_shown() {
    let engine = Engine::new(Arc::new(MemoryStore::default()));
    let world = World::of(engine.clone());
    world.create("main", Some("Live"));
    let router = served(engine);
    let request = |address: &str| Request::get(address).body(Body::empty()).unwrap();
    let page = router.clone().oneshot(request("/s/main")).await.unwrap();
    assert!(page.headers().contains_key(header::CONTENT_SECURITY_POLICY));
    let stream = router.clone().oneshot(request("/api/v1/sessions/main/events/live")).await;
    let mut stream = stream.unwrap().into_body().into_data_stream();
    // The stream begins when it is first read, so append until it has announced something.
    let writer = tokio::task::spawn_blocking(move || {
        for number in 0..50 {
            world.user("main", &format!("message {number}"));
            std::thread::yield_now();
        }
        world
    });
    let first = stream.next();
    let world = writer.await.unwrap();
    let appending = async {
        loop {
            world.user("main", "again");
            tokio::task::yield_now().await;
        }
    };
    let announced = tokio::select! { event = first => event, () = appending => None };
    let event = String::from_utf8(announced.unwrap().unwrap().to_vec()).unwrap();
    assert!(event.contains("data: [{\"session\":\"main\""), "{event}");
    let shown = router.oneshot(request("/fragments/s/main?at=end")).await.unwrap();
    let shown = http_body_util::BodyExt::collect(shown.into_body()).await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&shown).contains("again"));
}
