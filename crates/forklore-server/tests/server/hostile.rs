//! Requests that nobody should send.

use forklore_api::Scope;
use forklore_server::TokenFile;
use jiff::Timestamp;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::{Running, problem};

impl Running {
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.url.strip_prefix("http://").unwrap()).await.unwrap()
    }

    /// Sends these bytes, in which `HOST` and `TOKEN` are replaced, and reads to the end.
    async fn raw(&self, text: &str) -> String {
        let host = self.url.strip_prefix("http://").unwrap();
        let mut stream = self.connect().await;
        let text = text.replace("HOST", host).replace("TOKEN", &self.token);
        // The server may refuse before it has everything.
        let _ = stream.write_all(text.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn is_well(&self) {
        let answer = self.bare(Method::GET, "/health").send().await.unwrap();
        assert_eq!(answer.text().await.unwrap(), "ok\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_trick_in_a_path_leads_anywhere() {
    let server = Running::start().await;
    server.create("plan").await;
    for path in [
        "/../../etc/passwd",
        "/api/v1/../../state/tokens.json",
        "/api/v1/%2e%2e/%2e%2e/state/tokens.json",
        "/api/v1/sessions/..%2f..%2fstate%2ftokens.json",
        "/api/v1/sessions/plan/file/../../../tokens.json",
        "/api/v1/sessions/plan/attachments/..%2ftokens.json",
        "/api/v1/sessions/%00",
        "/api/v1/sessions/%ff%fe",
        "/api/v1/sessions/plan%0d%0aX-Forged:%20yes",
        "//api/v1/sessions",
        "/api//v1/sessions",
        "/api/v1/vocabulary/..%2f..%2fCargo.toml",
        "/store/v1/../../api/v1/sessions",
        "/s/..%2f..%2f..%2fetc%2fpasswd",
    ] {
        let head = "Host: HOST\r\nAuthorization: Bearer TOKEN\r\nConnection: close\r\n\r\n";
        let answer = server.raw(&format!("GET {path} HTTP/1.1\r\n{head}")).await;
        let status = answer.split(' ').nth(1).unwrap_or_default();
        assert!(["400", "404", "405"].contains(&status), "{path}: {answer}");
        assert!(!answer.to_lowercase().contains("\nx-forged"), "{path}: {answer}");
        assert!(!answer.contains("root:") && !answer.contains("sha256\""), "{path}: {answer}");
    }
    server.is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_name_is_refused_however_it_is_written() {
    let server = Running::start().await;
    for head in [
        "GET /api/v1/sessions HTTP/1.1\r\nHost: evil.example",
        "GET /api/v1/sessions HTTP/1.1\r\nHost: HOST\r\nHost: evil.example",
        "GET /api/v1/sessions HTTP/1.1\r\nHost: HOST.evil.example",
        "GET /api/v1/sessions HTTP/1.1\r\nHost: evil.example#HOST",
        "GET /api/v1/sessions HTTP/1.1\r\nX-Forwarded-Host: HOST\r\nHost: evil.example",
        "GET /api/v1/sessions HTTP/1.1",
        "GET /api/v1/sessions HTTP/1.0",
    ] {
        let text = format!("{head}\r\nAuthorization: Bearer TOKEN\r\nConnection: close\r\n\r\n");
        let answer = server.raw(&text).await;
        assert!(
            answer.starts_with("HTTP/1.1 421 ")
                || answer.starts_with("HTTP/1.0 421 ")
                || answer.starts_with("HTTP/1.1 400 "),
            "{head}: {answer}"
        );
    }
    let body = json!({ "id": "x", "workspace": "/w" });
    let own = server.url.clone();
    for origins in [
        vec!["http://evil.example".to_owned()],
        vec![format!("{own}.evil.example")],
        vec![own.replace("http://", "https://")],
        vec![own.clone(), "null".to_owned()],
        vec![format!("{own}/")],
    ] {
        for path in ["/api/v1/sessions", "/login", "/mcp", "/store/v1/commit", "/s/plan/fork"] {
            let mut request = server.bare(Method::POST, path).bearer_auth(&server.token);
            for origin in &origins {
                request = request.header("origin", origin);
            }
            let refused = crate::send(request, &body).await;
            problem(refused, 403, "permission_denied").await;
        }
    }
    assert_eq!(server.get("/sessions").await["sessions"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_is_refused() {
    const LARGE: usize = 100 << 20;
    let server = Running::start().await;
    let chunk = vec![b' '; 1 << 20];
    let piece = std::sync::Arc::new(chunk);
    let pieces = move || {
        let piece = piece.clone();
        let pieces = (0..LARGE >> 20).map(move |_| std::io::Result::Ok(piece.as_ref().clone()));
        reqwest::Body::wrap_stream(futures_util::stream::iter(pieces))
    };
    for path in ["/api/v1/sessions", "/api/v1/sparql"] {
        let request = server.bare(Method::POST, path).bearer_auth(&server.token);
        let request = request.header("content-type", "application/json").body(pieces());
        // The server may close while the client still sends.
        if let Ok(answer) = request.send().await {
            assert_eq!(answer.status(), 413, "{path}");
        }
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\n\
             Content-Type: application/json\r\nContent-Length: {LARGE}\r\nConnection: close\r\n\r\n"
        );
        let answer = server.raw(&head).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{path}: {answer}");
    }
    server.is_well().await;
    assert_eq!(server.get("/sessions").await["sessions"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_slow_or_gone_holds_nothing_up() {
    let server = Running::start().await;
    server.create("plan").await;
    // Half of a head: the server ends the connection by itself.
    let mut slow = server.connect().await;
    slow.write_all(b"GET /api/v1/sessions HTTP/1.1\r\nHost: ").await.unwrap();
    let mut gone = Vec::new();
    let paths = ["sessions/plan/events", "imports", "sessions/plan/attachments?name=a.txt"];
    for number in 0..60 {
        let mut stream = server.connect().await;
        let host = server.url.strip_prefix("http://").unwrap();
        let path = paths[number % paths.len()];
        let head = format!(
            "POST /api/v1/{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{\"events\":",
            server.token
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // Half-closed: nothing more comes, and the body stays a part.
        stream.shutdown().await.unwrap();
        gone.push(stream);
    }
    for mut stream in gone {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer);
        // It is the client that failed.
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    server.is_well().await;
    assert_eq!(server.get("/sessions/plan/events").await["events"], json!([]));
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest).await;
    assert!(!rest.starts_with(b"HTTP/1.1 2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_before_reading_gets_the_answer_that_came_early() {
    let server = Running::start().await;
    let host = server.url.strip_prefix("http://").unwrap();
    let mut stream = server.connect().await;
    // Nobody is named, so the answer does not wait for the body.
    let length = 5 << 20;
    let head = format!(
        "POST /api/v1/sessions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.readable().await.unwrap();
    stream.write_all(&vec![b' '; length]).await.unwrap();
    // The connection is whole, and has the next request.
    let next = format!("GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(next.as_bytes()).await.unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert!(answers.starts_with("HTTP/1.1 401 "), "{answers}");
    assert!(answers.contains("HTTP/1.1 200 ") && answers.ends_with("ok\n"), "{answers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_uploads_hold_no_reader_up() {
    let server = Running::start().await;
    server.create("plan").await;
    // More than the calls that run at once.
    let paths =
        ["/api/v1/imports", "/api/v1/sessions/plan/attachments?name=a.txt", "/store/v1/header"];
    let mut slow = Vec::new();
    for number in 0..40 {
        let mut stream = server.connect().await;
        let host = server.url.strip_prefix("http://").unwrap();
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: text/plain\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n",
            paths[number % paths.len()],
            server.token
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server says that it waits for the body.
        let mut answer = [0; 25];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(b"pla").await.unwrap();
        slow.push(stream);
    }
    assert_eq!(server.get("/sessions").await["sessions"].as_array().unwrap().len(), 1);
    server.say("plan", "one").await;
    // Each gets its answer as soon as it is done.
    for (number, mut stream) in slow.into_iter().enumerate() {
        stream.write_all(b"n A").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let status = ["400", "201", "422"][number % paths.len()];
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{number}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_written_to_the_disk() {
    let server = Running::start().await;
    let file = TokenFile::at(server.state().join("tokens.json"));
    let (_, writer) = file.add("w", Scope::Write, Timestamp::now(), None).unwrap();
    let late = Timestamp::now();
    let (_, expired) = file.add("late", Scope::Admin, late, Some(late)).unwrap();
    let body = json!({ "id": "plan", "workspace": "/w" });
    for token in [&writer, &expired, &server.token] {
        for path in ["/api/v1/sessions", "/store/v1/commit", "/mcp"] {
            // Also where it does not belong.
            let request = server.bare(Method::POST, &format!("{path}?token={token}"));
            let _ = crate::send(request.bearer_auth(token), &body).await;
        }
        let _ = crate::send(server.bare(Method::POST, "/login"), &json!({ "secret": token })).await;
    }
    let secrets = [writer, expired, server.token.clone()];
    let folder = server.stop().await;
    let mut folders = vec![folder.path().to_owned()];
    while let Some(path) = folders.pop() {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            for secret in &secrets {
                let is_there = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
                assert!(!is_there, "{}", path.display());
            }
        }
    }
}
