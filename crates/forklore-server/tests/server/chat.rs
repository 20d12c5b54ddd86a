//! Talking to the agent over HTTP: a turn belongs to the server, and everybody on the session sees it.

mod agent;
mod approving;
mod broken;
mod page;
mod talking;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json as value};

use crate::live::{Events, Sent};
use crate::{Running, json};

use agent::chatting;

impl Running {
    /// Follows the turns of a session, from the event after the one with this id.
    async fn follow(&self, id: &str, last: Option<&str>) -> Events {
        let request = self.request(Method::GET, &format!("/sessions/{id}/turns/live"));
        let request = match last {
            Some(last) => request.header("last-event-id", last),
            None => request,
        };
        Events::of(request.send().await.unwrap())
    }

    /// Sends a prompt, which is accepted.
    async fn prompt(&self, id: &str, text: &str) -> Value {
        let sent = self.post(&format!("/sessions/{id}/turns"), &value!({ "prompt": text })).await;
        json(sent, StatusCode::ACCEPTED).await
    }

    /// Returns the messages of a session, as pairs of type and text.
    async fn texts_of(&self, id: &str) -> Vec<(String, String)> {
        let page = self.get(&format!("/sessions/{id}/messages")).await;
        let records = page["records"].as_array().unwrap().iter();
        let of = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        records.map(|it| (of(&it["message"]["role"]), it["message"].to_string())).collect()
    }
}

/// Reads events up to and including the first with this name.
async fn until(events: &mut Events, name: &str) -> Vec<Sent> {
    let mut all = Vec::new();
    loop {
        let sent = events.next().await.expect("the stream ended");
        let found = sent.event == name;
        all.push(sent);
        if found {
            return all;
        }
    }
}

/// Reads events up to and including the first notification with this name.
async fn until_notified(events: &mut Events, name: &str) -> Vec<Sent> {
    let mut all = Vec::new();
    loop {
        let sent = events.next().await.expect("the stream ended");
        let found = sent.data["event"] == name;
        all.push(sent);
        if found {
            return all;
        }
    }
}

/// Returns the text that arrived in pieces.
fn streamed(events: &[Sent]) -> String {
    let pieces = events.iter().filter(|sent| sent.data["event"] == "content_block:delta");
    pieces.map(|sent| sent.data["data"]["delta"].as_str().unwrap().to_owned()).collect()
}
