//! Opens pages with hostile text in Chromium: no script runs, and no request leaves the page.
//!
//! `cargo xtask test` installs Chromium and sets `FORKLORE_CHROMIUM`. A page without protection is
//! opened in the same way, to show that the test would notice.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use forklore_page::Format;
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::json;

use crate::hostile;
use crate::world::World;

/// A server on this machine that records the first line of each request.
struct Server {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                record(stream, &recorded);
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn record(mut stream: TcpStream, requests: &Mutex<Vec<String>>) {
    let mut buffer = [0; 1024];
    let read = stream.read(&mut buffer).unwrap_or(0);
    if read == 0 {
        // A spare connection of the browser, which it closes unused.
        return;
    }
    let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
    requests.lock().unwrap().push(text.lines().next().unwrap_or_default().to_owned());
    let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
}

/// Opens a page in Chromium, and returns the document after its scripts ran.
fn opened(folder: &Path, page: &str) -> String {
    let file = folder.join("page.html");
    std::fs::write(&file, page).unwrap();
    let program = std::env::var_os("FORKLORE_CHROMIUM").unwrap_or_else(|| "chromium".into());
    let mut command = Command::new(&program);
    if let Some(libraries) = std::env::var_os("FORKLORE_CHROMIUM_LIBRARIES") {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--disable-extensions"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(["--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("file://{}", file.display()));
    let output = command.output().unwrap_or_else(|error| {
        panic!("{} does not start: {error}; `cargo xtask test` installs it", program.display())
    });
    let dom = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && dom.contains("</html>"), "{:?}", output.stderr);
    dom
}

/// Creates a session with hostile text wherever a session has text.
fn hostile_session(server: &str) -> World {
    let texts = hostile::texts(server);
    let world = World::new(&texts[1]);
    for text in &texts {
        world.append("main", "user_message", &json!({ "content": text }));
        let arguments = json!({"file_path": text, "old_string": text, "new_string": "x"});
        let image = json!({"type": "image", "name": text, "source":
            {"type": "base64", "media_type": text, "data": text}});
        world.says(
            "main",
            &json!([
                {"type": "reasoning", "text": text},
                {"type": "text", "text": text},
                {"type": "tool_call", "id": "1", "name": text, "arguments": {"command": text}},
                {"type": "tool_call", "id": "2", "name": "Edit", "arguments": arguments},
                {"type": "tool_call", "id": "3", "name": "x", "arguments": text},
                image,
                {"type": "attachment", "ref": text, "media_type": text, "name": text},
                {"type": text, "value": text},
            ]),
        );
        world.result("main", "1", &json!(text), false);
        world.result("main", "2", &json!([{"type": "text", "text": text}, image]), true);
        world.result("main", text, &json!({ "odd": text }), false);
        let compaction = json!({"from_index": 0, "to_index": 1, "content": text});
        world.append("main", "history_compaction", &compaction);
    }
    world
}

#[test]
fn a_browser_notices_what_a_page_without_protection_does() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let page = format!(
        "<!doctype html><script>document.documentElement.dataset.ran=1</script>\
         <img src=\"{}/img\"></html>",
        server.address
    );
    assert!(opened(folder.path(), &page).contains("data-ran"));
    assert_eq!(server.requests(), ["GET /img HTTP/1.1"]);
}

#[test]
fn hostile_text_is_inert_in_a_browser() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let (page, _) = hostile_session(&server.address).page("main", Format::Html, None);
    let policy = "<meta http-equiv=\"Content-Security-Policy\"";
    assert_eq!(page.matches(policy).count(), 1);
    // The escapes suffice, and the policy is a second line of defence.
    let without = page.replacen(policy, "<meta name=\"none\"", 1);
    for page in [page, without] {
        let dom = opened(folder.path(), &page);
        assert!(!dom.contains("data-ran"), "a script ran");
        let elements =
            ["<script", "<img", "<iframe", "<object", "<embed", "<svg", "<form", "<base"];
        let found: Vec<_> = elements.iter().filter(|element| dom.contains(**element)).collect();
        assert_eq!(found, Vec::<&&str>::new());
        let links = dom.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let bad = links.filter(|url| !url.starts_with("#m") && !url.starts_with("http"));
        assert_eq!(bad.collect::<Vec<_>>(), Vec::<&str>::new());
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn hostile_markdown_has_no_html() {
    let (page, _) = hostile_session("http://127.0.0.1:9").page("main", Format::Markdown, None);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut folded = 0;
    for event in Parser::new_ext(&page, options) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                folded += html.matches("<details>").count();
                // The only HTML is that of folded blocks.
                let rest = html.replace("<details><summary>", "").replace("</summary>", "");
                assert!(!rest.replace("</details>", "").contains('<'), "{html}");
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(dest_url.starts_with("http"), "{dest_url}");
            }
            Event::Start(Tag::Image { dest_url, .. }) => panic!("an image: {dest_url}"),
            _ => {}
        }
    }
    // The thinking, three calls and a result alone, for each text.
    assert_eq!(folded, 5 * hostile::texts("").len());
    // No text looks like a heading of the page.
    let headings = page.lines().filter(|line| line.starts_with("### ")).count();
    assert_eq!(headings, 3 * hostile::texts("").len());
}
