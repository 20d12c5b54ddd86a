//! Tests that Schemathesis notices an API that does not do what its document states.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use forklore_browser::schemathesis;

/// An API with one operation, which answers with a number.
const DOCUMENT: &str = r#"{"openapi": "3.1.0", "info": {"title": "t", "version": "1"},
  "paths": {"/count": {"get": {"responses": {"200": {"description": "a number", "content":
    {"application/json": {"schema": {"type": "object", "required": ["count"],
      "properties": {"count": {"type": "integer"}}}}}}}}}}}"#;

/// Starts a server on this machine that answers GET with `body`. Returns its URL.
fn serving(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            answer(stream, body);
        }
    });
    url
}

fn answer(mut stream: TcpStream, body: &str) {
    let mut request = [0; 4096];
    let read = stream.read(&mut request).unwrap_or(0);
    let (status, body) = if request[..read].starts_with(b"GET /count ") {
        ("200 OK\r\nContent-Type: application/json", body)
    } else {
        ("405 Method Not Allowed\r\nAllow: GET", "")
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    // A client that goes away needs no answer.
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

/// Returns whether Schemathesis finds nothing wrong, and what it printed.
fn checked(url: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("openapi.json"), DOCUMENT).unwrap();
    let mut command = schemathesis(folder.path()).unwrap_or_else(|failed| panic!("{failed}"));
    let done = command
        .args(["run", "openapi.json", "--url", url, "--max-examples", "5", "--seed", "1"])
        .output()
        .unwrap();
    (done.status.success(), String::from_utf8(done.stdout).unwrap())
}

#[test]
fn answers_are_compared_with_the_document() {
    let (passed, printed) = checked(&serving(r#"{"count": 1}"#));
    assert!(passed, "{printed}");
    let (passed, printed) = checked(&serving(r#"{"count": "one"}"#));
    assert!(!passed && printed.contains("Response violates schema"), "{printed}");
}
