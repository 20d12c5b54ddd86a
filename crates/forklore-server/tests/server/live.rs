//! Followers: nothing is missed and nothing repeated, also when a server is replaced.

use futures_util::StreamExt as _;
use reqwest::{Method, Response};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Running;

/// Reads server-sent events.
pub(crate) struct Events {
    response: std::pin::Pin<Box<dyn futures_util::Stream<Item = Vec<u8>> + Send>>,
    waiting: String,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sent {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: Value,
}

impl Events {
    pub(crate) fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let pieces = futures_util::stream::unfold(response, |mut response| async {
            let piece = response.chunk().await.ok()??;
            Some((piece.to_vec(), response))
        });
        Self { response: Box::pin(pieces), waiting: String::new() }
    }

    /// Returns the next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Sent> {
        loop {
            if let Some((block, rest)) = self.waiting.split_once("\n\n") {
                let mut sent = Sent::default();
                for line in block.lines() {
                    match line.split_once(": ") {
                        Some(("id", id)) => id.clone_into(&mut sent.id),
                        Some(("event", event)) => event.clone_into(&mut sent.event),
                        Some(("data", data)) => sent.data = serde_json::from_str(data).unwrap(),
                        _ => {}
                    }
                }
                self.waiting = rest.to_owned();
                if sent != Sent::default() {
                    return Some(sent);
                }
                continue;
            }
            let piece = self.response.next().await?;
            self.waiting.push_str(&String::from_utf8(piece).unwrap());
        }
    }

    pub(crate) async fn texts(&mut self, count: usize) -> Vec<String> {
        let mut texts = Vec::new();
        for _ in 0..count {
            let sent = self.next().await.unwrap();
            texts.push(sent.data["data"]["content"].as_str().unwrap().to_owned());
        }
        texts
    }
}

pub(crate) async fn follow(server: &Running, path: &str, last: Option<&str>) -> Events {
    let mut request = server.request(Method::GET, path);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    Events::of(request.send().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_of_a_session_sees_what_is_there_and_what_comes() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "one").await;
    let mut events = follow(&server, "/sessions/plan/events/live", None).await;
    let first = events.next().await.unwrap();
    assert_eq!((first.id.as_str(), first.event.as_str()), ("0", "event"));
    assert_eq!(first.data["data"]["content"], "one");
    server.say("plan", "two").await;
    assert_eq!(events.texts(1).await, ["two"]);
    let mut later = follow(&server, "/sessions/plan/events/live", Some("0")).await;
    assert_eq!(later.texts(1).await, ["two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_of_the_store_sees_each_session_that_changes() {
    let server = Running::start().await;
    server.create("before").await;
    let mut events = follow(&server, "/events", None).await;
    let begin = events.next().await.unwrap();
    assert_eq!(begin.event, "begin");
    server.create("plan").await;
    let created = events.next().await.unwrap();
    assert_eq!(
        (created.data["session"].as_str(), created.event.as_str()),
        (Some("plan"), "session")
    );
    server.say("plan", "one").await;
    let appended = events.next().await.unwrap();
    assert_eq!(
        (&appended.data["session"], &appended.data["head_seq"]),
        (&"plan".into(), &0.into())
    );
    // From the mark of the beginning, both are one change.
    let mut again = follow(&server, "/events", Some(&begin.id)).await;
    assert_eq!(again.next().await.unwrap().event, "begin");
    let both = again.next().await.unwrap();
    assert_eq!((&both.data["session"], &both.data["head_seq"]), (&"plan".into(), &0.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_server_goes_on_where_the_last_one_stopped() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "one").await;
    let mut session = follow(&server, "/sessions/plan/events/live", None).await;
    assert_eq!(session.texts(1).await, ["one"]);
    let mut store = follow(&server, "/events", None).await;
    let mark = store.next().await.unwrap().id;
    let folder = server.stop().await;
    // The streams end, and do not hold the server up.
    assert_eq!(session.next().await, None);
    assert_eq!(store.next().await, None);

    let server = Running::on(folder, "127.0.0.1:0").await;
    server.say("plan", "two").await;
    let mut session = follow(&server, "/sessions/plan/events/live", Some("0")).await;
    assert_eq!(session.texts(1).await, ["two"]);
    let mut store = follow(&server, "/events", Some(&mark)).await;
    assert_eq!(store.next().await.unwrap().event, "begin");
    assert_eq!(store.next().await.unwrap().data["head_seq"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_position_is_refused() {
    let server = Running::start().await;
    server.create("plan").await;
    let answer = server.request(Method::GET, "/sessions/plan/events/live");
    let answer = answer.header("last-event-id", "x").send().await.unwrap();
    crate::problem(answer, 400, "invalid_args").await;
    let answer = server.request(Method::GET, "/events").header("last-event-id", "x");
    crate::problem(answer.send().await.unwrap(), 400, "invalid_args").await;
    let answer = server.request(Method::GET, "/sessions/none/events/live").send().await.unwrap();
    crate::problem(answer, 404, "not_found").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn followers_learn_of_what_is_erased() {
    let server = Running::start().await;
    server.create("plan").await;
    server.create("gone").await;
    server.say("gone", "secret").await;
    let mut store = follow(&server, "/events", None).await;
    let mark = store.next().await.unwrap();
    assert_eq!(mark.event, "begin");
    let erase = server.request(Method::DELETE, "/sessions/gone?erase=true");
    assert_eq!(erase.send().await.unwrap().status(), 200);
    assert_eq!(server.post("/gc", &serde_json::json!({})).await.status(), 200);
    // Whoever was connected, and whoever comes back with a mark of before, both hear of it.
    let mut again = follow(&server, "/events", Some(&mark.id)).await;
    for events in [&mut store, &mut again] {
        let mut sent = events.next().await.unwrap();
        while sent.data["session"] != "gone" {
            sent = events.next().await.unwrap();
        }
        assert!(!sent.data.to_string().contains("secret"), "{sent:?}");
    }
    let ended = server.request(Method::GET, "/sessions/gone/events/live");
    crate::problem(ended.header("last-event-id", "0").send().await.unwrap(), 404, "not_found")
        .await;
}

/// A client that sends requests without waiting for their answers, follows, and stays or goes.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_the_last_answer_of_its_connection() {
    let server = Running::start().await;
    server.create("plan").await;
    server.say("plan", "one").await;
    let live = "/sessions/plan/events/live";
    let requests =
        server.head("GET /health", "1.1") + &server.head(&format!("GET /api/v1{live}"), "1.1");
    let mut stream = server.connect().await;
    stream.write_all(requests.as_bytes()).await.unwrap();
    let mut answers = until(&mut stream, "\n\n\r\n").await;
    let (health, follow) = answers.split_once("ok\n").unwrap();
    assert!(health.starts_with("HTTP/1.1 200 OK\r\n"), "{health}");
    assert!(follow.starts_with("HTTP/1.1 200 OK\r\n"), "{follow}");
    for header in ["connection: close", "transfer-encoding: chunked", "cache-control: no-cache"] {
        assert!(follow.contains(&format!("\r\n{header}\r\n")), "{header}: {follow}");
    }
    assert_eq!(follow.matches("\r\ndate: ").count(), 1, "{follow}");
    // What comes after that is no request.
    stream.write_all(server.head("DELETE /api/v1/sessions/plan", "1.1").as_bytes()).await.unwrap();
    server.say("plan", "two").await;
    answers = until(&mut stream, "\n\n\r\n").await;
    let (length, event) = answers.split_once("\r\n").unwrap();
    assert_eq!(usize::from_str_radix(length, 16).unwrap() + 2, event.len());
    assert!(event.contains("\"two\""), "{event}");
    // An older client learns of the end by the end.
    let mut old = server.connect().await;
    old.write_all(server.head(&format!("GET /api/v1{live}"), "1.0").as_bytes()).await.unwrap();
    let answer = until(&mut old, "\"two\"").await;
    assert!(!answer.contains("chunked"), "{answer}");
    // A client that goes away is forgotten, and one that stays sees the end.
    drop(old);
    server.stop().await;
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "0\r\n\r\n");
}

/// Reads until what was read ends with what is expected.
async fn until(stream: &mut TcpStream, expected: &str) -> String {
    let (mut text, mut byte) = (String::new(), [0]);
    while !text.ends_with(expected) {
        stream.read_exact(&mut byte).await.unwrap_or_else(|error| panic!("{error}: {text}"));
        text.push(char::from(byte[0]));
    }
    text
}

impl Running {
    fn head(&self, request: &str, version: &str) -> String {
        let host = self.url.strip_prefix("http://").unwrap();
        format!(
            "{request} HTTP/{version}\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.token
        )
    }
}
