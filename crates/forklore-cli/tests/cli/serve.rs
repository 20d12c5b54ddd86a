//! `forklore serve` and `forklore token`, as processes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A server as a process. It is killed when the test ends.
pub(crate) struct Serving {
    process: Option<Child>,
    pub(crate) host: String,
    line: Value,
}

impl Serving {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::with(sandbox, &[])
    }

    /// Starts a server with further options, and with the configuration of the sandbox if it has one.
    pub(crate) fn with(sandbox: &Sandbox, words: &[&str]) -> Self {
        let words = [&["serve", "--listen", "127.0.0.1:0", "--json"], words].concat();
        let mut command = sandbox.command(&words);
        let config = sandbox.path().join("config.toml");
        if config.exists() {
            command.env("FORKLORE_CONFIG", config);
        }
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        let host = line["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        Self { process: Some(process), host, line }
    }

    /// Returns the address and the token of this server, for another thread.
    pub(crate) fn address(&self) -> Self {
        Self { process: None, host: self.host.clone(), line: self.line.clone() }
    }

    pub(crate) fn url(&self) -> &str {
        self.line["url"].as_str().unwrap()
    }

    pub(crate) fn token(&self) -> &str {
        self.line["token"].as_str().unwrap()
    }

    pub(crate) fn open(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: &str,
    ) -> std::io::Result<TcpStream> {
        let header = format!("Authorization: Bearer {token}\r\n");
        self.send(method, &format!("/api/v1{path}"), &header, body)
    }

    /// Sends a request with a further header, and with the token of the server.
    pub(crate) fn open_with(
        &self,
        method: &str,
        path: &str,
        header: &str,
        body: &str,
    ) -> std::io::Result<TcpStream> {
        let header = format!("Authorization: Bearer {}\r\n{header}", self.token());
        self.send(method, &format!("/api/v1{path}"), &header, body)
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        header: &str,
        body: &str,
    ) -> std::io::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.host)?;
        let (host, length) = (&self.host, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{header}Content-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )?;
        Ok(stream)
    }

    /// Returns a page of the browser.
    pub(crate) fn page(&self, path: &str) -> std::io::Result<String> {
        let header = format!("Authorization: Bearer {}\r\n", self.token());
        let mut text = String::new();
        self.send("GET", path, &header, "")?.read_to_string(&mut text)?;
        Ok(text)
    }

    /// Sends a request. Returns the status and the body.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: &str,
    ) -> std::io::Result<(u16, String)> {
        let mut text = String::new();
        self.open(method, path, token, body)?.read_to_string(&mut text)?;
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        let broken = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let body = text.split_once("\r\n\r\n").ok_or_else(broken)?.1.to_owned();
        Ok((status.ok_or_else(broken)?, body))
    }

    /// Kills the server, as an accident would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

#[test]
fn a_server_says_where_it_listens_and_ends_by_a_signal() {
    let sandbox = Sandbox::with_a_plan();
    let mut server = Serving::start(&sandbox);
    let (status, body) = server.ask("GET", "/sessions", server.token(), "").unwrap();
    assert_eq!(status, 200, "{body}");
    assert!(server.line["link"].as_str().unwrap().contains("/#login=fkl_"));
    let process = server.process.as_mut().unwrap();
    let id = rustix::process::Pid::from_raw(process.id().try_into().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

#[test]
fn a_token_of_the_program_opens_the_server() {
    let sandbox = Sandbox::with_a_plan();
    let added = sandbox.json(&["token", "add", "ci", "--days", "7"]);
    let token = added["token"].as_str().unwrap();
    let server = Serving::start(&sandbox);
    let create = r#"{"workspace":"/w"}"#;
    assert_eq!(server.ask("GET", "/sessions", token, "").unwrap().0, 200);
    assert_eq!(server.ask("POST", "/sessions", token, create).unwrap().0, 403);
    let listed = sandbox.json(&["token"]);
    assert_eq!(listed["tokens"][0]["name"], "ci");
    assert_eq!(listed["tokens"][0]["scope"], "read");
    assert!(!listed.to_string().contains("fkl_"));
    assert_eq!(sandbox.error(&["token", "add", "ci"]).1["kind"], "already_exists");
    assert_eq!(sandbox.error(&["token", "add", "a b"]).0, 2);
    let blue = sandbox.json(&["token", "add", "blue", "--tenant", "blue"]);
    assert_eq!(blue["tenant"], "blue", "{blue}");
    let found = server.ask("GET", "/sessions", blue["token"].as_str().unwrap(), "").unwrap();
    assert_eq!(found.0, 422, "a store without tenants: {}", found.1);
    assert_eq!(sandbox.error(&["token", "add", "c", "--tenant", "a b"]).0, 2);
    sandbox.ok(&["token", "revoke", "ci"]);
    assert_eq!(server.ask("GET", "/sessions", token, "").unwrap().0, 401);
    assert_eq!(sandbox.error(&["token", "revoke", "ci"]).1["kind"], "not_found");
}

#[test]
fn an_address_that_cannot_be_listened_at_is_named() {
    let sandbox = Sandbox::with_a_plan();
    let server = Serving::start(&sandbox);
    let (code, error) = sandbox.error(&["serve", "--listen", &server.host]);
    assert_eq!((code, &error["kind"]), (4, &json!("busy")), "{error}");
    for wrong in ["here:there", "127.0.0.1:99999", "lore.example:1", ""] {
        let (code, error) = sandbox.error(&["serve", "--listen", wrong]);
        assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{wrong}: {error}");
    }
    for wrong in ["lore", "a b", "/lore"] {
        let (code, error) = sandbox.error(&["serve", "--listen", "0", "--public-url", wrong]);
        assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{error}");
        let next = json!(["forklore serve --public-url https://lore.example"]);
        assert_eq!(error["next_actions"], next, "{error}");
    }
    let words = ["serve", "--listen", "0", "--tls-cert", "none.pem", "--tls-key", "none.key"];
    let (code, error) = sandbox.error(&words);
    assert_eq!((code, &error["kind"]), (2, &json!("not_found")), "{error}");
    assert!(error["message"].as_str().unwrap().contains("none.pem"), "{error}");
    assert_eq!(sandbox.error(&words[..5]).0, 2);
}

#[test]
fn an_unencrypted_server_for_others_warns() {
    let sandbox = Sandbox::with_a_plan();
    for (words, warns) in [
        (&["--listen", "0.0.0.0:0"][..], true),
        (&["--listen", "0.0.0.0:0", "--public-url", "http://lore.example"], true),
        (&["--listen", "0.0.0.0:0", "--public-url", "https://lore.example"], false),
        (&["--listen", "127.0.0.1:0"], false),
    ] {
        let mut command = sandbox.command(&[&["serve", "--json"], words].concat());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        process.kill().unwrap();
        let mut noted = String::new();
        process.stderr.take().unwrap().read_to_string(&mut noted).unwrap();
        process.wait().unwrap();
        assert_eq!(noted.contains("--tls-cert"), warns, "{words:?}: {noted}");
    }
}

#[test]
fn the_link_is_opened_in_the_browser() {
    let sandbox = Sandbox::with_a_plan();
    let pipe = sandbox.path().join("opened");
    let browser = sandbox.path().join("browser");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let script = format!("#!/bin/sh\nprintf %s \"$1\" > '{}'\n", pipe.display());
    std::fs::write(&browser, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&browser, mode).unwrap();
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0", "--open"]);
    let mut process = command.env("BROWSER", &browser).stdout(Stdio::piped()).spawn().unwrap();
    // A pipe is opened when both ends are.
    let opened = std::fs::read_to_string(&pipe).unwrap();
    process.kill().unwrap();
    let mut printed = String::new();
    process.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    process.wait().unwrap();
    assert!(opened.starts_with("http://127.0.0.1:") && opened.contains("/#login=fkl_"), "{opened}");
    assert!(printed.contains(&opened), "{printed}");
    // Without a browser the server runs all the same.
    let mut command = sandbox.command(&["serve", "--listen", "127.0.0.1:0", "--open"]);
    let command = command.env("BROWSER", "/no/such/browser");
    let mut process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut noted = String::new();
    BufReader::new(process.stderr.take().unwrap()).read_line(&mut noted).unwrap();
    assert!(noted.contains("no browser was opened"), "{noted}");
    assert!(process.try_wait().unwrap().is_none());
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
#[cfg(feature = "http")]
fn a_wrong_url_of_a_server_says_the_right_one() {
    let sandbox = Sandbox::with_a_plan();
    let (code, error) = sandbox.error(&["--store", "http://far.example:4747", "list"]);
    assert_eq!((code, &error["kind"]), (3, &json!("permission_denied")), "{error}");
    assert_eq!(error["next_actions"], json!(["--store https://far.example:4747"]), "{error}");
    for wrong in ["http://ann:sesame@127.0.0.1:1", "https://ann:sesame@far.example"] {
        let (code, error) = sandbox.error(&["--store", wrong, "list"]);
        assert_eq!((code, &error["kind"]), (2, &json!("invalid_args")), "{error}");
        let next = json!(["--store https://HOST:PORT, with the token in FORKLORE_TOKEN"]);
        assert_eq!(error["next_actions"], next, "{error}");
        assert!(!error.to_string().contains("sesame"), "{error}");
    }
}

#[test]
#[cfg(feature = "http")]
fn a_server_is_a_store_for_every_verb() {
    let sandbox = Sandbox::with_a_plan();
    let server = Serving::start(&sandbox);
    let url = server.line["url"].as_str().unwrap().to_owned();
    let there = |words: &[&str]| {
        let words = [&["--store", &url, "--json"], words].concat();
        let mut command = sandbox.command(&words);
        let done = command.env("FORKLORE_TOKEN", server.token()).output().unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(done.status.success(), "{words:?}: {text}");
        lines
    };
    there(&["new", "--id", "far", "--title", "over HTTP"]);
    there(&["append", "far", "--text", "one"]);
    there(&["append", "far", "--text", "two", "--expect", "0"]);
    there(&["fork", "far", "--at", "turn:1", "--id", "near", "--label", "b"]);
    there(&["rename", "near", "a branch"]);
    for words in [
        ["log", "far"].as_slice(),
        &["replay", "near"],
        &["tree", "far"],
        &["diff", "far", "near"],
        &["search", "two"],
        &["stats", "far"],
        &["verify"],
        &["op", "log"],
    ] {
        let here = sandbox.command(&[&["--json"], words].concat()).output().unwrap();
        let here = String::from_utf8(here.stdout).unwrap();
        let here: Vec<Value> =
            here.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(there(words), here, "{words:?}");
    }
    there(&["delete", "near"]);
    there(&["undelete", "near"]);
    let refused = sandbox.error(&["--store", &url, "list"]);
    assert_eq!((refused.0, &refused.1["kind"]), (3, &json!("permission_denied")), "{refused:?}");
}

#[test]
fn a_server_that_cannot_start_creates_no_store() {
    let sandbox = Sandbox::new();
    let certificate = ["serve", "--tls-cert", "none.pem", "--tls-key", "none.pem"];
    for words in [&certificate[..], &["serve", "--public-url", "lore"]] {
        assert_eq!(sandbox.error(words).0, 2, "{words:?}");
        assert!(!sandbox.store().exists(), "{words:?}");
    }
}
