//! An HTTP server for tests that sends any response, however malformed.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// The action of the server after it has sent a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Close,
    /// Send nothing more, and leave the connection open.
    Hang,
}

/// A received request.
#[derive(Debug)]
pub(crate) struct Received {
    /// The request line and the headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// A test server that sends the same response to every request.
pub(crate) struct Endpoint {
    port: u16,
    received: Receiver<Received>,
}

impl Endpoint {
    pub(crate) fn answering(answer: impl Into<Vec<u8>>, then: Then) -> Self {
        let answer = answer.into();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, received) = mpsc::channel();
        thread::spawn(move || {
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = read(&mut stream) else { continue };
                if tell.send(request).is_err() || stream.write_all(&answer).is_err() {
                    continue;
                }
                if then == Then::Hang {
                    open.push(stream);
                }
            }
        });
        Self { port, received }
    }

    /// Starts a server that sends `beginning`, and then repeats `more` until the client closes the
    /// connection. Returns the server's URL, and a receiver of the number of bytes sent.
    pub(crate) fn endless(beginning: &str, more: &str) -> (String, Receiver<usize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let beginning = ok("text/event-stream", beginning);
        let more = more.repeat((16 << 10) / more.len() + 1);
        let (tell, accepted) = mpsc::channel();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            read(&mut stream).unwrap();
            let mut received = 0;
            let mut next = beginning.as_bytes();
            while stream.write_all(next).is_ok() {
                received += next.len();
                next = more.as_bytes();
            }
            // Sending fails if the receiver was dropped.
            let _ = tell.send(received);
        });
        (url, accepted)
    }

    /// Starts a server that responds with status 200 and these server-sent events.
    pub(crate) fn streaming(events: &[&str], then: Then) -> Self {
        let events: String = events.iter().map(|event| format!("{event}\n\n")).collect();
        Self::answering(ok("text/event-stream", &events), then)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Waits for the next request and returns it.
    pub(crate) fn received(&self) -> Received {
        self.received.recv().unwrap()
    }
}

/// Returns a whole response with status 200, whose body ends when the connection is closed.
pub(crate) fn ok(kind: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}")
}

/// Returns a whole response with an error status. `headers` are additional header lines.
pub(crate) fn refusal(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    loop {
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
        let request = Received { head, body: bytes[at + 4..].to_vec() };
        let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
        if request.body.len() >= length {
            return Some(request);
        }
    }
}
