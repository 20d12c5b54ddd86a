//! Tests of the async API: the methods of the engine as futures, on any executor.
#![cfg(feature = "async")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a broken expectation ends the test")]

mod databases;
mod dropped;
mod examples;
mod executors;
mod paused;
mod rows;
mod verbs;

use forklore::prelude::*;

/// Creates a store in memory with one session that contains this number of messages.
async fn with_messages(messages: usize) -> (Forklore, SessionId) {
    let store = forklore::open("memory:").await.unwrap();
    let session = store.create(Create::in_workspace(Workspace::new("/demo"))).await.unwrap().id;
    if messages > 0 {
        let events: Vec<_> = (0..messages).map(|n| message(&n.to_string())).collect();
        store.append(&session, events).await.unwrap();
    }
    (store, session)
}

fn message(text: &str) -> NewEvent {
    NewEvent::user(text).unwrap()
}
