//! A test server for the OpenAI protocol. A function of the test determines the answers, and the
//! server records the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// Determines the answer to a request: the text of the answer, or the HTTP status of an error.
type Answer = dyn Fn(&Value) -> Result<String, u16> + Send + Sync;

/// A running test server. It runs until the test process ends.
pub(crate) struct Endpoint {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    pub(crate) fn answering(
        answer: impl Fn(&Value) -> Result<String, u16> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (shared, answer) = (requests.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (shared, answer) = (shared.clone(), answer.clone());
                thread::spawn(move || serve(&stream.unwrap(), &shared, &*answer));
            }
        });
        Self { url, requests }
    }

    /// Starts a server that answers every request with these bytes, a whole HTTP response.
    pub(crate) fn raw(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let answer = answer.to_owned();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut buffer = [0; 65_536];
                // One read is enough, because the requests of these tests are short. Writing fails
                // if the client has closed the connection.
                let _ = stream.read(&mut buffer).and_then(|_| stream.write_all(answer.as_bytes()));
            }
        });
        Self { url, requests: Arc::default() }
    }

    /// Starts a server that answers with the text of the last message.
    pub(crate) fn echo() -> Self {
        Self::answering(|request| Ok(format!("heard: {}", last_message(request))))
    }

    /// Returns the bodies of all requests so far, byte for byte.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the configuration of a model with this name, for which this server answers.
    pub(crate) fn model(&self, name: &str) -> String {
        format!(
            "[models.{name}]\nprovider = \"openai\"\nmodel = \"m-{name}\"\nbase_url = \"{}\"\n",
            self.url
        )
    }
}

/// Returns the text of the last message of a request.
pub(crate) fn last_message(request: &Value) -> String {
    let last = request["messages"].as_array().and_then(|messages| messages.last());
    last.and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned()
}

fn serve(stream: &TcpStream, stored: &Mutex<Vec<String>>, answer: &Answer) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body = String::from_utf8(body).unwrap();
        let request = serde_json::from_str(&body).unwrap();
        stored.lock().unwrap().push(body);
        let (status, kind, text) = match answer(&request) {
            Ok(message) => (200, "text/event-stream", events(&message)),
            Err(status) => (status, "application/json", r#"{"error":{"message":"no"}}"#.to_owned()),
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            text.len()
        );
        let mut stream = stream;
        // Writing fails if the client has closed the connection.
        if stream.write_all(format!("{head}{text}").as_bytes()).is_err() {
            return;
        }
    }
}

fn events(text: &str) -> String {
    let chunks = [
        json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": text}}]}),
        json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        json!({"id": "c1", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 80}}}),
    ];
    let events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events.concat() + "data: [DONE]\n\n"
}
