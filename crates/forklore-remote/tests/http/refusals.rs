//! Servers that refuse, that speak another version, and that are no forklore servers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use forklore_remote::{Address, HttpStore};
use forklore_store::memory::MemoryStore;
use forklore_store::{Error, Store};

use crate::server::Server;

/// Starts a server that answers every request with these bytes. Returns its URL.
fn answering(answer: impl Into<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}?deadline=60", listener.local_addr().unwrap());
    let answer = answer.into();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                if let Some(number) = line.to_lowercase().strip_prefix("content-length:") {
                    length = number.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            let _ = (&stream).write_all(&answer);
        }
    });
    url
}

fn http(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: \
         close\r\n\r\n{body}",
        body.len()
    )
}

/// Returns the URL with a deadline of a second, for answers at which a client tries again.
fn briefly(url: &str) -> String {
    url.replace("deadline=60", "deadline=1")
}

fn refused(url: &str) -> Error {
    HttpStore::open(url.parse().unwrap()).map(drop).unwrap_err()
}

#[test]
fn a_server_that_is_not_forklore_is_named() {
    for answer in [
        http("200 OK", "<html>Welcome</html>"),
        http("200 OK", "{}"),
        http("200 OK", ""),
        http("404 Not Found", "<html>"),
        http("404 Not Found", ""),
        http("422 Unprocessable", "{\"oops\": 1}"),
        http("418 I'm a teapot", ""),
        "SSH-2.0-OpenSSH_9.9\r\n".into(),
        "\0\0\0".into(),
    ] {
        let error = refused(&answering(answer.clone()));
        assert!(matches!(error, Error::Invalid(_)), "{answer}: {error:?}");
        assert!(error.to_string().contains("no forklore server"), "{answer}: {error}");
    }
}

#[test]
fn another_version_is_named_with_what_to_update() {
    let newer = http("404 Not Found", r#"{"forklore_store":[2,3]}"#);
    let error = refused(&answering(newer));
    assert!(matches!(&error, Error::Unsupported(_)), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("version 2, 3") && text.contains("update this program"), "{text}");
    let older = refused(&answering(http("404 Not Found", r#"{"forklore_store":[0]}"#)));
    assert!(older.to_string().contains("update the server"), "{older}");
}

#[test]
fn a_server_answers_another_version_with_its_own() {
    let server = Server::start(Arc::new(MemoryStore::default()));
    for path in ["v2/hello", "v1/no-such-call", "v1/hello/", "v1/attachments/put"] {
        let mut stream = std::net::TcpStream::connect(server.address).unwrap();
        let head = format!("POST /store/{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
        assert!(answer.ends_with(r#"{"forklore_store":[1]}"#), "{answer}");
    }
}

#[test]
fn only_the_token_of_the_server_opens_its_store() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::on(listener, Arc::new(MemoryStore::default()), Some("sesame"));
    let address: Address = server.url().parse().unwrap();
    for wrong in ["", "other"] {
        let error = HttpStore::open(address.clone().with_token(wrong).unwrap()).map(drop);
        let error = error.unwrap_err();
        assert!(matches!(&error, Error::Denied(_)), "{error:?}");
        assert!(error.to_string().contains("FORKLORE_TOKEN"), "{error}");
    }
    let store = HttpStore::open(address.with_token("sesame").unwrap()).unwrap();
    assert_eq!(store.verify(None).unwrap().sessions, 0);
    let forbidden = refused(&answering(http("403 Forbidden", "")));
    assert!(matches!(&forbidden, Error::Denied(why) if why.contains("FORKLORE_TOKEN")));
}

#[test]
fn redirects_are_not_followed() {
    let server = Server::start(Arc::new(MemoryStore::default()));
    let to = format!("307 Temporary Redirect\r\nLocation: {}/store/v1/hello", server.url());
    let error = refused(&answering(http(&to, "")));
    assert!(error.to_string().contains("redirects are not followed"), "{error}");
}

#[test]
fn an_answer_that_is_too_long_or_cut_is_no_answer() {
    let endless = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{";
    let error = refused(&answering(endless));
    assert!(error.to_string().contains("longer than"), "{error}");
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{";
    let error = refused(&briefly(&answering(cut)));
    assert!(matches!(&error, Error::Io { .. }), "{error:?}");
}

#[test]
fn a_server_that_is_busy_or_not_there_is_named() {
    let busy = refused(&briefly(&answering(http("503 Service Unavailable", ""))));
    assert!(matches!(&busy, Error::Locked(_)), "{busy:?}");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = refused(&format!("http://{free}"));
    let text = error.to_string();
    assert!(text.contains(&free.to_string()) && text.contains("cannot be reached"), "{text}");
}

#[test]
fn a_certificate_that_is_not_trusted_is_refused() {
    let url = answering("no TLS at all").replace("http:", "https:");
    let error = refused(&briefly(&url));
    assert!(matches!(&error, Error::Io { .. } | Error::Invalid(_)), "{error:?}");
}
