//! A test model over HTTP with the OpenAI protocol. A script determines its answers, and where it
//! blocks.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The answer to one request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// The model sends a complete answer.
    Says(&'static str),
    /// The model sends an answer that its limit of output tokens cuts short.
    Limited(&'static str),
    /// The model sends the beginning of an answer, and then blocks.
    Begins(&'static str),
    /// The model sends nothing and blocks.
    Silence,
    /// The model calls a tool. Has the tool's name and the arguments.
    Calls(&'static str, &'static str),
}

/// A scripted model. After the end of its script, the model answers `done`.
pub(crate) struct Scripted {
    address: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Scripted {
    pub(crate) fn start(answers: &[Answer]) -> Self {
        Self::begin(answers, false)
    }

    /// Starts a model that reports its usage: 100 tokens of each request, and 10 of each answer.
    pub(crate) fn with_usage(answers: &[Answer]) -> Self {
        Self::begin(answers, true)
    }

    fn begin(answers: &[Answer], reports_usage: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let answers = Arc::new(Mutex::new(answers.iter().copied().collect::<VecDeque<_>>()));
        let received = requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (shared, answers) = (received.clone(), answers.clone());
                std::thread::spawn(move || {
                    // The client may close the connection before it has sent the whole request.
                    let Some(request) = request(&stream) else { return };
                    shared.lock().unwrap().push(request);
                    let answer = answers.lock().unwrap().pop_front();
                    let answer = answer.unwrap_or(Answer::Says("done"));
                    let _ = give(stream, answer, reports_usage);
                });
            }
        });
        Self { address, requests }
    }

    /// Returns a configuration with this model, named `scripted`.
    pub(crate) fn config(&self) -> String {
        let address = &self.address;
        format!(
            "[models.scripted]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{address}\"\n"
        )
    }

    /// Returns the bodies of the requests so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the messages of each request so far, as pairs of role and text.
    pub(crate) fn requests(&self) -> Vec<Vec<(String, String)>> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let messages = |body: &Value| {
            let messages = body["messages"].as_array().unwrap().iter();
            messages.map(|message| (text(&message["role"]), text(&message["content"]))).collect()
        };
        self.requests.lock().unwrap().iter().map(messages).collect()
    }
}

/// Reads the body of a request. Returns `None` if the client closes the connection first.
fn request(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn give(mut stream: TcpStream, answer: Answer, reports_usage: bool) -> std::io::Result<()> {
    let text = |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    let end = |why: &str| json!({"choices": [{"index": 0, "delta": {}, "finish_reason": why}]});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
    let usage = reports_usage.then(|| json!({"choices": [], "usage": usage}));
    let events = match answer {
        Answer::Silence => return until_gone(&mut stream),
        Answer::Begins(message) => vec![text(message)],
        Answer::Says(message) => vec![text(message), end("stop")],
        Answer::Limited(message) => vec![text(message), end("length")],
        Answer::Calls(name, arguments) => {
            let function = json!({"name": name, "arguments": arguments});
            let call = json!({"index": 0, "id": "c1", "type": "function", "function": function});
            let delta = json!({"tool_calls": [call]});
            vec![json!({"choices": [{"index": 0, "delta": delta}]}), end("tool_calls")]
        }
    };
    let mut head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n".to_owned();
    head.push_str("connection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    for event in events.iter().chain(&usage) {
        stream.write_all(format!("data: {event}\n\n").as_bytes())?;
    }
    if matches!(answer, Answer::Begins(_)) {
        return until_gone(&mut stream);
    }
    stream.write_all(b"data: [DONE]\n\n")
}

/// Blocks until the client closes the connection.
fn until_gone(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.read_to_end(&mut Vec::new()).map(drop)
}
